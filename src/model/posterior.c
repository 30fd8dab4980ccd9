/* posterior.c - prediction over blocks of particles: covariances, one product with the packed Q, two sums; and the way
 * back, which needs no further product. */
#include "model/posterior.h"

#include <math.h>
#include <string.h>

#include "math/arena.h"
#include "math/gemm.h"
#include "math/linalg.h"
#include "model/gp_parts.h"
#include "model/inducing.h"
#include "model/leaf.h"

struct mcp_posterior {
    mcp_cov   *cov;
    int        m, features;
    double     s2;
    double    *alpha;
    mcp_packed Q;
    size_t     bytes;
    void (*moments_forward) MCP_MOMENTS_ARGS;
    void (*moments_backward) MCP_KBAR_ARGS;
};

/* The tape of one call, for stride ld. */
typedef struct {
    double *K, *V;    /* m x ld covariances; Q times them                   */
    double *cov;      /* what the covariances remember                      */
    double *live;     /* ld: 1, or 0 where the variance was clamped         */
    double *prior;    /* ld: k(f, f); scratch for the way back              */
    double *kbar;     /* m x MCP_LANES: a strip's adjoint, scratch          */
    double *scratch;
} tape_parts;

static size_t layout_tape(tape_parts *t, const mcp_posterior *p, int ld, double *base)
{
    size_t used = 0, m = (size_t)p->m, n = (size_t)ld;
    t->K       = base + used, used += m * n;
    t->V       = base + used, used += m * n;
    t->cov     = base + used, used += mcp_cov_tape(p->cov, ld);
    t->live    = base + used, used += n;
    t->prior   = base + used, used += n;
    t->kbar    = base + used, used += m * MCP_LANES;
    t->scratch = base + used, used += mcp_cov_scratch(p->cov);
    return used;
}

size_t mcp_posterior_tape(const mcp_posterior *p, int ld)
{
    tape_parts t;
    double     nothing[1];
    return layout_tape(&t, p, ld, nothing);
}

void mcp_posterior_forward(const mcp_posterior *p, int n, int ld, const double *F, double *mean, double *var, double *tape)
{
    tape_parts t;
    layout_tape(&t, p, ld, tape);
    mcp_cov_forward(p->cov, n, ld, F, t.K, t.cov);
    mcp_gemm(&p->Q, n, t.K, ld, t.V, ld, 0);
    p->moments_forward(p->m, n, p->alpha, t.K, ld, t.V, ld, mean, var);
    mcp_cov_diagonal(p->cov, n, ld, F, t.prior);
    for (int j = 0; j < n; j++) {
        double v = t.prior[j] - var[j], floor = 1e-10 * (t.prior[j] + p->s2);
        t.live[j] = v < floor ? 0.0 : 1.0;
        var[j]    = v < floor ? floor : v;
    }
}

void mcp_posterior_backward(const mcp_posterior *p, int n, int ld, const double *F, const double *mean_bar,
                            const double *var_bar, double *tape, double *F_bar)
{
    tape_parts t;
    layout_tape(&t, p, ld, tape);
    for (int j = 0; j < n; j++) t.prior[j] = t.live[j] * var_bar[j];
    for (int j = 0; j < n; j += MCP_LANES) {
        p->moments_backward(p->m, p->alpha, t.V + j, ld, mean_bar + j, t.prior + j, t.kbar);
        mcp_cov_backward(p->cov, j, ld, t.K, t.cov, t.kbar, MCP_LANES, t.scratch, F_bar, NULL);
    }
    mcp_cov_diagonal_backward(p->cov, n, ld, F, t.prior, F_bar);
}

/* K + s2 I over the rows of X, inverted: Q (m x m) and alpha = Q y. */
static mcp_status exact(mcp_posterior *p, int features, const double *X, const double *y, double s2, double *Q, double *alpha,
                        double *jitter, mcp_error *err)
{
    int     m = p->m, ld = mcp_round_lanes(m);
    size_t  mm = (size_t)m * (size_t)ld;
    void   *block;
    double *K, *A, *F, *tape;
    mcp_status st = mcp_block_alloc(&block, (2 * mm + (size_t)features * (size_t)ld + mcp_cov_tape(p->cov, ld)) * sizeof(double), err);
    if (st != MCP_OK) return st;
    K    = block;
    A    = K + mm;
    F    = A + mm;
    tape = F + (size_t)features * (size_t)ld;
    for (int i = 0; i < m; i++)
        for (int d = 0; d < features; d++) F[(size_t)d * (size_t)ld + (size_t)i] = X[(size_t)i * (size_t)features + (size_t)d];
    mcp_cov_forward(p->cov, ld, ld, F, K, tape);
    if ((st = mcp_gp_factor(m, ld, K, s2, A, jitter, err)) != MCP_OK) goto done;
    memcpy(alpha, y, (size_t)m * sizeof *y);
    mcp_cholesky_solve(m, A, ld, 1, alpha);
    st = mcp_cholesky_inverse(m, A, ld, Q, m, err);
done:
    mcp_block_free(block);
    return st;
}

