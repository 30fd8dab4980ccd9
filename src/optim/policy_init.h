/* policy_init.h - a fresh policy to begin from. */
#ifndef MCP_POLICY_INIT_H
#define MCP_POLICY_INIT_H

#include "control/system.h"

/* A fresh policy: rbf centres and lengths in the ranges of `visited`, weights in units of the input limits.
 * The same (seed, trial, draw) gives the same numbers. */
mcp_status mcp_policy_draw(const mcp_system *s, const double *visited, int visits, uint64_t seed,
                           uint32_t trial, uint32_t draw, double *theta, mcp_error *err);

#endif
