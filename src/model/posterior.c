/* posterior.c - prediction over blocks of particles: covariances, a product with a triangular factor, two
 * sums; for the way back a product with its transpose.
 *
 *   A = W k   var = k(f, f) - |A|^2   dvar/dk = -2 V, V = W' A
 *
 * Q = W' W itself is never formed: k' Q k has terms as large as k(f, f) times the condition of K + s2 I that
 * cancel, |A|^2 has none. */
#include <math.h>
#include <string.h>

#include "math/arena.h"
#include "model/posterior_parts.h"

/* The tape of one call, for stride ld. */
typedef struct {
    double *K, *A, *V; /* m x ld covariances; mv x ld: W k, W' W k          */
    double *cov;      /* what the covariances remember                      */
    double *live;     /* ld: 1, or 0 where the variance was clamped         */
    double *prior;    /* ld: k(f, f); scratch for the way back              */
    double *kbar;     /* m x MCP_LANES: a strip's adjoint, scratch          */
    double *bars;     /* 2 x ld: adjoints of mean and variance              */
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
    t->A       = take(&used, base, (size_t)p->mv * n);
    t->V       = take(&used, base, (size_t)p->mv * n);
    t->cov     = take(&used, base, mcp_kernel_batch_tape(p->cov, ld));
    t->live    = take(&used, base, n);
    t->prior   = take(&used, base, n);
    t->kbar    = take(&used, base, m * MCP_LANES);
    t->bars    = take(&used, base, 2 * n);
    t->scratch = take(&used, base, mcp_kernel_batch_scratch(p->cov));
    return used;
}

/* Without the bounded features, which come after it; whole cache lines. */
static size_t tape_of_sample(const mcp_posterior *p, int ld)
{
    tape_parts t;
    double     nothing[1];
    size_t     whole = layout_tape(&t, p, ld, nothing);
    size_t     strip = p->strip ? mcp_strip_work(p->strip) / 2 + 1 : 0;
    return ((whole > strip ? whole : strip) + 7) / 8 * 8;
}

size_t mcp_posterior_tape(const mcp_posterior *p, int ld)
{
    return tape_of_sample(p, ld) + (p->low ? (size_t)p->features * (size_t)ld : 0);
}

void mcp_posterior_predict(const mcp_posterior *p, int n, int ld, const double *F, double *mean, double *var,
                           double *tape)
{
    tape_parts t;
    layout_tape(&t, p, ld, tape);
    mcp_kernel_batch_forward(p->cov, n, ld, F, t.K, t.cov);
    mcp_gemm(&p->W, n, t.K, ld, t.A, ld, 0);
    p->moments_forward(p->m, p->mv, n, p->alpha, t.K, t.A, ld, mean, var);
    mcp_kernel_batch_diagonal(p->cov, n, ld, F, t.prior);
    for (int j = 0; j < n; j++) {
        double v = t.prior[j] - var[j];
        t.live[j] = v < p->floor ? 0.0 : 1.0;
        var[j]    = v < p->floor ? p->floor : v;
    }
}

void mcp_posterior_forward(const mcp_posterior *p, int n, int ld, const double *F, double *mean, double *var,
                           double *tape)
{
    tape_parts t;
    layout_tape(&t, p, ld, tape);
    mcp_posterior_predict(p, n, ld, F, mean, var, tape);
    mcp_gemm(&p->Wt, n, t.A, ld, t.V, ld, 0);
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

/* The same in double precision: forward, and the way back while its tape is in the cache. */
static void sample_double(const mcp_posterior *p, const mcp_sample_call *c)
{
    tape_parts t;
    layout_tape(&t, p, c->ld, c->tape);
    if (c->row) mcp_posterior_forward(p, c->n, c->ld, c->F, c->mean, c->std, c->tape);
    else mcp_posterior_predict(p, c->n, c->ld, c->F, c->mean, c->std, c->tape);
    for (int j = 0; j < c->n; j++) {
        c->std[j] = sqrt(c->std[j] + c->more);
        t.bars[j] = 1.0;
        t.bars[c->ld + j] = c->std[j] > 0.0 ? 0.5 * c->eps[j] / c->std[j] : 0.0;
    }
    if (c->row) mcp_posterior_backward(p, c->n, c->ld, c->F, t.bars, t.bars + c->ld, c->tape, c->row);
}

/* F with every feature within its bounds. */
static void clamp_features(const mcp_posterior *p, int n, int ld, const double *F, double *to)
{
    for (int d = 0; d < p->features; d++)
        for (int j = 0; j < n; j++) {
            double v = F[d * ld + j];
            to[d * ld + j] = v < p->low[d] ? p->low[d] : v > p->high[d] ? p->high[d] : v; /* keeps NaN */
        }
}

/* Where a feature was clamped nothing depends on it. */
static void clamp_rows(const mcp_posterior *p, const mcp_sample_call *c)
{
    for (int d = 0; c->row && d < p->features; d++)
        for (int j = 0; j < c->n; j++)
            if (c->F[d * c->ld + j] < p->low[d] || c->F[d * c->ld + j] > p->high[d])
                c->row[d * c->ld + j] = 0.0;
}

static void sample(const mcp_posterior *p, const mcp_sample_call *c)
{
    if (c->row) memset(c->row, 0, (size_t)p->features * (size_t)c->ld * sizeof *c->row);
    if (!p->strip || !c->single) {
        sample_double(p, c);
        return;
    }
    MCP_ISA_PICK(p->W.level, mcp_strip_sample)
    (p->strip, &(mcp_strip_call){.n = c->n,
                                 .ld = c->ld,
                                 .F = c->F,
                                 .eps = c->eps,
                                 .more = c->more,
                                 .mean = c->mean,
                                 .std = c->std,
                                 .row = c->row,
                                 .work = (float *)(void *)c->tape});
}

void mcp_posterior_sample(const mcp_posterior *p, const mcp_sample_call *c)
{
    if (!p->low) {
        sample(p, c);
        return;
    }
    mcp_sample_call near = *c;
    double         *F = c->tape + tape_of_sample(p, c->ld);
    clamp_features(p, c->n, c->ld, c->F, F);
    near.F = F;
    sample(p, &near);
    clamp_rows(p, c);
}

void mcp_posterior_free(mcp_posterior *p)
{
    if (!p) return;
    mcp_posterior_single_free(p);
    mcp_kernel_batch_free(p->cov);
    mcp_block_free(p);
}

int    mcp_posterior_points(const mcp_posterior *p) { return p->m; }
int    mcp_posterior_variance_points(const mcp_posterior *p) { return p->mv; }
double mcp_posterior_noise_var(const mcp_posterior *p) { return p->s2; }
mcp_single_info mcp_posterior_single(const mcp_posterior *p) { return p->single; }
