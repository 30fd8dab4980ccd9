/* kernel_parse.c - text to kernel tree.
 *
 *   sum      product { "+" product }
 *   product  factor { "*" factor }
 *   factor   "(" sum ")"  |  name [ "(" feature { "," feature } ")" ]  |
 *     "mp" "(" degree [ (";" | ",") features ] ")"
 *   name     se, linear, pi, matern32, matern52, rq, periodic
 * A message says the column (from 1), what was found there and what was expected. */
#include <ctype.h>
#include <string.h>

#include "math/arena.h"
#include "model/kernel.h"

enum { DEPTH_MAX = 50, NODES_MAX = 200, DEGREE_MAX = 20 };

typedef struct {
    const char *text, *at;
    mcp_kernel *k;
    int         defaults, depth;
    int        *list; /* features of the base kernel being read */
    const mcp_registry *registry; /* NULL: only the kernels that we have */
    mcp_error          *err;
} parser;

static const struct {
    const char     *name;
    mcp_kernel_kind kind;
} base_names[] = {
    {"se", MCP_K_SE},
    {"linear", MCP_K_LINEAR},
    {"pi", MCP_K_PI},
    {"mp", MCP_K_MP},
    {"rq", MCP_K_RQ},
    {"matern32", MCP_K_MATERN32},
    {"matern52", MCP_K_MATERN52},
    {"periodic", MCP_K_PERIODIC},
};
#define KNOWN "se, linear, pi, mp(degree), matern32, matern52, rq, periodic or ( )"

static void skip(parser *s)
{
    while (isspace((unsigned char)*s->at)) s->at++;
}

static mcp_status complain(parser *s, const char *expected)
{
    char found[40];
    int  n = 0;
    while (s->at[n] && !isspace((unsigned char)s->at[n]) && n < 20 &&
           (n == 0 || isalnum((unsigned char)s->at[n])))
        n++;
    memcpy(found, s->at, (size_t)n);
    found[n] = 0;
    return mcp_fail(s->err, MCP_ERR_ARG, "kernel \"%.120s\", column %d: found %s%s%s, expected %s", s->text,
                    (int)(s->at - s->text) + 1, n ? "\"" : "", n ? found : "the end", n ? "\"" : "",
                    expected);
}

static mcp_status parse_int(parser *s, const char *expected, int lo, int hi, int *value)
{
    skip(s);
    if (!isdigit((unsigned char)*s->at)) return complain(s, expected);
    const char *start = s->at;
    long        v     = 0;
    while (isdigit((unsigned char)*s->at)) {
        if (v < 1000000) v = v * 10 + (*s->at - '0');
        s->at++;
    }
    if (v < lo || v > hi)
        return mcp_fail(s->err, MCP_ERR_ARG,
                        "kernel \"%.120s\", column %d: %ld is outside %d .. %d, expected %s", s->text,
                        (int)(start - s->text) + 1, v, lo, hi, expected);
    *value = (int)v;
    return MCP_OK;
}

/* feature { "," feature } up to ")", which is consumed */
static mcp_status parse_features(parser *s, int *count)
{
    mcp_status st;
    *count = 0;
    for (;;) {
        const char *start;
        int         f = 0;
        skip(s);
        start = s->at;
        if ((st = parse_int(s, "a feature index", 0, s->k->features - 1, &f)) != MCP_OK) return st;
        for (int i = 0; i < *count; i++)
            if (s->list[i] == f) {
                s->at = start;
                return complain(s, "a feature that is not in the list already");
            }
        s->list[(*count)++] = f;
        skip(s);
        if (*s->at == ')') break;
        if (*s->at != ',') return complain(s, "\",\" or \")\"");
        s->at++;
    }
    s->at++;
    return MCP_OK;
}

/* Is it a word of the registry? Then the node becomes its kernel. */
static int registered(const parser *s, const char *word, size_t n, mcp_kernel_node *node)
{
    for (int i = 0; s->registry && i < s->registry->kernels; i++) {
        const char *name = s->registry->kernel[i].name;
        if (strlen(name) != n || memcmp(name, word, n) != 0) continue;
        node->kind = MCP_K_USER;
        node->user = s->registry->kernel[i].kernel;
        memcpy(node->word, name, n + 1);
        return 1;
    }
    return 0;
}

