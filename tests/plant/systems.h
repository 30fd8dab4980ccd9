/* systems.h - two benchmark systems in plain C, for the tests. */
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
    double dth = x[1], al = x[2], dal = x[3];
    double M11 = J0 + Jp * sin(al) * sin(al), M12 = mp * Lr * lp * cos(al), M22 = Jp;
    double tau = in->friction * (k * (in->u[0] - k * dth) / R - 2.7e-4 * dth);
    double r1 = tau - Jp * sin(2 * al) * dth * dal + mp * Lr * lp * sin(al) * dal * dal;
    double r2 = -in->friction * 5e-5 * dal + 0.5 * Jp * sin(2 * al) * dth * dth - mp * g * lp * sin(al);
    double det = M11 * M22 - M12 * M12;
    dx[0] = dth;
    dx[1] = (M22 * r1 - M12 * r2) / det;
    dx[2] = dal;
    dx[3] = (M11 * r2 - M12 * r1) / det;
}

static double furuta_energy(const double *x)
{
    double mp = 0.024, Lr = 0.085, lp = 0.129 / 2, g = 9.81;
    double Jp = 0.024 * 0.129 * 0.129 / 3, J0 = 0.095 * Lr * Lr / 3 + 4.6e-6 + mp * Lr * Lr;
    double dth = x[1], al = x[2], dal = x[3];
    return 0.5 * (J0 + Jp * sin(al) * sin(al)) * dth * dth + mp * Lr * lp * cos(al) * dth * dal +
           0.5 * Jp * dal * dal - mp * g * lp * cos(al);
}

#endif
