/* dopri5.c - Dormand-Prince 5(4) with the first stage of a step taken from the last stage of the one before
 * (FSAL). k_i = f(x + h sum_j a_ij k_j)     x+ = x + h sum_i b_i k_i     e = h sum_i (b_i - b*_i) k_i A step
 * is accepted when the root mean square of e_i / (tol s_i) is at most 1; the next one is 0.9 err^(-1/5) times
 * as long, between 1/5 and 10 times. s_i is the size of x_i: the largest of |x_i| and of |x_i'| span in the
 * trial so far and in the step itself, so that no unit is better than another. The input is constant over a
 * sample and jumps between samples, so the first stage is never carried across samples, the step size is. */
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
    return (size_t)(STAGES + 4) * (size_t)n;
}

/* Root mean square of h v in units of the error that is allowed. What has no size yet allows none. */
static double norm(const mcp_ode *o, double h, const double *v, const double *size, const double *y)
{
    double sum = 0.0;
    for (int i = 0; i < o->n; i++) {
        double r = h * v[i], most = o->tolerance * fmax(size[i], fabs(y[i]));
        if (r == 0.0) continue;
        sum += r / most * (r / most);
    }
    return sqrt(sum / o->n);
}

static void grow(const mcp_ode *o, double factor, const double *v, double *size)
{
    for (int i = 0; i < o->n; i++) size[i] = fmax(size[i], factor * fabs(v[i]));
}

/* First step of a trial, as a part of the span: a hundredth of the time in which x or its slope changes by
 * its own size. */
static double first_step(const mcp_ode *o, double span, const double *x, double *k0, const double *size,
                         double *k1, double *y)
{
    double d0 = norm(o, 1.0, x, size, x), d1 = norm(o, span, k0, size, x);
    double h = d0 > 0.0 && d1 > 0.0 ? fmin(0.01 * d0 / d1, 1.0) : 1e-4;
    for (int i = 0; i < o->n; i++) y[i] = x[i] + h * span * k0[i];
    o->f(o->context, y, k1);
    for (int i = 0; i < o->n; i++) k1[i] -= k0[i];
    double d2 = fmax(d1, norm(o, span, k1, size, y) / h);
    double h1 = d2 > 0.0 && isfinite(d2) ? pow(0.01 / d2, 0.2) : 1e-3 * h;
    return fmin(fmin(100.0 * h, h1), 1.0) * span;
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

/* The slopes of the step itself count for the size as well: what rests until something hits it within the
 * sample has none else, and no step would be short enough for its first motion. e: room for 2 n numbers. */
static double error_of(const mcp_ode *o, double span, double h, const double *k, const double *size,
                       const double *y, double *e)
{
    int     n = o->n;
    double *wide = e + n;
    memcpy(wide, size, (size_t)n * sizeof *wide);
    for (int s = 0; s < STAGES; s++) grow(o, span, k + s * n, wide);
    for (int i = 0; i < n; i++) {
        e[i] = 0.0;
        for (int s = 0; s < STAGES; s++) e[i] += E[s] * k[s * n + i];
    }
    return norm(o, h, e, wide, y);
}

mcp_status mcp_ode_advance(mcp_ode *o, double span, double *x, mcp_error *err)
{
    int     n = o->n;
    double *k = o->work, *y = o->work + (size_t)STAGES * (size_t)n, *size = y + n, *e = size + n;
    double  done = 0.0, shortest = 1e-12 * span;

    o->f(o->context, x, k);
    if (!(o->step > 0.0)) memset(size, 0, (size_t)n * sizeof *size);
    grow(o, 1.0, x, size);
    grow(o, span, k, size);
    if (!(o->step > 0.0)) o->step = first_step(o, span, x, k, size, k + n, y);
    while (done < span) {
        int    last = done + o->step * (1.0 + 1e-10) >= span;
        double h = last ? span - done : o->step;
        stages(o, h, x, k, y);
        double off = error_of(o, span, h, k, size, y, e);
        if (isfinite(off) && off <= 1.0) {
            done = last ? span : done + h;
            memcpy(x, y, (size_t)n * sizeof *x);
            grow(o, 1.0, x, size);
            memcpy(k, k + (size_t)(STAGES - 1) * (size_t)n, (size_t)n * sizeof *k);
            double longer = h * fmin(10.0, 0.9 * pow(fmax(off, 1e-10), -0.2));
            /* A step cut short by the end of the sample says nothing against the longer one before it. */
            o->step = last ? fmax(o->step, longer) : longer;
            if (o->step > span) o->step = span;
            o->steps++;
        } else {
            o->step = h * (isfinite(off) ? fmax(0.2, 0.9 * pow(off, -0.2)) : 0.1);
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
