/* optimise.h - one policy optimisation: Adam on the particle gradient until the stop rule says enough. */
#ifndef MCP_OPTIMISE_H
#define MCP_OPTIMISE_H

#include "algorithm/algorithm.h"
#include "rollout/rollout.h"

typedef struct {
    const mcp_system *system;
    mcp_gp *const *gp; /* trained; posteriors are made from them (and re-made tighter by the self-check) */
    mcp_pool         *pool;
    uint64_t          seed;
    uint32_t          trial;       /* policy trial, from 1 */
    /* from 0: each has fresh policies and noise of its own, and from 1 on the best of many draws */
    uint32_t          attempt;
    int               true_state;  /* MC-PILCO */
    int               incumbent_works; /* the policy in theta succeeded on the plant */
    /* how far the last trial's cost was from its forecast, in the forecast's deviations; 0: there is none */
    double            surprise;
    double            cost_scale;      /* what a trial can cost: gains are measured by it; NaN: not known */
    double            work_max;        /* in gradients of all particles, 0: no limit */
    double            rival;           /* a score to beat: far behind it this policy is dropped; NaN: none */
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

/* 1: a policy that works is given up for this gain in score, and this share of particles less that fail. The
 * gain is held against what a trial can cost: of a cost of 200 that has come down to 0.7, the last 0.4 are
 * nothing to risk a working policy for. Failures count by themselves. */
int mcp_incumbent_yields(const mcp_optimise_request *q, double score, double gain, double fewer);

#endif
