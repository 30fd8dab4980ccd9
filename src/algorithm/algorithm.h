/* algorithm.h - what every algorithm gets and gives: the data of all trials so far in, the next policy out.
 * mc-pilco4pms, mc-pilco, pilco and black-drops differ in nothing else; learn/algorithm_list.c has the list
 * of them. */
#ifndef MCP_ALGORITHM_H
#define MCP_ALGORITHM_H

#include "estimate/estimate.h"
#include "math/pool.h"
#include "mcpilco/gp.h"
#include "mcpilco/learn.h"

typedef struct {
    int    step, steps_max;
    double cost, cost_std;       /* of this step's particles */
    double best;                 /* best cost on the fixed noise set, NaN before the first evaluation */
    double step_size, dropout, gradient_norm;
    mcp_learn_event event;
    double seconds;
} mcp_progress;
typedef int mcp_progress_fn(void *context, const mcp_progress *p); /* non-zero: stop now */

typedef struct {
    mcp_outcome outcome;
    int    steps, restarts;
    /* of the returned policy, by which policies are compared: J with the failures counted */
    double score_last;
    double failed_last; /* share of the judged particles that fail with it */
    double cost_first, cost_last; /* on the fixed noise set: of the start and of the returned policy */
    double check_cosine;          /* sparse posterior against exact, NaN if not checked */
    double check_first;           /* the same at the task's tolerance */
    double tolerance;             /* of the sparse posterior in use after the check, 0 = exact */
    int    points;                /* most points of any GP's posterior in use */
    int    single;                /* GPs sampled in single precision */
    int    regulated;             /* 1: it began with the model's regulator at the goal */
    int resampled; /* steps whose particles were drawn again after a NaN; restarts: fresh policies after ten
                      of them */
    double seconds;
    double work;                  /* in gradients of all particles over a trial */
    double *history;              /* [steps] cost of every step; mcp_free it */
    double *rate_history;         /* [steps] learning rate */
} mcp_optimise_info;

typedef struct {
    const mcp_system  *system;
    int                trials;     /* recorded so far, exploration first */
    mcp_trial *const  *trial;      /* [trials] as recorded               */
    mcp_states *const *states;     /* [trials] smoothed                  */
    const mcp_pairs   *pairs;      /* GP data of all of them             */
    mcp_gp *const     *gp;         /* [ngp] the task's GPs, trained      */
    const double      *visited;    /* [visits][nx] all smoothed states   */
    int                visits;
    uint64_t           seed;
    uint32_t           number;     /* policy trial being prepared, from 1 */
    int                warm;            /* 1: theta holds a policy to start from           */
    int                incumbent_works; /* and that policy succeeded on the plant        */
    double             cost_scale;      /* what a trial can cost; NaN: not known         */
    /* how far the last trial's cost was from its forecast, in the forecast's deviations; 0: there is none */
    double             surprise;
    /* trials in a row, the last included, that failed as forecast: what is short is computing, not data */
    int                foreseen;
    mcp_pool          *pool;
    /* may be NULL; non-zero from it means: stop, return MCP_OK with outcome MCP_INTERRUPTED */
    mcp_progress_fn *progress;
    void              *progress_context;
} mcp_algorithm_input;

typedef struct {
    const char *name, *about;
    int         true_state; /* 1: its particles show the policy the true state; forecasts are made likewise */
    int         white_noise; /* 1: its models take the GPs' noise as white */
    /* Says in one sentence why a task is not for this algorithm; NULL: every task is. */
    mcp_status (*check)(const mcp_system *s, mcp_error *err);
    /* theta: mcp_program_params(system->controller) numbers, in and out. A pure function of its input: same
     * data and seed, same theta, to the bit, for any number of threads. info->history and rate_history belong
     * to the caller. */
    mcp_status (*improve)(const mcp_algorithm_input *in, double *theta, mcp_optimise_info *info,
                          mcp_error *err);
} mcp_algorithm;

#endif
