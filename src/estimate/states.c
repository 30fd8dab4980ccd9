/* states.c - recorded measurements of a trial -> its states, looking both ways.
 * A state comes from its own sensor (smoothed), or as the derivative of the position it is the velocity of,
 * or from its known transition and the applied inputs. Sensor delays are undone first: sample k of a channel
 * with delay d is the measurement of sample k + d. */
#include <math.h>
#include <string.h>

#include "estimate/estimate.h"
#include "estimate/known.h"
#include "estimate/origin.h"
#include "estimate/smooth.h"
#include "math/arena.h"

typedef enum { FROM_SENSOR, FROM_DERIVATIVE, FROM_KNOWN } origin;

typedef struct {
    const mcp_system *s;
    origin            from[MCP_MAX_STATE];
    int               channel[MCP_MAX_STATE]; /* sensor of the state, or of its position */
    int               n;                      /* samples after the delays are undone     */
    int drop, drop_last; /* samples without an estimate at the beginning and at the end */
    double           *value, *slope;          /* [nseen][n] */
    double *change_value, *change_slope; /* [nseen] expected error of one-sample changes, 0 = unknown */
    double           *q, *work;
} estimator;

int mcp_channel_of(const mcp_task *t, int state)
{
    for (int i = 0; i < t->nseen; i++)
        if (t->seen[i].state == state) return i;
    return -1;
}

static int position_of(const mcp_task *t, int state)
{
    for (int g = 0; g < t->ngp; g++)
        if (t->gp[g].kind == MCP_GP_VELOCITY && t->gp[g].state == state) return t->gp[g].position;
    return -1;
}

static int is_known(const mcp_task *t, int state)
{
    for (int i = 0; i < t->known.n; i++)
        if (!strcmp(t->known.item[i].name, t->state[state])) return 1;
    return 0;
}

static mcp_status find_origins(estimator *e, mcp_error *err)
{
    const mcp_task *t = e->s->task;
    for (int i = 0; i < t->nx; i++) {
        int position = position_of(t, i);
        if ((e->channel[i] = mcp_channel_of(t, i)) >= 0) {
            e->from[i] = FROM_SENSOR;
        } else if (position >= 0 && (e->channel[i] = mcp_channel_of(t, position)) >= 0) {
            e->from[i] = FROM_DERIVATIVE;
            if (t->smoother.type == MCP_SMOOTHER_NONE || t->smoother.type == MCP_SMOOTHER_TRAPEZOID)
                return mcp_fail(err, MCP_ERR_TASK,
                                "%s: smoother %s cannot tell %s: measure it, or choose a smoother that "
                                "differentiates %s (central-difference, butterworth, savitzky-golay, kalman)",
                                t->file, t->smoother.type == MCP_SMOOTHER_NONE ? "none" : "trapezoid",
                                t->state[i], t->state[position]);
            if (t->smoother.type == MCP_SMOOTHER_CENTRAL || t->smoother.type == MCP_SMOOTHER_BUTTERWORTH)
                e->drop = e->drop_last = 1;
            if (mcp_smoother_is_backward(t)) e->drop = 1;
        } else if (is_known(t, i)) {
            e->from[i] = FROM_KNOWN;
        } else {
            return mcp_fail(
                err, MCP_ERR_TASK,
                "%s: state %s cannot be estimated: it is not measured, not computed from what is "
                "(measured.%s.from), not the velocity of such a position in model.velocities, and "
                "model.known gives no transition for it",
                t->file, t->state[i], t->state[i]);
        }
    }
    return MCP_OK;
}

/* Window no longer than the trial; 0 when the polynomial does not fit. */
static int savgol_window(const mcp_task_smoother *s, int n)
{
    int window = s->window < n ? s->window : n;
    if (window % 2 == 0) window--;
    return window > s->order ? window : 0;
}

/* One pass of the task's smoother, a linear one, over n samples. */
static void smooth(const estimator *e, int n, const double *q, double *value, double *slope)
{
    const mcp_task_smoother *s = &e->s->task->smoother;
    if (s->type == MCP_SMOOTHER_SAVGOL) {
        mcp_savgol(s->order, savgol_window(s, n), n, q, e->s->ts, value, slope);
        return;
    }
    if (s->type == MCP_SMOOTHER_BUTTERWORTH) mcp_filtfilt(s->order, s->cutoff, n, q, value, e->work);
    else memcpy(value, q, (size_t)n * sizeof *q);
    if (mcp_smoother_is_backward(e->s->task))
        for (int k = 0; k < n; k++) slope[k] = k ? (q[k] - q[k - 1]) / e->s->ts : 0.0;
    else mcp_central_difference(n, value, e->s->ts, slope);
}

