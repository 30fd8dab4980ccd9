/* inducing.c - greedy choice of inducing points by conditional variance (pivoted Cholesky), and the posterior
 * they give.
 *
 * Selection leaves K ~ L L' (n x m), and Kmm = M M' with M the chosen rows of L. Then, with s2 the noise
 * variance and R the noise's correlation (I where it is white),
 *   B     = I + L' R^-1 L/s2                          (Kmm + Kmn R^-1 Knm/s2 = M B M')
 *   Q     = Kmm^-1 - (Kmm + Kmn R^-1 Knm/s2)^-1 = M^-T (I - B^-1) M^-1 = W' W
 *   W     = C' M^-1,  I - B^-1 = C C' with C upper triangular
 *   alpha = M^-T B^-1 L' R^-1 y/s2
 * No inverse of Kmm is ever subtracted from another large matrix: I - B^-1 has eigenvalues in [0, 1). */
#include "model/inducing.h"

#include <math.h>
#include <string.h>

#include "math/arena.h"
#include "math/gemm.h"
#include "math/linalg.h"

#define AT(A, ld, i, j) (A)[(size_t)(i) * (size_t)(ld) + (size_t)(j)]

/* Pivots below this share of the largest prior variance are rounding errors. */
static const double pivot_floor = 1e-13;

void mcp_inducing_free(mcp_inducing *s)
{
    mcp_free(s->index);
    mcp_free(s->rest);
    mcp_free(s->mean);
    mcp_block_free(s->L);
    *s = (mcp_inducing){0};
}

/* Takes column c of L out of the function that is followed. */
static void project(mcp_inducing *s, int n, int c)
{
    double share = s->mean[s->index[c]] / AT(s->L, s->ld, s->index[c], c);
    for (int i = 0; i < n; i++) s->mean[i] -= share * AT(s->L, s->ld, i, c);
}

/* Column c of L from its pivot, and what it leaves of every residual variance. */
static void add_column(mcp_inducing *s, const mcp_gp *gp, int pivot)
{
    double       *r = s->rest;
    int           c = s->m, D = gp->features;
    const double *Lp = &AT(s->L, s->ld, pivot, 0), *xp = &AT(gp->X, D, pivot, 0);
    double        root = sqrt(r[pivot]);
    for (int i = 0; i < gp->n; i++) {
        double *Li = &AT(s->L, s->ld, i, 0), v;
        if (r[i] < 0.0) continue; /* chosen before: its row ends there */
        if (i == pivot) {
            v = root;
        } else {
            v = mcp_kernel_value(gp->kernel, gp->hyper, &AT(gp->X, D, i, 0), xp);
            for (int k = 0; k < c; k++) v -= Li[k] * Lp[k];
            v /= root;
        }
        Li[c] = v;
        if (i == pivot) continue;
        r[i] -= v * v;
        if (r[i] < 0.0) r[i] = 0.0;
    }
    r[pivot]       = -1.0;
    s->index[s->m] = pivot;
    if (s->mean) project(s, gp->n, s->m);
    s->m++;
}

mcp_status mcp_inducing_start(mcp_inducing *s, const mcp_gp *gp, int m_max, mcp_error *err)
{
    int   n = gp->n, D = gp->features;
    void *block;
    if (m_max <= 0 || m_max > n) m_max = n;
    *s            = (mcp_inducing){.m_max = m_max, .ld = mcp_round_lanes(m_max)};
    mcp_status st = mcp_block_alloc(&block, (size_t)n * (size_t)s->ld * sizeof(double), err);
    if (st != MCP_OK) return st;
    s->L     = block;
    s->index = mcp_calloc((size_t)m_max, sizeof *s->index);
    s->rest  = mcp_calloc((size_t)n, sizeof *s->rest);
    if (!s->index || !s->rest)
        return mcp_fail(err, MCP_ERR_MEMORY, "gp: out of memory for %d inducing points", m_max);
    for (int i = 0; i < n; i++) {
        s->rest[i] = mcp_kernel_value(gp->kernel, gp->hyper, &AT(gp->X, D, i, 0), &AT(gp->X, D, i, 0));
        s->largest = fmax(s->largest, s->rest[i]);
    }
    if (!(s->largest > 0.0))
        return mcp_fail(err, MCP_ERR_NUMERIC,
                        "gp: no inducing point: the prior variance is zero at every data point");
    return MCP_OK;
}

