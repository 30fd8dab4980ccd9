/* recommend.h - which of a run's policies to use: by what its trials did and by what the present model, which
 * has seen every trial, says of each policy on the same noise. RUN/recommend.json keeps the answer. */
#ifndef MCP_RECOMMEND_H
#define MCP_RECOMMEND_H

#include "learn/run_folder.h"

/* What is known of one policy. A policy that was kept through several trials is one policy. */
typedef struct {
    int    number;                    /* the last trial it ran in */
    int    trials, successes;         /* on the plant */
    double plant_cost;                /* mean of its trials */
    double model_success, model_cost; /* on the present model; NaN: not asked */
    double success, cost;             /* all evidence together */
} mcp_policy_evidence;

typedef struct {
    int                  number; /* trial of the recommended policy, 0: there is none yet */
    int                  trials; /* policy trials that were looked at */
    int                  data;   /* GP pairs of the model that was asked, 0: no model */
    int                  count;
    mcp_policy_evidence *policy; /* [count] */
} mcp_recommendation;

/* fit NULL: by the trials alone. With it, policies that could be the best are run on its particles. */
mcp_status mcp_recommend(mcp_recommendation **out, const mcp_run *r, const mcp_fit *fit, mcp_pool *pool,
                         mcp_error *err);
void       mcp_recommendation_free(mcp_recommendation *m);
mcp_status mcp_recommendation_store(const mcp_run *r, const mcp_recommendation *m, mcp_error *err);
/* What the folder holds, if it looked at the trials that are there now; else by the trials alone. */
mcp_status mcp_recommendation_load(mcp_recommendation **out, const mcp_run *r, mcp_error *err);
/* Its trial alone; 0: no policy yet. */
int mcp_recommended(const mcp_run *r);

/* Fills success and cost of each and returns the index of the best, -1 for none. test: the task has a success
 * test; without one the cost alone decides. */
int mcp_evidence_weigh(mcp_policy_evidence *policy, int count, int test);

/* What a cost of this run can be: the largest of its trials, had each lasted to the end. The unit in which a
 * gain is worth a change of policy; NaN before the first trial. */
double mcp_run_cost_scale(const mcp_run *r);

#endif
