/* observer.c - the ONLINE observer as a piece of the controller program.
 *
 * Inputs are the measurements y_NAME; what comes out are definitions named like the states. At the first
 * sample every observer knows what a real one would: the measured position, and velocity 0.
 *
 *   difference   v = (y - y one sample ago)/Ts, then low-pass sections s:  o = b0 i + s1,
 *                s1+ = b1 i - a1 o + s2,  s2+ = b2 i - a2 o
 *   kalman       per coordinate: r = y - p,  p = p + g1 r,  v = v + g2 r  (a = a + g3 r),
 *     then one step ahead.
 *                Time-varying gains carry the covariance as more memory: it does not depend on data.
 *   auto         the same with the gains of mcp_backward_steady: for a good sensor the difference itself */
#include <math.h>
#include <stdio.h>

#include "control/compose.h"
#include "control/filter.h"

typedef struct {
    mcp_composer     *c;
    const mcp_system *s;
    const char       *position, *velocity; /* names of the two states */
    int               channel, velocity_state;
} coordinate;

static void coefficient(const coordinate *k, int section, const char *which, double value)
{
    char name[MCP_NAME_SIZE];
    mcp_compose_constant(k->c, mcp_compose_name(name, "@filter%d_%s_%s", section, which, k->position), value);
}

static void difference(const coordinate *k)
{
    const mcp_task_observer *o = &k->s->task->observer;
    mcp_biquad  section[(MCP_FILTER_ORDER_MAX + 1) / 2];
    const char *p = k->position;
    char        in[MCP_NAME_SIZE], out[MCP_NAME_SIZE], s1[MCP_NAME_SIZE], s2[MCP_NAME_SIZE];
    mcp_compose_define(k->c, k->position, "y_%s", k->position);
    if (!(o->lowpass > 0.0)) {
        mcp_compose_define(k->c, k->velocity, "(y_%s - prev(y_%s))/Ts", k->position, k->position);
        return;
    }
    if (!(o->lowpass < 1.0) || o->order < 1 || o->order > MCP_FILTER_ORDER_MAX) {
        mcp_compose_fail(k->c, MCP_ERR_TASK,
                         "observer: low-pass of order %d at %g of Nyquist; the order must be 1 to %d and the "
                         "cut-off below 1",
                         o->order, o->lowpass, MCP_FILTER_ORDER_MAX);
        return;
    }
    int n = mcp_butterworth(o->order, o->lowpass, section);
    mcp_compose_name(in, "slope_%s", k->position);
    mcp_compose_define(k->c, in, "(y_%s - prev(y_%s))/Ts", k->position, k->position);
    for (int i = 0; i < n; i++) {
        const mcp_biquad *q = &section[i];
        mcp_compose_name(s1, "filter%d_1_%s", i + 1, k->position);
        mcp_compose_name(s2, "filter%d_2_%s", i + 1, k->position);
        if (i == n - 1) mcp_compose_name(out, "%s", k->velocity);
        else mcp_compose_name(out, "filter%d_out_%s", i + 1, k->position);
        int second = q->b2 != 0.0 || q->a2 != 0.0;
        mcp_compose_memory(k->c, s1, "0");
        if (second) mcp_compose_memory(k->c, s2, "0");
        coefficient(k, i + 1, "b0", q->b0);
        coefficient(k, i + 1, "b1", q->b1);
        coefficient(k, i + 1, "a1", q->a1);
        mcp_compose_define(k->c, out, "@filter%d_b0_%s*%s + %s", i + 1, p, in, s1);
        mcp_compose_next(k->c, s1, "@filter%d_b1_%s*%s - @filter%d_a1_%s*%s + %s", i + 1, p, in, i + 1, p,
                         out, second ? s2 : "0");
        if (second) {
            coefficient(k, i + 1, "b2", q->b2);
            coefficient(k, i + 1, "a2", q->a2);
            mcp_compose_next(k->c, s2, "@filter%d_b2_%s*%s - @filter%d_a2_%s*%s", i + 1, p, in, i + 1, p,
                             out);
        }
        mcp_compose_name(in, "%s", out);
    }
}

/* Time-varying gains g1 .. gn from the predicted covariance P, carried from sample to sample. names: cov11_p,
 * gain1_p. */
