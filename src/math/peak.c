/* peak.c - the choice of level for peak.isa.c. */
#include "math/peak.h"

MCP_ISA_DECLARE(double, mcp_peak_run, (long rounds, double *sink));

double mcp_peak_run(mcp_isa level, long rounds, double *sink)
{
    return MCP_ISA_PICK(level, mcp_peak_run)(rounds, sink);
}
