/* posterior_build.c - the factor W of Q = W' W and alpha of a posterior, exact or through inducing points,
 * packed for prediction. */
#include <math.h>
#include <string.h>

#include "math/arena.h"
#include "math/linalg.h"
#include "model/posterior_parts.h"

#define AT(A, ld, i, j) (A)[(size_t)(i) * (size_t)(ld) + (size_t)(j)]

/* How many ranges beyond its data a polynomial is followed: far enough to learn from a gentle exploration,
 * and not so far that its powers throw particles out of all bounds. */
static const double followed = 4.0;

/* Of the noise variance: no data of any number that we handle leave less. */
static const double variance_floor = 1e-5;

/* What a posterior is made from, until it is packed. */
typedef struct {
    double *X, *y;     /* points kept, their targets (exact, subset) */
    double *W, *alpha; /* m x m, m */
} draft;

/* K + s2 R = L L' over the draft's points: W = L^-1 and alpha = W' W y. */
static mcp_status exact(const mcp_posterior *p, const mcp_gp_points *of, const draft *d, double *jitter,
                        mcp_error *err)
{
    int     m = p->m, ld = mcp_round_lanes(m), features = p->features;
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
        for (int k = 0; k < features; k++)
            F[(size_t)k * (size_t)ld + (size_t)i] = d->X[(size_t)i * (size_t)features + (size_t)k];
    mcp_kernel_batch_forward(p->cov, ld, ld, F, K, tape);
    if ((st = mcp_gp_factor(of, ld, K, p->s2, A, jitter, err)) != MCP_OK) goto done;
    memcpy(d->alpha, d->y, (size_t)m * sizeof *d->y);
    mcp_cholesky_solve(m, A, ld, 1, d->alpha);
    mcp_lower_inverse(m, A, ld, d->W);
done:
    mcp_block_free(block);
    return st;
}

static void draft_free(draft *d)
{
    mcp_free(d->X);
    mcp_free(d->y);
    mcp_free(d->alpha);
    mcp_free(d->W);
}

static mcp_status draft_points(draft *d, const mcp_gp_points *of, mcp_error *err)
{
    const mcp_gp *gp = of->gp;
    size_t        D = (size_t)gp->features, m = (size_t)of->m;
    d->X     = mcp_calloc(m * D, sizeof *d->X);
    d->y     = mcp_calloc(m, sizeof *d->y);
    d->alpha = mcp_calloc(m, sizeof *d->alpha);
    d->W     = mcp_calloc(m * m, sizeof *d->W);
    if (!d->X || !d->y || !d->alpha || !d->W)
        return mcp_fail(err, MCP_ERR_MEMORY, "posterior: out of memory for %d points", (int)m);
    for (size_t i = 0; i < m; i++) {
        size_t from = of->index ? (size_t)of->index[i] : i;
        memcpy(d->X + i * D, gp->X + from * D, D * sizeof *d->X);
        d->y[i] = gp->y[from];
    }
    return MCP_OK;
}

static void transpose(int n, double *A)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) {
            double t = AT(A, n, i, j);
            AT(A, n, i, j) = AT(A, n, j, i);
            AT(A, n, j, i) = t;
        }
}

static size_t packed_room(int m)
{
    return (mcp_gemm_packed_doubles(m, m) + 7) / 8 * 8; /* whole cache lines */
}

static int unbounded(const mcp_kernel *k, int feature)
{
    for (int i = 0; i < k->nodes; i++) {
        const mcp_kernel_node *b = &k->node[i];
        if (b->kind != MCP_K_LINEAR && b->kind != MCP_K_PI && b->kind != MCP_K_MP) continue;
        for (int j = 0; j < b->count; j++)
            if (b->feature[j] == feature) return 1;
    }
    return 0;
}

/* Polynomials grow without bound: their features stay near the data. A feature that never changed is free. */
static void bound_features(mcp_posterior *p, const mcp_gp *gp, double *room)
{
    int D = gp->features, any = 0;
    for (int d = 0; d < D; d++) {
        double low = INFINITY, high = -INFINITY;
        for (int i = 0; i < gp->n; i++) {
            low  = fmin(low, AT(gp->X, D, i, d));
            high = fmax(high, AT(gp->X, D, i, d));
        }
        int bounded = unbounded(gp->kernel, d) && high > low;
        room[d]     = bounded ? low - followed * (high - low) : -INFINITY;
        room[D + d] = bounded ? high + followed * (high - low) : INFINITY;
        any |= bounded;
    }
    p->low  = any ? room : NULL;
    p->high = any ? room + D : NULL;
}

/* One block: the struct, alpha, room for packed W and W'; and the covariances with the points kept. */
static mcp_status assemble(mcp_posterior **out, const mcp_gp *gp, const draft *d, int m, mcp_isa level,
                           mcp_error *err)
{
    size_t     front = (sizeof(mcp_posterior) + 63) / 64 * 64, row = (size_t)mcp_round_lanes(m);
    size_t     bytes = front + (row + 2 * packed_room(m) + 2 * (size_t)gp->features) * sizeof(double);
    void      *block;
    mcp_status st = mcp_block_alloc(&block, bytes, err);
    if (st != MCP_OK) return st;
    mcp_posterior *p    = block;
    p->m = p->mv        = m;
    p->features         = gp->features;
    p->s2               = mcp_gp_noise_var(gp);
    p->level            = mcp_noise_level(gp);
    p->floor            = variance_floor * p->level;
    p->alpha            = (void *)((char *)block + front);
    bound_features(p, gp, p->alpha + row + 2 * packed_room(m));
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

mcp_status mcp_posterior_build(mcp_posterior **out, const mcp_posterior_plan *q, double *jitter,
                               mcp_error *err)
{
    const mcp_gp  *gp = q->gp;
    mcp_gp_points  of = {.gp = gp,
                         .m = q->choice ? q->choice->m : gp->n,
                         .index = q->choice ? q->choice->index : NULL};
    draft          d = {0};
    mcp_posterior *p = NULL;
    const int      m = of.m, mv = q->mv;
    mcp_status     st = draft_points(&d, &of, err);
    if (st == MCP_OK) st = assemble(&p, gp, &d, m, q->level, err);
    if (st != MCP_OK) goto done;
    if (mv > 0) st = mcp_inducing_posterior(q->choice, m, gp, q->level, d.W, d.alpha, err);
    else st = exact(p, &of, &d, jitter, err);
    if (st != MCP_OK) goto done;
    memcpy(p->alpha, d.alpha, (size_t)m * sizeof *p->alpha);
    if (mv > 0 && mv < m) {
        st = mcp_inducing_posterior(q->choice, mv, gp, q->level, d.W, d.alpha, err);
        if (st != MCP_OK) goto done;
        p->mv = mv;
    }
    double *room = p->alpha + mcp_round_lanes(m);
    mcp_gemm_pack_triangle(&p->W, q->level, MCP_LOWER, p->mv, d.W, p->mv, room);
    if (q->single && (st = mcp_posterior_single_make(p, d.W, err)) != MCP_OK) goto done;
    transpose(p->mv, d.W);
    mcp_gemm_pack_triangle(&p->Wt, q->level, MCP_UPPER, p->mv, d.W, p->mv, room + packed_room(m));
    *out = p;
    p    = NULL;
done:
    mcp_posterior_free(p);
    draft_free(&d);
    return st;
}
