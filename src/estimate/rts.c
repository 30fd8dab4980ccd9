/* rts.c - Kalman filter forwards, Rauch-Tung-Striebel backwards, for x = (position, velocity):
 *   x+ = F x + G a,  a ~ N(0, drive^2),  F = [1 ts; 0 1],  G = [ts^2/2; ts]      q = x_1 + e,  e ~ N(0, r^2)
 *   backwards: J = P F^T (P-)^-1,  x_s = x + J (x_s+ - F x),  P_s = P + J (P_s+ - P-) J^T,
 *     Cov(x_s+, x_s) = P_s+ J^T
 * so the error of the change x_s+ - x_s has covariance P_s+ + P_s - P_s+ J^T - J P_s+. Symmetric 2x2:
 * (11, 12, 22). */
#include <math.h>

#include "estimate/smooth.h"

enum { ROW = 8 }; /* x (2), P (3), P- of the next sample (3) */

size_t mcp_rts_work(int n)
{
    return (size_t)n * ROW;
}

/* Starts at sample 1 with what two measurements say of a motion about which nothing is known:
 *   x = (q1, (q1 - q0)/ts),  errors -e1 and ts a0/2 - (e1 - e0)/ts. */
static void forward(int n, const double *q, double ts, double drive, double r, double *row)
{
    double a2 = drive * drive, r2 = r * r;
    double x = q[1], v = (q[1] - q[0]) / ts;
    double p11 = r2, p12 = r2 / ts, p22 = 2.0 * r2 / (ts * ts) + 0.25 * ts * ts * a2;
    row += ROW;
    for (int k = 1; k < n; k++, row += ROW) {
        if (k > 1) {
            double s = p11 + r2, g1 = p11 / s, g2 = p12 / s, e = q[k] - x;
            x += g1 * e;
            v += g2 * e;
            p22 -= g2 * p12;
            p12 *= r2 / s;
            p11 *= r2 / s;
        }
        row[0] = x;
        row[1] = v;
        row[2] = p11;
        row[3] = p12;
        row[4] = p22;
        x += ts * v;
        p11 += 2.0 * ts * p12 + ts * ts * p22 + a2 * ts * ts * ts * ts / 4.0;
        p12 += ts * p22 + a2 * ts * ts * ts / 2.0;
        p22 += a2 * ts * ts;
        row[5] = p11;
        row[6] = p12;
        row[7] = p22;
    }
}

typedef struct {
    double j11, j12, j21, j22; /* J */
    double c11, c12, c22;      /* covariance of x given x+ and the measurements up to x */
    double x, v;               /* mean of x given x+ = 0 */
} back;

/* x given x+: c = P - J P- J^T. */
static back step_back(const double *w, double ts)
{
    double det = w[5] * w[7] - w[6] * w[6];
    double f11 = w[2] + ts * w[3], f12 = w[3], f21 = w[3] + ts * w[4], f22 = w[4]; /* P F^T */
    back   b;
    b.j11 = (f11 * w[7] - f12 * w[6]) / det;
    b.j12 = (f12 * w[5] - f11 * w[6]) / det;
    b.j21 = (f21 * w[7] - f22 * w[6]) / det;
    b.j22 = (f22 * w[5] - f21 * w[6]) / det;
    b.c11 = w[2] - (b.j11 * f11 + b.j12 * f12);
    b.c12 = w[3] - (b.j11 * f21 + b.j12 * f22);
    b.c22 = w[4] - (b.j21 * f21 + b.j22 * f22);
    b.x   = w[0] - b.j11 * (w[0] + ts * w[1]) - b.j12 * w[1];
    b.v   = w[1] - b.j21 * (w[0] + ts * w[1]) - b.j22 * w[1];
    return b;
}

/* The first sample: x0 = F^-1 (x1 - G a), where q0 tells of the acceleration a once x1 is known. */
static back first_back(double q0, double ts, double drive, double r)
{
    double h = 0.5 * ts * ts, s = h * h * drive * drive + r * r, gain = h * drive * drive / s;
    double rest = drive * drive * r * r / s;                     /* variance of a that is left */
    back b = {1.0 - h * gain, -ts + h * ts * gain, ts * gain,     1.0 - ts * ts * gain, h * h * rest,
              -h * ts * rest, ts * ts * rest,      h * gain * q0, -ts * gain * q0};
    return b;
}

void mcp_rts(const mcp_rts_model *m, int n, const double *q, double *position, double *velocity,
             double change[2], double *work)
{
    const double ts = m->ts, drive = m->drive, r = m->noise;
    change[0] = change[1] = 0.0;
    if (n < 1) return;
    position[0] = q[0];
    velocity[0] = 0.0;
    if (n < 2) return;
    forward(n, q, ts, drive, r, work);
    const double *last = work + (size_t)(n - 1) * ROW;
    double        s11 = last[2], s12 = last[3], s22 = last[4], sum[2] = {0.0, 0.0};
    position[n - 1] = last[0];
    velocity[n - 1] = last[1];
    for (int k = n - 2; k >= 0; k--) {
        back b = k ? step_back(work + (size_t)k * ROW, ts) : first_back(q[0], ts, drive, r);
        position[k] = b.x + b.j11 * position[k + 1] + b.j12 * velocity[k + 1];
        velocity[k] = b.v + b.j21 * position[k + 1] + b.j22 * velocity[k + 1];

        double u11 = s11 * b.j11 + s12 * b.j12, u12 = s11 * b.j21 + s12 * b.j22; /* P_s+ J^T */
        double u21 = s12 * b.j11 + s22 * b.j12, u22 = s12 * b.j21 + s22 * b.j22;
        double n11 = b.c11 + b.j11 * u11 + b.j12 * u21;
        double n12 = b.c12 + b.j11 * u12 + b.j12 * u22;
        double n22 = b.c22 + b.j21 * u12 + b.j22 * u22;
        sum[0] += fmax(0.0, s11 + n11 - 2.0 * u11);
        sum[1] += fmax(0.0, s22 + n22 - 2.0 * u22);
        s11 = n11;
        s12 = n12;
        s22 = n22;
    }
    for (int i = 0; i < 2; i++) change[i] = sqrt(sum[i] / (n - 1));
}
