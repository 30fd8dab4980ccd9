/* posterior.c - prediction over blocks of particles: covariances, one product with the packed Q, two sums;
 * and the way back, which needs no further product. */
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
    mcp_kernel_batch   *cov;
    int        m, features;
    int        mv; /* the first mv of the m points carry the variance, all of them the mean */
    double     s2;
    double    *alpha;
    mcp_packed Q;
    mcp_packed T; /* Q's diagonal and twice what is right of it: k' T k = k' Q k for half the work */
    size_t     bytes;
    void (*moments_forward) MCP_MOMENTS_ARGS;
    void (*moments_backward) MCP_KBAR_ARGS;
};

/* The tape of one call, for stride ld. */
typedef struct {
    double *K, *V;    /* m x ld covariances; mv x ld: Q times them          */
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
    t->V       = base + used, used += (size_t)p->mv * n;
    t->cov     = base + used, used += mcp_kernel_batch_tape(p->cov, ld);
    t->live    = base + used, used += n;
    t->prior   = base + used, used += n;
    t->kbar    = base + used, used += m * MCP_LANES;
    t->scratch = base + used, used += mcp_kernel_batch_scratch(p->cov);
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
        mcp_kernel_batch_backward(p->cov, j, ld, t.K, t.cov, t.kbar, MCP_LANES, t.scratch, F_bar, NULL);
    }
    mcp_kernel_batch_diagonal_backward(p->cov, n, ld, F, t.prior, F_bar);
}

/* K + s2 R over the rows of X, which are the gp's points of this index (NULL: all), inverted: Q (m x m) and
 * alpha = Q y. */
