/* run.h - read a run: its trials, states, models, forecasts and policies, from a folder or from a learner.
 *
 *   mcp_run_open(&run, "runs/demo", NULL, &err);                 or: const mcp_run *run = mcp_learner_run(l);
 *   for (int i = 0; i < mcp_run_count(run); i++)
 *       if (mcp_run_array(run, i, MCP_ARRAY_MEASURED, &a)) ...   a.shape[0] samples x a.shape[1] channels
 *   mcp_model_open(&model, run, 3, 0, &err);                     the model that policy 3 was learned with
 *   mcp_run_free(run); */
#ifndef MCPILCO_RUN_H
#define MCPILCO_RUN_H

#include <stddef.h>
#include <stdint.h>

#include "mcpilco/error.h"
#include "mcpilco/gp.h"
#include "mcpilco/learn.h"
#include "mcpilco/plant.h"
#include "mcpilco/task.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reads the task and all finished trials of a folder, which a learner may be writing meanwhile. A damaged
 * trial and what follows it is left out, with the sentence in `trouble` (may be NULL). */
MCP_API mcp_status mcp_run_open(mcp_run **out, const char *folder, mcp_error *trouble,
                                mcp_error *err) MCP_ANY_THREAD;
/* The same for a task that names the registry's kernels. */
MCP_API mcp_status mcp_run_open_with(mcp_run **out, const char *folder, const mcp_registry *registry,
                                     mcp_error *trouble, mcp_error *err) MCP_ANY_THREAD;
MCP_API void       mcp_run_free(mcp_run *r) MCP_ONE_THREAD; /* not that of mcp_learner_run */

MCP_API const mcp_task *mcp_run_task(const mcp_run *r) MCP_READS;
MCP_API const char     *mcp_run_folder(const mcp_run *r) MCP_READS; /* NULL: it is in memory alone */
MCP_API const char     *mcp_run_algorithm(const mcp_run *r) MCP_READS;
MCP_API uint64_t        mcp_run_seed(const mcp_run *r) MCP_READS;
MCP_API mcp_run_state   mcp_run_status(const mcp_run *r) MCP_READS;
MCP_API int             mcp_run_wanted(const mcp_run *r) MCP_READS;      /* policy trials */
MCP_API int             mcp_run_explored(const mcp_run *r) MCP_READS;    /* exploration trials done */
MCP_API int             mcp_run_trials(const mcp_run *r) MCP_READS;      /* policy trials done */
MCP_API int             mcp_run_count(const mcp_run *r) MCP_READS;       /* both */
MCP_API int             mcp_run_recommended(const mcp_run *r) MCP_READS; /* policy to use; 0: not known */

/* Trial i of all, from 0, exploration first: policy trial k is i = mcp_run_explored(r) + k - 1. NULL: there
 * is none. */
MCP_API const mcp_learn_info *mcp_run_info(const mcp_run *r, int i) MCP_READS;

/* Numbers of a run, good as long as it is: data[(i * shape[1] + j) * shape[2] + k]. */
typedef struct {
    const double *data;
    int           shape[3];
    int           first; /* the sample that row 0 belongs to */
} mcp_array;

typedef enum {
    MCP_ARRAY_TIME = 0,         /* samples             s since the trial began                   */
    MCP_ARRAY_TRUTH,            /* samples x states    NaN where the plant does not tell         */
    MCP_ARRAY_MEASURED,         /* samples x measured  angles unwrapped                          */
    MCP_ARRAY_OBSERVED,         /* samples x states    what the observer told the policy         */
    MCP_ARRAY_INPUT,            /* samples x inputs    commanded; NaN in the last row            */
    MCP_ARRAY_APPLIED,          /* samples x inputs    what reached the plant                    */
    MCP_ARRAY_WALL,             /* samples             s by our clock; NaN: the plant keeps time */
    MCP_ARRAY_STATES,           /* rows x states       smoothed offline; row 0 is sample `first` */
    MCP_ARRAY_FORECAST_LOW,     /* samples x states    5 % of the particles are below            */
    MCP_ARRAY_FORECAST_MEDIAN,  /* samples x states                                              */
    MCP_ARRAY_FORECAST_HIGH,    /* samples x states    5 % of the particles are above            */
    MCP_ARRAY_PARTICLES,        /* samples x particles x states, those that were kept            */
    MCP_ARRAY_POLICY            /* parameters                                                    */
} mcp_array_kind;

