/* trapezoid.c - a position whose velocity is measured too:
 *   x(t+1) = x(t) + ts (v(t) + v(t+1))/2 + w,  w ~ N(0, s^2)      q(t) = x(t) + e,  e ~ N(0, r^2)
 *     start unknown
 * Kalman filter forwards, Rauch-Tung-Striebel backwards, both scalar. w is the velocity's noise and what
 * the acceleration does within a sample; its size is chosen by the likelihood of the recorded positions.
 * */
#include <math.h>

#include "estimate/smooth.h"

static double step(const double *v, int k, double ts)
{
    return 0.5 * ts * (v[k] + v[k + 1]);
}

/* Means and variances after each measurement; returns -2 log likelihood up to a constant. */
static double forward(int n, const double *q, const double *v, double ts, double r, double s, double *mean,
                      double *var)
{
    double fit = 0.0;
    mean[0] = q[0];
    var[0]  = r * r;
    for (int k = 1; k < n; k++) {
        double m = mean[k - 1] + step(v, k - 1, ts), p = var[k - 1] + s * s, total = p + r * r, e = q[k] - m;
        mean[k] = m + p / total * e;
        var[k]  = p * r * r / total;
        fit += e * e / total + log(total);
    }
    return fit;
}

double mcp_trapezoid(int n, const double *q, const double *v, double ts, double r, double least, double *y,
                     double *work)
{
    enum { STEPS = 100 };
    double *mean = work, *var = work + n, best = INFINITY, s = least, trial = least;
    if (n < 1) return s;
    for (int k = 0; k < STEPS && trial <= 4.0 * fmax(r, least); k++, trial *= 1.5) {
        double fit = forward(n, q, v, ts, r, trial, mean, var);
        if (fit < best) {
            best = fit;
            s = trial;
        }
    }
    forward(n, q, v, ts, r, s, mean, var);
    y[n - 1] = mean[n - 1];
    for (int k = n - 2; k >= 0; k--)
        y[k] = mean[k] + var[k] / (var[k] + s * s) * (y[k + 1] - mean[k] - step(v, k, ts));
    return s;
}
