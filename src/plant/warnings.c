/* warnings.c - a state that the policy cannot see, a success test that the cheapest state fails, a velocity
 * that drowns in its own noise. */
#include "plant/warnings.h"

#include <math.h>
#include <string.h>

#include "control/compose.h"
#include "math/arena.h"
#include "math/number.h"
#include "math/rng.h"
#include "plant/plant_parts.h"

/* The next sentence's room; the last one is written again when there are too many. */
static char *next(mcp_warning_list *w)
{
    if (w->n < MCP_MAX_WARNINGS) w->n++;
    return w->text[w->n - 1];
}

static void unseen_states(const mcp_system *s, mcp_warning_list *w)
{
    for (int i = 0; i < s->nx; i++)
        if (!s->observed[i])
            mcp_print(next(w), sizeof *w->text,
                      "state: nothing tells the controller about %s, so the policy cannot use it; measure "
                      "it, compute it from what is measured (measured.%s.from), name it as the velocity of a "
                      "measured position (model.velocities), give it a "
                      "known transition (model.known) or make it an output of a custom observer",
                      s->task->state[i], s->task->state[i]);
}

/* The state and input of least cost, by sampling and then by steps along each coordinate. */
typedef struct {
    const mcp_system *s;
    mcp_runner        cost, events;
    int               n; /* coordinates: states, inputs */
    double            at[MCP_MAX_STATE + MCP_MAX_INPUT], least;
} search;

static double bounded(const search *q, int i, double v)
{
    if (i < q->s->nx) return v;
    const mcp_task_input *u = &q->s->task->input[i - q->s->nx];
    return fmin(fmax(v, u->low), u->high);
}

static double cost_at(search *q, const double *at)
{
    memcpy(q->cost.in, at, (size_t)q->n * sizeof *at);
    mcp_runner_step(&q->cost, NULL, 1);
    return isfinite(q->cost.out[0]) ? q->cost.out[0] : INFINITY;
}

/* Downhill from `at`, in place, by steps that grow where they help and shrink where they do not. */
static double descend(search *q, double *at)
{
    double step[MCP_MAX_STATE + MCP_MAX_INPUT], c = cost_at(q, at);
    for (int i = 0; i < q->n; i++) step[i] = 0.5 * (fabs(at[i]) + 0.1);
    for (int round = 0; round < 120; round++)
        for (int i = 0; i < q->n; i++) {
            double here = at[i], better = c;
            for (int side = -1; side <= 1 && better == c; side += 2) {
                at[i]  = bounded(q, i, here + side * step[i]);
                better = fmin(c, cost_at(q, at));
            }
            if (better < c - 1e-12 * fabs(c)) step[i] *= 1.5;
            else {
                at[i]  = here;
                better = c;
                step[i] *= 0.5;
            }
            c = better;
        }
    return c;
}

/* Starts: the mean of the start distribution and nought first, so that what the cost does not depend on stays
 * there; then states of all sizes. */
static void find_least(search *q)
{
    enum { STARTS = 60 };
    const mcp_task *t = q->s->task;
    double          at[MCP_MAX_STATE + MCP_MAX_INPUT] = {0}, mean[MCP_MAX_STATE];
    mcp_rand        random = mcp_rand_make(1, 0, 0, MCP_RNG_OTHER);
    mcp_start_mean(t, &t->start, mean);
    q->least = INFINITY;
    for (int k = 0; k < STARTS; k++) {
        for (int i = 0; i < q->n; i++) {
            double size = pow(10.0, 4.0 * mcp_rand_uniform(&random) - 2.5), r = mcp_rand_normal(&random);
            at[i] = bounded(q, i, (i < q->s->nx && k != 1 ? mean[i] : 0.0) + (k < 2 ? 0.0 : size * r));
        }
        double c = descend(q, at);
        if (c < q->least - 1e-6 * (1.0 + fabs(c))) {
            q->least = c;
            memcpy(q->at, at, sizeof at);
        }
    }
}

static int succeeds(search *q, const double *at)
{
    memcpy(q->events.in, at, (size_t)q->n * sizeof *at);
    mcp_runner_step(&q->events, NULL, 1);
    return q->events.out[0] != 0.0;
}

