/* kernel.c - the tree: building it, names of its parameters, its text, and value and gradient for one pair.
 */
#include "model/kernel.h"

#include <stdio.h>
#include <string.h>

#include "math/arena.h"

static const char *const kind_name[] = {"se", "matern32", "matern52", "rq", "periodic", "linear",
                                        "pi", "mp",       "user",     "+",  "*"};

static const char *word_of(const mcp_kernel_node *b)
{
    return b->kind == MCP_K_USER && b->word[0] ? b->word : kind_name[b->kind];
}

int mcp_kernel_is_base(const mcp_kernel_node *b) { return b->kind < MCP_K_SUM; }

mcp_status mcp_kernel_new(mcp_kernel **out, int features, mcp_error *err)
{
    *out = NULL;
    if (features < 1 || features > 1000)
        return mcp_fail(err, MCP_ERR_ARG, "kernel: %d features; 1 to 1000 are possible", features);
    mcp_kernel *k = mcp_calloc(1, sizeof *k);
    if (!k) return mcp_fail(err, MCP_ERR_MEMORY, "kernel: out of memory");
    k->features = features;
    *out        = k;
    return MCP_OK;
}

void mcp_kernel_free(mcp_kernel *k)
{
    if (!k) return;
    for (int i = 0; i < k->nodes; i++) mcp_free(k->node[i].feature);
    for (int i = 0; k->name && i < k->params; i++) mcp_free(k->name[i]);
    mcp_free(k->name);
    mcp_free(k->text);
    mcp_free(k->node);
    mcp_free(k);
}

static int base_params(const mcp_kernel_node *b)
{
    switch (b->kind) {
    case MCP_K_USER: return b->user.params;
    case MCP_K_LINEAR:
    case MCP_K_PI: return b->count;
    case MCP_K_MP: return b->degree * (b->count + 1);
    case MCP_K_RQ: return b->count + 2;
    case MCP_K_PERIODIC: return 2 * b->count + 1;
    case MCP_K_SUM:
    case MCP_K_PRODUCT: return 0;
    default: return b->count + 1;
    }
}

mcp_status mcp_kernel_add(mcp_kernel *k, const mcp_kernel_node *n, int *index, mcp_error *err)
{
    mcp_kernel_node *node = mcp_realloc(k->node, ((size_t)k->nodes + 1) * sizeof *node);
    if (!node) return mcp_fail(err, MCP_ERR_MEMORY, "kernel: out of memory");
    k->node               = node;
    mcp_kernel_node *slot = &node[k->nodes];
    *slot                 = *n;
    slot->feature         = NULL;
    slot->sibling         = -1;
    slot->params          = base_params(n);
    if (mcp_kernel_is_base(n)) {
        slot->child   = -1;
        slot->feature = mcp_calloc((size_t)(n->count > 0 ? n->count : 1), sizeof(int));
        if (!slot->feature) return mcp_fail(err, MCP_ERR_MEMORY, "kernel: out of memory");
        for (int i = 0; i < n->count; i++) slot->feature[i] = n->feature[i];
    }
    *index = k->nodes++;
    return MCP_OK;
}

static char *param_name(const mcp_kernel_node *b, const char *base, int i)
{
    int f;
    switch (mcp_kernel_role(b, i, &f)) {
    case MCP_P_LAMBDA: return mcp_sprintf("%s.log_lambda", base);
    case MCP_P_LENGTHSCALE: return mcp_sprintf("%s.log_lengthscale[%d]", base, f);
    case MCP_P_ALPHA: return mcp_sprintf("%s.log_alpha", base);
    case MCP_P_PERIOD: return mcp_sprintf("%s.log_period[%d]", base, f);
    case MCP_P_SIGMA2: return mcp_sprintf("%s.log_sigma2[%d]", base, i / (b->count + 1));
    case MCP_P_DIAG:
        if (b->kind == MCP_K_MP) return mcp_sprintf("%s.log_diag[%d][%d]", base, i / (b->count + 1), f);
        return mcp_sprintf("%s.log_diag[%d]", base, f);
    default: return mcp_sprintf("%s.p[%d]", base, i);
    }
}

