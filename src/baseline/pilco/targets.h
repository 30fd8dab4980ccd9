/* targets.h - the policy's network as the mean of a GP through pseudo-targets, which is what the search
 * moves.
 *   x = y [nu][b] targets, c [b][f] centres, log l [f];   w = (K + 0.01^2 I)^-1 y,
 *     K_ij = exp(-sum_d ((c_id - c_jd)/l_d)^2)
 *   lambda = l^2/2 as moments.h takes it */
#ifndef MCP_PILCO_TARGETS_H
#define MCP_PILCO_TARGETS_H

#include "mcpilco/error.h"

/* Weights and lambda from x; K and its factor L [b][b] stay for backward. Fails when centres coincide beyond
 * rounding. */
typedef struct {
    int     nu, b, f;
    double *w, *lambda; /* [nu][b], [f] */
    double *K, *L;      /* [b][b] */
} mcp_targets;
mcp_status mcp_targets_forward(const mcp_targets *t, const double *x);
/* x_bar: its part of c holds what the network's adjoint gave and is added to; its other parts are set. */
void mcp_targets_backward(const mcp_targets *t, const double *x, const double *w_bar,
                          const double *lambda_bar, double *x_bar);
/* The targets in x that give weights w, for the centres and lengths in x. K: scratch [b][b]. */
void mcp_targets_from_weights(int nu, int b, int f, const double *w, double *x, double *K);

#endif
