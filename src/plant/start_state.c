/* start_state.c - where a trial starts: one draw of the task's start distribution, keyed by (seed, trial,
 * run). */
#include "plant/plant_handle.h"
#include "plant/sensor.h"

static int pick_part(const mcp_task_start *d, const mcp_stream *s)
{
    double u, total = 0.0, sum = 0.0;
    if (d->type != MCP_START_MIXTURE || d->parts < 2) return 0;
    for (int i = 0; i < d->parts; i++) total += d->weight[i];
    mcp_rng_uniforms(s, 0, MCP_PICK_CHANNEL, 0, 1, &u);
    for (int i = 0; i < d->parts - 1; i++) {
        sum += d->weight[i];
        if (u * total < sum) return i;
    }
    return d->parts - 1;
}

static void draw_list(const mcp_random_list *list, const mcp_stream *s, uint32_t first, double *value);

void mcp_start_draw(const mcp_task *task, const mcp_task_start *d, uint64_t seed, uint32_t trial,
                    uint32_t run, double *x0)
{
    mcp_stream s = mcp_plant_stream(seed, trial, run);
    int        part = pick_part(d, &s);
    for (int i = 0; i < task->nx; i++) {
        uint32_t channel = (uint32_t)(MCP_START_CHANNEL + i);
        double   r;
        if (d->type == MCP_START_UNIFORM) {
            mcp_rng_uniforms(&s, 0, channel, 0, 1, &r);
            x0[i] = d->low[i] + (d->high[i] - d->low[i]) * r;
        } else {
            mcp_rng_normals(&s, 0, channel, 0, 1, &r);
            x0[i] = d->mean[part * task->nx + i] + d->std[part * task->nx + i] * r;
        }
    }
    const int moving = mcp_task_moving(task);
    draw_list(&task->goals, &s, (uint32_t)(MCP_START_CHANNEL + moving), x0 + moving);
}

static void draw_list(const mcp_random_list *list, const mcp_stream *s, uint32_t first, double *value)
{
    for (int i = 0; i < list->n; i++) {
        const mcp_task_random *d = &list->item[i];
        uint32_t               channel = first + (uint32_t)i;
        double                 r;
        if (d->uniform) {
            mcp_rng_uniforms(s, 0, channel, 0, 1, &r);
            value[i] = d->low + (d->high - d->low) * r;
        } else {
            mcp_rng_normals(s, 0, channel, 0, 1, &r);
            value[i] = d->mean + d->std * r;
        }
    }
}

void mcp_random_draw(const mcp_random_list *list, uint64_t seed, uint32_t trial, uint32_t run, double *value)
{
    mcp_stream s = mcp_plant_stream(seed, trial, run);
    draw_list(list, &s, MCP_RANDOM_CHANNEL, value);
}

void mcp_start_mean(const mcp_task *task, const mcp_task_start *d, double *x0)
{
    for (int i = 0; i < task->nx; i++) {
        if (d->type == MCP_START_UNIFORM) {
            x0[i] = 0.5 * (d->low[i] + d->high[i]);
            continue;
        }
        double sum = 0.0, total = 0.0;
        for (int k = 0; k < d->parts; k++) {
            double w = d->type == MCP_START_MIXTURE ? d->weight[k] : 1.0;
            sum += w * d->mean[k * task->nx + i];
            total += w;
        }
        x0[i] = total > 0.0 ? sum / total : 0.0;
    }
}
