/* callback.c - a plant that is the caller's own functions. One that tells its true state and leaves all
 * measurements of a trial's first sample unknown gets the task's sensors (noise, resolution, delay), as one
 * over a wire does. In a plant that measures, a measurement that goes missing later is a fault. */
#include <math.h>

#include "math/arena.h"
#include "plant/plant_parts.h"
#include "plant/sensor.h"

typedef struct {
    const mcp_task *task;
    mcp_plant_ops   ops;
    void           *context;
    mcp_sensor      sensor;
    int             only_state; /* in this trial */
} callback_plant;

static int tells_only_state(const mcp_task *t, const mcp_sample *s)
{
    int all = 0;
    for (int i = 0; i < mcp_task_sensors(t); i++) {
        const int state = t->measured[i].state;
        if (!isnan(s->measured[i]) || (state >= 0 && !isfinite(s->truth[state]))) return 0;
        all |= state < 0; /* an expression may use any of them */
    }
    for (int i = 0; all && i < mcp_task_moving(t); i++)
        if (!isfinite(s->truth[i])) return 0;
    return 1;
}

static void sense(callback_plant *p, mcp_sample *s)
{
    if (p->only_state && tells_only_state(p->task, s)) mcp_sensor_read(&p->sensor, s->truth, s->measured);
}

static mcp_status reset(void *context, const double *x0, uint64_t seed, uint32_t trial, uint32_t run,
                        mcp_sample *first, mcp_error *err)
{
    callback_plant *p = context;
    mcp_status      st = p->ops.reset(p->context, x0, seed, trial, run, first, err);
    mcp_sensor_reset(&p->sensor, seed, trial, run);
    p->only_state = st == MCP_OK && tells_only_state(p->task, first);
    sense(p, first);
    return st;
}

static mcp_status step(void *context, const double *u, mcp_sample *next, mcp_error *err)
{
    callback_plant *p = context;
    mcp_status      st = p->ops.step(p->context, u, next, err);
    if (st == MCP_OK) sense(p, next);
    return st;
}

static mcp_status stop(void *context, const double *safe_u, mcp_error *err)
{
    callback_plant *p = context;
    return p->ops.stop ? p->ops.stop(p->context, safe_u, err) : MCP_OK;
}

static void destroy(void *context)
{
    callback_plant *p = context;
    if (p->ops.destroy) p->ops.destroy(p->context);
    mcp_sensor_free(&p->sensor);
    mcp_free(p);
}

mcp_status mcp_callback_plant(const mcp_system *system, mcp_plant_ops *ops, void **context, mcp_error *err)
{
    callback_plant *p = mcp_calloc(1, sizeof *p);
    if (!p) return mcp_fail(err, MCP_ERR_MEMORY, "out of memory for a plant");
    mcp_status st = mcp_sensor_create(&p->sensor, system->task, err);
    if (st != MCP_OK) {
        mcp_free(p);
        return st;
    }
    p->task = system->task;
    p->ops = *ops;
    p->context = *context;
    *ops = (mcp_plant_ops){.reset = reset, .step = step, .stop = stop, .destroy = destroy};
    *context = p;
    return MCP_OK;
}
