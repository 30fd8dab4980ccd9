/* run_folder.h - a run and its folder. docs/run-folder.md describes the files.
 *
 *   run.json  task.yaml  lock
 *   explore-01/   trial.json trial.csv states.csv result.json
 *   trial-01/     model.json optimise.json history.csv policy.json particles.npy forecast.json
 *     (before the plant moves)
 *                 trial.json trial.csv states.csv result.json                                    (after)
 *
 * The last file of a stage says that the stage is done: policy.json, forecast.json, trial.csv,
 * result.json. Everything else is computed again from these, to the same bits. */
#ifndef MCP_RUN_FOLDER_H
#define MCP_RUN_FOLDER_H

#include "io/json.h"
#include "learn/algorithm_list.h"
#include "learn/fit.h"
#include "learn/forecast.h"
#include "mcpilco/learn.h"
#include "mcpilco/run.h"
#include "plant/plant_handle.h"

typedef struct {
    char          *folder; /* NULL: kept in memory only */
    const mcp_lock *own;   /* of the run; NULL: who only looks */
    mcp_trial     *trial;
    mcp_states    *states;
    double        *theta;    /* policy; NULL: exploration */
    double        *hyper;    /* of the model it was learned with, see mcp_fit_hyper; NULL: in model.json */
    mcp_forecast  *forecast; /* NULL: exploration, or not made yet */
    mcp_learn_info info;
    mcp_diagnosis  diagnosis; /* see diagnosis.h */
} mcp_run_item;

struct mcp_run {
    char                *folder;   /* NULL: kept in memory only */
    const mcp_lock      *lock;     /* the learner's hold on the folder, borrowed; NULL: who only looks */
    mcp_task            *own_task; /* of mcp_run_open; NULL: the caller's */
    const mcp_task      *task;
    mcp_system          *system;
    const mcp_algorithm *algorithm;
    uint64_t             seed;
    int                  wanted;   /* policy trials */
    char *status; /* "running", "waiting" (for a recorded trial), "finished", "stopped", "failed" */
    json_t              *notes;    /* run.json as it stands */
    int                  params;   /* length of theta */
    int                  items, explored; /* done: exploration first */
    mcp_run_item       **item;
    char                *observer; /* the setting that observer: auto has become; NULL: not (yet) */
    const char         **override; /* the task's settings, and that one */
    mcp_error            missing;  /* of mcp_run_open: a forecast that is not there */
};

/* For the learner: a run of this task, empty; then load reads what a folder has. algorithm NULL: the task's.
 */
mcp_status mcp_run_create(mcp_run **out, const mcp_task *task, const mcp_learn_settings *s, mcp_error *err);
mcp_status mcp_run_load(mcp_run *r, mcp_error *err);
/* How its task was loaded, observer: auto as it was settled; the pointers are the run's. */
mcp_task_source mcp_run_source(const mcp_run *r);
/* Inputs of the exploration that comes next: u[T][nu]. */
mcp_status mcp_run_explore(const mcp_run *r, double *u, mcp_error *err);
/* How a run stands that ended so. */
mcp_run_state mcp_run_state_after(mcp_status st);
/* run.json, and task.yaml where it is not there yet or has changed in what does not matter. */
mcp_status mcp_run_note(mcp_run *r, const char *status, mcp_error *err);
/* 1: no trial is finished there: nothing would be lost by starting over. */
int mcp_run_is_empty(const char *folder);
typedef struct {
    const char *const *text;
    int                count;
} mcp_texts;
/* How a run was started, from its own files, without its trials. */
typedef struct {
    mcp_task *task; /* with its settings of then, and `more`; mcp_task_free it */
    uint64_t  seed;
    int       trials;
    char      algorithm[32];
} mcp_run_origin;
mcp_status mcp_run_origin_read(mcp_run_origin *out, const char *folder, const mcp_texts *more,
                               mcp_error *err);
/* An empty item of that number, its folder made; add appends it to the run, which owns it then. */
mcp_status mcp_run_item_create(mcp_run_item **out, const mcp_run *r, int explored, int number, int make,
                               mcp_error *err);
void       mcp_run_item_free(mcp_run_item *it);
/* With the last exploration, observer: auto is settled. */
mcp_status mcp_run_add(mcp_run *r, mcp_run_item *it, mcp_error *err);
mcp_run_item *mcp_run_trial(const mcp_run *r, int number);     /* policy trial; NULL = none */
/* The GPs that policy trial `number` was learned with, from its model.json and the data before it. */
mcp_status mcp_run_model(mcp_fit **out, const mcp_run *r, int number, mcp_pool *pool, mcp_error *err);
/* [samples][nx]: the truth where the plant tells it, else the smoothed state, else what the observer saw;
 * mcp_free it. */
double *mcp_run_outcome(const mcp_run_item *it);
/* The same as the model means it: velocities that are differences there are differences of these positions
 * (half a sample older than the true ones). What forecasts and observers are held against. */
double *mcp_run_modelled(const mcp_system *s, const mcp_run_item *it);

/* Bytes that the files of one trial take at most, beside its particles. */
size_t mcp_trial_room(const mcp_system *s);
/* The files of one trial. Readers of optional files return MCP_OK and leave NULL when the file is not there.
 */
mcp_status mcp_store_trial(const mcp_run *r, const mcp_run_item *it, const char *name,
                           mcp_error *err); /* name: "trial" */
mcp_status mcp_load_trial(const mcp_run *r, mcp_run_item *it, mcp_error *err);
mcp_status mcp_store_states(const mcp_run *r, const mcp_run_item *it, mcp_error *err);
mcp_status mcp_store_model(const mcp_run *r, const mcp_run_item *it, const mcp_fit *fit, mcp_error *err);
mcp_status mcp_load_hyper(const mcp_run *r, int number, double **hyper,
                          mcp_error *err); /* [2 ngp], each mcp_free */
mcp_status mcp_store_policy(const mcp_run *r, const mcp_run_item *it, const mcp_optimise_info *info,
                            mcp_error *err);
mcp_status mcp_load_policy(const mcp_run *r, mcp_run_item *it, mcp_error *err);
mcp_status mcp_store_forecast(const mcp_run *r, const mcp_run_item *it, mcp_error *err);
mcp_status mcp_load_forecast(const mcp_run *r, mcp_run_item *it, mcp_error *err);
mcp_status mcp_store_result(const mcp_run *r, const mcp_run_item *it, const double *coverage, mcp_error *err);
mcp_status mcp_load_result(const mcp_run *r, mcp_run_item *it, mcp_error *err);

#endif
