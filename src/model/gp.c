/* gp.c - a kernel, its data and its hyper-parameters: checks at the door, and prediction for callers who have
 * a few points and no batches. */
#include <math.h>
#include <string.h>

#include "math/arena.h"
#include "model/gp_parts.h"

static mcp_status check_data(const mcp_kernel *kernel, int n, int features, const double *X, const double *y,
                             mcp_error *err)
{
    if (!kernel || !X || !y)
        return mcp_fail(err, MCP_ERR_ARG, "gp: kernel, inputs and targets are needed, one is NULL");
    if (features != kernel->features)
        return mcp_fail(err, MCP_ERR_ARG, "gp: the data have %d features, the kernel was made for %d",
                        features, kernel->features);
    if (n < 2 || n > MCP_GP_MOST)
        return mcp_fail(err, MCP_ERR_ARG, "gp: %d data points; 2 to %d are possible%s", n, MCP_GP_MOST,
                        n < 2 ? " - record a longer trial" : " - leave some out");
    for (int i = 0; i < n; i++) {
        if (!isfinite(y[i]))
            return mcp_fail(err, MCP_ERR_ARG, "gp: target %d is %g; every target must be a finite number", i,
                            y[i]);
        for (int d = 0; d < features; d++) {
            double x = X[(size_t)i * (size_t)features + (size_t)d];
            if (!isfinite(x))
                return mcp_fail(err, MCP_ERR_ARG,
                                "gp: feature %d of data point %d is %g; every input must be a finite number",
                                d, i, x);
        }
    }
    return MCP_OK;
}

static size_t layout(mcp_gp *gp, char *base)
{
    mcp_arena a = {.base = base, .used = 0};
    size_t    n = (size_t)gp->n, D = (size_t)gp->features;
    gp->X     = mcp_arena_doubles(&a, n * D);
    gp->y     = mcp_arena_doubles(&a, n);
    gp->F     = mcp_arena_doubles(&a, D * (size_t)gp->ld);
    gp->hyper = mcp_arena_doubles(&a, (size_t)gp->kernel->params + 1);
    return a.used;
}

/* New data in a block of its own; the hyper-parameters are those of the data before, if there were any. */
static mcp_status take_data(mcp_gp *gp, int n, const double *X, const double *y, mcp_error *err)
{
    mcp_gp     next = *gp;
    size_t     D = (size_t)gp->features, params = (size_t)gp->kernel->params + 1;
    mcp_status st;
    next.n  = n;
    next.ld = mcp_round_lanes(n);
    if ((st = mcp_block_alloc(&next.block, layout(&next, NULL), err)) != MCP_OK) return st;
    layout(&next, next.block);
    memcpy(next.X, X, (size_t)n * D * sizeof *X);
    memcpy(next.y, y, (size_t)n * sizeof *y);
    for (int i = 0; i < n; i++)
        for (size_t d = 0; d < D; d++)
            next.F[d * (size_t)next.ld + (size_t)i] = X[(size_t)i * D + d];
    if (gp->block) memcpy(next.hyper, gp->hyper, params * sizeof *next.hyper);
    mcp_gp_forget(gp);
    mcp_block_free(gp->block);
    mcp_free(gp->lag);
    *gp           = next;
    gp->posterior = NULL;
    gp->lag       = NULL;
    gp->root      = NULL;
    gp->band      = 0;
    gp->known     = 0;
    return MCP_OK;
}

static mcp_status start_hyper(mcp_gp *gp, mcp_error *err)
{
    size_t          params = (size_t)gp->kernel->params + 1;
    double         *bounds = mcp_calloc(2 * params, sizeof *bounds);
    mcp_gp_settings s;
    if (!bounds) return mcp_fail(err, MCP_ERR_MEMORY, "gp: out of memory");
    mcp_gp_settings_default(&s);
    mcp_gp_start(gp, &s, gp->hyper, bounds, bounds + params);
    mcp_free(bounds);
    return MCP_OK;
}

mcp_status mcp_gp_create(mcp_gp **out, const mcp_kernel *kernel, int n, int features, const double *X,
                         const double *y, mcp_error *err)
{
    *out          = NULL;
    mcp_status st = check_data(kernel, n, features, X, y, err);
    if (st != MCP_OK) return st;
    mcp_gp *gp = mcp_calloc(1, sizeof *gp);
    if (!gp) return mcp_fail(err, MCP_ERR_MEMORY, "gp: out of memory");
    gp->kernel   = kernel;
    gp->features = features;
    st           = take_data(gp, n, X, y, err);
    if (st == MCP_OK) st = start_hyper(gp, err);
    if (st == MCP_OK) *out = gp;
    else mcp_gp_free(gp);
    return st;
}

mcp_status mcp_gp_from_text(mcp_gp **out, const char *kernel, int n, int features, const double *X,
                            const double *y, mcp_error *err)
{
    mcp_kernel *k  = NULL;
    mcp_status  st = mcp_kernel_parse(&k, kernel, features, features, err);
    *out           = NULL;
    if (st == MCP_OK) st = mcp_gp_create(out, k, n, features, X, y, err);
    if (st == MCP_OK) (*out)->own_kernel = k;
    else mcp_kernel_free(k);
    return st;
}

mcp_status mcp_gp_set_data(mcp_gp *gp, int n, const double *X, const double *y, mcp_error *err)
{
    mcp_status st = check_data(gp->kernel, n, gp->features, X, y, err);
    return st == MCP_OK ? take_data(gp, n, X, y, err) : st;
}

void mcp_gp_free(mcp_gp *gp)
{
    if (!gp) return;
    mcp_gp_forget(gp);
    mcp_free(gp->lag);
    mcp_block_free(gp->block);
    mcp_kernel_free(gp->own_kernel);
    mcp_free(gp);
}

