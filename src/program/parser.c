/* parser.c - text to nodes, by recursive descent, loosest binding first:
 *
 *   or    and    not    < <= > >= == !=    + -    * /    unary -    ^ (right to left)    name, number, call, ( )
 *
 * The first error ends the parse; its message starts with the place. Length, depth and node count are bounded. */
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/builder.h"

typedef enum { T_END, T_NUMBER, T_NAME, T_SIGN } token_kind;

typedef struct {
    mcp_builder *b;
    const char  *what, *text;
    mcp_where    where;
    mcp_error   *err;
    mcp_status   status;
    int          depth;
    size_t       at, end;  /* current token: text[at .. end) */
    token_kind   kind;
    double       number;
} parser;

static int parse_or(parser *p);
static int parse_unary(parser *p);

/* functions with a fixed number of arguments */
static const struct {
    const char *name;
    mcp_op      op;
    int         args;
} functions[] = {
    {"sin", OP_SIN, 1},   {"cos", OP_COS, 1},   {"tan", OP_TAN, 1},   {"asin", OP_ASIN, 1},   {"acos", OP_ACOS, 1},
    {"atan", OP_ATAN, 1}, {"sinh", OP_SINH, 1}, {"cosh", OP_COSH, 1}, {"tanh", OP_TANH, 1},   {"exp", OP_EXP, 1},
    {"log", OP_LOG, 1},   {"sqrt", OP_SQRT, 1}, {"abs", OP_ABS, 1},   {"sign", OP_SIGN, 1},   {"sigmoid", OP_SIGMOID, 1},
    {"min", OP_MIN, 2},   {"max", OP_MAX, 2},   {"atan2", OP_ATAN2, 2},
};
static const char *const special[] = {"clamp", "prev", "param", "rbf", "mlp"};
static const char *const words[]   = {"pi", "and", "or", "not"};
#define LENGTH(a) (sizeof(a) / sizeof *(a))

static int is_function(const char *s, size_t n)
{
    for (size_t i = 0; i < LENGTH(functions); i++)
        if (strlen(functions[i].name) == n && !memcmp(functions[i].name, s, n)) return 1;
    for (size_t i = 0; i < LENGTH(special); i++)
        if (strlen(special[i]) == n && !memcmp(special[i], s, n)) return 1;
    return 0;
}

int mcp_word_reserved(const char *name)
{
    for (size_t i = 0; i < LENGTH(words); i++)
        if (!strcmp(words[i], name)) return 1;
    return is_function(name, strlen(name));
}

/* Messages */

static void place(const parser *p, size_t at, char *out, size_t size)
{
    size_t line = 0, column = at;
    for (size_t i = 0; i < at; i++)
        if (p->text[i] == '\n') {
            line++;
            column = at - i - 1;
        }
    int base = p->where.column > 0 && !line ? p->where.column : 1;
    if (p->where.file && p->where.line > 0 && p->where.column > 0)
        snprintf(out, size, "%s:%d:%d", p->where.file, p->where.line + (int)line, base + (int)column);
    else if (p->where.file && p->where.line > 0)
        snprintf(out, size, "%s:%d: %s, column %d", p->where.file, p->where.line, p->what, (int)at + 1);
    else
        snprintf(out, size, "%s%s%s, column %d", p->where.file ? p->where.file : "", p->where.file ? ": " : "", p->what,
                 base + (int)column);
}

MCP_PRINTF(3, 4) static int fail_at(parser *p, size_t at, const char *fmt, ...)
{
    if (p->status != MCP_OK) return 0;
    char    where[256], text[256];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    place(p, at, where, sizeof where);
    p->status = mcp_fail(p->err, MCP_ERR_TASK, "%s: %s", where, text);
    p->kind   = T_END;
    return 0;
}

/* Tokens */

