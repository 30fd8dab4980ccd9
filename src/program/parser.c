/* parser.c - text to nodes, by recursive descent, loosest binding first:
 *
 *   or    and    not    < <= > >= == !=    + -    * /    unary -    ^ (right to left)
 *     name, number, call, ( )
 *
 * The first error ends the parse; its message starts with the place. Length, depth and node count are
 * bounded. */
#include <math.h>
#include <string.h>

#include "program/parser.h"

static int parse_unary(mcp_parser *p);

/* Nodes */

double mcp_parser_const(const mcp_parser *p, int node)
{
    return p->b->graph.node[node].value;
}

int mcp_parser_is_const(const mcp_parser *p, int node)
{
    return p->b->graph.node[node].op == OP_CONST;
}

int mcp_parser_checked(mcp_parser *p, size_t at, int node)
{
    mcp_graph *g = &p->b->graph;
    if (p->status != MCP_OK || !g->failed) return node;
    if (g->failed == MCP_ERR_MEMORY)
        p->status = mcp_fail(p->err, MCP_ERR_MEMORY, "out of memory while reading %s", p->what);
    else
        mcp_parser_fail(p, at, "too large: at most %d operations, %d memory slots, %d nets and %d params",
                        MCP_GRAPH_NODES, MCP_GRAPH_SLOTS, MCP_GRAPH_NETS, MCP_GRAPH_PARAMS);
    p->kind = T_END;
    return 0;
}

/* Constants that give no finite number are mistakes of the text; variables may do so at run time. */
int mcp_parser_apply(mcp_parser *p, size_t at, mcp_op op, int a, int b)
{
    if (p->status != MCP_OK) return 0;
    int unary = mcp_op_unary(op), fixed = mcp_parser_is_const(p, a) && (unary || mcp_parser_is_const(p, b));
    double va = mcp_parser_const(p, a), vb = unary ? 0.0 : mcp_parser_const(p, b);
    int    y = mcp_parser_checked(p, at, mcp_graph_op(&p->b->graph, op, a, b));
    if (p->status != MCP_OK || !fixed || isfinite(mcp_parser_const(p, y))) return y;
    if (unary) return mcp_parser_fail(p, at, "%s(%g) is not a finite number", mcp_op_word(op), va);
    if (op == OP_ATAN2) return mcp_parser_fail(p, at, "atan2(%g, %g) is not a finite number", va, vb);
    return mcp_parser_fail(p, at, "%g %s %g is not a finite number", va, mcp_op_word(op), vb);
}

/* Grammar */

static int parse_primary(mcp_parser *p)
{
    size_t at = p->at, n = p->end - p->at;
    char   f[64];
    if (p->kind == T_NUMBER) {
        int node = mcp_parser_checked(p, at, mcp_graph_const(&p->b->graph, p->number));
        mcp_parser_next(p);
        return node;
    }
    if (mcp_parser_accept(p, "(")) {
        int node = mcp_parser_value(p);
        mcp_parser_expect(p, ")");
        return node;
    }
    if (p->kind != T_NAME || mcp_parser_is(p, "and") || mcp_parser_is(p, "or"))
        return mcp_parser_fail(p, at, "expected a value, found %s", mcp_parser_found(p, f, sizeof f));
    mcp_parser_next(p);
    return mcp_parser_accept(p, "(") ? mcp_parser_call(p, at, n) : mcp_parser_name(p, at, n);
}

/* A net's output by number: rbf(..)[2], or name[2] where name is defined as a net. */
static int parse_postfix(mcp_parser *p)
{
    int node = parse_primary(p);
    if (!mcp_parser_is(p, "[")) return node;
    mcp_graph *g = &p->b->graph;
    if (p->status == MCP_OK && g->node[node].op != OP_NET)
        return mcp_parser_fail(p, p->at, "only rbf and mlp have numbered outputs");
    mcp_parser_next(p);
    if (p->kind != T_NUMBER || !mcp_parser_whole(p->number, MCP_NET_OUTPUTS))
        return mcp_parser_fail(p, p->at, "the number of an output is a whole number from 1 to %d",
                               MCP_NET_OUTPUTS);
    int k = (int)p->number, net = g->node[node].a;
    mcp_parser_next(p);
    mcp_parser_expect(p, "]");
    if (p->status != MCP_OK) return 0;
    if (g->net[net].outputs < k) g->net[net].outputs = k;
    return mcp_parser_checked(p, p->at, mcp_graph_leaf(g, OP_NET, net, k - 1));
}

