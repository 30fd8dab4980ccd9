/* likelihood.h - the negative log likelihood of a GP as a function of its hyper-parameters, for
 * check_differences. */
#ifndef LIKELIHOOD_H
#define LIKELIHOOD_H

#include "mcpilco/gp.h"
#include "test.h"

static inline double likelihood_at(void *gp, const double *hyper)
{
    double value = NAN;
    CHECK_OK(mcp_gp_set(gp, hyper, err));
    CHECK_OK(mcp_gp_nlml(gp, &value, NULL, err));
    return value;
}

#endif
