/* probe_fit.c - what recorded samples tell about sensors and inputs.
 *
 * Noise: white noise of deviation s gives m-th differences of variance C(2m, m) s^2; a slow motion of
 * frequency w is damped by (w Ts)^m. The lowest order is taken that the next one does not undercut.
 *
 * Response of a channel y to an input u, delayed by d samples, near rest:
 *   y'' = g u(t - d) - sum_c (k_c y_c + r_c y_c') + const    integrated twice    y
 *     = g I2 u - sum_c (k_c I2 y_c + r_c I y_c) + a + b t + c t^2
 * (order 1: integrated once). That is linear in g, k, r: least squares over windows, each with its own
 * polynomial, which is projected out; integrals of measurements are smooth, so their noise hardly
 * matters. The delay is the one of least residual; own motion enters only where the Bayesian information
 * criterion wants it. */
#include <math.h>
#include <string.h>

#include "math/angle.h"
#include "math/arena.h"
#include "math/linalg.h"
#include "math/stats.h"
#include "plant/probe.h"

enum { ORDERS = 7 };

static double binomial(int n, int k)
{
    double c = 1.0;
    for (int i = 0; i < k; i++) c = c * (n - i) / (i + 1);
    return c;
}

static double difference(const double *y, int order)
{
    double d = 0.0;
    for (int i = 0; i <= order; i++) d += ((order - i) % 2 ? -1.0 : 1.0) * binomial(order, i) * y[i];
    return d;
}

/* The estimate by differences of one order and its relative error: neighbouring differences are correlated.
 */
static double deviation_by(int order, int n, const double *y, double *relative_error)
{
    double sum = 0.0, spread = 1.0, centre = binomial(2 * order, order);
    for (int k = 0; k + order < n; k++) {
        double d = difference(y + k, order);
        sum += d * d;
    }
    for (int h = 1; h <= order; h++) {
        double rho = binomial(2 * order, order + h) / centre;
        spread += 2.0 * rho * rho;
    }
    *relative_error = 0.5 * sqrt(2.0 * spread / (n - order));
    return sqrt(sum / (n - order) / centre);
}

double mcp_noise_deviation(int n, const double *y, double *relative_error)
{
    double s = NAN, error = NAN;
    if (n < 4 * ORDERS) {
        *relative_error = NAN;
        return NAN;
    }
    s = deviation_by(1, n, y, &error);
    for (int order = 2; order <= ORDERS; order++) {
        double next_error, next = deviation_by(order, n, y, &next_error);
        if (s <= next * (1.0 + 2.0 * next_error)) break;
        s = next;
        error = next_error;
    }
    *relative_error = error;
    return s;
}

int mcp_unwrap(int n, double *y)
{
    int    count = 0;
    double turns = 0.0, before = n ? y[0] : 0.0;
    for (int k = 1; k < n; k++) {
        if (fabs(fabs(y[k] - before) - MCP_TURN) < 1.0) {
            turns += mcp_turns_to(before, y[k]);
            count++;
        }
        before = y[k];
        y[k] += MCP_TURN * turns;
    }
    return count;
}

/* resolution */

/* Are all gaps multiples of step, to a tenth? Then *step becomes their common measure: first by the gaps of
 * one step, then, as it gets more exact, by wider ones. */
static int measures(int gaps, const double *gap, double *step)
{
    static const double widest[] = {1.0, 6.0, 30.0, INFINITY};
    double              d = *step;
    for (int pass = 0; pass < 4; pass++) {
        double sum = 0.0, squares = 0.0;
        for (int i = 0; i < gaps; i++) {
            double times = round(gap[i] / d);
            if (times > widest[pass]) continue;
            if (fabs(gap[i] / d - times) > 0.1 || times < 1.0) return 0;
            sum += times * gap[i];
            squares += times * times;
        }
        if (squares > 0.0) d = sum / squares;
    }
    *step = d;
    return 1;
}

mcp_status mcp_resolution(double *step, int n, const double *y, mcp_error *err)
{
    double *v = mcp_calloc((size_t)n + 1, sizeof *v);
    *step = NAN;
    if (!v) return mcp_fail(err, MCP_ERR_MEMORY, "out of memory for a sensor's values");
    memcpy(v, y, (size_t)n * sizeof *v);
    mcp_sort(v, n);
    double same = n ? 1e-9 * (v[n - 1] - v[0]) + 1e-14 * fmax(fabs(v[0]), fabs(v[n - 1])) : 0.0,
           least = INFINITY;
    int    gaps = 0;
    for (int k = 1; k < n; k++) { /* v becomes the gaps between values that differ */
        double gap = v[k] - v[k - 1];
        if (gap > same) {
            v[gaps++] = gap;
            if (gap < least) least = gap;
        }
    }
    if (gaps) {
        /* Rounded values repeat; unless they do, a common measure needs several gaps to be more than chance.
         */
        int believable = 2 * (gaps + 1) <= n || gaps >= 7;
        *step = 0.0;
        for (int k = 1; k <= 6 && believable; k++) {
            double d = least / k;
            if (measures(gaps, v, &d)) {
                *step = d;
                break;
            }
        }
    }
    mcp_free(v);
    return MCP_OK;
}

