/* blackdrops.h - Black-DROPS as one of the algorithms: CMA-ES on the expected cost of sampled rollouts, no
 * gradient. */
#ifndef MCP_BLACKDROPS_H
#define MCP_BLACKDROPS_H

#include "algorithm/algorithm.h"

mcp_status mcp_blackdrops_check(const mcp_system *s, mcp_error *err);
mcp_status mcp_blackdrops_improve(const mcp_algorithm_input *in, double *theta, mcp_optimise_info *info,
                                  mcp_error *err);

#endif
