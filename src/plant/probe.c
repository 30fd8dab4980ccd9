/* probe.c - one gentle trial, watched closely.
 *
 *   input 1   ______________/\__  __/\________
 *     a pulse is +a (n samples), -a (2 n), +a (n): neither velocity nor
 *   input 2   ________________________________/\__ ...
 *     position of a free mass is left behind; every second one is mirrored
 *             |--- rest ---|--- pulses 1 ---|--- pulses 2 ..
 *
 * The plant is opened as the task names it and wrapped, so that samples are seen as they come (before
 * angles are unwrapped) with our own clock beside them. */
#include "plant/probe.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "math/arena.h"
#include "math/clock.h"
#include "plant/plant_parts.h"
#include "plant/link.h"

void mcp_probe_settings_default(mcp_probe_settings *s)
{
    *s = (mcp_probe_settings){.amplitude = 0.1, .pulse = 0.1, .rest = 0.4, .seed = 1};
}

typedef struct {
    const mcp_system *system;
    mcp_plant        *inner, *outer;
    mcp_trial        *trial;
    int               n;                    /* samples seen */
    double           *raw, *asked, *answered; /* [T+1][ny], [T+1] */
    double           *u;                    /* [T+1][nu] planned */
    double           *y;                    /* [T+1][ny] without wraps */
    double           *lane;                 /* [T+1] scratch */
    int              *start;                /* of each window */
    int               part, length, rest, pulses, delay_most;
} probe;

/* watching */

static void note(probe *w, double asked, const mcp_sample *s)
{
    int ny = w->system->ny;
    if (w->n > w->system->steps) return;
    memcpy(w->raw + w->n * ny, s->measured, (size_t)ny * sizeof(double));
    w->asked[w->n] = asked;
    w->answered[w->n++] = mcp_clock();
}

static mcp_status watch_reset(void *context, const double *x0, uint64_t seed, uint32_t trial, uint32_t run,
                              mcp_sample *first, mcp_error *err)
{
    probe     *w = context;
    double     asked = mcp_clock();
    mcp_status st = w->inner->ops.reset(w->inner->context, x0, seed, trial, run, first, err);
    w->n = 0;
    if (st == MCP_OK) note(w, asked, first);
    return st;
}

static mcp_status watch_step(void *context, const double *u, mcp_sample *next, mcp_error *err)
{
    probe     *w = context;
    double     asked = mcp_clock();
    mcp_status st = w->inner->ops.step(w->inner->context, u, next, err);
    if (st == MCP_OK) note(w, asked, next);
    return st;
}

static mcp_status watch_stop(void *context, const double *safe_u, mcp_error *err)
{
    probe *w = context;
    return w->inner->ops.stop(w->inner->context, safe_u, err);
}

/* planning */

static size_t layout(probe *w, char *mem)
{
    mcp_arena a = {.base = mem, .used = 0};
    size_t    n = (size_t)w->system->steps + 1;
    w->raw      = mcp_arena_doubles(&a, n * (size_t)w->system->ny);
    w->y        = mcp_arena_doubles(&a, n * (size_t)w->system->ny);
    w->u        = mcp_arena_doubles(&a, n * (size_t)w->system->nu);
    w->asked    = mcp_arena_doubles(&a, n);
    w->answered = mcp_arena_doubles(&a, n);
    w->lane     = mcp_arena_doubles(&a, n);
    w->start    = mcp_arena_ints(&a, n);
    return a.used;
}

static int expected_delay(const mcp_task *task)
{
    int most = 0;
    for (int j = 0; j < task->nu; j++)
        for (int i = 0; i < task->ny; i++)
            if (task->input[j].delay + task->measured[i].delay > most)
                most = task->input[j].delay + task->measured[i].delay;
    return most;
}

static int period_of(const probe *w)
{
    return w->length + 2 * w->part;
}

static int window_start(const probe *w, int input, int pulse)
{
    return w->rest + (input * w->pulses + pulse) * period_of(w);
}

