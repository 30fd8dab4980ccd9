/* gp.c - a kernel, its data and its hyper-parameters: checks at the door, and exact prediction for callers
 * who have a few points and no batches. */
#include <math.h>
#include <string.h>

#include "math/arena.h"
#include "model/gp_parts.h"

enum { N_MAX = 20000 }; /* n x n doubles: 3.2 GB */

static mcp_status check_data(const mcp_kernel *kernel, int n, int features, const double *X, const double *y,
                             mcp_error *err)
{
    if (!kernel || !X || !y)
        return mcp_fail(err, MCP_ERR_ARG, "gp: kernel, inputs and targets are needed, one is NULL");
    if (features != kernel->features)
        return mcp_fail(err, MCP_ERR_ARG, "gp: the data have %d features, the kernel was made for %d",
                        features, kernel->features);
    if (n < 2 || n > N_MAX)
        return mcp_fail(err, MCP_ERR_ARG, "gp: %d data points; 2 to %d are possible%s", n, N_MAX,
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

mcp_status mcp_gp_create(mcp_gp **out, const mcp_kernel *kernel, int n, int features, const double *X,
                         const double *y, mcp_error *err)
{
    *out          = NULL;
    mcp_status st = check_data(kernel, n, features, X, y, err);
    if (st != MCP_OK) return st;
    mcp_gp head  = {.kernel = kernel, .n = n, .features = features, .ld = mcp_round_lanes(n)};
    size_t front = (sizeof head + 63) / 64 * 64, params = (size_t)kernel->params + 1;
    void  *block;
    if ((st = mcp_block_alloc(&block, front + layout(&head, NULL), err)) != MCP_OK) return st;
    mcp_gp *gp = block;
    *gp        = head;
    layout(gp, (char *)block + front);
    memcpy(gp->X, X, (size_t)n * (size_t)features * sizeof *X);
    memcpy(gp->y, y, (size_t)n * sizeof *y);
    for (int i = 0; i < n; i++)
        for (int d = 0; d < features; d++)
            gp->F[(size_t)d * (size_t)gp->ld + (size_t)i] = X[(size_t)i * (size_t)features + (size_t)d];
    double *bounds = mcp_calloc(2 * params, sizeof *bounds);
    if (!bounds) {
        mcp_gp_free(gp);
        return mcp_fail(err, MCP_ERR_MEMORY, "gp: out of memory");
    }
    mcp_gp_settings s;
    mcp_gp_settings_default(&s);
    mcp_gp_start(gp, &s, gp->hyper, bounds, bounds + params);
    mcp_free(bounds);
    *out = gp;
    return MCP_OK;
}

void mcp_gp_free(mcp_gp *gp)
{
    if (!gp) return;
    mcp_posterior_free(gp->exact);
    mcp_free(gp->lag);
    mcp_block_free(gp);
}

mcp_status mcp_gp_set(mcp_gp *gp, const double *hyper, mcp_error *err)
{
    int params = gp->kernel->params;
    for (int i = 0; i <= params; i++)
        if (!(fabs(hyper[i]) <= 300.0)) /* refuses NaN too */
            return mcp_fail(err, MCP_ERR_ARG,
                            "gp: hyper-parameter %s = %g; logs between -300 and 300 are possible",
                            i < params ? mcp_kernel_param_name(gp->kernel, i) : "log_noise", hyper[i]);
    memcpy(gp->hyper, hyper, ((size_t)params + 1) * sizeof *hyper);
    mcp_posterior_free(gp->exact);
    gp->exact = NULL;
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
    w->tape = mcp_arena_doubles(&a, mcp_posterior_tape(gp->exact, BLOCK));
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
    if (!gp->exact) {
        mcp_posterior_settings s = {.type = MCP_POSTERIOR_EXACT};
        if ((st = mcp_posterior_create(&gp->exact, gp, &s, mcp_isa_level(), NULL, err)) != MCP_OK) return st;
    }
    if ((st = mcp_block_alloc(&memory, layout_block(&w, gp, NULL), err)) != MCP_OK) return st;
    layout_block(&w, gp, memory);
    for (int i = 0; i < m; i += BLOCK) {
        int count = m - i < BLOCK ? m - i : BLOCK, n = mcp_round_lanes(count);
        for (int d = 0; d < D; d++)
            for (int j = 0; j < n; j++)
                w.F[d * BLOCK + j] = j < count ? X[(size_t)(i + j) * (size_t)D + (size_t)d] : 0.0;
        mcp_posterior_forward(gp->exact, n, BLOCK, w.F, w.mean, w.var, w.tape);
        if (mean) memcpy(mean + i, w.mean, (size_t)count * sizeof *mean);
        if (var) memcpy(var + i, w.var, (size_t)count * sizeof *var);
    }
    mcp_block_free(memory);
    return MCP_OK;
}

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
