/* system.c - compile a task: one program per stage of a step. */
#include "control/system.h"

#include <math.h>
#include <string.h>

#include "control/compose.h"
#include "math/arena.h"

/* y = x, or an expression of it, delayed by whole samples, plus noise; quantisation as the noise of its
 * rounding error. */
static mcp_status compose_sensor(mcp_system *s, mcp_error *err)
{
    const mcp_task *t = s->task;
    mcp_composer    c;
    char            seen[MCP_NAME_SIZE], name[MCP_NAME_SIZE];
    mcp_compose_begin(&c, s, err);
    mcp_compose_states(&c, t);
    for (int i = 0; i < t->ny; i++) mcp_compose_input(&c, "@noise_%s", t->measured[i].name);
    for (int i = 0; i < t->ny; i++) {
        const char *q = t->measured[i].name;
        mcp_compose_name(seen, "%s%s", t->measured[i].of.text ? "@of_" : "", q);
        if (t->measured[i].of.text) mcp_compose_define(&c, seen, "%s", t->measured[i].of.text);
        for (int d = 1; d <= t->measured[i].delay; d++) {
            mcp_compose_name(name, "@before%d_%s", d, q);
            mcp_compose_define(&c, name, "prev(%s)", seen);
            mcp_compose_name(seen, "%s", name);
        }
        mcp_compose_constant(&c, mcp_compose_name(name, "@std_%s", q), mcp_channel_noise(&t->measured[i]));
        mcp_compose_output(&c, mcp_compose_name(name, "y_%s", q), "%s + @std_%s*@noise_%s", seen, q, q);
    }
    return mcp_compose_end(&c, &s->sensor);
}

/* Measurements -> the states that they tell, for those who read recordings. */
static mcp_status compose_view(mcp_system *s, mcp_error *err)
{
    const mcp_task *t = s->task;
    mcp_composer    c;
    char            name[MCP_NAME_SIZE];
    int             same = t->nseen == t->ny;
    for (int i = 0; i < t->nseen; i++) same = same && t->seen[i].sensor == i;
    if (same) return MCP_OK;
    mcp_compose_begin(&c, s, err);
    mcp_compose_measured(&c, t);
    for (int i = 0; i < t->nseen; i++)
        mcp_compose_output(&c, mcp_compose_name(name, "@seen_%s", t->seen[i].name), "y_%s", t->seen[i].name);
    return mcp_compose_end(&c, &s->view);
}

/* Commands reach the plant after whole samples; until then it gets 0, or what its limits have nearest. */
static mcp_status compose_actuator(mcp_system *s, mcp_error *err)
{
    const mcp_task *t = s->task;
    mcp_composer    c;
    char            seen[MCP_NAME_SIZE], name[MCP_NAME_SIZE], rest[MCP_NAME_SIZE];
    mcp_compose_begin(&c, s, err);
    mcp_compose_inputs(&c, t);
    for (int i = 0; i < t->nu; i++) {
        mcp_compose_name(seen, "%s", t->input[i].name);
        for (int d = 1; d <= t->input[i].delay; d++) {
            mcp_compose_memory(&c, mcp_compose_name(name, "delay%d_%s", d, t->input[i].name), "%s",
                               mcp_compose_rest(&c, t, i, rest));
            mcp_compose_next(&c, name, "%s", seen);
            mcp_compose_name(seen, "%s", name);
        }
        mcp_compose_output(&c, mcp_compose_name(name, "applied_%s", t->input[i].name), "%s", seen);
    }
    return mcp_compose_end(&c, &s->actuator);
}

/* What follows are programs of states and inputs. */
static void begin(mcp_composer *c, mcp_system *s, mcp_error *err)
{
    mcp_compose_begin(c, s, err);
    mcp_compose_states(c, s->task);
    mcp_compose_inputs(c, s->task);
}

int mcp_is_difference(const mcp_task *t, int velocity)
{
    for (int i = 0; i < t->nseen; i++)
        if (t->seen[i].state == velocity) return 0;
    return mcp_smoother_is_backward(t);
}

