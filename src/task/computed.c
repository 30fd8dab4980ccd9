/* computed.c - measured.NAME.of and .from: sensors that show an expression of the state, and states that are
 * computed from what sensors show.
 *
 *   y_k = of_k(x) + r_k e_k,   x_i = from_i(y)
 * The deviation of a computed state, where the file gives none, is what the sensors' own do to it at the mean
 * of the start: sqrt(sum over k of ((from(y + r_k) - from(y - r_k))/2)^2). */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "math/arena.h"
#include "program/builder.h"
#include "task/keys.h"
#include "task/task_builder.h"

double mcp_channel_noise(const mcp_task_channel *m)
{
    return sqrt(m->noise * m->noise + m->quantum * m->quantum / 12.0);
}

void mcp_start_moments(const mcp_task_start *d, int nx, int state, double *mean, double *variance)
{
    double m = 0.0, second = 0.0;
    *mean = *variance = 0.0;
    if (d->type == MCP_START_UNIFORM) {
        double w  = d->high[state] - d->low[state];
        *mean     = 0.5 * (d->low[state] + d->high[state]);
        *variance = w * w / 12.0;
        return;
    }
    if (!d->mean || !d->std) return;
    double total = 0.0;
    for (int k = 0; k < d->parts; k++) {
        double w = d->weight ? d->weight[k] : 1.0;
        double a = d->mean[k * nx + state], b = d->std[k * nx + state];
        total += w;
        m += w * a;
        second += w * (a * a + b * b);
    }
    if (!(total > 0.0)) return;
    *mean     = m / total;
    *variance = fmax(0.0, second / total - *mean * *mean);
}

static const char *measurement(char name[MCP_NAME_LENGTH + 1], const mcp_task_channel *c)
{
    snprintf(name, MCP_NAME_LENGTH + 1, "y_%s", c->name);
    return name;
}

static int in_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

mcp_status mcp_task_builder_measured(mcp_builder *b, const mcp_task *t, mcp_error *err)
{
    char       name[MCP_NAME_LENGTH + 1];
    mcp_status st = MCP_OK;
    for (int i = 0; i < t->ny && st == MCP_OK; i++)
        st = mcp_builder_input(b, measurement(name, &t->measured[i]), err);
    return st;
}

mcp_status mcp_task_sensor_program(mcp_program **out, const mcp_task *t, mcp_error *err)
{
    const mcp_where nowhere = {NULL, 0, 0};
    char            name[MCP_NAME_LENGTH + 1];
    mcp_builder    *b = NULL;
    mcp_status      st = mcp_task_builder(&b, t, err);
    *out = NULL;
    if (st == MCP_OK) st = mcp_task_builder_states(b, t, err);
    for (int i = 0; i < t->ny && st == MCP_OK; i++) {
        const mcp_task_channel *c = &t->measured[i];
        measurement(name, c);
        st = c->of.text ? mcp_builder_output(b, name, c->of.text, c->of.at, err)
                        : mcp_builder_output(b, name, t->state[c->state], nowhere, err);
    }
    if (st == MCP_OK) st = mcp_builder_finish(b, out, err);
    mcp_builder_free(b);
    return st;
}

/* Outputs: the computed states, in the order of `seen`. */
static mcp_status compile_from(mcp_program **out, const mcp_task *t, mcp_error *err)
{
    mcp_builder *b = NULL;
    mcp_status   st = mcp_task_builder(&b, t, err);
    *out = NULL;
    if (st == MCP_OK) st = mcp_task_builder_measured(b, t, err);
    for (int i = 0; i < t->nseen && st == MCP_OK; i++) {
        const mcp_task_channel *c = &t->seen[i];
        if (c->sensor < 0) st = mcp_builder_output(b, c->name, c->from.text, c->from.at, err);
    }
    if (st == MCP_OK) st = mcp_builder_finish(b, out, err);
    mcp_builder_free(b);
    return st;
}

/* Does the expression use the measurement y_NAME? */
static int uses(const char *text, const char *name)
{
    size_t n = strlen(name);
    for (const char *p = text; (p = strstr(p, "y_")); p++) {
        int begins = p == text || !in_name(p[-1]);
        if (begins && !strncmp(p + 2, name, n) && !in_name(p[2 + n])) return 1;
    }
    return 0;
}

int mcp_sensor_used(const mcp_task *t, int sensor)
{
    const char              *name = t->measured[sensor].name;
    const mcp_task_observer *o = &t->observer;
    int                      used = t->measured[sensor].state >= 0;
    for (int i = 0; i < t->nseen; i++) used |= t->seen[i].sensor < 0 && uses(t->seen[i].from.text, name);
    if (o->type != MCP_OBSERVER_CUSTOM) return used;
    for (int i = 0; i < o->output.n; i++) used |= uses(o->output.item[i].expr.text, name);
    for (int i = 0; i < o->memory_start.n; i++)
        used |= uses(o->memory_start.item[i].expr.text, name) | uses(o->memory_next.item[i].expr.text, name);
    return used;
}

