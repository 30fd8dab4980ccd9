/* compile.c - graph to program: keep what outputs and memory need, number registers, lay out theta, sums and
 * tape. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "math/arena.h"
#include "program/builder.h"
#include "program/code.h"

typedef struct {
    const mcp_builder *b;
    const mcp_graph   *g;
    mcp_program       *p;
    char              *need[2]; /* per node and list */
    int               *reg;     /* node -> register, -1 */
    int               *net;     /* graph net -> program net, -1 */
    int               *param;   /* graph scalar -> position in theta, -1 */
} compiler;

/* At the first sample memory is its start. */
static int resolve(const compiler *c, int first, int node)
{
    while (first && c->g->node[node].op == OP_MEMORY) node = c->g->slot[c->g->node[node].a].start;
    return node;
}

/* Operands have smaller numbers than users, so one sweep from the end marks all that is needed. */
static void mark(compiler *c, int first)
{
    const mcp_graph *g    = c->g;
    char            *need = c->need[first];
    for (int i = 0; i < c->b->outputs; i++) need[resolve(c, first, c->b->output[i].node)] = 1;
    for (int i = 0; i < g->slots; i++) need[resolve(c, first, g->slot[i].next)] = 1;
    for (int i = g->nodes - 1; i >= 0; i--) {
        const mcp_node *n = &g->node[i];
        if (!need[i]) continue;
        if (mcp_op_binary(n->op) || mcp_op_unary(n->op)) need[resolve(c, first, n->a)] = 1;
        if (mcp_op_binary(n->op)) need[resolve(c, first, n->b)] = 1;
        if (n->op == OP_NET)
            for (int k = 0; k < g->net[n->a].features; k++)
                need[resolve(c, first, g->net[n->a].feature[k])] = 1;
    }
}

static int needed(const compiler *c, int node)
{
    return c->need[0][node] || c->need[1][node];
}

/* theta: groups in the order in which params and nets appear in the text. */
static mcp_param_group *add_group(mcp_program *p, mcp_param_kind kind, int rows, int cols, int node,
                                  int layer)
{
    mcp_param_group *g = &p->group[p->groups];
    *g = (mcp_param_group){.name = p->group_name[p->groups],
                           .kind = kind,
                           .offset = p->params,
                           .count = rows * cols,
                           .rows = rows,
                           .cols = cols,
                           .node = node,
                           .layer = layer};
    p->groups++;
    p->params += rows * cols;
    return g;
}

static void name_group(mcp_program *p, const mcp_param_group *g, int number, const char *part, int layer)
{
    char       *name = p->group_name[g - p->group];
    const mcp_net *net = &p->net[g->node].net;
    const char    *kind = net->kind == MCP_NET_RBF ? "rbf" : net->layers ? "mlp" : "linear";
    if (layer) snprintf(name, sizeof *p->group_name, "%s%d.%s%d", kind, number, part, layer);
    else snprintf(name, sizeof *p->group_name, "%s%d.%s", kind, number, part);
}

static void add_rbf(mcp_program *p, int i, int number)
{
    mcp_net_code *n = &p->net[i];
    int           bases = n->net.units[0], D = n->net.features, K = n->net.outputs;
    name_group(p, add_group(p, MCP_RBF_WEIGHTS, K, bases, i, 0), number, "weights", 0);
    name_group(p, add_group(p, MCP_RBF_CENTRES, bases, D, i, 0), number, "centres", 0);
    name_group(p, add_group(p, MCP_RBF_LOG_LENGTHS, 1, D, i, 0), number, "log_lengths", 0);
    n->padded     = mcp_round_lanes(bases);
    n->activation = p->activations;
    p->activations += n->padded;
    n->table = p->table;
    p->table += mcp_round_lanes(2 * D + (1 + 2 * D + K) * n->padded / 2);
    p->sums += (K + 1 + D) * n->padded + mcp_round_lanes(D);
    n->tape_row = p->tape_rows;
    p->tape_rows += D + n->padded; /* enough for both precisions */
    size_t fixed = (size_t)n->padded * (size_t)(D + K + MCP_LANES);
    if (p->net_scratch < fixed) p->net_scratch = fixed;
}

