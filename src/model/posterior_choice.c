/* posterior_choice.c - how many points a posterior goes through: the bound on the lost variance, and the
 * comparison with the exact posterior where that can be had. */
#include <math.h>
#include <string.h>

#include "math/arena.h"
#include "model/posterior_parts.h"

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
        if ((j < i - APART || j > i + APART) && away < least) {
            best = j;
            least = away;
        }
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
    double     s = sqrt(p->level);
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
    mcp_posterior_plan plan = {.gp = gp, .level = level, .single = s->single};
    mcp_status     st = mcp_posterior_build(&p, &plan, &jitter, err);
    plan.choice = choice;
    if (st == MCP_OK) st = make_checks(&c, gp, p, err);
    if (st == MCP_OK) st = mcp_inducing_follow(choice, gp, c.mean, err);
    while (st == MCP_OK) {
        mcp_posterior_free(p);
        p = NULL;
        int before = choice->m;
        plan.mv = mv ? mv : before;
        if ((st = mcp_posterior_build(&p, &plan, &jitter, err)) != MCP_OK) break;
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
        mcp_inducing_extend(&choice, gp, s->tolerance * mcp_noise_level(gp));
    }
    mine.residual = choice.residual;
    if (projected && choice.m < gp->n && s->tolerance > 0.0 && s->accuracy >= 0.0 && gp->n <= CHECKED_MAX)
        st = agree(out, gp, &choice, s, level, &mine, err);
    else {
        mcp_posterior_plan plan = {.gp = gp,
                                   .choice = all ? NULL : &choice,
                                   .mv = projected ? choice.m : 0,
                                   .level = level,
                                   .single = s->single};
        st = mcp_posterior_build(out, &plan, &mine.jitter, err);
    }
    if (st == MCP_OK && s->single) st = mcp_posterior_single_admit(*out, gp, err);
    if (st != MCP_OK) {
        mcp_posterior_free(*out);
        *out = NULL;
    }
    if (st != MCP_OK || !info) goto done;
    mine.points   = (*out)->m;
    mine.variance_points = (*out)->mv;
    mine.residual /= mcp_noise_level(gp);
    mine.bytes    = (*out)->bytes;
    *info         = mine;
done:
    mcp_inducing_free(&choice);
    return st;
}