/* v(t) = (q(t) - q(t-1))/Ts changes by Ts (a(t) + a(t-1))/2: by both inputs, mostly by their mean. */
static void begin_features(mcp_composer *c, mcp_system *s, mcp_error *err)
{
    const mcp_task *t = s->task;
    char            last[MCP_NAME_SIZE];
    int             mean = 1;
    if (!s->before) {
        begin(c, s, err);
        return;
    }
    mcp_compose_begin(c, s, err);
    mcp_compose_states(c, t);
    for (int g = 0; g < s->ngp; g++)
        mean &= t->gp[g].kind == MCP_GP_VELOCITY && mcp_is_difference(t, t->gp[g].state);
    for (int i = 0; i < s->nu; i++) mcp_compose_input(c, "@now_%s", t->input[i].name);
    for (int i = 0; i < s->nu; i++) {
        const char *u = t->input[i].name;
        mcp_compose_memory(c, mcp_compose_name(last, "@last_%s", u), "0");
        mcp_compose_next(c, last, "@now_%s", u);
        if (mean) mcp_compose_define(c, u, "0.5*(@now_%s + @last_%s)", u, u);
        else mcp_compose_define(c, u, "@now_%s", u);
    }
}

static mcp_status compose_features(mcp_system *s, mcp_error *err)
{
    const mcp_task *t = s->task;
    mcp_composer    c;
    char            name[MCP_NAME_SIZE];
    begin_features(&c, s, err);
    for (int i = 0; i < s->nf; i++) {
        int before = i - t->features.n;
        mcp_compose_name(name, "feature_%d", i + 1);
        if (before < 0) mcp_compose_output_at(&c, name, &t->features.item[i].expr);
        else if (before < s->before)
            mcp_compose_output(&c, name, "@now_%s - @last_%s", t->input[before].name, t->input[before].name);
        else mcp_compose_output(&c, name, "%s", s->feature_text[i]);
    }
    for (int i = 0; i < s->ngp; i++) {
        mcp_compose_name(name, "expected_%d", i + 1);
        if (t->gp[i].prior_mean.text) mcp_compose_output_at(&c, name, &t->gp[i].prior_mean);
        else mcp_compose_output(&c, name, "0");
    }
    return mcp_compose_end(&c, &s->features);
}

static const mcp_expr *known_of(const mcp_task *t, int state)
{
    for (int i = 0; i < t->known.n; i++)
        if (!strcmp(t->known.item[i].name, t->state[state])) return &t->known.item[i].expr;
    return NULL;
}

/* q+ = q + Ts v + Ts/2 d,  v+ = v + d  (v a backward difference: q+ = q + Ts v+);  a plain change: x+ = x +
 * d;  a known state: its expression. */
static mcp_status compose_integrate(mcp_system *s, mcp_error *err)
{
    const mcp_task *t = s->task;
    mcp_composer    c;
    char            name[MCP_NAME_SIZE];
    begin(&c, s, err);
    for (int g = 0; g < s->ngp; g++) mcp_compose_input(&c, "change_%s", t->state[t->gp[g].state]);
    for (int i = 0; i < t->nx; i++) {
        const char     *x = t->state[i];
        const mcp_expr *known = known_of(t, i);
        int             rules = known != NULL, v = mcp_velocity_of(t, i), changes = 0;
        for (int g = 0; g < s->ngp; g++) changes += t->gp[g].state == i;
        rules += changes + (v >= 0);
        if (rules != 1)
            mcp_compose_fail(&c, MCP_ERR_TASK,
                             "%s: model: state %s has %d rules for its next value; give it exactly one: as "
                             "position or velocity in velocities, "
                             "in changes, or as a known transition",
                             t->file ? t->file : "task", x, rules);
        mcp_compose_name(name, "next_%s", x);
        if (known) mcp_compose_output_at(&c, name, known);
        else if (v >= 0 && mcp_is_difference(t, v))
            mcp_compose_output(&c, name, "%s + Ts*(%s + change_%s)", x, t->state[v], t->state[v]);
        else if (v >= 0)
            mcp_compose_output(&c, name, "%s + Ts*%s + 0.5*Ts*change_%s", x, t->state[v], t->state[v]);
        else mcp_compose_output(&c, name, "%s + change_%s", x, x);
    }
    return mcp_compose_end(&c, &s->integrate);
}

