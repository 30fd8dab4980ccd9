/* describe.c - what a program has: sizes, names, parameter groups, and its steps as text. */
#include "math/arena.h"
#include "math/text.h"
#include "program/code.h"

int mcp_program_inputs(const mcp_program *p) { return p->inputs; }
int mcp_program_outputs(const mcp_program *p) { return p->outputs; }
int mcp_program_memory(const mcp_program *p) { return p->slots; }
int mcp_program_params(const mcp_program *p) { return p->params; }
int mcp_program_activations(const mcp_program *p) { return p->activations; }
int mcp_program_groups(const mcp_program *p) { return p->groups; }

const mcp_param_group *mcp_program_group(const mcp_program *p, int i)
{
    return i >= 0 && i < p->groups ? &p->group[i] : NULL;
}

const char *mcp_program_output_name(const mcp_program *p, int i) { return p->output_name[i]; }

static void add_reg(mcp_text *t, const mcp_program *p, int r)
{
    const mcp_reg *g = &p->reg[r];
    if (g->op == OP_INPUT) mcp_text_add(t, "%s", p->input_name[g->row]);
    else if (g->op == OP_MEMORY && p->slot_name[g->row][0]) mcp_text_add(t, "%s", p->slot_name[g->row]);
    else if (g->op == OP_MEMORY) mcp_text_add(t, "prev%d", g->row);
    else if (g->op == OP_CONST) mcp_text_add(t, "%.10g", g->value);
    else if (g->op == OP_PARAM) mcp_text_add(t, "%s", p->group_name[g->index]);
    else mcp_text_add(t, "r%d", r);
}

static void add_net(mcp_text *t, const mcp_program *p, int first, int i)
{
    const mcp_net_code *n = &p->net[i];
    const char         *before = "";
    for (int r = 0; r < p->regs; r++)
        if (p->reg[r].op == OP_NET && p->reg[r].index == i) {
            mcp_text_add(t, "%sr%d", before, r);
            before = ", ";
        }
    mcp_text_add(t, " = %s(", n->net.kind == MCP_NET_RBF ? "rbf" : n->net.layers ? "mlp" : "linear");
    for (int l = 0; l < n->net.layers; l++) mcp_text_add(t, "%s%d", l ? ", " : "", n->net.units[l]);
    for (int d = 0; d < n->net.features; d++) {
        mcp_text_add(t, "%s", d || n->net.layers ? ", " : "");
        add_reg(t, p, n->feature[first][d]);
    }
    mcp_text_add(t, ")\n");
}

static void add_instr(mcp_text *t, const mcp_program *p, int first, const mcp_instr *s)
{
    mcp_text_add(t, "  ");
    if (s->op == OP_NET) {
        add_net(t, p, first, s->a);
        return;
    }
    mcp_text_add(t, "r%d = ", s->r);
    int infix = mcp_op_binary(s->op) && s->op != OP_ATAN2 && s->op != OP_MIN && s->op != OP_MAX;
    if (infix) {
        add_reg(t, p, s->a);
        mcp_text_add(t, " %s ", mcp_op_word(s->op));
        add_reg(t, p, s->b);
    } else {
        mcp_text_add(t, "%s(", mcp_op_word(s->op));
        add_reg(t, p, s->a);
        if (mcp_op_binary(s->op)) {
            mcp_text_add(t, ", ");
            add_reg(t, p, s->b);
        }
        mcp_text_add(t, ")");
    }
    mcp_text_add(t, "\n");
}

static void add_list(mcp_text *t, const mcp_program *p, int first)
{
    for (int k = 0; k < p->count[first]; k++)
        if (p->list[first][k].op != OP_CONST && p->list[first][k].op != OP_PARAM)
            add_instr(t, p, first, &p->list[first][k]);
    for (int i = 0; i < p->outputs; i++) {
        mcp_text_add(t, "  out %s = ", p->output_name[i]);
        add_reg(t, p, p->out[first][i]);
        mcp_text_add(t, "\n");
    }
    for (int i = 0; i < p->slots; i++) {
        if (p->slot_name[i][0]) mcp_text_add(t, "  next %s = ", p->slot_name[i]);
        else mcp_text_add(t, "  next prev%d = ", i);
        add_reg(t, p, p->next[first][i]);
        mcp_text_add(t, "\n");
    }
}

char *mcp_program_listing(const mcp_program *p)
{
    mcp_text t = {0};
    char    *text;
    mcp_text_add(&t, "%d inputs, %d outputs, %d memory slots, %d parameters\n", p->inputs, p->outputs,
                 p->slots, p->params);
    if (p->slots) {
        mcp_text_add(&t, "first sample:\n");
        add_list(&t, p, 1);
        mcp_text_add(&t, "then:\n");
    }
    add_list(&t, p, 0);
    return mcp_text_take(&t, &text, NULL) == MCP_OK ? text : NULL;
}

static void net_cost(const mcp_net *net, mcp_program_cost *c)
{
    long D = net->features, K = net->outputs, before = D;
    if (net->kind == MCP_NET_RBF) {
        long n = net->units[0];
        c->add += n * (2 * D + K);
        c->multiply += n * (2 * D + K);
        c->call += n;
        c->constants += n * (K + D) + D;
        return;
    }
    for (int l = 0; l <= net->layers; l++) {
        long units = l < net->layers ? net->units[l] : K;
        c->add += units * before;
        c->multiply += units * before;
        c->call += l < net->layers ? units : 0;
        c->constants += units * (before + 1);
        before = units;
    }
}

mcp_program_cost mcp_program_cost_of(const mcp_program *p)
{
    mcp_program_cost c = {.state = p->slots};
    for (int k = 0; k < p->count[0]; k++) {
        const mcp_instr *s = &p->list[0][k];
        switch (s->op) {
        case OP_CONST:
        case OP_PARAM: c.constants++; break;
        case OP_NET: net_cost(&p->net[s->a].net, &c); break;
        case OP_ADD:
        case OP_SUB:
        case OP_NEG: c.add++; break;
        case OP_MUL: c.multiply++; break;
        case OP_DIV: c.divide++; break;
        case OP_MIN:
        case OP_MAX:
        case OP_LT:
        case OP_LE:
        case OP_EQ:
        case OP_NE:
        case OP_AND:
        case OP_OR:
        case OP_NOT:
        case OP_ABS:
        case OP_SIGN: c.compare++; break;
        case OP_SIGMOID:
            c.add++;
            c.divide++;
            c.call++;
            break;
        default: c.call++;
        }
    }
    return c;
}
