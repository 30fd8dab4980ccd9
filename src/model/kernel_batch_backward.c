/* kernel_batch_backward.c - the adjoint of kernel_batch.c's forward pass, one strip of MCP_LANES lanes at a
 * time: a strip's dJ/dK (nz x MCP_LANES) stays in the first-level cache while every base kernel reads it. */
#include <string.h>

#include "model/kernel_batch_parts.h"

/* One base kernel on the way back. rows and K stand at the strip's first lane. */
typedef struct {
    const mcp_kernel_batch      *c;
    const mcp_kernel_node       *b;
    const mcp_kernel_batch_leaf *l;
    int                          j, ld;
    const double                *rows, *K, *kbar;
    int                          ldb;
    double                      *strip, *S; /* scratch: nz x MCP_LANES; sums over the points */
    double                      *F_bar, *dp;
} leaf_pass;

static double *bar_of(const leaf_pass *a, int d)
{
    return a->F_bar + (size_t)a->b->feature[d] * (size_t)a->ld + a->j;
}

static void user_backward(const leaf_pass *a)
{
    const mcp_user_kernel *user = &a->b->user;
    const double          *p = a->c->p + a->b->param;
    const size_t           ld = (size_t)a->ld, features = (size_t)a->c->k->features;
    double                 x[MCP_USER_FEATURES], own[MCP_USER_FEATURES], dx[MCP_USER_FEATURES];
    for (int l = 0; l < MCP_LANES; l++) {
        for (int d = 0; d < a->b->count; d++) {
            x[d]  = a->rows[(size_t)d * ld + (size_t)l];
            dx[d] = 0.0;
        }
        for (int z = 0; z < a->c->nz; z++) {
            double bar = a->kbar[z * a->ldb + l];
            if (bar == 0.0) continue;
            mcp_kernel_pick(a->b, a->c->Z + (size_t)z * features, 1, own);
            user->gradient(user->user, p, x, own, bar, a->F_bar ? dx : NULL, a->dp);
        }
        for (int d = 0; a->F_bar && d < a->b->count; d++) bar_of(a, d)[l] += dx[d];
    }
}

/* sum over the strip of kbar K */
static double strip_dot(const leaf_pass *a)
{
    double s[MCP_LANES] = {0}, total = 0.0;
    for (int z = 0; z < a->c->nz; z++) {
        const double *k = a->K + (size_t)z * (size_t)a->ld, *bar = a->kbar + (size_t)z * (size_t)a->ldb;
        for (int l = 0; l < MCP_LANES; l++) s[l] += k[l] * bar[l];
    }
    for (int l = 0; l < MCP_LANES; l++) total += s[l];
    return total;
}

static void stationary_backward(const leaf_pass *a)
{
    const mcp_kernel_batch *c = a->c;
    const mcp_leaf         *f = &a->l->f;
    double                  part = 0.0;
    if (f->kind == MCP_K_SE) c->se_slope(c->nz, a->K, a->ld, a->kbar, a->ldb, a->strip);
    else part = c->stationary_slope(f, a->ld, a->rows, a->kbar, a->ldb, a->strip);
    if (a->F_bar) {
        c->reduce(c->nz, f->D, f->Z, f->D, a->strip, MCP_LANES, a->S);
        const double *S0 = a->S + f->D * MCP_LANES;
        for (int d = 0; d < f->D; d++) {
            double       *out = bar_of(a, d);
            const double *row = a->rows + (size_t)d * (size_t)a->ld;
            for (int i = 0; i < MCP_LANES; i++)
                out[i] -= 2.0 * f->w[d] * (row[i] * S0[i] - a->S[d * MCP_LANES + i]);
        }
    }
    if (a->dp) {
        int first = f->kind == MCP_K_RQ ? 2 : 1;
        c->stationary_lengths(f, a->ld, a->rows, a->strip, a->dp + first);
        a->dp[0] += 2.0 * strip_dot(a);
        if (first == 2) a->dp[1] += part;
    }
}

static void periodic_backward(const leaf_pass *a)
{
    const mcp_kernel_batch *c = a->c;
    const int               D = a->b->count;
    for (int z = 0; z < c->nz; z++) {
        const double *k = a->K + (size_t)z * (size_t)a->ld, *bar = a->kbar + (size_t)z * (size_t)a->ldb;
        for (int i = 0; i < MCP_LANES; i++) a->strip[z * MCP_LANES + i] = bar[i] * k[i];
    }
    memset(a->S, 0, (size_t)(D * MCP_LANES) * sizeof *a->S);
    c->periodic_backward(&a->l->f, a->ld, a->rows, a->strip, a->S, a->dp ? a->dp + 1 : NULL,
                         a->dp ? a->dp + 1 + D : NULL);
    for (int d = 0; a->F_bar && d < D; d++) {
        double *out = bar_of(a, d);
        for (int i = 0; i < MCP_LANES; i++) out[i] += a->l->rate[d] * a->S[d * MCP_LANES + i];
    }
    if (a->dp) a->dp[0] += 2.0 * strip_dot(a);
}

