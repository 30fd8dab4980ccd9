/* fit.c - train the task's GPs, one thread each.
 *
 * The noise of each GP has a floor: what the task says, or a share of the error that the smoother itself
 * expects in the changes. Smoothers with memory make that error look like signal (it is correlated in time,
 * and the likelihood would explain it by short length-scales); their share is one. Where the error is nearly
 * white the likelihood finds it by itself, and the floor only guards against few data.
 *
 * Central differences are refined: a first model, of differences and the inputs they mix, tells by how much
 * they miss the velocity at the sample; the second, which counts, learns from velocities without that.
 *
 * With smoother: auto the GPs are told the covariance of the sensor's noise in their targets, and the noise
 * that is trained is what is left beside it. A first model tells what of the measurements is noise; the
 * second has the same targets, and features without it. */
#include "learn/fit.h"

#include <math.h>
#include <string.h>

#include "learn/rest.h"
#include "math/arena.h"

static double floor_share(const mcp_task *t)
{
    switch (t->smoother.type) {
    case MCP_SMOOTHER_NONE:
    case MCP_SMOOTHER_DIFFERENCE:
    case MCP_SMOOTHER_TRAPEZOID:
    case MCP_SMOOTHER_CENTRAL: return 0.3;
    case MCP_SMOOTHER_AUTO: return 0.02; /* a twentieth of r/Ts */
    default: return 1.0;
    }
}

/* What the sensor does to a change, as the smoother knows it. */
static double sensor_std(int g, int trials, mcp_states *const *states)
{
    double expected = 0.0;
    for (int i = 0; i < trials; i++)
        if (states[i]->count > 0) expected = fmax(expected, states[i]->change_std[g]);
    return expected;
}

static double noise_floor(const mcp_system *s, int g, int trials, mcp_states *const *states)
{
    const mcp_task *t = s->task;
    double          own = t->gp[g].noise_floor > 0 ? t->gp[g].noise_floor : t->model.gp.noise_floor;
    if (own > 0)
        return own; /* the task knows better: a smoother told to distrust its sensor also overstates its own
                       error */
    return floor_share(t) * sensor_std(g, trials, states);
}

static mcp_status gather_visited(mcp_fit *f, int trials, mcp_states *const *states, mcp_error *err)
{
    int    nx = f->system->nx;
    size_t n = 0;
    for (int i = 0; i < trials; i++) n += (size_t)states[i]->count;
    mcp_free(f->visited);
    f->visits = 0;
    f->visited = mcp_calloc((n + 1) * (size_t)nx, sizeof *f->visited);
    if (!f->visited) return mcp_fail(err, MCP_ERR_MEMORY, "out of memory for %zu states", n);
    for (int i = 0; i < trials; i++) {
        memcpy(f->visited + (size_t)f->visits * (size_t)nx, states[i]->state,
               (size_t)states[i]->count * (size_t)nx * sizeof(double));
        f->visits += states[i]->count;
    }
    return MCP_OK;
}

typedef struct {
    mcp_fit           *fit;
    double *const     *hyper, *const *start;
    uint64_t           seed;
    uint32_t           number;
    int                trials;
    mcp_states *const *states;
    mcp_status        *status;
    mcp_error         *error;
} work;

/* Correlation of the noise, trial by trial. */
static mcp_status shape_noise(mcp_gp *gp, const work *w, int g, mcp_error *err)
{
    enum { ROW = MCP_NOISE_BAND + 1 };
    const mcp_fit *f = w->fit;
    double         share = f->system->task->model.correlation, known = f->sensor_std[g];
    if (!(share > 0) || f->system->white_noise || f->pairs->n <= MCP_NOISE_BAND) return MCP_OK;
    if (f->system->task->smoother.type == MCP_SMOOTHER_AUTO && !(known > 0)) return MCP_OK;
    double *lag = mcp_calloc((size_t)f->pairs->n * ROW, sizeof *lag), unit = known > 0 ? known * known : 1.0;
    if (known > 0) share = 1.0; /* the white part is the GP's own */
    mcp_status st = lag ? MCP_OK
                        : mcp_fail(err, MCP_ERR_MEMORY, "out of memory for the noise of %d pairs",
                                   f->pairs->n);
    for (int t = 0, at = 0; st == MCP_OK && t < w->trials; t++)
        for (int left = w->states[t]->count - 1; left > 0; left--, at++)
            for (int k = 0; k <= MCP_NOISE_BAND; k++)
                lag[(size_t)at * ROW + (size_t)k] = k == 0     ? unit
                                                    : k < left ? share * unit * w->states[t]->lag[g * ROW + k]
                                                               : 0.0;
    if (st == MCP_OK)
        st = known > 0 ? mcp_gp_noise_known(gp, MCP_NOISE_BAND, lag, err)
                       : mcp_gp_noise_shape(gp, MCP_NOISE_BAND, lag, err);
    mcp_free(lag);
    return st;
}

