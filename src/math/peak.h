/* peak.h - a loop of independent multiply-adds that never leaves the registers: the yardstick for the other
 * kernels. */
#ifndef MCP_PEAK_H
#define MCP_PEAK_H

#include "math/isa.h"

/* Runs that many rounds and returns the floating-point operations done; *sink keeps the compiler honest: it
 * receives the sum of all accumulators, which is finite. */
double mcp_peak_run(mcp_isa level, long rounds, double *sink);

#endif
