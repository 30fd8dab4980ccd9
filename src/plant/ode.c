/* ode.c - a plant given by differential equations: x' = f(x, u), u held over a sample; hidden states of the
 * plant's own come after the task's in x. Expressions are compiled once; a sample is one call of the adaptive
 * integrator, then the optional `after` expressions (clamps), then the sensors. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "math/arena.h"
#include "math/number.h"
#include "plant/dopri5.h"
#include "plant/plant_parts.h"
#include "plant/plausible.h"
#include "plant/sensor.h"
#include "task/task_builder.h"

/* Samples after which equations that cannot be integrated further end a trial: they have worked till then. */
enum { MOVED = 3 };

typedef struct {
    const mcp_system *system;
    int               n;                        /* states, hidden ones included */
    /* inputs: random parameters, states, task inputs, hidden states */
    mcp_program      *slope, *start, *after;
    mcp_runner        slope_run, start_run, after_run, actuator;
    mcp_sensor        sensor;
    mcp_ode           ode;
    double           *x;
    double            random[MCP_MAX_RANDOM]; /* of this trial */
    mcp_plausible     seen;                   /* likewise */
    int               sample;
} ode_plant;

static const mcp_named_expr *find(const mcp_expr_list *list, const char *name)
{
    for (int i = 0; i < list->n; i++)
        if (!strcmp(list->item[i].name, name)) return &list->item[i];
    return NULL;
}

static const char *state_name(const mcp_task *task, int i)
{
    return i < task->nx ? task->state[i] : task->plant.hidden.item[i - task->nx].name;
}

static mcp_status output(mcp_builder *b, int i, const mcp_expr *e, mcp_error *err)
{
    char name[32];
    snprintf(name, sizeof name, "plant_out_%d", i);
    return mcp_builder_output(b, name, e->text, e->at, err);
}

/* A position's derivative needs no mention: it is its velocity. */
static char *velocity_of(const mcp_task *task, int state)
{
    for (int g = 0; g < task->ngp; g++)
        if (task->gp[g].kind == MCP_GP_VELOCITY && task->gp[g].position == state)
            return task->state[task->gp[g].state];
    return NULL;
}

static mcp_status compile_slope(ode_plant *p, mcp_error *err)
{
    const mcp_task *task = p->system->task;
    mcp_builder    *b = NULL;
    mcp_status      st = mcp_task_builder_plant(&b, task, err);
    for (int i = 0; st == MCP_OK && i < p->n; i++) {
        const mcp_named_expr *e = find(&task->plant.ode, state_name(task, i));
        mcp_expr velocity = {velocity_of(task, i), {NULL, 0, 0}};
        char     still[] = "0";
        if (i >= mcp_task_moving(task) && i < task->nx) velocity.text = still;
        if (e) st = output(b, i, &e->expr, err);
        else if (velocity.text) st = output(b, i, &velocity, err);
        else
            st = mcp_fail(err, MCP_ERR_TASK, "%s: plant.ode has no derivative for state %s", task->file,
                          state_name(task, i));
    }
    if (st == MCP_OK) st = mcp_builder_finish(b, &p->slope, err);
    if (st == MCP_OK) st = mcp_runner_create(&p->slope_run, p->slope, err);
    mcp_builder_free(b);
    return st;
}

/* A list of named expressions, one output each. */
static mcp_status compile_list(ode_plant *p, const mcp_expr_list *list, mcp_program **program,
                               mcp_runner *run, mcp_error *err)
{
    mcp_builder *b = NULL;
    if (!list->n) return MCP_OK;
    mcp_status st = mcp_task_builder_plant(&b, p->system->task, err);
    for (int i = 0; st == MCP_OK && i < list->n; i++) st = output(b, i, &list->item[i].expr, err);
    if (st == MCP_OK) st = mcp_builder_finish(b, program, err);
    if (st == MCP_OK) st = mcp_runner_create(run, *program, err);
    mcp_builder_free(b);
    return st;
}

/* Inputs of a program: x in its order of names; the task's inputs sit between the task's states and the
 * hidden ones. */
static double *task_inputs(const ode_plant *p, mcp_runner *r)
{
    return r->in + p->system->task->plant.random.n + p->system->nx;
}

static void set_states(const ode_plant *p, mcp_runner *r, const double *x)
{
    int    nx = p->system->nx, nu = p->system->nu, nr = p->system->task->plant.random.n;
    memcpy(r->in, p->random, (size_t)nr * sizeof(double));
    memcpy(r->in + nr, x, (size_t)nx * sizeof(double));
    memcpy(r->in + nr + nx + nu, x + nx, (size_t)(p->n - nx) * sizeof(double));
}

static void slope(void *context, const double *x, double *dx)
{
    ode_plant *p = context;
    set_states(p, &p->slope_run, x);
    mcp_runner_step(&p->slope_run, NULL, 1);
    memcpy(dx, p->slope_run.out, (size_t)p->n * sizeof(double));
}

static void measure(ode_plant *p, mcp_sample *s)
{
    s->time = p->sample * p->system->ts;
    memcpy(s->truth, p->x, (size_t)p->system->nx * sizeof(double));
    mcp_sensor_read(&p->sensor, p->x, s->measured);
}

