/* print_c.c - a program as C99, from templates/program.c.in and .h.in: one statement per register, in the
 * order of the one-sample run, so that a compiler that does not fuse operations gives the same numbers. */
#include <stdio.h>
#include <string.h>

#include "embedded.h"
#include "program/print_parts.h"

typedef struct {
    mcp_printer q;
    const char *prefix, *real, *f; /* f: suffix of libm functions, "" or "f" */
    mcp_text    t;                 /* the statement under way */
} printer;

static void add_value(printer *w, int r)
{
    mcp_print_value(&w->q, &w->t, r);
}

static void add_infix(printer *w, const char *before, int a, const char *sign, int b, const char *after)
{
    mcp_text_add(&w->t, "%s", before);
    add_value(w, a);
    mcp_text_add(&w->t, " %s ", sign);
    add_value(w, b);
    mcp_text_add(&w->t, "%s", after);
}

static void add_call(printer *w, const char *before, const char *name, const char *suffix, int a, int b)
{
    mcp_text_add(&w->t, "%s%s%s(", before, name, suffix);
    add_value(w, a);
    if (b >= 0) {
        mcp_text_add(&w->t, ", ");
        add_value(w, b);
    }
    mcp_text_add(&w->t, ")");
}

static void add_operation(printer *w, const mcp_instr *s)
{
    char one[32];
    switch (s->op) {
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
    case OP_DIV: add_infix(w, "", s->a, mcp_op_word(s->op), s->b, ""); break;
    case OP_LT:
    case OP_LE:
    case OP_EQ:
    case OP_NE:
        snprintf(one, sizeof one, "(%s)(", w->real);
        add_infix(w, one, s->a, mcp_op_word(s->op), s->b, ")");
        break;
    case OP_AND:
    case OP_OR:
        snprintf(one, sizeof one, "(%s)(", w->real);
        add_infix(w, one, s->a, s->op == OP_AND ? "!= 0 &&" : "!= 0 ||", s->b, " != 0)");
        break;
    case OP_NOT:
        mcp_text_add(&w->t, "(%s)(", w->real);
        add_value(w, s->a);
        mcp_text_add(&w->t, " == 0)");
        break;
    case OP_NEG:
        mcp_text_add(&w->t, "-");
        add_value(w, s->a);
        break;
    case OP_MIN: add_call(w, w->prefix, "_min", "", s->a, s->b); break;
    case OP_MAX: add_call(w, w->prefix, "_max", "", s->a, s->b); break;
    case OP_SIGN: add_call(w, w->prefix, "_sign", "", s->a, -1); break;
    case OP_ABS: add_call(w, "", "fabs", w->f, s->a, -1); break;
    case OP_SIGMOID:
        mcp_text_add(&w->t, "1 / (1 + exp%s(-", w->f);
        add_value(w, s->a);
        mcp_text_add(&w->t, "))");
        break;
    case OP_ATAN2: add_call(w, "", "atan2", w->f, s->a, s->b); break;
    case OP_POW: add_call(w, "", "pow", w->f, s->a, s->b); break;
    default: add_call(w, "", mcp_op_word(s->op), w->f, s->a, -1);
    }
}

static int first_output(const mcp_program *p, int r)
{
    for (int k = 0; k < r; k++)
        if (p->reg[k].op == OP_NET && p->reg[k].index == p->reg[r].index) return 0;
    return 1;
}

static void end_statement(printer *w)
{
    mcp_print_statement(&w->q, &w->t);
}

static void add_net_call(printer *w, int i)
{
    const mcp_net_code *net = &w->q.p->net[i];
    mcp_text_add(&w->t, "const %s f%d[%d] = {", w->real, i + 1, net->net.features);
    mcp_print_values(&w->q, &w->t, net->feature[0], net->net.features);
    mcp_text_add(&w->t, "};");
    end_statement(w);
    mcp_text_add(&w->t, "%s y%d[%d];", w->real, i + 1, net->net.outputs);
    end_statement(w);
    mcp_text_add(&w->t, "%s_net%d(f%d, y%d);", w->prefix, i + 1, i + 1, i + 1);
    end_statement(w);
}

/* Statements of one register: a memory slot is its start at the first sample, so operations are those of the
 * later ones. */
static void add_register(printer *w, int r)
{
    const mcp_program *p    = w->q.p;
    const mcp_reg     *g    = &p->reg[r];
    const char        *note = g->op == OP_INPUT   ? p->input_name[g->row]
                              : g->op == OP_PARAM ? p->group_name[g->index]
                                                  : NULL;
    if (g->op == OP_CONST) return;
    if (g->op == OP_NET && first_output(p, r)) add_net_call(w, g->index);
    mcp_text_add(&w->t, "const %s r%d = ", w->real, r);
    if (g->op == OP_INPUT) {
        mcp_text_add(&w->t, "in[%d]", g->row);
    } else if (g->op == OP_MEMORY) {
        mcp_text_add(&w->t, "s->started ? s->mem[%d] : ", g->row);
        add_value(w, p->start[g->row]);
    } else if (g->op == OP_PARAM) {
        mcp_print_number(&w->t, w->q.theta[g->index], w->q.single);
    } else if (g->op == OP_NET) {
        mcp_text_add(&w->t, "y%d[%d]", g->index + 1, g->row - p->net[g->index].out_row);
    } else {
        add_operation(w, mcp_program_instruction(p, r));
    }
    mcp_text_add(&w->t, note ? "; /* %s */" : ";", note);
    end_statement(w);
}

