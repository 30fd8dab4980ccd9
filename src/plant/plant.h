/* plant.h - a robot or its stand-in: reset, then step by step. */
#ifndef MCP_PLANT_H
#define MCP_PLANT_H

#include "control/system.h"
#include "plant/trial.h"

typedef struct mcp_plant mcp_plant;

/* One sample as the plant gives it. */
typedef struct {
    double time;                       /* s since reset                                    */
    double truth[MCP_MAX_STATE];       /* NaN where unknown                                */
    double measured[MCP_MAX_STATE];    /* ny values: noise, quantisation and delay included */
    double applied[MCP_MAX_INPUT];     /* input really applied since the sample before; NaN: as commanded, delayed as the task says */
    double wall, sent, late, answer;   /* paced plants: s since reset by our clock at this sample, when the command before it
                                          left and how late, s from asking to the answer; NaN otherwise */
    int    missed;                     /* paced plants: a deadline was missed since the sample before */
    int    ended;                      /* the plant ended the trial; the sample is still valid */
    char   reason[96];
} mcp_sample;

/* What a kind of plant provides; context is its own. Each returns MCP_ERR_PLANT with a sentence when the plant is lost. */
typedef struct {
    /* x0: suggested start (a simulation starts there; a rig starts where it is). seed, trial, run: its noise. */
    mcp_status (*reset)(void *context, const double *x0, uint64_t seed, uint32_t trial, uint32_t run, mcp_sample *first, mcp_error *err);
    mcp_status (*step)(void *context, const double *u, mcp_sample *next, mcp_error *err); /* hold u for one period */
    mcp_status (*stop)(void *context, const double *safe_u, mcp_error *err);              /* end of trial, safe input */
    void       (*destroy)(void *context);
} mcp_plant_ops;

/* Opens the plant the task names. system is borrowed. */
mcp_status mcp_plant_open(mcp_plant **out, const mcp_system *system, mcp_error *err);
/* The user's own plant. */
mcp_status mcp_plant_from_ops(mcp_plant **out, const mcp_system *system, const mcp_plant_ops *ops, void *context, mcp_error *err);
void       mcp_plant_close(mcp_plant *p);

/* Runs one trial: theta == NULL explores with the task's exploration signal number `trial`, else the controller runs.
 * seed, trial and run key every random number: run 0 is the trial of the learning loop (stream MCP_RNG_PLANT), runs 1, 2, ..
 * are evaluations (MCP_RNG_EVALUATE). tick (may be NULL) is called after every sample and may return non-zero to end the
 * trial: then MCP_ERR_STOPPED. A limit, or a plant that ends the trial, is MCP_OK with out->ended and out->reason set.
 * Whatever happens, samples taken so far are in *out (its room: T+1) and the safe input was sent. */
typedef int mcp_tick_fn(void *context, const mcp_trial *so_far);
mcp_status mcp_plant_run(mcp_plant *p, const double *theta, uint64_t seed, uint32_t trial, uint32_t run, mcp_tick_fn *tick,
                         void *tick_context, mcp_trial *out, mcp_error *err);

/* After the fact: cumulative cost and metric over t = 0..T of the truth (or of the estimate when truth is unknown), and
 * whether the success test held; a trial that ended early has not succeeded. states: [sample][nx]. */
typedef struct {
    double cost, metric;
    int    success, limit; /* limit: index of the first limit hit + 1, 0 = none */
} mcp_score;
void mcp_trial_score(const mcp_system *s, const mcp_trial *t, const double *states, mcp_score *out);

/* Exploration input of one trial: u[T][nu]. */
mcp_status mcp_explore_inputs(const mcp_task *task, uint64_t seed, uint32_t trial, double *u, mcp_error *err);
/* A start state drawn from d (the task's start, or the exploration's own). */
void mcp_start_draw(const mcp_task *task, const mcp_task_start *d, uint64_t seed, uint32_t trial, uint32_t run, double *x0);
/* Its mean: what is known of the start without measuring it. */
void mcp_start_mean(const mcp_task *task, const mcp_task_start *d, double *x0);

#endif
