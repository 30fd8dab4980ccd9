/* train.c - hyper-parameters by maximum marginal likelihood: NLopt's L-BFGS in log space between bounds, from
 * a start that the data suggest and a few random ones. The best point ever evaluated is kept, whatever the
 * optimiser says at its end.
 *
 * To the likelihood comes a weak log-normal prior around that start (settings.prior): little data explain
 * themselves as well by spikes and no noise as by a smooth function and some.
 *
 * The optimiser sees logs relative to what the data suggest and a likelihood of targets in units of the noise
 * it starts with: its tolerances mean the same in every unit. */
#include <math.h>
#include <nlopt.h>
#include <string.h>

#include "math/arena.h"
#include "math/clock.h"
#include "math/pool.h"
#include "math/rng.h"
#include "math/sized.h"
#include "model/gp_parts.h"

static const double clearly = 2.0; /* of log likelihood */

typedef struct {
    mcp_likelihood *w;
    int             count, free; /* hyper-parameters; those that move */
    int            *place;       /* of the free ones                  */
    double         *start, *lower, *upper;
    double         *origin, zero; /* what the data suggest, and what to take off the likelihood */
    double         *full, *gradient, *x; /* at the point being evaluated */
    double         *best, nlml, jitter;  /* of this start                */
    double          value;               /* nlml and the prior's part    */
    double         *winner;              /* of all starts                */
    const mcp_gp   *gp;
    double          prior;
    int             evaluations;
    nlopt_opt       opt;
} search;

static size_t layout(search *q, char *base)
{
    mcp_arena a = {.base = base, .used = 0};
    size_t    n = (size_t)q->count;
    q->place    = mcp_arena_ints(&a, n);
    q->full     = mcp_arena_doubles(&a, n);
    q->gradient = mcp_arena_doubles(&a, n);
    q->best     = mcp_arena_doubles(&a, n);
    q->winner   = mcp_arena_doubles(&a, n);
    q->start    = mcp_arena_doubles(&a, n);
    q->origin   = mcp_arena_doubles(&a, n);
    q->lower    = mcp_arena_doubles(&a, n);
    q->upper    = mcp_arena_doubles(&a, n);
    q->x        = mcp_arena_doubles(&a, 3 * n);
    return a.used;
}

/* -log prior at q->full, but for a constant; added to g, over the free parameters. */
static double prior_of(const search *q, double *g)
{
    double sum = 0.0;
    for (int i = 0; i < q->free && q->prior > 0.0; i++) {
        double below, above, off = q->full[q->place[i]] - q->origin[q->place[i]];
        mcp_gp_prior(q->gp, q->place[i], &below, &above);
        double r = off / (off < 0.0 ? below : above);
        sum += 0.5 * q->prior * r * r;
        if (g) g[i] += q->prior * r / (off < 0.0 ? below : above);
    }
    return sum;
}

/* NLopt's objective over the free parameters. A point whose matrix cannot be factorised is very bad, not an
 * error. */
static double objective(unsigned n, const double *x, double *g, void *data)
{
    search *q = data;
    double  nlml, jitter;
    for (unsigned i = 0; i < n; i++) q->full[q->place[i]] = q->origin[q->place[i]] + x[i];
    q->evaluations++;
    if (mcp_likelihood_run(q->w, q->full, &nlml, g ? q->gradient : NULL, &jitter, NULL) != MCP_OK) {
        for (unsigned i = 0; g && i < n; i++) g[i] = 0.0;
        return 1e12;
    }
    for (unsigned i = 0; g && i < n; i++) g[i] = q->gradient[q->place[i]];
    double value = nlml + prior_of(q, g);
    if (value < q->value) {
        q->value  = value;
        q->nlml   = nlml;
        q->jitter = jitter;
        memcpy(q->best, q->full, (size_t)q->count * sizeof *q->best);
    }
    return value - q->zero;
}

/* L-BFGS sometimes stops at once because its first steps were badly scaled: it then goes on from the best
 * point so far. */
static void descend(search *q, const double *from, int evaluations_max)
{
    int first = q->evaluations;
    memcpy(q->x, from, (size_t)q->free * sizeof *from);
    for (int round = 0; round < 4 && q->evaluations - first < evaluations_max; round++) {
        double before = q->value, value;
        int    left   = evaluations_max - (q->evaluations - first);
        nlopt_set_maxeval(q->opt, left);
        nlopt_result r = nlopt_optimize(q->opt, q->x, &value);
        if (r == NLOPT_MAXEVAL_REACHED || r == NLOPT_OUT_OF_MEMORY) break;
        if (!(before - q->value > 1e-6 * (1.0 + fabs(q->value - q->zero)))) break;
        for (int i = 0; i < q->free; i++) q->x[i] = q->best[q->place[i]] - q->origin[q->place[i]];
    }
}

