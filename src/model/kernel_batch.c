/* kernel_batch.c - kernel trees over batches: prepares the base kernels for given parameters and walks the
 * tree forward over whole matrices. The way back is in kernel_batch_backward.c. */
#include <math.h>
#include <string.h>

#include "math/arena.h"
#include "math/vecmath.h"
#include "model/kernel_batch_parts.h"

static void pick(mcp_kernel_batch *c, mcp_isa level)
{
    c->level              = level;
    c->se_forward         = MCP_ISA_PICK(level, mcp_se_forward);
    c->se_slope           = MCP_ISA_PICK(level, mcp_se_slope);
    c->stationary_forward = MCP_ISA_PICK(level, mcp_stationary_forward);
    c->stationary_slope   = MCP_ISA_PICK(level, mcp_stationary_slope);
    c->stationary_lengths = MCP_ISA_PICK(level, mcp_stationary_lengths);
    c->dot_forward        = MCP_ISA_PICK(level, mcp_dot_forward);
    c->dot_rest           = MCP_ISA_PICK(level, mcp_dot_rest);
    c->reduce             = MCP_ISA_PICK(level, mcp_leaf_reduce);
    c->periodic_forward   = MCP_ISA_PICK(level, mcp_periodic_forward);
    c->periodic_backward  = MCP_ISA_PICK(level, mcp_periodic_backward);
}

/* Which nodes keep a matrix: all but the root and the dot products under a sum, which are added in place.
 * Which need an adjoint of their own: the children of products. */
static void assign(mcp_kernel_batch *c)
{
    const mcp_kernel *k = c->k;
    c->buffers = c->strips = 0;
    for (int i = 0; i < k->nodes; i++) c->buffer[i] = c->strip[i] = -1;
    for (int i = 0; i < k->nodes; i++)
        for (int ch = mcp_kernel_is_base(&k->node[i]) ? -1 : k->node[i].child; ch >= 0;
             ch = k->node[ch].sibling) {
            int product = k->node[i].kind == MCP_K_PRODUCT;
            if (product || !mcp_kernel_batch_is_dot(k->node[ch].kind)) c->buffer[ch] = (int)c->buffers++;
            if (product) c->strip[ch] = (int)c->strips++;
        }
}

/* Sizes and pointers in one place; base == NULL only measures. */
static size_t layout(mcp_kernel_batch *c, char *base)
{
    const mcp_kernel *k  = c->k;
    mcp_arena         a  = {.base = base, .used = 0};
    size_t            nz = (size_t)c->nz, nodes = (size_t)k->nodes;
    c->p      = mcp_arena_doubles(&a, (size_t)k->params);
    c->Z      = mcp_arena_doubles(&a, nz * (size_t)k->features);
    c->leaf   = mcp_arena_bytes(&a, nodes * sizeof *c->leaf);
    c->buffer = mcp_arena_ints(&a, nodes);
    c->strip  = mcp_arena_ints(&a, nodes);
    c->rows   = 0;
    for (int i = 0; i < k->nodes; i++) {
        const mcp_kernel_node *b = &k->node[i];
        mcp_kernel_batch_leaf                   l = {.rows_at = c->rows};
        if (!mcp_kernel_is_base(b)) continue;
        l.f.kind   = b->kind;
        l.f.nz     = c->nz;
        l.f.D      = b->count;
        l.f.degree = b->degree;
        l.f.nrows  = b->kind == MCP_K_PERIODIC ? 3 * b->count : b->count;
        l.f.cols   = b->kind == MCP_K_PERIODIC ? 3 * b->count : b->count * b->degree;
        l.Z        = mcp_arena_doubles(&a, nz * (size_t)l.f.cols);
        l.w        = mcp_arena_doubles(&a, (size_t)b->count);
        l.rate     = mcp_arena_doubles(&a, (size_t)b->count);
        l.offset   = mcp_arena_doubles(&a, (size_t)b->degree);
        l.g        = mcp_arena_doubles(&a, (size_t)b->degree * (size_t)b->count);
        l.f.Z      = l.Z;
        l.f.w      = l.w;
        l.f.offset = l.offset;
        c->rows += (size_t)l.f.nrows;
        if (l.f.D > c->cols_max) c->cols_max = l.f.D;
        if (base) c->leaf[i] = l;
    }
    return a.used;
}