static mcp_status plan(probe *w, const mcp_probe_settings *s, mcp_error *err)
{
    const mcp_system *y = w->system;
    int               expected = expected_delay(y->task);
    w->part = (int)fmax(2.0, round(s->pulse / y->ts));
    w->delay_most = expected + (w->part > 6 ? (w->part < 32 ? w->part : 32) : 6);
    w->length = 2 + 4 * w->part + w->delay_most;
    w->rest   = (int)(s->rest * y->steps);
    w->pulses = (y->steps - w->rest) / (y->nu * period_of(w));
    if (w->pulses < 2 || w->rest < 30)
        return mcp_fail(err, MCP_ERR_ARG,
                        "%.3g s are too short to probe %d input%s: 30 samples at rest and two pulses of %.3g "
                        "s each need %.3g s",
                        y->steps * y->ts, y->nu, y->nu == 1 ? "" : "s", 4 * w->part * y->ts,
                        fmax(30 / s->rest, 2 * y->nu * period_of(w) / (1 - s->rest)) * y->ts + y->ts);
    for (int j = 0; j < y->nu; j++)
        for (int q = 0; q < w->pulses; q++) {
            double a = (q % 2 ? -1.0 : 1.0) * s->amplitude * mcp_input_reach(&y->task->input[j]);
            int    from = window_start(w, j, q) + 1;
            for (int k = 0; k < 4 * w->part; k++)
                w->u[(from + k) * y->nu + j] = k < w->part || k >= 3 * w->part ? a : -a;
        }
    return MCP_OK;
}

/* judging */

static void spread(int n, const double *v, double *mean, double *deviation)
{
    double sum = 0.0, squares = 0.0;
    for (int k = 0; k < n; k++) sum += v[k];
    *mean = n ? sum / n : NAN;
    for (int k = 0; k < n; k++) squares += (v[k] - *mean) * (v[k] - *mean);
    *deviation = n > 1 ? sqrt(squares / (n - 1)) : NAN;
}

static void judge_time(probe *w, mcp_probe *out)
{
    const mcp_trial *t = w->trial;
    int              n = w->n - 1;
    out->paced = t->timing.paced;
    out->misses = t->timing.misses;
    for (int k = 0; k < n; k++) w->lane[k] = w->answered[k + 1] - w->answered[k];
    spread(n, w->lane, &out->wall_period, &out->wall_jitter);
    out->real_time = out->wall_period > 0.5 * w->system->ts;
    for (int k = 0; k < n; k++) w->lane[k] = w->answered[k + 1] - w->asked[k + 1];
    spread(n, w->lane, &out->answer, &(double){0});
    for (int k = 0; k < n; k++) out->answer_most = fmax(out->answer_most, w->lane[k]);
    if (out->paced) {
        out->answer = t->timing.answer_mean;
        out->answer_most = t->timing.answer_max;
    }
    const double *stamp = out->paced ? t->wall : t->t;
    for (int k = 0; k < n; k++) {
        w->lane[k] = stamp[k + 1] - stamp[k];
        out->period_low = k ? fmin(out->period_low, w->lane[k]) : w->lane[k];
        out->period_high = k ? fmax(out->period_high, w->lane[k]) : w->lane[k];
    }
    spread(n, w->lane, &out->period, &out->jitter);
}

static mcp_status judge_channel(probe *w, int i, mcp_probe_channel *c, mcp_error *err)
{
    int ny = w->system->ny, rest = w->n < w->rest ? w->n : w->rest;
    for (int k = 0; k < w->n; k++) {
        double v = w->lane[k] = w->raw[k * ny + i];
        c->low = k ? fmin(c->low, v) : v;
        c->high = k ? fmax(c->high, v) : v;
    }
    c->wraps = mcp_unwrap(w->n, w->lane);
    for (int k = 0; k < w->n; k++) w->y[k * ny + i] = w->lane[k];
    mcp_status st = mcp_resolution(&c->resolution, w->n, w->lane, err);
    if (st != MCP_OK) return st;
    double all = mcp_noise_deviation(rest, w->lane, &c->noise_error),
           step = c->resolution > 0.0 ? c->resolution : 0.0;
    c->hidden = step > 0.0 && all < 0.6 * step;
    c->noise  = isnan(all) ? NAN : sqrt(fmax(0.0, all * all - step * step / 12.0));
    return MCP_OK;
}