enum { IMPULSE = 257 }; /* samples of the impulse response: long after every sensible filter's memory */

/* Noise gain of one-sample changes: white noise of deviation 1 in the measurements gives the change of a
 * linear, time-invariant estimate the deviation sqrt(sum of its squared impulse response). */
static void noise_gain(const estimator *e, double *value, double *slope)
{
    double *q = e->q, *y = q + IMPULSE, *v = y + IMPULSE;
    memset(q, 0, IMPULSE * sizeof *q);
    q[IMPULSE / 2] = 1.0;
    smooth(e, IMPULSE, q, y, v);
    *value = *slope = 0.0;
    for (int k = 0; k + 1 < IMPULSE; k++) {
        *value += (y[k + 1] - y[k]) * (y[k + 1] - y[k]);
        *slope += (v[k + 1] - v[k]) * (v[k + 1] - v[k]);
    }
    *value = sqrt(*value);
    *slope = sqrt(*slope);
}

static mcp_status smooth_channels(estimator *e, const double *seen, mcp_error *err)
{
    const mcp_task          *task = e->s->task;
    const mcp_task_smoother *s = &task->smoother;
    double                   gain_value = 0.0, gain_slope = 0.0;
    if (s->type != MCP_SMOOTHER_KALMAN) noise_gain(e, &gain_value, &gain_slope);
    for (int i = 0; i < task->nseen; i++) {
        const mcp_task_channel *c = &task->seen[i];
        double *value = e->value + (size_t)i * (size_t)e->n, *slope = e->slope + (size_t)i * (size_t)e->n;
        double  r = mcp_channel_noise(c);
        for (int k = 0; k < e->n; k++) e->q[k] = seen[(k + c->delay) * task->nseen + i];
        if (i >= mcp_task_seen(task)) { /* a goal: exactly known */
            memcpy(value, e->q, (size_t)e->n * sizeof *value);
            memset(slope, 0, (size_t)e->n * sizeof *slope);
            continue;
        }
        if (s->type != MCP_SMOOTHER_KALMAN) {
            smooth(e, e->n, e->q, value, slope);
            e->change_value[i] = r * gain_value;
            e->change_slope[i] = r * gain_slope;
            continue;
        }
        double change[2], noise = s->noise && s->noise[i] > 0.0 ? s->noise[i] : r,
                          drive = s->drive ? s->drive[i] : 0.0;
        if (!(noise > 0.0) || !(drive > 0.0))
            return mcp_fail(
                err, MCP_ERR_TASK,
                "%s: the Kalman smoother needs a drive and a noise above 0 for %s; give smoother.noise, or "
                "the channel its noise or quantum",
                task->file, c->name);
        mcp_rts(&(mcp_rts_model){e->s->ts, drive, noise}, e->n, e->q, value, slope, change, e->work);
        e->change_value[i] = change[0];
        e->change_slope[i] = change[1];
    }
    return MCP_OK;
}

/* Positions along the sums of their velocities, where both are measured. */
static void follow_velocities(estimator *e)
{
    const mcp_task *t = e->s->task;
    for (int g = 0; g < t->ngp; g++) {
        int position = t->gp[g].kind == MCP_GP_VELOCITY ? mcp_channel_of(t, t->gp[g].position) : -1,
            velocity = mcp_channel_of(t, t->gp[g].state);
        if (position < 0 || velocity < 0) continue;
        double *value = e->value + (size_t)position * (size_t)e->n,
               *v = e->value + (size_t)velocity * (size_t)e->n;
        double r = mcp_channel_noise(&t->seen[position]),
               least = e->s->ts * mcp_channel_noise(&t->seen[velocity]) / sqrt(2.0);
        if (!(r > 0.0)) continue;
        memcpy(e->q, value, (size_t)e->n * sizeof *value);
        mcp_trapezoid(e->n, e->q, v, e->s->ts, r, fmax(least, 1e-3 * r), value, e->work);
    }
}

