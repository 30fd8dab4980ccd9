/* dopri5.c - Dormand-Prince 5(4) with the first stage of a step taken from the last stage of the one before
 * (FSAL). k_i = f(x + h sum_j a_ij k_j)     x+ = x + h sum_i b_i k_i     e = h sum_i (b_i - b*_i) k_i A step
 * is accepted when the root mean square of e_i / (tol + tol max(|x_i|, |x+_i|)) is at most 1; the next one is
 * 0.9 err^(-1/5) times as long, between 1/5 and 10 times. The input is constant over a sample and jumps
 * between samples, so the first stage is never carried across samples, the step size is. */
#include "plant/dopri5.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { STAGES = 7 };

static const double A[STAGES][STAGES - 1] = {
    {0},
    {1.0 / 5},
    {3.0 / 40, 9.0 / 40},
    {44.0 / 45, -56.0 / 15, 32.0 / 9},
    {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
    {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656},
    {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84}, /* also b */
};
/* b - b*, the fourth-order weights */
static const double E[STAGES] = {71.0 / 57600,      0,          -71.0 / 16695, 71.0 / 1920,
                                 -17253.0 / 339200, 22.0 / 525, -1.0 / 40};

size_t mcp_ode_work(int n)
{
    return (size_t)(STAGES + 1) * (size_t)n;
}

static double norm(const mcp_ode *o, const double *v, const double *x, const double *y)
{
    double sum = 0.0;
    for (int i = 0; i < o->n; i++) {
        double r = v[i] / (o->tolerance * (1.0 + fmax(fabs(x[i]), fabs(y[i]))));
        sum += r * r;
    }
    return sqrt(sum / o->n);
}

/* First step of a trial: a hundredth of the time in which x or its slope changes by its own size. */
static double first_step(const mcp_ode *o, double span, const double *x, double *k0, double *k1, double *y)
{
    double d0 = norm(o, x, x, x), d1 = norm(o, k0, x, x);
    double h = d0 < 1e-5 || d1 < 1e-5 ? 1e-6 : 0.01 * d0 / d1;
    for (int i = 0; i < o->n; i++) y[i] = x[i] + h * k0[i];
    o->f(o->context, y, k1);
    for (int i = 0; i < o->n; i++) k1[i] -= k0[i];
    double d2 = fmax(d1, norm(o, k1, x, x) / h);
    double h1 = d2 <= 1e-15 ? fmax(1e-6, h * 1e-3) : pow(0.01 / d2, 0.2);
    return fmin(fmin(100.0 * h, h1), span);
}

/* Stages 2..7 from x and k[0]; y is x+ afterwards. */
static void stages(const mcp_ode *o, double h, const double *x, double *k, double *y)
{
    int n = o->n;
    for (int s = 1; s < STAGES; s++) {
        for (int i = 0; i < n; i++) {
            double sum = 0.0;
            for (int j = 0; j < s; j++) sum += A[s][j] * k[j * n + i];
            y[i] = x[i] + h * sum;
        }
        o->f(o->context, y, k + s * n);
    }
}

static double error_of(const mcp_ode *o, double h, const double *x, const double *k, const double *y)
{
    int    n = o->n;
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        double e = 0.0;
        for (int s = 0; s < STAGES; s++) e += E[s] * k[s * n + i];
        double r = h * e / (o->tolerance * (1.0 + fmax(fabs(x[i]), fabs(y[i]))));
        sum += r * r;
    }
    return sqrt(sum / n);
}

mcp_status mcp_ode_advance(mcp_ode *o, double span, double *x, mcp_error *err)
{
    int     n = o->n;
    double *k = o->work, *y = o->work + (size_t)STAGES * (size_t)n;
    double  done = 0.0, shortest = 1e-12 * span;

    o->f(o->context, x, k);
    if (!(o->step > 0.0)) o->step = first_step(o, span, x, k, k + n, y);
    while (done < span) {
        int    last = done + o->step * (1.0 + 1e-10) >= span;
        double h = last ? span - done : o->step;
        stages(o, h, x, k, y);
        double e = error_of(o, h, x, k, y);
        if (isfinite(e) && e <= 1.0) {
            done = last ? span : done + h;
            memcpy(x, y, (size_t)n * sizeof *x);
            memcpy(k, k + (size_t)(STAGES - 1) * (size_t)n, (size_t)n * sizeof *k);
            double longer = h * fmin(10.0, 0.9 * pow(fmax(e, 1e-10), -0.2));
            /* A step cut short by the end of the sample says nothing against the longer one before it. */
            o->step = last ? fmax(o->step, longer) : longer;
            if (o->step > span) o->step = span;
            o->steps++;
        } else {
            o->step = h * (isfinite(e) ? fmax(0.2, 0.9 * pow(e, -0.2)) : 0.1);
            o->rejected++;
        }
        if (!(o->step > shortest))
            return mcp_fail(err, MCP_ERR_NUMERIC,
                            "the differential equation cannot be integrated further than %.6g s into the "
                            "sample: its solution is not finite or too steep; look for a division by zero or "
                            "a growing state",
                            done);
    }
    return MCP_OK;
}
