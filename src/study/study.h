/* study.h - many runs of one file: variants x seeds, each in a run folder of its own, and what they say
 * together.
 *
 *   OUT/study.txt  OUT/VARIANT/seed-0001/ (a run folder, plus evaluation.json)  OUT/runs.csv  summary.csv
 *     times.csv  known.csv (rows of an earlier part)
 *
 * Runs know nothing of each other. Who works on one holds a lock beside its folder, so any number of
 * threads, processes and MPI ranks may work on the same study at once, and one that dies leaves its run
 * to the next who comes. */
#ifndef MCP_STUDY_H
#define MCP_STUDY_H

#include "learn/evaluate.h"
#include "math/text.h"
#include "mcpilco/learn.h"

enum { MCP_STUDY_TRIALS = 64 };

/* Plant and model runs of a run's recommended policy. */
typedef struct {
    int    runs, ok, limit, model_runs, model_ok;
    double cost_median, metric_median, metric_mean, metric_max;
} mcp_study_final;

/* One row per run and policy trial. */
typedef struct {
    int    variant, seed, trial;
    int    success, limit, ended, evaluated, evaluated_ok, evaluated_limit;
    int robust; /* the trial succeeded, and so does its policy in nearly every plant run, without a limit met
                 */
    int    explore_limits; /* explorations of this run that met a limit */
    int    last;           /* the run ends here                         */
    int    recommended;    /* this trial's policy is the run's recommended one: `final` is of it */
    mcp_study_final final;
    double cost, metric, forecast_cost, forecast_success, coverage, data_s;
    double plant_cost_median, plant_metric_median, plant_metric_mean, plant_metric_max;
    double model_s, optimise_s;
    int    steps;
} mcp_study_row;

typedef struct {
    const char  *name, *task, *algorithm; /* algorithm NULL: the task's */
    int          trials;                  /* policy trials per run      */
    int          sets;
    const char **set;  /* "key=value" */
    int          papers;
    double      *paper; /* success per trial in %, printed beside */
} mcp_variant;

typedef struct {
    const char  *file, *name, *about, *source;
    int          trials, seed_first, seed_last; /* trials: the most of any variant */
    int          evaluate; /* plant runs of every trial's policy         */
    int          final;    /* plant and model runs of the recommended policy */
    int          until_robust; /* a run ends with its first robust policy */
    double robust; /* a policy is robust when this share of its plant runs succeeds and none meets a limit */
    int          variants;
    mcp_variant *variant;
    int            known_rows;
    mcp_study_row *known; /* runs of an earlier part, which are not run again */
    void          *memory;
} mcp_study;

/* Paths of tasks are relative to the study file. */
mcp_status mcp_study_load(mcp_study **out, const char *file, mcp_error *err);
void       mcp_study_free(mcp_study *s);
int        mcp_study_runs(const mcp_study *s);
/* Run i of the study: all variants of a seed, then the next seed, so that a study stopped half-way compares
 * like with like. */
void  mcp_study_at(const mcp_study *s, int i, int *variant, int *seed);
char *mcp_study_folder(const mcp_study *s, const char *out, int i); /* mcp_free it */
int   mcp_study_done(const mcp_study *s, const char *out, int i);   /* finished and evaluated */
/* Whether the first finished run of each variant has the settings that the file gives it now: a study that
 * was changed does not go on in its old folder. */
mcp_status mcp_study_same(const mcp_study *s, const char *out, mcp_error *err);

/* The runs of an earlier part's runs.csv count as finished; rows of variants that the study lacks are passed
 * over. */
mcp_status mcp_study_know(mcp_study *s, const char *file, mcp_error *err);
mcp_status mcp_study_know_folder(mcp_study *s, const char *out, mcp_error *err); /* its known.csv, if any */
mcp_status mcp_study_keep(const char *out, const char *file, mcp_error *err); /* as its known.csv */
int        mcp_study_known(const mcp_study *s, int i);

int   mcp_study_is_robust(const mcp_study *s, int success, int runs, int successes, int limits);

typedef enum { MCP_RUN_DONE = 0, MCP_RUN_TAKEN, MCP_RUN_FAILED, MCP_RUN_STOPPED } mcp_run_outcome_kind;
/* Learns and evaluates run i, from where it was left. TAKEN: somebody else is at it. FAILED: the sentence is
 * in err and in the run's failed.txt; trying again is allowed. progress may be NULL. */
mcp_run_outcome_kind mcp_study_work(const mcp_study *s, const char *out, int i,
                                    mcp_learn_progress_fn *progress, void *context, mcp_error *err);

/* What the finished runs say. */
typedef struct {
    int            rows, runs, unfinished;
    mcp_study_row *row;
    mcp_text       trouble; /* a line for each run that failed, and for runs of seeds that are missing */
} mcp_study_result;
mcp_status mcp_study_collect(mcp_study_result *r, const mcp_study *s, const char *out, mcp_error *err);
void       mcp_study_result_free(mcp_study_result *r);

/* One variant at one trial over its seeds. */
typedef struct {
    int    runs, successes, evaluated, evaluated_ok;
    double low, high;                     /* Wilson's 95 % interval of the success rate */
    double cost[3], metric[3];            /* 5 %, median, 95 % */
    double plant_metric_mean, plant_metric_max; /* over the plant runs of all seeds */
    int    robust, limits;                /* seeds whose policy here is robust; whose trial met a limit */
    double model_s, optimise_s;           /* medians */
} mcp_study_cell;
void mcp_study_cell_make(mcp_study_cell *c, const mcp_study_result *r, int variant, int trial);
/* One variant as a whole. */
typedef struct {
    int    runs, solved;                  /* seeds that ever solved it */
    int    first[MCP_STUDY_TRIALS + 1];   /* how many solved first in trial k */
    double first_median, data_median;     /* over all seeds; NaN when more than half never did */
    int    robust;                        /* the same three for the first robust policy        */
    double robust_median, robust_data_median;
    int    explore_limits, trial_limits;  /* explorations and policy trials that met a limit   */
    /* of recommended policies; final_all: seeds whose own never failed */
    int    final_runs, final_ok, final_limits, final_all;
    double final_metric_mean, final_metric_max;
    int    model_runs, model_ok;
} mcp_study_total;
void mcp_study_total_make(mcp_study_total *t, const mcp_study_result *r, int variant);

void mcp_study_print_rows(mcp_text *t, const mcp_study *s, const mcp_study_result *r); /* runs.csv */
/* runs.csv, summary.csv (the same for any number of workers), times.csv (wall times). */
mcp_status mcp_study_write(const mcp_study *s, const mcp_study_result *r, const char *out, mcp_error *err);
/* The table for people. */
void mcp_study_print(mcp_text *out, const mcp_study *s, const mcp_study_result *r);

#endif