static void covariance(const coordinate *k, int n, double drive, double R, const double *start)
{
    double      F[9], Q[9];
    char        name[MCP_NAME_SIZE], first[MCP_NAME_SIZE], sum[4096];
    const char *p = k->position;
    mcp_kalman_model(n, k->s->ts, drive, F, Q);
    mcp_compose_constant(k->c, mcp_compose_name(name, "@noise_%s", p), R);
    for (int i = 1; i <= n; i++)
        for (int j = i; j <= n; j++) {
            mcp_compose_constant(k->c, mcp_compose_name(first, "@first%d%d_%s", i, j, p),
                                 i == j ? start[i - 1] : 0.0);
            mcp_compose_memory(k->c, mcp_compose_name(name, "cov%d%d_%s", i, j, p), "%s", first);
        }
    for (int i = 1; i <= n; i++)
        mcp_compose_define(k->c, mcp_compose_name(name, "@gain%d_%s", i, p),
                           "cov1%d_%s/(cov11_%s + @noise_%s)", i, p, p, p);
    for (int i = 1; i <= n; i++)
        for (int j = i; j <= n; j++)
            mcp_compose_define(k->c, mcp_compose_name(name, "post%d%d_%s", i, j, p),
                               "cov%d%d_%s - @gain%d_%s*cov1%d_%s", i, j, p, i, p, j, p);
    /* P+ = F post F^T + Q, written out; F is upper triangular */
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++) {
            int used = snprintf(sum, sizeof sum, "@drive%d%d_%s", i + 1, j + 1, p);
            mcp_compose_constant(k->c, sum, Q[i * n + j]);
            for (int a = i; a < n; a++)
                for (int b = j; b < n; b++) {
                    mcp_compose_name(name, "@step%d%d%d%d_%s", i + 1, a + 1, j + 1, b + 1, p);
                    mcp_compose_constant(k->c, name, F[i * n + a] * F[j * n + b]);
                    used += snprintf(sum + used, sizeof sum - (size_t)used, " + %s*post%d%d_%s", name,
                                     a < b ? a + 1 : b + 1, a < b ? b + 1 : a + 1, p);
                }
            mcp_compose_next(k->c, mcp_compose_name(name, "cov%d%d_%s", i + 1, j + 1, p), "%s", sum);
        }
}

static void fixed_gains(const coordinate *k, int n, const double *gain)
{
    char name[MCP_NAME_SIZE];
    for (int i = 0; i < n; i++)
        mcp_compose_constant(k->c, mcp_compose_name(name, "@gain%d_%s", i + 1, k->position), gain[i]);
}

/* gain1_NAME .. gainn_NAME: constants, or definitions that compute them. 0: failed. */
static int gains(const coordinate *k, int n)
{
    const mcp_task_observer *o = &k->s->task->observer;
    double gain[3], C[9], start[3], mean, variance;
    if (o->type == MCP_OBSERVER_AUTO) {
        const double plain[2] = {1.0, 1.0 / k->s->ts};
        fixed_gains(k, n, k->s->choice ? k->s->choice[k->channel].gain : plain);
        return 1;
    }
    if (o->gains) {
        fixed_gains(k, n, o->gains + k->channel * n);
        return 1;
    }
    double drive = o->drive ? o->drive[k->channel] : 0.0;
    double noise = o->noise && o->noise[k->channel] > 0.0
                       ? o->noise[k->channel]
                       : mcp_channel_noise(&k->s->task->seen[k->channel]);
    if (!(drive > 0.0) || !(noise > 0.0) || !mcp_kalman_steady(n, k->s->ts, drive, noise, gain, C)) {
        mcp_compose_fail(k->c, MCP_ERR_TASK,
                         "observer: a Kalman filter for %s needs a drive and a measurement noise above 0 "
                         "(drive %g, noise %g)",
                         k->position, drive, noise);
        return 0;
    }
    if (o->steady) {
        fixed_gains(k, n, gain);
        return 1;
    }
    /* Before the first sample nothing is known of the position; of the rest, what the start distribution and
     * the filter's own steady spread say. */
    mcp_start_moments(&k->s->task->start, k->s->nx, k->velocity_state, &mean, &variance);
    start[0] = 1e6 * noise * noise;
    start[1] = variance + C[n + 1];
    start[2] = n == 3 ? C[8] : 0.0;
    covariance(k, n, drive, noise * noise, start);
    return 1;
}

