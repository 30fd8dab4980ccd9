/* standin_plant.c - each learned velocity is a damped spring that all inputs push; the rest stays. */
#include "standin_plant.h"

#include <math.h>
#include <string.h>

static mcp_status tell(const standin *s, mcp_sample *out)
{
    out->time = s->sample / s->task->rate;
    memcpy(out->truth, s->x, (size_t)s->task->nx * sizeof *s->x);
    return MCP_OK;
}

static mcp_status reset(void *context, const double *x0, uint64_t seed, uint32_t trial, uint32_t run,
                        mcp_sample *first, mcp_error *err)
{
    standin *s = context;
    (void)seed, (void)trial, (void)run, (void)err;
    memcpy(s->x, x0, (size_t)s->task->nx * sizeof *s->x);
    s->sample = 0;
    return tell(s, first);
}

static mcp_status step(void *context, const double *u, mcp_sample *next, mcp_error *err)
{
    standin        *s = context;
    const mcp_task *t = s->task;
    double          push = 0.0, h = fmin(1.0 / t->rate, 0.5);
    (void)err;
    for (int i = 0; i < t->nu; i++) push += u[i] / mcp_input_reach(&t->input[i]);
    for (int g = 0; g < t->ngp; g++) {
        double *v = &s->x[t->gp[g].state], *q = t->gp[g].position < 0 ? NULL : &s->x[t->gp[g].position];
        *v += h * (push - *v - (q ? *q : 0.0));
        if (q) *q += h * *v;
    }
    s->sample++;
    return tell(s, next);
}

static mcp_status stop(void *context, const double *safe_u, mcp_error *err)
{
    (void)context, (void)safe_u, (void)err;
    return MCP_OK;
}

mcp_status standin_open(mcp_plant **out, const mcp_system *system, standin *s, mcp_error *err)
{
    const mcp_plant_ops ops = {.reset = reset, .step = step, .stop = stop};
    s->task = system->task;
    return mcp_plant_from_ops(out, system, &ops, s, err);
}
