/* algorithm.c - the list of algorithms, and the two that are this library's own: particles through the step program. */
#include "learn/algorithm.h"

#include <string.h>

#include "baseline/blackdrops/blackdrops.h"
#include "baseline/pilco/pilco.h"

static mcp_status particles(const mcp_algorithm_input *in, int true_state, double *theta, mcp_optimise_info *info,
                            mcp_error *err)
{
    mcp_optimise_request q = {
        .system = in->system, .gp = in->gp, .pool = in->pool, .seed = in->seed, .trial = in->number,
        .true_state = true_state, .incumbent_works = in->incumbent_works, .visited = in->visited, .visits = in->visits,
        .progress = in->progress, .progress_context = in->progress_context,
    };
    return mcp_policy_optimise(&q, in->warm && in->system->task->optimise.warm_start, theta, info, err);
}

static mcp_status mc_pilco4pms(const mcp_algorithm_input *in, double *theta, mcp_optimise_info *info, mcp_error *err)
{
    return particles(in, 0, theta, info, err);
}

static mcp_status mc_pilco(const mcp_algorithm_input *in, double *theta, mcp_optimise_info *info, mcp_error *err)
{
    return particles(in, 1, theta, info, err);
}

static const mcp_algorithm algorithms[] = {
    {"mc-pilco4pms", "particles with the sensor and the observer inside (default)", 0, NULL, mc_pilco4pms},
    {"mc-pilco", "particles that show the policy their true state", 1, NULL, mc_pilco},
    {"pilco", "analytic moment matching of a Gaussian state", 0, mcp_pilco_check, mcp_pilco_improve},
    {"black-drops", "CMA-ES on the cost of sampled rollouts", 1, mcp_blackdrops_check, mcp_blackdrops_improve},
};

const mcp_algorithm *mcp_algorithm_at(int i)
{
    return i >= 0 && i < (int)(sizeof algorithms / sizeof *algorithms) ? &algorithms[i] : NULL;
}

const mcp_algorithm *mcp_algorithm_find(const char *name, mcp_error *err)
{
    char   list[256] = "";
    size_t used = 0;
    for (int i = 0; mcp_algorithm_at(i); i++) {
        const char *have = mcp_algorithm_at(i)->name;
        size_t      n = strlen(have);
        if (!strcmp(have, name)) return mcp_algorithm_at(i);
        if (used + n + 3 < sizeof list) {
            if (used) memcpy(list + used, ", ", 2), used += 2;
            memcpy(list + used, have, n + 1), used += n;
        }
    }
    mcp_fail(err, MCP_ERR_ARG, "there is no algorithm \"%s\"; there are %s", name, list);
    return NULL;
}
