/* call.c - names and calls of an expression: functions with a fixed number of arguments, clamp, prev, param,
 * rbf, mlp, linear. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "program/edit_distance.h"
#include "program/parser.h"

/* functions with a fixed number of arguments */
static const struct {
    const char *name;
    mcp_op      op;
    int         args;
} functions[] = {
    {"sin", OP_SIN, 1},   {"cos", OP_COS, 1},     {"tan", OP_TAN, 1},         {"asin", OP_ASIN, 1},
    {"acos", OP_ACOS, 1}, {"atan", OP_ATAN, 1},   {"sinh", OP_SINH, 1},       {"cosh", OP_COSH, 1},
    {"tanh", OP_TANH, 1}, {"exp", OP_EXP, 1},     {"log", OP_LOG, 1},         {"sqrt", OP_SQRT, 1},
    {"abs", OP_ABS, 1},   {"sign", OP_SIGN, 1},   {"sigmoid", OP_SIGMOID, 1}, {"min", OP_MIN, 2},
    {"max", OP_MAX, 2},   {"atan2", OP_ATAN2, 2},
};
static const char *const special[] = {"clamp", "prev", "param", "rbf", "mlp", "linear"};
static const char *const words[]   = {"pi", "and", "or", "not"};

enum { FIXED = LENGTH(functions), FUNCTIONS = FIXED + LENGTH(special) };

static const char *function_name(int i)
{
    return i < FIXED ? functions[i].name : special[i - FIXED];
}

/* Which function, those of fixed arguments first; FUNCTIONS if it is none. */
static int function_find(const char *s, size_t n)
{
    int i = 0;
    while (i < FUNCTIONS && (strlen(function_name(i)) != n || memcmp(function_name(i), s, n) != 0)) i++;
    return i;
}

int mcp_word_reserved(const char *name)
{
    for (size_t i = 0; i < LENGTH(words); i++)
        if (!strcmp(words[i], name)) return 1;
    return function_find(name, strlen(name)) < FUNCTIONS;
}

/* Names */

static void nearer(const char *word, size_t n, const char *candidate, int *best, const char **which)
{
    int d = mcp_word_distance(word, n, candidate, strlen(candidate), *best - 1);
    if (d < *best) {
        *best  = d;
        *which = candidate;
    }
}

static const char *candidate(const mcp_parser *p, int call, int i)
{
    return call ? function_name(i) : p->b->symbol[i].name;
}

/* Names the nearest word, or the first few there are. */
static int unknown(mcp_parser *p, size_t at, size_t n, int call)
{
    const char *word = p->text + at, *which = NULL, *what = call ? "function" : "name";
    int         best = n <= 1 ? 1 : n <= 2 ? 2 : n <= 5 ? 3 : 4; /* suggestions need fewer edits than this */
    int         show = (int)(n < 64 ? n : 64), count = call ? FUNCTIONS : p->b->symbols, i;
    for (i = 0; i < count; i++) nearer(word, n, candidate(p, call, i), &best, &which);
    if (!call) nearer(word, n, "pi", &best, &which);
    if (which)
        return mcp_parser_fail(p, at, "unknown %s '%.*s'; did you mean '%s'?", what, show, word, which);
    char   list[160] = ""; /* room for all functions */
    size_t used      = 0;
    for (i = 0; i < count && used + strlen(candidate(p, call, i)) + 13 < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "; known are ",
                                 candidate(p, call, i));
    return mcp_parser_fail(p, at, "unknown %s '%.*s'%s%s", what, show, word, list, i < count ? ", .." : "");
}

int mcp_parser_name(mcp_parser *p, size_t at, size_t n)
{
    if (n == 2 && !memcmp(p->text + at, "pi", 2))
        return mcp_parser_checked(p, at, mcp_graph_const(&p->b->graph, acos(-1.0)));
    const mcp_symbol *s = mcp_builder_find(p->b, p->text + at, n);
    if (s) return s->node;
    if (function_find(p->text + at, n) < FUNCTIONS)
        return mcp_parser_fail(p, at, "%.*s is a function: write %.*s(..)", (int)n, p->text + at, (int)n,
                               p->text + at);
    return unknown(p, at, n, 0);
}

/* Calls. The opening parenthesis has been taken. */

