/* score.c - what a trial was worth: cost and metric summed over t = 0..T (or the metric at the last sample),
 * success over the last seconds, limits. */
#include <math.h>
#include <string.h>

#include "plant/plant_parts.h"

static int finite_row(const double *x, int n)
{
    for (int i = 0; i < n; i++)
        if (!isfinite(x[i])) return 0;
    return 1;
}

/* State and input of row k. Rows without an estimate (the ends, for some smoothers) take the nearest that has
 * one; the last row has no input and takes the one before. */
static int row(const mcp_trial *t, const double *states, int k, double *in)
{
    int at = -1;
    for (int d = 0; d < t->samples && at < 0; d++) {
        if (k - d >= 0 && finite_row(states + (k - d) * t->nx, t->nx)) at = k - d;
        else if (k + d < t->samples && finite_row(states + (k + d) * t->nx, t->nx)) at = k + d;
    }
    if (at < 0) return 0;
    memcpy(in, states + at * t->nx, (size_t)t->nx * sizeof(double));
    int from = k;
    while (from > 0 && !finite_row(t->input + from * t->nu, t->nu)) from--;
    for (int i = 0; i < t->nu; i++) {
        double u = t->input[from * t->nu + i];
        in[t->nx + i] = isfinite(u) ? u : 0.0;
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
    mcp_runner cost = {0}, events = {0};
    int        last = (int)lround(s->task->success_last / s->ts), held = 1;

    *out = (mcp_score){.cost = 0.0, .metric = 0.0};
    if (mcp_runner_create(&cost, s->cost, NULL) != MCP_OK ||
        mcp_runner_create(&events, s->events, NULL) != MCP_OK) {
        out->cost = out->metric = NAN;
        goto done;
    }
    for (int k = 0; k < t->samples; k++) {
        if (!row(t, states, k, cost.in)) {
            out->cost = out->metric = NAN;
            held = 0;
            break;
        }
        memcpy(events.in, cost.in, (size_t)(s->nx + s->nu) * sizeof(double));
        mcp_runner_step(&cost, NULL, k == 0);
        mcp_runner_step(&events, NULL, k == 0);
        out->cost += cost.out[0];
        out->metric = s->task->metric_at ? cost.out[1] : out->metric + cost.out[1];
        if (k >= s->steps - last && events.out[0] == 0.0) held = 0;
        for (int i = 0; i < s->task->limits && !out->limit; i++)
            if (events.out[1 + i] != 0.0) out->limit = i + 1;
    }
    if (!out->limit) out->limit = limit_of_reason(s->task, t);
    out->success = held && !t->ended && t->samples == s->steps + 1 && s->task->success.text;
done:
    mcp_runner_free(&cost);
    mcp_runner_free(&events);
}