/* The sensors behind a computed state must be of one age: it has their delay. */
static mcp_status find_delay(mcp_reader *r, mcp_task_channel *c)
{
    const mcp_task         *t = r->task;
    const mcp_task_channel *first = NULL;
    for (int i = 0; i < mcp_task_sensors(t); i++) {
        const mcp_task_channel *m = &t->measured[i];
        if (!uses(c->from.text, m->name)) continue;
        if (first && first->delay != m->delay)
            return mcp_fail_at(r->err, c->from.at,
                               "measured.%s.from: found %s (delay %d) and %s (delay %d), expected sensors of "
                               "one delay; a custom observer can use both",
                               c->name, first->name, first->delay, m->name, m->delay);
        first = m;
    }
    if (!first)
        return mcp_fail_at(r->err, c->from.at,
                           "measured.%s.from: found no measurement in it, expected an expression of y_%s and "
                           "other channels", c->name, t->measured[0].name);
    c->delay = first->delay;
    return MCP_OK;
}

typedef struct {
    mcp_program *of, *from;
    double      *in, *mem, *y, *out, *work;
    void        *block;
} propagation;

static size_t layout(propagation *p, const mcp_task *t, char *mem)
{
    size_t    a = mcp_program_work(p->of), b = mcp_program_work(p->from);
    size_t    m = (size_t)mcp_program_memory(p->of), n = (size_t)mcp_program_memory(p->from);
    mcp_arena at = {.base = mem};
    p->in   = mcp_arena_doubles(&at, (size_t)t->nx);
    p->mem  = mcp_arena_doubles(&at, m > n ? m : n);
    p->y    = mcp_arena_doubles(&at, (size_t)t->ny);
    p->out  = mcp_arena_doubles(&at, 2 * (size_t)t->nx);
    p->work = mcp_arena_doubles(&at, a > b ? a : b);
    return at.used;
}

/* variance[k] of the k-th computed state. */
static void propagate(propagation *p, const mcp_task *t, double *variance)
{
    const int n = mcp_program_outputs(p->from);
    double    spread;
    for (int i = 0; i < t->nx; i++) mcp_start_moments(&t->start, t->nx, i, &p->in[i], &spread);
    mcp_program_step(p->of, NULL, 1, p->in, p->mem, p->y, p->work);
    memset(variance, 0, (size_t)n * sizeof *variance);
    for (int i = 0; i < t->ny; i++) {
        const double r = mcp_channel_noise(&t->measured[i]), y = p->y[i];
        for (int side = 0; side < 2; side++) {
            p->y[i] = side ? y - r : y + r;
            mcp_program_step(p->from, NULL, 1, p->y, p->mem, p->out + side * n, p->work);
        }
        p->y[i] = y;
        for (int k = 0, s = 0; s < t->nseen; s++) {
            if (t->seen[s].sensor >= 0) continue;
            double d = p->out[k] - p->out[n + k];
            if (t->seen[s].angle) d = atan2(sin(d), cos(d));
            variance[k++] += 0.25 * d * d;
        }
    }
}

static mcp_status set_noise(mcp_reader *r, const double *variance)
{
    mcp_task *t = r->task;
    int       noisy = 0;
    for (int i = 0; i < t->ny; i++) noisy |= mcp_channel_noise(&t->measured[i]) > 0.0;
    for (int k = 0, s = 0; s < t->nseen; s++) {
        mcp_task_channel *c = &t->seen[s];
        if (c->sensor >= 0) continue;
        const double v = variance[k++];
        if (c->noise > 0.0) continue;
        if (!isfinite(v) || (noisy && !(v > 0.0)))
            return mcp_fail_at(r->err, c->from.at,
                               "measured.%s: found no noise, and at the mean of the start the sensors' own "
                               "gives it the deviation %g; expected the noise of %s in the file",
                               c->name, sqrt(v), c->name);
        c->noise = sqrt(v);
    }
    return MCP_OK;
}

static mcp_status no_parameters(mcp_reader *r, const mcp_program *p, const char *key)
{
    if (!mcp_program_params(p)) return MCP_OK;
    return mcp_fail(r->err, MCP_ERR_TASK,
                    "%s: measured: found learnable parameters (param, rbf, mlp) in %s, expected them in the "
                    "policy alone", r->task->file ? r->task->file : "task", key);
}

mcp_status mcp_read_computed(mcp_reader *r)
{
    mcp_task   *t = r->task;
    propagation p = {0};
    double      variance[MCP_MAX_STATE];
    int         computed = 0;
    mcp_status  st = mcp_task_sensor_program(&p.of, t, r->err);
    if (st == MCP_OK) st = no_parameters(r, p.of, "of");
    for (int i = 0; i < t->nseen; i++) computed += t->seen[i].sensor < 0;
    if (st == MCP_OK && computed) st = compile_from(&p.from, t, r->err);
    if (st == MCP_OK && computed) st = no_parameters(r, p.from, "from");
    for (int i = 0; i < t->nseen && st == MCP_OK; i++)
        if (t->seen[i].sensor < 0) st = find_delay(r, &t->seen[i]);
    if (st == MCP_OK && computed && mcp_read_sound(r, "start")) {
        if ((st = mcp_block_alloc(&p.block, layout(&p, t, NULL), r->err)) == MCP_OK) {
            layout(&p, t, p.block);
            propagate(&p, t, variance);
            st = set_noise(r, variance);
        }
    }
    mcp_block_free(p.block);
    mcp_program_free(p.of);
    mcp_program_free(p.from);
    return st;
}
