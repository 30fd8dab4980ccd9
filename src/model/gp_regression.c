/* gp_regression.c - what plain regression asks of a gp besides prediction: hyper-parameters by name, the
 * joint covariance of several points, and functions drawn from the posterior.
 *   C = K(X*, X*) - V' V,  V = L^-1 K(X, X*),  L L' = K(X, X) + s2 R      f = mean + chol(C) e */
#include <math.h>
#include <string.h>

#include "math/arena.h"
#include "math/linalg.h"
#include "math/rng.h"
#include "model/gp_parts.h"

enum { POINTS_MAX = 5000 }; /* m x m doubles: 200 MB */

int mcp_gp_hyper_count(const mcp_gp *gp)
{
    return gp->kernel->params + 1;
}

const char *mcp_gp_hyper_name(const mcp_gp *gp, int i)
{
    int params = gp->kernel->params;
    if (i < 0 || i > params) return NULL;
    return i < params ? mcp_kernel_param_name(gp->kernel, i) : "log_noise";
}

static mcp_status find(const mcp_gp *gp, const char *name, int *index, mcp_error *err)
{
    for (*index = 0; name && *index < mcp_gp_hyper_count(gp); ++*index)
        if (!strcmp(name, mcp_gp_hyper_name(gp, *index))) return MCP_OK;
    return mcp_fail(err, MCP_ERR_ARG,
                    "gp: there is no hyper-parameter \"%.80s\"; the kernel %.120s has %s .. log_noise",
                    name ? name : "", gp->kernel->text, mcp_gp_hyper_name(gp, 0));
}

mcp_status mcp_gp_hyper_get(const mcp_gp *gp, const char *name, double *value, mcp_error *err)
{
    int        i;
    mcp_status st = find(gp, name, &i, err);
    if (st == MCP_OK) *value = gp->hyper[i];
    return st;
}

mcp_status mcp_gp_hyper_set(mcp_gp *gp, const char *name, double value, mcp_error *err)
{
    int        i;
    mcp_status st = find(gp, name, &i, err);
    if (st != MCP_OK) return st;
    double before = gp->hyper[i];
    gp->hyper[i]  = value;
    if ((st = mcp_gp_set(gp, gp->hyper, err)) != MCP_OK) gp->hyper[i] = before;
    return st;
}

/* Covariances between the rows of Z (nz) and of X (m), X given as F [feature][ld]: K is nz x ld. */
static mcp_status covariances(const mcp_gp *gp, int nz, const double *Z, int ld, const double *F, double *K,
                              mcp_error *err)
{
    mcp_kernel_batch *cov  = NULL;
    void             *tape = NULL;
    mcp_status        st   = mcp_kernel_batch_create(&cov, gp->kernel, mcp_isa_level(), nz, Z, err);
    if (st == MCP_OK) st = mcp_block_alloc(&tape, mcp_kernel_batch_tape(cov, ld) * sizeof(double) + 64, err);
    if (st == MCP_OK) {
        mcp_kernel_batch_set(cov, gp->hyper);
        mcp_kernel_batch_forward(cov, ld, ld, F, K, tape);
    }
    mcp_block_free(tape);
    mcp_kernel_batch_free(cov);
    return st;
}

/* Everything a joint prediction needs, in one block. */
typedef struct {
    int     m, ld;      /* points, rounded up to whole groups of lanes */
    double *F;          /* [feature][ld]                               */
    double *A;          /* n x gp->ld: K(X, X), then its factor        */
    double *K;          /* n x ld: K(X, X*)                            */
    double *V;          /* m x n: rows L^-1 k(X, x*)                   */
    double *C;          /* m x ld                                      */
    double *mean;       /* m                                           */
} joint;

static size_t layout(joint *w, const mcp_gp *gp, char *base)
{
    mcp_arena a = {.base = base, .used = 0};
    size_t    n = (size_t)gp->n, m = (size_t)w->m, ld = (size_t)w->ld;
    w->F    = mcp_arena_doubles(&a, (size_t)gp->features * ld);
    w->A    = mcp_arena_doubles(&a, 2 * n * (size_t)gp->ld);
    w->K    = mcp_arena_doubles(&a, n * ld);
    w->V    = mcp_arena_doubles(&a, (m + 1) * n);
    w->C    = mcp_arena_doubles(&a, m * ld);
    w->mean = mcp_arena_doubles(&a, ld);
    return a.used;
}

