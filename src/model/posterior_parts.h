/* posterior_parts.h - the inside of mcp_posterior, for the files that build it, use it, choose its points. */
#ifndef MCP_POSTERIOR_PARTS_H
#define MCP_POSTERIOR_PARTS_H

#include "math/gemm.h"
#include "model/inducing.h"
#include "model/leaf.h"
#include "model/posterior.h"
#include "model/strip.h"

struct mcp_posterior {
    mcp_kernel_batch   *cov;
    int        m, features;
    int        mv; /* the first mv of the m points carry the variance, all of them the mean */
    double     s2, floor; /* noise variance; smallest variance given */
    double     level;     /* the variance that accuracies are measured in: s2 where the noise is white */
    double    *alpha;
    double    *low, *high; /* [features] where samples stay, infinite: anywhere; NULL: all are */
    mcp_packed W, Wt; /* Q = W' W, W lower triangular; and W' */
    size_t     bytes;
    const mcp_strip_model *strip; /* in single precision; NULL: it is not used */
    mcp_single_info single;
    void (*moments_forward) MCP_MOMENTS_ARGS;
    void (*moments_backward) MCP_KBAR_ARGS;
};

/* A posterior from trained data (posterior_build.c). choice: the points kept, NULL for all; mv > 0: through
 * inducing points, the variance through the first mv of them; 0: exact on the points kept. */
typedef struct {
    const mcp_gp       *gp;
    const mcp_inducing *choice;
    int                 mv;
    mcp_isa             level;
    int                 single; /* 1: with what single precision needs */
} mcp_posterior_plan;
mcp_status mcp_posterior_build(mcp_posterior **out, const mcp_posterior_plan *q, double *jitter,
                               mcp_error *err);

/* Single precision (posterior_single.c): made from W (mv x mv) if the kernel allows it, and taken away again
 * if its numbers are not good enough. */
mcp_status mcp_posterior_single_make(mcp_posterior *p, const double *W, mcp_error *err);
mcp_status mcp_posterior_single_admit(mcp_posterior *p, const mcp_gp *gp, mcp_error *err);
void       mcp_posterior_single_free(mcp_posterior *p);

#endif
