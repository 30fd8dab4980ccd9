/* print_py.c - a program as a Python class: nothing beyond the standard library, one statement per register,
 * in the order of the one-sample run. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "math/number.h"
#include "math/text.h"
#include "program/code.h"

typedef struct {
    const mcp_program *p;
    const double      *theta;
    mcp_text           t;
} printer;

static void add_number(printer *w, double v)
{
    char        s[40];
    const char *point = "";
    if (isnan(v)) snprintf(s, sizeof s, "math.nan");
    else if (isinf(v)) snprintf(s, sizeof s, v > 0 ? "math.inf" : "-math.inf");
    else {
        mcp_print(s, sizeof s, "%.17g", v);
        if (!strpbrk(s, ".e")) point = ".0";
    }
    mcp_text_add(&w->t, "%s%s", s, point);
}

static void add_value(printer *w, int r)
{
    const mcp_reg *g = &w->p->reg[r];
    if (g->op != OP_CONST) {
        mcp_text_add(&w->t, "r%d", r);
        return;
    }
    mcp_text_add(&w->t, g->value < 0 ? "(" : "");
    add_number(w, g->value);
    mcp_text_add(&w->t, g->value < 0 ? ")" : "");
}

static void add_list(printer *w, const char *name, const double *v, int n)
{
    mcp_text_add(&w->t, "%s = (", name);
    for (int i = 0; i < n; i++) {
        mcp_text_add(&w->t, "%s", i % 6 ? " " : "\n    ");
        add_number(w, v[i]);
        mcp_text_add(&w->t, ",");
    }
    mcp_text_add(&w->t, "\n)\n");
}

static void add_rbf(printer *w, int i)
{
    const mcp_net *net = &w->p->net[i].net;
    const double  *theta = w->theta + w->p->net[i].theta;
    int            n = net->units[0], D = net->features, K = net->outputs, id = i + 1;
    char           name[32];
    snprintf(name, sizeof name, "_NET%d_WEIGHT", id);
    add_list(w, name, theta, K * n);
    snprintf(name, sizeof name, "_NET%d_CENTRE", id);
    add_list(w, name, theta + K * n, n * D);
    snprintf(name, sizeof name, "_NET%d_LOG_LENGTH", id);
    add_list(w, name, theta + K * n + n * D, D);
    mcp_text_add(&w->t,
                 "_NET%d_SCALE = tuple(math.exp(-v) for v in _NET%d_LOG_LENGTH)\n\n\n"
                 "def _net%d(f):\n"
                 "    y = [0.0] * %d\n"
                 "    for i in range(%d):\n"
                 "        q = 0.0\n"
                 "        for d in range(%d):\n"
                 "            r = (f[d] - _NET%d_CENTRE[i * %d + d]) * _NET%d_SCALE[d]\n"
                 "            q += r * r\n"
                 "        phi = math.exp(-q)\n"
                 "        for k in range(%d):\n"
                 "            y[k] += _NET%d_WEIGHT[k * %d + i] * phi\n"
                 "    return y\n\n\n",
                 id, id, id, K, n, D, id, D, id, K, id, n);
}

static void add_mlp(printer *w, int i)
{
    const mcp_net *net = &w->p->net[i].net;
    const double  *theta = w->theta + w->p->net[i].theta;
    int            id = i + 1;
    mcp_text       body = {0};
    for (int l = 0, before = net->features; l <= net->layers; l++) {
        int  last = l == net->layers, units = last ? net->outputs : net->units[l];
        char name[40];
        snprintf(name, sizeof name, "_NET%d_WEIGHT%d", id, l + 1);
        add_list(w, name, theta, units * before);
        snprintf(name, sizeof name, "_NET%d_BIAS%d", id, l + 1);
        add_list(w, name, theta + units * before, units);
        mcp_text_add(&body,
                     "    f = [%s_NET%d_BIAS%d[k] + sum(_NET%d_WEIGHT%d[k * %d + i] * f[i] for i in "
                     "range(%d))%s for k in range(%d)]\n",
                     last ? "" : "math.tanh(", id, l + 1, id, l + 1, before, before, last ? "" : ")", units);
        theta += units * (before + 1);
        before = units;
    }
    mcp_text_add(&w->t, "\n\ndef _net%d(f):\n%s    return f\n\n\n", id, body.data ? body.data : "");
    w->t.failed |= body.failed;
    mcp_text_free(&body);
}

/* C's answers where Python would raise: infinities and NaN. */
static const char helpers[] =
    "def _div(a, b):\n    try:\n        return a / b\n    except ZeroDivisionError:\n"
    "        return math.nan if a == 0 or a != a else math.copysign(math.inf, a) * math.copysign(1.0, "
    "b)\n\n\n"
    "def _safe(function, *a):\n    try:\n        return function(*a)\n    except OverflowError:\n        "
    "return math.inf\n"
    "    except ValueError:\n        return math.nan\n\n\n"
    "def _min(a, b):\n    return a if a <= b or a != a else b\n\n\n"
    "def _max(a, b):\n    return a if a >= b or a != a else b\n\n\n"
    "def _sign(a):\n    return 1.0 if a > 0 else -1.0 if a < 0 else a\n\n\n";

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
    case OP_POW: add_call(w, "_safe(math.pow, ", s->a, s->b); break;
    default:
        snprintf(head, sizeof head, "_safe(math.%s, ", mcp_op_word(s->op));
        add_call(w, head, s->a, -1);
    }
}

