/* signs.c - measure what a diagnosis rests on. Each sign is one function; one that lacks its data leaves NaN.
 */
#include "learn/signs.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "math/arena.h"
#include "math/stats.h"
#include "model/kernel.h"

/* The range of a state over all trials so far. */
static double range_of(const mcp_run *r, const mcp_run_item *it, int state)
{
    double low = INFINITY, high = -INFINITY;
    int    nx = r->system->nx;
    for (int i = 0; i <= r->items; i++) {
        const mcp_run_item *q = i < r->items ? r->item[i] : it;
        for (int k = 0; q->states && k < q->states->count; k++) {
            double x = q->states->state[(size_t)k * (size_t)nx + (size_t)state];
            low  = fmin(low, x);
            high = fmax(high, x);
        }
    }
    return high > low ? high - low : NAN;
}

static void bands(mcp_signs *s, const mcp_run *r, const mcp_run_item *it, const double *real)
{
    const mcp_forecast *f = it->forecast;
    int                 nx = r->system->nx;
    double             *width = f ? mcp_calloc((size_t)f->samples, sizeof *width) : NULL;
    for (int w = 0; width && w < MCP_WINDOWS; w++) {
        int inside = 0, seen = 0;
        s->width[w] = NAN;
        for (int k = 0; k < nx; k++) {
            int n = 0;
            for (int i = 0; i < f->samples; i++) {
                int at = i * nx + k;
                if (i * MCP_WINDOWS / f->samples != w) continue;
                width[n++] = f->high[at] - f->low[at];
                if (i >= it->trial->samples || isnan(real[at])) continue;
                seen++;
                inside += real[at] >= f->low[at] && real[at] <= f->high[at];
            }
            double share = n ? mcp_quantile(width, n, 0.5) / range_of(r, it, k) : NAN;
            if (share > s->width[w] || isnan(s->width[w])) {
                s->width[w] = share;
                if (w == MCP_WINDOWS - 1) s->widest = k;
            }
        }
        s->inside[w] = seen ? (double)inside / seen : NAN;
    }
    mcp_free(width);
}

static void cost_rate(mcp_signs *s, const mcp_run *r, const mcp_run_item *it, const double *real)
{
    double    before = 0.0;
    int       from = 0;
    mcp_trial part = *it->trial; /* a shorter view of the same rows */
    for (int b = 0; b < MCP_COST_BINS; b++) {
        mcp_score score;
        part.samples = (int)((long)it->trial->samples * (b + 1) / MCP_COST_BINS);
        if (part.samples <= from) continue;
        mcp_trial_score(r->system, &part, real, &score);
        s->rate[b] = (score.cost - before) / (part.samples - from);
        before = score.cost;
        from   = part.samples;
    }
}

/* Distance of x from the start distribution's nearest part in one state, in deviations. */
static double off_start(const mcp_task_start *a, int nx, int state, double x, double noise)
{
    double best = INFINITY;
    if (a->type == MCP_START_UNIFORM) {
        double outside = fmax(fmax(a->low[state] - x, x - a->high[state]), 0.0);
        double spread = hypot(noise, 0.05 * (a->high[state] - a->low[state]));
        return spread > 0 ? outside / spread : NAN;
    }
    for (int p = 0; p < a->parts; p++) {
        double spread = hypot(a->std[p * nx + state], noise);
        if (spread > 0) best = fmin(best, fabs(x - a->mean[p * nx + state]) / spread);
    }
    return isfinite(best) ? best : NAN;
}

/* seen: what the sensors told of the state, [sample][nseen]. */
static void start(mcp_signs *s, const mcp_run *r, const mcp_run_item *it, const double *seen)
{
    const mcp_task       *task = r->task;
    const mcp_task_start *a =
        it->info.explored && task->explore.start.parts ? &task->explore.start : &task->start;
    for (int j = 0; j < task->nseen && it->trial->samples; j++) {
        const mcp_task_channel *c = &task->seen[j];
        double                  off = off_start(a, task->nx, c->state, seen[j], mcp_channel_noise(c));
        if (off > s->start_off || isnan(s->start_off)) {
            s->start_off     = off;
            s->start_value   = seen[j];
            s->start_channel = j;
        }
    }
}

