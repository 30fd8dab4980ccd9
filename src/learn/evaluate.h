/* evaluate.h - one policy, many runs: on the plant from fresh starts and noise, and on the learned model. */
#ifndef MCP_EVALUATE_H
#define MCP_EVALUATE_H

#include "learn/run_folder.h"

void mcp_evaluation_clear(mcp_evaluation *e); /* frees the lists of one that stands on the stack */

/* theta, q->runs times on the plant. Simulated plants run on all threads, a plant per thread; real ones and
 * the caller's own one run after the other. Runs are numbered from 1: run k has the same start and noise for
 * every policy of q->trial. q->threads and q->where are not read. */
mcp_status mcp_evaluate_plant(mcp_evaluation *out, const mcp_system *s, const double *theta,
                              const mcp_evaluate_settings *q, mcp_pool *pool, mcp_error *err);
/* The same on particles; true_state: the policy sees their state itself. */
mcp_status mcp_evaluate_model(mcp_evaluation *out, const mcp_fit *fit, const double *theta, int true_state,
                              const mcp_evaluate_settings *q, mcp_pool *pool, mcp_error *err);
/* 1: this plant is a computation, safe to run many times at once and without asking. */
int mcp_plant_is_simulated(const mcp_task *task);

#endif
