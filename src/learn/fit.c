/* fit.c - train the task's GPs, one thread each.
 *
 * The noise of each GP has a floor: what the task says, or a share of the error that the smoother itself expects in the
 * changes. Smoothers with memory make that error look like signal (it is correlated in time, and the likelihood would
 * explain it by short length-scales); their share is one. Where the error is nearly white the likelihood finds it by itself,
 * and the floor only guards against few data. */
#include "learn/fit.h"

#include <math.h>
#include <string.h>

#include "math/arena.h"

static double floor_share(const mcp_task *t)
{
    switch (t->smoother.type) {
    case MCP_SMOOTHER_NONE:
    case MCP_SMOOTHER_CENTRAL: return 0.3;
    default: return 1.0;
    }
}

static double noise_floor(const mcp_system *s, int g, int trials, mcp_states *const *states)
{
    const mcp_task *t = s->task;
    double          own = t->gp[g].noise_floor > 0 ? t->gp[g].noise_floor : t->model.gp.noise_floor;
    double          expected = 0.0;
    if (own > 0) return own; /* the task knows better: a smoother told to distrust its sensor also overstates its own error */
    for (int i = 0; i < trials; i++)
        if (states[i]->count > 0) expected = fmax(expected, states[i]->change_std[g]);
    return floor_share(t) * expected;
}

static mcp_status gather_visited(mcp_fit *f, int trials, mcp_states *const *states, mcp_error *err)
{
    int    nx = f->system->nx;
    size_t n = 0;
    for (int i = 0; i < trials; i++) n += (size_t)states[i]->count;
    f->visited = mcp_calloc((n + 1) * (size_t)nx, sizeof *f->visited);
    if (!f->visited) return mcp_fail(err, MCP_ERR_MEMORY, "out of memory for %zu states", n);
    for (int i = 0; i < trials; i++) {
        memcpy(f->visited + (size_t)f->visits * (size_t)nx, states[i]->state, (size_t)states[i]->count * (size_t)nx * sizeof(double));
        f->visits += states[i]->count;
    }
    return MCP_OK;
}

typedef struct {
    mcp_fit       *fit;
    double *const *hyper;
    uint64_t       seed;
    uint32_t       number;
    mcp_status    *status;
    mcp_error     *error;
} work;

static void fit_one(void *context, int g, int worker)
{
    (void)worker;
    work      *w = context;
    mcp_fit   *f = w->fit;
    mcp_error *err = &w->error[g];
    if ((w->status[g] = mcp_gp_create(&f->gp[g], f->system->kernel[g], f->pairs->n, f->pairs->nf, f->pairs->X,
                                      f->pairs->Y + (size_t)g * (size_t)f->pairs->n, err)) != MCP_OK)
        return;
    if (w->hyper) {
        w->status[g] = mcp_gp_set(f->gp[g], w->hyper[g], err);
        return;
    }
    mcp_gp_settings settings = f->system->task->model.gp;
    settings.noise_floor = f->noise_floor[g];
    settings.seed = w->seed * 1000003u + w->number * 64u + (uint64_t)g; /* restarts of each GP and trial are their own */
    w->status[g] = mcp_gp_train(f->gp[g], &settings, &f->info[g], err);
}

static mcp_status fit_all(mcp_fit *f, double *const *hyper, uint64_t seed, uint32_t number, mcp_pool *pool, mcp_error *err)
{
    int        n = f->system->ngp;
    work       w = {.fit = f, .hyper = hyper, .seed = seed, .number = number};
    mcp_status st = MCP_OK;
    w.status = mcp_calloc((size_t)n + 1, sizeof *w.status);
    w.error = mcp_calloc((size_t)n + 1, sizeof *w.error);
    if (!w.status || !w.error) st = mcp_fail(err, MCP_ERR_MEMORY, "out of memory for %d GPs", n);
    else mcp_pool_run(pool, n, fit_one, &w);
    for (int g = 0; st == MCP_OK && g < n; g++)
        if ((st = w.status[g]) != MCP_OK)
            mcp_fail(err, st, "the GP of %s: %s", f->system->task->state[f->system->task->gp[g].state], w.error[g].text);
    mcp_free(w.status);
    mcp_free(w.error);
    return st;
}

mcp_status mcp_fit_create(mcp_fit **out, const mcp_system *s, int trials, mcp_trial *const *trial, mcp_states *const *states,
                          double *const *hyper, uint64_t seed, uint32_t number, mcp_pool *pool, mcp_error *err)
{
    mcp_status st;
    size_t     n = (size_t)s->ngp + 1;
    mcp_fit   *f = mcp_calloc(1, sizeof *f);
    *out = NULL;
    if (!f) return mcp_fail(err, MCP_ERR_MEMORY, "out of memory for the model");
    f->system = s;
    f->gp = mcp_calloc(n, sizeof *f->gp);
    f->info = mcp_calloc(n, sizeof *f->info);
    f->noise_floor = mcp_calloc(n, sizeof *f->noise_floor);
    if (!f->gp || !f->info || !f->noise_floor) st = mcp_fail(err, MCP_ERR_MEMORY, "out of memory for %d GPs", s->ngp);
    else if ((st = mcp_estimate_pairs(&f->pairs, s, trials, trial, states, err)) == MCP_OK && f->pairs->n < 2 && s->ngp)
        st = mcp_fail(err, MCP_ERR_NUMERIC, "%d trials gave %d pairs to learn from: they ended too early; see the reason in their "
                      "trial.json and widen the limits or explore more gently", trials, f->pairs->n);
    if (st == MCP_OK && (st = gather_visited(f, trials, states, err)) == MCP_OK) {
        for (int g = 0; g < s->ngp; g++) f->noise_floor[g] = noise_floor(s, g, trials, states);
        st = fit_all(f, hyper, seed, number, pool, err);
    }
    if (st == MCP_OK) *out = f;
    else mcp_fit_free(f);
    return st;
}

void mcp_fit_free(mcp_fit *f)
{
    if (!f) return;
    for (int g = 0; f->gp && g < f->system->ngp; g++) mcp_gp_free(f->gp[g]);
    mcp_pairs_free(f->pairs);
    mcp_free(f->gp);
    mcp_free(f->info);
    mcp_free(f->noise_floor);
    mcp_free(f->visited);
    mcp_free(f);
}