/* response */

typedef struct {
    const mcp_response_data *d;
    int     rows, terms, order;
    double *basis;  /* [order + 1][length], orthonormal             */
    double *target; /* [rows]                                       */
    double *column; /* [terms][rows]; column 0 is the input's       */
    double *gram, *right, *unit;
} fit_work;

static void make_basis(fit_work *w)
{
    int L = w->d->length;
    for (int p = 0; p <= w->order; p++) {
        double *q = w->basis + p * L, norm = 0.0;
        for (int k = 0; k < L; k++) q[k] = pow(2.0 * k / (L - 1) - 1.0, p);
        for (int o = 0; o < p; o++) {
            double dot = 0.0;
            for (int k = 0; k < L; k++) dot += q[k] * w->basis[o * L + k];
            for (int k = 0; k < L; k++) q[k] -= dot * w->basis[o * L + k];
        }
        for (int k = 0; k < L; k++) norm += q[k] * q[k];
        for (int k = 0; k < L; k++) q[k] /= sqrt(norm);
    }
}

static void project(const fit_work *w, double *v) /* one window */
{
    int L = w->d->length;
    for (int p = 0; p <= w->order; p++) {
        const double *q = w->basis + p * L;
        double        dot = 0.0;
        for (int k = 0; k < L; k++) dot += q[k] * v[k];
        for (int k = 0; k < L; k++) v[k] -= dot * q[k];
    }
}

/* `times` integrals of input j, held between samples, delayed. */
static void integrate_input(const fit_work *w, int j, int delay, double *out)
{
    const mcp_response_data *d = w->d;
    for (int win = 0; win < d->windows; win++, out += d->length) {
        double one = 0.0, two = 0.0;
        for (int k = 0; k < d->length; k++) {
            int    from = d->start[win] + k - delay;
            double u = from >= d->start[win] ? d->u[from * d->nu + j] : 0.0;
            out[k] = w->order == 2 ? two : one;
            two += d->ts * (one + 0.5 * d->ts * u);
            one += d->ts * u;
        }
        project(w, out);
    }
}

/* The same of channel c, a straight line between samples; its level is a polynomial and goes first. */
static void integrate_channel(const fit_work *w, int c, int times, double *out)
{
    const mcp_response_data *d = w->d;
    for (int win = 0; win < d->windows; win++, out += d->length) {
        const double *y = d->y + d->start[win] * d->ny + c;
        double        one = 0.0, two = 0.0;
        for (int k = 0; k < d->length; k++) {
            double a = y[k * d->ny] - y[0], b = k + 1 < d->length ? y[(k + 1) * d->ny] - y[0] : a;
            out[k] = times == 2 ? two : times == 1 ? one : a;
            two += d->ts * (one + d->ts * (2.0 * a + b) / 6.0);
            one += d->ts * (a + b) / 2.0;
        }
        project(w, out);
    }
}

static double dot(int n, const double *a, const double *b)
{
    double s = 0.0;
    for (int k = 0; k < n; k++) s += a[k] * b[k];
    return s;
}

/* Least squares with the columns scaled to length 1: residual sum, coefficient of column 0 and its share of
 * the inverse. */
static mcp_status solve(fit_work *w, double *residual, double *gain, double *inverse, mcp_error *err)
{
    int    p = w->terms, n = w->rows;
    double scale0 = 1.0;
    for (int a = 0; a < p; a++) {
        double norm = sqrt(dot(n, w->column + a * n, w->column + a * n));
        if (norm > 0.0)
            for (int k = 0; k < n; k++) w->column[a * n + k] /= norm;
        if (a == 0) scale0 = norm > 0.0 ? norm : 1.0;
    }
    for (int a = 0; a < p; a++) {
        for (int b = 0; b <= a; b++)
            w->gram[a * p + b] = w->gram[b * p + a] = dot(n, w->column + a * n, w->column + b * n);
        w->gram[a * p + a] += 1e-10;
        w->right[a] = w->unit[a] = dot(n, w->column + a * n, w->target);
    }
    mcp_status st = mcp_cholesky(p, w->gram, p, err);
    if (st != MCP_OK) return st;
    mcp_cholesky_solve(p, w->gram, p, 1, w->right);
    *residual = fmax(0.0, dot(n, w->target, w->target) - dot(p, w->right, w->unit));
    *gain = w->right[0] / scale0;
    memset(w->unit, 0, (size_t)p * sizeof(double));
    w->unit[0] = 1.0;
    mcp_cholesky_solve(p, w->gram, p, 1, w->unit);
    *inverse = w->unit[0] / (scale0 * scale0);
    return MCP_OK;
}