mcp_status mcp_kernel_batch_create(mcp_kernel_batch **out, const mcp_kernel *k, mcp_isa level, int nz,
                                   const double *Z, mcp_error *err)
{
    mcp_kernel_batch  head = {.k = k, .nz = nz};
    mcp_kernel_batch *c;
    void    *block;
    size_t   front = (sizeof head + 63) / 64 * 64;
    *out           = NULL;
    size_t     need = front + layout(&head, NULL);
    mcp_status st   = mcp_block_alloc(&block, need, err);
    if (st != MCP_OK) return st;
    c        = block;
    *c       = head;
    c->bytes = need;
    layout(c, (char *)block + front);
    pick(c, level);
    assign(c);
    memcpy(c->Z, Z, (size_t)nz * (size_t)k->features * sizeof *Z);
    *out = c;
    return MCP_OK;
}

void   mcp_kernel_batch_free(mcp_kernel_batch *c) { mcp_block_free(c); }
size_t mcp_kernel_batch_bytes(const mcp_kernel_batch *c) { return c->bytes; }
size_t mcp_kernel_batch_tape(const mcp_kernel_batch *c, int ld)
{
    return (c->rows + c->buffers * (size_t)c->nz) * (size_t)ld;
}
size_t mcp_kernel_batch_scratch(const mcp_kernel_batch *c)
{
    return ((c->strips + 1) * (size_t)c->nz + (size_t)c->cols_max + 1) * MCP_LANES;
}

/* 2^-g on [-1/2, 1/2], see se.isa.c */
static const double power[12] = {1.0,
                                 -0.69314718055994529,
                                 0.24022650695910097,
                                 -0.055504108664821597,
                                 0.0096181291076068709,
                                 -0.0013333558146416927,
                                 0.00015403530441765088,
                                 -1.5252733829851596e-05,
                                 1.3215442570224649e-06,
                                 -1.0178062436412765e-07,
                                 7.0725894883963448e-09,
                                 -4.4549624846332125e-10};

static void set_stationary(mcp_kernel_batch_leaf *l, const mcp_kernel_node *b, int features, const double *p,
                           const double *Z)
{
    int    first = b->kind == MCP_K_RQ ? 2 : 1;
    double unit  = b->kind == MCP_K_SE ? sqrt(M_LOG2E) : 1.0; /* se is a power of 2 */
    l->f.s2      = exp(2.0 * p[0]);
    l->f.alpha   = b->kind == MCP_K_RQ ? exp(p[1]) : 1.0;
    for (int i = 0; i < 12; i++) l->f.power[i] = l->f.s2 * power[i];
    l->f.cap = fmin(1000.0, 1000.0 + 2.0 * M_LOG2E * p[0]);
    for (int d = 0; d < b->count; d++) {
        l->w[d] = unit * exp(-p[first + d]);
        for (int z = 0; z < l->f.nz; z++)
            l->Z[(size_t)z * (size_t)b->count + (size_t)d] =
                Z[(size_t)z * (size_t)features + (size_t)b->feature[d]] * l->w[d];
    }
}

static void set_periodic(mcp_kernel_batch_leaf *l, const mcp_kernel_node *b, int features, const double *p,
                         const double *Z)
{
    int D   = b->count;
    l->f.s2 = exp(2.0 * p[0]);
    for (int d = 0; d < D; d++) {
        l->rate[d] = M_PI * exp(-p[1 + d]);
        l->w[d]    = exp(-p[1 + D + d]);
        for (int z = 0; z < l->f.nz; z++) {
            double *row = l->Z + (size_t)z * (size_t)l->f.cols;
            row[d]         = Z[(size_t)z * (size_t)features + (size_t)b->feature[d]] * l->rate[d];
            row[D + d]     = sin(row[d]);
            row[2 * D + d] = cos(row[d]);
        }
    }
}

static void set_dot(mcp_kernel_batch_leaf *l, const mcp_kernel_node *b, int features, const double *p,
                    const double *Z)
{
    int D = b->count;
    for (int r = 0; r < b->degree; r++) {
        l->offset[r] = b->kind == MCP_K_MP ? exp(*p++) : 0.0;
        for (int d = 0; d < D; d++) {
            double g = l->g[r * D + d] = exp(p[d]);
            for (int z = 0; z < l->f.nz; z++)
                l->Z[(size_t)z * (size_t)l->f.cols + (size_t)(r * D + d)] =
                    Z[(size_t)z * (size_t)features + (size_t)b->feature[d]] * g;
        }
        p += D;
    }
}

void mcp_kernel_batch_set(mcp_kernel_batch *c, const double *p)
{
    memcpy(c->p, p, (size_t)c->k->params * sizeof *p);
    for (int i = 0; i < c->k->nodes; i++) {
        const mcp_kernel_node *b = &c->k->node[i];
        const double          *q = c->p + b->param;
        if (!mcp_kernel_is_base(b) || b->kind == MCP_K_USER) continue;
        if (mcp_kernel_batch_is_dot(b->kind)) set_dot(&c->leaf[i], b, c->k->features, q, c->Z);
        else if (b->kind == MCP_K_PERIODIC) set_periodic(&c->leaf[i], b, c->k->features, q, c->Z);
        else set_stationary(&c->leaf[i], b, c->k->features, q, c->Z);
    }
}