/* How the errors of neighbouring changes are correlated. Central differences, for white sensor noise n:
 *   (n(t+2) - n(t+1) - n(t) + n(t-1))/(2 Ts)
 * smoother: auto, whose GPs are told exactly: (n(t+1) - 2 n(t) + n(t-1))/Ts, and n(t+1) - n(t) of states with
 * a sensor. Otherwise:
 * States that are measured directly are left white: their n(t+1) - n(t) is small beside what the noise of the
 * measured features does to a change, and that is white. Smoothers with a long memory are too: what they take
 * out of the noise they take out of the signal as well, and nothing should rely on that. */
static void fill_lag(const estimator *e, int state, double *lag)
{
    static const double none[] = {1, 0, 0, 0}, central[] = {1, -0.25, -0.5, 0.25};
    static const double first[] = {1, -0.5, 0, 0}, second[] = {1, -2.0 / 3, 1.0 / 6, 0};
    int differences = e->s->task->smoother.type == MCP_SMOOTHER_CENTRAL && e->from[state] == FROM_DERIVATIVE;
    if (e->s->task->smoother.type == MCP_SMOOTHER_AUTO) {
        memcpy(lag, e->from[state] == FROM_DERIVATIVE ? second : first, sizeof none);
        return;
    }
    memcpy(lag, differences ? central : none, sizeof none);
}

static void fill(const estimator *e, mcp_states *out)
{
    const mcp_task *t = e->s->task;
    for (int k = 0; k < out->count; k++)
        for (int i = 0; i < t->nx; i++) {
            size_t at = (size_t)e->channel[i] * (size_t)e->n + (size_t)(k + out->first);
            if (e->from[i] == FROM_SENSOR) out->state[k * t->nx + i] = e->value[at];
            if (e->from[i] == FROM_DERIVATIVE) out->state[k * t->nx + i] = e->slope[at];
        }
    for (int g = 0; g < t->ngp; g++) {
        int i = t->gp[g].state;
        fill_lag(e, i, out->lag + g * (MCP_NOISE_BAND + 1));
        if (e->from[i] == FROM_SENSOR) out->change_std[g] = e->change_value[e->channel[i]];
        if (e->from[i] == FROM_DERIVATIVE) out->change_std[g] = e->change_slope[e->channel[i]];
    }
}

static size_t layout_states(mcp_states *s, int ngp, char *mem)
{
    mcp_arena a = {.base = mem, .used = 0};
    mcp_arena_bytes(&a, sizeof *s);
    s->state      = mcp_arena_doubles(&a, (size_t)s->count * (size_t)s->nx);
    s->change_std = mcp_arena_doubles(&a, (size_t)ngp);
    s->lag        = mcp_arena_doubles(&a, (size_t)ngp * (MCP_NOISE_BAND + 1));
    if (s->target) s->target = mcp_arena_doubles(&a, (size_t)s->count * (size_t)s->nx);
    return a.used;
}

mcp_status mcp_states_copy(mcp_states **out, const mcp_states *z, int ngp, mcp_error *err)
{
    mcp_states size = *z;
    size_t     bytes = (size_t)z->count * (size_t)z->nx * sizeof *z->state;
    void      *block = NULL;
    *out = NULL;
    size.target = z->state; /* to have room for them */
    size.refined = 1;
    mcp_status st = mcp_block_alloc(&block, layout_states(&size, ngp, NULL), err);
    if (st != MCP_OK) return st;
    size.target = z->state;
    layout_states(&size, ngp, block);
    if (bytes) {
        memcpy(size.state, z->state, bytes);
        memcpy(size.target, z->state, bytes);
    }
    memcpy(size.change_std, z->change_std, (size_t)ngp * sizeof *size.change_std);
    memcpy(size.lag, z->lag, (size_t)ngp * (MCP_NOISE_BAND + 1) * sizeof *size.lag);
    *out  = block;
    **out = size;
    return MCP_OK;
}

static size_t layout_work(estimator *e, char *mem)
{
    const mcp_task *t = e->s->task;
    size_t    n = (size_t)e->n, seen = (size_t)t->nseen, most = n > IMPULSE ? n : IMPULSE;
    size_t    filter = mcp_filtfilt_work((int)most, t->smoother.order), rts = mcp_rts_work((int)n);
    mcp_arena a = {.base = mem, .used = 0};
    e->value        = mcp_arena_doubles(&a, n * seen);
    e->slope        = mcp_arena_doubles(&a, n * seen);
    e->change_value = mcp_arena_doubles(&a, seen);
    e->change_slope = mcp_arena_doubles(&a, seen);
    e->q            = mcp_arena_doubles(&a, most + 2 * IMPULSE);
    e->work         = mcp_arena_doubles(&a, filter > rts ? filter : rts);
    return a.used;
}

