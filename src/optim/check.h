/* check.h - posteriors for an optimisation, and the check that a sparse one is good enough (inside this
 * folder only). */
#ifndef MCP_CHECK_H
#define MCP_CHECK_H

#include "optim/optimise.h"

typedef struct {
    int             ngp;
    mcp_posterior **posterior; /* [ngp] */
    double          tolerance; /* in use; 0 = exact */
    double          cosine;    /* NaN: not checked  */
    int             points;    /* most points of any GP */
} mcp_models;

/* Makes the posteriors the task asks for. Sparse ones are held against the exact posterior: the gradients of
 * a few particles at theta must have a cosine of at least 0.99, or the tolerance is divided by ten, in the
 * end down to exact. */
mcp_status mcp_models_create(mcp_models *m, const mcp_optimise_request *q, const double *theta,
                             mcp_error *err);
void       mcp_models_free(mcp_models *m);

#endif
