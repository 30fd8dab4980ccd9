/* bench_problem.h - the cart-pole that bench step measures: simulated trials, GPs trained on them,
 * posteriors, a policy. */
#ifndef BENCH_PROBLEM_H
#define BENCH_PROBLEM_H

#include "control/system.h"
#include "mcpilco/task.h"
#include "optim/optimise.h"
#include "optim/policy_init.h"

typedef struct {
    int    data, particles, horizon, basis, threads, sparse, single, mixed, repeats, block, json;
    int    scaling, seeds; /* other measurements, bench_more.c */
    double tolerance, dropout;
} bench_request;

typedef struct {
    mcp_task      *task;
    mcp_system    *system;
    mcp_gp        *gp[2];
    mcp_posterior *posterior[2];
    mcp_pool      *pool;
    mcp_rollout   *rollout;
    double        *theta, *gradient, *m, *v, *visited;
    int            visits, params, points[2], rows[2]; /* points of a posterior, and those in Q */
} bench_problem;

mcp_status bench_make(bench_problem *b, const bench_request *q, mcp_error *err);
void       bench_unmake(bench_problem *b); /* also after failure */
/* Another particle simulation of the same problem. */
mcp_status bench_rollout(mcp_rollout **out, const bench_problem *b, const bench_request *q, int single,
                         mcp_pool *pool, mcp_error *err);
/* J and gradient of noise draw `number`. */
mcp_status bench_gradient(const bench_problem *b, mcp_rollout *r, const bench_request *q, uint32_t number,
                          double *J, double *gradient, mcp_error *err);

/* One against q->threads threads, step by step in one process. */
mcp_status bench_scaling(bench_problem *b, const bench_request *q, mcp_error *err);
/* Mixed against double precision over q->seeds draws of noise. */
mcp_status bench_margins(bench_problem *b, const bench_request *q, mcp_error *err);


#endif