/* Positions and velocities that are both measured must agree. */
static void kinematics(mcp_signs *s, const mcp_run *r, const mcp_run_item *it)
{
    const mcp_states *z = it->states;
    int               nx = r->system->nx;
    for (int g = 0; z && g < r->system->ngp; g++) {
        const mcp_task_gp *gp = &r->task->gp[g];
        double             vv = 0, vd = 0, dd = 0;
        if (gp->kind != MCP_GP_VELOCITY) continue;
        for (int k = 0; k + 1 < z->count; k++) {
            const double *a = z->state + (size_t)k * (size_t)nx, *b = a + nx;
            double        v = 0.5 * (a[gp->state] + b[gp->state]);
            double        d = (b[gp->position] - a[gp->position]) / r->system->ts;
            vv += v * v;
            vd += v * d;
            dd += d * d;
        }
        /* the slope means something where one explains the other */
        double slope = vv > 0 && vd * vd > 0.5 * vv * dd ? vd / vv : NAN;
        if (!isnan(slope) && (isnan(s->slope) || fabs(slope - 1) > fabs(s->slope - 1))) {
            s->slope    = slope;
            s->slope_gp = g;
        }
    }
}

static void smoothing(mcp_signs *s, const mcp_run *r, const mcp_run_item *it, const double *seen)
{
    const mcp_states *z = it->states;
    for (int j = 0; z && j < r->task->nseen; j++) {
        const mcp_task_channel *c = &r->task->seen[j];
        double                  sum = 0, noise = mcp_channel_noise(c);
        for (int k = 0; k < z->count; k++) {
            double e = seen[(z->first + k) * r->task->nseen + j] -
                       z->state[(size_t)k * (size_t)z->nx + (size_t)c->state];
            sum += e * e;
        }
        double share = noise > 0 && z->count ? sqrt(sum / z->count) / noise : NAN;
        if (share > s->smoothed || isnan(s->smoothed)) {
            s->smoothed         = share;
            s->smoothed_channel = j;
        }
    }
}

static double observer_error(const mcp_run_item *it, const double *real, int nx, int k)
{
    double sum = 0, mean = 0, square = 0;
    int    n = 0;
    for (int i = 0; i < it->trial->samples; i++) {
        size_t at = (size_t)i * (size_t)nx + (size_t)k;
        double e = it->trial->observed[at] - real[at];
        if (!isfinite(e)) continue;
        sum += e * e;
        mean += real[at];
        square += real[at] * real[at];
        n++;
    }
    double variance = n ? square / n - mean / n * (mean / n) : 0;
    return variance > 0 ? sqrt(sum / n / variance) : NAN;
}

static void observer(mcp_signs *s, const mcp_run *r, const mcp_run_item *it, const double *real)
{
    for (int k = 0; k < r->system->nx; k++) {
        double share = r->system->observed[k] ? observer_error(it, real, r->system->nx, k) : NAN;
        if (share > s->observer || (isnan(s->observer) && !isnan(share))) {
            s->observer       = share;
            s->observer_state = k;
        }
    }
}

/* Residuals. */

typedef struct {
    int     n;     /* pairs of one trial */
    int     first; /* sample of the first */
    double *error; /* [n] change minus prediction of one GP */
} residuals;

static int residuals_make(residuals *e, const mcp_fit *fit, const mcp_run_item *it, int g)
{
    mcp_pairs *pairs = NULL;
    double    *variance = NULL;
    mcp_trial *trial[1] = {it->trial};
    mcp_states *states[1] = {it->states};
    int        ok = 0;
    memset(e, 0, sizeof *e);
    if (!it->states || mcp_fit_pairs(&pairs, fit, 1, trial, states, NULL) != MCP_OK || pairs->n < 8)
        goto done;
    e->n     = pairs->n;
    e->first = it->states->first + fit->lost;
    e->error = mcp_calloc((size_t)e->n, sizeof *e->error);
    variance = mcp_calloc((size_t)e->n, sizeof *variance);
    ok = e->error && variance &&
         mcp_gp_predict(fit->gp[g], e->n, pairs->X, e->error, variance, NULL) == MCP_OK;
    for (int k = 0; ok && k < e->n; k++) e->error[k] = pairs->Y[g * pairs->n + k] - e->error[k];
done:
    mcp_pairs_free(pairs);
    mcp_free(variance);
    if (!ok) {
        mcp_free(e->error);
        memset(e, 0, sizeof *e);
    }
    return ok;
}

