/* cartpole_data.h - data like a few trials on the cart-pole: smooth inputs first, swing-ups by energy later.
 * Features (p, dp, dtheta, sin theta, cos theta, u) at 30 Hz, targets the changes of dp and dtheta, with
 * noise. */
#ifndef CARTPOLE_DATA_H
#define CARTPOLE_DATA_H

#include <math.h>

#include "math/rng.h"

enum { CP_FEATURES = 6, CP_TRIAL = 90 };

static void cp_slope(const double *x, double u, double *dx)
{
    double s = sin(x[2]), c = cos(x[2]), den = 4.0 - 1.5 * c * c;
    dx[0] = x[1];
    dx[1] = (0.5 * x[3] * x[3] * s + 14.715 * s * c + 4.0 * u - 0.4 * x[1]) / den;
    dx[2] = x[3];
    dx[3] = (-0.75 * x[3] * x[3] * s * c - 58.86 * s - 6.0 * (u - 0.1 * x[1]) * c) / (0.5 * den);
}

static void cp_advance(double *x, double u)
{
    double k[4][4], y[4], h = 1.0 / 600.0;
    for (int step = 0; step < 20; step++) {
        cp_slope(x, u, k[0]);
        for (int stage = 1; stage < 4; stage++) {
            for (int i = 0; i < 4; i++) y[i] = x[i] + h * (stage == 3 ? 1.0 : 0.5) * k[stage - 1][i];
            cp_slope(y, u, k[stage]);
        }
        for (int i = 0; i < 4; i++) x[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
    }
}

/* n points from trials of CP_TRIAL samples; X n x 6, y[0], y[1] the two targets. Trial 0 is sines, the others
 * pump energy into the pole, a little differently each time, and brake the cart. */
static void cp_data(uint64_t seed, int n, double noise, double *X, double *y0, double *y1)
{
    mcp_rand r = mcp_rand_make(seed, 0, 0, MCP_RNG_OTHER);
    for (int first = 0; first < n; first += CP_TRIAL) {
        double x[4], phase[4], rate[4], gain = 0.6 + 0.8 * mcp_rand_uniform(&r);
        for (int i = 0; i < 4; i++) x[i] = 0.05 * mcp_rand_normal(&r);
        for (int i = 0; i < 4; i++) {
            phase[i] = 6.28 * mcp_rand_uniform(&r);
            rate[i] = 1.0 + 11.0 * mcp_rand_uniform(&r);
        }
        for (int t = 0; t < CP_TRIAL && first + t < n; t++) {
            double *f = X + (first + t) * CP_FEATURES, u = 0.0, before[4] = {x[0], x[1], x[2], x[3]};
            for (int i = 0; i < 4; i++) u += (first == 0 ? 1.2 : 0.5) * sin(rate[i] * t / 30.0 + phase[i]);
            if (first > 0) {
                double energy = 0.5 * x[3] * x[3] / 3.0 * 2.0 - 9.81 * cos(x[2]);
                u += gain * (9.81 - energy) * (x[3] * cos(x[2]) < 0.0 ? 1.0 : -1.0) * 0.6 - 2.0 * x[0] -
                     1.0 * x[1];
            }
            u    = 10.0 * tanh(u / 10.0);
            f[0] = x[0];
            f[1] = x[1];
            f[2] = x[3];
            f[3] = sin(x[2]);
            f[4] = cos(x[2]);
            f[5] = u;
            cp_advance(x, u);
            y0[first + t] = x[1] - before[1] + noise * mcp_rand_normal(&r);
            y1[first + t] = x[3] - before[3] + noise * mcp_rand_normal(&r);
        }
    }
}

#endif
