/* graph.c - build the expression graph: share, fold, simplify.
 *
 * Simplifications keep what NaN and infinity would do: x*0 and x-x stay, since x may be NaN or infinite. Only
 * the sign of a zero may change (x + 0). */
#include "program/graph.h"

#include <math.h>
#include <string.h>

#include "math/arena.h"

int mcp_grow(void **array, int count, int *room, int size)
{
    if (count < *room) return 1;
    int   more = *room ? *room * 2 : 16;
    void *p    = mcp_realloc(*array, (size_t)more * (size_t)size);
    if (!p) return 0;
    *array = p;
    *room  = more;
    return 1;
}

mcp_status mcp_graph_init(mcp_graph *g)
{
    memset(g, 0, sizeof *g);
    g->hash_room = 256;
    g->hash      = mcp_calloc((size_t)g->hash_room, sizeof *g->hash);
    if (!g->hash) return MCP_ERR_MEMORY;
    mcp_graph_const(g, 0.0); /* node 0 always exists */
    return g->failed ? MCP_ERR_MEMORY : MCP_OK;
}

void mcp_graph_free(mcp_graph *g)
{
    mcp_free(g->node);
    mcp_free(g->hash);
    mcp_free(g->net);
    mcp_free(g->slot);
    mcp_free(g->scalar);
    memset(g, 0, sizeof *g);
}

static uint64_t mix(const mcp_node *n)
{
    uint64_t bits;
    memcpy(&bits, &n->value, sizeof bits);
    uint64_t h = (uint64_t)n->op * 0x9e3779b97f4a7c15u ^ bits;
    h          = (h ^ (h >> 29)) * 0xbf58476d1ce4e5b9u + (uint64_t)(uint32_t)n->a;
    h          = (h ^ (h >> 32)) * 0x94d049bb133111ebu + (uint64_t)(uint32_t)n->b;
    return (h ^ (h >> 31)) * 0x9e3779b97f4a7c15u >> 20;
}

/* Constants by their bits: 0 and -0 are two of them. */
static int same(const mcp_node *x, const mcp_node *y)
{
    // NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): by bits on purpose
    return x->op == y->op && x->a == y->a && x->b == y->b && !memcmp(&x->value, &y->value, sizeof x->value);
}

static int rehash(mcp_graph *g)
{
    int  room = g->hash_room * 2;
    int *hash = mcp_calloc((size_t)room, sizeof *hash);
    if (!hash) return 0;
    for (int i = 0; i < g->nodes; i++) {
        uint64_t h = mix(&g->node[i]);
        while (hash[h & (uint64_t)(room - 1)]) h++;
        hash[h & (uint64_t)(room - 1)] = i + 1;
    }
    mcp_free(g->hash);
    g->hash      = hash;
    g->hash_room = room;
    return 1;
}

/* The node equal to n, new if there is none. */
static int intern(mcp_graph *g, mcp_node n)
{
    uint64_t h = mix(&n), mask = (uint64_t)(g->hash_room - 1);
    for (; g->hash[h & mask]; h++)
        if (same(&g->node[g->hash[h & mask] - 1], &n)) return g->hash[h & mask] - 1;
    if (g->nodes >= MCP_GRAPH_NODES) {
        g->failed = MCP_ERR_TASK;
        return 0;
    }
    if ((g->nodes * 2 >= g->hash_room && !rehash(g)) ||
        !mcp_grow((void **)&g->node, g->nodes, &g->node_room, sizeof *g->node)) {
        g->failed = MCP_ERR_MEMORY;
        return 0;
    }
    mask = (uint64_t)(g->hash_room - 1);
    for (h = mix(&n); g->hash[h & mask];) h++;
    g->hash[h & mask]   = g->nodes + 1;
    g->node[g->nodes++] = n;
    return g->nodes - 1;
}

int mcp_graph_const(mcp_graph *g, double value)
{
    return intern(g, (mcp_node){.op = OP_CONST, .value = value});
}

int mcp_graph_leaf(mcp_graph *g, mcp_op op, int a, int b)
{
    return intern(g, (mcp_node){.op = op, .a = a, .b = b});
}

static int is_const(const mcp_graph *g, int x, double value)
{
    return g->node[x].op == OP_CONST && g->node[x].value == value;
}

/* x^k, k >= 1, by squaring: the fewest multiplications for small k. */
static int power(mcp_graph *g, int x, int k)
{
    if (k == 1) return x;
    int half = power(g, x, k / 2), square = mcp_graph_op(g, OP_MUL, half, half);
    return k % 2 ? mcp_graph_op(g, OP_MUL, square, x) : square;
}

/* x^e with a constant exponent; -1: no shorter form. */
static int constant_power(mcp_graph *g, int x, double e)
{
    if (e == 0.0) return mcp_graph_const(g, 1.0);
    if (e == 0.5) return mcp_graph_op(g, OP_SQRT, x, 0);
    if (e != floor(e) || fabs(e) > 8.0) return -1;
    int y = power(g, x, (int)fabs(e));
    return e < 0.0 ? mcp_graph_op(g, OP_DIV, mcp_graph_const(g, 1.0), y) : y;
}

