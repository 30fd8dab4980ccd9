/* plausible.c - what a measurement can be, from the task and from the trial so far. */
#include "plant/plausible.h"

#include <math.h>

#include "control/system.h"

static const double FACTOR = 1e6;

/* How far from zero state i may start. */
static double start_size(const mcp_task *task, int i)
{
    const mcp_task_start *d = &task->start;
    double                size = 0.0;
    if (d->type == MCP_START_UNIFORM) return fmax(fabs(d->low[i]), fabs(d->high[i]));
    for (int k = 0; d->mean && d->std && k < d->parts; k++)
        size = fmax(size, fabs(d->mean[k * task->nx + i]) + 3.0 * d->std[k * task->nx + i]);
    return size;
}

void mcp_plausible_begin(mcp_plausible *p, const mcp_task *task)
{
    p->task    = task;
    p->samples = 0;
    for (int i = 0; i < task->nx; i++) p->truth[i] = fmax(1.0, start_size(task, i));
    for (int i = 0; i < task->ny; i++) {
        const int state = task->measured[i].state;
        p->measured[i] = fmax(state >= 0 ? p->truth[state] : 1.0, mcp_channel_noise(&task->measured[i]));
    }
}

static mcp_status refuse(const mcp_plausible *p, const char *name, double value, double most, mcp_error *err)
{
    return mcp_fail(err, MCP_ERR_PLANT,
                    "%s = %g at sample %d cannot be: at most %g is expected; the trial was ended there. Look "
                    "at the sensor and its wire; measured: {%s: {most: ...}} sets what can be",
                    name, value, p->samples, most, name);
}

int mcp_plausible_state(mcp_plausible *p, const double *truth)
{
    for (int i = 0; i < p->task->nx; i++)
        if (isfinite(truth[i]) && fabs(truth[i]) > FACTOR * p->truth[i]) return i;
    for (int i = 0; i < p->task->nx; i++)
        if (isfinite(truth[i])) p->truth[i] = fmax(p->truth[i], fabs(truth[i]));
    return -1;
}

mcp_status mcp_plausible_take(mcp_plausible *p, const double *measured, const double *truth, mcp_error *err)
{
    const mcp_task *task = p->task;
    for (int i = 0; i < task->ny; i++) {
        const mcp_task_channel *c = &task->measured[i];
        double size = fabs(measured[i]), most = c->most > 0.0 ? c->most : FACTOR * p->measured[i];
        if (isfinite(size) && size > most) return refuse(p, c->name, measured[i], most, err);
    }
    const int state = mcp_plausible_state(p, truth);
    if (state >= 0) return refuse(p, task->state[state], truth[state], FACTOR * p->truth[state], err);
    for (int i = 0; i < task->ny; i++)
        if (isfinite(measured[i])) p->measured[i] = fmax(p->measured[i], fabs(measured[i]));
    p->samples++;
    return MCP_OK;
}

int mcp_plausible_count(const mcp_task *task, const mcp_trial *t, mcp_error *err)
{
    mcp_plausible p;
    mcp_plausible_begin(&p, task);
    for (int k = 0; k < t->samples; k++) {
        for (int i = 0; i < t->ny; i++)
            if (!isfinite(t->measured[k * t->ny + i])) {
                mcp_fail(err, MCP_ERR_PLANT, "%s is not finite at sample %d", task->measured[i].name, k);
                return k;
            }
        if (mcp_plausible_take(&p, t->measured + k * t->ny, t->truth + k * t->nx, err) != MCP_OK) return k;
    }
    return t->samples;
}