static void add_mlp(mcp_program *p, int i, int number)
{
    mcp_net_code *n    = &p->net[i];
    int           wide = n->net.features, before = wide;
    n->tape_row        = p->tape_rows;
    for (int l = 0; l <= n->net.layers; l++) {
        int units = l < n->net.layers ? n->net.units[l] : n->net.outputs;
        int which = n->net.layers ? l + 1 : 0;
        name_group(p, add_group(p, MCP_MLP_WEIGHTS, units, before, i, l), number, "weights", which);
        name_group(p, add_group(p, MCP_MLP_BIASES, units, 1, i, l), number, "biases", which);
        if (l < n->net.layers) p->tape_rows += units;
        if (wide < units) wide = units;
        before = units;
    }
    p->sums += mcp_round_lanes(p->params - n->theta);
    if (p->net_scratch_rows < 2 * wide) p->net_scratch_rows = 2 * wide;
    if (p->net_work < 2 * (size_t)wide) p->net_work = 2 * (size_t)wide;
}

static void lay_out_nets(compiler *c)
{
    mcp_program *p = c->p;
    int          rbfs = 0, mlps = 0, linears = 0;
    p->tape_rows = p->rows;
    for (int i = 0; i < p->nets; i++) {
        p->net[i].theta = p->params;
        p->net[i].group = p->groups;
        p->net[i].sums  = p->sums;
        if (p->net[i].net.kind == MCP_NET_RBF) add_rbf(p, i, ++rbfs);
        else add_mlp(p, i, p->net[i].net.layers ? ++mlps : ++linears);
        if (p->net_work < (size_t)p->net[i].net.features) p->net_work = (size_t)p->net[i].net.features;
    }
    p->net_work += MCP_NET_FEATURES;
}

static void find_params_and_nets(compiler *c)
{
    const mcp_graph *g = c->g;
    mcp_program     *p = c->p;
    for (int i = 0; i < g->nets; i++) c->net[i] = -1;
    for (int i = 0; i < g->scalars; i++) c->param[i] = -1;
    for (int i = 0; i < g->nodes; i++) {
        const mcp_node *n = &g->node[i];
        if (!needed(c, i)) continue;
        if (n->op == OP_PARAM) {
            mcp_param_group *s = add_group(p, MCP_PARAM_SCALAR, 1, 1, -1, 0);
            s->start           = g->scalar[n->a].start;
            snprintf(p->group_name[s - p->group], sizeof *p->group_name, "%s", g->scalar[n->a].name);
            c->param[n->a] = s->offset;
        } else if (n->op == OP_NET && c->net[n->a] < 0) {
            c->net[n->a]          = p->nets;
            p->net[p->nets++].net = g->net[n->a];
        }
    }
    p->scalars = p->params; /* scalar params first, so that sum i is that of theta[i] */
    p->sums    = mcp_round_lanes(p->scalars);
}

/* Registers: inputs and memory where the caller has them, the rest on the tape; outputs of a net in a run of
 * rows. */
static void number_registers(compiler *c)
{
    const mcp_graph *g = c->g;
    mcp_program     *p = c->p;
    for (int i = 0; i < p->nets; i++) {
        p->net[i].out_row = p->rows;
        p->rows += p->net[i].net.outputs;
    }
    for (int i = 0; i < g->nodes; i++) {
        const mcp_node *n = &g->node[i];
        c->reg[i]         = -1;
        if (!needed(c, i)) continue;
        mcp_reg *r = &p->reg[p->regs];
        c->reg[i]  = p->regs++;
        *r         = (mcp_reg){.op = n->op, .space = SPACE_TAPE, .value = n->value, .index = n->a};
        if (n->op == OP_INPUT || n->op == OP_MEMORY) {
            r->space = n->op == OP_INPUT ? SPACE_INPUT : SPACE_MEMORY;
            r->row   = n->a;
        } else if (n->op == OP_NET) {
            r->index = c->net[n->a];
            r->row   = p->net[r->index].out_row + n->b;
        } else {
            if (n->op == OP_PARAM) r->index = c->param[n->a];
            r->row = p->rows++;
        }
    }
}