static mcp_status compose_cost(mcp_system *s, mcp_error *err)
{
    const mcp_task *t = s->task;
    mcp_composer    c;
    begin(&c, s, err);
    if (!t->cost.text)
        mcp_compose_fail(&c, MCP_ERR_TASK, "%s: the task has no cost", t->file ? t->file : "task");
    else mcp_compose_output_at(&c, "cost_now", &t->cost);
    mcp_compose_output_at(&c, "metric_now", t->metric.text ? &t->metric : &t->cost);
    return mcp_compose_end(&c, &s->cost);
}

static mcp_status compose_events(mcp_system *s, mcp_error *err)
{
    const mcp_task *t = s->task;
    mcp_composer    c;
    char            name[MCP_NAME_SIZE];
    begin(&c, s, err);
    if (t->success.text) mcp_compose_output_at(&c, "succeeded", &t->success);
    else mcp_compose_output(&c, "succeeded", "0");
    for (int i = 0; i < t->limits; i++)
        mcp_compose_output_at(&c, mcp_compose_name(name, "limit_%d", i + 1), &t->limit[i].when);
    return mcp_compose_end(&c, &s->events);
}

/* zero, hold or an expression of the observed state and the last command, input by input. */
static mcp_status compose_safe(mcp_system *s, mcp_error *err)
{
    const mcp_task *t = s->task;
    mcp_composer    c;
    char            name[MCP_NAME_SIZE];
    begin(&c, s, err);
    for (int i = 0; i < t->nu; i++) {
        const mcp_task_input *u = &t->input[i];
        const mcp_expr       *e = t->safe.n ? &t->safe.item[i].expr : NULL;
        mcp_compose_name(name, "wanted_%s", u->name);
        if (!e || !strcmp(e->text, "zero")) mcp_compose_define(&c, name, "0");
        else if (!strcmp(e->text, "hold")) mcp_compose_define(&c, name, "%s", u->name);
        else mcp_compose_define_at(&c, name, e);
        mcp_compose_output(&c, mcp_compose_name(name, "safe_%s", u->name), "clamp(wanted_%s, %.17g, %.17g)",
                           u->name, u->low, u->high);
    }
    return mcp_compose_end(&c, &s->safe);
}

static mcp_status no_parameters(const mcp_system *s, mcp_error *err)
{
    const struct { const mcp_program *p; const char *name; } part[] = {
        {s->sensor, "sensor"}, {s->actuator, "actuator"}, {s->features, "features"},
        {s->integrate, "known transitions"}, {s->cost, "cost"}, {s->events, "success and limits"},
        {s->safe, "safe input"}, {s->given, "observer"},
    };
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        if (mcp_program_params(part[i].p) > 0)
            return mcp_fail(
                err, MCP_ERR_TASK,
                "%s: learnable parameters (param, rbf, mlp) may appear only in the policy, not in the %s",
                s->task->file ? s->task->file : "task", part[i].name);
    return MCP_OK;
}

static mcp_status check_sizes(const mcp_task *t, mcp_error *err)
{
    if (!(t->rate > 0.0) || !isfinite(t->rate))
        return mcp_fail(err, MCP_ERR_TASK, "rate = %g Hz must be above 0", t->rate);
    double steps = t->trial * t->rate;
    if (!(steps >= 0.5 && steps < MCP_MAX_STEPS + 1.0))
        return mcp_fail(err, MCP_ERR_TASK, "a trial of %g s at %g Hz has %g steps; 1 to %d are possible",
                        t->trial, t->rate, steps, MCP_MAX_STEPS);
    if (t->nx < 1 || t->nx > MCP_MAX_STATE || t->nu < 1 || t->nu > MCP_MAX_INPUT || t->ny < 1 ||
        t->ny > MCP_MAX_STATE || t->nseen > t->nx || t->ngp < 0 || t->ngp > t->nx ||
        t->features.n > MCP_MAX_FEATURE)
        return mcp_fail(err, MCP_ERR_TASK,
                        "task sizes are impossible: %d states, %d inputs, %d measured, %d GPs, %d features",
                        t->nx, t->nu, t->ny, t->ngp, t->features.n);
    if (t->ngp > 0 && t->features.n < 1)
        return mcp_fail(err, MCP_ERR_TASK, "model: GPs need at least one feature");
    return MCP_OK;
}

