/* posterior.c - prediction over blocks of particles: covariances, one product with the packed Q, two sums;
 * and the way back, which needs no further product. */
#include "math/arena.h"
#include "model/posterior_parts.h"

/* The tape of one call, for stride ld. */
typedef struct {
    double *K, *V;    /* m x ld covariances; mv x ld: Q times them          */
    double *cov;      /* what the covariances remember                      */
    double *live;     /* ld: 1, or 0 where the variance was clamped         */
    double *prior;    /* ld: k(f, f); scratch for the way back              */
    double *kbar;     /* m x MCP_LANES: a strip's adjoint, scratch          */
    double *scratch;
} tape_parts;

static double *take(size_t *used, double *base, size_t doubles)
{
    double *p = base + *used;
    *used += doubles;
    return p;
}

static size_t layout_tape(tape_parts *t, const mcp_posterior *p, int ld, double *base)
{
    size_t used = 0, m = (size_t)p->m, n = (size_t)ld;
    t->K       = take(&used, base, m * n);
    t->V       = take(&used, base, (size_t)p->mv * n);
    t->cov     = take(&used, base, mcp_kernel_batch_tape(p->cov, ld));
    t->live    = take(&used, base, n);
    t->prior   = take(&used, base, n);
    t->kbar    = take(&used, base, m * MCP_LANES);
    t->scratch = take(&used, base, mcp_kernel_batch_scratch(p->cov));
    return used;
}

size_t mcp_posterior_tape(const mcp_posterior *p, int ld)
{
    tape_parts t;
    double     nothing[1];
    return layout_tape(&t, p, ld, nothing);
}

/* product: Q, or T where V is not needed afterwards. */
static void moments(const mcp_posterior *p, const mcp_packed *product, int n, int ld, const double *F,
                    double *mean, double *var, double *tape)
{
    tape_parts t;
    layout_tape(&t, p, ld, tape);
    mcp_kernel_batch_forward(p->cov, n, ld, F, t.K, t.cov);
    mcp_gemm(product, n, t.K, ld, t.V, ld, 0);
    p->moments_forward(p->m, p->mv, n, p->alpha, t.K, ld, t.V, ld, mean, var);
    mcp_kernel_batch_diagonal(p->cov, n, ld, F, t.prior);
    for (int j = 0; j < n; j++) {
        double v = t.prior[j] - var[j], floor = 1e-10 * (t.prior[j] + p->s2);
        t.live[j] = v < floor ? 0.0 : 1.0;
        var[j]    = v < floor ? floor : v;
    }
}

void mcp_posterior_forward(const mcp_posterior *p, int n, int ld, const double *F, double *mean, double *var,
                           double *tape)
{
    moments(p, &p->Q, n, ld, F, mean, var, tape);
}

void mcp_posterior_predict(const mcp_posterior *p, int n, int ld, const double *F, double *mean, double *var,
                           double *tape)
{
    moments(p, &p->T, n, ld, F, mean, var, tape);
}

void mcp_posterior_backward(const mcp_posterior *p, int n, int ld, const double *F, const double *mean_bar,
                            const double *var_bar, double *tape, double *F_bar)
{
    tape_parts t;
    layout_tape(&t, p, ld, tape);
    for (int j = 0; j < n; j++) t.prior[j] = t.live[j] * var_bar[j];
    for (int j = 0; j < n; j += MCP_LANES) {
        p->moments_backward(p->m, p->mv, p->alpha, t.V + j, ld, mean_bar + j, t.prior + j, t.kbar);
        mcp_kernel_batch_backward(p->cov, &(mcp_kernel_strip){.j = j,
                                                              .ld = ld,
                                                              .K = t.K,
                                                              .tape = t.cov,
                                                              .kbar = t.kbar,
                                                              .ldb = MCP_LANES,
                                                              .scratch = t.scratch,
                                                              .F_bar = F_bar});
    }
    mcp_kernel_batch_diagonal_backward(p->cov, n, ld, F, t.prior, F_bar);
}

void mcp_posterior_free(mcp_posterior *p)
{
    if (!p) return;
    mcp_kernel_batch_free(p->cov);
    mcp_block_free(p);
}

int    mcp_posterior_points(const mcp_posterior *p) { return p->m; }
int    mcp_posterior_variance_points(const mcp_posterior *p) { return p->mv; }
double mcp_posterior_noise_var(const mcp_posterior *p) { return p->s2; }
