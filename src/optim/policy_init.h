/* policy_init.h - a fresh policy to begin from, and the units that learning measures by. */
#ifndef MCP_POLICY_INIT_H
#define MCP_POLICY_INIT_H

#include "control/system.h"

typedef struct {
    const mcp_system *system;
    const double     *visited; /* [visits][nx] states the plant went through; may be NULL */
    int               visits;
    uint64_t          seed;
    uint32_t          trial, draw; /* the same (seed, trial, draw) gives the same numbers */
    double boldness; /* factor on the weights that ask for inputs; 0 counts as 1 */
    int at_start; /* scaling: none, rbf centres where trials start, as PILCO's authors have it */
} mcp_policy_request;

/* A fresh policy: rbf centres and lengths in the ranges of `visited`, weights in units of the input limits.
 */
mcp_status mcp_policy_draw(const mcp_policy_request *q, double *theta, mcp_error *err);

/* What one unit of each quantity is, from data, start, cost and limits; so that rescaling any of them changes
 * nothing. A parameter's unit: rbf centres a length-scale, weights (and whatever else acts on the commands
 * alone) half of an input's limit. */
typedef struct {
    double *param; /* [params] */
    double *state; /* [nx] half of the range where the cost tells states apart; of a turn for an angle */
    double *goal;  /* [nx] the cheapest state, at rest; NaN: the cost tells none apart */
    double  cost;  /* rise of the cost of a step over that range; NaN: it does not depend on the state */
} mcp_policy_units;
mcp_status mcp_policy_measure(const mcp_policy_request *q, mcp_policy_units *units, mcp_error *err);
void       mcp_policy_units_free(mcp_policy_units *units);

#endif
