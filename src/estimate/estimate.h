/* estimate.h - OFFLINE state estimation: it may look ahead. Recorded measurements -> smoothed states -> GP data. */
#ifndef MCP_ESTIMATE_H
#define MCP_ESTIMATE_H

#include "control/system.h"
#include "plant/trial.h"

typedef struct {
    int     first, count;  /* samples first .. first+count-1 of the trial have an estimate */
    int     nx;
    double *state;         /* [count][nx] */
    double *change_std;    /* [ngp] standard deviation of the error in each GP's target that the smoother itself expects
                              (from the sensor noise); the GP noise floor is derived from it. 0 = unknown */
} mcp_states;

mcp_status mcp_estimate_states(mcp_states **out, const mcp_system *s, const mcp_trial *t, mcp_error *err);
void       mcp_states_free(mcp_states *s);

/* GP pairs of all trials: X [n][nf] features of (state, applied input), Y [ngp][n] changes minus prior mean. Features with
 * prev() see the trial's own sequence; pairs never cross trials. */
typedef struct {
    int     n, nf, ngp;
    double *X, *Y;
} mcp_pairs;
mcp_status mcp_estimate_pairs(mcp_pairs **out, const mcp_system *s, int trials, mcp_trial *const *trial,
                              mcp_states *const *states, mcp_error *err);
void       mcp_pairs_free(mcp_pairs *p);

#endif
