/* rts.c - Kalman filter forwards, Rauch-Tung-Striebel backwards, for x = (position, velocity):
 *   x+ = F x + G a,  a ~ N(0, drive^2),  F = [1 ts; 0 1],  G = [ts^2/2; ts]      q = x_1 + e,  e ~ N(0, r^2)
 *   backwards: J = P F^T (P-)^-1,  x_s = x + J (x_s+ - F x),  P_s = P + J (P_s+ - P-) J^T,  Cov(x_s+, x_s) = P_s+ J^T
 * so the error of the change x_s+ - x_s has covariance P_s+ + P_s - P_s+ J^T - J P_s+. Symmetric 2x2: (11, 12, 22). */
#include <math.h>

#include "estimate/smooth.h"

enum { ROW = 8 }; /* x (2), P (3), P- of the next sample (3) */

size_t mcp_rts_work(int n)
{
    return (size_t)n * ROW;
}

static void forward(int n, const double *q, double ts, double drive, double r, double *row)
{
    double a2 = drive * drive, r2 = r * r;
    double x = q[0], v = 0.0;
    double p11 = r2, p12 = 0.0, p22 = 1e6 * (r2 / (ts * ts) + a2 * ts * ts); /* velocity all but unknown */
    for (int k = 0; k < n; k++, row += ROW) {
        if (k) {
            double s = p11 + r2, g1 = p11 / s, g2 = p12 / s, e = q[k] - x;
            x += g1 * e;
            v += g2 * e;
            p22 -= g2 * p12;
            p12 *= r2 / s;
            p11 *= r2 / s;
        }
        row[0] = x, row[1] = v, row[2] = p11, row[3] = p12, row[4] = p22;
        x += ts * v;
        p11 += 2.0 * ts * p12 + ts * ts * p22 + a2 * ts * ts * ts * ts / 4.0;
        p12 += ts * p22 + a2 * ts * ts * ts / 2.0;
        p22 += a2 * ts * ts;
        row[5] = p11, row[6] = p12, row[7] = p22;
    }
}

void mcp_rts(int n, const double *q, double ts, double drive, double r, double *position, double *velocity, double change[2],
             double *work)
{
    change[0] = change[1] = 0.0;
    if (n < 1) return;
    forward(n, q, ts, drive, r, work);
    const double *last = work + (size_t)(n - 1) * ROW;
    double        s11 = last[2], s12 = last[3], s22 = last[4], sum[2] = {0.0, 0.0};
    position[n - 1] = last[0];
    velocity[n - 1] = last[1];
    for (int k = n - 2; k >= 0; k--) {
        const double *w = work + (size_t)k * ROW;
        double det = w[5] * w[7] - w[6] * w[6];
        double f11 = w[2] + ts * w[3], f12 = w[3], f21 = w[3] + ts * w[4], f22 = w[4]; /* P F^T */
        double j11 = (f11 * w[7] - f12 * w[6]) / det, j12 = (f12 * w[5] - f11 * w[6]) / det;
        double j21 = (f21 * w[7] - f22 * w[6]) / det, j22 = (f22 * w[5] - f21 * w[6]) / det;
        double e1 = position[k + 1] - (w[0] + ts * w[1]), e2 = velocity[k + 1] - w[1];
        position[k] = w[0] + j11 * e1 + j12 * e2;
        velocity[k] = w[1] + j21 * e1 + j22 * e2;

        double c11 = s11 * j11 + s12 * j12, c22 = s12 * j21 + s22 * j22; /* diagonal of P_s+ J^T */
        double d11 = s11 - w[5], d12 = s12 - w[6], d22 = s22 - w[7];
        double n11 = w[2] + j11 * (d11 * j11 + d12 * j12) + j12 * (d12 * j11 + d22 * j12);
        double n12 = w[3] + j21 * (d11 * j11 + d12 * j12) + j22 * (d12 * j11 + d22 * j12);
        double n22 = w[4] + j21 * (d11 * j21 + d12 * j22) + j22 * (d12 * j21 + d22 * j22);
        sum[0] += fmax(0.0, s11 + n11 - 2.0 * c11);
        sum[1] += fmax(0.0, s22 + n22 - 2.0 * c22);
        s11 = n11, s12 = n12, s22 = n22;
    }
    for (int i = 0; i < 2 && n > 1; i++) change[i] = sqrt(sum[i] / (n - 1));
}