/* 1, or 0 when trial i has no such numbers (an exploration has no forecast and no policy). */
MCP_API int mcp_run_array(const mcp_run *r, int i, mcp_array_kind kind, mcp_array *out) MCP_READS;

/* The model that policy `trial` (from 1; 0: the last) was learned with. Borrows the run. threads 0: one per
 * core. */
typedef struct mcp_model mcp_model;
MCP_API mcp_status mcp_model_open(mcp_model **out, const mcp_run *r, int trial, int threads,
                                  mcp_error *err) MCP_READS;
MCP_API void       mcp_model_free(mcp_model *m) MCP_ONE_THREAD;
MCP_API int        mcp_model_targets(const mcp_model *m) MCP_READS; /* GPs: as mcp_task_name says */
MCP_API int        mcp_model_features(const mcp_model *m) MCP_READS; /* the task's, then the kernels' own */
/* GP i, with its data and hyper-parameters; predict by it as by any other. NULL past the last. */
MCP_API mcp_gp *mcp_model_gp(mcp_model *m, int i) MCP_READS;
/* The features at n states x and inputs u: n x features. */
MCP_API mcp_status mcp_model_describe(mcp_model *m, int n, const double *x, const double *u, double *features,
                                      mcp_error *err) MCP_READS;
/* The change of every target in one sample, at n states x and inputs u: mean and standard deviation of the
 * latent function, n x targets each, prior mean included; either may be NULL. */
MCP_API mcp_status mcp_model_predict(mcp_model *m, int n, const double *x, const double *u, double *mean,
                                     double *std, mcp_error *err) MCP_ONE_THREAD;
/* The same at features; the prior mean, which is one of states and inputs, is not in it. */
MCP_API mcp_status mcp_model_predict_features(mcp_model *m, int n, const double *features, double *mean,
                                              double *std, mcp_error *err) MCP_ONE_THREAD;
/* The states one sample later, by the mean: n x states. */
MCP_API mcp_status mcp_model_step(mcp_model *m, int n, const double *x, const double *u, double *next,
                                  mcp_error *err) MCP_ONE_THREAD;

typedef enum { MCP_ON_PLANT = 0, MCP_ON_MODEL } mcp_evaluate_where;
typedef int mcp_evaluate_fn(void *context, int done, int runs); /* non-zero: stop */

typedef struct {
    size_t             size;    /* of this struct, written by mcp_evaluate_settings_default */
    int                trial;   /* policy, from 1; 0: the recommended one, or the last */
    int                runs;    /* from fresh starts with fresh noise: run k is the same for every policy */
    uint64_t           seed;
    int                threads; /* 0: one per core */
    mcp_evaluate_where where;
    mcp_evaluate_fn   *progress; /* may be NULL */
    void              *progress_context;
    const mcp_plant_ops *plant;  /* your own plant, one run after the other; NULL: the task's */
    void                *plant_context;
    const char *const   *goals;  /* "name=value" of goals that are given; the others are drawn */
    int                  goal_count;
} mcp_evaluate_settings;
MCP_API void mcp_evaluate_settings_init(mcp_evaluate_settings *s, size_t size) MCP_ANY_THREAD;
#define mcp_evaluate_settings_default(s) mcp_evaluate_settings_init((s), sizeof(mcp_evaluate_settings))

typedef struct {
    int    runs, successes, limits, ended;
    double low, high;                       /* Wilson's 95 % interval of the success rate */
    double cost_p05, cost_median, cost_p95; /* cumulative cost                            */
    double metric_p05, metric_median, metric_p95, metric_mean, metric_max;
    double *cost, *metric;                  /* [runs] in order of the runs */
    int    *success;                        /* [runs] */
} mcp_evaluation;
MCP_API mcp_status mcp_run_evaluate(mcp_evaluation **out, const mcp_run *r, const mcp_evaluate_settings *s,
                                    mcp_error *err) MCP_READS;
MCP_API void       mcp_evaluation_free(mcp_evaluation *e) MCP_ONE_THREAD;

#ifdef __cplusplus
}
#endif
#endif
