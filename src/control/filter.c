/* filter.c - Butterworth and Kalman designs. */
#include "control/filter.h"

#include <math.h>
#include <string.h>

/* Analog prototype with poles on a circle of radius w = tan(pi cutoff/2): pairs s^2 + 2 zeta w s + w^2, and s
 * + w when the order is odd; s = (1 - 1/z)/(1 + 1/z). */
int mcp_butterworth(int order, double cutoff, mcp_biquad *section)
{
    double w = cutoff == 0.5 ? 1.0 : tan(0.5 * M_PI * cutoff); /* tan(pi/4) is not 1 in floating point */
    int    n = 0;
    if (order % 2)
        section[n++] = (mcp_biquad){.b0 = w / (1.0 + w), .b1 = w / (1.0 + w), .a1 = (w - 1.0) / (w + 1.0)};
    for (int k = 0; k < order / 2; k++) {
        double zeta = sin(M_PI * (2 * k + 1) / (2.0 * order));
        double d    = 1.0 + 2.0 * zeta * w + w * w;
        double b    = w * w / d;
        section[n++] =
            (mcp_biquad){b, 2.0 * b, b, 2.0 * (w * w - 1.0) / d, (1.0 - 2.0 * zeta * w + w * w) / d};
    }
    return n;
}

void mcp_kalman_model(int n, double ts, double drive, double *F, double *Q)
{
    double G[3] = {0.5 * ts * ts, ts, 0.0};
    memset(F, 0, (size_t)(n * n) * sizeof *F);
    for (int i = 0; i < n; i++) F[i * n + i] = 1.0;
    for (int i = 0; i + 1 < n; i++) F[i * n + i + 1] = ts;
    if (n == 3) {
        F[2] = 0.5 * ts * ts;
        G[0] = ts * ts * ts / 6.0;
        G[1] = 0.5 * ts * ts;
        G[2] = ts;
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) Q[i * n + j] = G[i] * G[j] * drive * drive;
}

/* P = F C F^T + Q */
static void predict(int n, const double *F, const double *Q, const double *C, double *P)
{
    double A[9] = {0};
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++) A[i * n + j] += F[i * n + k] * C[k * n + j];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            P[i * n + j] = Q[i * n + j];
            for (int k = 0; k < n; k++) P[i * n + j] += A[i * n + k] * F[j * n + k];
        }
}

/* What moves a coordinate of n numbers. */
typedef struct {
    int    n;
    double ts, F[9], Q[9];
} motion;

static int steady(const motion *m, double noise, double *gain, double *covariance)
{
    const int     n = m->n;
    const double  ts = m->ts, R = noise * noise, *F = m->F, *Q = m->Q;
    double        C[9] = {0.0}, P[9];
    for (int i = 0; i < n; i++) {
        C[i * n + i] = R / pow(ts, 2.0 * i);
        gain[i]      = 0.0;
    }
    for (int it = 1; it <= 2000000; it++) {
        double change = 0.0, size = 0.0;
        predict(n, F, Q, C, P);
        for (int i = 0; i < n; i++) {
            double g = P[i * n] / (P[0] + R);
            double s = pow(ts, i); /* in units of one sample, so that all gains count alike */
            change   = fmax(change, fabs(g - gain[i]) * s);
            size     = fmax(size, fabs(g) * s);
            gain[i]  = g;
        }
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) C[i * n + j] = P[i * n + j] - gain[i] * P[j];
        if (it > 2 * n && change <= 1e-15 * size) {
            if (covariance) memcpy(covariance, C, (size_t)(n * n) * sizeof *C);
            return it;
        }
    }
    return 0;
}

int mcp_kalman_steady(int n, double ts, double drive, double noise, double *gain, double *covariance)
{
    motion m = {.n = n, .ts = ts};
    mcp_kalman_model(n, ts, drive, m.F, m.Q);
    return steady(&m, noise, gain, covariance);
}

int mcp_backward_steady(double ts, double change, double noise, double gain[2])
{
    const double w = change * change;
    motion       m = {.n = 2, .ts = ts, .F = {1.0, ts, 0.0, 1.0}, .Q = {ts * ts * w, ts * w, ts * w, w}};
    gain[0] = 1.0;
    gain[1] = 1.0 / ts;
    return noise > 0.0 ? steady(&m, noise, gain, NULL) : 1;
}
