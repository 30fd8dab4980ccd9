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

/* K + s2 R over the rows of X, which are the gp's points of this index (NULL: all), inverted: Q (m x m) and alpha = Q y. */
static mcp_status exact(mcp_posterior *p, const mcp_gp *gp, const int *index, int features, const double *X, const double *y, double s2, double *Q, double *alpha,
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
    if ((st = mcp_gp_factor(gp, m, index, ld, K, s2, A, jitter, err)) != MCP_OK) goto done;
    memcpy(alpha, y, (size_t)m * sizeof *y);
    mcp_cholesky_solve(m, A, ld, 1, alpha);
    st = mcp_cholesky_inverse(m, A, ld, Q, m, err);
done:
    mcp_block_free(block);
    return st;
}

/* What a posterior is made from, until it is packed. */
typedef struct {
    double *X, *y, *Q, *alpha; /* points kept, their targets (exact, subset) */
} draft;

static void draft_free(draft *d)
{
    mcp_free(d->X);
    mcp_free(d->y);
    mcp_free(d->alpha);
    mcp_free(d->Q);
}

/* choice == NULL: all data. */
static mcp_status draft_points(draft *d, const mcp_gp *gp, const mcp_inducing *choice, mcp_error *err)
{
    size_t D = (size_t)gp->features, m = (size_t)(choice ? choice->m : gp->n);
    d->X     = mcp_calloc(m * D, sizeof *d->X);
    d->y     = mcp_calloc(m, sizeof *d->y);
    d->alpha = mcp_calloc(m, sizeof *d->alpha);
    d->Q     = mcp_calloc(m * m, sizeof *d->Q);
    if (!d->X || !d->y || !d->alpha || !d->Q)
        return mcp_fail(err, MCP_ERR_MEMORY, "posterior: out of memory for %d points", (int)m);
    for (size_t i = 0; i < m; i++) {
        size_t from = choice ? (size_t)choice->index[i] : i;
        memcpy(d->X + i * D, gp->X + from * D, D * sizeof *d->X);
        d->y[i] = gp->y[from];
    }
    return MCP_OK;
}

/* One block: the struct, alpha, room for packed Q; and the covariances with the points kept. */
static mcp_status assemble(mcp_posterior **out, const mcp_gp *gp, const draft *d, int m, mcp_isa level, mcp_error *err)
{
    size_t     front = (sizeof(mcp_posterior) + 63) / 64 * 64, row = (size_t)mcp_round_lanes(m);
    size_t     bytes = front + (row + mcp_gemm_packed_doubles(m, m)) * sizeof(double);
    void      *block;
    mcp_status st = mcp_block_alloc(&block, bytes, err);
    if (st != MCP_OK) return st;
    mcp_posterior *p    = block;
    p->m                = m;
    p->features         = gp->features;
    p->s2               = mcp_gp_noise_var(gp);
    p->alpha            = (void *)((char *)block + front);
    p->moments_forward  = MCP_ISA_PICK(level, mcp_moments_forward);
    p->moments_backward = MCP_ISA_PICK(level, mcp_moments_backward);
    if ((st = mcp_cov_create(&p->cov, gp->kernel, level, m, d->X, err)) != MCP_OK) {
        mcp_block_free(p);
        return st;
    }
    p->bytes = bytes + mcp_cov_bytes(p->cov);
    mcp_cov_set(p->cov, gp->hyper);
    *out = p;
    return MCP_OK;
}

/* choice: the points kept, NULL for all; projected: through inducing points, else exact on the points kept. */
static mcp_status build(mcp_posterior **out, const mcp_gp *gp, const mcp_inducing *choice, int projected, mcp_isa level,
                        double *jitter, mcp_error *err)
{
    draft          d = {0};
    mcp_posterior *p = NULL;
    int            m = choice ? choice->m : gp->n;
    mcp_status     st = draft_points(&d, gp, choice, err);
    if (st != MCP_OK) goto done;
    if ((st = assemble(&p, gp, &d, m, level, err)) != MCP_OK) goto done;
    if (projected) st = mcp_inducing_posterior(choice, gp, level, d.Q, d.alpha, err);
    else st = exact(p, gp, choice ? choice->index : NULL, gp->features, d.X, d.y, p->s2, d.Q, d.alpha, jitter, err);
    if (st != MCP_OK) goto done;
    memcpy(p->alpha, d.alpha, (size_t)m * sizeof *p->alpha);
    mcp_gemm_pack(&p->Q, level, m, m, d.Q, m, p->alpha + mcp_round_lanes(m));
    *out = p;
    p    = NULL;
done:
    mcp_posterior_free(p);
    draft_free(&d);
    return st;
}

enum { CHECK_BLOCK = 64, CHECKED_MAX = 4000 };

