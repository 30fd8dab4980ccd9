/* trial_loop.c - one trial: measure, control (control/runtime.h), log, watch the limits, act, until the trial
 * is over. Every way out of the loop sends the safe input: the end, a limit, a plant that ends the trial or
 * is lost, a stop. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "plant/plant_parts.h"
#include "plant/plausible.h"

typedef struct {
    mcp_plant        *p;
    const mcp_system *s;
    const double     *theta;
    mcp_trial        *out;
    mcp_sample        sample;
    mcp_plausible     plausible;
    double            sum, sum2, answer;                     /* timing, over paced samples */
    int               periods, answers;
    double sent; /* when the command before the last sample left */
    double goal[MCP_MAX_RANDOM];
} trial_run;

/* A goal that the plant does not tell, as no rig does, is that of the trial's start. */
static void tell_goals(trial_run *r)
{
    const mcp_task *t = r->s->task;
    for (int i = 0; i < t->goals.n; i++) {
        double *truth = &r->sample.truth[mcp_task_moving(t) + i];
        double *told = &r->sample.measured[mcp_task_sensors(t) + i];
        if (isnan(*told)) *told = r->goal[i];
        if (isnan(*truth)) *truth = *told;
    }
}

static void forget(mcp_sample *s)
{
    memset(s, 0, sizeof *s);
    for (int i = 0; i < MCP_MAX_STATE; i++) s->truth[i] = s->measured[i] = NAN;
    for (int i = 0; i < MCP_MAX_INPUT; i++) s->applied[i] = NAN;
    s->wall = s->sent = s->late = s->answer = NAN;
}

static mcp_status refuse(const trial_run *r, mcp_error *err)
{
    const mcp_runtime *c = r->p->control;
    const mcp_task    *task = r->s->task;
    const int          k = r->out->samples;
    if (c->fault == MCP_FAULT_MEASURED)
        return mcp_fail(err, MCP_ERR_PLANT,
                        "the plant measured %s = %g at sample %d; a trial needs finite numbers, so it was "
                        "ended there",
                        task->measured[c->at].name, r->sample.measured[c->at], k);
    if (c->fault == MCP_FAULT_COMMAND)
        return mcp_fail(err, MCP_ERR_NUMERIC,
                        "the policy's %s is not a number at sample %d; the trial was ended there",
                        task->input[c->at].name, k);
    return mcp_fail(err, MCP_ERR_NUMERIC,
                    "the observer's %s is not finite at sample %d; the trial was ended there, because a "
                    "measurement was too large or the observer is not stable",
                    c->fault == MCP_FAULT_OBSERVED ? task->state[c->at] : "memory", k);
}

/* One sample through the controller and into the record. A sample that it cannot use is not recorded. */
static mcp_status record(trial_run *r, mcp_error *err)
{
    mcp_trial   *t = r->out;
    mcp_runtime *c = r->p->control;
    const int    k = t->samples, nu = t->nu;
    const double *given = r->theta ? NULL : k < r->s->steps ? r->p->explore + k * nu : c->command;

    tell_goals(r);
    mcp_status st = mcp_plausible_take(&r->plausible, r->sample.measured, r->sample.truth, err);
    if (st != MCP_OK) return st;
    if (mcp_runtime_step(c, r->theta, given, r->sample.measured) != MCP_FAULT_NONE) return refuse(r, err);
    memcpy(t->measured + k * t->ny, c->measured, (size_t)t->ny * sizeof(double));
    memcpy(t->observed + k * t->nx, c->observed, (size_t)t->nx * sizeof(double));
    memcpy(t->truth + k * t->nx, r->sample.truth, (size_t)t->nx * sizeof(double));
    for (int i = 0; i < nu; i++) t->input[k * nu + i] = t->applied[k * nu + i] = NAN;
    t->t[k]    = r->sample.time;
    t->wall[k] = r->sample.wall;
    t->samples++;
    return MCP_OK;
}

static void record_applied(trial_run *r)
{
    mcp_trial *t = r->out;
    int        k = t->samples - 1; /* the sample whose command was just carried out */
    for (int i = 0; i < t->nu; i++) {
        double given = r->sample.applied[i];
        t->applied[k * t->nu + i] = isnan(given) ? r->p->actuator.out[i] : given;
    }
}