/* Learned noise against what the sensor explains, and how the residuals of that GP hang together in time. */
static void learned(mcp_signs *s, const mcp_run *r, const mcp_run_item *it, const mcp_fit *fit)
{
    double expected = 0.0, together = 0.0, alone = 0.0;
    for (int g = 0; g < r->system->ngp; g++) {
        double noise = exp(mcp_gp_hyper(fit->gp[g])[mcp_kernel_params(r->system->kernel[g])]);
        double sensor = it->states ? it->states->change_std[g] : 0.0;
        double share = sensor > 0 ? noise / sensor : NAN;
        if (share > s->noise || (isnan(s->noise) && !isnan(share))) {
            s->noise    = share;
            s->noise_gp = g;
        }
    }
    for (int i = 0; i < r->items && r->item[i] != it; i++) {
        residuals e;
        if (!residuals_make(&e, fit, r->item[i], s->noise_gp)) continue;
        for (int k = 0; k + 1 < e.n; k++) {
            together += e.error[k] * e.error[k + 1];
            alone += e.error[k] * e.error[k];
        }
        if (r->item[i]->states->lag)
            expected = r->item[i]->states->lag[s->noise_gp * (MCP_NOISE_BAND + 1) + 1];
        mcp_free(e.error);
    }
    if (alone > 0) s->correlation = together / alone - expected;
}

/* Straight lines through all data: what they leave unexplained, with other inputs or one regressor more. A
 * line is a poor model, and a fair judge of what helps it. */

enum { COLUMNS = 48 };

typedef struct {
    int     n, rows; /* columns; rows added */
    double *A, b[COLUMNS], yy; /* A [n][n] = sum x x', b = sum x y, yy = sum y y */
} line;

static void line_add(line *q, const double *x, double y)
{
    for (int i = 0; i < q->n; i++) {
        for (int j = 0; j <= i; j++) q->A[i * q->n + j] += x[i] * x[j];
        q->b[i] += x[i] * y;
    }
    q->yy += y * y;
    q->rows++;
}

/* Sum of squares that is left, by Cholesky's factor in place. */
static double line_left(line *q)
{
    double left = q->yy;
    for (int i = 0; i < q->n; i++) {
        double *row = q->A + i * q->n, z = q->b[i], scale = row[i];
        for (int j = 0; j < i; j++) {
            double *other = q->A + j * q->n;
            for (int k = 0; k < j; k++) row[j] -= row[k] * other[k];
            row[j] = other[j] > 0 ? row[j] / other[j] : 0.0;
            row[i] -= row[j] * row[j];
            z -= row[j] * q->b[j];
        }
        /* a column that those before it make up adds nothing */
        row[i] = row[i] > 1e-10 * scale ? sqrt(row[i]) : 0.0;
        q->b[i] = row[i] > 0 ? z / row[i] : 0.0;
        left -= q->b[i] * q->b[i];
    }
    return fmax(left, 0.0);
}

/* The trial with its inputs as they would be had they come d samples later; applied: room for them. */
static mcp_trial delayed(const mcp_trial *t, int d, double *applied)
{
    mcp_trial out = *t;
    for (int k = 0; k < t->samples; k++)
        for (int u = 0; u < t->nu; u++)
            applied[k * t->nu + u] = k >= d ? t->applied[(k - d) * t->nu + u] : 0.0;
    out.applied = applied;
    return out;
}

/* What lines of the features leave of GP g's changes over all trials. delay: of the inputs; extra: a state
 * that is one regressor more (-1: none), as sine and cosine when it is an angle. */