static int is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Digits with one point and an exponent, whatever the locale's own point is. */
static void scan_number(parser *p)
{
    const char *s = p->text + p->at;
    size_t      n = 0;
    while (is_digit(s[n])) n++;
    if (s[n] == '.') n++;
    while (is_digit(s[n])) n++;
    if (s[n] == 'e' || s[n] == 'E') {
        size_t e = n + 1;
        if (s[e] == '+' || s[e] == '-') e++;
        if (is_digit(s[e])) {
            while (is_digit(s[e])) e++;
            n = e;
        }
    }
    p->kind = T_NUMBER;
    p->end  = p->at + n;
    char copy[64];
    if (n >= sizeof copy) {
        fail_at(p, p->at, "a number of %zu characters: write at most %zu", n, sizeof copy - 1);
        return;
    }
    memcpy(copy, s, n);
    copy[n]     = 0;
    char *point = strchr(copy, '.');
    if (point) *point = localeconv()->decimal_point[0];
    p->number = strtod(copy, NULL);
    if (!isfinite(p->number)) fail_at(p, p->at, "%.*s is larger than any number", (int)n, s);
    else if (is_letter(s[n])) fail_at(p, p->end, "missing operator after %.*s: write %.*s*%c..", (int)n, s, (int)n, s, s[n]);
}

static void next_token(parser *p)
{
    if (p->status != MCP_OK) return;
    const char *t = p->text;
    p->at         = p->end;
    while (t[p->at] == ' ' || t[p->at] == '\t' || t[p->at] == '\n' || t[p->at] == '\r') p->at++;
    p->end = p->at;
    char c = t[p->at], d = c ? t[p->at + 1] : 0;
    if (!c) {
        p->kind = T_END;
    } else if (is_digit(c) || (c == '.' && is_digit(d))) {
        scan_number(p);
    } else if (is_letter(c)) {
        while (is_letter(t[p->end]) || is_digit(t[p->end])) p->end++;
        p->kind = T_NAME;
    } else if (strchr("+-*/^(),[]<>", c) || ((c == '=' || c == '!') && d == '=')) {
        p->kind = T_SIGN;
        p->end += strchr("<>=!", c) && d == '=' ? 2 : 1;
        if (c == '*' && d == '*') fail_at(p, p->at, "'**' is not an operator: write ^ for a power");
    } else if (c == '=') {
        fail_at(p, p->at, "'=' is not an operator: write == to compare");
    } else if (c == '&' || c == '|' || c == '!') {
        fail_at(p, p->at, "'%c' is not an operator: write %s", c, c == '&' ? "and" : c == '|' ? "or" : "not");
    } else if ((unsigned char)c < 32 || (unsigned char)c > 126) {
        fail_at(p, p->at, "character code %d is not part of an expression", (unsigned char)c);
    } else {
        fail_at(p, p->at, "'%c' is not part of an expression", c);
    }
}

static int token_is(const parser *p, const char *word)
{
    size_t n = strlen(word);
    return (p->kind == T_SIGN || p->kind == T_NAME) && p->end - p->at == n && !memcmp(p->text + p->at, word, n);
}

static int accept(parser *p, const char *word)
{
    if (!token_is(p, word)) return 0;
    next_token(p);
    return 1;
}

static const char *found(const parser *p, char *out, size_t size)
{
    if (p->kind == T_END) snprintf(out, size, "the end");
    else snprintf(out, size, "'%.*s'", (int)(p->end - p->at < 40 ? p->end - p->at : 40), p->text + p->at);
    return out;
}

static void expect(parser *p, const char *word)
{
    char f[64];
    if (!accept(p, word)) fail_at(p, p->at, "expected '%s', found %s", word, found(p, f, sizeof f));
}

/* Nodes */

static double const_of(const parser *p, int node)
{
    return p->b->graph.node[node].value;
}

static int is_const(const parser *p, int node)
{
    return p->b->graph.node[node].op == OP_CONST;
}

static int checked(parser *p, size_t at, int node)
{
    mcp_graph *g = &p->b->graph;
    if (p->status != MCP_OK || !g->failed) return node;
    if (g->failed == MCP_ERR_MEMORY) p->status = mcp_fail(p->err, MCP_ERR_MEMORY, "out of memory while reading %s", p->what);
    else fail_at(p, at, "too large: at most %d operations, %d memory slots, %d nets and %d params", MCP_GRAPH_NODES,
                 MCP_GRAPH_SLOTS, MCP_GRAPH_NETS, MCP_GRAPH_PARAMS);
    p->kind = T_END;
    return 0;
}