static mcp_status ode_reset(void *context, const double *x0, uint64_t seed, uint32_t trial, uint32_t run,
                            mcp_sample *first, mcp_error *err)
{
    ode_plant *p = context;
    int        nx = p->system->nx;
    (void)err;
    memset(p->x, 0, (size_t)p->n * sizeof(double));
    memcpy(p->x, x0, (size_t)nx * sizeof(double));
    mcp_random_draw(&p->system->task->plant.random, seed, trial, run, p->random);
    if (p->start) {
        set_states(p, &p->start_run, p->x);
        memset(task_inputs(p, &p->start_run), 0, (size_t)p->system->nu * sizeof(double));
        mcp_runner_step(&p->start_run, NULL, 1);
        memcpy(p->x + nx, p->start_run.out, (size_t)(p->n - nx) * sizeof(double));
    }
    p->ode.step = 0.0;
    p->sample   = 0;
    mcp_plausible_begin(&p->seen, p->system->task);
    (void)mcp_plausible_state(&p->seen, p->x);
    mcp_sensor_reset(&p->sensor, seed, trial, run);
    measure(p, first);
    return MCP_OK;
}

static int index_of(const ode_plant *p, const char *name)
{
    for (int i = 0; i < p->n; i++)
        if (!strcmp(state_name(p->system->task, i), name)) return i;
    return -1;
}

static mcp_status ode_step(void *context, const double *u, mcp_sample *next, mcp_error *err)
{
    ode_plant       *p = context;
    const mcp_task  *task = p->system->task;
    size_t           nu_bytes = (size_t)p->system->nu * sizeof(double);
    mcp_error        why = {MCP_OK, ""};

    memcpy(p->actuator.in, u, nu_bytes);
    mcp_runner_step(&p->actuator, NULL, p->sample == 0);
    memcpy(next->applied, p->actuator.out, nu_bytes);
    memcpy(task_inputs(p, &p->slope_run), next->applied, nu_bytes);
    p->sample++;
    mcp_status st = mcp_ode_advance(&p->ode, p->system->ts, p->x, &why);
    const int  leapt = st == MCP_OK ? mcp_plausible_state(&p->seen, p->x) : -1;
    if (leapt >= 0) /* over a pole, to its other side */
        st = mcp_fail(&why, MCP_ERR_PLANT, "%s leaps to %g", task->state[leapt], p->x[leapt]);
    if (st != MCP_OK) {
        if (p->sample < MOVED)
            return mcp_fail(err, MCP_ERR_PLANT, "%s: simulated plant, sample %d: %s", task->file, p->sample,
                            why.text);
        next->ended = 1; /* and nothing measured: it ran into a singularity on its way, as magnets do */
        mcp_print(next->reason, sizeof next->reason,
                  "the equations cannot be integrated beyond %.4g s: write a limit that is reached before",
                  (p->sample - 1) * p->system->ts);
        return MCP_OK;
    }
    if (p->after) {
        set_states(p, &p->after_run, p->x);
        memcpy(task_inputs(p, &p->after_run), next->applied, nu_bytes);
        mcp_runner_step(&p->after_run, NULL, 1);
        for (int i = 0; i < task->plant.after.n; i++)
            p->x[index_of(p, task->plant.after.item[i].name)] = p->after_run.out[i];
    }
    measure(p, next);
    return MCP_OK;
}

static mcp_status ode_stop(void *context, const double *safe_u, mcp_error *err)
{
    (void)context;
    (void)safe_u;
    (void)err;
    return MCP_OK;
}

static void ode_destroy(void *context)
{
    ode_plant *p = context;
    if (!p) return;
    mcp_runner_free(&p->slope_run);
    mcp_runner_free(&p->start_run);
    mcp_runner_free(&p->after_run);
    mcp_runner_free(&p->actuator);
    mcp_program_free(p->slope);
    mcp_program_free(p->start);
    mcp_program_free(p->after);
    mcp_sensor_free(&p->sensor);
    mcp_free(p->x);
    mcp_free(p);
}

static mcp_status prepare(ode_plant *p, mcp_error *err)
{
    const mcp_task *task = p->system->task;
    mcp_status      st;
    p->n = task->nx + task->plant.hidden.n;
    if ((st = compile_slope(p, err)) != MCP_OK) return st;
    if ((st = compile_list(p, &task->plant.hidden, &p->start, &p->start_run, err)) != MCP_OK) return st;
    if ((st = compile_list(p, &task->plant.after, &p->after, &p->after_run, err)) != MCP_OK) return st;
    for (int i = 0; i < task->plant.after.n; i++) {
        const mcp_named_expr *e = &task->plant.after.item[i];
        if (index_of(p, e->name) < 0)
            return mcp_fail(err, MCP_ERR_TASK, "%s:%d: plant.after: %s is not a state", task->file,
                            e->expr.at.line, e->name);
    }
    if ((st = mcp_runner_create(&p->actuator, p->system->actuator, err)) != MCP_OK) return st;
    if ((st = mcp_sensor_create(&p->sensor, task, err)) != MCP_OK) return st;
    p->x = mcp_calloc((size_t)p->n + mcp_ode_work(p->n), sizeof(double));
    if (!p->x) return mcp_fail(err, MCP_ERR_MEMORY, "out of memory for a simulated plant");
    p->ode = (mcp_ode){
        .f = slope, .context = p, .n = p->n, .tolerance = task->plant.tolerance, .work = p->x + p->n};
    return MCP_OK;
}

mcp_status mcp_ode_plant(const mcp_system *s, mcp_plant_ops *ops, void **context, mcp_error *err)
{
    ode_plant *p = mcp_calloc(1, sizeof *p);
    if (!p) return mcp_fail(err, MCP_ERR_MEMORY, "out of memory for a simulated plant");
    p->system = s;
    mcp_status st = prepare(p, err);
    if (st != MCP_OK) {
        ode_destroy(p);
        return st;
    }
    *ops     = (mcp_plant_ops){ode_reset, ode_step, ode_stop, ode_destroy};
    *context = p;
    return MCP_OK;
}