void mcp_inducing_extend(mcp_inducing *s, const mcp_gp *gp, double bound)
{
    for (;;) {
        int pivot = 0;
        for (int i = 1; i < gp->n; i++)
            if (s->rest[i] > s->rest[pivot]) pivot = i;
        s->residual = fmax(s->rest[pivot], 0.0);
        if (s->m > 0 && (s->m == s->m_max || s->residual <= bound || s->residual <= pivot_floor * s->largest))
            break;
        add_column(s, gp, pivot);
    }
}

static void note_residual(mcp_inducing *s, int n)
{
    s->residual = 0.0;
    for (int i = 0; i < n; i++) s->residual = fmax(s->residual, s->rest[i]);
}

void mcp_inducing_level(mcp_inducing *s, const mcp_gp *gp, const double *std, int count)
{
    for (; count > 0 && s->m < s->m_max; count--) {
        int    pivot = -1;
        double most  = 0.0;
        for (int i = 0; i < gp->n; i++) {
            double off = s->rest[i] > pivot_floor * s->largest ? s->rest[i] / (std ? std[i] : 1.0) : 0.0;
            if (off > most) {
                pivot = i;
                most  = off;
            }
        }
        if (pivot < 0) break;
        add_column(s, gp, pivot);
    }
    note_residual(s, gp->n);
}

mcp_status mcp_inducing_follow(mcp_inducing *s, const mcp_gp *gp, const double *values, mcp_error *err)
{
    mcp_free(s->mean);
    s->mean = mcp_calloc((size_t)gp->n, sizeof *s->mean);
    if (!s->mean) return mcp_fail(err, MCP_ERR_MEMORY, "gp: out of memory for %d data points", gp->n);
    memcpy(s->mean, values, (size_t)gp->n * sizeof *values);
    for (int c = 0; c < s->m; c++) project(s, gp->n, c);
    return MCP_OK;
}

/* The datum that brings the mean nearest, of those that leave more than this unexplained; -1: none does. */
static int best_for_mean(const mcp_inducing *s, int n, double least)
{
    int    pivot = -1;
    double most  = 0.0;
    for (int i = 0; i < n; i++) {
        double gain = s->rest[i] > least ? s->mean[i] * s->mean[i] / s->rest[i] : 0.0;
        if (gain > most) {
            pivot = i;
            most  = gain;
        }
    }
    return pivot;
}

/* Points close to others get large weights of opposite sign, which single precision does not stand: they are
 * taken when no other is left. Closer still, the quotient is rounding errors. */
void mcp_inducing_improve(mcp_inducing *s, const mcp_gp *gp, int count)
{
    for (; count > 0 && s->m < s->m_max; count--) {
        int pivot = best_for_mean(s, gp->n, 1e-4 * mcp_gp_noise_var(gp));
        if (pivot < 0) pivot = best_for_mean(s, gp->n, 1e-9 * s->largest);
        if (pivot < 0) break;
        add_column(s, gp, pivot);
    }
    note_residual(s, gp->n);
}

typedef struct {
    double *Lt, *B, *Binv, *M, *Ct, *pack, *y;
} workspace;

static size_t layout(workspace *w, int n, int m, int ld, char *base)
{
    mcp_arena a     = {.base = base, .used = 0};
    size_t    mm    = (size_t)m * (size_t)ld;
    size_t    packs = mcp_gemm_packed_doubles(m, n), more = mcp_gemm_packed_doubles(m, m);
    w->Lt   = mcp_arena_doubles(&a, (size_t)m * (size_t)n);
    w->B    = mcp_arena_doubles(&a, mm);
    w->Binv = mcp_arena_doubles(&a, mm);
    w->M    = mcp_arena_doubles(&a, mm);
    w->Ct   = mcp_arena_doubles(&a, mm);
    w->y    = mcp_arena_doubles(&a, (size_t)ld);
    w->pack = mcp_arena_doubles(&a, packs > more ? packs : more);
    return a.used;
}

/* A packed matrix of m rows times B (k x ldb) is C (m x m, rows rounded up to whole groups of lanes) */
static void multiply(const mcp_packed *A, const double *B, int ldb, double *C)
{
    int ld = mcp_round_lanes(A->m);
    mcp_gemm(A, ld, B, ldb, C, ld, 0);
}

