/* print_py.c - a program as a Python class, from templates/program.py.in: standard library only, one
 * statement per register, in the order of the one-sample run. */
#include <stdio.h>
#include <string.h>

#include "embedded.h"
#include "program/print_parts.h"

typedef struct {
    mcp_printer q;
    mcp_text    t; /* the statement under way */
} printer;

static void add_value(printer *w, int r)
{
    mcp_print_value(&w->q, &w->t, r);
}

static void add_call(printer *w, const char *head, int a, int b)
{
    mcp_text_add(&w->t, "%s", head);
    add_value(w, a);
    if (b >= 0) {
        mcp_text_add(&w->t, ", ");
        add_value(w, b);
    }
    mcp_text_add(&w->t, ")");
}

static void add_infix(printer *w, const char *head, int a, const char *sign, int b, const char *tail)
{
    mcp_text_add(&w->t, "%s", head);
    add_value(w, a);
    mcp_text_add(&w->t, " %s ", sign);
    add_value(w, b);
    mcp_text_add(&w->t, "%s", tail);
}

static void add_operation(printer *w, const mcp_instr *s)
{
    char head[48];
    switch (s->op) {
    case OP_ADD:
    case OP_SUB:
    case OP_MUL: add_infix(w, "", s->a, mcp_op_word(s->op), s->b, ""); break;
    case OP_DIV: add_call(w, "_div(", s->a, s->b); break;
    case OP_LT:
    case OP_LE:
    case OP_EQ:
    case OP_NE: add_infix(w, "float(", s->a, mcp_op_word(s->op), s->b, ")"); break;
    case OP_AND: add_infix(w, "float(", s->a, "!= 0 and", s->b, " != 0)"); break;
    case OP_OR: add_infix(w, "float(", s->a, "!= 0 or", s->b, " != 0)"); break;
    case OP_NOT: add_call(w, "float(0 == ", s->a, -1); break;
    case OP_NEG: add_call(w, "-(", s->a, -1); break;
    case OP_MIN: add_call(w, "_min(", s->a, s->b); break;
    case OP_MAX: add_call(w, "_max(", s->a, s->b); break;
    case OP_SIGN: add_call(w, "_sign(", s->a, -1); break;
    case OP_ABS: add_call(w, "abs(", s->a, -1); break;
    case OP_SIGMOID:
        add_call(w, "1 / (1 + _safe(math.exp, -", s->a, -1);
        mcp_text_add(&w->t, ")");
        break;
    case OP_ATAN2: add_call(w, "math.atan2(", s->a, s->b); break;
    case OP_POW: add_call(w, "_pow(", s->a, s->b); break;
    case OP_LOG: add_call(w, "_log(", s->a, -1); break;
    case OP_SINH: add_call(w, "_sinh(", s->a, -1); break;
    default:
        snprintf(head, sizeof head, "_safe(math.%s, ", mcp_op_word(s->op));
        add_call(w, head, s->a, -1);
    }
}

static void add_register(printer *w, int r, char *called)
{
    const mcp_program *p = w->q.p;
    const mcp_reg     *g = &p->reg[r];
    if (g->op == OP_CONST) return;
    if (g->op == OP_NET && !called[g->index]) {
        const mcp_net_code *net = &p->net[g->index];
        called[g->index] = 1;
        mcp_text_add(&w->t, "y%d = _net%d([", g->index + 1, g->index + 1);
        mcp_print_values(&w->q, &w->t, net->feature[0], net->net.features);
        mcp_text_add(&w->t, "])");
        mcp_print_statement(&w->q, &w->t);
    }
    mcp_text_add(&w->t, "r%d = ", r);
    if (g->op == OP_INPUT) mcp_text_add(&w->t, "inputs[%d]", g->row);
    else if (g->op == OP_MEMORY) {
        mcp_text_add(&w->t, "m[%d] if m is not None else ", g->row);
        add_value(w, p->start[g->row]);
    } else if (g->op == OP_PARAM) mcp_print_number(&w->t, w->q.theta[g->index], 0);
    else if (g->op == OP_NET) mcp_text_add(&w->t, "y%d[%d]", g->index + 1, g->row - p->net[g->index].out_row);
    else add_operation(w, mcp_program_instruction(p, r));
    mcp_print_statement(&w->q, &w->t);
}

static void add_list(printer *w, const char *name, const int *registers, int n)
{
    mcp_text t = {0};
    mcp_print_values(&w->q, &t, registers, n);
    mcp_fields_take(w->q.fields, name, &t);
}

mcp_status mcp_program_print_python(const mcp_program *p, const double *theta, const mcp_print_settings *s,
                                    char **text, mcp_error *err)
{
    printer    w = {.q = {.p = p, .theta = theta}};
    char       called[256] = {0};
    mcp_text   out = {0};
    mcp_status st = mcp_print_check(&w.q, err);
    *text = NULL;
    if (st != MCP_OK) return st;
    if (p->nets > (int)sizeof called)
        return mcp_fail(err, MCP_ERR_ARG, "a program with %d nets is too large to print as Python", p->nets);
    w.q.fields = mcp_fields_create();
    mcp_fields_set(w.q.fields, "P", "%s", s->prefix);
    mcp_fields_set(w.q.fields, "preamble", "%s", s->local ? "" : "yes");
    mcp_print_nets(&w.q);
    for (int r = 0; r < p->regs; r++) add_register(&w, r, called);
    add_list(&w, "next", p->next[0], p->slots);
    add_list(&w, "outputs", p->out[0], p->outputs);
    st = mcp_template_expand(&out, mcp_embed_program_py, w.q.fields, err);
    if (st == MCP_OK) st = mcp_text_take(&out, text, err);
    mcp_text_free(&out);
    mcp_text_free(&w.t);
    mcp_fields_free(w.q.fields);
    return st;
}
