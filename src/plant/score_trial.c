/* score_trial.c - the score of a recorded trial: gaps of the estimate filled, and how the trial ended. */
#include <math.h>
#include <string.h>

#include "math/arena.h"
#include "plant/plant_handle.h"

static int finite_row(const double *x, int n)
{
    for (int i = 0; i < n; i++)
        if (!isfinite(x[i])) return 0;
    return 1;
}

/* Rows without an estimate (the ends, for some smoothers) take the nearest that has one. 0: none has. */
static int fill_gaps(const mcp_trial *t, const double *states, double *to)
{
    for (int k = 0; k < t->samples; k++) {
        int at = -1;
        for (int d = 0; d < t->samples && at < 0; d++) {
            if (k - d >= 0 && finite_row(states + (k - d) * t->nx, t->nx)) at = k - d;
            else if (k + d < t->samples && finite_row(states + (k + d) * t->nx, t->nx)) at = k + d;
        }
        if (at < 0) return 0;
        memcpy(to + k * t->nx, states + at * t->nx, (size_t)t->nx * sizeof *to);
    }
    return 1;
}

static int limit_of_reason(const mcp_task *task, const mcp_trial *t)
{
    if (!t->ended || strncmp(t->reason, "limit ", 6)) return 0;
    for (int i = 0; i < task->limits; i++) {
        const char *name = task->limit[i].name ? task->limit[i].name : task->limit[i].when.text;
        if (!strncmp(t->reason + 6, name, sizeof t->reason - 7)) return i + 1;
    }
    return 0;
}

void mcp_trial_score(const mcp_system *s, const mcp_trial *t, const double *states, mcp_score *out)
{
    mcp_scorer *k = NULL;
    double     *filled = mcp_calloc((size_t)(t->samples * t->nx) + 1, sizeof *filled);
    mcp_motion  m = {.samples = t->samples,
                     .states = filled,
                     .inputs = t->applied,
                     .state_stride = (size_t)t->nx,
                     .input_stride = (size_t)t->nu};
    *out = (mcp_score){.cost = NAN, .metric = NAN};
    if (filled && fill_gaps(t, states, filled) && mcp_scorer_create(&k, s, NULL) == MCP_OK)
        mcp_scorer_run(k, &m, out);
    if (!out->limit) out->limit = limit_of_reason(s->task, t);
    out->success = out->success && !t->ended && t->samples == s->steps + 1;
    mcp_scorer_free(k);
    mcp_free(filled);
}
