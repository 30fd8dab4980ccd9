/* check.c - does the sparse posterior give the exact posterior's gradient? Its bound is on the lost variance,
 * which does not bound the error of the gradient; a few particles tell. */
#include "optim/check.h"

#include <math.h>

#include "math/arena.h"

enum { CHECK_PARTICLES = 32 };
static const double cosine_least = 0.99, tolerance_least = 1e-7;

static void release(mcp_posterior **p, int n)
{
    for (int g = 0; p && g < n; g++) mcp_posterior_free(p[g]);
    mcp_free(p);
}

void mcp_models_free(mcp_models *m)
{
    release(m->posterior, m->ngp);
    m->posterior = NULL;
}

static mcp_status make(const mcp_optimise_request *q, const mcp_posterior_settings *s, mcp_posterior ***out,
                       int *points, mcp_error *err)
{
    const int       n = q->system->ngp;
    mcp_status      st = MCP_OK;
    mcp_posterior **p = mcp_calloc((size_t)n + 1, sizeof *p);
    *out = NULL;
    if (!p) return mcp_fail(err, MCP_ERR_MEMORY, "out of memory for the posteriors");
    *points = 0;
    for (int g = 0; g < n && st == MCP_OK; g++) {
        mcp_posterior_info info = {0};
        st = mcp_posterior_create(&p[g], q->gp[g], s, mcp_isa_level(), &info, err);
        if (info.points > *points) *points = info.points;
    }
    if (st == MCP_OK) *out = p;
    else release(p, n);
    return st;
}

/* Gradient of a few particles, without dropout, on noise of its own. */
static mcp_status gradient(const mcp_optimise_request *q, mcp_posterior *const *p, const double *theta,
                           double *g, mcp_error *err)
{
    const mcp_task      *t = q->system->task;
    mcp_rollout_settings set = {.particles = CHECK_PARTICLES,
                                .steps = q->system->steps,
                                .true_state = q->true_state,
                                .noisy = t->model.noisy,
                                .adjoint_clip = t->optimise.adjoint_clip};
    mcp_stream_noise stream = {.system = q->system,
                               .seed = q->seed,
                               .trial = q->trial,
                               .step = UINT32_MAX - 1};
    mcp_noise            noise = mcp_noise_from_stream(&stream);
    mcp_rollout_result   result = {.gradient = g};
    mcp_rollout         *r;
    mcp_status           st = mcp_rollout_create(&r, q->system, p, &set, q->pool, err);
    if (st == MCP_OK) st = mcp_rollout_run(r, theta, 0.0, &noise, &result, err);
    mcp_rollout_free(r);
    return st;
}

static double cosine(int n, const double *a, const double *b)
{
    double aa = 0.0, bb = 0.0, ab = 0.0;
    for (int i = 0; i < n; i++) {
        aa += a[i] * a[i];
        bb += b[i] * b[i];
        ab += a[i] * b[i];
    }
    if (aa == 0.0 && bb == 0.0) return 1.0;
    return aa > 0.0 && bb > 0.0 ? ab / sqrt(aa * bb) : 0.0;
}

/* exact, room: [params] each. A gradient that is not finite says nothing: the optimiser deals with that. */
static mcp_status tighten(mcp_models *m, const mcp_optimise_request *q, const double *theta,
                          mcp_posterior_settings *s, double *exact, double *room, mcp_error *err)
{
    const mcp_posterior_settings all = {.type = MCP_POSTERIOR_EXACT};
    mcp_posterior              **p = NULL;
    int                          points;
    mcp_status                   st = make(q, &all, &p, &points, err);
    if (st == MCP_OK) st = gradient(q, p, theta, exact, err);
    while (st == MCP_OK) {
        if ((st = gradient(q, m->posterior, theta, room, err)) != MCP_OK) break;
        m->cosine = cosine(mcp_program_params(q->system->controller), exact, room);
        if (m->cosine >= cosine_least || m->points >= points) break;
        s->tolerance /= 10.0;
        s->points_max = 0;
        mcp_models_free(m);
        if (s->tolerance < tolerance_least) {
            m->posterior = p;
            m->tolerance = 0.0;
            m->points = points;
            m->cosine = 1.0;
            return MCP_OK;
        }
        st = make(q, s, &m->posterior, &m->points, err);
        m->tolerance = s->tolerance;
    }
    release(p, m->ngp);
    return st == MCP_ERR_NUMERIC && m->posterior ? MCP_OK : st;
}

mcp_status mcp_models_create(mcp_models *m, const mcp_optimise_request *q, const double *theta,
                             mcp_error *err)
{
    const mcp_model_settings *set = &q->system->task->model;
    mcp_posterior_settings s = {.type = (mcp_posterior_type)set->posterior,
                                .tolerance = set->tolerance,
                                .points_max = set->points_max};
    *m = (mcp_models){.ngp = q->system->ngp, .cosine = NAN};
    mcp_status st = make(q, &s, &m->posterior, &m->points, err);
    if (st != MCP_OK) return st;
    m->tolerance = s.type == MCP_POSTERIOR_SPARSE ? s.tolerance : 0.0;
    if (s.type != MCP_POSTERIOR_SPARSE || !set->self_check) return MCP_OK;
    const size_t params = (size_t)mcp_program_params(q->system->controller);
    double      *g = mcp_calloc(2 * params + 1, sizeof *g);
    if (!g) st = mcp_fail(err, MCP_ERR_MEMORY, "out of memory for the check of the sparse posterior");
    else st = tighten(m, q, theta, &s, g, g + params, err);
    mcp_free(g);
    if (st != MCP_OK) mcp_models_free(m);
    return st;
}
