/* likelihood.c - the negative log marginal likelihood and its gradient.
 *   A = K + s2 R,  a = A^-1 y,   nlml = y'a/2 + sum log L_ii + n/2 log 2 pi
 *   dnlml/dp = sum_ij W_ij dK_ij/dp,  W = (A^-1 - a a')/2;   dnlml/dlog s = 2 s2 trace(W R);
 *     R = I where the noise is white */
#include <math.h>
#include <string.h>

#include "math/arena.h"
#include "math/linalg.h"
#include "model/gp_parts.h"

struct mcp_likelihood {
    const mcp_gp *gp;
    mcp_kernel_batch      *cov;
    double       *K, *A, *W, *a; /* n x ld each, n */
    double       *tape, *scratch;
};

static size_t layout(mcp_likelihood *w, char *base)
{
    mcp_arena a = {.base = base, .used = 0};
    size_t    n = (size_t)w->gp->n, ld = (size_t)w->gp->ld;
    w->K       = mcp_arena_doubles(&a, n * ld);
    w->A       = mcp_arena_doubles(&a, n * ld);
    w->W       = mcp_arena_doubles(&a, n * ld);
    w->a       = mcp_arena_doubles(&a, ld);
    w->tape    = mcp_arena_doubles(&a, mcp_kernel_batch_tape(w->cov, w->gp->ld));
    w->scratch = mcp_arena_doubles(&a, mcp_kernel_batch_scratch(w->cov));
    return a.used;
}

mcp_status mcp_likelihood_create(mcp_likelihood **out, const mcp_gp *gp, mcp_isa level, mcp_error *err)
{
    mcp_likelihood head = {.gp = gp};
    size_t         front = (sizeof head + 63) / 64 * 64;
    void          *block;
    *out          = NULL;
    mcp_status st = mcp_kernel_batch_create(&head.cov, gp->kernel, level, gp->n, gp->X, err);
    if (st != MCP_OK) return st;
    st = mcp_block_alloc(&block, front + layout(&head, NULL), err);
    if (st != MCP_OK) {
        mcp_kernel_batch_free(head.cov);
        return st;
    }
    mcp_likelihood *w = block;
    *w                = head;
    layout(w, (char *)block + front);
    *out = w;
    return MCP_OK;
}

void mcp_likelihood_free(mcp_likelihood *w)
{
    if (!w) return;
    mcp_kernel_batch_free(w->cov);
    mcp_block_free(w);
}

mcp_status mcp_gp_factor(const mcp_gp_points *of, int ld, const double *K, double s2, double *A,
                         double *jitter, mcp_error *err)
{
    const int           n = of->m;
    static const double ladder[] = {0.0, 1e-12, 1e-10, 1e-8, 1e-6};
    double              scale    = 0.0;
    for (int i = 0; i < n; i++) scale += K[(size_t)i * (size_t)ld + (size_t)i] / n;
    for (size_t try = 0; try < sizeof ladder / sizeof *ladder; try++) {
        *jitter = ladder[try] * (scale + s2);
        memcpy(A, K, (size_t)n * (size_t)ld * sizeof *A);
        for (int i = 0; i < n; i++) A[(size_t)i * (size_t)ld + (size_t)i] += *jitter;
        mcp_noise_add(of->gp, n, of->index, s2, A, ld);
        if (mcp_cholesky(n, A, ld, NULL) == MCP_OK) return MCP_OK;
    }
    return mcp_fail(err, MCP_ERR_NUMERIC,
                    "gp: the covariance of %d points (mean variance %g, noise variance %g) cannot be "
                    "factorised, even with jitter "
                    "%g; raise the noise floor, or look for parameters that are not finite",
                    n, scale, s2, *jitter);
}

static void add_gradient(mcp_likelihood *w, const double *a, double s2, double *gradient)
{
    int n = w->gp->n, ld = w->gp->ld, params = w->gp->kernel->params;
    memset(gradient, 0, ((size_t)params + 1) * sizeof *gradient);
    for (int i = 0; i < n; i++) {
        double *restrict row = w->W + (size_t)i * (size_t)ld;
        double ai            = a[i];
        for (int j = 0; j < n; j++) row[j] = 0.5 * (row[j] - ai * a[j]);
        for (int j = n; j < ld; j++) row[j] = 0.0;
    }
    for (int j = 0; j < ld; j += MCP_LANES)
        mcp_kernel_batch_backward(w->cov, &(mcp_kernel_strip){.j = j,
                                                              .ld = ld,
                                                              .K = w->K,
                                                              .tape = w->tape,
                                                              .kbar = w->W + j,
                                                              .ldb = ld,
                                                              .scratch = w->scratch,
                                                              .dp = gradient});
    gradient[params] = 2.0 * s2 * mcp_noise_trace(w->gp, w->W, ld);
}

mcp_status mcp_likelihood_run(mcp_likelihood *w, const double *hyper, double *nlml, double *gradient,
                              double *jitter, mcp_error *err)
{
    int        n = w->gp->n, ld = w->gp->ld;
    double     s2 = exp(2.0 * hyper[w->gp->kernel->params]), sum = 0.0;
    mcp_status st;
    mcp_kernel_batch_set(w->cov, hyper);
    mcp_kernel_batch_forward(w->cov, ld, ld, w->gp->F, w->K, w->tape);
    mcp_gp_points all = {.gp = w->gp, .m = n};
    if ((st = mcp_gp_factor(&all, ld, w->K, s2, w->A, jitter, err)) != MCP_OK) return st;
    memcpy(w->a, w->gp->y, (size_t)n * sizeof *w->a);
    mcp_cholesky_solve(n, w->A, ld, 1, w->a);
    for (int i = 0; i < n; i++)
        sum += 0.5 * w->gp->y[i] * w->a[i] + log(w->A[(size_t)i * (size_t)ld + (size_t)i]);
    *nlml = sum + 0.5 * n * log(2.0 * M_PI);
    if (!isfinite(*nlml))
        return mcp_fail(err, MCP_ERR_NUMERIC,
                        "gp: the likelihood of %d points is not finite (noise variance %g)", n, s2);
    if (!gradient) return MCP_OK;
    if ((st = mcp_cholesky_inverse(n, w->A, ld, w->W, ld, err)) != MCP_OK) return st;
    add_gradient(w, w->a, s2, gradient);
    return MCP_OK;
}