/* Does the cost depend on coordinate i there? */
static int matters(search *q, int i)
{
    double at[MCP_MAX_STATE + MCP_MAX_INPUT] = {0};
    memcpy(at, q->at, sizeof at);
    at[i] += 0.3 * (1.0 + fabs(at[i]));
    return fabs(cost_at(q, at) - q->least) > 1e-9;
}

static void cheap_failure(search *q, mcp_warning_list *w)
{
    const mcp_task *t = q->s->task;
    char            where[200] = "";
    int             used = 0, far = 0;
    find_least(q);
    for (int i = 0; i < q->n; i++) far |= fabs(q->at[i]) > 1e5; /* it falls for ever: no state to judge */
    if (!isfinite(q->least) || far || succeeds(q, q->at)) return;
    for (int i = 0; i < q->s->nx && used < 150; i++)
        if (matters(q, i))
            used += mcp_print(where + used, sizeof where - (size_t)used, "%s%s = %.4g", used ? ", " : "",
                              t->state[i], q->at[i]);
    mcp_print(next(w), sizeof *w->text,
              "success: the state of least cost (%.4g%s%s) does not meet the test \"%.100s\"; a policy that "
              "does what the cost asks will fail, so change one of them",
              q->least, used ? ", at " : "", where, t->success.text);
}

static mcp_status least_cost(const mcp_system *s, mcp_warning_list *w, mcp_error *err)
{
    if (!s->task->success.text) return MCP_OK;
    search    *q = mcp_calloc(1, sizeof *q);
    mcp_status st = q ? MCP_OK : mcp_fail(err, MCP_ERR_MEMORY, "out of memory for the check");
    if (st == MCP_OK) {
        q->s = s;
        q->n = s->nx + s->nu;
        st = mcp_runner_create(&q->cost, s->cost, err);
    }
    if (st == MCP_OK) st = mcp_runner_create(&q->events, s->events, err);
    if (st == MCP_OK) cheap_failure(q, w);
    if (q) {
        mcp_runner_free(&q->cost);
        mcp_runner_free(&q->events);
    }
    mcp_free(q);
    return st;
}

/* r/Ts against the velocity's own size while exploring. */
static void noisy_velocities(const mcp_system *s, const mcp_trial *e, mcp_warning_list *w)
{
    const mcp_task *t = s->task;
    for (int i = 0; i < t->nseen; i++) {
        int    v = mcp_velocity_of(t, t->seen[i].state), known = v >= 0 && e->samples > 2;
        double error = mcp_channel_noise(&t->seen[i]) / s->ts, squares = 0.0;
        for (int k = 0; k < t->nseen; k++) known = known && t->seen[k].state != v;
        for (int k = 0; known && k < e->samples; k++) squares += pow(e->truth[k * e->nx + v], 2) / e->samples;
        if (!known || !isfinite(squares) || error <= sqrt(squares)) continue;
        mcp_print(next(w), sizeof *w->text,
                  "measured: one sample of %s is good to %.3g, so its velocity %s, from sample to sample, to "
                  "%.3g; while exploring it is %.3g itself: a better sensor, a lower rate, larger "
                  "exploration or an observer that averages (observer: {type: kalman, ...})",
                  t->seen[i].name, mcp_channel_noise(&t->seen[i]), t->state[v], error,
                  sqrt(squares));
    }
}

static void unused_sensors(const mcp_task *t, mcp_warning_list *w)
{
    for (int i = 0; i < mcp_task_sensors(t); i++)
        if (!mcp_sensor_used(t, i))
            mcp_print(next(w), sizeof *w->text,
                      "measured: nothing uses y_%s; compute a state from it (measured: {STATE: {from: ...}}) "
                      "or use it in a custom observer",
                      t->measured[i].name);
}

mcp_status mcp_task_warnings(const mcp_system *s, const mcp_trial *explored, mcp_warning_list *out,
                             mcp_error *err)
{
    out->n = 0;
    unseen_states(s, out);
    unused_sensors(s->task, out);
    mcp_status st = least_cost(s, out, err);
    if (st == MCP_OK && explored) noisy_velocities(s, explored, out);
    return st;
}