static void fit_one(void *context, int g, int worker)
{
    (void)worker;
    work      *w = context;
    mcp_fit   *f = w->fit;
    mcp_error *err = &w->error[g];
    if ((w->status[g] = mcp_gp_create(&f->gp[g], f->system->kernel[g], f->pairs->n, f->pairs->nf, f->pairs->X,
                                      f->pairs->Y + (size_t)g * (size_t)f->pairs->n, err)) != MCP_OK)
        return;
    if ((w->status[g] = shape_noise(f->gp[g], w, g, err)) != MCP_OK) return;
    if (w->hyper) {
        w->status[g] = mcp_gp_set(f->gp[g], w->hyper[g], err);
        return;
    }
    mcp_gp_settings settings = f->system->task->model.gp;
    settings.size = sizeof settings;
    settings.noise_floor = f->noise_floor[g];
    settings.seed =
        w->seed * 1000003u + w->number * 64u + (uint64_t)g; /* restarts of each GP and trial are their own */
    if (f->first[g]) { /* the refined data are nearly the same: go on from there */
        if ((w->status[g] = mcp_gp_set(f->gp[g], mcp_gp_hyper(f->first[g]), err)) != MCP_OK) return;
        settings.from_present = 1;
        settings.restarts = 0;
    } else if (w->start && mcp_gp_set(f->gp[g], w->start[g], NULL) == MCP_OK) {
        settings.from_present = 1;
        if (settings.restarts < 1) settings.restarts = 1;
    }
    w->status[g] = mcp_gp_train(f->gp[g], &settings, err);
    if (w->status[g] == MCP_OK) f->info[g] = *mcp_gp_trained(f->gp[g]);
}

/* Pairs from these states, and their GPs. */
static mcp_status fit_all(mcp_fit *f, work w, mcp_trial *const *trial, mcp_pool *pool, mcp_error *err)
{
    int        n = f->system->ngp;
    mcp_status st = mcp_estimate_pairs(&f->pairs, f->system, w.trials, trial, w.states, err);
    if (st != MCP_OK) return st;
    if (f->pairs->n < 2 && n)
        return mcp_fail(
            err, MCP_ERR_NUMERIC,
            "%d trials gave %d pairs to learn from: they ended too early; see the reason in their "
            "trial.json and widen the limits or explore more gently",
            w.trials, f->pairs->n);
    w.status = mcp_calloc((size_t)n + 1, sizeof *w.status);
    w.error = mcp_calloc((size_t)n + 1, sizeof *w.error);
    if (!w.status || !w.error) st = mcp_fail(err, MCP_ERR_MEMORY, "out of memory for %d GPs", n);
    else mcp_pool_run(pool, n, fit_one, &w);
    for (int g = 0; st == MCP_OK && g < n; g++)
        if ((st = w.status[g]) != MCP_OK)
            mcp_fail(err, st, "the GP of %s: %s", f->system->task->state[f->system->task->gp[g].state],
                     w.error[g].text);
    mcp_free(w.status);
    mcp_free(w.error);
    return st;
}

