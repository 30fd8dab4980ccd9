/* posterior_parts.h - the inside of mcp_posterior, for the files that build it, use it, choose its points. */
#ifndef MCP_POSTERIOR_PARTS_H
#define MCP_POSTERIOR_PARTS_H

#include "math/gemm.h"
#include "model/inducing.h"
#include "model/leaf.h"
#include "model/posterior.h"

struct mcp_posterior {
    mcp_kernel_batch   *cov;
    int        m, features;
    int        mv; /* the first mv of the m points carry the variance, all of them the mean */
    double     s2, floor; /* noise variance; smallest variance given */
    double    *alpha;
    mcp_packed W, Wt; /* Q = W' W, W lower triangular; and W' */
    size_t     bytes;
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
} mcp_posterior_plan;
mcp_status mcp_posterior_build(mcp_posterior **out, const mcp_posterior_plan *q, double *jitter,
                               mcp_error *err);

#endif
