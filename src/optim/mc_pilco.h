/* mc_pilco.h - the main method as one of the algorithms: gradients of particles through the step program. */
#ifndef MCP_MC_PILCO_H
#define MCP_MC_PILCO_H

#include "algorithm/algorithm.h"

/* Sensor and observer inside the particles. */
mcp_status mcp_mc_pilco4pms_improve(const mcp_algorithm_input *in, double *theta, mcp_optimise_info *info,
                                    mcp_error *err);
/* The policy sees the particles' true states. */
mcp_status mcp_mc_pilco_improve(const mcp_algorithm_input *in, double *theta, mcp_optimise_info *info,
                                mcp_error *err);

#endif