void mcp_gp_forget(mcp_gp *gp)
{
    mcp_posterior_free(gp->posterior);
    gp->posterior = NULL;
}

mcp_status mcp_gp_set(mcp_gp *gp, const double *hyper, mcp_error *err)
{
    int params = gp->kernel->params;
    for (int i = 0; i <= params; i++)
        if (!(fabs(hyper[i]) <= 300.0)) /* refuses NaN too */
            return mcp_fail(err, MCP_ERR_ARG,
                            "gp: hyper-parameter %s = %g; logs between -300 and 300 are possible",
                            mcp_gp_hyper_name(gp, i), hyper[i]);
    memmove(gp->hyper, hyper, ((size_t)params + 1) * sizeof *hyper);
    mcp_noise_follow(gp);
    mcp_gp_forget(gp);
    return MCP_OK;
}

mcp_status mcp_gp_nlml(mcp_gp *gp, double *nlml, double *gradient, mcp_error *err)
{
    mcp_likelihood *w;
    double          jitter;
    mcp_status      st = mcp_likelihood_create(&w, gp, mcp_isa_level(), err);
    if (st != MCP_OK) return st;
    st = mcp_likelihood_run(w, gp->hyper, nlml, gradient, &jitter, err);
    mcp_likelihood_free(w);
    return st;
}

mcp_status mcp_gp_posterior(mcp_gp *gp, mcp_posterior_type type, double tolerance, int points_max,
                            mcp_error *err)
{
    if ((int)type < MCP_POSTERIOR_EXACT || type > MCP_POSTERIOR_SUBSET)
        return mcp_fail(err, MCP_ERR_ARG, "gp: posterior of kind %d; exact, sparse and subset are possible",
                        (int)type);
    if (!(tolerance >= 0.0 && tolerance <= 1e6) || points_max < 0)
        return mcp_fail(err, MCP_ERR_ARG,
                        "gp: posterior with tolerance %g and at most %d points; neither may be negative",
                        tolerance, points_max);
    gp->kind = (mcp_posterior_settings){.type = type, .tolerance = tolerance, .points_max = points_max};
    mcp_gp_forget(gp);
    return MCP_OK;
}

static mcp_status make_posterior(mcp_gp *gp, mcp_error *err)
{
    if (gp->posterior) return MCP_OK;
    return mcp_posterior_create(&gp->posterior, gp, &gp->kind, mcp_isa_level(), &gp->certificate, err);
}

mcp_status mcp_gp_posterior_certificate(mcp_gp *gp, const mcp_posterior_info **info, mcp_error *err)
{
    mcp_status st = make_posterior(gp, err);
    *info         = st == MCP_OK ? &gp->certificate : NULL;
    return st;
}

enum { BLOCK = 64 };

typedef struct {
    double *F, *mean, *var, *tape;
} block_memory;

static size_t layout_block(block_memory *w, const mcp_gp *gp, char *base)
{
    mcp_arena a = {.base = base, .used = 0};
    w->F    = mcp_arena_doubles(&a, (size_t)gp->features * BLOCK);
    w->mean = mcp_arena_doubles(&a, BLOCK);
    w->var  = mcp_arena_doubles(&a, BLOCK);
    w->tape = mcp_arena_doubles(&a, mcp_posterior_tape(gp->posterior, BLOCK));
    return a.used;
}

mcp_status mcp_gp_predict(mcp_gp *gp, int m, const double *X, double *mean, double *var, mcp_error *err)
{
    int          D = gp->features;
    mcp_status   st;
    block_memory w;
    void        *memory;
    if (m < 0 || (m > 0 && !X))
        return mcp_fail(err, MCP_ERR_ARG, "gp: %d points to predict at, but no inputs", m);
    if ((st = make_posterior(gp, err)) != MCP_OK) return st;
    if ((st = mcp_block_alloc(&memory, layout_block(&w, gp, NULL), err)) != MCP_OK) return st;
    layout_block(&w, gp, memory);
    for (int i = 0; i < m; i += BLOCK) {
        int count = m - i < BLOCK ? m - i : BLOCK, n = mcp_round_lanes(count);
        for (int d = 0; d < D; d++)
            for (int j = 0; j < n; j++)
                w.F[d * BLOCK + j] = j < count ? X[(size_t)(i + j) * (size_t)D + (size_t)d] : 0.0;
        mcp_posterior_forward(gp->posterior, n, BLOCK, w.F, w.mean, w.var, w.tape);
        if (mean) memcpy(mean + i, w.mean, (size_t)count * sizeof *mean);
        if (var) memcpy(var + i, w.var, (size_t)count * sizeof *var);
    }
    mcp_block_free(memory);
    return MCP_OK;
}

const mcp_gp_info *mcp_gp_trained(const mcp_gp *gp) { return &gp->info; }

const double     *mcp_gp_hyper(const mcp_gp *gp) { return gp->hyper; }
int               mcp_gp_count(const mcp_gp *gp) { return gp->n; }
int               mcp_gp_features(const mcp_gp *gp) { return gp->features; }
const double     *mcp_gp_inputs(const mcp_gp *gp) { return gp->X; }
const double     *mcp_gp_targets(const mcp_gp *gp) { return gp->y; }
const mcp_kernel *mcp_gp_kernel(const mcp_gp *gp) { return gp->kernel; }
double            mcp_gp_noise_var(const mcp_gp *gp) { return exp(2.0 * gp->hyper[gp->kernel->params]); }
double mcp_gp_prior_var(const mcp_gp *gp, const double *x)
{
    return mcp_kernel_value(gp->kernel, gp->hyper, x, x);
}
