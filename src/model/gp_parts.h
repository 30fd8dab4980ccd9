/* gp_parts.h - the inside of mcp_gp and the pieces that training and the posterior share. */
#ifndef MCP_GP_PARTS_H
#define MCP_GP_PARTS_H

#include "math/isa.h"
#include "model/cov.h"
#include "model/posterior.h"

struct mcp_gp {
    const mcp_kernel *kernel;
    int               n, features, ld; /* ld = n rounded up to whole groups of lanes */
    double           *X, *y;           /* n x features, n                            */
    double           *F;               /* X transposed for batches: [feature][ld], padded with zeros */
    double           *hyper;           /* kernel parameters, then log noise standard deviation */
    mcp_posterior    *exact;           /* for mcp_gp_predict; NULL until needed      */
};

/* Start and bounds of every hyper-parameter, from the scale of the data (start.c). Arrays of params + 1. */
void mcp_gp_start(const mcp_gp *gp, const mcp_gp_settings *s, double *start, double *lower, double *upper);

/* Workspace of the likelihood of one gp (likelihood.c): everything n x n, allocated once. */
typedef struct mcp_likelihood mcp_likelihood;
mcp_status mcp_likelihood_create(mcp_likelihood **out, const mcp_gp *gp, mcp_isa level, mcp_error *err);
void       mcp_likelihood_free(mcp_likelihood *w);
/* nlml at hyper and its gradient (NULL = not wanted); *jitter as in mcp_gp_info. */
mcp_status mcp_likelihood_run(mcp_likelihood *w, const double *hyper, double *nlml, double *gradient, double *jitter,
                              mcp_error *err);

/* A = K + (s2 + jitter) I = L L' (lower triangle of A); jitter grows from 0 until it works, else MCP_ERR_NUMERIC. K is n x ld. */
mcp_status mcp_gp_factor(int n, int ld, const double *K, double s2, double *A, double *jitter, mcp_error *err);

#endif
