/* print_c.c - a program as C99: tables, helpers, reset and step. One statement per register, in the order of
 * the one-sample run, so that a compiler that does not fuse operations gives the same numbers. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "math/number.h"
#include "math/text.h"
#include "program/code.h"

typedef struct {
    const mcp_program *p;
    const double      *theta;
    const char        *prefix, *real, *f; /* f: suffix of libm functions, "" or "f" */
    int                single;
    mcp_text           t;
} printer;

/* A literal that reads back as the same number. */
static void add_number(printer *w, double v)
{
    char s[40];
    if (w->single) mcp_print(s, sizeof s, "%.9g", (double)(float)v);
    else mcp_print(s, sizeof s, "%.17g", v);
    mcp_text_add(&w->t, "%s%s%s", s, strpbrk(s, ".e") ? "" : ".0", w->f);
}

static void add_value(printer *w, int r)
{
    const mcp_reg *g = &w->p->reg[r];
    if (g->op != OP_CONST) mcp_text_add(&w->t, "r%d", r);
    else if (g->value < 0.0) {
        mcp_text_add(&w->t, "(");
        add_number(w, g->value);
        mcp_text_add(&w->t, ")");
    } else add_number(w, g->value);
}

static void add_table(printer *w, int net, const char *part, const char *shape, const double *v, int n,
                      int exponent)
{
    mcp_text_add(&w->t, "static const %s %s_net%d_%s%s = {", w->real, w->prefix, net + 1, part, shape);
    for (int i = 0; i < n; i++) {
        mcp_text_add(&w->t, "%s", i % 6 ? " " : "\n    ");
        add_number(w, exponent ? exp(-v[i]) : v[i]);
        mcp_text_add(&w->t, ",");
    }
    mcp_text_add(&w->t, "\n};\n");
}

/* y_k = sum_i w_ki exp(-sum_d ((f_d - c_id) s_d)^2) */
static void add_rbf(printer *w, int i)
{
    const mcp_net *net = &w->p->net[i].net;
    const double  *theta = w->theta + w->p->net[i].theta;
    const char    *P = w->prefix, *R = w->real;
    int            n = net->units[0], D = net->features, K = net->outputs, id = i + 1;
    char           shape[40];
    snprintf(shape, sizeof shape, "[%d]", K * n);
    add_table(w, i, "weight", shape, theta, K * n, 0);
    snprintf(shape, sizeof shape, "[%d]", n * D);
    add_table(w, i, "centre", shape, theta + K * n, n * D, 0);
    snprintf(shape, sizeof shape, "[%d]", D);
    add_table(w, i, "scale", shape, theta + K * n + n * D, D, 1);
    mcp_text_add(
        &w->t,
        "\n/* y[k] = sum over i of weight[k][i] exp(-sum over d of ((f[d] - centre[i][d]) scale[d])^2) */\n"
        "static void %s_net%d(const %s *f, %s *y)\n{\n"
        "    int i, d, k;\n"
        "    for (k = 0; k < %d; k++) y[k] = 0;\n"
        "    for (i = 0; i < %d; i++) {\n"
        "        %s q = 0, phi;\n"
        "        for (d = 0; d < %d; d++) {\n"
        "            const %s r = (f[d] - %s_net%d_centre[i * %d + d]) * %s_net%d_scale[d];\n"
        "            q += r * r;\n"
        "        }\n"
        "        phi = exp%s(-q);\n"
        "        for (k = 0; k < %d; k++) y[k] += %s_net%d_weight[k * %d + i] * phi;\n"
        "    }\n}\n\n",
        P, id, R, R, K, n, R, D, R, P, id, D, P, id, w->f, K, P, id, n);
}

/* Layers of tanh units, linear output. */
static void add_mlp(printer *w, int i)
{
    const mcp_net *net = &w->p->net[i].net;
    const double  *theta = w->theta + w->p->net[i].theta;
    const char    *P = w->prefix, *R = w->real;
    int            id = i + 1;
    for (int l = 0, before = net->features; l <= net->layers; l++) {
        int  units = l < net->layers ? net->units[l] : net->outputs;
        char part[40], shape[40];
        snprintf(part, sizeof part, "weight%d", l + 1);
        snprintf(shape, sizeof shape, "[%d]", units * before);
        add_table(w, i, part, shape, theta, units * before, 0);
        snprintf(part, sizeof part, "bias%d", l + 1);
        snprintf(shape, sizeof shape, "[%d]", units);
        add_table(w, i, part, shape, theta + units * before, units, 0);
        theta += units * (before + 1);
        before = units;
    }
    mcp_text_add(&w->t,
                 "\n/* layers of tanh units, then a linear one */\nstatic void %s_net%d(const %s *f, %s "
                 "*y)\n{\n    int i, k;\n",
                 P, id, R, R);
    for (int l = 0; l < net->layers; l++) mcp_text_add(&w->t, "    %s h%d[%d];\n", R, l + 1, net->units[l]);
    for (int l = 0, before = net->features; l <= net->layers; l++) {
        int  last = l == net->layers, units = last ? net->outputs : net->units[l];
        char from[16], to[16];
        snprintf(from, sizeof from, l ? "h%d" : "f", l);
        snprintf(to, sizeof to, last ? "y" : "h%d", l + 1);
        mcp_text_add(&w->t,
                     "    for (k = 0; k < %d; k++) {\n"
                     "        %s sum = %s_net%d_bias%d[k];\n"
                     "        for (i = 0; i < %d; i++) sum += %s_net%d_weight%d[k * %d + i] * %s[i];\n",
                     units, R, P, id, l + 1, before, P, id, l + 1, before, from);
        if (last) mcp_text_add(&w->t, "        %s[k] = sum;\n    }\n", to);
        else mcp_text_add(&w->t, "        %s[k] = tanh%s(sum);\n    }\n", to, w->f);
        before = units;
    }
    mcp_text_add(&w->t, "}\n\n");
}