static void record_timing(trial_run *r)
{
    mcp_timing *m = &r->out->timing;
    mcp_sample *s = &r->sample;
    if (isnan(s->wall)) return;
    m->paced = 1;
    m->misses += s->missed;
    if (s->late > m->late_max) m->late_max = s->late;
    if (!isnan(s->answer)) {
        r->answer += s->answer;
        r->answers++;
        if (s->answer > m->answer_max) m->answer_max = s->answer;
    }
    if (!isnan(s->sent) && !isnan(r->sent)) {
        double period = s->sent - r->sent - r->s->ts; /* deviations: no digits lost in the squares */
        r->sum += period;
        r->sum2 += period * period;
        r->periods++;
    }
    r->sent = s->sent;
}

static void finish_timing(trial_run *r)
{
    mcp_timing *m = &r->out->timing;
    if (r->answers) m->answer_mean = r->answer / r->answers;
    if (!r->periods) return;
    double mean = r->sum / r->periods;
    m->period_mean = r->s->ts + mean;
    m->period_std  = sqrt(fmax(0.0, r->sum2 / r->periods - mean * mean));
}

static int limit_hit(trial_run *r, const double *x)
{
    mcp_runner *e = &r->p->events;
    int         nx = r->s->nx, nu = r->s->nu;
    memcpy(e->in, x, (size_t)nx * sizeof(double));
    memcpy(e->in + nx, r->p->control->command, (size_t)nu * sizeof(double));
    mcp_runner_step(e, NULL, r->out->samples == 1);
    for (int i = 0; i < r->s->task->limits; i++)
        if (e->out[1 + i] != 0.0) return i + 1;
    return 0;
}

/* Limits act on the true state when the plant tells it, else on what is observed and on what is measured. */
static int watch_limits(trial_run *r)
{
    mcp_trial    *t = r->out;
    int           k = t->samples - 1, known = 1, hit;
    const double *z = t->observed + k * t->nx;
    double        x[MCP_MAX_STATE], before[MCP_MAX_STATE];
    if (!r->s->task->limits) return 0;
    for (int i = 0; i < t->nx; i++) known &= isfinite(t->truth[k * t->nx + i]) != 0;
    if (known) return limit_hit(r, t->truth + k * t->nx);

    int slots = mcp_program_memory(r->s->events);
    memcpy(x, z, (size_t)t->nx * sizeof(double));
    for (int i = 0; i < t->ny; i++)
        if (r->s->task->measured[i].state >= 0)
            x[r->s->task->measured[i].state] = t->measured[k * t->ny + i];
    if (slots <= MCP_MAX_STATE) memcpy(before, r->p->events.mem, (size_t)slots * sizeof(double));
    if ((hit = limit_hit(r, x))) return hit;
    if (slots <= MCP_MAX_STATE) memcpy(r->p->events.mem, before, (size_t)slots * sizeof(double));
    return limit_hit(r, z);
}

static void end(trial_run *r, const char *prefix, const char *reason)
{
    r->out->ended = 1;
    snprintf(r->out->reason, sizeof r->out->reason, "%s%s", prefix, reason);
}

/* Carries out the command of sample k and takes sample k+1. */
static mcp_status act(trial_run *r, mcp_error *err)
{
    mcp_trial *t = r->out;
    int        k = t->samples - 1, nu = t->nu;
    double    *u = t->input + k * nu;
    memcpy(u, r->p->control->command, (size_t)nu * sizeof(double));
    memcpy(r->p->actuator.in, u, (size_t)nu * sizeof(double));
    mcp_runner_step(&r->p->actuator, NULL, k == 0);
    forget(&r->sample);
    mcp_status st = r->p->ops.step(r->p->context, u, &r->sample, err);
    record_applied(r);
    if (st == MCP_OK) record_timing(r);
    return st;
}