static int enter(mcp_parser *p)
{
    if (p->status != MCP_OK) return 0;
    if (++p->depth <= MCP_EXPRESSION_DEPTH) return 1;
    return mcp_parser_fail(p, p->at, "parentheses and operators nested too deep");
}

static int parse_power(mcp_parser *p)
{
    int    a  = parse_postfix(p);
    size_t at = p->at;
    return mcp_parser_accept(p, "^") ? mcp_parser_apply(p, at, OP_POW, a, parse_unary(p)) : a;
}

static int parse_unary(mcp_parser *p)
{
    if (!enter(p)) return 0;
    size_t at = p->at;
    int    y;
    if (mcp_parser_accept(p, "-")) y = mcp_parser_apply(p, at, OP_NEG, parse_unary(p), 0);
    else if (mcp_parser_accept(p, "+")) y = parse_unary(p);
    else y = parse_power(p);
    p->depth--;
    return y;
}

static int parse_product(mcp_parser *p)
{
    int a = parse_unary(p);
    for (;;) {
        size_t at = p->at;
        if (mcp_parser_accept(p, "*")) a = mcp_parser_apply(p, at, OP_MUL, a, parse_unary(p));
        else if (mcp_parser_accept(p, "/")) a = mcp_parser_apply(p, at, OP_DIV, a, parse_unary(p));
        else return a;
    }
}

static int parse_sum(mcp_parser *p)
{
    int a = parse_product(p);
    for (;;) {
        size_t at = p->at;
        if (mcp_parser_accept(p, "+")) a = mcp_parser_apply(p, at, OP_ADD, a, parse_product(p));
        else if (mcp_parser_accept(p, "-")) a = mcp_parser_apply(p, at, OP_SUB, a, parse_product(p));
        else return a;
    }
}

static int parse_comparison(mcp_parser *p)
{
    static const struct {
        const char *word;
        mcp_op      op;
        int         swap;
    } signs[] = {{"<", OP_LT, 0},  {"<=", OP_LE, 0}, {">", OP_LT, 1},
                 {">=", OP_LE, 1}, {"==", OP_EQ, 0}, {"!=", OP_NE, 0}};
    int a = parse_sum(p), done = 0;
    for (size_t i = 0; i < LENGTH(signs); i++) {
        size_t at = p->at;
        if (!mcp_parser_accept(p, signs[i].word)) continue;
        if (done) return mcp_parser_fail(p, at, "comparisons do not chain: write a < b and b < c");
        int b = parse_sum(p);
        a = signs[i].swap ? mcp_parser_apply(p, at, signs[i].op, b, a)
                          : mcp_parser_apply(p, at, signs[i].op, a, b);
        done  = 1;
        i     = (size_t)-1;
    }
    return a;
}

static int parse_not(mcp_parser *p)
{
    if (!enter(p)) return 0;
    size_t at = p->at;
    int y =
        mcp_parser_accept(p, "not") ? mcp_parser_apply(p, at, OP_NOT, parse_not(p), 0) : parse_comparison(p);
    p->depth--;
    return y;
}

static int parse_and(mcp_parser *p)
{
    int a = parse_not(p);
    for (size_t at = p->at; mcp_parser_accept(p, "and"); at = p->at)
        a = mcp_parser_apply(p, at, OP_AND, a, parse_not(p));
    return a;
}

int mcp_parser_value(mcp_parser *p)
{
    if (!enter(p)) return 0;
    int a = parse_and(p);
    for (size_t at = p->at; mcp_parser_accept(p, "or"); at = p->at)
        a = mcp_parser_apply(p, at, OP_OR, a, parse_and(p));
    p->depth--;
    return a;
}

mcp_status mcp_parse(mcp_builder *b, const char *what, const char *text, mcp_where w, int *node,
                     mcp_error *err)
{
    mcp_parser p = {.b = b, .what = what, .text = text, .where = w, .err = err, .status = MCP_OK};
    char       f[64];
    if (strnlen(text, MCP_EXPRESSION_LENGTH + 1) > MCP_EXPRESSION_LENGTH)
        mcp_parser_fail(&p, 0, "an expression of more than %d characters", MCP_EXPRESSION_LENGTH);
    mcp_parser_next(&p);
    if (p.status == MCP_OK && p.kind == T_END) mcp_parser_fail(&p, 0, "the expression is empty");
    *node = p.status == MCP_OK ? mcp_parser_value(&p) : 0;
    if (p.status == MCP_OK && p.kind != T_END)
        mcp_parser_fail(&p, p.at, "expected an operator or the end, found %s",
                        mcp_parser_found(&p, f, sizeof f));
    return p.status;
}
