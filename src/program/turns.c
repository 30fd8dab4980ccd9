/* turns.c - what a program does with whole turns of an angle that it reads.
 *
 * Add a turn to one input and k_m turns to memory slot m. Register r then moves by k_r turns: k is linear in
 * sums, differences and products with constants, 0 behind sin, cos and tan of whole turns, and does not exist
 * (NaN) behind anything else that sees the turn. A slot has its k_m when its start and its next value both
 * move by it. */
#include <math.h>
#include <string.h>

#include "math/arena.h"
#include "program/print_parts.h"

static int same(double a, double b)
{
    return fabs(a - b) <= 1e-12;
}

static double of_product(const mcp_program *p, const double *k, int a, int b)
{
    if (k[a] == 0.0 && k[b] == 0.0) return 0.0;
    if (p->reg[a].op == OP_CONST) return p->reg[a].value * k[b];
    if (p->reg[b].op == OP_CONST) return k[a] * p->reg[b].value;
    return NAN;
}

static double of_operation(const mcp_program *p, const double *k, const mcp_instr *s)
{
    const double a = k[s->a], b = mcp_op_binary(s->op) ? k[s->b] : 0.0;
    switch (s->op) {
    case OP_ADD: return a + b;
    case OP_SUB: return a - b;
    case OP_NEG: return -a;
    case OP_MUL: return of_product(p, k, s->a, s->b);
    case OP_DIV:
        if (a == 0.0 && b == 0.0) return 0.0;
        return p->reg[s->b].op == OP_CONST ? a / p->reg[s->b].value : NAN;
    case OP_MIN:
    case OP_MAX: return same(a, b) ? a : NAN;
    case OP_LT:
    case OP_LE:
    case OP_EQ:
    case OP_NE: return same(a, b) ? 0.0 : NAN;
    case OP_SIN:
    case OP_COS:
    case OP_TAN: return same(a, floor(a + 0.5)) ? 0.0 : NAN;
    default: return a == 0.0 && b == 0.0 ? 0.0 : NAN;
    }
}

static double of_net(const mcp_net_code *net, const double *k)
{
    for (int d = 0; d < net->net.features; d++)
        if (k[net->feature[0][d]] != 0.0) return NAN;
    return 0.0;
}

mcp_status mcp_program_turns(const mcp_program *p, int input, double *slot, double *output, mcp_error *err)
{
    double *k = mcp_calloc((size_t)p->regs + 1, sizeof *k);
    if (!k) return mcp_fail(err, MCP_ERR_MEMORY, "out of memory for the turns of a program");
    for (int r = 0; r < p->regs; r++) {
        const mcp_reg   *g = &p->reg[r];
        const mcp_instr *s = NULL;
        if (g->op == OP_CONST || g->op == OP_PARAM) k[r] = 0.0;
        else if (g->op == OP_INPUT) k[r] = g->row == input;
        else if (g->op == OP_MEMORY) k[r] = p->start[g->row] >= 0 ? k[p->start[g->row]] : 0.0;
        else if (g->op == OP_NET) k[r] = of_net(&p->net[g->index], k);
        else k[r] = (s = mcp_program_instruction(p, r)) ? of_operation(p, k, s) : NAN;
    }
    for (int m = 0; m < p->slots; m++) {
        slot[m] = p->start[m] >= 0 ? k[p->start[m]] : 0.0;
        if (p->start[m] >= 0 && !same(slot[m], k[p->next[0][m]])) slot[m] = NAN;
    }
    for (int i = 0; i < p->outputs; i++) output[i] = k[p->out[0][i]];
    mcp_free(k);
    return MCP_OK;
}

int mcp_program_slot(const mcp_program *p, const char *name)
{
    for (int m = 0; m < p->slots; m++)
        if (!strcmp(p->slot_name[m], name)) return m;
    return -1;
}
