/* descent.h - quasi-Newton minimisation (NLopt's L-BFGS) with a bounded number of evaluations, for smooth
 * functions that may fail (not a number) far from where they are sensible. */
#ifndef MCP_PILCO_DESCENT_H
#define MCP_PILCO_DESCENT_H

#include "mcpilco/error.h"

/* Value and gradient at x; INFINITY or NaN: no value there. */
typedef double mcp_descent_value(void *context, const double *x, double *gradient);
/* After every evaluation but the start's: the lowest value so far, the step's length; non-zero: stop. */
typedef int mcp_descent_step(void *context, int evaluation, double f, double gradient_norm, double length);

typedef struct {
    int    evaluations_max;
    double tolerance; /* stop: relative gain of the last twenty evaluations, ... */
    double plateau;   /* ... once f is below this; above it small gains are what a plateau looks like */
} mcp_descent_settings;

typedef struct {
    int    evaluations, converged, stopped;
    double f;
} mcp_descent_info;

/* x: in the start, out the best found. Fails only when there is no value at the start, or no memory. */
mcp_status mcp_descent(int n, double *x, mcp_descent_value *value, mcp_descent_step *step, void *context,
                       const mcp_descent_settings *s, mcp_descent_info *info, mcp_error *err);

#endif
