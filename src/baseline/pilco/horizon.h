/* horizon.h - the whole of PILCO's objective: expected cost of T steps by moment matching, and its gradient
 * in the policy.
 *
 *   x [nx] state; augmented: x, then sin and cos of each angle; joint: augmented, then u [nu]
 *   policy inputs are scaled entries of the augmented vector, model inputs scaled entries of the joint vector
 *   x' = A x + B Delta,  Delta the model's outputs;
 *     cost 1 - exp(-(a-z)^T W (a-z)/2) of the augmented a, at t = 0 .. T */
#ifndef MCP_PILCO_HORIZON_H
#define MCP_PILCO_HORIZON_H

#include "baseline/pilco/moments.h"

typedef struct {
    int     nx, nu, angles, T;
    int    *angle;                    /* [angles] state indices                       */
    double *A, *B;                    /* [nx][nx], [nx][model outputs]                */
    int     inputs;                   /* of the model                                 */
    int    *input;                    /* [inputs] joint index                         */
    double *input_scale;
    int     features, basis;          /* of the policy                                */
    int    *feature;                  /* [features] augmented index                   */
    double *feature_scale;
    double *limit;                    /* [nu] u = limit (9 sin s + sin 3 s)/8          */
    double *noise;                    /* [nx] variance of what the policy sees of x   */
    double *m0, *S0;                  /* start                                        */
    double *z, *W;                    /* cost, augmented size                         */
} mcp_horizon_problem;

typedef struct mcp_horizon mcp_horizon;

/* Borrows p and bank. */
mcp_status mcp_horizon_create(mcp_horizon **out, const mcp_horizon_problem *p, const mcp_bank *bank,
                              mcp_pool *pool, mcp_error *err);
void       mcp_horizon_free(mcp_horizon *h);
/* An easier problem on the way to the real one: only the first steps of the horizon, and W times sharpness (<
 * 1: a wider cost). (T, 1) is the problem itself. */
void       mcp_horizon_ease(mcp_horizon *h, int steps, double sharpness);
/* policy: n = features, b = basis, o = nu. Its gradient (NULL: not wanted) is set, not added. step: [T+1]
 * expected cost of each time, or NULL. */
mcp_status mcp_horizon_run(mcp_horizon *h, const mcp_network *policy, double *J, double *step,
                           const mcp_network_bar *policy_bar, mcp_error *err);

#endif
