/* forecast.h - what the particles say will happen on the plant, and afterwards how right they were. */
#ifndef MCP_FORECAST_H
#define MCP_FORECAST_H

#include "math/pool.h"
#include "mcpilco/gp.h"
#include "plant/plant_handle.h"

enum { MCP_WINDOWS = 4 }; /* horizons of the coverage: quarters of the trial */

/* Particles under a model and a policy, with fresh noise. */
typedef struct {
    int     count, samples, nx, nu; /* samples = T+1 */
    double *states;                 /* [sample][particle][nx] */
    double *observed;               /* [sample][particle][nx] */
    double *inputs;                 /* [sample][particle][nu] */
    double *cost;                   /* [particle] cumulative  */
    double  cost_mean, cost_std;
} mcp_particles;

typedef struct {
    int      count;
    int      true_state; /* MC-PILCO's own view */
    int      data;       /* GP pairs behind the model: few enough, and the posterior is exact */
    uint64_t seed;
    uint32_t trial, set; /* set: 0 forecasts, 1 .. other independent sets */
} mcp_particle_settings;
mcp_status mcp_particles_run(mcp_particles **out, const mcp_system *s, mcp_gp *const *gp, const double *theta,
                             const mcp_particle_settings *p, mcp_pool *pool, mcp_error *err);
void       mcp_particles_free(mcp_particles *p);
/* Scores every particle as if it were a trial: success, limit hit, metric; each [count] or NULL. */
mcp_status mcp_particles_score(const mcp_particles *p, const mcp_system *s, int *success, int *limit,
                               double *metric, mcp_error *err);

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