static void add_result(printer *w, const char *to, int i, int r, const char *note)
{
    mcp_text_add(&w->t, "%s[%d] = ", to, i);
    add_value(w, r);
    mcp_text_add(&w->t, "; /* %s */", note);
    end_statement(w);
}

static void add_statements(printer *w)
{
    const mcp_program *p = w->q.p;
    for (int r = 0; r < p->regs; r++) add_register(w, r);
    if (!mcp_program_uses(p, OP_INPUT)) {
        mcp_text_add(&w->t, "(void)in;");
        end_statement(w);
    }
    for (int i = 0; i < p->outputs; i++) add_result(w, "out", i, p->out[0][i], p->output_name[i]);
    if (!p->outputs) {
        mcp_text_add(&w->t, "(void)out;");
        end_statement(w);
    }
    for (int i = 0; i < p->slots; i++)
        add_result(w, "s->mem", i, p->next[0][i], p->slot_name[i][0] ? p->slot_name[i] : "last sample");
}

static void add_names(mcp_fields *f, const char *list, int n, char (*name)[64])
{
    for (int i = 0; i < n; i++) {
        mcp_fields *row = mcp_fields_row(f, list);
        mcp_fields_set(row, "i", "%d", i);
        mcp_fields_set(row, "name", "%s", name[i]);
    }
}

static mcp_status check(const printer *w, mcp_error *err)
{
    const char *s = w->prefix;
    size_t      n = s ? strlen(s) : 0, i = 0;
    while (i < n && ((s[i] >= 'a' && s[i] <= 'z') || (s[i] >= 'A' && s[i] <= 'Z') || s[i] == '_' ||
                     (i && s[i] >= '0' && s[i] <= '9')))
        i++;
    if (!n || i < n || n > 60)
        return mcp_fail(err, MCP_ERR_ARG, "the prefix '%.60s' is not a C name of 1 to 60 characters",
                        n ? s : "");
    return mcp_print_check(&w->q, err);
}

static printer prepare(const mcp_program *p, const double *theta, const mcp_print_settings *s)
{
    printer w = {.q = {.p = p, .theta = theta, .single = s->single, .fields = mcp_fields_create()},
                 .prefix = s->prefix,
                 .real = s->single ? "float" : "double",
                 .f = s->single ? "f" : ""};
    mcp_fields *f = w.q.fields;
    mcp_fields_set(f, "P", "%s", s->prefix ? s->prefix : "");
    mcp_fields_set(f, "real", "%s", w.real);
    mcp_fields_set(f, "f", "%s", w.f);
    mcp_fields_set(f, "static", "%s", s->local ? "static " : "");
    mcp_fields_set(f, "include", "%s", s->include ? s->include : "");
    mcp_fields_set(f, "slots", "%d", p->slots ? p->slots : 1);
    add_names(f, "input", p->inputs, p->input_name);
    add_names(f, "output", p->outputs, p->output_name);
    return w;
}

mcp_status mcp_program_print_c(const mcp_program *p, const double *theta, const mcp_print_settings *s,
                               char **text, mcp_error *err)
{
    printer    w  = prepare(p, theta, s);
    mcp_text   out = {0}, declarations = {0};
    mcp_status st = check(&w, err);
    *text         = NULL;
    if (st == MCP_OK && !s->include) {
        st = mcp_template_expand(&declarations, mcp_embed_program_h, w.q.fields, err);
        while (declarations.length && declarations.data[declarations.length - 1] == '\n')
            declarations.data[--declarations.length] = '\0';
    }
    if (st == MCP_OK) {
        mcp_fields_take(w.q.fields, "declarations", &declarations);
        mcp_print_nets(&w.q);
        mcp_fields_set(w.q.fields, "min", "%s", mcp_program_uses(p, OP_MIN) ? "yes" : "");
        mcp_fields_set(w.q.fields, "max", "%s", mcp_program_uses(p, OP_MAX) ? "yes" : "");
        mcp_fields_set(w.q.fields, "sign", "%s", mcp_program_uses(p, OP_SIGN) ? "yes" : "");
        add_statements(&w);
        st = mcp_template_expand(&out, mcp_embed_program_c, w.q.fields, err);
    }
    if (st == MCP_OK) st = mcp_text_take(&out, text, err);
    mcp_text_free(&declarations);
    mcp_text_free(&out);
    mcp_text_free(&w.t);
    mcp_fields_free(w.q.fields);
    return st;
}

mcp_status mcp_program_print_declarations(const mcp_program *p, const mcp_print_settings *s, char **text,
                                          mcp_error *err)
{
    printer    w  = prepare(p, NULL, s);
    mcp_text   out = {0};
    mcp_status st = check(&w, err);
    *text         = NULL;
    if (st == MCP_OK) st = mcp_template_expand(&out, mcp_embed_program_h, w.q.fields, err);
    if (st == MCP_OK) st = mcp_text_take(&out, text, err);
    mcp_text_free(&out);
    mcp_fields_free(w.q.fields);
    return st;
}
