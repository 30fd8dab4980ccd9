/* optimise_parts.h - the inside of an optimisation, for the files that make it up:
 *   optimise.c  steps, evaluations, when to stop
 *   starts.c    where it begins: fresh policies, the cheapest of many, a regulator at the goal */
#ifndef MCP_OPTIMISE_PARTS_H
#define MCP_OPTIMISE_PARTS_H

#include "control/score.h"
#include "model/posterior.h"
#include "optim/adam.h"
#include "optim/optimise.h"
#include "optim/policy_init.h"
#include "optim/rules.h"

/* Step numbers of noise that stays: the evaluation's, the sparse posterior's check's, the draws', that of
 * particles near the goal. */
#define MCP_FIXED_NOISE UINT32_MAX
#define MCP_CHECK_NOISE (UINT32_MAX - 1)
#define MCP_DRAW_NOISE  (UINT32_MAX - 2)
#define MCP_HOLD_NOISE  (UINT32_MAX - 3)

typedef struct {
    const mcp_optimise_request  *q;
    const mcp_optimise_settings *set;
    mcp_optimise_info           *info;
    mcp_error                   *err;
    mcp_rollout *rollout, *few, *judge; /* few: for the first steps; judge: for evaluations */
    int          coarse;                /* 1: the few are in use */
    double work, few_work, judge_work; /* of a gradient of each; 1: of all particles over a trial */
    int                          judges;          /* its particles */
    mcp_adam                     adam;
    mcp_pace                     pace;
    int                          params, steps_max, room;
    uint32_t                     draws;    /* noise sets used */
    uint32_t                     policies; /* fresh policies drawn */
    double                      *theta, *gradient, *best, *rate;
    mcp_policy_units             units;
    double                       trial_cost;   /* unit of J */
    double                      *adjoint_unit; /* [nx] */
    double                      *near_std;     /* [nx] of starts near the goal */
    double best_score, best_cost; /* on the fixed noise: with failures counted, and J alone */
    double *states, *applied; /* of an evaluation's particles; NULL: no success test */
    double wider; /* factor on the noise of gradients: what fails now and then is met more often */
    double best_failed;       /* share that fails with the best policy */
    double failed;            /* the share of them that failed in the last evaluation */
    double *costs, *reference_costs; /* [judges] of the last evaluation, and of the last that counted */
    mcp_scorer *scorer;
    double                       score_first, failed_first;
    int                          stopped;   /* by the callback */
    int                          spent;     /* the budget is used up */
    double                       began;
} mcp_search;

/* Particles with the policy in theta, on the noise of this step. stress: factor on it. */
mcp_status mcp_search_particles(mcp_search *s, mcp_rollout *rollout, uint32_t step, double dropout,
                                double stress, mcp_rollout_result *result, mcp_error *err);

/* Draws a fresh policy into theta. */
mcp_status mcp_start_fresh(mcp_search *s, double boldness);
/* The cheapest of many fresh policies, the one in theta among them. */
mcp_status mcp_start_cast(mcp_search *s);
/* The policy in theta with the regulator of this model at the goal, where particles near it do better so and
 * keep is 0; and what "near" is. */
mcp_status mcp_start_regulated(mcp_search *s, mcp_posterior *const *model, int keep);

#endif