static void random_start(const search *q, mcp_rand *r, double *x)
{
    for (int i = 0; i < q->free; i++) {
        int at = q->place[i];
        double wish = q->start[at] + 1.5 * (2.0 * mcp_rand_uniform(r) - 1.0);
        x[i] = fmin(fmax(wish, q->lower[at]), q->upper[at]) - q->origin[at];
    }
}

static mcp_status check_settings(const mcp_gp_settings *s, mcp_error *err)
{
    if (!(s->prior >= 0.0) || isinf(s->prior))
        return mcp_fail(err, MCP_ERR_ARG, "gp: prior = %g; a finite weight that is not negative", s->prior);
    if (!(s->noise_floor >= 0.0) || !(s->lengthscale_floor >= 0.0) || !(s->noise_start >= 0.0) ||
        isinf(s->noise_floor) || isinf(s->lengthscale_floor) || isinf(s->noise_start))
        return mcp_fail(
            err, MCP_ERR_ARG,
            "gp: noise_floor = %g, lengthscale_floor = %g, noise_start = %g; each must be finite and "
            "not negative",
            s->noise_floor, s->lengthscale_floor, s->noise_start);
    if (s->restarts < 0 || s->evaluations_max < 1)
        return mcp_fail(err, MCP_ERR_ARG, "gp: restarts = %d, evaluations_max = %d; at least 0 and 1",
                        s->restarts, s->evaluations_max);
    return MCP_OK;
}

/* Free parameters, bounds, optimiser. */
static mcp_status prepare(search *q, const mcp_gp *gp, const mcp_gp_settings *s, mcp_error *err)
{
    double *lo = q->x + q->count, *hi = lo + q->count;
    q->gp = gp;
    q->prior = s->prior;
    mcp_gp_start(gp, s, q->start, q->lower, q->upper);
    memcpy(q->origin, q->start, (size_t)q->count * sizeof *q->origin);
    q->zero = gp->n * q->origin[q->count - 1];
    for (int i = 0; s->from_present && i < q->count; i++)
        q->start[i] = fmin(fmax(gp->hyper[i], q->lower[i]), q->upper[i]);
    memcpy(q->full, q->start, (size_t)q->count * sizeof *q->full);
    for (int i = 0; i < q->count; i++) {
        if (!(q->upper[i] > q->lower[i])) continue;
        lo[q->free]      = q->lower[i] - q->origin[i];
        hi[q->free]      = q->upper[i] - q->origin[i];
        q->place[q->free++] = i;
    }
    q->opt = nlopt_create(NLOPT_LD_LBFGS, (unsigned)q->free);
    if (!q->opt || nlopt_set_min_objective(q->opt, objective, q) < 0 ||
        nlopt_set_lower_bounds(q->opt, lo) < 0 || nlopt_set_upper_bounds(q->opt, hi) < 0 ||
        nlopt_set_ftol_rel(q->opt, 1e-9) < 0 || nlopt_set_ftol_abs(q->opt, 1e-7) < 0 ||
        nlopt_set_xtol_rel(q->opt, 1e-7) < 0)
        return mcp_fail(err, MCP_ERR_MEMORY, "gp: the optimiser could not be set up for %d parameters",
                        q->free);
    return MCP_OK;
}

/* First start, then random ones; the best over all of them becomes the winner. After the present parameters
 * comes what the data suggest, and a model that has proved itself gives way only to one that is clearly
 * better. */