enum { ARGS = MCP_NET_FEATURES + MCP_NET_LAYERS };

static int parse_args(mcp_parser *p, const char *name, int *arg)
{
    int n = 0;
    if (!mcp_parser_is(p, ")")) do {
            if (n == ARGS)
                return mcp_parser_fail(p, p->at, "too many arguments of %s: at most %d", name, ARGS);
            arg[n++] = mcp_parser_value(p);
        } while (p->status == MCP_OK && mcp_parser_accept(p, ","));
    if (p->status != MCP_OK) return 0;
    mcp_parser_expect(p, ")");
    return n;
}

static int arity(mcp_parser *p, size_t at, const char *name, int want, int got)
{
    if (p->status != MCP_OK) return 0;
    if (want == got) return 1;
    return mcp_parser_fail(p, at, "%s takes %d argument%s, found %d", name, want, want == 1 ? "" : "s", got);
}

static int parse_clamp(mcp_parser *p, size_t at)
{
    int arg[ARGS], n = parse_args(p, "clamp", arg);
    if (!arity(p, at, "clamp", 3, n)) return 0;
    if (mcp_parser_is_const(p, arg[1]) && mcp_parser_is_const(p, arg[2]) &&
        mcp_parser_const(p, arg[1]) > mcp_parser_const(p, arg[2]))
        return mcp_parser_fail(p, at, "clamp(x, %g, %g): the lower bound is above the upper one",
                               mcp_parser_const(p, arg[1]), mcp_parser_const(p, arg[2]));
    return mcp_parser_apply(p, at, OP_MIN, mcp_parser_apply(p, at, OP_MAX, arg[0], arg[1]), arg[2]);
}

static int parse_prev(mcp_parser *p, size_t at)
{
    int arg[ARGS], n = parse_args(p, "prev", arg);
    if (!arity(p, at, "prev", 1, n)) return 0;
    return mcp_parser_checked(p, at, mcp_graph_prev(&p->b->graph, arg[0]));
}

static int parse_param(mcp_parser *p, size_t at)
{
    char name[MCP_NAME_LENGTH + 1];
    if (p->kind != T_NAME)
        return mcp_parser_fail(p, p->at,
                               "the first argument of param is a name of its own: param(gain, 1.5)");
    size_t n = p->end - p->at;
    if (n > MCP_NAME_LENGTH)
        return mcp_parser_fail(p, p->at, "a name of %zu characters: at most %d", n, MCP_NAME_LENGTH);
    memcpy(name, p->text + p->at, n);
    name[n] = 0;
    mcp_parser_next(p);
    mcp_graph *g     = &p->b->graph;
    int        known = -1;
    for (int i = 0; i < g->scalars; i++)
        if (!strcmp(g->scalar[i].name, name)) known = i;
    if (known >= 0 && mcp_parser_accept(p, ")"))
        return mcp_parser_checked(p, at, mcp_graph_leaf(g, OP_PARAM, known, 0));
    mcp_parser_expect(p, ",");
    size_t where = p->at;
    int    start = mcp_parser_value(p);
    mcp_parser_expect(p, ")");
    if (p->status != MCP_OK) return 0;
    if (!mcp_parser_is_const(p, start))
        return mcp_parser_fail(p, where, "the start of param(%s, ..) must be a constant", name);
    if (known >= 0 && g->scalar[known].start != mcp_parser_const(p, start))
        return mcp_parser_fail(p, where, "param(%s, %g) starts at %g elsewhere", name,
                               mcp_parser_const(p, start), g->scalar[known].start);
    if (known < 0) known = mcp_parser_checked(p, at, mcp_graph_scalar(g, name, mcp_parser_const(p, start)));
    return p->status == MCP_OK ? mcp_parser_checked(p, at, mcp_graph_leaf(g, OP_PARAM, known, 0)) : 0;
}

int mcp_parser_whole(double v, int most)
{
    return v >= 1.0 && v <= most && v == floor(v);
}

