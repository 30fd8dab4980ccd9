/* plant_handle.h - a robot or its stand-in: reset, then step by step. */
#ifndef MCP_PLANT_HANDLE_H
#define MCP_PLANT_HANDLE_H

#include "control/score.h"
#include "mcpilco/plant.h"
#include "plant/trial.h"

typedef struct mcp_plant mcp_plant;

_Static_assert((int)MCP_SAMPLE_STATES == (int)MCP_MAX_STATE && (int)MCP_SAMPLE_INPUTS == (int)MCP_MAX_INPUT,
               "the public sample holds any task");

/* Opens the plant the task names. system is borrowed. */
mcp_status mcp_plant_open(mcp_plant **out, const mcp_system *system, mcp_error *err);
/* The user's own plant. */
mcp_status mcp_plant_from_ops(mcp_plant **out, const mcp_system *system, const mcp_plant_ops *ops,
                              void *context, mcp_error *err);
void       mcp_plant_close(mcp_plant *p);

/* Of every random number of a trial: run 0 is the trial of the learning loop (stream MCP_RNG_PLANT), runs 1,
 * 2, .. are evaluations (MCP_RNG_EVALUATE). */
typedef struct {
    uint64_t seed;
    uint32_t trial, run;
} mcp_trial_key;
/* Runs one trial: theta == NULL explores with the task's exploration signal number key.trial, else the
 * controller runs. tick (may be NULL) is called after every sample and may return non-zero to end the trial:
 * then MCP_ERR_STOPPED. A limit, or a plant that ends the trial, is MCP_OK with out->ended and out->reason
 * set. Whatever happens, samples taken so far are in *out (its room: T+1) and the safe input was sent. */
typedef int mcp_tick_fn(void *context, const mcp_trial *so_far);
mcp_status mcp_plant_run(mcp_plant *p, const double *theta, mcp_trial_key key, mcp_tick_fn *tick,
                         void *tick_context, mcp_trial *out, mcp_error *err);
/* The same with given inputs u[T][nu], clamped like any other. */
mcp_status mcp_plant_run_inputs(mcp_plant *p, const double *u, mcp_trial_key key, mcp_tick_fn *tick,
                                void *tick_context, mcp_trial *out, mcp_error *err);

/* The score of a recorded trial by its applied inputs; one that ended early has not succeeded. states:
 * [sample][nx] the truth, or the estimate where that is unknown. */
void mcp_trial_score(const mcp_system *s, const mcp_trial *t, const double *states, mcp_score *out);

/* Exploration input of one trial: u[T][nu]. lasted: s, of an exploration before that ended early, or 0.
 * A band of sines that the task does not name follows it, or a trial that a fall ends would show nothing of
 * what the input does. */
mcp_status mcp_explore_inputs(const mcp_task *task, uint64_t seed, uint32_t trial, double lasted, double *u,
                              mcp_error *err);
/* A start state drawn from d (the task's start, or the exploration's own). */
void mcp_start_draw(const mcp_task *task, const mcp_task_start *d, uint64_t seed, uint32_t trial,
                    uint32_t run, double *x0);
/* The numbers of plant.random for a trial: value[list->n]. */
void mcp_random_draw(const mcp_random_list *list, uint64_t seed, uint32_t trial, uint32_t run, double *value);
/* Its mean: what is known of the start without measuring it. */
void mcp_start_mean(const mcp_task *task, const mcp_task_start *d, double *x0);

#endif