static double unexplained(const mcp_run *r, const mcp_run_item *it, int g, int delay, int extra)
{
    const mcp_system *s = r->system;
    int     more = extra < 0 ? 0 : r->task->state_angle[extra] ? 2 : 1, n = s->nf + 1 + more;
    line    q = {.n = n};
    double *A = n <= COLUMNS ? mcp_calloc((size_t)n * (size_t)n, sizeof *A) : NULL;
    double *applied = mcp_calloc((size_t)(s->steps + 1) * (size_t)s->nu, sizeof *applied), left = NAN;
    q.A = A;
    for (int i = 0; A && applied && i <= r->items; i++) {
        const mcp_run_item *item = i < r->items ? r->item[i] : it;
        mcp_pairs          *pairs = NULL;
        if ((i < r->items && item == it) || !item->states) continue;
        mcp_trial   shifted = delayed(item->trial, delay, applied), *trial[1] = {&shifted};
        mcp_states *states[1] = {item->states};
        if (mcp_estimate_pairs(&pairs, s, 1, trial, states, NULL) != MCP_OK) continue;
        /* the same rows for every delay that is compared */
        for (int k = MCP_DELAY_LAGS; k < pairs->n; k++) {
            double x[COLUMNS];
            memcpy(x, pairs->X + (size_t)k * (size_t)s->nf, (size_t)s->nf * sizeof *x);
            x[s->nf] = 1.0;
            double v = extra < 0 ? 0.0 : item->states->state[k * s->nx + extra];
            if (more) x[s->nf + 1] = more == 2 ? sin(v) : v;
            if (more == 2) x[s->nf + 2] = cos(v);
            line_add(&q, x, pairs->Y[g * pairs->n + k]);
        }
        mcp_pairs_free(pairs);
    }
    if (A && q.rows > 2 * n) left = line_left(&q);
    mcp_free(A);
    mcp_free(applied);
    return left;
}

/* 1: the features name this state. */
static int is_feature(const mcp_run *r, int state)
{
    const char *name = r->task->state[state];
    size_t      n = strlen(name);
    for (int f = 0; f < r->system->nf; f++)
        for (const char *at = strstr(r->system->feature_text[f], name); at; at = strstr(at + 1, name)) {
            int before = at > r->system->feature_text[f] && (isalnum((unsigned char)at[-1]) || at[-1] == '_');
            if (!before && !isalnum((unsigned char)at[n]) && at[n] != '_') return 1;
        }
    return 0;
}

static void lines(mcp_signs *s, const mcp_run *r, const mcp_run_item *it)
{
    for (int g = 0; g < r->system->ngp; g++) {
        double plain = unexplained(r, it, g, 0, -1);
        if (!(plain > 0)) continue;
        for (int d = 1; d <= MCP_DELAY_LAGS; d++) {
            double share = unexplained(r, it, g, d, -1) / plain;
            if (share < s->late) {
                s->late    = share;
                s->late_by = d;
                s->late_gp = g;
            }
        }
        for (int k = 0; k < r->system->nx; k++) {
            double share = is_feature(r, k) ? NAN : unexplained(r, it, g, 0, k) / plain;
            if (share < s->lacking) {
                s->lacking       = share;
                s->lacking_state = k;
                s->lacking_gp    = g;
            }
        }
    }
}

void mcp_signs_measure(mcp_signs *s, const mcp_run *r, const mcp_run_item *it, const mcp_fit *fit)
{
    memset(s, 0, sizeof *s);
    for (int w = 0; w < MCP_WINDOWS; w++) s->inside[w] = s->width[w] = NAN;
    for (int b = 0; b < MCP_COST_BINS; b++) s->rate[b] = NAN;
    s->late = s->lacking = 1.0;
    s->start_off = s->slope = s->smoothed = s->noise = s->correlation = s->observer = NAN;
    double *seen = NULL;
    if (mcp_trial_seen(r->system, it->trial, &seen, NULL) == MCP_OK) {
        start(s, r, it, seen);
        smoothing(s, r, it, seen);
    }
    mcp_free(seen);
    kinematics(s, r, it);
    lines(s, r, it);
    double *real = mcp_run_outcome(it), *modelled = mcp_run_modelled(r->system, it);
    if (real && modelled) {
        bands(s, r, it, modelled);
        cost_rate(s, r, it, real);
        observer(s, r, it, modelled);
    }
    mcp_free(real);
    mcp_free(modelled);
    if (fit && !it->info.explored) learned(s, r, it, fit);
}
