/* pilco.h - PILCO as one of the algorithms: analytic moment matching instead of particles. */
#ifndef MCP_PILCO_H
#define MCP_PILCO_H

#include "algorithm/algorithm.h"

mcp_status mcp_pilco_check(const mcp_system *s, mcp_error *err);
mcp_status mcp_pilco_improve(const mcp_algorithm_input *in, double *theta, mcp_optimise_info *info,
                             mcp_error *err);

#endif
