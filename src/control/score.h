/* score.h - what a motion was worth: one rule for trials on the plant, for particles and for forecasts.
 *
 * Cost and metric are summed over t = 0 .. T (or the metric is that of the last sample, as the task says);
 * success holds when the task's test is true at every sample of its last seconds and no limit is reached.
 * All of them are functions of the state and of the input that was applied: delayed, and limited. */
#ifndef MCP_SCORE_H
#define MCP_SCORE_H

#include "control/system.h"

typedef struct {
    double cost, metric;
    int    success, limit; /* limit: index of the first limit reached + 1, 0 = none */
} mcp_score;

/* States and applied inputs of one motion, sample k at states + k*state_stride and inputs + k*input_stride.
 * An input that is not a number (none is applied at T any more) is the one before it. */
typedef struct {
    int           samples;
    const double *states, *inputs;
    size_t        state_stride, input_stride;
} mcp_motion;

/* Room for the programs of cost and events; one per thread. */
typedef struct mcp_scorer mcp_scorer;
mcp_status mcp_scorer_create(mcp_scorer **out, const mcp_system *s, mcp_error *err);
void       mcp_scorer_free(mcp_scorer *k);

void mcp_scorer_run(mcp_scorer *k, const mcp_motion *m, mcp_score *out);
/* Success alone, with a test that must hold longer than asked by the fraction `margin` (but by no more than
 * half of the time before its window). 0 for a task without a success test. */
int mcp_scorer_success(mcp_scorer *k, const mcp_motion *m, double margin);

#endif
