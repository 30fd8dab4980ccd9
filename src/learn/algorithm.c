/* algorithm.c - the list of algorithms, and the two that are this library's own: particles through the step
 * program. */
#include "learn/algorithm.h"

#include <math.h>
#include <string.h>

#include "baseline/blackdrops/blackdrops.h"
#include "baseline/pilco/pilco.h"
#include "learn/forecast.h"
#include "math/arena.h"

/* Share of fresh particles that succeed with this policy. */
static mcp_status expected_success(const mcp_algorithm_input *in, int true_state, const double *theta,
                                   double *share, mcp_error *err)
{
    enum { COUNT = 200 };
    int                   success[COUNT];
    mcp_particles        *p = NULL;
    mcp_particle_settings q = {.count = COUNT,
                               .true_state = true_state,
                               .data = in->pairs->n,
                               .seed = in->seed,
                               .trial = in->number,
                               .set = 3};
    mcp_status            st = mcp_particles_run(&p, in->system, in->gp, theta, &q, in->pool, err);
    if (st == MCP_OK) st = mcp_particles_score(p, in->system, success, NULL, NULL, err);
    *share = 0.0;
    for (int i = 0; st == MCP_OK && i < COUNT; i++) *share += success[i] / (double)COUNT;
    mcp_particles_free(p);
    return st;
}

static mcp_status join(double **a, int n, const double *b, int m, mcp_error *err)
{
    double *both = mcp_realloc(*a, ((size_t)n + (size_t)m + 1) * sizeof *both);
    if (!both) return mcp_fail(err, MCP_ERR_MEMORY, "out of memory for the history of %d steps", n + m);
    if (b) memcpy(both + n, b, (size_t)m * sizeof *both);
    *a = both;
    return MCP_OK;
}

/* A fresh policy beside the one in theta; the cheaper on the fixed noise set goes on. One that works is
 * replaced only for a gain that is worth the risk. */
static mcp_status second_try(const mcp_optimise_request *q, double *theta, mcp_optimise_info *info,
                             mcp_error *err)
{
    int               params = mcp_program_params(q->system->controller);
    double           *other = mcp_calloc((size_t)params + 1, sizeof *other);
    mcp_optimise_info more = {0};
    mcp_status st = other ? mcp_policy_optimise(q, 0, other, &more, err)
                          : mcp_fail(err, MCP_ERR_MEMORY, "out of memory for a policy");
    if (st == MCP_OK) st = join(&info->history, info->steps, more.history, more.steps, err);
    if (st == MCP_OK) st = join(&info->rate_history, info->steps, more.rate_history, more.steps, err);
    if (st == MCP_OK) {
        info->steps += more.steps;
        info->restarts += more.restarts;
        info->seconds += more.seconds;
        if (more.outcome == MCP_INTERRUPTED) info->outcome = MCP_INTERRUPTED;
        double least =
            q->incumbent_works ? q->system->task->optimise.incumbent_gain * fabs(info->score_last) : 0.0;
        if (info->score_last - more.score_last > least) {
            memcpy(theta, other, (size_t)params * sizeof *theta);
            info->outcome = more.outcome;
            info->cost_last = more.cost_last;
            info->score_last = more.score_last;
            info->check_cosine = more.check_cosine;
        }
    }
    mcp_free(more.history);
    mcp_free(more.rate_history);
    mcp_free(other);
    return st == MCP_ERR_NUMERIC ? MCP_OK : st; /* a fresh policy that leads to NaN: the first one stays */
}

static mcp_status particles(const mcp_algorithm_input *in, int true_state, double *theta,
                            mcp_optimise_info *info, mcp_error *err)
{
    const mcp_optimise_settings *set = &in->system->task->optimise;
    mcp_optimise_request q = {
        .system = in->system,
        .gp = in->gp,
        .pool = in->pool,
        .seed = in->seed,
        .trial = in->number,
        .true_state = true_state,
        .incumbent_works = in->incumbent_works,
        .visited = in->visited,
        .visits = in->visits,
        .progress = in->progress,
        .progress_context = in->progress_context,
    };
    int        warm = in->warm && set->warm_start;
    double     share;
    mcp_status st = mcp_policy_optimise(&q, warm, theta, info, err);
    if (st != MCP_OK || info->outcome == MCP_INTERRUPTED || !warm || !set->second_try ||
        (int)in->number < set->second_try)
        return st;
    /* The last policy failed: if this one is expected to fail as well, the warm start may sit in a poor
     * optimum. The last policy worked: if it is expected to fail now and then, it was lucky, and polishing
     * will not make another one of it. */
    if ((st = expected_success(in, true_state, theta, &share, err)) != MCP_OK ||
        share >= (in->incumbent_works ? 0.95 : 0.5))
        return st;
    return second_try(&q, theta, info, err);
}

static mcp_status mc_pilco4pms(const mcp_algorithm_input *in, double *theta, mcp_optimise_info *info,
                               mcp_error *err)
{
    return particles(in, 0, theta, info, err);
}

static mcp_status mc_pilco(const mcp_algorithm_input *in, double *theta, mcp_optimise_info *info,
                           mcp_error *err)
{
    return particles(in, 1, theta, info, err);
}

static const mcp_algorithm algorithms[] = {
    {"mc-pilco4pms", "particles with the sensor and the observer inside (default)", 0, 0, NULL, mc_pilco4pms},
    {"mc-pilco", "particles that show the policy their true state", 1, 0, NULL, mc_pilco},
    {"pilco", "analytic moment matching of a Gaussian state", 0, 1, mcp_pilco_check, mcp_pilco_improve},
    {"black-drops", "CMA-ES on the cost of sampled rollouts", 1, 1, mcp_blackdrops_check,
     mcp_blackdrops_improve},
};

const mcp_algorithm *mcp_algorithm_find(const char *name, mcp_error *err)
{
    char   list[256] = "";
    size_t used = 0;
    for (size_t i = 0; i < sizeof algorithms / sizeof *algorithms; i++) {
        const char *have = algorithms[i].name;
        size_t      n = strlen(have);
        if (!strcmp(have, name)) return &algorithms[i];
        if (used + n + 3 < sizeof list) {
            if (used) memcpy(list + used, ", ", 2), used += 2;
            memcpy(list + used, have, n + 1), used += n;
        }
    }
    mcp_fail(err, MCP_ERR_ARG, "there is no algorithm \"%s\"; there are %s", name, list);
    return NULL;
}