/* z as these models improve it. seen: they have learned from it. */
static mcp_status refine(mcp_states **out, const mcp_system *s, mcp_gp *const *gp, const mcp_trial *t,
                         mcp_states *z, int seen, mcp_error *err)
{
    size_t  n = (size_t)z->count, ngp = (size_t)s->ngp, nf = (size_t)s->nf;
    int     backward = s->task->smoother.type == MCP_SMOOTHER_AUTO;
    double  white[MCP_MAX_STATE];
    double *X = mcp_calloc(n * (nf + 2 * ngp + 2) + 1, sizeof *X), *change = X ? X + n * nf : NULL,
           *variance = X ? change + n * ngp : NULL, *mean = X ? variance + n * ngp : NULL,
           *var = X ? mean + n : NULL;
    mcp_status st = X ? mcp_estimate_features(s, t, z, X, change, err)
                      : mcp_fail(err, MCP_ERR_MEMORY, "out of memory for the model's data");
    for (size_t g = 0; g < ngp && st == MCP_OK; g++) {
        st = mcp_gp_predict(gp[g], z->count, X, mean, var, err);
        white[g] = mcp_gp_noise_var(gp[g]);
        for (size_t k = 0; k < n && st == MCP_OK; k++) {
            change[k * ngp + g] += mean[k]; /* on top of the prior mean */
            variance[k * ngp + g] = var[k];
        }
    }
    if (st == MCP_OK && backward)
        st = mcp_resmooth_states(out, s, z, &(mcp_resmooth){change, white, seen ? NULL : variance}, err);
    else if (st == MCP_OK) st = mcp_refine_states(out, s, z, change, err);
    mcp_free(X);
    return st;
}

static void states_free(int trials, mcp_states **states)
{
    for (int i = 0; states && i < trials; i++) mcp_states_free(states[i]);
    mcp_free(states);
}

typedef struct {
    mcp_gp *const     *gp;
    int                trials;
    mcp_trial *const  *trial;
    mcp_states *const *states;
    int                seen; /* the GPs have learned from them */
} refinement;

static mcp_status refine_all(mcp_states ***out, const mcp_system *s, const refinement *q, mcp_error *err)
{
    mcp_states **z = mcp_calloc((size_t)q->trials + 1, sizeof *z);
    mcp_status   st = z ? MCP_OK : mcp_fail(err, MCP_ERR_MEMORY, "out of memory for %d trials", q->trials);
    for (int i = 0; i < q->trials && st == MCP_OK; i++)
        st = refine(&z[i], s, q->gp, q->trial[i], q->states[i], q->seen, err);
    if (st == MCP_OK) *out = z;
    else states_free(q->trials, z);
    return st;
}

mcp_status mcp_fit_pairs(mcp_pairs **out, const mcp_fit *f, int trials, mcp_trial *const *trial,
                         mcp_states *const *states, mcp_error *err)
{
    mcp_states **z = NULL;
    *out = NULL;
    if (!f->system->ngp || !f->first[0])
        return mcp_estimate_pairs(out, f->system, trials, trial, states, err);
    refinement q = {.gp = f->first, .trials = trials, .trial = trial, .states = states};
    mcp_status st = refine_all(&z, f->system, &q, err);
    if (st == MCP_OK) st = mcp_estimate_pairs(out, f->system, trials, trial, z, err);
    states_free(trials, z);
    return st;
}

/* The model so far becomes the first one; the second learns from what it refines. */
static mcp_status fit_again(mcp_fit *f, work w, mcp_trial *const *trial, mcp_pool *pool, mcp_error *err)
{
    mcp_states **z = NULL;
    refinement   q = {f->gp, w.trials, trial, w.states, 1};
    mcp_status   st = refine_all(&z, f->system, &q, err);
    if (st == MCP_OK && f->system->task->smoother.type == MCP_SMOOTHER_AUTO)
        st = gather_visited(f, w.trials, z, err);
    if (st != MCP_OK) {
        states_free(w.trials, z);
        return st;
    }
    for (int g = 0; g < f->system->ngp; g++) {
        f->first[g] = f->gp[g];
        f->gp[g] = NULL;
    }
    mcp_pairs_free(f->pairs);
    f->pairs = NULL;
    w.states = z;
    st = fit_all(f, w, trial, pool, err);
    states_free(w.trials, z);
    return st;
}