mcp_status mcp_system_create(mcp_system **out, const mcp_task *task, mcp_error *err)
{
    mcp_status st;
    *out = NULL;
    if ((st = check_sizes(task, err)) != MCP_OK) return st;
    mcp_system *s = mcp_calloc(1, sizeof *s);
    if (!s) return mcp_fail(err, MCP_ERR_MEMORY, "out of memory for a compiled task");
    s->task = task;
    s->ts = 1.0 / task->rate;
    s->steps = (int)(task->trial * task->rate + 0.5);
    s->nx = s->nz = task->nx;
    s->nu = task->nu;
    s->ny = task->ny;
    s->ngp = task->ngp;
    for (int g = 0; task->smoother.type == MCP_SMOOTHER_AUTO && g < s->ngp; g++)
        if (task->gp[g].kind == MCP_GP_VELOCITY && mcp_is_difference(task, task->gp[g].state))
            s->before = s->nu;
    s->kernel = mcp_calloc((size_t)s->ngp + 1, sizeof *s->kernel);
    s->kernel_text = mcp_calloc((size_t)s->ngp + 1, sizeof *s->kernel_text);
    s->feature_text = mcp_calloc(MCP_MAX_FEATURE, sizeof *s->feature_text);
    s->observed = mcp_calloc((size_t)s->nx, 1);
    if (!s->kernel || !s->kernel_text || !s->feature_text || !s->observed)
        st = mcp_fail(err, MCP_ERR_MEMORY, "out of memory for a compiled task");

    typedef mcp_status piece(mcp_system *, mcp_error *);
    piece *const pieces[] = {mcp_kernel_texts, compose_sensor,   compose_view,      mcp_controller_compose,
                             compose_actuator, compose_features, compose_integrate, compose_cost,
                             compose_events,   compose_safe};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces && st == MCP_OK; i++) st = pieces[i](s, err);
    if (st == MCP_OK) st = no_parameters(s, err);
    if (st == MCP_OK) *out = s;
    else mcp_system_free(s);
    return st;
}

mcp_status mcp_system_observe(mcp_system *s, const mcp_observer_choice *choice, mcp_error *err)
{
    mcp_system           next = *s;
    size_t               seen = (size_t)s->task->nseen;
    mcp_observer_choice *own = mcp_calloc(seen + 1, sizeof *own);
    mcp_status           st = MCP_OK;
    next.controller = next.policy_true = next.given = NULL;
    next.choice = own;
    if (!own) return mcp_fail(err, MCP_ERR_MEMORY, "out of memory for the observer");
    memcpy(own, choice, seen * sizeof *own);
    memset(s->observed, 0, (size_t)s->nx);
    st = mcp_controller_compose(&next, err);
    mcp_system *old = st == MCP_OK ? s : &next; /* whose programs are not needed any more */
    mcp_program_free(old->controller);
    mcp_program_free(old->policy_true);
    mcp_program_free(old->given);
    mcp_free(old->choice);
    if (st != MCP_OK) return st;
    *s = next;
    s->observers++;
    return MCP_OK;
}

void mcp_system_free(mcp_system *s)
{
    if (!s) return;
    mcp_program *const programs[] = {s->view,     s->sensor,     s->controller, s->policy_true, s->given,
                                     s->safe,     s->actuator,   s->features,   s->integrate,   s->cost,
                                     s->events};
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) mcp_program_free(programs[i]);
    for (int i = 0; s->kernel && i < s->ngp; i++) mcp_kernel_free(s->kernel[i]);
    for (int i = 0; s->kernel_text && i < s->ngp; i++) mcp_free(s->kernel_text[i]);
    for (int i = 0; s->feature_text && i < MCP_MAX_FEATURE; i++) mcp_free(s->feature_text[i]);
    mcp_free(s->kernel);
    mcp_free(s->kernel_text);
    mcp_free(s->feature_text);
    mcp_free(s->observed);
    mcp_free(s->choice);
    mcp_free(s);
}
