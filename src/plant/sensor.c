/* sensor.c - noise is drawn per (run, sample, channel), so a channel's noise does not depend on the others.
 */
#include "plant/sensor.h"

#include <math.h>

#include "math/angle.h"
#include "math/arena.h"

mcp_stream mcp_plant_stream(uint64_t seed, uint32_t trial, uint32_t run)
{
    return (mcp_stream){.seed = seed,
                        .trial = trial,
                        .step = run,
                        .purpose = run ? MCP_RNG_EVALUATE : MCP_RNG_PLANT};
}

mcp_status mcp_sensor_create(mcp_sensor *s, const mcp_task *task, mcp_error *err)
{
    *s = (mcp_sensor){.task = task, .depth = 1};
    for (int i = 0; i < task->ny; i++)
        if (task->measured[i].delay + 1 > s->depth) s->depth = task->measured[i].delay + 1;
    s->history = mcp_calloc((size_t)s->depth * (size_t)task->ny, sizeof(double));
    return s->history ? MCP_OK : mcp_fail(err, MCP_ERR_MEMORY, "out of memory for the plant's sensors");
}

void mcp_sensor_free(mcp_sensor *s)
{
    mcp_free(s->history);
    s->history = NULL;
}

void mcp_sensor_reset(mcp_sensor *s, uint64_t seed, uint32_t trial, uint32_t run)
{
    s->stream = mcp_plant_stream(seed, trial, run);
    s->sample = 0;
}

void mcp_sensor_read(mcp_sensor *s, const double *x, double *y)
{
    int     ny = s->task->ny, k = s->sample++;
    double *now = s->history + (size_t)(k % s->depth) * (size_t)ny;
    for (int i = 0; i < ny; i++) now[i] = x[s->task->measured[i].state];

    for (int i = 0; i < ny; i++) {
        const mcp_task_channel *c = &s->task->measured[i];
        int    from = k > c->delay ? k - c->delay : 0;
        double q = s->history[(size_t)(from % s->depth) * (size_t)ny + (size_t)i];
        if (c->noise > 0.0) {
            double e;
            mcp_rng_normals(&s->stream, (uint32_t)k, (uint32_t)i, 0, 1, &e);
            q += c->noise * e;
        }
        if (c->quantum > 0.0) q = floor(q / c->quantum + 0.5) * c->quantum;
        if (c->angle) q = mcp_angle_wrap(q);
        y[i] = q;
    }
}
