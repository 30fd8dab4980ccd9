/* posteriors.h - the posteriors of all GPs of a model, by one rule for whoever needs them.
 *   optimisation  as the settings say; a sparse one may be held against the exact one's gradient, below
 *   forecast      exact where the data are few enough, else as the settings say
 *   check         exact */
#ifndef MCP_POSTERIORS_H
#define MCP_POSTERIORS_H

#include "math/pool.h"
#include "model/posterior.h"

typedef enum { MCP_FOR_OPTIMISATION = 0, MCP_FOR_FORECAST, MCP_FOR_CHECK } mcp_posterior_use;

/* Gradient of some objective on these posteriors. A status of MCP_ERR_NUMERIC says that it is not finite. */
typedef mcp_status mcp_posterior_gradient(void *context, mcp_posterior *const *p, double *gradient,
                                          mcp_error *err);

typedef struct {
    int                     ngp;
    mcp_gp *const          *gp;
    mcp_posterior_settings  set;
    mcp_posterior_use       use;
    /* Sparse: the bound on the lost variance does not bound the error of a gradient. With gradient != NULL,
     * sparse and exact gradients must have a cosine of at least 0.99, or the tolerance is divided by ten, as
     * long as that brings them nearer, in the end down to exact. A gradient that is not finite says nothing
     * and leaves things as they are. */
    mcp_posterior_gradient *gradient;
    void                   *context;
    int                     params; /* entries of the gradient */
    mcp_pool               *pool;   /* makes them side by side; may be NULL */
} mcp_posteriors_request;

typedef struct {
    int             ngp;
    mcp_posterior **of;        /* [ngp] */
    double          tolerance; /* in use; 0 = exact */
    double          cosine;    /* NaN: not checked  */
    double          first;     /* cosine at the tolerance that was asked for, NaN: not checked */
    int             points;    /* most points of any GP */
    int             single;    /* GPs sampled in single precision, if the rollout wants it */
} mcp_posteriors;

mcp_status mcp_posteriors_create(mcp_posteriors *p, const mcp_posteriors_request *q, mcp_error *err);
void       mcp_posteriors_free(mcp_posteriors *p); /* of one that was never made too, if it is zeros */

#endif
