/* kernel.h - covariance functions: a tree of base kernels, sums and products, each on a chosen subset of the
 * features. Positive parameters live in log space; a kernel's parameters are one flat array, in the order the
 * tree is written. */
#ifndef MCP_KERNEL_H
#define MCP_KERNEL_H

#include <stddef.h>

#include "mcpilco/gp.h"

enum { MCP_GP_MOST = 20000 }; /* data points of one GP: n x n doubles are 3.2 GB */

typedef enum {
    MCP_K_SE = 0,
    MCP_K_MATERN32,
    MCP_K_MATERN52,
    MCP_K_RQ,
    MCP_K_PERIODIC,
    MCP_K_LINEAR,
    MCP_K_PI,
    MCP_K_MP,
    MCP_K_USER,
    MCP_K_SUM,
    MCP_K_PRODUCT
} mcp_kernel_kind;

enum { MCP_KERNEL_NAME = 32 };

/* One node. Children stand before their parent, the root is last. */
typedef struct {
    mcp_kernel_kind kind;
    int             degree;         /* factors of mp; 1 for linear and pi                       */
    int             count;          /* active features of a base kernel                         */
    int            *feature;        /* their indices                                            */
    int             param, params;  /* its share of the parameter array (base kernels)          */
    int             child, sibling; /* first child (sum, product), next child of the same parent; -1 = none */
    mcp_user_kernel user;
    char            word[MCP_KERNEL_NAME]; /* name of a user's kernel in texts; "" = it has none */
} mcp_kernel_node;

struct mcp_kernel {
    int              features; /* D: length of x */
    int              nodes, params;
    mcp_kernel_node *node;
    char           **name; /* of each parameter */
    char            *text; /* canonical: parses back to the same tree */
};

/* Index of the parameter inside a base kernel: its meaning decides start and bounds of training. */
typedef enum {
    MCP_P_LAMBDA,      /* signal standard deviation      */
    MCP_P_LENGTHSCALE, /* in units of its feature        */
    MCP_P_ALPHA,       /* shape of rq                    */
    MCP_P_PERIOD,      /* in units of its feature        */
    MCP_P_SIGMA2,      /* offset variance of an mp factor */
    MCP_P_DIAG,        /* weight variance                */
    MCP_P_USER
} mcp_param_role;
/* Role of parameter i of base node b; *feature the feature it belongs to, -1 for none. */
mcp_param_role mcp_kernel_role(const mcp_kernel_node *b, int i, int *feature);

int mcp_kernel_is_base(const mcp_kernel_node *b);
/* 1: one of our own base kernels, or of those in the registry (may be NULL). */
int mcp_kernel_known(const mcp_registry *registry, const char *name);

/* Value and derivatives for one pair; the plain reference every fast path is tested against.
 *   dx  D, scale * dk(x, z)/dx is added, may be NULL;  dp
 *     scale * dk/dp is added, one per parameter, may be NULL */
double mcp_kernel_value(const mcp_kernel *k, const double *p, const double *x, const double *z);
double mcp_kernel_gradient(const mcp_kernel *k, const double *p, const double *x, const double *z,
                           double scale, double *dx, double *dp);
/* The same for one base node (kernel_base.c); p points at the node's own parameters. */
double mcp_kernel_base_value(const mcp_kernel_node *b, const double *p, const double *x, const double *z);
double mcp_kernel_base_gradient(const mcp_kernel_node *b, const double *p, const double *x, const double *z,
                                double scale, double *dx, double *dp);

/* The features that a base node reads, in its order, out of all: feature f stands at from[f * stride]. */
static inline void mcp_kernel_pick(const mcp_kernel_node *b, const double *from, size_t stride, double *to)
{
    for (int d = 0; d < b->count; d++) to[d] = from[(size_t)b->feature[d] * stride];
}

/* Longest x a user's kernel may see: it is gathered on the stack. */
enum { MCP_USER_FEATURES = 1000 };

/* A user's kernels under names; small and flat, so that whoever needs it later copies it. */
enum { MCP_REGISTRY_KERNELS = 32 };
struct mcp_registry {
    int any; /* 1: every word may be a kernel, because nobody will evaluate one */
    int kernels;
    struct {
        char            name[MCP_KERNEL_NAME];
        mcp_user_kernel kernel;
    } kernel[MCP_REGISTRY_KERNELS];
};

/* The caller's struct, of his header's size, into ours; it must be complete. */
mcp_status mcp_user_kernel_check(const mcp_user_kernel *given, mcp_user_kernel *out, mcp_error *err);

/* Building trees (kernel.c); used by the parser. A kernel under construction has neither names nor text. */
mcp_status mcp_kernel_new(mcp_kernel **out, int features, mcp_error *err);
/* Appends a node and returns its index in *index; copies feature (count entries). */
mcp_status mcp_kernel_add(mcp_kernel *k, const mcp_kernel_node *n, int *index, mcp_error *err);
/* Numbers the parameters in tree order, makes names and text. */
mcp_status mcp_kernel_finish(mcp_kernel *k, mcp_error *err);

#endif
