/* particles.c - particles outside the optimisation: for forecasts, for judging a policy, for evaluations on
 * the model.
 *
 * The noise is its own, never the optimiser's: a forecast on the noise the policy was chosen by would flatter
 * it. */
#include "optim/particles.h"

#include "control/score.h"
#include "math/arena.h"
#include "model/posteriors.h"
#include "rollout/rollout.h"

enum { FORECAST_STEP = 1 << 24 }; /* streams far from any optimisation step */

static mcp_status particles_alloc(mcp_particles **out, const mcp_system *s, int count, mcp_error *err)
{
    mcp_particles *p = NULL;
    size_t         n = (size_t)(s->steps + 1) * (size_t)count;
    void          *block;
    for (int pass = 0; pass < 2; pass++) {
        mcp_arena      a = {.base = pass ? (char *)p : NULL};
        mcp_particles *q = mcp_arena_bytes(&a, sizeof *q);
        double *x = mcp_arena_doubles(&a, n * (size_t)s->nx), *z = mcp_arena_doubles(&a, n * (size_t)s->nx);
        double *u = mcp_arena_doubles(&a, n * (size_t)s->nu);
        double *applied = mcp_arena_doubles(&a, n * (size_t)s->nu);
        double *c = mcp_arena_doubles(&a, (size_t)count);
        if (pass == 0) {
            mcp_status st = mcp_block_alloc(&block, a.used, err);
            if (st != MCP_OK) return st;
            p = block;
        } else {
            *q = (mcp_particles){.count = count, .samples = s->steps + 1, .nx = s->nx, .nu = s->nu,
                                 .states = x, .observed = z, .inputs = u,
                                 .applied = applied, .cost = c};
        }
    }
    *out = p;
    return MCP_OK;
}

void mcp_particles_free(mcp_particles *p)
{
    mcp_block_free(p);
}

mcp_status mcp_particles_run(mcp_particles **out, const mcp_system *s, mcp_gp *const *gp, const double *theta,
                             const mcp_particle_settings *q, mcp_pool *pool, mcp_error *err)
{
    mcp_posteriors  model = {0};
    mcp_rollout    *rollout = NULL;
    mcp_particles  *p = NULL;
    mcp_status      st;
    *out = NULL;

    mcp_rollout_settings r = {.particles = q->count,
                              .steps = s->steps,
                              .true_state = q->true_state,
                              .noisy = s->task->model.noisy};
    mcp_stream_noise stream = {.system = s,
                               .seed = q->seed,
                               .trial = q->trial,
                               .step = FORECAST_STEP + q->set};
    mcp_noise            noise = mcp_noise_from_stream(&stream);
    mcp_posteriors_request which = {.ngp = s->ngp,
                                    .gp = gp,
                                    .set = s->task->model.posterior,
                                    .use = MCP_FOR_FORECAST,
                                    .pool = pool};
    if ((st = mcp_posteriors_create(&model, &which, err)) != MCP_OK) goto done;
    if ((st = mcp_rollout_create(&rollout, s, model.of, &r, pool, err)) != MCP_OK) goto done;
    if ((st = particles_alloc(&p, s, q->count, err)) != MCP_OK) goto done;
    mcp_rollout_result result = {.states = p->states,
                                 .observed = p->observed,
                                 .inputs = p->inputs,
                                 .applied = p->applied,
                                 .particle_cost = p->cost};
    if ((st = mcp_rollout_run(rollout, theta, 0.0, &noise, &result, err)) != MCP_OK) goto done;
    p->cost_mean = result.J;
    p->cost_std = result.J_std;
done:
    if (st == MCP_OK) *out = p;
    else mcp_particles_free(p);
    mcp_rollout_free(rollout);
    mcp_posteriors_free(&model);
    return st;
}

mcp_status mcp_particles_score(const mcp_particles *p, const mcp_system *s, int *success, int *limit,
                               double *metric, mcp_error *err)
{
    mcp_scorer *k;
    mcp_status  st = mcp_scorer_create(&k, s, err);
    for (int j = 0; st == MCP_OK && j < p->count; j++) {
        mcp_score  score;
        mcp_motion m = {.samples = p->samples,
                        .states = p->states + (size_t)(j * p->nx),
                        .inputs = p->applied + (size_t)(j * p->nu),
                        .state_stride = (size_t)p->count * (size_t)p->nx,
                        .input_stride = (size_t)p->count * (size_t)p->nu};
        mcp_scorer_run(k, &m, &score);
        if (success) success[j] = score.success;
        if (limit) limit[j] = score.limit;
        if (metric) metric[j] = score.metric;
    }
    mcp_scorer_free(k);
    return st;
}
