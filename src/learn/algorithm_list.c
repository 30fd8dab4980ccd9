/* algorithm_list.c - the algorithms by name: MC-PILCO, which is this library's own, and the baselines. */
#include "learn/algorithm_list.h"

#include <stdio.h>
#include <string.h>

#include "baseline/blackdrops/blackdrops.h"
#include "baseline/pilco/pilco.h"
#include "optim/mc_pilco.h"

static const mcp_algorithm algorithms[] = {
    {"mc-pilco4pms", "particles with the sensor and the observer inside (default)", 0, 0, NULL,
     mcp_mc_pilco4pms_improve},
    {"mc-pilco", "particles that show the policy their true state", 1, 0, NULL, mcp_mc_pilco_improve},
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
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", have);
        }
    }
    mcp_fail(err, MCP_ERR_ARG, "there is no algorithm \"%s\"; there are %s", name, list);
    return NULL;
}