/* C (m x ld) and mean of the posterior at X; *block is to be freed. */
static mcp_status joint_posterior(joint *w, void **block, const mcp_gp *gp, int m, const double *X,
                                  mcp_error *err)
{
    int        n = gp->n, D = gp->features;
    double     jitter;
    mcp_status st;
    *block = NULL;
    if (m < 1 || m > POINTS_MAX || !X)
        return mcp_fail(err, MCP_ERR_ARG, "gp: %d points together; 1 to %d are possible", X ? m : 0,
                        POINTS_MAX);
    *w = (joint){.m = m, .ld = mcp_round_lanes(m)};
    if ((st = mcp_block_alloc(block, layout(w, gp, NULL), err)) != MCP_OK) return st;
    layout(w, gp, *block);
    for (int i = 0; i < m; i++)
        for (int d = 0; d < D; d++)
            w->F[(size_t)d * (size_t)w->ld + (size_t)i] = X[(size_t)i * (size_t)D + (size_t)d];
    double *factor = w->A + (size_t)n * (size_t)gp->ld;
    if ((st = covariances(gp, n, gp->X, gp->ld, gp->F, w->A, err)) != MCP_OK) return st;
    const mcp_gp_points all = {.gp = gp, .m = n};
    if ((st = mcp_gp_factor(&all, gp->ld, w->A, mcp_gp_noise_var(gp), factor, &jitter, err)) != MCP_OK)
        return st;
    if ((st = covariances(gp, n, gp->X, w->ld, w->F, w->K, err)) != MCP_OK) return st;
    if ((st = covariances(gp, m, X, w->ld, w->F, w->C, err)) != MCP_OK) return st;

    double *z = w->V + (size_t)m * (size_t)n; /* L^-1 y */
    memcpy(z, gp->y, (size_t)n * sizeof *z);
    for (int i = 0; i < m; i++)
        for (int k = 0; k < n; k++)
            w->V[(size_t)i * (size_t)n + (size_t)k] = w->K[(size_t)k * (size_t)w->ld + (size_t)i];
    mcp_lower_solve(n, factor, gp->ld, m + 1, w->V);
    for (int i = 0; i < m; i++) {
        const double *v = w->V + (size_t)i * (size_t)n;
        for (int k = 0; k < n; k++) w->mean[i] += v[k] * z[k];
        for (int j = 0; j <= i; j++) {
            const double *u   = w->V + (size_t)j * (size_t)n;
            double        dot = 0.0;
            for (int k = 0; k < n; k++) dot += v[k] * u[k];
            w->C[(size_t)i * (size_t)w->ld + (size_t)j] -= dot;
            w->C[(size_t)j * (size_t)w->ld + (size_t)i] = w->C[(size_t)i * (size_t)w->ld + (size_t)j];
        }
    }
    return MCP_OK;
}

mcp_status mcp_gp_covariance(mcp_gp *gp, int m, const double *X, double *covariance, mcp_error *err)
{
    joint      w;
    void      *block;
    mcp_status st = joint_posterior(&w, &block, gp, m, X, err);
    for (int i = 0; st == MCP_OK && i < m; i++)
        memcpy(covariance + (size_t)i * (size_t)m, w.C + (size_t)i * (size_t)w.ld,
               (size_t)m * sizeof *covariance);
    mcp_block_free(block);
    return st;
}

/* Lower factor of C in place. C is positive semi-definite but for rounding: the diagonal is raised, tenfold
 * each time, until it can be factorised. */
static mcp_status factor_covariance(joint *w, double *copy, mcp_error *err)
{
    size_t bytes = (size_t)w->m * (size_t)w->ld * sizeof *copy;
    double largest = 0.0;
    memcpy(copy, w->C, bytes);
    for (int i = 0; i < w->m; i++) largest = fmax(largest, w->C[(size_t)i * (size_t)w->ld + (size_t)i]);
    for (double jitter = 1e-14; jitter < 1e-2; jitter *= 10.0) {
        memcpy(w->C, copy, bytes);
        for (int i = 0; i < w->m; i++) w->C[(size_t)i * (size_t)w->ld + (size_t)i] += jitter * largest;
        if (mcp_cholesky(w->m, w->C, w->ld, NULL) == MCP_OK) return MCP_OK;
    }
    return mcp_fail(err, MCP_ERR_NUMERIC,
                    "gp: the covariance of %d points cannot be factorised; leave out points that coincide",
                    w->m);
}

mcp_status mcp_gp_sample(mcp_gp *gp, int m, const double *X, int draws, uint64_t seed, double *out,
                         mcp_error *err)
{
    joint      w;
    void      *block;
    double    *e  = NULL;
    mcp_status st = joint_posterior(&w, &block, gp, m, X, err);
    if (st == MCP_OK && !(e = mcp_calloc((size_t)m * (size_t)w.ld, sizeof *e)))
        st = mcp_fail(err, MCP_ERR_MEMORY, "gp: out of memory for %d points", m);
    if (st == MCP_OK) st = factor_covariance(&w, e, err);
    for (int draw = 0; st == MCP_OK && draw < draws; draw++) {
        mcp_rand r = mcp_rand_make(seed, 0, (uint32_t)draw, MCP_RNG_OTHER);
        for (int i = 0; i < m; i++) e[i] = mcp_rand_normal(&r);
        for (int i = 0; i < m; i++) {
            double v = w.mean[i];
            for (int j = 0; j <= i; j++) v += w.C[(size_t)i * (size_t)w.ld + (size_t)j] * e[j];
            out[(size_t)draw * (size_t)m + (size_t)i] = v;
        }
    }
    mcp_free(e);
    mcp_block_free(block);
    return st;
}