static mcp_status parse_base(parser *s, int *index)
{
    mcp_kernel_node node  = {.degree = 1};
    const char     *start = s->at;
    size_t          n     = 0, i;
    mcp_status      st;
    while (isalnum((unsigned char)start[n]) || start[n] == '_') n++;
    for (i = 0; i < sizeof base_names / sizeof *base_names; i++)
        if (strlen(base_names[i].name) == n && !memcmp(base_names[i].name, start, n)) break;
    if (i < sizeof base_names / sizeof *base_names) node.kind = base_names[i].kind;
    else if (!registered(s, start, n, &node)) return complain(s, KNOWN);
    s->at += n;
    skip(s);
    int listed = *s->at == '(';
    if (listed) s->at++;
    if (node.kind == MCP_K_MP) {
        if (!listed) return complain(s, "\"(\" and the degree, as in mp(2)");
        if ((st = parse_int(s, "the degree of mp", 1, DEGREE_MAX, &node.degree)) != MCP_OK) return st;
        skip(s);
        if (*s->at == ')') listed = 0;
        else if (*s->at != ',' && *s->at != ';') return complain(s, "\")\" or \";\" and features");
        s->at++;
    }
    if (listed) {
        if ((st = parse_features(s, &node.count)) != MCP_OK) return st;
    } else {
        node.count = s->defaults;
        for (int f = 0; f < s->defaults; f++) s->list[f] = f;
    }
    node.feature = s->list;
    return mcp_kernel_add(s->k, &node, index, s->err);
}

static mcp_status parse_sum(parser *s, int *index);

static mcp_status parse_factor(parser *s, int *index)
{
    skip(s);
    if (s->k->nodes > NODES_MAX)
        return mcp_fail(s->err, MCP_ERR_ARG, "kernel \"%.120s\": more than %d parts", s->text, NODES_MAX);
    if (*s->at != '(') return parse_base(s, index);
    if (++s->depth > DEPTH_MAX)
        return mcp_fail(s->err, MCP_ERR_ARG, "kernel \"%.120s\": more than %d nested parentheses", s->text,
                        DEPTH_MAX);
    s->at++;
    mcp_status st = parse_sum(s, index);
    if (st != MCP_OK) return st;
    skip(s);
    if (*s->at != ')') return complain(s, "\"+\", \"*\" or \")\"");
    s->at++;
    s->depth--;
    return MCP_OK;
}

/* part { op part }: one part is itself, several get a node with them as children */
static mcp_status parse_chain(parser *s, char op, mcp_kernel_kind kind, mcp_status (*part)(parser *, int *),
                              int *index)
{
    mcp_kernel_node node = {.kind = kind};
    int             last, next = 0;
    mcp_status      st = part(s, index);
    if (st != MCP_OK) return st;
    node.child = last = *index;
    for (skip(s); *s->at == op; skip(s)) {
        s->at++;
        if ((st = part(s, &next)) != MCP_OK) return st;
        s->k->node[last].sibling = next;
        last                     = next;
    }
    return last == node.child ? MCP_OK : mcp_kernel_add(s->k, &node, index, s->err);
}

static mcp_status parse_product(parser *s, int *index)
{
    return parse_chain(s, '*', MCP_K_PRODUCT, parse_factor, index);
}
static mcp_status parse_sum(parser *s, int *index)
{
    return parse_chain(s, '+', MCP_K_SUM, parse_product, index);
}

int mcp_kernel_known(const mcp_registry *registry, const char *name)
{
    for (size_t i = 0; i < sizeof base_names / sizeof *base_names; i++)
        if (!strcmp(base_names[i].name, name)) return 1;
    for (int i = 0; registry && i < registry->kernels; i++)
        if (!strcmp(registry->kernel[i].name, name)) return 1;
    return registry && registry->any;
}

mcp_status mcp_kernel_parse(mcp_kernel **out, const char *text, int features, int defaults, mcp_error *err)
{
    return mcp_kernel_parse_with(out, NULL, text, features, defaults, err);
}

mcp_status mcp_kernel_parse_with(mcp_kernel **out, const mcp_registry *registry, const char *text,
                                 int features, int defaults, mcp_error *err)
{
    parser     s = {.text = text, .at = text, .defaults = defaults, .registry = registry, .err = err};
    mcp_status st;
    int        root = 0;
    *out = NULL;
    if (!text) return mcp_fail(err, MCP_ERR_ARG, "kernel: no text; give one, e.g. \"se\"");
    if ((st = mcp_kernel_new(&s.k, features, err)) != MCP_OK) return st;
    if (defaults < 1 || defaults > features) {
        st = mcp_fail(err, MCP_ERR_ARG, "kernel: %d default features of %d; 1 .. %d are possible", defaults,
                      features, features);
        goto done;
    }
    s.list = mcp_calloc((size_t)features, sizeof(int));
    if (!s.list) {
        st = mcp_fail(err, MCP_ERR_MEMORY, "kernel: out of memory");
        goto done;
    }
    if ((st = parse_sum(&s, &root)) != MCP_OK) goto done;
    if (*s.at) {
        st = complain(&s, "\"+\", \"*\" or the end");
        goto done;
    }
    st = mcp_kernel_finish(s.k, err);
done:
    mcp_free(s.list);
    if (st != MCP_OK) mcp_kernel_free(s.k);
    else *out = s.k;
    return st;
}
