/* systems.h - the three benchmark systems in plain C, for the tests. */
#ifndef SYSTEMS_H
#define SYSTEMS_H

#include <math.h>

typedef struct {
    double u[2], friction;
} system_input;

static void cartpole(void *context, const double *x, double *dx)
{
    const system_input *in = context;
    double mc = 0.5, mp = 0.5, l = 0.5, b = 0.1, g = 9.81, u = in->u[0];
    double s = sin(x[2]), c = cos(x[2]), den = 4 * (mc + mp) - 3 * mp * c * c, v = x[1], w = x[3];
    dx[0] = v;
    dx[1] = (2 * mp * l * w * w * s + 3 * mp * g * s * c + 4 * u - 4 * b * v) / den;
    dx[2] = w;
    dx[3] = (-3 * mp * l * w * w * s * c - 6 * (mc + mp) * g * s - 6 * (u - b * v) * c) / (l * den);
}

static void furuta(void *context, const double *x, double *dx)
{
    const system_input *in = context;
    double R = 8.4, k = 0.042, mp = 0.024, Lr = 0.085, lp = 0.129 / 2, g = 9.81;
    double Jp = 0.024 * 0.129 * 0.129 / 3, J0 = 0.095 * Lr * Lr / 3 + 4.6e-6 + mp * Lr * Lr;
    double al = x[1], dth = x[2], dal = x[3];
    double M11 = J0 + Jp * sin(al) * sin(al), M12 = mp * Lr * lp * cos(al), M22 = Jp;
    double tau = in->friction * (k * (in->u[0] - k * dth) / R - 2.7e-4 * dth);
    double r1 = tau - Jp * sin(2 * al) * dth * dal + mp * Lr * lp * sin(al) * dal * dal;
    double r2 = -in->friction * 5e-5 * dal + 0.5 * Jp * sin(2 * al) * dth * dth - mp * g * lp * sin(al);
    double det = M11 * M22 - M12 * M12;
    dx[0] = dth;
    dx[1] = dal;
    dx[2] = (M22 * r1 - M12 * r2) / det;
    dx[3] = (M11 * r2 - M12 * r1) / det;
}

static double furuta_energy(const double *x)
{
    double mp = 0.024, Lr = 0.085, lp = 0.129 / 2, g = 9.81;
    double Jp = 0.024 * 0.129 * 0.129 / 3, J0 = 0.095 * Lr * Lr / 3 + 4.6e-6 + mp * Lr * Lr;
    double al = x[1], dth = x[2], dal = x[3];
    return 0.5 * (J0 + Jp * sin(al) * sin(al)) * dth * dth + mp * Lr * lp * cos(al) * dth * dal + 0.5 * Jp * dal * dal -
           mp * g * lp * cos(al);
}

static void ballplate(void *context, const double *x, double *dx)
{
    const system_input *in = context;
    double k = 5.0 / 7, g = 9.81, c = 0.2, mu = 0.02, eps = 1e-3, Ts = 1.0 / 30;
    double da = in->u[0] / Ts, db = in->u[1] / Ts, a = x[4], b = x[5];
    double grip = mu * g * cos(a) * cos(b) / sqrt(x[2] * x[2] + x[3] * x[3] + eps * eps);
    dx[0] = x[2];
    dx[1] = x[3];
    dx[2] = k * (g * sin(a) + x[0] * da * da + x[1] * da * db) - c * x[2] - grip * x[2];
    dx[3] = k * (g * sin(b) + x[1] * db * db + x[0] * da * db) - c * x[3] - grip * x[3];
    dx[4] = da;
    dx[5] = db;
}

#endif