static int uses(const mcp_program *p, mcp_op op)
{
    for (int r = 0; r < p->regs; r++)
        if (p->reg[r].op == op) return 1;
    return 0;
}

/* Only what is used: an unused static function is a warning. */
static void add_helpers(printer *w)
{
    static const struct {
        mcp_op      op;
        const char *name, *args, *body;
    } helper[] = {
        {OP_MIN, "min", "a, b", "a <= b || a != a ? a : b"},
        {OP_MAX, "max", "a, b", "a >= b || a != a ? a : b"},
        {OP_SIGN, "sign", "a", "a > 0 ? 1 : a < 0 ? -1 : a"},
    };
    for (size_t i = 0; i < sizeof helper / sizeof *helper; i++)
        if (uses(w->p, helper[i].op)) {
            if (mcp_op_binary(helper[i].op))
                mcp_text_add(&w->t, "static %s %s_%s(%s a, %s b)", w->real, w->prefix, helper[i].name,
                             w->real, w->real);
            else mcp_text_add(&w->t, "static %s %s_%s(%s a)", w->real, w->prefix, helper[i].name, w->real);
            mcp_text_add(&w->t, "\n{\n    return %s;\n}\n\n", helper[i].body);
        }
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

static const mcp_instr *instr_of(const mcp_program *p, int r)
{
    for (int first = 0; first < 2; first++)
        for (int k = 0; k < p->count[first]; k++)
            if (p->list[first][k].r == r) return &p->list[first][k];
    return NULL;
}

static int first_output(const mcp_program *p, int r)
{
    for (int k = 0; k < r; k++)
        if (p->reg[k].op == OP_NET && p->reg[k].index == p->reg[r].index) return 0;
    return 1;
}

static void add_net_call(printer *w, int i)
{
    const mcp_net_code *net = &w->p->net[i];
    mcp_text_add(&w->t, "    const %s f%d[%d] = {", w->real, i + 1, net->net.features);
    for (int d = 0; d < net->net.features; d++) {
        mcp_text_add(&w->t, "%s", d ? ", " : "");
        add_value(w, net->feature[0][d]);
    }
    mcp_text_add(&w->t, "};\n    %s y%d[%d];\n    %s_net%d(f%d, y%d);\n", w->real, i + 1, net->net.outputs,
                 w->prefix, i + 1, i + 1, i + 1);
}

/* Statements of one register: a memory slot is its start at the first sample, so operations are those of the
 * later ones. */
static void add_register(printer *w, int r)
{
    const mcp_program *p    = w->p;
    const mcp_reg     *g    = &p->reg[r];
    const char *note = g->op == OP_INPUT   ? p->input_name[g->row]
                       : g->op == OP_PARAM ? p->group_name[g->index]
                                           : NULL;
    if (g->op == OP_CONST) return;
    if (g->op == OP_NET && first_output(p, r)) add_net_call(w, g->index);
    mcp_text_add(&w->t, "    const %s r%d = ", w->real, r);
    if (g->op == OP_INPUT) {
        mcp_text_add(&w->t, "in[%d]", g->row);
    } else if (g->op == OP_MEMORY) {
        mcp_text_add(&w->t, "s->started ? s->mem[%d] : ", g->row);
        add_value(w, p->start[g->row]);
    } else if (g->op == OP_PARAM) {
        add_number(w, w->theta[g->index]);
    } else if (g->op == OP_NET) {
        mcp_text_add(&w->t, "y%d[%d]", g->index + 1, g->row - p->net[g->index].out_row);
    } else {
        add_operation(w, instr_of(p, r));
    }
    mcp_text_add(&w->t, note ? "; /* %s */\n" : ";\n", note);
}

static void add_step(printer *w)
{
    const mcp_program *p = w->p;
    mcp_text_add(&w->t,
                 "void %s_reset(%s_state *s)\n{\n    int i;\n    s->started = 0;\n    for (i = 0; i < %d; "
                 "i++) s->mem[i] = 0;\n}\n\n",
                 w->prefix, w->prefix, p->slots ? p->slots : 1);
    mcp_text_add(&w->t, "void %s_step(%s_state *s, const %s *in, %s *out)\n{\n", w->prefix, w->prefix,
                 w->real, w->real);
    for (int r = 0; r < p->regs; r++) add_register(w, r);
    if (!uses(p, OP_INPUT)) mcp_text_add(&w->t, "    (void)in;\n");
    for (int i = 0; i < p->outputs; i++) {
        mcp_text_add(&w->t, "    out[%d] = ", i);
        add_value(w, p->out[0][i]);
        mcp_text_add(&w->t, "; /* %s */\n", p->output_name[i]);
    }
    if (!p->outputs) mcp_text_add(&w->t, "    (void)out;\n");
    for (int i = 0; i < p->slots; i++) {
        mcp_text_add(&w->t, "    s->mem[%d] = ", i);
        add_value(w, p->next[0][i]);
        mcp_text_add(&w->t, "; /* %s */\n", p->slot_name[i][0] ? p->slot_name[i] : "last sample");
    }
    mcp_text_add(&w->t, "    s->started = 1;\n}\n");
}

static void add_declarations(printer *w)
{
    const mcp_program *p = w->p;
    const char        *P = w->prefix, *R = w->real;
    mcp_text_add(&w->t, "/* One call of %s_step per sample, after one of %s_reset.\n", P, P);
    for (int i = 0; i < p->inputs; i++) mcp_text_add(&w->t, " *   in[%d]  %s\n", i, p->input_name[i]);
    for (int i = 0; i < p->outputs; i++) mcp_text_add(&w->t, " *   out[%d] %s\n", i, p->output_name[i]);
    mcp_text_add(&w->t, " */\ntypedef struct {\n    int started;\n    %s mem[%d];\n} %s_state;\n\n", R,
                 p->slots ? p->slots : 1, P);
    mcp_text_add(&w->t, "void %s_reset(%s_state *s);\nvoid %s_step(%s_state *s, const %s *in, %s *out);\n", P,
                 P, P, P, R, R);
}

static mcp_status check(const printer *w, mcp_error *err)
{
    const char *s = w->prefix;
    size_t      n = s ? strlen(s) : 0, i = 0;
    while (i < n && ((s[i] >= 'a' && s[i] <= 'z') || (s[i] >= 'A' && s[i] <= 'Z') || s[i] == '_' ||
                     (i && s[i] >= '0' && s[i] <= '9')))
        i++;
    if (!n || i < n || n > 40)
        return mcp_fail(err, MCP_ERR_ARG, "the prefix '%.60s' is not a C name of 1 to 40 characters",
                        n ? s : "");
    for (int g = 0; w->theta && g < w->p->groups; g++)
        for (int k = 0; k < w->p->group[g].count; k++) {
            double v = w->theta[w->p->group[g].offset + k];
            if (!isfinite(v) || (w->single && fabs(v) > FLT_MAX))
                return mcp_fail(err, MCP_ERR_NUMERIC,
                                "parameter %d of %s is %g: it cannot be printed as a C constant", k + 1,
                                w->p->group[g].name, v);
        }
    for (int r = 0; w->single && r < w->p->regs; r++)
        if (fabs(w->p->reg[r].value) > FLT_MAX)
            return mcp_fail(err, MCP_ERR_NUMERIC,
                            "the constant %g is too large for float: print the program as double",
                            w->p->reg[r].value);
    return MCP_OK;
}

static printer prepare(const mcp_program *p, const double *theta, const mcp_print_settings *s)
{
    return (printer){.p = p,
                     .theta = theta,
                     .prefix = s->prefix,
                     .real = s->single ? "float" : "double",
                     .f = s->single ? "f" : "",
                     .single = s->single};
}

mcp_status mcp_program_print_c(const mcp_program *p, const double *theta, const mcp_print_settings *s,
                               char **text, mcp_error *err)
{
    printer    w  = prepare(p, theta, s);
    mcp_status st = check(&w, err);
    *text         = NULL;
    if (st != MCP_OK) return st;
    mcp_text_add(&w.t, "#include <math.h>\n\n");
    if (s->include) mcp_text_add(&w.t, "#include \"%s\"\n", s->include);
    else add_declarations(&w);
    mcp_text_add(&w.t, "\n");
    for (int i = 0; i < p->nets; i++) {
        if (p->net[i].net.kind == MCP_NET_RBF) add_rbf(&w, i);
        else add_mlp(&w, i);
    }
    add_helpers(&w);
    add_step(&w);
    return mcp_text_take(&w.t, text, err);
}

mcp_status mcp_program_print_declarations(const mcp_program *p, const mcp_print_settings *s, char **text,
                                          mcp_error *err)
{
    printer    w  = prepare(p, NULL, s);
    mcp_status st = check(&w, err);
    *text         = NULL;
    if (st != MCP_OK) return st;
    add_declarations(&w);
    return mcp_text_take(&w.t, text, err);
}