static int finish_net(mcp_parser *p, size_t at, mcp_net *net, const char *name, const int *feature,
                      int features)
{
    if (p->status != MCP_OK) return 0;
    if (features < 1) return mcp_parser_fail(p, at, "%s needs at least one feature", name);
    if (features > MCP_NET_FEATURES)
        return mcp_parser_fail(p, at, "%s has %d features: at most %d", name, features, MCP_NET_FEATURES);
    net->features = features;
    net->outputs  = 1;
    memcpy(net->feature, feature, sizeof(int) * (size_t)features);
    int i = mcp_parser_checked(p, at, mcp_graph_net(&p->b->graph, net));
    return p->status == MCP_OK ? mcp_parser_checked(p, at, mcp_graph_leaf(&p->b->graph, OP_NET, i, 0)) : 0;
}

static int parse_rbf(mcp_parser *p, size_t at)
{
    int     arg[ARGS], n = parse_args(p, "rbf", arg);
    mcp_net net = {.kind = MCP_NET_RBF, .layers = 1};
    if (p->status != MCP_OK) return 0;
    if (n < 1 || !mcp_parser_is_const(p, arg[0]) ||
        !mcp_parser_whole(mcp_parser_const(p, arg[0]), MCP_NET_UNITS))
        return mcp_parser_fail(
            p, at, "the first argument of rbf is the number of basis functions, a whole number from 1 to %d",
            MCP_NET_UNITS);
    net.units[0] = (int)mcp_parser_const(p, arg[0]);
    return finish_net(p, at, &net, "rbf", arg + 1, n - 1);
}

static int parse_mlp(mcp_parser *p, size_t at)
{
    int     arg[ARGS], n = 0;
    mcp_net net = {.kind = MCP_NET_MLP};
    while (p->kind == T_NUMBER) {
        if (net.layers == MCP_NET_LAYERS)
            return mcp_parser_fail(p, p->at, "mlp has at most %d hidden layers", MCP_NET_LAYERS);
        if (!mcp_parser_whole(p->number, MCP_NET_UNITS))
            return mcp_parser_fail(p, p->at, "a hidden layer of mlp has 1 to %d units, found %g",
                                   MCP_NET_UNITS, p->number);
        net.units[net.layers++] = (int)p->number;
        mcp_parser_next(p);
        if (!mcp_parser_is(p, ")")) mcp_parser_expect(p, ",");
    }
    if (p->status == MCP_OK && !net.layers)
        return mcp_parser_fail(p, at,
                               "mlp needs the sizes of its hidden layers first: mlp(20, 20, feature, ..)");
    n = parse_args(p, "mlp", arg);
    return finish_net(p, at, &net, "mlp", arg, n);
}

/* A layer of outputs alone. */
static int parse_linear(mcp_parser *p, size_t at)
{
    int     arg[ARGS], n = parse_args(p, "linear", arg);
    mcp_net net = {.kind = MCP_NET_MLP};
    return finish_net(p, at, &net, "linear", arg, n);
}

static int parse_fixed(mcp_parser *p, size_t at, int f)
{
    const char *name = functions[f].name;
    int         arg[ARGS] = {0}, n = parse_args(p, name, arg);
    if (p->status != MCP_OK) return 0;
    int many = functions[f].op == OP_MIN || functions[f].op == OP_MAX;
    if (many && n < 2) return mcp_parser_fail(p, at, "%s takes 2 or more arguments, found %d", name, n);
    if (!many && !arity(p, at, name, functions[f].args, n)) return 0;
    if (functions[f].args == 1) return mcp_parser_apply(p, at, functions[f].op, arg[0], 0);
    int y = arg[0];
    for (int i = 1; i < n; i++) y = mcp_parser_apply(p, at, functions[f].op, y, arg[i]);
    return y;
}

int mcp_parser_call(mcp_parser *p, size_t at, size_t n)
{
    static int (*const by_name[])(mcp_parser *, size_t) = {parse_clamp, parse_prev, parse_param, parse_rbf,
                                                           parse_mlp,   parse_linear};
    const char *word = p->text + at;
    int         f    = function_find(word, n);
    if (f < FIXED) return parse_fixed(p, at, f);
    if (f < FUNCTIONS) return by_name[f - FIXED](p, at);
    if (mcp_builder_find(p->b, word, n) || (n == 2 && !memcmp(word, "pi", 2)))
        return mcp_parser_fail(p, at, "'%.*s' is not a function; is a '*' missing?", (int)n, word);
    return unknown(p, at, n, 1);
}