/* The points that are kept, and their targets (subset). */
typedef struct {
    mcp_inducing choice;
    double      *X, *y, *Q, *alpha;
} draft;

static mcp_status draft_points(draft *d, const mcp_gp *gp, const mcp_posterior_settings *s, int *m, mcp_error *err)
{
    mcp_status st;
    size_t     D = (size_t)gp->features;
    *m           = gp->n;
    if (s->type != MCP_POSTERIOR_EXACT) {
        if (!(s->tolerance >= 0.0))
            return mcp_fail(err, MCP_ERR_ARG, "posterior: tolerance = %g; 0 or more is possible", s->tolerance);
        st = mcp_inducing_select(&d->choice, gp, s->tolerance * mcp_gp_noise_var(gp), s->points_max, err);
        if (st != MCP_OK) return st;
        *m = d->choice.m;
    }
    d->X     = mcp_calloc((size_t)*m * D, sizeof *d->X);
    d->y     = mcp_calloc((size_t)*m, sizeof *d->y);
    d->alpha = mcp_calloc((size_t)*m, sizeof *d->alpha);
    d->Q     = mcp_calloc((size_t)*m * (size_t)*m, sizeof *d->Q);
    if (!d->X || !d->y || !d->alpha || !d->Q)
        return mcp_fail(err, MCP_ERR_MEMORY, "posterior: out of memory for %d points", *m);
    for (int i = 0; i < *m; i++) {
        int from = s->type == MCP_POSTERIOR_EXACT ? i : d->choice.index[i];
        memcpy(d->X + (size_t)i * D, gp->X + (size_t)from * D, D * sizeof *d->X);
        d->y[i] = gp->y[from];
    }
    return MCP_OK;
}

static void draft_free(draft *d)
{
    mcp_inducing_free(&d->choice);
    mcp_free(d->X);
    mcp_free(d->y);
    mcp_free(d->alpha);
    mcp_free(d->Q);
}

/* One block: the struct, alpha, packed Q. */
static mcp_status assemble(mcp_posterior **out, const mcp_gp *gp, const draft *d, int m, mcp_isa level, mcp_error *err)
{
    size_t     front = (sizeof(mcp_posterior) + 63) / 64 * 64, row = (size_t)mcp_round_lanes(m);
    size_t     bytes = front + (row + mcp_gemm_packed_doubles(m, m)) * sizeof(double);
    void      *block;
    mcp_status st = mcp_block_alloc(&block, bytes, err);
    if (st != MCP_OK) return st;
    mcp_posterior *p = block;
    p->m             = m;
    p->features      = gp->features;
    p->bytes         = bytes;
    p->alpha         = (double *)((char *)block + front);
    p->moments_forward  = MCP_ISA_PICK(level, mcp_moments_forward);
    p->moments_backward = MCP_ISA_PICK(level, mcp_moments_backward);
    if ((st = mcp_cov_create(&p->cov, gp->kernel, level, m, d->X, err)) != MCP_OK) {
        mcp_block_free(p);
        return st;
    }
    p->bytes += mcp_cov_bytes(p->cov);
    mcp_cov_set(p->cov, gp->hyper);
    *out = p;
    return MCP_OK;
}

mcp_status mcp_posterior_create(mcp_posterior **out, const mcp_gp *gp, const mcp_posterior_settings *s, mcp_isa level,
                                mcp_posterior_info *info, mcp_error *err)
{
    draft          d = {0};
    mcp_posterior *p = NULL;
    double         s2 = mcp_gp_noise_var(gp), jitter = 0.0;
    int            m;
    *out          = NULL;
    mcp_status st = draft_points(&d, gp, s, &m, err);
    if (st != MCP_OK) goto done;
    if ((st = assemble(&p, gp, &d, m, level, err)) != MCP_OK) goto done;
    p->s2 = s2;
    if (s->type == MCP_POSTERIOR_SPARSE) st = mcp_inducing_posterior(&d.choice, gp, level, d.Q, d.alpha, err);
    else st = exact(p, gp->features, d.X, d.y, s2, d.Q, d.alpha, &jitter, err);
    if (st != MCP_OK) goto done;
    memcpy(p->alpha, d.alpha, (size_t)m * sizeof *p->alpha);
    mcp_gemm_pack(&p->Q, level, m, m, d.Q, m, p->alpha + mcp_round_lanes(m));
    if (info) *info = (mcp_posterior_info){.points = m, .residual = d.choice.residual / s2, .jitter = jitter, .bytes = p->bytes};
    *out = p;
    p    = NULL;
done:
    mcp_posterior_free(p);
    draft_free(&d);
    return st;
}

void mcp_posterior_free(mcp_posterior *p)
{
    if (!p) return;
    mcp_cov_free(p->cov);
    mcp_block_free(p);
}

int    mcp_posterior_points(const mcp_posterior *p) { return p->m; }
int    mcp_posterior_features(const mcp_posterior *p) { return p->features; }
double mcp_posterior_noise_var(const mcp_posterior *p) { return p->s2; }