static void dot_backward(const leaf_pass *a)
{
    const mcp_kernel_batch *c = a->c;
    const mcp_leaf         *f = &a->l->f;
    const int               D = f->D, several = f->degree > 1;
    double                 *dp = a->dp, *S = a->S;
    for (int r = 0; r < f->degree; r++) {
        if (several) c->dot_rest(f, r, a->ld, a->rows, a->kbar, a->ldb, a->strip);
        c->reduce(c->nz, D, f->Z + r * D, f->cols, several ? a->strip : a->kbar, several ? MCP_LANES : a->ldb,
                  S);
        for (int d = 0; a->F_bar && d < D; d++) {
            double *out = bar_of(a, d);
            for (int i = 0; i < MCP_LANES; i++) out[i] += S[d * MCP_LANES + i];
        }
        if (!dp) continue;
        if (f->kind == MCP_K_MP) {
            for (int i = 0; i < MCP_LANES; i++) dp[0] += f->offset[r] * S[D * MCP_LANES + i];
            dp++;
        }
        for (int d = 0; d < D; d++)
            for (int i = 0; i < MCP_LANES; i++)
                dp[d] += S[d * MCP_LANES + i] * a->rows[(size_t)d * (size_t)a->ld + (size_t)i];
        dp += D;
    }
}

typedef struct {
    const mcp_kernel_batch *c;
    const mcp_kernel_strip *s;
} pass;

/* K of a node, at the strip's first lane; NULL for a base kernel that is added in place and keeps none */
static const double *values_of(const pass *a, int node)
{
    const mcp_kernel_batch *c = a->c;
    if (node == c->k->nodes - 1) return a->s->K + a->s->j;
    if (c->buffer[node] < 0) return NULL;
    return a->s->tape + (c->rows + (size_t)c->buffer[node] * (size_t)c->nz) * (size_t)a->s->ld + a->s->j;
}

static void node_backward(const pass *a, int node, const double *kbar, int ldb);

static void product_backward(const pass *a, int node, const double *kbar, int ldb)
{
    const mcp_kernel_batch *c = a->c;
    const int               ch0 = c->k->node[node].child;
    for (int ch = ch0; ch >= 0; ch = c->k->node[ch].sibling) {
        double *bar = a->s->scratch + (size_t)c->strip[ch] * (size_t)c->nz * MCP_LANES;
        for (int z = 0; z < c->nz; z++)
            for (int i = 0; i < MCP_LANES; i++) bar[z * MCP_LANES + i] = kbar[z * ldb + i];
        for (int o = ch0; o >= 0; o = c->k->node[o].sibling) {
            if (o == ch) continue;
            const double *v = values_of(a, o);
            for (int z = 0; z < c->nz; z++, v += a->s->ld)
                for (int i = 0; i < MCP_LANES; i++) bar[z * MCP_LANES + i] *= v[i];
        }
        node_backward(a, ch, bar, MCP_LANES);
    }
}

static void leaf_backward(const pass *a, int node, const double *kbar, int ldb)
{
    const mcp_kernel_batch *c = a->c;
    const mcp_kernel_node  *b = &c->k->node[node];
    const mcp_kernel_strip *s = a->s;
    double   *strip = s->scratch + c->strips * (size_t)c->nz * MCP_LANES;
    leaf_pass q = {.c = c,
                   .b = b,
                   .l = &c->leaf[node],
                   .j = s->j,
                   .ld = s->ld,
                   .rows = s->tape + c->leaf[node].rows_at * (size_t)s->ld + s->j,
                   .K = values_of(a, node),
                   .kbar = kbar,
                   .ldb = ldb,
                   .strip = strip,
                   .S = strip + (size_t)c->nz * MCP_LANES,
                   .F_bar = s->F_bar,
                   .dp = s->dp ? s->dp + b->param : NULL};
    if (b->kind == MCP_K_USER) user_backward(&q);
    else if (mcp_kernel_batch_is_dot(b->kind)) dot_backward(&q);
    else if (b->kind == MCP_K_PERIODIC) periodic_backward(&q);
    else stationary_backward(&q);
}

static void node_backward(const pass *a, int node, const double *kbar, int ldb)
{
    const mcp_kernel_node *b = &a->c->k->node[node];
    if (b->kind == MCP_K_SUM)
        for (int ch = b->child; ch >= 0; ch = a->c->k->node[ch].sibling) node_backward(a, ch, kbar, ldb);
    else if (b->kind == MCP_K_PRODUCT) product_backward(a, node, kbar, ldb);
    else leaf_backward(a, node, kbar, ldb);
}

void mcp_kernel_batch_backward(const mcp_kernel_batch *c, const mcp_kernel_strip *s)
{
    pass a = {c, s};
    node_backward(&a, c->k->nodes - 1, s->kbar, s->ldb);
}