static const mcp_instr *instr_of(const mcp_program *p, int r)
{
    for (int first = 0; first < 2; first++)
        for (int k = 0; k < p->count[first]; k++)
            if (p->list[first][k].r == r) return &p->list[first][k];
    return NULL;
}

static void add_register(printer *w, int r, char *called)
{
    const mcp_program *p = w->p;
    const mcp_reg     *g = &p->reg[r];
    if (g->op == OP_CONST) return;
    if (g->op == OP_NET && !called[g->index]) {
        called[g->index] = 1;
        mcp_text_add(&w->t, "        y%d = _net%d((", g->index + 1, g->index + 1);
        for (int d = 0; d < p->net[g->index].net.features; d++) {
            add_value(w, p->net[g->index].feature[0][d]);
            mcp_text_add(&w->t, ", ");
        }
        mcp_text_add(&w->t, "))\n");
    }
    mcp_text_add(&w->t, "        r%d = ", r);
    if (g->op == OP_INPUT) mcp_text_add(&w->t, "inputs[%d]", g->row);
    else if (g->op == OP_MEMORY) {
        mcp_text_add(&w->t, "m[%d] if m else ", g->row);
        add_value(w, p->start[g->row]);
    } else if (g->op == OP_PARAM) add_number(w, w->theta[g->index]);
    else if (g->op == OP_NET) mcp_text_add(&w->t, "y%d[%d]", g->index + 1, g->row - p->net[g->index].out_row);
    else add_operation(w, instr_of(p, r));
    mcp_text_add(&w->t, "\n");
}

static void add_registers(printer *w, const int *registers, int n)
{
    mcp_text_add(&w->t, "[");
    for (int i = 0; i < n; i++) {
        mcp_text_add(&w->t, i ? ", " : "");
        add_value(w, registers[i]);
    }
    mcp_text_add(&w->t, "]\n");
}

mcp_status mcp_program_print_python(const mcp_program *p, const double *theta, char **text, mcp_error *err)
{
    printer w = {.p = p, .theta = theta};
    char    called[256] = {0};
    *text = NULL;
    if (p->nets > (int)sizeof called)
        return mcp_fail(err, MCP_ERR_ARG, "a program with %d nets is too large to print as Python", p->nets);
    mcp_text_add(&w.t, "import math\n\n");
    for (int i = 0; i < p->nets; i++) {
        if (p->net[i].net.kind == MCP_NET_RBF) add_rbf(&w, i);
        else add_mlp(&w, i);
    }
    mcp_text_add(&w.t,
                 "%sclass Program:\n    \"\"\"One call of step per sample, after one of reset.\"\"\"\n\n    "
                 "def __init__(self):\n        self.reset()\n\n"
                 "    def reset(self):\n        self._memory = None\n\n    def step(self, inputs):\n        "
                 "m = self._memory\n",
                 helpers);
    for (int r = 0; r < p->regs; r++) add_register(&w, r, called);
    mcp_text_add(&w.t, "        self._memory = [0.0] if %d == 0 else ", p->slots);
    add_registers(&w, p->next[0], p->slots);
    mcp_text_add(&w.t, "        return ");
    add_registers(&w, p->out[0], p->outputs);
    return mcp_text_take(&w.t, text, err);
}
