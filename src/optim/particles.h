/* particles.h - particles under a model and a policy, on noise of their own. */
#ifndef MCP_PARTICLES_H
#define MCP_PARTICLES_H

#include "control/system.h"
#include "math/pool.h"
#include "mcpilco/gp.h"

typedef struct {
    int     count, samples, nx, nu; /* samples = T+1 */
    double *states;                 /* [sample][particle][nx] */
    double *observed;               /* [sample][particle][nx] */
    double *inputs;                 /* [sample][particle][nu] commanded */
    double *applied;                /* [sample][particle][nu] */
    double *cost;                   /* [particle] cumulative  */
    double  cost_mean, cost_std;
} mcp_particles;

typedef struct {
    int      count;
    int      true_state; /* MC-PILCO's own view */
    uint64_t seed;
    uint32_t trial, set; /* set: 0 forecasts, 1 .. other independent sets */
} mcp_particle_settings;
mcp_status mcp_particles_run(mcp_particles **out, const mcp_system *s, mcp_gp *const *gp, const double *theta,
                             const mcp_particle_settings *p, mcp_pool *pool, mcp_error *err);
void       mcp_particles_free(mcp_particles *p);
/* Scores every particle as a trial is scored: success, limit reached, metric; each [count] or NULL. */
mcp_status mcp_particles_score(const mcp_particles *p, const mcp_system *s, int *success, int *limit,
                               double *metric, mcp_error *err);

#endif
