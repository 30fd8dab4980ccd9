/* graph.h - the expression graph behind a builder and a program. Equal nodes are one node (hash-consing), so
 * common subexpressions are shared; operands always have smaller numbers than their users, so number order is
 * an order to compute in. */
#ifndef MCP_GRAPH_H
#define MCP_GRAPH_H

#include <stdint.h>

#include "program/program.h"

typedef enum {
    OP_CONST,
    OP_INPUT,
    OP_MEMORY,
    OP_PARAM,
    OP_NET, /* leaves; OP_NET is output k of a net */
    OP_ADD,
    OP_SUB,
    OP_MUL,
    OP_DIV,
    OP_POW,
    OP_ATAN2,
    OP_MIN,
    OP_MAX,
    OP_LT,
    OP_LE,
    OP_EQ,
    OP_NE,
    OP_AND,
    OP_OR,
    OP_NEG,
    OP_NOT,
    OP_ABS,
    OP_SIGN,
    OP_SQRT,
    OP_EXP,
    OP_LOG,
    OP_SIN,
    OP_COS,
    OP_TAN,
    OP_ASIN,
    OP_ACOS,
    OP_ATAN,
    OP_SINH,
    OP_COSH,
    OP_TANH,
    OP_SIGMOID,
    OP_COUNT
} mcp_op;

static inline int mcp_op_binary(mcp_op op)
{
    return op >= OP_ADD && op <= OP_OR;
}

static inline int mcp_op_unary(mcp_op op)
{
    return op >= OP_NEG;
}

/* a, b: operands. Leaves: a = number of the input, memory slot, param or net; b = output of the net (from 0).
 */
typedef struct {
    mcp_op op;
    int    a, b;
    double value; /* OP_CONST */
} mcp_node;

enum { MCP_NET_RBF, MCP_NET_MLP };
enum { MCP_NET_FEATURES = 64, MCP_NET_LAYERS = 8, MCP_NET_OUTPUTS = 64, MCP_NET_UNITS = 10000 };

typedef struct {
    int kind;
    int units[MCP_NET_LAYERS]; /* RBF: units[0] bases; MLP: hidden layer sizes */
    int layers;                /* hidden layers, 1 for RBF */
    int features, outputs;
    int feature[MCP_NET_FEATURES]; /* nodes */
} mcp_net;

typedef struct {
    int  start, next; /* nodes; next = -1: not given yet */
    char name[64];    /* "" for prev() */
} mcp_slot;

typedef struct {
    char   name[64];
    double start;
} mcp_scalar;

/* A growable graph. On running out of memory or room `failed` is set and node numbers are still valid (0). */
typedef struct {
    mcp_node   *node;
    int         nodes, node_room;
    int        *hash;      /* open addressing: node + 1 */
    int         hash_room; /* power of two */
    mcp_net    *net;
    int         nets, net_room;
    mcp_slot   *slot;
    int         slots, slot_room;
    mcp_scalar *scalar;
    int         scalars, scalar_room;
    int         failed; /* mcp_status */
} mcp_graph;

enum { MCP_GRAPH_NODES = 100000, MCP_GRAPH_SLOTS = 4096, MCP_GRAPH_NETS = 64, MCP_GRAPH_PARAMS = 4096 };

mcp_status mcp_graph_init(mcp_graph *g);
void       mcp_graph_free(mcp_graph *g);
int        mcp_graph_const(mcp_graph *g, double value);
int        mcp_graph_leaf(mcp_graph *g, mcp_op op, int a, int b);
/* With folding and simplification; b is ignored for unary operations. */
int mcp_graph_op(mcp_graph *g, mcp_op op, int a, int b);
int mcp_graph_net(mcp_graph *g, const mcp_net *net); /* index of the equal or new net */
int mcp_graph_slot(mcp_graph *g, const char *name, int start, int next);
int mcp_graph_prev(mcp_graph *g, int x);
int mcp_graph_scalar(mcp_graph *g, const char *name, double start);

/* The value of one operation, through libm: constant folding and the one-sample run. */
double mcp_op_value(mcp_op op, double a, double b);
/* Word for listings and messages: "+", "sin", .. */
const char *mcp_op_word(mcp_op op);

/* Makes room for one more element. */
int mcp_grow(void **array, int count, int *room, int size);

#endif