mcp_status mcp_fit_create(mcp_fit **out, const mcp_system *s, const mcp_fit_data *d, mcp_pool *pool,
                          mcp_error *err)
{
    mcp_status st;
    size_t     n = (size_t)s->ngp + 1;
    mcp_fit   *f = mcp_calloc(1, sizeof *f);
    work       w = {.fit = f,
                    .hyper = d->hyper,
                    .seed = d->seed,
                    .start = d->start,
                    .number = d->number,
                    .trials = d->trials,
                    .states = d->states};
    int        twice = mcp_refinable(s), backward = s->task->smoother.type == MCP_SMOOTHER_AUTO;
    *out = NULL;
    if (!f) return mcp_fail(err, MCP_ERR_MEMORY, "out of memory for the model");
    f->system = s;
    f->lost = twice && !backward;
    f->gp = mcp_calloc(n, sizeof *f->gp);
    f->first = mcp_calloc(n, sizeof *f->first);
    f->info = mcp_calloc(n, sizeof *f->info);
    f->noise_floor = mcp_calloc(n, sizeof *f->noise_floor);
    f->sensor_std = mcp_calloc(n, sizeof *f->sensor_std);
    if (!f->gp || !f->first || !f->info || !f->noise_floor || !f->sensor_std)
        st = mcp_fail(err, MCP_ERR_MEMORY, "out of memory for %d GPs", s->ngp);
    else st = gather_visited(f, d->trials, d->states, err);
    if (st == MCP_OK) {
        for (int g = 0; g < s->ngp; g++) f->noise_floor[g] = noise_floor(s, g, d->trials, d->states);
        for (int g = 0; twice && backward && g < s->ngp; g++)
            f->sensor_std[g] = sensor_std(g, d->trials, d->states);
        if (d->hyper && twice) w.hyper = d->hyper + s->ngp;
        if (d->start && twice) w.start = d->start + s->ngp;
        st = fit_all(f, w, d->trial, pool, err);
    }
    if (st == MCP_OK && twice) {
        w.hyper = d->hyper;
        st = fit_again(f, w, d->trial, pool, err);
    }
    if (st == MCP_OK && s->task->model.rest) st = mcp_fit_rest(f, d->seed, err);
    if (st == MCP_OK) *out = f;
    else mcp_fit_free(f);
    return st;
}

static size_t hyper_count(const mcp_system *s, int g)
{
    return (size_t)mcp_kernel_params(s->kernel[g]) + 1;
}

mcp_status mcp_fit_hyper(double **out, const mcp_fit *f, mcp_error *err)
{
    const mcp_system *s = f->system;
    size_t            n = 0, at = 0;
    for (int g = 0; g < s->ngp; g++) n += 2 * hyper_count(s, g);
    double *all = mcp_calloc(n + 1, sizeof *all);
    if (!all) return mcp_fail(err, MCP_ERR_MEMORY, "out of memory for the model's hyper-parameters");
    for (int i = 0; i < 2 * s->ngp; i++) {
        int           g = i % s->ngp;
        const mcp_gp *gp = i < s->ngp ? f->gp[g] : f->first[g];
        if (gp) memcpy(all + at, mcp_gp_hyper(gp), hyper_count(s, g) * sizeof *all);
        at += hyper_count(s, g);
    }
    mcp_free(*out);
    *out = all;
    return MCP_OK;
}

mcp_status mcp_fit_hyper_split(const double *all, const mcp_system *s, double **hyper, mcp_error *err)
{
    for (int i = 0; i < 2 * s->ngp; i++) {
        size_t n = hyper_count(s, i % s->ngp);
        if (!(hyper[i] = mcp_calloc(n, sizeof *all)))
            return mcp_fail(err, MCP_ERR_MEMORY, "out of memory for the model's hyper-parameters");
        memcpy(hyper[i], all, n * sizeof *all);
        all += n;
    }
    return MCP_OK;
}

void mcp_fit_free(mcp_fit *f)
{
    if (!f) return;
    for (int g = 0; f->gp && g < f->system->ngp; g++) mcp_gp_free(f->gp[g]);
    for (int g = 0; f->first && g < f->system->ngp; g++) mcp_gp_free(f->first[g]);
    mcp_pairs_free(f->pairs);
    mcp_free(f->gp);
    mcp_free(f->first);
    mcp_free(f->info);
    mcp_free(f->noise_floor);
    mcp_free(f->sensor_std);
    mcp_free(f->visited);
    mcp_free(f);
}
