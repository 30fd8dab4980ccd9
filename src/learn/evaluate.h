/* evaluate.h - one policy, many runs: on the plant from fresh starts and noise, and on the learned model. */
#ifndef MCP_EVALUATE_H
#define MCP_EVALUATE_H

#include "learn/run_folder.h"

typedef struct {
    int    runs, successes, limits, ended;
    double low, high;                       /* Wilson's 95 % interval of the success rate */
    double cost_p05, cost_median, cost_p95; /* cumulative cost                            */
    double metric_p05, metric_median, metric_p95, metric_mean, metric_max;
    double *cost, *metric;                  /* [runs] in order of the runs; NULL when not wanted */
    int    *success;                        /* [runs] */
} mcp_evaluation;
void mcp_evaluation_free(mcp_evaluation *e); /* the lists */

typedef int mcp_evaluate_fn(void *context, int done, int runs); /* non-zero: stop */

/* theta on the plant. Simulated plants run on all threads, a plant per thread; real ones one run after the
 * other. Runs are numbered from 1: run k has the same start and noise for every policy. */
mcp_status mcp_evaluate_plant(mcp_evaluation *out, const mcp_system *s, const double *theta, int runs,
                              uint64_t seed, int trial, mcp_pool *pool, mcp_evaluate_fn *tell, void *context,
                              mcp_error *err);
/* The same on particles. */
mcp_status mcp_evaluate_model(mcp_evaluation *out, const mcp_system *s, const mcp_fit *fit,
                              const double *theta, int true_state, int runs, uint64_t seed, int trial,
                              mcp_pool *pool, mcp_error *err);
/* 1: this plant is a computation, safe to run many times at once and without asking. */
int mcp_plant_is_simulated(const mcp_task *task);

#endif