/* "se.log_lambda" for the first se, "se2.log_lambda" for the second. */
static mcp_status make_names(mcp_kernel *k, mcp_error *err)
{
    k->name = mcp_calloc((size_t)(k->params > 0 ? k->params : 1), sizeof *k->name);
    if (!k->name) return mcp_fail(err, MCP_ERR_MEMORY, "kernel: out of memory");
    for (int i = 0; i < k->nodes; i++) {
        const mcp_kernel_node *b = &k->node[i];
        char                   base[MCP_KERNEL_NAME + 12];
        int                    nth = 1;
        if (!mcp_kernel_is_base(b)) continue;
        for (int other = 0; other < i; other++) nth += !strcmp(word_of(&k->node[other]), word_of(b));
        if (nth == 1) snprintf(base, sizeof base, "%s", word_of(b));
        else snprintf(base, sizeof base, "%s%d", word_of(b), nth);
        for (int j = 0; j < b->params; j++) {
            k->name[b->param + j] = param_name(b, base, j);
            if (!k->name[b->param + j]) return mcp_fail(err, MCP_ERR_MEMORY, "kernel: out of memory");
        }
    }
    return MCP_OK;
}

static char *base_text(const mcp_kernel_node *b)
{
    if (b->kind == MCP_K_USER && !b->word[0]) return mcp_strdup("user");
    char *t = b->kind == MCP_K_MP ? mcp_sprintf("mp(%d;", b->degree) : mcp_sprintf("%s(", word_of(b));
    for (int i = 0; t && i < b->count; i++) {
        // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a base node has features, and only base nodes
        // come here
        char *longer = mcp_sprintf("%s%s%d%s", t, i ? "," : "", b->feature[i], i == b->count - 1 ? ")" : "");
        mcp_free(t);
        t = longer;
    }
    return t;
}

static char *node_text(const mcp_kernel *k, int index)
{
    const mcp_kernel_node *n = &k->node[index];
    if (mcp_kernel_is_base(n)) return base_text(n);
    char *t = NULL;
    for (int c = n->child; c >= 0; c = k->node[c].sibling) {
        int   group = n->kind == MCP_K_PRODUCT && k->node[c].kind == MCP_K_SUM;
        char *part  = node_text(k, c), *longer = NULL;
        if (part)
            longer = mcp_sprintf("%s%s%s%s%s", t ? t : "",
                                 !t                     ? ""
                                 : n->kind == MCP_K_SUM ? " + "
                                                        : "*",
                                 group ? "(" : "", part, group ? ")" : "");
        mcp_free(part);
        mcp_free(t);
        t = longer;
        if (!t) return NULL;
    }
    return t;
}

mcp_status mcp_kernel_finish(mcp_kernel *k, mcp_error *err)
{
    k->params = 0;
    for (int i = 0; i < k->nodes; i++) {
        k->node[i].param = k->params;
        k->params += k->node[i].params;
    }
    if (!(k->text = node_text(k, k->nodes - 1)))
        return mcp_fail(err, MCP_ERR_MEMORY, "kernel: out of memory");
    return make_names(k, err);
}

mcp_status mcp_kernel_from_user(mcp_kernel **out, int features, const mcp_user_kernel *uk, mcp_error *err)
{
    mcp_kernel     *k    = NULL;
    mcp_kernel_node node = {.kind = MCP_K_USER, .degree = 1};
    mcp_status      st;
    int             index;
    *out = NULL;
    if ((st = mcp_user_kernel_check(uk, &node.user, err)) != MCP_OK) return st;
    if ((st = mcp_kernel_new(&k, features, err)) != MCP_OK) return st;
    node.count   = features;
    node.feature = mcp_calloc((size_t)features, sizeof(int));
    if (!node.feature) {
        st = mcp_fail(err, MCP_ERR_MEMORY, "kernel: out of memory");
        goto done;
    }
    for (int i = 0; i < features; i++) node.feature[i] = i;
    if ((st = mcp_kernel_add(k, &node, &index, err)) != MCP_OK) goto done;
    st = mcp_kernel_finish(k, err);
done:
    mcp_free(node.feature);
    if (st != MCP_OK) mcp_kernel_free(k);
    else *out = k;
    return st;
}

