/* peak.isa.c - acc[i] = acc[i] * a + b in CHAINS independent chains: enough to hide the latency of two units.
 */
#include "math/peak.h"

#include "math/simd.h"

#define CHAINS 12

double MCP_ISA_FN(mcp_peak_run)(long rounds, double *sink);

double MCP_ISA_FN(mcp_peak_run)(long rounds, double *sink)
{
    mcp_v acc[CHAINS], a = mcp_v_all(0.999999), b = mcp_v_all(1e-6);
    for (int i = 0; i < CHAINS; i++) acc[i] = mcp_v_all(i);
    for (long r = 0; r < rounds; r++)
#pragma GCC unroll 12
        for (int i = 0; i < CHAINS; i++) acc[i] = acc[i] * a + b;
    double sum = 0;
    for (int i = 0; i < CHAINS; i++)
        for (int l = 0; l < MCP_W; l++) sum += acc[i][l];
    *sink = sum;
    return 2.0 * CHAINS * MCP_W * (double)rounds;
}