/* Constants that give no finite number are mistakes of the text; variables may do so at run time. */
static int apply(parser *p, size_t at, mcp_op op, int a, int b)
{
    if (p->status != MCP_OK) return 0;
    int    unary = mcp_op_unary(op), fixed = is_const(p, a) && (unary || is_const(p, b));
    double va = const_of(p, a), vb = unary ? 0.0 : const_of(p, b);
    int    y = checked(p, at, mcp_graph_op(&p->b->graph, op, a, b));
    if (p->status != MCP_OK || !fixed || isfinite(const_of(p, y))) return y;
    if (unary) return fail_at(p, at, "%s(%g) is not a finite number", mcp_op_word(op), va);
    if (op == OP_ATAN2) return fail_at(p, at, "atan2(%g, %g) is not a finite number", va, vb);
    return fail_at(p, at, "%g %s %g is not a finite number", va, mcp_op_word(op), vb);
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

static int unknown(parser *p, size_t at, size_t n, int call)
{
    const char *word = p->text + at, *which = NULL;
    int         best = n <= 1 ? 1 : n <= 2 ? 2 : n <= 5 ? 3 : 4; /* suggestions need fewer edits than this */
    if (call) {
        for (size_t i = 0; i < LENGTH(functions); i++) nearer(word, n, functions[i].name, &best, &which);
        for (size_t i = 0; i < LENGTH(special); i++) nearer(word, n, special[i], &best, &which);
    } else {
        for (int i = 0; i < p->b->symbols; i++) nearer(word, n, p->b->symbol[i].name, &best, &which);
        nearer(word, n, "pi", &best, &which);
    }
    const char *what = call ? "function" : "name";
    int         show = (int)(n < 64 ? n : 64);
    if (which) return fail_at(p, at, "unknown %s '%.*s'; did you mean '%s'?", what, show, word, which);
    if (call) return fail_at(p, at, "unknown function '%.*s'", show, word);
    char   list[128];
    size_t used = 0;
    list[0]     = 0;
    for (int i = 0; i < p->b->symbols && used + 80 < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "; known are ", p->b->symbol[i].name);
    return fail_at(p, at, "unknown name '%.*s'%s%s", show, word, list, used + 80 >= sizeof list ? ", .." : "");
}

static int parse_name(parser *p, size_t at, size_t n)
{
    if (n == 2 && !memcmp(p->text + at, "pi", 2)) return mcp_graph_const(&p->b->graph, acos(-1.0));
    const mcp_symbol *s = mcp_builder_find(p->b, p->text + at, n);
    if (s) return s->node;
    if (is_function(p->text + at, n))
        return fail_at(p, at, "%.*s is a function: write %.*s(..)", (int)n, p->text + at, (int)n, p->text + at);
    return unknown(p, at, n, 0);
}

/* Calls. The opening parenthesis has been taken. */

enum { ARGS = MCP_NET_FEATURES + MCP_NET_LAYERS };

static int parse_args(parser *p, size_t at, const char *name, int *arg)
{
    int n = 0;
    if (!token_is(p, ")")) do {
            if (n == ARGS) return fail_at(p, p->at, "too many arguments of %s: at most %d", name, ARGS);
            arg[n++] = parse_or(p);
        } while (p->status == MCP_OK && accept(p, ","));
    if (p->status != MCP_OK) return 0;
    expect(p, ")");
    (void)at;
    return n;
}

static int arity(parser *p, size_t at, const char *name, int want, int got)
{
    if (p->status != MCP_OK) return 0;
    if (want == got) return 1;
    return fail_at(p, at, "%s takes %d argument%s, found %d", name, want, want == 1 ? "" : "s", got);
}

static int parse_clamp(parser *p, size_t at)
{
    int arg[ARGS], n = parse_args(p, at, "clamp", arg);
    if (!arity(p, at, "clamp", 3, n)) return 0;
    if (is_const(p, arg[1]) && is_const(p, arg[2]) && const_of(p, arg[1]) > const_of(p, arg[2]))
        return fail_at(p, at, "clamp(x, %g, %g): the lower bound is above the upper one", const_of(p, arg[1]), const_of(p, arg[2]));
    return apply(p, at, OP_MIN, apply(p, at, OP_MAX, arg[0], arg[1]), arg[2]);
}

static int parse_prev(parser *p, size_t at)
{
    int arg[ARGS], n = parse_args(p, at, "prev", arg);
    if (!arity(p, at, "prev", 1, n)) return 0;
    return checked(p, at, mcp_graph_prev(&p->b->graph, arg[0]));
}

static int parse_param(parser *p, size_t at)
{
    char name[MCP_NAME_LENGTH + 1];
    if (p->kind != T_NAME) return fail_at(p, p->at, "the first argument of param is a name of its own: param(gain, 1.5)");
    size_t n = p->end - p->at;
    if (n > MCP_NAME_LENGTH) return fail_at(p, p->at, "a name of %zu characters: at most %d", n, MCP_NAME_LENGTH);
    memcpy(name, p->text + p->at, n);
    name[n] = 0;
    next_token(p);
    mcp_graph *g     = &p->b->graph;
    int        known = -1;
    for (int i = 0; i < g->scalars; i++)
        if (!strcmp(g->scalar[i].name, name)) known = i;
    if (known >= 0 && accept(p, ")")) return checked(p, at, mcp_graph_leaf(g, OP_PARAM, known, 0));
    expect(p, ",");
    size_t where = p->at;
    int    start = parse_or(p);
    expect(p, ")");
    if (p->status != MCP_OK) return 0;
    if (!is_const(p, start)) return fail_at(p, where, "the start of param(%s, ..) must be a constant", name);
    if (known >= 0 && g->scalar[known].start != const_of(p, start))
        return fail_at(p, where, "param(%s, %g) starts at %g elsewhere", name, const_of(p, start), g->scalar[known].start);
    if (known < 0) known = checked(p, at, mcp_graph_scalar(g, name, const_of(p, start)));
    return p->status == MCP_OK ? checked(p, at, mcp_graph_leaf(g, OP_PARAM, known, 0)) : 0;
}

static int whole(double v, int most)
{
    return v >= 1.0 && v <= most && v == floor(v);
}

static int finish_net(parser *p, size_t at, mcp_net *net, const char *name, const int *feature, int features)
{
    if (p->status != MCP_OK) return 0;
    if (features < 1) return fail_at(p, at, "%s needs at least one feature after its size", name);
    if (features > MCP_NET_FEATURES) return fail_at(p, at, "%s has %d features: at most %d", name, features, MCP_NET_FEATURES);
    net->features = features;
    net->outputs  = 1;
    memcpy(net->feature, feature, sizeof(int) * (size_t)features);
    int i = checked(p, at, mcp_graph_net(&p->b->graph, net));
    return p->status == MCP_OK ? checked(p, at, mcp_graph_leaf(&p->b->graph, OP_NET, i, 0)) : 0;
}

static int parse_rbf(parser *p, size_t at)
{
    int     arg[ARGS], n = parse_args(p, at, "rbf", arg);
    mcp_net net = {.kind = MCP_NET_RBF, .layers = 1};
    if (p->status != MCP_OK) return 0;
    if (n < 1 || !is_const(p, arg[0]) || !whole(const_of(p, arg[0]), MCP_NET_UNITS))
        return fail_at(p, at, "the first argument of rbf is the number of basis functions, a whole number from 1 to %d", MCP_NET_UNITS);
    net.units[0] = (int)const_of(p, arg[0]);
    return finish_net(p, at, &net, "rbf", arg + 1, n - 1);
}

static int parse_mlp(parser *p, size_t at)
{
    int     arg[ARGS], n = 0;
    mcp_net net = {.kind = MCP_NET_MLP};
    while (p->kind == T_NUMBER) {
        if (net.layers == MCP_NET_LAYERS) return fail_at(p, p->at, "mlp has at most %d hidden layers", MCP_NET_LAYERS);
        if (!whole(p->number, MCP_NET_UNITS))
            return fail_at(p, p->at, "a hidden layer of mlp has 1 to %d units, found %g", MCP_NET_UNITS, p->number);
        net.units[net.layers++] = (int)p->number;
        next_token(p);
        if (!token_is(p, ")")) expect(p, ",");
    }
    if (p->status == MCP_OK && !net.layers)
        return fail_at(p, at, "mlp needs the sizes of its hidden layers first: mlp(20, 20, feature, ..)");
    n = parse_args(p, at, "mlp", arg);
    return finish_net(p, at, &net, "mlp", arg, n);
}

static int parse_fixed(parser *p, size_t at, size_t f)
{
    const char *name = functions[f].name;
    int         arg[ARGS], n = parse_args(p, at, name, arg);
    if (p->status != MCP_OK) return 0;
    int many = functions[f].op == OP_MIN || functions[f].op == OP_MAX;
    if (many && n < 2) return fail_at(p, at, "%s takes 2 or more arguments, found %d", name, n);
    if (!many && !arity(p, at, name, functions[f].args, n)) return 0;
    if (functions[f].args == 1) return apply(p, at, functions[f].op, arg[0], 0);
    int y = arg[0];
    for (int i = 1; i < n; i++) y = apply(p, at, functions[f].op, y, arg[i]);
    return y;
}

static int parse_call(parser *p, size_t at, size_t n)
{
    static int (*const by_name[])(parser *, size_t) = {parse_clamp, parse_prev, parse_param, parse_rbf, parse_mlp};
    const char *word                                = p->text + at;
    for (size_t i = 0; i < LENGTH(functions); i++)
        if (strlen(functions[i].name) == n && !memcmp(functions[i].name, word, n)) return parse_fixed(p, at, i);
    for (size_t i = 0; i < LENGTH(special); i++)
        if (strlen(special[i]) == n && !memcmp(special[i], word, n)) return by_name[i](p, at);
    if (mcp_builder_find(p->b, word, n) || (n == 2 && !memcmp(word, "pi", 2)))
        return fail_at(p, at, "'%.*s' is not a function; is a '*' missing?", (int)n, word);
    return unknown(p, at, n, 1);
}

/* Grammar */

static int parse_primary(parser *p)
{
    size_t at = p->at, n = p->end - p->at;
    char   f[64];
    if (p->kind == T_NUMBER) {
        int node = checked(p, at, mcp_graph_const(&p->b->graph, p->number));
        next_token(p);
        return node;
    }
    if (accept(p, "(")) {
        int node = parse_or(p);
        expect(p, ")");
        return node;
    }
    if (p->kind != T_NAME || token_is(p, "and") || token_is(p, "or"))
        return fail_at(p, at, "expected a value, found %s", found(p, f, sizeof f));
    next_token(p);
    return accept(p, "(") ? parse_call(p, at, n) : parse_name(p, at, n);
}

/* A net's output by number: rbf(..)[2], or name[2] where name is defined as a net. */
static int parse_postfix(parser *p)
{
    int node = parse_primary(p);
    if (!token_is(p, "[")) return node;
    mcp_graph *g = &p->b->graph;
    if (p->status == MCP_OK && g->node[node].op != OP_NET) return fail_at(p, p->at, "only rbf and mlp have numbered outputs");
    next_token(p);
    if (p->kind != T_NUMBER || !whole(p->number, MCP_NET_OUTPUTS))
        return fail_at(p, p->at, "the number of an output is a whole number from 1 to %d", MCP_NET_OUTPUTS);
    int k = (int)p->number, net = g->node[node].a;
    next_token(p);
    expect(p, "]");
    if (p->status != MCP_OK) return 0;
    if (g->net[net].outputs < k) g->net[net].outputs = k;
    return checked(p, p->at, mcp_graph_leaf(g, OP_NET, net, k - 1));
}

static int enter(parser *p)
{
    if (p->status != MCP_OK) return 0;
    if (++p->depth <= MCP_EXPRESSION_DEPTH) return 1;
    return fail_at(p, p->at, "parentheses and operators nested too deep");
}

static int parse_power(parser *p)
{
    int    a  = parse_postfix(p);
    size_t at = p->at;
    return accept(p, "^") ? apply(p, at, OP_POW, a, parse_unary(p)) : a;
}

static int parse_unary(parser *p)
{
    if (!enter(p)) return 0;
    size_t at = p->at;
    int    y;
    if (accept(p, "-")) y = apply(p, at, OP_NEG, parse_unary(p), 0);
    else if (accept(p, "+")) y = parse_unary(p);
    else y = parse_power(p);
    p->depth--;
    return y;
}

static int parse_product(parser *p)
{
    int a = parse_unary(p);
    for (;;) {
        size_t at = p->at;
        if (accept(p, "*")) a = apply(p, at, OP_MUL, a, parse_unary(p));
        else if (accept(p, "/")) a = apply(p, at, OP_DIV, a, parse_unary(p));
        else return a;
    }
}

static int parse_sum(parser *p)
{
    int a = parse_product(p);
    for (;;) {
        size_t at = p->at;
        if (accept(p, "+")) a = apply(p, at, OP_ADD, a, parse_product(p));
        else if (accept(p, "-")) a = apply(p, at, OP_SUB, a, parse_product(p));
        else return a;
    }
}

static int parse_comparison(parser *p)
{
    static const struct {
        const char *word;
        mcp_op      op;
        int         swap;
    } signs[] = {{"<", OP_LT, 0}, {"<=", OP_LE, 0}, {">", OP_LT, 1}, {">=", OP_LE, 1}, {"==", OP_EQ, 0}, {"!=", OP_NE, 0}};
    int a = parse_sum(p), done = 0;
    for (size_t i = 0; i < LENGTH(signs); i++) {
        size_t at = p->at;
        if (!accept(p, signs[i].word)) continue;
        if (done) return fail_at(p, at, "comparisons do not chain: write a < b and b < c");
        int b = parse_sum(p);
        a     = signs[i].swap ? apply(p, at, signs[i].op, b, a) : apply(p, at, signs[i].op, a, b);
        done  = 1;
        i     = (size_t)-1;
    }
    return a;
}

static int parse_not(parser *p)
{
    if (!enter(p)) return 0;
    size_t at = p->at;
    int    y  = accept(p, "not") ? apply(p, at, OP_NOT, parse_not(p), 0) : parse_comparison(p);
    p->depth--;
    return y;
}

static int parse_and(parser *p)
{
    int a = parse_not(p);
    for (size_t at = p->at; accept(p, "and"); at = p->at) a = apply(p, at, OP_AND, a, parse_not(p));
    return a;
}

static int parse_or(parser *p)
{
    if (!enter(p)) return 0;
    int a = parse_and(p);
    for (size_t at = p->at; accept(p, "or"); at = p->at) a = apply(p, at, OP_OR, a, parse_and(p));
    p->depth--;
    return a;
}

mcp_status mcp_parse(mcp_builder *b, const char *what, const char *text, mcp_where w, int *node, mcp_error *err)
{
    parser p = {.b = b, .what = what, .text = text, .where = w, .err = err, .status = MCP_OK};
    char   f[64];
    if (strnlen(text, MCP_EXPRESSION_LENGTH + 1) > MCP_EXPRESSION_LENGTH)
        fail_at(&p, 0, "an expression of more than %d characters", MCP_EXPRESSION_LENGTH);
    next_token(&p);
    if (p.status == MCP_OK && p.kind == T_END) fail_at(&p, 0, "the expression is empty");
    *node = p.status == MCP_OK ? parse_or(&p) : 0;
    if (p.status == MCP_OK && p.kind != T_END)
        fail_at(&p, p.at, "expected an operator or the end, found %s", found(&p, f, sizeof f));
    return p.status;
}