/* What a base kernel reads of the queries: scaled, plain, or with sine and cosine. */
static void make_rows(const mcp_kernel_batch *c, int node, int n, int ld, const double *F, double *rows)
{
    const mcp_kernel_node *b = &c->k->node[node];
    const mcp_kernel_batch_leaf            *l = &c->leaf[node];
    for (int d = 0; d < b->count; d++) {
        const double *x   = F + (size_t)b->feature[d] * (size_t)ld;
        double       *row = rows + (size_t)d * (size_t)ld;
        if (mcp_kernel_batch_is_dot(b->kind) || b->kind == MCP_K_USER) {
            memcpy(row, x, (size_t)n * sizeof *x);
            continue;
        }
        double w = b->kind == MCP_K_PERIODIC ? l->rate[d] : l->w[d];
        for (int j = 0; j < n; j++) row[j] = x[j] * w;
        if (b->kind == MCP_K_PERIODIC) {
            const mcp_vecmath *vm = mcp_vecmath_get(c->level);
            vm->sin(n, row, row + (size_t)b->count * (size_t)ld);
            vm->cos(n, row, row + (size_t)(2 * b->count) * (size_t)ld);
        }
    }
}

/* A user's kernel goes pair by pair; x is gathered from the lanes. */
static void user_forward(const mcp_kernel_batch *c, const mcp_kernel_node *b, int n, int ld,
                         const double *rows, double *K)
{
    double x[MCP_USER_FEATURES], own[MCP_USER_FEATURES];
    for (int z = 0; z < c->nz; z++) {
        mcp_kernel_pick(b, c->Z + (size_t)z * (size_t)c->k->features, 1, own);
        for (int j = 0; j < n; j++) {
            for (int d = 0; d < b->count; d++) x[d] = rows[(size_t)d * (size_t)ld + (size_t)j];
            K[(size_t)z * (size_t)ld + (size_t)j] = b->user.value(b->user.user, c->p + b->param, x, own);
        }
    }
}

static double *buffer_of(const mcp_kernel_batch *c, int node, int ld, double *tape)
{
    return tape + (c->rows + (size_t)c->buffer[node] * (size_t)c->nz) * (size_t)ld;
}

/* out = part, out + part or out * part, n lanes of nz rows */
static void merge(int nz, int n, int ld, char op, const double *part, double *out)
{
    for (int z = 0; z < nz; z++) {
        const double *restrict a = part + (size_t)z * (size_t)ld;
        double *restrict o       = out + (size_t)z * (size_t)ld;
        if (op == '=') memcpy(o, a, (size_t)n * sizeof *o);
        else if (op == '+')
            for (int j = 0; j < n; j++) o[j] += a[j];
        else
            for (int j = 0; j < n; j++) o[j] *= a[j];
    }
}

static void node_forward(const mcp_kernel_batch *c, int node, int n, int ld, const double *F, double *out,
                         int add, double *tape)
{
    const mcp_kernel_node *b = &c->k->node[node];
    const mcp_kernel_batch_leaf            *l = &c->leaf[node];
    if (mcp_kernel_is_base(b)) {
        double *rows = tape + l->rows_at * (size_t)ld;
        make_rows(c, node, n, ld, F, rows);
        if (b->kind == MCP_K_USER) user_forward(c, b, n, ld, rows, out);
        else if (mcp_kernel_batch_is_dot(b->kind)) c->dot_forward(&l->f, n, ld, rows, out, ld, add);
        else if (b->kind == MCP_K_PERIODIC) c->periodic_forward(&l->f, n, ld, rows, out, ld, add);
        else if (b->kind == MCP_K_SE) c->se_forward(&l->f, n, ld, rows, out, ld);
        else c->stationary_forward(&l->f, n, ld, rows, out, ld, add);
        return;
    }
    for (int ch = b->child; ch >= 0; ch = c->k->node[ch].sibling) {
        char op = ch == b->child ? '=' : b->kind == MCP_K_SUM ? '+' : '*';
        if (c->buffer[ch] < 0) {
            node_forward(c, ch, n, ld, F, out, op == '+', tape);
            continue;
        }
        double *part = buffer_of(c, ch, ld, tape);
        node_forward(c, ch, n, ld, F, part, 0, tape);
        merge(c->nz, n, ld, op, part, out);
    }
}

void mcp_kernel_batch_forward(const mcp_kernel_batch *c, int n, int ld, const double *F, double *K,
                              double *tape)
{
    node_forward(c, c->k->nodes - 1, n, ld, F, K, 0, tape);
}

