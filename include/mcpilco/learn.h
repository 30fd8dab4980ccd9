/* learn.h - learn a policy for a task, trial by trial.
 *
 *   mcp_learn_settings_default(&settings);
 *   mcp_learner_create(&l, task, &settings, &err);
 *   while (mcp_learner_trials(l) < 5 && mcp_learner_trial(l, &info, &err) == MCP_OK) ...
 *   mcp_learner_free(l);
 *
 * The first calls explore, as often as the task says; each later call learns from all data so far and tries
 * the new policy on the plant. With a run folder every finished stage is on disk before the next begins, and
 * a learner created with resume = 1 goes on from there to the same numbers, bit for bit. */
#ifndef MCPILCO_LEARN_H
#define MCPILCO_LEARN_H

#include <stddef.h>
#include <stdint.h>

#include "mcpilco/error.h"
#include "mcpilco/plant.h"
#include "mcpilco/task.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mcp_learner mcp_learner;
typedef struct mcp_run     mcp_run; /* its trials so far, or those of a folder: run.h */

typedef enum {
    MCP_PHASE_EXPLORE = 0, /* an exploration trial on the plant     */
    MCP_PHASE_ESTIMATE,    /* offline state estimation              */
    MCP_PHASE_MODEL,       /* training the GPs                      */
    MCP_PHASE_OPTIMISE,    /* policy optimisation                   */
    MCP_PHASE_FORECAST,    /* what the particles say will happen    */
    MCP_PHASE_TRIAL        /* the policy on the plant               */
} mcp_phase;
MCP_API const char *mcp_phase_name(mcp_phase p) MCP_ANY_THREAD; /* "explore", "estimate", ... */

/* What an optimisation step brought, and how the optimisation ended. */
typedef enum {
    MCP_EVENT_NONE = 0,
    MCP_EVENT_RATE_LOWERED,
    MCP_EVENT_RESTART,  /* after numbers that were not finite */
    MCP_EVENT_CANDIDATE /* a fresh policy is tried */
} mcp_learn_event;
/* MCP_BUDGET_SPENT: stopped by optimise.budget. MCP_STUCK: no step lowered the expected cost, or the
 * particles left all bounds again and again; the policy is a guess. */
typedef enum {
    MCP_CONVERGED = 0,
    MCP_STEPS_MAX,
    MCP_KEPT_INCUMBENT,
    MCP_INTERRUPTED,
    MCP_BUDGET_SPENT,
    MCP_STUCK
} mcp_outcome;

/* How a run stands. */
typedef enum {
    MCP_RUN_IS_RUNNING = 0,
    MCP_RUN_IS_WAITING, /* for a recorded trial */
    MCP_RUN_IS_FINISHED,
    MCP_RUN_IS_STOPPED,
    MCP_RUN_IS_FAILED,
    MCP_RUN_IS_UNKNOWN
} mcp_run_state;
MCP_API const char *mcp_run_state_name(mcp_run_state s) MCP_ANY_THREAD; /* "running", "waiting", ... */

/* Where the learner is. Fields of the optimisation are NaN in other phases. */
typedef struct {
    mcp_phase phase;
    int       trial;       /* policy trial, or exploration trial in its phase, from 1 */
    int       step, steps; /* optimisation steps or samples done, and at most          */
    double    cost, cost_std, best; /* predicted, of this step; best: on the fixed noise set */
    double    step_size, dropout, gradient_norm;
    mcp_learn_event event;
    double    seconds;     /* since the phase began */
} mcp_learn_progress;
typedef int mcp_learn_progress_fn(void *context, const mcp_learn_progress *p); /* non-zero: stop now */

typedef struct {
    size_t      size;      /* of this struct, written by mcp_learn_settings_default                    */
    uint64_t    seed;      /* same task + settings + seed => same numbers, for any number of threads   */
    int         threads;   /* 0: one per core                                                          */
    const char *algorithm; /* NULL: the task's                                                         */
    const char *folder;    /* run folder, made if need be; NULL: nothing is written                    */
    int         resume;    /* 1: go on with what is in the folder; 0: a folder with a run is refused   */
    int         trials;    /* policy trials wanted: noted in the folder, not enforced                  */
    int         particles_kept; /* particles saved per forecast                                        */
    double risk; /* a policy whose forecast chance of a limit is above this is not run; 1: all are */
    mcp_learn_progress_fn *progress; /* may be NULL; called from the thread that learns                */
    void       *progress_context;
    const mcp_plant_ops *plant; /* your own plant, copied; its context is borrowed. NULL: the task's   */
    void       *plant_context;
    mcp_watch   watch;          /* while a plant at the end of a wire is waited for; all NULL: nobody   */
} mcp_learn_settings;
MCP_API void mcp_learn_settings_init(mcp_learn_settings *s, size_t size) MCP_ANY_THREAD;
#define mcp_learn_settings_default(s) mcp_learn_settings_init((s), sizeof(mcp_learn_settings))