static mcp_status exact(mcp_posterior *p, const mcp_gp *gp, const int *index, int features, const double *X,
                        const double *y, double s2, double *Q, double *alpha, double *jitter, mcp_error *err)
{
    int     m = p->m, ld = mcp_round_lanes(m);
    size_t  mm = (size_t)m * (size_t)ld;
    void   *block;
    double *K, *A, *F, *tape;
    mcp_status st =
        mcp_block_alloc(&block,
                        (2 * mm + (size_t)features * (size_t)ld + mcp_kernel_batch_tape(p->cov, ld)) *
                            sizeof(double),
                        err);
    if (st != MCP_OK) return st;
    K    = block;
    A    = K + mm;
    F    = A + mm;
    tape = F + (size_t)features * (size_t)ld;
    for (int i = 0; i < m; i++)
        for (int d = 0; d < features; d++)
            F[(size_t)d * (size_t)ld + (size_t)i] = X[(size_t)i * (size_t)features + (size_t)d];
    mcp_kernel_batch_forward(p->cov, ld, ld, F, K, tape);
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

static size_t packed_room(int m)
{
    return (mcp_gemm_packed_doubles(m, m) + 7) / 8 * 8; /* whole cache lines */
}

/* One block: the struct, alpha, room for packed Q and T; and the covariances with the points kept. */
static mcp_status assemble(mcp_posterior **out, const mcp_gp *gp, const draft *d, int m, mcp_isa level,
                           mcp_error *err)
{
    size_t     front = (sizeof(mcp_posterior) + 63) / 64 * 64, row = (size_t)mcp_round_lanes(m);
    size_t     bytes = front + (row + 2 * packed_room(m)) * sizeof(double);
    void      *block;
    mcp_status st = mcp_block_alloc(&block, bytes, err);
    if (st != MCP_OK) return st;
    mcp_posterior *p    = block;
    p->m = p->mv        = m;
    p->features         = gp->features;
    p->s2               = mcp_gp_noise_var(gp);
    p->alpha            = (void *)((char *)block + front);
    p->moments_forward  = MCP_ISA_PICK(level, mcp_moments_forward);
    p->moments_backward = MCP_ISA_PICK(level, mcp_moments_backward);
    if ((st = mcp_kernel_batch_create(&p->cov, gp->kernel, level, m, d->X, err)) != MCP_OK) {
        mcp_block_free(p);
        return st;
    }
    p->bytes = bytes + mcp_kernel_batch_bytes(p->cov);
    mcp_kernel_batch_set(p->cov, gp->hyper);
    *out = p;
    return MCP_OK;
}

/* choice: the points kept, NULL for all; mv > 0: through inducing points, the variance through the first mv
 * of them; 0: exact on the points kept. */
static mcp_status build(mcp_posterior **out, const mcp_gp *gp, const mcp_inducing *choice, int mv,
                        mcp_isa level, double *jitter, mcp_error *err)
{
    draft          d = {0};
    mcp_posterior *p = NULL;
    int            m = choice ? choice->m : gp->n;
    mcp_status     st = draft_points(&d, gp, choice, err);
    if (st != MCP_OK) goto done;
    if ((st = assemble(&p, gp, &d, m, level, err)) != MCP_OK) goto done;
    if (mv > 0) st = mcp_inducing_posterior(choice, m, gp, level, d.Q, d.alpha, err);
    else
        st = exact(p, gp, choice ? choice->index : NULL, gp->features, d.X, d.y, p->s2, d.Q, d.alpha, jitter,
                   err);
    if (st != MCP_OK) goto done;
    memcpy(p->alpha, d.alpha, (size_t)m * sizeof *p->alpha);
    if (mv > 0 && mv < m) {
        if ((st = mcp_inducing_posterior(choice, mv, gp, level, d.Q, d.alpha, err)) != MCP_OK) goto done;
        p->mv = mv;
    }
    double *room = p->alpha + mcp_round_lanes(m);
    mcp_gemm_pack(&p->Q, level, p->mv, p->mv, d.Q, p->mv, room);
    for (int i = 0; i < p->mv; i++)
        for (int j = i + 1; j < p->mv; j++) d.Q[(size_t)i * (size_t)p->mv + (size_t)j] *= 2.0;
    mcp_gemm_pack_upper(&p->T, level, p->mv, p->mv, d.Q, p->mv, room + packed_room(m));
    *out = p;
    p    = NULL;
done:
    mcp_posterior_free(p);
    draft_free(&d);
    return st;
}

enum { CHECK_BLOCK = 64, CHECKED_MAX = 4000, APART = 10 };
static const double std_share = 15.0; /* a point costs the variance ten times what it costs the mean */

/* Where a sparse posterior is held against the exact one: at the data, lanes 0 .. n-1, and at their mirror
 * images, lanes gp->ld and on: x_i + (x_i - x_j), x_j the nearest of the data that are not x_i's own
 * trajectory (rows within APART of it). Fresh trajectories pass the data about as closely as the data pass
 * each other. */
typedef struct {
    int     n, first, ld; /* data, first mirrored lane, all lanes */
    double *F;            /* [feature][ld] */
    double *mean, *std;   /* ld: exact */
    double *m, *v;        /* ld: of the posterior held against it */
    void   *memory;
} checks;

static size_t layout_checks(checks *c, const mcp_gp *gp, char *base)
{
    mcp_arena a = {.base = base, .used = 0};
    size_t    ld = 2 * (size_t)gp->ld;
    *c      = (checks){.n = gp->n, .first = gp->ld, .ld = 2 * gp->ld, .memory = base};
    c->F    = mcp_arena_doubles(&a, (size_t)gp->features * ld);
    c->mean = mcp_arena_doubles(&a, ld);
    c->std  = mcp_arena_doubles(&a, ld);
    c->m    = mcp_arena_doubles(&a, ld);
    c->v    = mcp_arena_doubles(&a, ld);
    return a.used;
}

/* Lanes first .. first+n-1 of F into a block, and how many there are. */
static int take_block(const checks *c, int features, int first, double *F)
{
    int n = c->ld - first < CHECK_BLOCK ? c->ld - first : CHECK_BLOCK;
    for (int d = 0; d < features; d++)
        memcpy(F + d * CHECK_BLOCK, c->F + (size_t)d * (size_t)c->ld + first, (size_t)n * sizeof *F);
    return n;
}

static mcp_status predict(const mcp_posterior *p, const checks *c, double *mean, double *var, mcp_error *err)
{
    void      *block;
    mcp_status st =
        mcp_block_alloc(&block,
                        (mcp_posterior_tape(p, CHECK_BLOCK) + (size_t)(p->features * CHECK_BLOCK)) *
                            sizeof(double),
                        err);
    if (st != MCP_OK) return st;
    double *F = block, *tape = F + p->features * CHECK_BLOCK;
    for (int j = 0; j < c->ld; j += CHECK_BLOCK) {
        int n = take_block(c, p->features, j, F);
        mcp_posterior_forward(p, n, CHECK_BLOCK, F, mean + j, var + j, tape);
    }
    mcp_block_free(block);
    return MCP_OK;
}

/* Index of the row nearest to row i in the kernel's own metric, k(i,i) + k(j,j) - 2 k(i,j); i if there is
 * none apart. */
static int nearest(int n, int i, const double *prior, const double *K, int ldk)
{
    int    best = i;
    double least = INFINITY;
    for (int j = 0; j < n; j++) {
        double away = prior[j] - 2.0 * K[(size_t)j * (size_t)ldk];
        if ((j < i - APART || j > i + APART) && away < least) best = j, least = away;
    }
    return best;
}

/* p: the exact posterior. */
static mcp_status make_checks(checks *c, const mcp_gp *gp, const mcp_posterior *p, mcp_error *err)
{
    void      *block;
    double    *F, *K, *tape;
    int        D = gp->features;
    mcp_status st = mcp_block_alloc(&block, layout_checks(c, gp, NULL), err);
    if (st != MCP_OK) return st;
    layout_checks(c, gp, block);
    for (int d = 0; d < D; d++)
        memcpy(c->F + (size_t)d * (size_t)c->ld, gp->F + (size_t)d * (size_t)gp->ld,
               (size_t)gp->ld * sizeof *c->F);
    size_t lanes = CHECK_BLOCK,
           size = ((size_t)D + (size_t)p->m) * lanes + mcp_kernel_batch_tape(p->cov, CHECK_BLOCK);
    if ((st = mcp_block_alloc(&block, size * sizeof(double), err)) != MCP_OK) return st;
    F    = block;
    K    = F + (size_t)D * lanes;
    tape = K + (size_t)p->m * lanes;
    mcp_kernel_batch_diagonal(p->cov, gp->ld, c->ld, c->F, c->v);
    for (int i0 = 0; i0 < gp->n; i0 += CHECK_BLOCK) {
        int n = take_block(c, D, i0, F);
        mcp_kernel_batch_forward(p->cov, n, CHECK_BLOCK, F, K, tape);
        for (int i = i0; i < i0 + n && i < gp->n; i++) {
            int j = nearest(gp->n, i, c->v, K + (i - i0), CHECK_BLOCK);
            for (int d = 0; d < D; d++) {
                double *row = c->F + (size_t)d * (size_t)c->ld;
                row[c->first + i] = 2.0 * row[i] - row[j];
            }
        }
    }
    mcp_block_free(block);
    if ((st = predict(p, c, c->mean, c->std, err)) != MCP_OK) return st;
    for (int j = 0; j < c->ld; j++) c->std[j] = sqrt(c->std[j]);
    return MCP_OK;
}

/* The mean counts at the data alone: away from them it may be anything, and so may its difference. at_data:
 * the standard deviation is off by most at one of the data, not between them. */
static mcp_status compare(const mcp_posterior *p, const checks *c, mcp_posterior_info *info, int *at_data,
                          mcp_error *err)
{
    double     s = sqrt(p->s2);
    mcp_status st = predict(p, c, c->m, c->v, err);
    double     between = 0.0;
    info->mean_error = info->std_error = 0.0;
    for (int i = 0; i < c->n && st == MCP_OK; i++) {
        int at = c->first + i;
        info->mean_error = fmax(info->mean_error, fabs(c->m[i] - c->mean[i]) / s);
        info->std_error  = fmax(info->std_error, fabs(sqrt(c->v[i]) - c->std[i]) / s);
        between          = fmax(between, fabs(sqrt(c->v[at]) - c->std[at]) / s);
    }
    *at_data = info->std_error >= between;
    info->std_error = fmax(info->std_error, between);
    return st;
}

/* Extends choice until the posterior through it agrees with the exact one; *out is that posterior. First the
 * standard deviation, whose points cost a row and a column of Q each; then the mean, whose points cost a
 * covariance. */
static mcp_status agree(mcp_posterior **out, const mcp_gp *gp, mcp_inducing *choice,
                        const mcp_posterior_settings *s, mcp_isa level, mcp_posterior_info *info,
                        mcp_error *err)
{
    double         accuracy = s->accuracy > 0.0 ? s->accuracy : 0.03 * s->tolerance, jitter;
    mcp_posterior *p = NULL;
    checks         c = {0};
    int            mv = 0, at_data; /* mv = 0: the variance is not there yet */
    mcp_status     st = build(&p, gp, NULL, 0, level, &jitter, err);
    if (st == MCP_OK) st = make_checks(&c, gp, p, err);
    if (st == MCP_OK) st = mcp_inducing_follow(choice, gp, c.mean, err);
    while (st == MCP_OK) {
        mcp_posterior_free(p);
        p = NULL;
        int before = choice->m;
        if ((st = build(&p, gp, choice, mv ? mv : before, level, &jitter, err)) != MCP_OK) break;
        if ((st = compare(p, &c, info, &at_data, err)) != MCP_OK) break;
        if (!mv && info->std_error > std_share * accuracy)
            mcp_inducing_level(choice, gp, at_data ? c.std : NULL, 1 + before / 64);
        if (!mv) info->residual = choice->residual;
        if (choice->m > before) continue;
        mv = mv ? mv : before;
        if (info->mean_error > accuracy) mcp_inducing_improve(choice, gp, 1 + before / 32);
        if (choice->m == before) break; /* good enough, or no more points to be had */
    }
    mcp_block_free(c.memory);
    if (st == MCP_OK) *out = p;
    else mcp_posterior_free(p);
    return st;
}

mcp_status mcp_posterior_create(mcp_posterior **out, const mcp_gp *gp, const mcp_posterior_settings *s,
                                mcp_isa level, mcp_posterior_info *info, mcp_error *err)
{
    mcp_posterior_info mine   = {.mean_error = -1.0, .std_error = -1.0};
    mcp_inducing       choice = {0};
    mcp_status         st;
    int                all = s->type == MCP_POSTERIOR_EXACT, projected = s->type == MCP_POSTERIOR_SPARSE;
    *out = NULL;
    if (!all) {
        if (!(s->tolerance >= 0.0))
            return mcp_fail(err, MCP_ERR_ARG, "posterior: tolerance = %g; 0 or more is possible",
                            s->tolerance);
        if ((st = mcp_inducing_start(&choice, gp, s->points_max, err)) != MCP_OK) goto done;
        mcp_inducing_extend(&choice, gp, s->tolerance * mcp_gp_noise_var(gp));
    }
    mine.residual = choice.residual;
    if (projected && choice.m < gp->n && s->tolerance > 0.0 && s->accuracy >= 0.0 && gp->n <= CHECKED_MAX)
        st = agree(out, gp, &choice, s, level, &mine, err);
    else st = build(out, gp, all ? NULL : &choice, projected ? choice.m : 0, level, &mine.jitter, err);
    if (st != MCP_OK || !info) goto done;
    mine.points   = (*out)->m;
    mine.variance_points = (*out)->mv;
    mine.residual /= mcp_gp_noise_var(gp);
    mine.bytes    = (*out)->bytes;
    *info         = mine;
done:
    mcp_inducing_free(&choice);
    return st;
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