static mcp_status loop(trial_run *r, mcp_tick_fn *tick, void *tick_context, mcp_error *err)
{
    for (;;) {
        mcp_status st = record(r, err);
        if (st != MCP_OK) return st;
        int limit = watch_limits(r);
        if (limit) {
            const mcp_task_limit *l = &r->s->task->limit[limit - 1];
            end(r, "limit ", l->name ? l->name : l->when.text);
        } else if (r->sample.ended) {
            end(r, "", r->sample.reason[0] ? r->sample.reason : "ended by the plant");
        }
        int stop = tick ? tick(tick_context, r->out) : 0;
        if (r->out->ended || r->out->samples > r->s->steps) return MCP_OK;
        if (stop) {
            end(r, "", "stopped");
            return mcp_fail(err, MCP_ERR_STOPPED, "stopped at %.3f s of the trial", r->sample.time);
        }
        if ((st = act(r, err)) != MCP_OK) return st;
        if (r->sample.ended && isnan(r->sample.measured[0])) { /* within the sample, nothing was measured */
            end(r, "", r->sample.reason);
            return MCP_OK;
        }
    }
}

/* theta == NULL: the inputs in p->explore. */
static mcp_status run_trial(mcp_plant *p, const double *theta, mcp_trial_key key, mcp_tick_fn *tick,
                            void *tick_context, mcp_trial *out, mcp_error *err)
{
    const mcp_task *task = p->system->task;
    double          x0[MCP_MAX_STATE], safe[MCP_MAX_INPUT];
    trial_run       r = {.p = p, .s = p->system, .theta = theta, .out = out, .sent = NAN};
    mcp_status      st, stopped;

    mcp_start_draw(task, !theta && task->explore.start.parts ? &task->explore.start : &task->start, key.seed,
                   key.trial, key.run, x0);
    memcpy(r.goal, x0 + mcp_task_moving(task), (size_t)task->goals.n * sizeof *x0);
    forget(&r.sample);
    if ((st = mcp_runtime_renew(&p->control, err)) != MCP_OK) return st;
    mcp_plausible_begin(&r.plausible, task);
    st = p->ops.reset(p->context, x0, key.seed, key.trial, key.run, &r.sample, err);
    if (st == MCP_OK) st = loop(&r, tick, tick_context, err);
    if (st != MCP_OK && !out->ended) end(&r, "", st == MCP_ERR_NUMERIC   ? "numbers not finite"
                                               : st == MCP_ERR_STOPPED ? "stopped"
                                                                       : "plant lost");
    finish_timing(&r);
    if (p->control->fault == MCP_FAULT_NONE) mcp_runtime_safe(p->control, safe);
    else memcpy(safe, p->control->command, (size_t)task->nu * sizeof(double)); /* the safe input already */
    stopped = p->ops.stop(p->context, safe, st == MCP_OK ? err : NULL);
    return st == MCP_OK ? stopped : st;
}

static mcp_status empty(const mcp_plant *p, int explored, mcp_trial *out, mcp_error *err)
{
    out->samples = out->ended = 0;
    out->reason[0] = 0;
    out->explored  = explored;
    out->timing    = (mcp_timing){0};
    if (out->capacity > p->system->steps) return MCP_OK;
    return mcp_fail(err, MCP_ERR_ARG, "the trial has room for %d samples, it needs %d", out->capacity,
                    p->system->steps + 1);
}

mcp_status mcp_plant_run(mcp_plant *p, const double *theta, mcp_trial_key key, mcp_tick_fn *tick,
                         void *tick_context, mcp_trial *out, mcp_error *err)
{
    mcp_status st = empty(p, theta == NULL, out, err);
    if (st == MCP_OK && !theta)
        st = mcp_explore_inputs(p->system->task, key.seed, key.trial, 0.0, p->explore, err);
    return st == MCP_OK ? run_trial(p, theta, key, tick, tick_context, out, err) : st;
}

mcp_status mcp_plant_run_inputs(mcp_plant *p, const double *u, mcp_trial_key key, mcp_tick_fn *tick,
                                void *tick_context, mcp_trial *out, mcp_error *err)
{
    mcp_status st = empty(p, 1, out, err);
    if (st != MCP_OK) return st;
    memcpy(p->explore, u, (size_t)p->system->steps * (size_t)p->system->nu * sizeof *u);
    return run_trial(p, NULL, key, tick, tick_context, out, err);
}
