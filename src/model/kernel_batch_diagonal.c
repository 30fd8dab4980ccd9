/* kernel_batch_diagonal.c - the prior variance k(x, x) over batches, and its adjoint.
 *   stationary kernels: s2        dot products: prod_r (s_r + sum_d g_rd x_d^2)
 *     the tree: sums and products of these */
#include "model/kernel_batch_parts.h"

/* Factor r of a dot product at MCP_LANES lanes. */
static void factor(const mcp_kernel_node *b, const mcp_kernel_batch_leaf *l, int r, int ld, const double *F,
                   double v[MCP_LANES])
{
    for (int i = 0; i < MCP_LANES; i++) v[i] = l->offset[r];
    for (int d = 0; d < b->count; d++) {
        const double *x = F + (size_t)b->feature[d] * (size_t)ld;
        for (int i = 0; i < MCP_LANES; i++) v[i] += l->g[r * b->count + d] * x[i] * x[i];
    }
}

static void user_diagonal(const mcp_kernel_batch *c, const mcp_kernel_node *b, int ld, const double *F,
                          double v[MCP_LANES])
{
    double x[MCP_USER_FEATURES];
    for (int i = 0; i < MCP_LANES; i++) {
        mcp_kernel_pick(b, F + i, (size_t)ld, x);
        v[i] = b->user.value(b->user.user, c->p + b->param, x, x);
    }
}

static void node_diagonal(const mcp_kernel_batch *c, int node, int ld, const double *F, double v[MCP_LANES])
{
    const mcp_kernel_node *b = &c->k->node[node];
    const mcp_kernel_batch_leaf    *l = &c->leaf[node];
    double                 part[MCP_LANES];
    if (b->kind == MCP_K_USER) {
        user_diagonal(c, b, ld, F, v);
        return;
    }
    double first = b->kind == MCP_K_SUM                                  ? 0.0
                   : mcp_kernel_batch_is_dot(b->kind) || b->kind == MCP_K_PRODUCT ? 1.0
                                                                         : l->f.s2;
    for (int i = 0; i < MCP_LANES; i++) v[i] = first;
    for (int r = 0; mcp_kernel_batch_is_dot(b->kind) && r < b->degree; r++) {
        factor(b, l, r, ld, F, part);
        for (int i = 0; i < MCP_LANES; i++) v[i] *= part[i];
    }
    for (int ch = mcp_kernel_is_base(b) ? -1 : b->child; ch >= 0; ch = c->k->node[ch].sibling) {
        node_diagonal(c, ch, ld, F, part);
        for (int i = 0; i < MCP_LANES; i++) v[i] = b->kind == MCP_K_SUM ? v[i] + part[i] : v[i] * part[i];
    }
}

void mcp_kernel_batch_diagonal(const mcp_kernel_batch *c, int n, int ld, const double *F, double *kdiag)
{
    for (int j = 0; j < n; j += MCP_LANES) node_diagonal(c, c->k->nodes - 1, ld, F + j, kdiag + j);
}

/* k(x, x) of a symmetric kernel: twice the derivative in the first argument. */
static void user_backward(const mcp_kernel_batch *c, const mcp_kernel_node *b, int ld, const double *F,
                          const double bar[MCP_LANES], double *F_bar)
{
    double x[MCP_USER_FEATURES], dx[MCP_USER_FEATURES];
    for (int i = 0; i < MCP_LANES; i++) {
        mcp_kernel_pick(b, F + i, (size_t)ld, x);
        for (int d = 0; d < b->count; d++) dx[d] = 0.0;
        b->user.gradient(b->user.user, c->p + b->param, x, x, 2.0 * bar[i], dx, NULL);
        for (int d = 0; d < b->count; d++) F_bar[(size_t)b->feature[d] * (size_t)ld + (size_t)i] += dx[d];
    }
}

static void dot_backward(const mcp_kernel_node *b, const mcp_kernel_batch_leaf *l, int ld, const double *F,
                         const double bar[MCP_LANES], double *F_bar)
{
    for (int r = 0; r < b->degree; r++) {
        double rest[MCP_LANES], other[MCP_LANES];
        for (int i = 0; i < MCP_LANES; i++) rest[i] = 2.0 * bar[i];
        for (int s = 0; s < b->degree; s++) {
            if (s == r) continue;
            factor(b, l, s, ld, F, other);
            for (int i = 0; i < MCP_LANES; i++) rest[i] *= other[i];
        }
        for (int d = 0; d < b->count; d++) {
            size_t at = (size_t)b->feature[d] * (size_t)ld;
            for (int i = 0; i < MCP_LANES; i++)
                F_bar[at + (size_t)i] += rest[i] * l->g[r * b->count + d] * F[at + (size_t)i];
        }
    }
}

static void node_backward(const mcp_kernel_batch *c, int node, int ld, const double *F,
                          const double bar[MCP_LANES], double *F_bar)
{
    const mcp_kernel_node *b = &c->k->node[node];
    if (b->kind == MCP_K_USER) user_backward(c, b, ld, F, bar, F_bar);
    else if (mcp_kernel_batch_is_dot(b->kind)) dot_backward(b, &c->leaf[node], ld, F, bar, F_bar);
    if (mcp_kernel_is_base(b)) return;
    for (int ch = b->child; ch >= 0; ch = c->k->node[ch].sibling) {
        double rest[MCP_LANES], other[MCP_LANES];
        for (int i = 0; i < MCP_LANES; i++) rest[i] = bar[i];
        for (int o = b->child; b->kind == MCP_K_PRODUCT && o >= 0; o = c->k->node[o].sibling) {
            if (o == ch) continue;
            node_diagonal(c, o, ld, F, other);
            for (int i = 0; i < MCP_LANES; i++) rest[i] *= other[i];
        }
        node_backward(c, ch, ld, F, rest, F_bar);
    }
}

void mcp_kernel_batch_diagonal_backward(const mcp_kernel_batch *c, int n, int ld, const double *F,
                                        const double *kdiag_bar, double *F_bar)
{
    for (int j = 0; j < n; j += MCP_LANES)
        node_backward(c, c->k->nodes - 1, ld, F + j, kdiag_bar + j, F_bar + j);
}