/* Mean and variance at the data, in gp->ld lanes each. */
static mcp_status at_data(const mcp_posterior *p, const mcp_gp *gp, double *mean, double *var, mcp_error *err)
{
    double    *tape;
    void      *block;
    int        ld = gp->ld;
    mcp_status st = mcp_block_alloc(&block, (mcp_posterior_tape(p, CHECK_BLOCK) + (size_t)(gp->features * CHECK_BLOCK)) * sizeof(double), err);
    if (st != MCP_OK) return st;
    double *F = block;
    tape      = F + gp->features * CHECK_BLOCK;
    for (int j = 0; j < ld; j += CHECK_BLOCK) {
        int n = ld - j < CHECK_BLOCK ? ld - j : CHECK_BLOCK;
        for (int d = 0; d < gp->features; d++)
            memcpy(F + d * CHECK_BLOCK, gp->F + (size_t)d * (size_t)ld + j, (size_t)n * sizeof *F);
        mcp_posterior_forward(p, n, CHECK_BLOCK, F, mean + j, var + j, tape);
    }
    mcp_block_free(block);
    return MCP_OK;
}

/* Extends choice until the posterior through it agrees with the exact one at the data; *out is that posterior. */
static mcp_status agree(mcp_posterior **out, const mcp_gp *gp, mcp_inducing *choice, const mcp_posterior_settings *s,
                        mcp_isa level, mcp_posterior_info *info, mcp_error *err)
{
    double         s2 = mcp_gp_noise_var(gp), bound = s->tolerance * s2, jitter;
    double         accuracy = s->accuracy > 0.0 ? s->accuracy : 0.1 * s->tolerance;
    mcp_posterior *reference = NULL, *p = NULL;
    double        *at        = mcp_calloc(4 * (size_t)gp->ld, sizeof *at);
    if (!at) return mcp_fail(err, MCP_ERR_MEMORY, "posterior: out of memory");
    double    *mean = at, *var = mean + gp->ld, *m = var + gp->ld, *v = m + gp->ld;
    mcp_status st = build(&reference, gp, NULL, 0, level, &jitter, err);
    if (st == MCP_OK) st = at_data(reference, gp, mean, var, err);
    if (st == MCP_OK) st = mcp_inducing_follow(choice, gp, mean, err);
    while (st == MCP_OK) {
        if ((st = build(&p, gp, choice, 1, level, &jitter, err)) != MCP_OK) break;
        if ((st = at_data(p, gp, m, v, err)) != MCP_OK) break;
        info->mean_error = info->std_error = 0.0;
        for (int i = 0; i < gp->n; i++) {
            info->mean_error = fmax(info->mean_error, fabs(m[i] - mean[i]) / sqrt(s2));
            info->std_error  = fmax(info->std_error, fabs(sqrt(v[i]) - sqrt(var[i])) / sqrt(s2));
        }
        int before = choice->m;
        if (info->mean_error <= accuracy && info->std_error <= accuracy) break;
        if (info->mean_error > info->std_error) mcp_inducing_improve(choice, gp, 1 + before / 32);
        for (int tries = 0; tries < 60 && choice->m == before; tries++) mcp_inducing_extend(choice, gp, bound *= 0.7);
        if (choice->m == before) break; /* all in, or no variance left */
        mcp_posterior_free(p);
        p = NULL;
    }
    mcp_posterior_free(reference);
    mcp_free(at);
    if (st == MCP_OK) *out = p;
    else mcp_posterior_free(p);
    return st;
}

mcp_status mcp_posterior_create(mcp_posterior **out, const mcp_gp *gp, const mcp_posterior_settings *s, mcp_isa level,
                                mcp_posterior_info *info, mcp_error *err)
{
    mcp_posterior_info mine   = {.mean_error = -1.0, .std_error = -1.0};
    mcp_inducing       choice = {0};
    mcp_status         st;
    int                all = s->type == MCP_POSTERIOR_EXACT, projected = s->type == MCP_POSTERIOR_SPARSE;
    *out = NULL;
    if (!all) {
        if (!(s->tolerance >= 0.0))
            return mcp_fail(err, MCP_ERR_ARG, "posterior: tolerance = %g; 0 or more is possible", s->tolerance);
        if ((st = mcp_inducing_start(&choice, gp, s->points_max, err)) != MCP_OK) goto done;
        mcp_inducing_extend(&choice, gp, s->tolerance * mcp_gp_noise_var(gp));
    }
    if (projected && choice.m < gp->n && s->tolerance > 0.0 && s->accuracy >= 0.0 && gp->n <= CHECKED_MAX)
        st = agree(out, gp, &choice, s, level, &mine, err);
    else st = build(out, gp, all ? NULL : &choice, projected, level, &mine.jitter, err);
    if (st != MCP_OK || !info) goto done;
    mine.points   = (*out)->m;
    mine.residual = choice.residual / mcp_gp_noise_var(gp);
    mine.bytes    = (*out)->bytes;
    *info         = mine;
done:
    mcp_inducing_free(&choice);
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
