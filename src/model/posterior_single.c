/* posterior_single.c - whether a posterior may be sampled in single precision, and what that needs.
 *
 * Single precision is taken for kernels that are one squared exponential, or the sum of one and of a linear
 * kernel (or pi), where mean and standard deviation agree with double precision to 0.1 % of the noise's
 * standard deviation and the rows of the Jacobian to 1e-4
 * of their size, at the data and at their mirror images in data a few samples on. The error of the variance
 * grows with (lambda/s)^2, so good sensors keep double precision.
 *
 * Why so little: a swing-up multiplies these errors over its steps. On cart-poles, rows off by 2e-4, 4e-4 and
 * 9e-4 made errors of the policy's gradient of a thirteenth, a ninth and a half of its own noise (mcpilco
 * bench precision); on other systems ten times as much would do. */
#include <math.h>
#include <string.h>

#include "math/arena.h"
#include "model/kernel_batch_parts.h"
#include "model/posterior_parts.h"

enum { TRIED_MAX = 256, AHEAD = 3 };
static const double moment_most = 1e-3, row_most = 1e-4;

/* Floats of a packed triangle of n rows: of W, which has no fewer than its transpose. */
static size_t packed(int n)
{
    size_t used = 0;
    for (int i = 0; i < n; i += MCP_STRIP_ROWS)
        used += (size_t)(i + MCP_STRIP_ROWS < n ? i + MCP_STRIP_ROWS : n) * MCP_STRIP_ROWS;
    return used;
}

/* W (n x n, lower) or its transpose, times factor, in panels of rows; each only as long as its triangle. */
static void pack(int n, const double *W, double factor, int transposed, float *out)
{
    for (int i0 = 0; i0 < n; i0 += MCP_STRIP_ROWS) {
        int end = !transposed && i0 + MCP_STRIP_ROWS < n ? i0 + MCP_STRIP_ROWS : n;
        for (int k = transposed ? i0 : 0; k < end; k++)
            for (int i = i0; i < i0 + MCP_STRIP_ROWS; i++) {
                int r = transposed ? k : i, c = transposed ? i : k;
                *out++ = i >= n || c > r ? 0.0f : (float)(factor * W[(size_t)r * (size_t)n + (size_t)c]);
            }
    }
}

/* Points with those that fill up the last of the steps they are taken in. */
static size_t filled(const mcp_posterior *p)
{
    return ((size_t)p->m + MCP_STRIP_POINTS - 1) / MCP_STRIP_POINTS * MCP_STRIP_POINTS;
}

typedef struct {
    mcp_strip_model model;
    int            *feature, *line_feature;
    double         *centre, *scale, *line_scale;
    float          *Z, *Zl, *alpha, *W, *Wt;
} parts;

/* The two kinds of kernels that are known here: their parts. */
typedef struct {
    const mcp_kernel_node *se, *line; /* line may be NULL */
} terms;

static int terms_of(const mcp_kernel *k, terms *t)
{
    *t = (terms){NULL, NULL};
    if (k->nodes != 1 && (k->nodes != 3 || k->node[2].kind != MCP_K_SUM)) return 0;
    for (int i = 0; i < (k->nodes == 1 ? 1 : 2); i++) {
        const mcp_kernel_node *b = &k->node[i];
        if (b->kind == MCP_K_SE) t->se = b;
        if (b->kind == MCP_K_LINEAR || b->kind == MCP_K_PI) t->line = b;
    }
    return t->se && (k->nodes == 1 || t->line);
}

static size_t layout(parts *s, const mcp_posterior *p, const terms *t, char *base)
{
    const int    D = t->se->count;
    const size_t L = t->line ? (size_t)t->line->count : 0;
    mcp_arena    a = {.base = base};
    const size_t m = filled(p), d = (size_t)D, half = sizeof(float);
    parts       *front = mcp_arena_bytes(&a, sizeof *front);
    s->feature = mcp_arena_ints(&a, d);
    s->centre  = mcp_arena_doubles(&a, d);
    s->scale   = mcp_arena_doubles(&a, d);
    s->Z       = mcp_arena_bytes(&a, m * d * half);
    s->line_feature = mcp_arena_ints(&a, L + 1);
    s->line_scale   = mcp_arena_doubles(&a, L + 1);
    s->Zl           = mcp_arena_bytes(&a, m * L * half + 8);
    s->alpha   = mcp_arena_bytes(&a, m * half);
    s->W       = mcp_arena_bytes(&a, packed(p->mv) * half);
    s->Wt      = mcp_arena_bytes(&a, packed(p->mv) * half);
    return a.used;
}