static mcp_status run_starts(search *q, const mcp_gp_settings *s, mcp_gp_info *info, mcp_error *err)
{
    mcp_rand   r  = mcp_rand_make(s->seed, 0, 0, MCP_RNG_TRAIN);
    double    *x  = q->x + q->count; /* the optimiser has copied the bounds by now */
    mcp_status st = mcp_likelihood_run(q->w, q->start, &info->nlml_start, NULL, &info->jitter, err);
    double winner = INFINITY;
    for (int start = 0; start <= s->restarts; start++) {
        for (int i = 0; start == 0 && i < q->free; i++) x[i] = q->start[q->place[i]] - q->origin[q->place[i]];
        if (start > 0) random_start(q, &r, x);
        for (int i = 0; start == 1 && s->from_present && i < q->free; i++) x[i] = 0.0;
        q->value = INFINITY;
        descend(q, x, s->evaluations_max);
        if (!isfinite(q->value)) continue;
        info->starts++;
        if (!(q->value < winner - (s->from_present && isfinite(winner) ? clearly : 0.0))) continue;
        winner       = q->value;
        info->nlml   = q->nlml;
        info->jitter = q->jitter;
        memcpy(q->winner, q->best, (size_t)q->count * sizeof *q->best);
    }
    info->evaluations = q->evaluations;
    if (info->starts > 0) return MCP_OK;
    return st != MCP_OK
               ? st
               : mcp_fail(
                     err, MCP_ERR_NUMERIC,
                     "gp: no start of the training gave a finite likelihood; look for outliers in the data, "
                     "or raise the floor of the noise");
}

/* Raises the noise to 1e-5 of the signal: below that, rounding decides what is left of the variance. */
static void bound_signal(const mcp_gp *gp, double *hyper)
{
    const size_t D = (size_t)gp->features;
    double       most = 0.0, *noise = &hyper[gp->kernel->params];
    for (size_t i = 0; i < (size_t)gp->n; i++)
        most = fmax(most, mcp_kernel_value(gp->kernel, hyper, gp->X + i * D, gp->X + i * D));
    if (most > 0.0) *noise = fmax(*noise, 0.5 * log(most) + log(1e-5));
}

mcp_status mcp_gp_train(mcp_gp *gp, const mcp_gp_settings *given, mcp_error *err)
{
    mcp_gp_settings settings, *s = &settings;
    mcp_gp_info     mine  = {0};
    search          q     = {.count = gp->kernel->params + 1};
    void           *block = NULL;
    double          t0    = mcp_clock();
    mcp_status      st;
    mcp_gp_settings_default(s);
    if (given && (st = mcp_sized_read(s, sizeof *s, given, "mcp_gp_settings", err)) != MCP_OK) return st;
    if ((st = check_settings(s, err)) != MCP_OK) return st;
    if ((st = mcp_block_alloc(&block, layout(&q, NULL), err)) != MCP_OK) return st;
    layout(&q, block);
    if ((st = mcp_likelihood_create(&q.w, gp, mcp_isa_level(), err)) != MCP_OK) goto done;
    if ((st = prepare(&q, gp, s, err)) != MCP_OK) goto done;
    if ((st = run_starts(&q, s, &mine, err)) != MCP_OK) goto done;
    bound_signal(gp, q.winner);
    if ((st = mcp_gp_set(gp, q.winner, err)) != MCP_OK) goto done;
    mine.noise_std = exp(q.winner[q.count - 1]);
    mine.seconds   = mcp_clock() - t0;
    gp->info       = mine;
done:
    if (q.opt) nlopt_destroy(q.opt);
    mcp_likelihood_free(q.w);
    mcp_block_free(block);
    return st;
}

typedef struct {
    mcp_gp *const                *gp;
    const mcp_gp_settings *const *s;
    mcp_status                   *status; /* one per gp; an error may be filled on the way to success */
    mcp_error                    *err;
} batch;

static void train_one(void *context, int task, int worker)
{
    batch *b = context;
    (void)worker;
    b->status[task] = mcp_gp_train(b->gp[task], b->s ? b->s[task] : NULL, &b->err[task]);
}

mcp_status mcp_gp_train_all(mcp_gp *const *gp, int count, const mcp_gp_settings *const *s, int threads,
                            mcp_error *err)
{
    batch      b    = {.gp = gp, .s = s};
    mcp_pool  *pool = NULL;
    mcp_status st   = MCP_OK;
    if (count < 1) return MCP_OK;
    b.err = mcp_calloc((size_t)count, sizeof *b.err);
    b.status = mcp_calloc((size_t)count, sizeof *b.status);
    if (!b.err || !b.status) {
        st = mcp_fail(err, MCP_ERR_MEMORY, "gp: out of memory");
        goto done;
    }
    if (threads != 1 && count > 1 &&
        (st = mcp_pool_create(&pool, threads < count ? threads : count, err)) != MCP_OK)
        goto done;
    mcp_pool_run(pool, count, train_one, &b);
    for (int i = 0; i < count && st == MCP_OK; i++)
        if ((st = b.status[i]) != MCP_OK) mcp_fail(err, st, "%s", b.err[i].text);
done:
    mcp_pool_free(pool);
    mcp_free(b.status);
    mcp_free(b.err);
    return st;
}