/* Inverse of the lower triangle M that the chosen rows of L make; rows of ld numbers. */
static void invert_chosen(const mcp_inducing *s, int m, double *M, double *inverse)
{
    int ld = mcp_round_lanes(m);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++) AT(M, ld, i, j) = j <= i ? AT(s->L, s->ld, s->index[i], j) : 0.0;
    mcp_lower_inverse(m, M, ld, inverse);
    for (int i = m - 1; i >= 0; i--) { /* from m to ld numbers a row, in place: from the end */
        memmove(&AT(inverse, ld, i, 0), &AT(inverse, m, i, 0), (size_t)m * sizeof *inverse);
        for (int j = m; j < ld; j++) AT(inverse, ld, i, j) = 0.0;
    }
}

/* C' of I - Binv = C C', C upper triangular: the Cholesky factor with rows and columns in reverse order. What
 * is missing to a positive diagonal is rounding; added jitter costs the variance that share of the prior. */
static mcp_status factor_explained(int m, int ld, const double *Binv, double *F, double *Ct, mcp_error *err)
{
    static const double ladder[] = {0.0, 1e-15, 1e-13, 1e-11, 1e-9};
    mcp_status          st = MCP_ERR_NUMERIC;
    for (size_t k = 0; k < sizeof ladder / sizeof *ladder && st == MCP_ERR_NUMERIC; k++) {
        for (int i = 0; i < m; i++)
            for (int j = 0; j < m; j++)
                AT(F, ld, m - 1 - i, m - 1 - j) = (i == j ? 1.0 + ladder[k] : 0.0) - AT(Binv, ld, i, j);
        st = mcp_cholesky(m, F, ld, err);
    }
    if (st != MCP_OK) return st;
    for (int i = 0; i < m; i++) /* C_ij = F(m-1-i, m-1-j), j >= i */
        for (int j = 0; j < m; j++) AT(Ct, m, i, j) = j <= i ? AT(F, ld, m - 1 - j, m - 1 - i) : 0.0;
    return MCP_OK;
}

static mcp_status posterior(const mcp_inducing *s, int m, const mcp_gp *gp, mcp_isa level, workspace *w,
                            double *W, double *alpha, mcp_error *err)
{
    int        n = gp->n, ld = mcp_round_lanes(m);
    double     s2 = mcp_gp_noise_var(gp);
    mcp_packed A;
    mcp_status st;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) AT(w->Lt, n, j, i) = AT(s->L, s->ld, i, j) / s2;
    for (int j = 0; j < m; j++) mcp_noise_solve(gp, &AT(w->Lt, n, j, 0));
    mcp_gemm_pack(&A, level, m, n, w->Lt, n, w->pack);
    multiply(&A, s->L, s->ld, w->B);
    for (int i = 0; i < m; i++) AT(w->B, ld, i, i) += 1.0;
    if ((st = mcp_cholesky(m, w->B, ld, err)) != MCP_OK) return st;
    if ((st = mcp_cholesky_inverse(m, w->B, ld, w->Binv, ld, err)) != MCP_OK) return st;
    for (int j = 0; j < m; j++) {
        w->y[j] = 0.0;
        for (int i = 0; i < n; i++) w->y[j] += AT(w->Lt, n, j, i) * gp->y[i];
    }
    mcp_cholesky_solve(m, w->B, ld, 1, w->y);
    if ((st = factor_explained(m, ld, w->Binv, w->B, w->Ct, err)) != MCP_OK) return st;
    invert_chosen(s, m, w->B, w->M);
    for (int i = 0; i < m; i++) {
        alpha[i] = 0.0;
        for (int j = i; j < m; j++) alpha[i] += AT(w->M, ld, j, i) * w->y[j];
    }
    mcp_gemm_pack_triangle(&A, level, MCP_LOWER, m, w->Ct, m, w->pack);
    multiply(&A, w->M, ld, w->B);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++) AT(W, m, i, j) = j <= i ? AT(w->B, ld, i, j) : 0.0;
    return MCP_OK;
}

mcp_status mcp_inducing_posterior(const mcp_inducing *s, int m, const mcp_gp *gp, mcp_isa level, double *W,
                                  double *alpha, mcp_error *err)
{
    workspace  w;
    void      *block;
    int        ld = mcp_round_lanes(m);
    mcp_status st = mcp_block_alloc(&block, layout(&w, gp->n, m, ld, NULL), err);
    if (st != MCP_OK) return st;
    layout(&w, gp->n, m, ld, block);
    st = posterior(s, m, gp, level, &w, W, alpha, err);
    mcp_block_free(block);
    return st;
}