/* What one trial was. Numbers that do not apply (exploration has no forecast) or are not known are NaN. */
typedef struct {
    int    explored, number;  /* explore-NN or trial-NN                                             */
    int    restored;          /* 1: read from the run folder                                        */
    int    samples;           /* recorded                                                           */
    int    data;              /* GP pairs the policy was learned from                               */
    mcp_outcome outcome;             /* of the optimisation                                         */
    int    steps, restarts;
    double cost_first, cost_last;    /* predicted on the fixed noise set, before and after          */
    double check_cosine;             /* sparse posterior's gradient against the exact one's         */
    double forecast_cost, forecast_std, forecast_success, forecast_limit; /* before the trial       */
    double cost, metric;             /* on the plant: cumulative; metric_at: end: at the last sample */
    int    success, limit;           /* limit: index from 1 of the first one reached, 0 = none      */
    int    ended;                    /* before its time, see reason                                 */
    char   reason[128];
    double coverage;                 /* share of states inside the particles' 5-95 % band           */
    double estimate_s, model_s, optimise_s, forecast_s, plant_s; /* wall time                       */
    double check_first; /* check_cosine at the task's tolerance; below 0.99 it was lowered ...      */
    double tolerance;   /* ... to this; 0 = the exact posterior                                     */
} mcp_learn_info;

/* Borrows task until mcp_learner_free; copies s. On failure *out is NULL and nothing leaks. */
MCP_API mcp_status mcp_learner_create(mcp_learner **out, const mcp_task *task, const mcp_learn_settings *s,
                                      mcp_error *err) MCP_ANY_THREAD;
MCP_API void       mcp_learner_free(mcp_learner *l) MCP_ONE_THREAD;
/* The next trial, whole. *info (may be NULL) is good until the next call that makes, prepares or adds a
 * trial; after a failure it tells how far the trial came, or is NULL. MCP_ERR_STOPPED when progress or
 * mcp_learner_stop asked to stop: what was finished is kept, and the next call goes on from there, to the
 * same numbers as if nobody had stopped it. */
MCP_API mcp_status mcp_learner_trial(mcp_learner *l, const mcp_learn_info **info,
                                     mcp_error *err) MCP_ONE_THREAD;
/* The next trial up to the point where the plant would move: model, policy and forecast are made and saved.
 */
MCP_API mcp_status mcp_learner_prepare(mcp_learner *l, const mcp_learn_info **info,
                                       mcp_error *err) MCP_ONE_THREAD;
/* Asks a call that is under way in another thread, or the next one, to return MCP_ERR_STOPPED soon. May be
 * called from a signal handler. */
MCP_API void mcp_learner_stop(mcp_learner *l) MCP_ANY_THREAD;

/* A trial that ran elsewhere: row k holds what was measured at k/rate and what was commanded from then on. */
typedef struct {
    size_t        size;     /* of this struct, written by mcp_recorded_trial_default */
    int           samples;  /* rows; a whole trial of T steps has T + 1 */
    const double *measured; /* samples x measured channels */
    const double *input;    /* samples x inputs; the last row does not matter */
    const double *applied;  /* samples x inputs, applied from that row on; NULL: as commanded, delayed */
    const double *truth;    /* samples x states; NULL: not known */
    const char   *ended;    /* why it ended before its time; NULL: it is whole, or reached a limit */
    /* a policy's commands may differ from those that it would have given by this share of their limit */
    double        input_tolerance;
} mcp_recorded_trial;
MCP_API void mcp_recorded_trial_init(mcp_recorded_trial *t, size_t size) MCP_ANY_THREAD;
#define mcp_recorded_trial_default(t) mcp_recorded_trial_init((t), sizeof(mcp_recorded_trial))
/* Takes a recorded trial, which is copied, as the next one. As long as exploration trials are wanted it is
 * one of these, with any inputs; after them it is a trial of the policy that mcp_learner_prepare made. */
MCP_API mcp_status mcp_learner_add_trial(mcp_learner *l, const mcp_recorded_trial *t,
                                         const mcp_learn_info **info, mcp_error *err) MCP_ONE_THREAD;

MCP_API int mcp_learner_explored(const mcp_learner *l) MCP_READS;     /* exploration trials done */
MCP_API int mcp_learner_explorations(const mcp_learner *l) MCP_READS; /* wanted by the task */
MCP_API int mcp_learner_trials(const mcp_learner *l) MCP_READS;       /* policy trials done */
/* Trial i of all done so far, exploration first; NULL = there is no such trial. */
MCP_API const mcp_learn_info *mcp_learner_info(const mcp_learner *l, int i) MCP_READS;
/* All that was learned so far, for the functions of run.h; the learner's own. */
MCP_API const mcp_run *mcp_learner_run(const mcp_learner *l) MCP_READS;
/* The last policy and its length; NULL before the first. */
MCP_API const double *mcp_learner_policy(const mcp_learner *l, int *count) MCP_READS;
/* Which policy to use: *trial is the policy trial that all evidence speaks for, what the trials did and what
 * a model of all data says of each policy; 0: there is none yet. Trains that model if need be (seconds), and
 * keeps the answer in the folder. */
MCP_API mcp_status mcp_learner_recommend(mcp_learner *l, int *trial, mcp_error *err) MCP_ONE_THREAD;
/* Notes in the folder how the run stands. */
MCP_API mcp_status mcp_learner_close(mcp_learner *l, mcp_run_state state, mcp_error *err) MCP_ONE_THREAD;

#ifdef __cplusplus
}
#endif
#endif
