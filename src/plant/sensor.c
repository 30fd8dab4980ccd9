/* sensor.c - noise is drawn per (run, sample, channel), so a channel's noise does not depend on the others.
 */
#include "plant/sensor.h"

#include <math.h>
#include <string.h>

#include "math/angle.h"
#include "math/arena.h"
#include "task/task_builder.h"

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
    if (!s->history) return mcp_fail(err, MCP_ERR_MEMORY, "out of memory for the plant's sensors");
    int expressions = 0;
    for (int i = 0; i < task->ny; i++) expressions |= task->measured[i].of.text != NULL;
    if (!expressions) return MCP_OK;
    mcp_status st = mcp_task_sensor_program(&s->program, task, err);
    if (st == MCP_OK) st = mcp_runner_create(&s->runner, s->program, err);
    if (st != MCP_OK) mcp_sensor_free(s);
    return st;
}

void mcp_sensor_free(mcp_sensor *s)
{
    mcp_runner_free(&s->runner);
    mcp_program_free(s->program);
    mcp_free(s->history);
    s->program = NULL;
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
    if (s->program) {
        memcpy(s->runner.in, x, (size_t)s->task->nx * sizeof *x);
        mcp_runner_step(&s->runner, NULL, k == 0);
        memcpy(now, s->runner.out, (size_t)ny * sizeof *now);
    } else {
        for (int i = 0; i < ny; i++) now[i] = x[s->task->measured[i].state];
    }

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
