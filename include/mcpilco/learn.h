/* learn.h - learn a policy for a task, trial by trial.
 *
 *   mcp_learner_create(&l, task, &settings, &err);
 *   while (mcp_learner_trials(l) < 5) mcp_learner_trial(l, &info, &err);
 *   mcp_learner_free(l);
 *
 * The first calls explore, as often as the task says; each later call learns from all data so far and tries
 * the new policy on the plant. With a run folder every finished stage is on disk before the next begins, and
 * a learner created with resume = 1 goes on from there to the same numbers, bit for bit. */
#ifndef MCPILCO_LEARN_H
#define MCPILCO_LEARN_H

#include <stdint.h>

#include "mcpilco/error.h"
#include "mcpilco/plant.h"
#include "mcpilco/task.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mcp_learner mcp_learner; /* opaque, defined in src/learn/learn.c */

typedef enum {
    MCP_PHASE_EXPLORE = 0, /* an exploration trial on the plant     */
    MCP_PHASE_ESTIMATE,    /* offline state estimation              */
    MCP_PHASE_MODEL,       /* training the GPs                      */
    MCP_PHASE_OPTIMISE,    /* policy optimisation                   */
    MCP_PHASE_FORECAST,    /* what the particles say will happen    */
    MCP_PHASE_TRIAL        /* the policy on the plant               */
} mcp_phase;
MCP_API const char *mcp_phase_name(mcp_phase p) MCP_ANY_THREAD; /* "explore", "estimate", ... */

/* Where the learner is. Fields of the optimisation are NaN in other phases. */
typedef struct {
    mcp_phase phase;
    int       trial;       /* policy trial, or exploration trial in its phase, from 1 */
    int       step, steps; /* optimisation steps or samples done, and at most          */
    double    cost, cost_std, best; /* predicted, of this step; best: on the fixed noise set */
    double    step_size, dropout, gradient_norm;
    int       event;       /* 0 none, 1 rate lowered, 2 restart after NaN, 3 new candidate */
    double    seconds;     /* since the phase began */
} mcp_learn_progress;
typedef int mcp_learn_progress_fn(void *context, const mcp_learn_progress *p); /* non-zero: stop now */

typedef struct {
    uint64_t    seed;      /* same task + settings + seed => same numbers, for any number of threads   */
    int         threads;   /* 0: one per core                                                          */
    const char *algorithm; /* NULL: the task's                                                         */
    const char *folder;    /* run folder, made if need be; NULL: nothing is written                    */
    int         resume;    /* 1: go on with what is in the folder; 0: a folder with a run is refused   */
    int         trials;    /* policy trials wanted: noted in the folder, not enforced                  */
    int         particles_kept; /* particles saved per forecast                                        */
    double risk; /* a policy whose forecast chance of a limit is above this is not run; 1: all are */
    const char *const *overrides; /* the texts the task was loaded with: the folder keeps them          */
    int         override_count;
    mcp_learn_progress_fn *progress; /* may be NULL; called from the thread that learns                */
    void       *progress_context;
    const mcp_plant_ops *plant; /* your own plant; borrowed until mcp_learner_free. NULL: the task's   */
    void       *plant_context;
    mcp_watch   watch;          /* while a plant at the end of a wire is waited for; all NULL: nobody   */
} mcp_learn_settings;
MCP_API void mcp_learn_settings_default(mcp_learn_settings *s) MCP_ANY_THREAD;

/* What one trial was. Numbers that do not apply (exploration has no forecast) or are not known are NaN. */
typedef struct {
    int    explored, number;  /* explore-NN or trial-NN                                             */
    int    restored;          /* 1: read from the run folder                                        */
    int    samples;           /* recorded                                                           */
    int    data;              /* GP pairs the policy was learned from                               */
    int    outcome, steps, restarts; /* of the optimisation: 0 converged, 1 steps_max, 2 kept incumbent */
    double cost_first, cost_last;    /* predicted on the fixed noise set, before and after          */
    double check_cosine;             /* sparse posterior's gradient against the exact one's         */
    double forecast_cost, forecast_std, forecast_success, forecast_limit; /* before the trial       */
    double cost, metric;             /* on the plant: cumulative; metric_at: end: at the last sample */
    int    success, limit;           /* limit: index from 1 of the first one reached, 0 = none      */
    int    ended;                    /* before its time, see reason                                 */
    char   reason[128];
    double coverage;                 /* share of states inside the particles' 5-95 % band           */
    double estimate_s, model_s, optimise_s, forecast_s, plant_s; /* wall time                       */
} mcp_learn_info;

/* Borrows task until mcp_learner_free; copies s. On failure *out is NULL and nothing leaks. */
MCP_API mcp_status mcp_learner_create(mcp_learner **out, const mcp_task *task, const mcp_learn_settings *s,
                                      mcp_error *err) MCP_ANY_THREAD;
MCP_API void       mcp_learner_free(mcp_learner *l) MCP_ONE_THREAD; /* NULL is fine */
/* The next trial, whole. MCP_ERR_STOPPED when progress asked to stop: what was finished is kept. */
MCP_API mcp_status mcp_learner_trial(mcp_learner *l, mcp_learn_info *info, mcp_error *err) MCP_ONE_THREAD;
/* The next trial up to the point where the plant would move: model, policy and forecast are made and saved.
 */
MCP_API mcp_status mcp_learner_prepare(mcp_learner *l, mcp_learn_info *info, mcp_error *err) MCP_ONE_THREAD;

MCP_API int mcp_learner_explored(const mcp_learner *l) MCP_READS; /* exploration trials done */
MCP_API int mcp_learner_explorations(const mcp_learner *l) MCP_READS; /* wanted by the task */
MCP_API int mcp_learner_trials(const mcp_learner *l) MCP_READS; /* policy trials done */
/* Trial i of all done so far, exploration first; 0 = there is no such trial. */
MCP_API int mcp_learner_info(const mcp_learner *l, int i, mcp_learn_info *info) MCP_READS;
/* The last policy and its length; NULL before the first. */
MCP_API const double *mcp_learner_policy(const mcp_learner *l, int *count) MCP_READS;
/* Which policy to use: *trial is the policy trial that all evidence speaks for, what the trials did and what a
 * model of all data says of each policy; 0: there is none yet. Trains that model if need be (seconds), and
 * keeps the answer in the folder. */
MCP_API mcp_status mcp_learner_recommend(mcp_learner *l, int *trial, mcp_error *err) MCP_ONE_THREAD;
/* Notes in the folder how the run ended: "finished", "stopped", "failed". */
MCP_API mcp_status mcp_learner_close(mcp_learner *l, const char *status, mcp_error *err) MCP_ONE_THREAD;

#ifdef __cplusplus
}
#endif
#endif
