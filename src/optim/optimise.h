/* optimise.h - one policy optimisation: Adam on the particle gradient until the stop rule says enough. */
#ifndef MCP_OPTIMISE_H
#define MCP_OPTIMISE_H

#include "rollout/rollout.h"

typedef enum { MCP_CONVERGED = 0, MCP_STEPS_MAX, MCP_KEPT_INCUMBENT, MCP_INTERRUPTED } mcp_outcome;

typedef struct {
    int    step, steps_max;
    double cost, cost_std;       /* of this step's particles */
    double best;                 /* best cost on the fixed noise set, NaN before the first evaluation */
    double step_size, dropout, gradient_norm;
    int    event;                /* 0 none, 1 rate lowered, 2 restart after NaN, 3 new candidate */
    double seconds;
} mcp_progress;
typedef int mcp_progress_fn(void *context, const mcp_progress *p); /* non-zero: stop now */

typedef struct {
    mcp_outcome outcome;
    int    steps, restarts;
    /* of the returned policy, by which policies are compared: J with the failures counted */
    double score_last;
    double cost_first, cost_last; /* on the fixed noise set: of the start and of the returned policy */
    double check_cosine;          /* sparse posterior against exact, NaN if not checked */
    double tolerance;             /* of the sparse posterior in use after the check, 0 = exact */
    int    points;                /* most points of any GP's posterior in use */
    int resampled; /* steps whose particles were drawn again after a NaN; restarts: fresh policies after ten
                      of them */
    double seconds;
    double *history;              /* [steps] cost of every step; mcp_free it */
    double *rate_history;         /* [steps] learning rate */
} mcp_optimise_info;

typedef struct {
    const mcp_system *system;
    mcp_gp *const *gp; /* trained; posteriors are made from them (and re-made tighter by the self-check) */
    mcp_pool         *pool;
    uint64_t          seed;
    uint32_t          trial;       /* policy trial, from 1 */
    int               true_state;  /* MC-PILCO */
    int               incumbent_works; /* the policy in theta succeeded on the plant */
    /* [visits][nx] states the plant went through, to scale a fresh policy; may be NULL */
    const double *visited;
    int               visits;
    mcp_progress_fn  *progress; void *progress_context;
} mcp_optimise_request;

/* theta: in: start if warm != 0; out: the policy for the plant. Settings are those of the task (optimise,
 * model). A policy that gives NaN again and again is replaced by a fresh one (info->restarts); only when no
 * policy gives finite costs is it an error. The progress callback may stop it: MCP_OK, MCP_INTERRUPTED, theta
 * is the best so far. */
mcp_status mcp_policy_optimise(const mcp_optimise_request *q, int warm, double *theta,
                               mcp_optimise_info *info, mcp_error *err);
/* A fresh policy: rbf centres and lengths in the ranges of `visited`, weights in units of the input limits.
 * The same (seed, trial, draw) gives the same numbers. */
mcp_status mcp_policy_draw(const mcp_system *s, const double *visited, int visits, uint64_t seed,
                           uint32_t trial, uint32_t draw, double *theta, mcp_error *err);

#endif