static int partner(const compiler *c, int first, int i, mcp_op other)
{
    for (int j = 0; j < c->g->nodes; j++)
        if (c->need[first][j] && c->g->node[j].op == other &&
            resolve(c, first, c->g->node[j].a) == resolve(c, first, c->g->node[i].a))
            return c->reg[j];
    return -1;
}

static void emit(compiler *c, int first)
{
    const mcp_graph *g = c->g;
    mcp_program     *p = c->p;
    char             done[MCP_GRAPH_NETS] = {0};
    for (int i = 0; i < g->nodes; i++) {
        const mcp_node *n = &g->node[i];
        mcp_instr       in = {.op = n->op, .r = c->reg[i], .a = -1, .b = -1};
        if (!c->need[first][i] || n->op == OP_INPUT || n->op == OP_MEMORY) continue;
        if (n->op == OP_NET) {
            in.a = c->net[n->a];
            if (done[in.a]) continue;
            done[in.a] = 1;
            for (int k = 0; k < g->net[n->a].features; k++)
                p->net[in.a].feature[first][k] = c->reg[resolve(c, first, g->net[n->a].feature[k])];
        }
        if (mcp_op_binary(n->op) || mcp_op_unary(n->op)) in.a = c->reg[resolve(c, first, n->a)];
        if (mcp_op_binary(n->op)) in.b = c->reg[resolve(c, first, n->b)];
        if (n->op == OP_SIN) in.b = partner(c, first, i, OP_COS);
        if (n->op == OP_COS) in.b = partner(c, first, i, OP_SIN);
        if (n->op == OP_SINH) in.b = partner(c, first, i, OP_COSH);
        if (n->op == OP_COSH) in.b = partner(c, first, i, OP_SINH);
        p->list[first][p->count[first]++] = in;
    }
    for (int i = 0; i < p->outputs; i++) p->out[first][i] = c->reg[resolve(c, first, c->b->output[i].node)];
    for (int i = 0; i < p->slots; i++) p->next[first][i] = c->reg[resolve(c, first, g->slot[i].next)];
}

/* A net that only one of the lists runs shows the same features in the other. */
static void share_features(mcp_program *p)
{
    for (int first = 0; first < 2; first++)
        for (int i = 0; i < p->nets; i++) {
            int runs = 0;
            for (int k = 0; k < p->count[first]; k++)
                runs |= p->list[first][k].op == OP_NET && p->list[first][k].a == i;
            if (!runs)
                memcpy(p->net[i].feature[first], p->net[i].feature[!first], sizeof p->net[i].feature[0]);
        }
}

static int allocate(compiler *c)
{
    const mcp_graph *g = c->g;
    mcp_program     *p = c->p;
    size_t nodes = (size_t)g->nodes, groups = (size_t)g->scalars + (size_t)g->nets * 2 * (MCP_NET_LAYERS + 1);
    p->inputs  = c->b->inputs;
    p->outputs = c->b->outputs;
    p->slots   = g->slots;
    p->reg         = mcp_calloc(nodes, sizeof *p->reg);
    p->net         = mcp_calloc((size_t)g->nets, sizeof *p->net);
    p->group       = mcp_calloc(groups, sizeof *p->group);
    p->group_name  = mcp_calloc(groups, sizeof *p->group_name);
    p->input_name  = mcp_calloc((size_t)p->inputs, sizeof *p->input_name);
    p->output_name = mcp_calloc((size_t)p->outputs, sizeof *p->output_name);
    p->slot_name   = mcp_calloc((size_t)p->slots, sizeof *p->slot_name);
    int ok = p->reg && p->net && p->group && p->group_name && p->input_name && p->output_name && p->slot_name;
    for (int k = 0; k < 2; k++) {
        c->need[k] = mcp_calloc(nodes, 1);
        p->list[k] = mcp_calloc(nodes, sizeof *p->list[k]);
        p->out[k]  = mcp_calloc((size_t)p->outputs, sizeof *p->out[k]);
        p->next[k] = mcp_calloc((size_t)p->slots, sizeof *p->next[k]);
        ok         = ok && c->need[k] && p->list[k] && p->out[k] && p->next[k];
    }
    p->start = mcp_calloc((size_t)p->slots, sizeof *p->start);
    c->reg   = mcp_calloc(nodes, sizeof *c->reg);
    c->net   = mcp_calloc((size_t)g->nets, sizeof *c->net);
    c->param = mcp_calloc((size_t)g->scalars, sizeof *c->param);
    return ok && p->start && c->reg && c->net && c->param;
}