/* 2: a position whose velocity is learned; 1: anything else, as it answers to its input at once. */
static int order_of(const mcp_task *task, int channel)
{
    for (int g = 0; g < task->ngp; g++)
        if (task->gp[g].kind == MCP_GP_VELOCITY && task->gp[g].position == task->measured[channel].state)
            return 2;
    return 1;
}

/* What explains a channel's own motion: all channels, but a position's velocity would explain it without any
 * input. */
static void feedback_of(const mcp_task *task, int order, char *feedback)
{
    for (int c = 0; c < task->ny; c++) {
        feedback[c] = 1;
        for (int g = 0; g < task->ngp && order == 2; g++)
            if (task->gp[g].kind == MCP_GP_VELOCITY && task->gp[g].state == task->measured[c].state)
                feedback[c] = 0;
    }
}

static mcp_status judge_input(probe *w, int j, mcp_probe *out, mcp_error *err)
{
    const mcp_task   *task = w->system->task;
    char              feedback[MCP_MAX_STATE];
    mcp_status        st = MCP_OK;
    mcp_response_data d = {.n = w->n,
                           .nu = w->system->nu,
                           .ny = w->system->ny,
                           .ts = w->system->ts,
                           .y = w->y,
                           .u = w->trial->input,
                           .length = w->length,
                           .start = w->start,
                           .delay_most = w->delay_most};
    for (int q = 0; q < w->pulses; q++)
        if (window_start(w, j, q) + w->length < w->n) w->start[d.windows++] = window_start(w, j, q);
    if (d.windows > out->pulses) out->pulses = d.windows;
    for (int i = 0; i < task->ny && st == MCP_OK; i++) {
        int order = order_of(task, i);
        feedback_of(task, order, feedback);
        st = mcp_response_fit(&out->response[j][i], &d, j, i, order, feedback, err);
    }
    return st;
}

static mcp_status judge(probe *w, mcp_probe *out, mcp_error *err)
{
    mcp_status st = MCP_OK;
    out->samples = w->n;
    out->rest    = w->n < w->rest ? w->n : w->rest;
    out->ended   = w->trial->ended;
    snprintf(out->reason, sizeof out->reason, "%s", w->trial->reason);
    judge_time(w, out);
    for (int i = 0; i < w->system->ny && st == MCP_OK; i++) st = judge_channel(w, i, &out->channel[i], err);
    for (int j = 0; j < w->system->nu && st == MCP_OK; j++) st = judge_input(w, j, out, err);
    return st;
}

mcp_status mcp_probe_run(mcp_probe *out, const mcp_system *system, const mcp_probe_settings *s,
                         mcp_tick_fn *tick, void *tick_context, mcp_error *err)
{
    static const mcp_plant_ops watch = {watch_reset, watch_step, watch_stop, NULL};
    probe  w = {.system = system};
    void  *block = NULL;
    double began;
    memset(out, 0, sizeof *out);
    mcp_status st = mcp_block_alloc(&block, layout(&w, NULL), err);
    if (st != MCP_OK) return st;
    layout(&w, block);
    if ((st = plan(&w, s, err)) != MCP_OK) goto done;
    if ((st = mcp_trial_create(&w.trial, system->task, err)) != MCP_OK) goto done;
    if ((st = mcp_plant_open(&w.inner, system, err)) != MCP_OK) goto done;
    if ((st = mcp_plant_from_ops(&w.outer, system, &watch, &w, err)) != MCP_OK) goto done;
    began = mcp_clock();
    st = mcp_plant_run_inputs(w.outer, w.u, (mcp_trial_key){s->seed, 0, 1}, tick, tick_context, w.trial, err);
    out->seconds = mcp_clock() - began;
    if (st == MCP_OK) st = judge(&w, out, err);
done:
    mcp_plant_close(w.outer);
    mcp_plant_close(w.inner);
    mcp_trial_free(w.trial);
    mcp_block_free(block);
    return st;
}
