/* success.h - the share of particles that would count as a success on the plant. */
#ifndef MCP_SUCCESS_H
#define MCP_SUCCESS_H

#include "rollout/rollout.h"

/* states [T+1][M][nx], inputs [T+1][M][nu] as a rollout records them (the last inputs are NaN: those before
 * stand for them). The task's success test must hold at every sample of its last seconds, longer by the
 * fraction `margin` (but by no more than half of the time before them), and no limit at any. NaN without a
 * success test. work: mcp_success_work doubles. */
size_t mcp_success_work(const mcp_system *s);
double mcp_success_rate(const mcp_system *s, double margin, int particles, const double *states,
                        const double *inputs, double *work);

#endif
