/* forecast.h - what the particles say will happen on the plant, and afterwards how right they were. */
#ifndef MCP_FORECAST_H
#define MCP_FORECAST_H

#include "learn/verdict.h"
#include "optim/particles.h"

typedef struct {
    int     samples, nx;
    double  cost, cost_std, success, limit; /* probabilities from the particles */
    double *low, *median, *high;            /* [sample][nx] 5, 50, 95 %         */
    int     kept;
    double *states;                         /* [sample][kept][nx] for plotting  */
} mcp_forecast;
mcp_status mcp_forecast_make(mcp_forecast **out, const mcp_system *s, const mcp_particles *p, int kept,
                             mcp_error *err);
mcp_status mcp_forecast_alloc(mcp_forecast **out, int samples, int nx, int kept, mcp_error *err);
void       mcp_forecast_free(mcp_forecast *f);

/* Share of samples inside the 5-95 % band: [nx][MCP_WINDOWS], NaN where the trial has no sample, and over
 * all. states [samples][nx] is what happened (NaN: unknown). */
void mcp_forecast_coverage(const mcp_forecast *f, int samples, const double *states, double *by_state,
                           double *all);

#endif
