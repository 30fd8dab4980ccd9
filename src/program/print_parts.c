/* print_parts.c - numbers, values and nets for the printers. */
#include "program/print_parts.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "math/number.h"

void mcp_print_number(mcp_text *t, double v, int single)
{
    char s[40];
    if (single) mcp_print(s, sizeof s, "%.9g", (double)(float)v);
    else mcp_print(s, sizeof s, "%.17g", v);
    mcp_text_add(t, "%s%s%s", s, strpbrk(s, ".e") ? "" : ".0", single ? "f" : "");
}

void mcp_print_value(const mcp_printer *w, mcp_text *t, int r)
{
    const mcp_reg *g = &w->p->reg[r];
    if (g->op != OP_CONST) {
        mcp_text_add(t, "r%d", r);
        return;
    }
    mcp_text_add(t, signbit(g->value) ? "(" : "");
    mcp_print_number(t, g->value, w->single);
    mcp_text_add(t, signbit(g->value) ? ")" : "");
}

void mcp_print_values(const mcp_printer *w, mcp_text *t, const int *r, int n)
{
    for (int i = 0; i < n; i++) {
        mcp_text_add(t, i ? ", " : "");
        mcp_print_value(w, t, r[i]);
    }
}

void mcp_print_statement(mcp_printer *w, mcp_text *line)
{
    mcp_fields_take(mcp_fields_row(w->fields, "statement"), "line", line);
}

typedef enum { AS_IT_IS, AS_SCALE } meaning; /* a log length is printed as exp(-v) */

static void add_table(const mcp_printer *w, mcp_fields *net, const char *part, const double *v, int n,
                      meaning m)
{
    enum { EACH_LINE = 6 };
    mcp_fields *f = mcp_fields_row(net, "table");
    mcp_text    t = {0};
    char        upper[24];
    size_t      k = 0;
    for (; part[k] && k + 1 < sizeof upper; k++)
        upper[k] = (char)(part[k] >= 'a' && part[k] <= 'z' ? part[k] - 'a' + 'A' : part[k]);
    upper[k] = '\0';
    mcp_fields_set(f, "part", "%s", part);
    mcp_fields_set(f, "PART", "%s", upper);
    mcp_fields_set(f, "count", "%d", n);
    for (int i = 0; i < n; i++) {
        mcp_print_number(&t, m == AS_SCALE ? exp(-v[i]) : v[i], w->single);
        mcp_text_add(&t, ",%s", i % EACH_LINE < EACH_LINE - 1 && i + 1 < n ? " " : "");
        if (i % EACH_LINE == EACH_LINE - 1 || i + 1 == n)
            mcp_fields_take(mcp_fields_row(f, "line"), "numbers", &t);
    }
}

static void add_rbf(const mcp_printer *w, mcp_fields *f, const mcp_net *net, const double *theta)
{
    const int n = net->units[0], D = net->features, K = net->outputs;
    mcp_fields_set(f, "rbf", "yes");
    mcp_fields_set(f, "bases", "%d", n);
    add_table(w, f, "weight", theta, K * n, AS_IT_IS);
    add_table(w, f, "centre", theta + K * n, n * D, AS_IT_IS);
    add_table(w, f, "scale", theta + K * n + n * D, D, AS_SCALE);
}

static void add_mlp(const mcp_printer *w, mcp_fields *f, const mcp_net *net, const double *theta)
{
    for (int l = 0, before = net->features; l <= net->layers; l++) {
        const int   last = l == net->layers, units = last ? net->outputs : net->units[l];
        mcp_fields *layer = mcp_fields_row(f, "layer");
        char        part[24];
        snprintf(part, sizeof part, "weight%d", l + 1);
        add_table(w, f, part, theta, units * before, AS_IT_IS);
        snprintf(part, sizeof part, "bias%d", l + 1);
        add_table(w, f, part, theta + units * before, units, AS_IT_IS);
        mcp_fields_set(layer, "l", "%d", l + 1);
        mcp_fields_set(layer, "units", "%d", units);
        mcp_fields_set(layer, "before", "%d", before);
        mcp_fields_set(layer, "hidden", "%s", last ? "" : "yes");
        if (l) mcp_fields_set(layer, "from", "h%d", l);
        else mcp_fields_set(layer, "from", "f");
        if (last) mcp_fields_set(layer, "to", "y");
        else mcp_fields_set(layer, "to", "h%d", l + 1);
        theta += units * (before + 1);
        before = units;
    }
}

void mcp_print_nets(mcp_printer *w)
{
    for (int i = 0; i < w->p->nets; i++) {
        const mcp_net *net = &w->p->net[i].net;
        const double  *theta = w->theta + w->p->net[i].theta;
        mcp_fields    *f = mcp_fields_row(w->fields, "net");
        mcp_fields_set(f, "id", "%d", i + 1);
        mcp_fields_set(f, "outputs", "%d", net->outputs);
        mcp_fields_set(f, "features", "%d", net->features);
        if (net->kind == MCP_NET_RBF) add_rbf(w, f, net, theta);
        else add_mlp(w, f, net, theta);
    }
}

mcp_status mcp_print_check(const mcp_printer *w, mcp_error *err)
{
    for (int g = 0; w->theta && g < w->p->groups; g++)
        for (int k = 0; k < w->p->group[g].count; k++) {
            double v = w->theta[w->p->group[g].offset + k];
            if (!isfinite(v) || (w->single && fabs(v) > FLT_MAX))
                return mcp_fail(err, MCP_ERR_NUMERIC,
                                "parameter %d of %s is %g: it cannot be printed as a constant", k + 1,
                                w->p->group[g].name, v);
        }
    for (int r = 0; w->single && r < w->p->regs; r++)
        if (fabs(w->p->reg[r].value) > FLT_MAX)
            return mcp_fail(err, MCP_ERR_NUMERIC,
                            "the constant %g is too large for float: print the program as double",
                            w->p->reg[r].value);
    return MCP_OK;
}

int mcp_program_uses(const mcp_program *p, mcp_op op)
{
    for (int r = 0; r < p->regs; r++)
        if (p->reg[r].op == op) return 1;
    return 0;
}

const mcp_instr *mcp_program_instruction(const mcp_program *p, int r)
{
    for (int first = 0; first < 2; first++)
        for (int k = 0; k < p->count[first]; k++)
            if (p->list[first][k].r == r) return &p->list[first][k];
    return NULL;
}