static void copy_names(compiler *c)
{
    mcp_program *p = c->p;
    for (int i = 0; i < p->inputs; i++) memcpy(p->input_name[i], c->b->input[i].name, sizeof *p->input_name);
    for (int i = 0; i < p->outputs; i++)
        memcpy(p->output_name[i], c->b->output[i].name, sizeof *p->output_name);
    for (int i = 0; i < p->slots; i++) memcpy(p->slot_name[i], c->g->slot[i].name, sizeof *p->slot_name);
}

/* The largest sizes that keep every product of sizes far from overflow. */
enum { PARAMS_MOST = 4000000 };

static mcp_status check_sizes(const mcp_builder *b, mcp_error *err)
{
    const mcp_graph *g = &b->graph;
    double           params = 0;
    for (int i = 0; i < g->slots; i++)
        if (g->slot[i].next < 0)
            return mcp_fail(err, MCP_ERR_TASK, "memory slot '%s' has no next value", g->slot[i].name);
    for (int i = 0; i < g->nets; i++) {
        const mcp_net *n = &g->net[i];
        double         before = n->features;
        if (n->kind == MCP_NET_RBF) params += (double)n->units[0] * (n->features + n->outputs);
        else for (int l = 0; l <= n->layers; l++) {
                double units = l < n->layers ? n->units[l] : n->outputs;
                params += units * (before + 1);
                before = units;
            }
    }
    if (params > PARAMS_MOST)
        return mcp_fail(err, MCP_ERR_TASK, "the nets have %.0f parameters: at most %d", params, PARAMS_MOST);
    return MCP_OK;
}

mcp_status mcp_builder_finish(mcp_builder *b, mcp_program **out, mcp_error *err)
{
    *out          = NULL;
    mcp_status st = check_sizes(b, err);
    if (st != MCP_OK) return st;
    compiler c = {.b = b, .g = &b->graph, .p = mcp_calloc(1, sizeof(mcp_program))};
    if (c.p && allocate(&c)) {
        mark(&c, 0);
        mark(&c, 1);
        find_params_and_nets(&c);
        number_registers(&c);
        lay_out_nets(&c);
        emit(&c, 0);
        emit(&c, 1);
        for (int i = 0; i < c.p->slots; i++) c.p->start[i] = c.reg[resolve(&c, 1, c.g->slot[i].start)];
        share_features(c.p);
        copy_names(&c);
        *out = c.p;
    } else {
        mcp_program_free(c.p);
        st = mcp_fail(err, MCP_ERR_MEMORY, "out of memory for a program of %d operations", b->graph.nodes);
    }
    mcp_free(c.need[0]);
    mcp_free(c.need[1]);
    mcp_free(c.reg);
    mcp_free(c.net);
    mcp_free(c.param);
    return st;
}

void mcp_program_free(mcp_program *p)
{
    if (!p) return;
    for (int k = 0; k < 2; k++) {
        mcp_free(p->list[k]);
        mcp_free(p->out[k]);
        mcp_free(p->next[k]);
    }
    mcp_free(p->start);
    mcp_free(p->reg);
    mcp_free(p->net);
    mcp_free(p->group);
    mcp_free(p->group_name);
    mcp_free(p->input_name);
    mcp_free(p->output_name);
    mcp_free(p->slot_name);
    mcp_free(p);
}
