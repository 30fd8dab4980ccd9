/* kernel_batch_backward.c - the adjoint of kernel_batch.c's forward pass, one strip of MCP_LANES lanes at a
 * time: a strip's dJ/dK (nz x MCP_LANES) stays in the first-level cache while every base kernel reads it. */
#include <string.h>

#include "model/kernel_batch_parts.h"

static void user_backward(const mcp_kernel_batch *c, const mcp_kernel_node *b, int j, int ld,
                          const double *rows, const double *kbar, int ldb, double *F_bar, double *dp)
{
    double x[MCP_USER_FEATURES], dx[MCP_USER_FEATURES];
    for (int l = 0; l < MCP_LANES; l++) {
        for (int d = 0; d < b->count; d++) x[d] = rows[(size_t)d * (size_t)ld + (size_t)l], dx[d] = 0.0;
        for (int z = 0; z < c->nz; z++) {
            double bar = kbar[(size_t)z * (size_t)ldb + (size_t)l];
            if (bar != 0.0)
                b->user.gradient(b->user.user, c->p + b->param, x, c->Z + (size_t)z * (size_t)c->k->features,
                                 bar, F_bar ? dx : NULL, dp);
        }
        for (int d = 0; F_bar && d < b->count; d++) F_bar[(size_t)d * (size_t)ld + (size_t)(j + l)] += dx[d];
    }
}

/* sum over the strip of kbar K */
static double strip_dot(int nz, const double *K, int ldk, const double *kbar, int ldb)
{
    double s[MCP_LANES] = {0}, total = 0.0;
    for (int z = 0; z < nz; z++)
        for (int l = 0; l < MCP_LANES; l++)
            s[l] += K[(size_t)z * (size_t)ldk + (size_t)l] * kbar[(size_t)z * (size_t)ldb + (size_t)l];
    for (int l = 0; l < MCP_LANES; l++) total += s[l];
    return total;
}

static void stationary_backward(const mcp_kernel_batch *c, int node, int j, int ld, const double *rows,
                                const double *K, const double *kbar, int ldb, double *strip, double *S,
                                double *F_bar, double *dp)
{
    const mcp_kernel_node *b    = &c->k->node[node];
    const mcp_kernel_batch_leaf            *l    = &c->leaf[node];
    double                 part = 0.0;
    if (b->kind == MCP_K_SE) c->se_slope(c->nz, K, ld, kbar, ldb, strip);
    else part = c->stationary_slope(&l->f, ld, rows, kbar, ldb, strip);
    if (F_bar) {
        c->reduce(c->nz, b->count, l->Z, b->count, strip, MCP_LANES, S);
        const double *S0 = S + b->count * MCP_LANES;
        for (int d = 0; d < b->count; d++) {
            double       *out = F_bar + (size_t)b->feature[d] * (size_t)ld + j;
            const double *row = rows + (size_t)d * (size_t)ld;
            for (int i = 0; i < MCP_LANES; i++)
                out[i] -= 2.0 * l->w[d] * (row[i] * S0[i] - S[d * MCP_LANES + i]);
        }
    }
    if (dp) {
        int first = b->kind == MCP_K_RQ ? 2 : 1;
        c->stationary_lengths(&l->f, ld, rows, strip, dp + first);
        dp[0] += 2.0 * strip_dot(c->nz, K, ld, kbar, ldb);
        if (first == 2) dp[1] += part;
    }
}

static void periodic_backward(const mcp_kernel_batch *c, int node, int j, int ld, const double *rows,
                              const double *K, const double *kbar, int ldb, double *strip, double *S,
                              double *F_bar, double *dp)
{
    const mcp_kernel_node *b = &c->k->node[node];
    const mcp_kernel_batch_leaf            *l = &c->leaf[node];
    for (int z = 0; z < c->nz; z++)
        for (int i = 0; i < MCP_LANES; i++)
            strip[z * MCP_LANES + i] =
                kbar[(size_t)z * (size_t)ldb + (size_t)i] * K[(size_t)z * (size_t)ld + (size_t)i];
    memset(S, 0, (size_t)(b->count * MCP_LANES) * sizeof *S);
    c->periodic_backward(&l->f, ld, rows, strip, S, dp ? dp + 1 : NULL, dp ? dp + 1 + b->count : NULL);
    for (int d = 0; F_bar && d < b->count; d++) {
        double *out = F_bar + (size_t)b->feature[d] * (size_t)ld + j;
        for (int i = 0; i < MCP_LANES; i++) out[i] += l->rate[d] * S[d * MCP_LANES + i];
    }
    if (dp) dp[0] += 2.0 * strip_dot(c->nz, K, ld, kbar, ldb);
}

