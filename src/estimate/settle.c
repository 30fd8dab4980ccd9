/* settle.c - observer: auto. Its gains, from the sensors' figures and the exploration.
 *
 * The filter believes in velocities v(t) = (q(t) - q(t-1))/Ts that change by white noise of deviation c from
 * sample to sample. What the exploration shows of c is the likeliest value for its measurements, their noise
 * being what the task says. A policy may use its inputs over all of their range, of which an exploration uses
 * a part: c is the geometric mean of that value and of what it would be with inputs spread evenly over it.
 * (Best for the recorded policies of cart-pole and ball-and-plate: one to two times the exploration's.) */
#include <math.h>
#include <string.h>

#include "control/filter.h"
#include "estimate/estimate.h"
#include "estimate/origin.h"
#include "math/arena.h"
#include "math/number.h"

static const double reach_most = 10.0;
/* Of r/Ts. Changes below the first are not told from noise, and a filter for them would be slower than any
 * plant that is worth controlling; above the second it is the plain difference. */
static const double least = 0.03, most = 300.0, step = 1.25;

/* How much further than in the exploration the inputs go when they are spread evenly over their range. */
static double reach(const mcp_task *t, int trials, mcp_trial *const *trial)
{
    double widest = 1.0;
    for (int i = 0; i < t->nu; i++) {
        double square = 0.0, n = 0.0;
        for (int k = 0; k < trials; k++)
            for (int s = 0; s + 1 < trial[k]->samples; s++) {
                double u = trial[k]->applied[s * t->nu + i] - mcp_input_centre(&t->input[i]);
                if (!isfinite(u)) continue;
                square += u * u;
                n += 1.0;
            }
        if (square > 0.0) widest = fmax(widest, mcp_input_reach(&t->input[i]) / sqrt(3.0 * square / n));
    }
    return fmin(widest, reach_most);
}

/* What the sensors told of the state in one trial: [samples][channels]. */
typedef struct {
    double *seen;
    int     samples, channels;
} record;

/* -2 log likelihood of a channel's measurements, up to a constant: the filter's own surprises, from the third
 * sample on. In units of r and samples; c: the deviation of a change, in r/Ts. */
static double surprise(const record *e, int channel, double r, double c)
{
    double sum = 0.0, q = 0.0, v = 0.0, p11 = 1.0, p12 = 1.0, p22 = 2.0; /* after two samples */
    for (int s = 0; s < e->samples; s++) {
        double y = e->seen[s * e->channels + channel] / r;
        if (!isfinite(y)) break;
        if (s < 2) {
            v = y - q;
            q = y;
            continue;
        }
        double a11 = p11 + 2.0 * p12 + p22 + c * c, a12 = p12 + p22 + c * c, a22 = p22 + c * c;
        double off = y - q - v, total = a11 + 1.0, g1 = a11 / total, g2 = a12 / total;
        sum += off * off / total + log(total);
        q += v + g1 * off;
        v += g2 * off;
        p11 = a11 - g1 * a11;
        p12 = a12 - g1 * a12;
        p22 = a22 - g2 * a12;
    }
    return sum;
}

/* Likeliest deviation of a change, in r/Ts. */
static double likeliest(int trials, const record *trial, int channel, double r)
{
    double best = INFINITY, found = least;
    for (double c = least; c <= most; c *= step) {
        double sum = 0.0;
        for (int k = 0; k < trials; k++) sum += surprise(&trial[k], channel, r, c);
        if (sum < best) {
            best = sum;
            found = c;
        }
    }
    return found;
}

static mcp_status choose(mcp_system *s, int trials, const record *trial, double more, mcp_error *err)
{
    const mcp_task     *t = s->task;
    mcp_observer_choice choice[MCP_MAX_STATE];
    memset(choice, 0, sizeof choice);
    for (int i = 0; i < mcp_task_seen(t); i++) {
        double r = mcp_channel_noise(&t->seen[i]);
        choice[i].seen = r > 0.0 ? likeliest(trials, trial, i, r) * r / s->ts : 0.0;
        choice[i].change = more * choice[i].seen;
        if (!mcp_backward_steady(s->ts, choice[i].change, r, choice[i].gain))
            return mcp_fail(err, MCP_ERR_NUMERIC,
                            "observer: the gains for %s do not settle (changes of %g, noise %g); give "
                            "measured: its true noise, or the observer another type",
                            t->seen[i].name, choice[i].change, r);
    }
    return mcp_system_observe(s, choice, err);
}

mcp_status mcp_observer_settle(mcp_system *s, int trials, mcp_trial *const *trial, mcp_error *err)
{
    if (s->task->observer.type != MCP_OBSERVER_AUTO) return MCP_OK;
    record    *told = mcp_calloc((size_t)trials + 1, sizeof *told);
    mcp_status st = told ? MCP_OK : mcp_fail(err, MCP_ERR_MEMORY, "out of memory for the observer");
    for (int k = 0; k < trials && st == MCP_OK; k++) {
        told[k].samples = trial[k]->samples;
        told[k].channels = s->task->nseen;
        st = mcp_trial_seen(s, trial[k], &told[k].seen, err);
    }
    if (st == MCP_OK) st = choose(s, trials, told, sqrt(reach(s->task, trials, trial)), err);
    for (int k = 0; told && k < trials; k++) mcp_free(told[k].seen);
    mcp_free(told);
    return st;
}

int mcp_observer_explain(const mcp_system *s, int channel, char *text, size_t size)
{
    const mcp_task *t = s->task;
    int             velocity = -1;
    for (int g = 0; g < t->ngp; g++)
        if (t->gp[g].kind == MCP_GP_VELOCITY && t->gp[g].position == t->seen[channel].state)
            velocity = t->gp[g].state;
    if (t->observer.type != MCP_OBSERVER_AUTO || velocity < 0 || mcp_channel_of(t, velocity) >= 0) return 0;
    const char *q = t->seen[channel].name, *v = t->state[velocity];
    if (!s->choice) {
        mcp_print(text, size, "%s: difference of two samples of %s, until the exploration tells more", v, q);
        return 1;
    }
    const mcp_observer_choice *c = &s->choice[channel];
    double r = mcp_channel_noise(&t->seen[channel]);
    if (!(r > 0.0)) {
        mcp_print(text, size, "%s: difference of two samples of %s, which has no noise", v, q);
        return 1;
    }
    mcp_print(text, size,
              "%s: filter of %s with gains %.3g and %.3g/Ts (1 and 1: the plain difference), for a sensor of "
              "%.3g and changes of %s of %.3g a sample: the exploration had %.3g, and inputs spread over "
              "their range would be %.2g times as large",
              v, q, c->gain[0], c->gain[1] * s->ts, r, v, c->change, c->seen,
              c->change * c->change / (c->seen * c->seen));
    return 1;
}