enum { DELAYS = 160 };
/* Is there a rival, another delay (of the other sign, if so asked), nearly as good as the best? */
static int rival(const double *residual, const double *gain, int delays, int best, int other_sign,
                 double margin)
{
    int found = 0;
    for (int k = 0; k < delays; k++)
        found |=
            k != best && residual[k] - residual[best] < margin && (!other_sign || gain[k] * gain[best] < 0.0);
    return found;
}

/* The delay of least residual with the first `terms` columns; *score: the Bayesian information criterion. */
static mcp_status best_delay(fit_work *w, int j, double *score, mcp_probe_response *out, mcp_error *err)
{
    const mcp_response_data *d = w->d;
    double residual[DELAYS] = {0}, gain[DELAYS] = {0}, inverse[DELAYS] = {0},
           tiny = 1e-24 * dot(w->rows, w->target, w->target);
    int n = w->rows - d->windows * (w->order + 1),
        delays = d->delay_most < DELAYS ? d->delay_most + 1 : DELAYS, best = 0;
    for (int k = 0; k < delays; k++) {
        integrate_input(w, j, k, w->column);
        mcp_status st = solve(w, &residual[k], &gain[k], &inverse[k], err);
        if (st != MCP_OK) return st;
        if (residual[k] < residual[best]) best = k;
    }
    double variance = residual[best] / (n > w->terms ? n - w->terms : 1) + tiny;
    *score = n * log(residual[best] + tiny) + w->terms * log(n);
    out->gain = gain[best];
    out->delay = best;
    out->gain_error = sqrt(variance * inverse[best]);
    out->found = n > w->terms && fabs(out->gain) > 5.0 * out->gain_error &&
                 !rival(residual, gain, delays, best, 1, 25.0 * variance);
    out->delay_sure = out->found && !rival(residual, gain, delays, best, 0, 9.0 * variance);
    return MCP_OK;
}

/* Columns: the input's, then the channel's own integrals, then those of the others. */
static void fill(fit_work *w, int i, const char *feedback)
{
    double *to = w->column + w->rows;
    integrate_channel(w, i, 0, w->target);
    for (int times = 1; times <= w->order && feedback[i]; times++, to += w->rows)
        integrate_channel(w, i, times, to);
    for (int c = 0; c < w->d->ny; c++)
        for (int times = 1; times <= w->order && feedback[c] && c != i; times++, to += w->rows)
            integrate_channel(w, c, times, to);
}

mcp_status mcp_response_fit(mcp_probe_response *out, const mcp_response_data *d, int j, int i, int order,
                            const char *feedback, mcp_error *err)
{
    fit_work w = {.d = d, .order = order, .rows = d->windows * d->length};
    int      all = 1;
    *out = (mcp_probe_response){.order = order, .gain = NAN, .gain_error = NAN};
    if (!d->windows || d->length < 2 * order + 4) return MCP_OK;
    for (int c = 0; c < d->ny; c++) all += feedback[c] ? order : 0;
    size_t  p = (size_t)all, n = (size_t)w.rows, L = (size_t)d->length;
    double *mem = mcp_calloc(((size_t)order + 1) * L + n + p * n + p * p + 2 * p, sizeof *mem);
    if (!mem) return mcp_fail(err, MCP_ERR_MEMORY, "out of memory for the responses of %d samples", w.rows);
    w.basis = mem;
    w.target = w.basis + ((size_t)order + 1) * L;
    w.column = w.target + n;
    w.gram = w.column + p * n;
    w.right = w.gram + p * p;
    w.unit = w.right + p;
    make_basis(&w);
    fill(&w, i, feedback);

    /* The plant's own motion: not needed, of this channel alone, of all channels; as few terms as explain the
     * data. */
    const int  terms[] = {1, feedback[i] ? 1 + order : 1, all};
    double     score = INFINITY;
    mcp_status st = MCP_OK;
    for (int s = 0; s < 3 && st == MCP_OK; s++) {
        mcp_probe_response r = *out;
        double             its;
        w.terms = terms[s];
        if ((st = best_delay(&w, j, &its, &r, err)) == MCP_OK && its < score) {
            score = its;
            *out = r;
        }
    }
    mcp_free(mem);
    return st;
}