/* A shorter equal of op(a, b), or -1. */
static int simplify(mcp_graph *g, mcp_op op, int a, int b)
{
    switch (op) {
    case OP_ADD:
        if (is_const(g, a, 0.0)) return b;
        if (is_const(g, b, 0.0)) return a;
        if (g->node[b].op == OP_NEG) return mcp_graph_op(g, OP_SUB, a, g->node[b].a);
        return -1;
    case OP_SUB:
        if (is_const(g, b, 0.0)) return a;
        if (is_const(g, a, 0.0)) return mcp_graph_op(g, OP_NEG, b, 0);
        if (g->node[b].op == OP_NEG) return mcp_graph_op(g, OP_ADD, a, g->node[b].a);
        return -1;
    case OP_MUL:
        if (is_const(g, a, 1.0)) return b;
        if (is_const(g, b, 1.0)) return a;
        if (is_const(g, a, -1.0)) return mcp_graph_op(g, OP_NEG, b, 0);
        if (is_const(g, b, -1.0)) return mcp_graph_op(g, OP_NEG, a, 0);
        return -1;
    case OP_DIV:
        return is_const(g, b, 1.0) ? a : -1;
    case OP_POW:
        return g->node[b].op == OP_CONST ? constant_power(g, a, g->node[b].value) : -1;
    case OP_NEG:
        return g->node[a].op == OP_NEG ? g->node[a].a : -1;
    case OP_ABS:
        return g->node[a].op == OP_ABS   ? a
               : g->node[a].op == OP_NEG ? mcp_graph_op(g, OP_ABS, g->node[a].a, 0)
                                         : -1;
    case OP_MIN:
    case OP_MAX:
        return a == b ? a : -1;
    default:
        return -1;
    }
}

int mcp_graph_op(mcp_graph *g, mcp_op op, int a, int b)
{
    if (g->failed) return 0;
    int unary = mcp_op_unary(op);
    if (g->node[a].op == OP_CONST && (unary || g->node[b].op == OP_CONST))
        return mcp_graph_const(g, mcp_op_value(op, g->node[a].value, unary ? 0.0 : g->node[b].value));
    int s = simplify(g, op, a, b);
    if (s >= 0) return s;
    /* One order for operations that do not mind it, so that x*y and y*x are one node. */
    if ((op == OP_ADD || op == OP_MUL || op == OP_EQ || op == OP_NE || op == OP_AND || op == OP_OR) &&
        a > b) {
        int t = a;
        a     = b;
        b     = t;
    }
    return intern(g, (mcp_node){.op = op, .a = a, .b = unary ? 0 : b});
}

static int room_for(mcp_graph *g, void **array, int count, int *room, int size, int most)
{
    if (count >= most) {
        g->failed = MCP_ERR_TASK;
        return 0;
    }
    if (mcp_grow(array, count, room, size)) return 1;
    g->failed = MCP_ERR_MEMORY;
    return 0;
}

int mcp_graph_net(mcp_graph *g, const mcp_net *net)
{
    for (int i = 0; i < g->nets; i++) {
        const mcp_net *o = &g->net[i];
        if (o->kind == net->kind && o->layers == net->layers && o->features == net->features &&
            !memcmp(o->units, net->units, sizeof(int) * (size_t)net->layers) &&
            !memcmp(o->feature, net->feature, sizeof(int) * (size_t)net->features))
            return i;
    }
    if (!room_for(g, (void **)&g->net, g->nets, &g->net_room, sizeof *g->net, MCP_GRAPH_NETS)) return 0;
    g->net[g->nets] = *net;
    return g->nets++;
}

int mcp_graph_slot(mcp_graph *g, const char *name, int start, int next)
{
    if (!room_for(g, (void **)&g->slot, g->slots, &g->slot_room, sizeof *g->slot, MCP_GRAPH_SLOTS)) return 0;
    mcp_slot *s = &g->slot[g->slots];
    memset(s, 0, sizeof *s);
    s->start = start;
    s->next  = next;
    strncpy(s->name, name, sizeof s->name - 1);
    return g->slots++;
}

/* prev(x): a slot that starts as x and next is x. A constant was the same one sample ago. */
int mcp_graph_prev(mcp_graph *g, int x)
{
    if (g->failed || g->node[x].op == OP_CONST || g->node[x].op == OP_PARAM) return x;
    for (int i = 0; i < g->slots; i++)
        if (!g->slot[i].name[0] && g->slot[i].next == x) return mcp_graph_leaf(g, OP_MEMORY, i, 0);
    int s = mcp_graph_slot(g, "", x, x);
    return g->failed ? 0 : mcp_graph_leaf(g, OP_MEMORY, s, 0);
}

int mcp_graph_scalar(mcp_graph *g, const char *name, double start)
{
    if (!room_for(g, (void **)&g->scalar, g->scalars, &g->scalar_room, sizeof *g->scalar, MCP_GRAPH_PARAMS))
        return 0;
    mcp_scalar *s = &g->scalar[g->scalars];
    memset(s, 0, sizeof *s);
    strncpy(s->name, name, sizeof s->name - 1);
    s->start = start;
    return g->scalars++;
}