/* Copies the nodes of `from` behind those of k; *root is the copied root. */
static mcp_status append_tree(mcp_kernel *k, const mcp_kernel *from, int *root, mcp_error *err)
{
    int        shift = k->nodes;
    mcp_status st;
    for (int i = 0; i < from->nodes; i++) {
        if ((st = mcp_kernel_add(k, &from->node[i], root, err)) != MCP_OK) return st;
        if (!mcp_kernel_is_base(&from->node[i])) k->node[*root].child = from->node[i].child + shift;
        if (from->node[i].sibling >= 0) k->node[*root].sibling = from->node[i].sibling + shift;
    }
    return MCP_OK;
}

static mcp_status combine(mcp_kernel **out, mcp_kernel_kind kind, const mcp_kernel *a, const mcp_kernel *b,
                          mcp_error *err)
{
    mcp_kernel     *k    = NULL;
    mcp_kernel_node node = {.kind = kind};
    mcp_status      st;
    int             ra = 0, rb = 0, root;
    *out = NULL;
    if (!a || !b || a->features != b->features)
        return mcp_fail(err, MCP_ERR_ARG,
                        "kernel: can only combine two kernels over the same number of features");
    if ((st = mcp_kernel_new(&k, a->features, err)) != MCP_OK) return st;
    if ((st = append_tree(k, a, &ra, err)) != MCP_OK) goto done;
    if ((st = append_tree(k, b, &rb, err)) != MCP_OK) goto done;
    k->node[ra].sibling = rb;
    node.child          = ra;
    if ((st = mcp_kernel_add(k, &node, &root, err)) != MCP_OK) goto done;
    st = mcp_kernel_finish(k, err);
done:
    if (st != MCP_OK) mcp_kernel_free(k);
    else *out = k;
    return st;
}

mcp_status mcp_kernel_sum(mcp_kernel **out, const mcp_kernel *a, const mcp_kernel *b, mcp_error *err)
{
    return combine(out, MCP_K_SUM, a, b, err);
}

mcp_status mcp_kernel_product(mcp_kernel **out, const mcp_kernel *a, const mcp_kernel *b, mcp_error *err)
{
    return combine(out, MCP_K_PRODUCT, a, b, err);
}

int         mcp_kernel_params(const mcp_kernel *k) { return k->params; }
int         mcp_kernel_features(const mcp_kernel *k) { return k->features; }
const char *mcp_kernel_text(const mcp_kernel *k) { return k->text; }
const char *mcp_kernel_param_name(const mcp_kernel *k, int i)
{
    return i >= 0 && i < k->params ? k->name[i] : "";
}

static double node_value(const mcp_kernel *k, int index, const double *p, const double *x, const double *z)
{
    const mcp_kernel_node *n = &k->node[index];
    if (mcp_kernel_is_base(n)) return mcp_kernel_base_value(n, p + n->param, x, z);
    double v = n->kind == MCP_K_SUM ? 0.0 : 1.0;
    for (int c = n->child; c >= 0; c = k->node[c].sibling) {
        double part = node_value(k, c, p, x, z);
        v           = n->kind == MCP_K_SUM ? v + part : v * part;
    }
    return v;
}

static double node_gradient(const mcp_kernel *k, int index, const double *p, const double *x, const double *z,
                            double scale, double *dx, double *dp)
{
    const mcp_kernel_node *n = &k->node[index];
    if (mcp_kernel_is_base(n))
        return mcp_kernel_base_gradient(n, p + n->param, x, z, scale, dx, dp ? dp + n->param : NULL);
    double v = n->kind == MCP_K_SUM ? 0.0 : 1.0;
    for (int c = n->child; c >= 0; c = k->node[c].sibling) {
        double rest = scale; /* of a product: times the other children */
        for (int o = n->child; n->kind == MCP_K_PRODUCT && o >= 0; o = k->node[o].sibling)
            if (o != c) rest *= node_value(k, o, p, x, z);
        double part = node_gradient(k, c, p, x, z, rest, dx, dp);
        v           = n->kind == MCP_K_SUM ? v + part : v * part;
    }
    return v;
}

double mcp_kernel_value(const mcp_kernel *k, const double *p, const double *x, const double *z)
{
    return node_value(k, k->nodes - 1, p, x, z);
}

double mcp_kernel_gradient(const mcp_kernel *k, const double *p, const double *x, const double *z,
                           double scale, double *dx, double *dp)
{
    return node_gradient(k, k->nodes - 1, p, x, z, scale, dx, dp);
}