mcp_status mcp_estimate_states(mcp_states **out, const mcp_system *s, const mcp_trial *t, mcp_error *err)
{
    const mcp_task *task = s->task;
    estimator       e = {.s = s};
    mcp_states      size = {.nx = s->nx};
    void           *block = NULL, *work = NULL;
    double         *seen = NULL;
    int             delay = 0;
    mcp_status      st;

    *out = NULL;
    if ((st = find_origins(&e, err)) != MCP_OK) return st;
    for (int i = 0; i < task->nseen; i++)
        delay = task->seen[i].delay > delay ? task->seen[i].delay : delay;
    e.n = t->samples > delay ? t->samples - delay : 0;
    if (task->smoother.type == MCP_SMOOTHER_SAVGOL && !savgol_window(&task->smoother, e.n)) e.n = 0;
    size.first = e.drop;
    size.count = e.n > e.drop + e.drop_last ? e.n - e.drop - e.drop_last : 0;

    if ((st = mcp_block_alloc(&block, layout_states(&size, task->ngp, NULL), err)) != MCP_OK) return st;
    if ((st = mcp_block_alloc(&work, layout_work(&e, NULL), err)) != MCP_OK) goto done;
    layout_states(&size, task->ngp, block);
    layout_work(&e, work);
    if (size.count) {
        if ((st = mcp_trial_seen(s, t, &seen, err)) != MCP_OK) goto done;
        if ((st = smooth_channels(&e, seen, err)) != MCP_OK) goto done;
        if (task->smoother.type == MCP_SMOOTHER_TRAPEZOID || task->smoother.type == MCP_SMOOTHER_AUTO)
            follow_velocities(&e);
        fill(&e, &size);
        if ((st = mcp_estimate_known(s, t, &size, NULL, err)) != MCP_OK) goto done;
    }
    *out  = block;
    **out = size;
    block = NULL;
done:
    mcp_free(seen);
    mcp_block_free(block);
    mcp_block_free(work);
    return st;
}

int mcp_refinable(const mcp_system *s)
{
    const mcp_task *t = s->task;
    if (t->smoother.type == MCP_SMOOTHER_AUTO) return !s->white_noise && t->model.correlation > 0.0;
    if (t->smoother.type != MCP_SMOOTHER_CENTRAL || !t->smoother.refine) return 0;
    for (int g = 0; g < t->ngp; g++)
        if (t->gp[g].kind == MCP_GP_VELOCITY && mcp_channel_of(t, t->gp[g].state) < 0) return 1;
    return 0;
}

mcp_status mcp_refine_states(mcp_states **out, const mcp_system *s, const mcp_states *z, const double *change,
                             mcp_error *err)
{
    const mcp_task *t = s->task;
    size_t          nx = (size_t)s->nx, ngp = (size_t)s->ngp;
    mcp_states size = {.nx = s->nx,
                       .first = z->first + 1,
                       .count = z->count > 1 ? z->count - 1 : 0,
                       .refined = 1};
    void           *block = NULL;
    mcp_status      st = mcp_block_alloc(&block, layout_states(&size, s->ngp, NULL), err);
    *out = NULL;
    if (st != MCP_OK) return st;
    layout_states(&size, s->ngp, block);
    if (size.count) memcpy(size.state, z->state + nx, (size_t)size.count * nx * sizeof *size.state);
    memcpy(size.change_std, z->change_std, ngp * sizeof *size.change_std);
    memcpy(size.lag, z->lag, ngp * (MCP_NOISE_BAND + 1) * sizeof *size.lag);
    for (size_t g = 0; g < ngp; g++) {
        int i = t->gp[g].state;
        if (t->gp[g].kind != MCP_GP_VELOCITY || mcp_channel_of(t, i) >= 0) continue;
        for (size_t k = 0; k < (size_t)size.count; k++)
            size.state[k * nx + (size_t)i] -= 0.25 * (change[(k + 1) * ngp + g] - change[k * ngp + g]);
    }
    *out  = block;
    **out = size;
    return MCP_OK;
}

void mcp_states_free(mcp_states *s)
{
    mcp_block_free(s);
}