static void kalman(const coordinate *k)
{
    int         n = k->s->task->observer.acceleration ? 3 : 2;
    const char *p = k->position, *v = k->velocity;
    char        name[MCP_NAME_SIZE];
    if (!gains(k, n)) return;
    mcp_compose_memory(k->c, mcp_compose_name(name, "ahead1_%s", p), "y_%s", p);
    mcp_compose_memory(k->c, mcp_compose_name(name, "ahead2_%s", p), "0");
    if (n == 3) mcp_compose_memory(k->c, mcp_compose_name(name, "ahead3_%s", p), "0");
    mcp_compose_define(k->c, mcp_compose_name(name, "surprise_%s", p), "y_%s - ahead1_%s", p, p);
    mcp_compose_define(k->c, p, "ahead1_%s + @gain1_%s*surprise_%s", p, p, p);
    mcp_compose_define(k->c, v, "ahead2_%s + @gain2_%s*surprise_%s", p, p, p);
    if (n == 3) {
        mcp_compose_define(k->c, mcp_compose_name(name, "acceleration_%s", p),
                           "ahead3_%s + @gain3_%s*surprise_%s", p, p, p);
        mcp_compose_next(k->c, mcp_compose_name(name, "ahead1_%s", p),
                         "%s + Ts*(%s + 0.5*Ts*acceleration_%s)", p, v, p);
        mcp_compose_next(k->c, mcp_compose_name(name, "ahead2_%s", p), "%s + Ts*acceleration_%s", v, p);
        mcp_compose_next(k->c, mcp_compose_name(name, "ahead3_%s", p), "acceleration_%s", p);
        return;
    }
    mcp_compose_next(k->c, mcp_compose_name(name, "ahead1_%s", p), "%s + Ts*%s", p, v);
    mcp_compose_next(k->c, mcp_compose_name(name, "ahead2_%s", p), "%s", v);
}

static void custom(mcp_composer *c, const mcp_system *s, char *known_to)
{
    const mcp_task_observer *o = &s->task->observer;
    for (int i = 0; i < o->memory_start.n; i++)
        mcp_compose_memory_at(c, o->memory_start.item[i].name, &o->memory_start.item[i].expr);
    for (int i = 0; i < o->output.n; i++) {
        int state = mcp_task_find_state(s->task, o->output.item[i].name);
        if (state < 0) {
            mcp_compose_fail(c, MCP_ERR_TASK, "observer: output %s is not a state of the task",
                             o->output.item[i].name);
            return;
        }
        mcp_compose_define_at(c, o->output.item[i].name, &o->output.item[i].expr);
        known_to[state] = 1;
    }
    for (int i = 0; i < o->memory_next.n; i++)
        mcp_compose_next_at(c, o->memory_next.item[i].name, &o->memory_next.item[i].expr);
}

static int measured(const mcp_task *t, int state)
{
    for (int i = 0; i < t->nseen; i++)
        if (t->seen[i].state == state) return 1;
    return 0;
}

void mcp_observer_compose(mcp_composer *c, const mcp_system *s, char *known_to)
{
    const mcp_task *t = s->task;
    if (t->observer.type == MCP_OBSERVER_CUSTOM) custom(c, s, known_to);
    for (int i = 0; i < t->nseen; i++) {
        int state = t->seen[i].state, v = mcp_velocity_of(t, state);
        if (known_to[state]) continue;
        coordinate k = {c, s, t->state[state], v < 0 ? NULL : t->state[v], i, v};
        int estimate = v >= 0 && !known_to[v] && !measured(t, v);
        known_to[state] = 1;
        if (estimate && t->observer.type == MCP_OBSERVER_DIFFERENCE) difference(&k);
        else if (estimate && t->observer.type == MCP_OBSERVER_KALMAN) kalman(&k);
        else if (estimate && t->observer.type == MCP_OBSERVER_AUTO) kalman(&k);
        else {
            mcp_compose_define(c, t->state[state], "y_%s", t->state[state]);
            continue;
        }
        known_to[v] = 1;
    }
}