static void fill(parts *s, const mcp_posterior *p, const terms *t, const double *W)
{
    const mcp_kernel_batch *c = p->cov;
    const mcp_kernel_node  *b = t->se;
    const size_t D = (size_t)b->count, m = (size_t)p->m, all = (size_t)c->k->features,
                 L = t->line ? (size_t)t->line->count : 0;
    const double lambda2 = exp(2.0 * c->p[b->param]);
    for (size_t l = 0; l < L; l++) {
        s->line_feature[l] = t->line->feature[l];
        s->line_scale[l]   = exp(0.5 * c->p[(size_t)t->line->param + l]) / sqrt(lambda2);
        for (size_t z = 0; z < m; z++)
            s->Zl[z * L + l] = (float)(c->Z[z * all + (size_t)t->line->feature[l]] * s->line_scale[l]);
    }
    for (size_t d = 0; d < D; d++) {
        s->feature[d] = b->feature[d];
        s->scale[d]   = sqrt(M_LOG2E) * exp(-c->p[(size_t)b->param + 1 + d]);
        s->centre[d]  = 0.0;
        for (size_t z = 0; z < m; z++) s->centre[d] += c->Z[z * all + (size_t)b->feature[d]] / (double)m;
        for (size_t z = 0; z < m; z++)
            s->Z[z * D + d] = (float)((c->Z[z * all + (size_t)b->feature[d]] - s->centre[d]) * s->scale[d]);
    }
    for (size_t z = 0; z < m; z++) s->alpha[z] = (float)(lambda2 * p->alpha[z]);
    pack(p->mv, W, sqrt(lambda2), 0, s->W);
    pack(p->mv, W, sqrt(lambda2), 1, s->Wt);
    s->model = (mcp_strip_model){.m = (int)filled(p),
                                 .mv = p->mv,
                                 .D = b->count,
                                 .L = (int)L,
                                 .line_feature = s->line_feature,
                                 .line_scale = s->line_scale,
                                 .Zl = s->Zl,
                                 .lambda2 = lambda2,
                                 .floor = p->floor,
                                 .feature = s->feature,
                                 .centre = s->centre,
                                 .scale = s->scale,
                                 .Z = s->Z,
                                 .alpha = s->alpha,
                                 .W = s->W,
                                 .Wt = s->Wt};
}

mcp_status mcp_posterior_single_make(mcp_posterior *p, const double *W, mcp_error *err)
{
    terms t;
    parts s;
    void *block;
    if (!terms_of(p->cov->k, &t)) return MCP_OK;
    mcp_status st = mcp_block_alloc(&block, layout(&s, p, &t, NULL), err);
    if (st != MCP_OK) return st;
    layout(&s, p, &t, block);
    fill(&s, p, &t, W);
    *(parts *)block = s;
    p->strip = &((parts *)block)->model;
    return MCP_OK;
}

void mcp_posterior_single_free(mcp_posterior *p)
{
    mcp_block_free((void *)p->strip); /* the first member of the block's first part */
    p->strip = NULL;
}

typedef struct {
    int     q, n; /* data tried; lanes: they, and their mirror images */
    double *F, *eps, *mean[2], *std[2], *row[2], *tape;
} trial;

static size_t layout_trial(trial *t, const mcp_posterior *p, const mcp_gp *gp, char *base)
{
    mcp_arena a = {.base = base};
    t->q = gp->n < TRIED_MAX ? gp->n : TRIED_MAX;
    t->n = mcp_round_lanes(2 * t->q);
    size_t n = (size_t)t->n, D = (size_t)p->features;
    t->F   = mcp_arena_doubles(&a, D * n);
    t->eps = mcp_arena_doubles(&a, n);
    for (int k = 0; k < 2; k++) {
        t->mean[k] = mcp_arena_doubles(&a, n);
        t->std[k]  = mcp_arena_doubles(&a, n);
        t->row[k]  = mcp_arena_doubles(&a, D * n);
    }
    t->tape = mcp_arena_doubles(&a, mcp_posterior_tape(p, t->n));
    return a.used;
}

static void try_both(trial *t, const mcp_posterior *p, const mcp_gp *gp)
{
    const size_t n = (size_t)t->n, D = (size_t)p->features;
    for (int i = 0; i < t->q; i++) {
        int at = (int)((int64_t)i * gp->n / t->q), by = at + AHEAD < gp->n ? at + AHEAD : at;
        for (size_t d = 0; d < D; d++) {
            const double *f = gp->F + d * (size_t)gp->ld;
            t->F[d * n + (size_t)i] = f[at];
            t->F[d * n + (size_t)(t->q + i)] = 2.0 * f[at] - f[by];
        }
    }
    for (size_t j = 0; j < n; j++) t->eps[j] = j % 2 ? 1.0 : -1.0;
    for (int k = 0; k < 2; k++) {
        mcp_posterior_sample(p, &(mcp_sample_call){.n = t->n,
                                                   .ld = t->n,
                                                   .F = t->F,
                                                   .eps = t->eps,
                                                   .single = k,
                                                   .mean = t->mean[k],
                                                   .std = t->std[k],
                                                   .row = t->row[k],
                                                   .tape = t->tape});
    }
}

mcp_status mcp_posterior_single_admit(mcp_posterior *p, const mcp_gp *gp, mcp_error *err)
{
    trial  t;
    void  *block;
    double s = sqrt(p->level), moment = 0.0, off = 0.0, size = 0.0;
    if (!p->strip) return MCP_OK;
    mcp_status st = mcp_block_alloc(&block, layout_trial(&t, p, gp, NULL), err);
    if (st != MCP_OK) return st;
    layout_trial(&t, p, gp, block);
    try_both(&t, p, gp);
    for (int j = 0; j < 2 * t.q; j++) {
        moment = fmax(moment, fabs(t.mean[1][j] - t.mean[0][j]) / s);
        moment = fmax(moment, fabs(t.std[1][j] - t.std[0][j]) / s);
        for (int d = 0; d < p->features; d++) {
            size_t at = (size_t)d * (size_t)t.n + (size_t)j;
            off += (t.row[1][at] - t.row[0][at]) * (t.row[1][at] - t.row[0][at]);
            size += t.row[0][at] * t.row[0][at];
        }
    }
    mcp_block_free(block);
    p->single = (mcp_single_info){.tried = 1,
                                  .moment_error = moment,
                                  .row_error = size > 0.0 ? sqrt(off / size) : 0.0};
    p->single.used = moment <= moment_most && p->single.row_error <= row_most;
    if (!p->single.used) mcp_posterior_single_free(p);
    return MCP_OK;
}
