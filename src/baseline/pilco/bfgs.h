/* bfgs.h - quasi-Newton minimisation with a bounded number of line searches, for smooth functions that may
 * fail (not a number) far from where they are sensible. */
#ifndef MCP_PILCO_BFGS_H
#define MCP_PILCO_BFGS_H

#include "mcpilco/error.h"

/* Value and gradient at x; INFINITY or NaN: no value there. */
typedef double mcp_bfgs_value(void *context, const double *x, double *gradient);
/* After every line search; non-zero: stop. */
typedef int mcp_bfgs_step(void *context, int search, double f, double gradient_norm, double step);

typedef struct {
    int    searches_max;    /* line searches                       */
    int    evaluations_max; /* per line search                     */
    double tolerance;       /* stop: relative gain of the last ten searches together, ...     */
    double plateau;         /* ... once f is below this; above it small gains are what a plateau looks like */
} mcp_bfgs_settings;

typedef struct {
    int    searches, evaluations, converged, stopped;
    double f;
} mcp_bfgs_info;

/* x: in the start, out the best found. Fails only when there is no value at the start, or no memory. */
mcp_status mcp_bfgs(int n, double *x, mcp_bfgs_value *value, mcp_bfgs_step *step, void *context,
                    const mcp_bfgs_settings *s, mcp_bfgs_info *info, mcp_error *err);

#endif