static void dot_backward(const mcp_kernel_batch *c, int node, int j, int ld, const double *rows,
                         const double *kbar, int ldb, double *strip, double *S, double *F_bar, double *dp)
{
    const mcp_kernel_node *b = &c->k->node[node];
    const mcp_kernel_batch_leaf            *l = &c->leaf[node];
    int                    D = b->count;
    for (int r = 0; r < b->degree; r++) {
        if (b->degree > 1) c->dot_rest(&l->f, r, ld, rows, kbar, ldb, strip);
        c->reduce(c->nz, D, l->Z + r * D, l->f.cols, b->degree > 1 ? strip : kbar,
                  b->degree > 1 ? MCP_LANES : ldb, S);
        for (int d = 0; F_bar && d < D; d++) {
            double *out = F_bar + (size_t)b->feature[d] * (size_t)ld + j;
            for (int i = 0; i < MCP_LANES; i++) out[i] += S[d * MCP_LANES + i];
        }
        if (!dp) continue;
        if (b->kind == MCP_K_MP) {
            for (int i = 0; i < MCP_LANES; i++) dp[0] += l->offset[r] * S[D * MCP_LANES + i];
            dp++;
        }
        for (int d = 0; d < D; d++)
            for (int i = 0; i < MCP_LANES; i++)
                dp[d] += S[d * MCP_LANES + i] * rows[(size_t)d * (size_t)ld + (size_t)i];
        dp += D;
    }
}

typedef struct {
    const mcp_kernel_batch *c;
    int            j, ld;
    const double  *K, *tape;
    double        *scratch, *F_bar, *dp;
} pass;

/* K of a node, at the strip's first lane */
static const double *values_of(const pass *a, int node)
{
    if (node == a->c->k->nodes - 1) return a->K + a->j;
    return a->tape + (a->c->rows + (size_t)a->c->buffer[node] * (size_t)a->c->nz) * (size_t)a->ld + a->j;
}

static void node_backward(const pass *a, int node, const double *kbar, int ldb);

static void product_backward(const pass *a, int node, const double *kbar, int ldb)
{
    const mcp_kernel_batch *c  = a->c;
    const int      ch0 = c->k->node[node].child;
    for (int ch = ch0; ch >= 0; ch = c->k->node[ch].sibling) {
        double *bar = a->scratch + (size_t)c->strip[ch] * (size_t)c->nz * MCP_LANES;
        for (int z = 0; z < c->nz; z++)
            for (int i = 0; i < MCP_LANES; i++)
                bar[z * MCP_LANES + i] = kbar[(size_t)z * (size_t)ldb + (size_t)i];
        for (int o = ch0; o >= 0; o = c->k->node[o].sibling) {
            if (o == ch) continue;
            const double *v = values_of(a, o);
            for (int z = 0; z < c->nz; z++)
                for (int i = 0; i < MCP_LANES; i++)
                    bar[z * MCP_LANES + i] *= v[(size_t)z * (size_t)a->ld + (size_t)i];
        }
        node_backward(a, ch, bar, MCP_LANES);
    }
}

static void node_backward(const pass *a, int node, const double *kbar, int ldb)
{
    const mcp_kernel_batch         *c     = a->c;
    const mcp_kernel_node *b     = &c->k->node[node];
    double *strip = a->scratch + c->strips * (size_t)c->nz * MCP_LANES,
           *S = strip + (size_t)c->nz * MCP_LANES;
    double                *dp    = a->dp ? a->dp + b->param : NULL;
    if (b->kind == MCP_K_SUM) {
        for (int ch = b->child; ch >= 0; ch = c->k->node[ch].sibling) node_backward(a, ch, kbar, ldb);
    } else if (b->kind == MCP_K_PRODUCT) {
        product_backward(a, node, kbar, ldb);
    } else {
        const double *rows = a->tape + c->leaf[node].rows_at * (size_t)a->ld + a->j;
        if (b->kind == MCP_K_USER) user_backward(c, b, a->j, a->ld, rows, kbar, ldb, a->F_bar, dp);
        else if (mcp_kernel_batch_is_dot(b->kind))
            dot_backward(c, node, a->j, a->ld, rows, kbar, ldb, strip, S, a->F_bar, dp);
        else if (b->kind == MCP_K_PERIODIC)
            periodic_backward(c, node, a->j, a->ld, rows, values_of(a, node), kbar, ldb, strip, S, a->F_bar,
                              dp);
        else
            stationary_backward(c, node, a->j, a->ld, rows, values_of(a, node), kbar, ldb, strip, S, a->F_bar,
                                dp);
    }
}

void mcp_kernel_batch_backward(const mcp_kernel_batch *c, int j, int ld, const double *K, const double *tape,
                      const double *kbar, int ldb, double *scratch, double *F_bar, double *dp)
{
    pass a = {.c = c, .j = j, .ld = ld, .K = K, .tape = tape, .scratch = scratch, .F_bar = F_bar, .dp = dp};
    node_backward(&a, c->k->nodes - 1, kbar, ldb);
}
