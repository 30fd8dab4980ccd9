/* smooth.c - central difference, zero-phase Butterworth, Savitzky-Golay. */
#include "estimate/smooth.h"

#include <string.h>

#include "control/filter.h"

void mcp_central_difference(int n, const double *q, double ts, double *v)
{
    if (n < 2) {
        if (n) v[0] = 0.0;
        return;
    }
    for (int k = 1; k + 1 < n; k++) v[k] = (q[k + 1] - q[k - 1]) / (2.0 * ts);
    v[0]     = (q[1] - q[0]) / ts;
    v[n - 1] = (q[n - 1] - q[n - 2]) / ts;
}

size_t mcp_filtfilt_work(int n, int order)
{
    return (size_t)n + 6 * ((size_t)order + 1);
}

/* One pass in place (direct form II transposed), from the state a constant x[0] would have left. All sections
 * have unit gain at zero frequency, so that constant is the same in front of each. */
static void pass(int sections, const mcp_biquad *s, int n, double *x, int step)
{
    for (int j = 0; j < sections; j++) {
        const mcp_biquad *f = &s[j];
        double z2 = (f->b2 - f->a2) * x[0], z1 = (f->b1 - f->a1) * x[0] + z2;
        double *p = x;
        for (int k = 0; k < n; k++, p += step) {
            double in = *p, out = f->b0 * in + z1;
            z1 = f->b1 * in - f->a1 * out + z2;
            z2 = f->b2 * in - f->a2 * out;
            *p = out;
        }
    }
}

void mcp_filtfilt(int order, double cutoff, int n, const double *q, double *y, double *work)
{
    mcp_biquad section[MCP_FILTER_ORDER_MAX / 2 + 1];
    int        sections = mcp_butterworth(order, cutoff, section);
    int        pad = 3 * (order + 1) < n ? 3 * (order + 1) : n - 1, all = n + 2 * pad;
    if (n < 1) return;
    for (int k = 0; k < pad; k++) {
        work[k]           = 2.0 * q[0] - q[pad - k];
        work[pad + n + k] = 2.0 * q[n - 1] - q[n - 2 - k];
    }
    memcpy(work + pad, q, (size_t)n * sizeof *q);
    pass(sections, section, all, work, 1);
    pass(sections, section, all, work + all - 1, -1);
    memcpy(y, work + pad, (size_t)n * sizeof *y);
}

/* Fit over q[0 .. 2m], evaluated at s (in samples from the middle). The polynomials orthogonal on -m .. m
 * follow p_{k+1}(s) = s p_k(s) - (|p_k|^2/|p_{k-1}|^2) p_{k-1}(s); the fit is sum_k <q, p_k>/|p_k|^2 p_k(s).
 */
static void fit(int order, int m, const double *q, double s, double *value, double *slope)
{
    double b[32] = {0.0}, norm_before = 0.0;
    double at_before = 0.0, at = 1.0, d_before = 0.0, d = 0.0; /* p_{k-1}(s), p_k(s) and their derivatives */
    *value = *slope = 0.0;
    for (int k = 0; k <= order; k++) {
        double norm = 0.0, dot = 0.0;
        for (int j = -m; j <= m; j++) {
            double before = 0.0, p = 1.0;
            for (int i = 0; i < k; i++) {
                double next = j * p - b[i] * before;
                before = p;
                p      = next;
            }
            norm += p * p;
            dot += p * q[j + m];
        }
        *value += dot / norm * at;
        *slope += dot / norm * d;
        b[k] = k ? norm / norm_before : 0.0;
        norm_before = norm;
        double at_next = s * at - b[k] * at_before, d_next = at + s * d - b[k] * d_before;
        at_before = at;
        at = at_next;
        d_before = d;
        d = d_next;
    }
}

void mcp_savgol(int order, int window, int n, const double *q, double ts, double *value, double *slope)
{
    int m = window / 2;
    for (int k = 0; k < n; k++) {
        int    middle = k < m ? m : k > n - 1 - m ? n - 1 - m : k;
        double y, dy;
        fit(order, m, q + middle - m, k - middle, &y, &dy);
        if (value) value[k] = y;
        if (slope) slope[k] = dy / ts;
    }
}
