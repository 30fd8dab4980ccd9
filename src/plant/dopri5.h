/* dopri5.h - x' = f(x) over one sample with an error-controlled step: the Dormand-Prince pair of order 5(4).
 */
#ifndef MCP_DOPRI5_H
#define MCP_DOPRI5_H

#include <stddef.h>

#include "mcpilco/error.h"

typedef void mcp_ode_fn(void *context, const double *x, double *dx);

typedef struct {
    mcp_ode_fn *f;
    void       *context;
    int         n;
    double      tolerance; /* of a step's error to the size of the state   */
    double      step;      /* next step to try, s; 0: choose one (a new trial) */
    double     *work;      /* mcp_ode_work(n) doubles                      */
    long        steps, rejected;
} mcp_ode;

size_t mcp_ode_work(int n);
/* Advances x[n] by `span` seconds. Fails with MCP_ERR_NUMERIC when the solution is not finite or the step
 * vanishes; x is then where it got to. */
mcp_status mcp_ode_advance(mcp_ode *o, double span, double *x, mcp_error *err);

#endif
