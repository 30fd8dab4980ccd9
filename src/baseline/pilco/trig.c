/* trig.c - moments of sines and cosines of a Gaussian vector.
 *
 *   E sin x = exp(-s/2) sin m,  E cos x = exp(-s/2) cos m,  cov(x, sin x_a) = S[.,a] E cos x_a  (Stein)
 *   2 cov(sin a, sin b) = d [ (e^c - 1) cos(ma-mb) - (e^-c - 1) cos(ma+mb) ]
 *     d = exp(-(sa+sb)/2), c = cov(a, b)
 *   2 cov(cos a, cos b) = d [ (e^c - 1) cos(ma-mb) + (e^-c - 1) cos(ma+mb) ]
 *   2 cov(sin a, cos b) = d [ (e^c - 1) sin(ma-mb) + (e^-c - 1) sin(ma+mb) ]
 * written with expm1: nothing cancels when S is small. */
#include <math.h>

#include "baseline/pilco/moments.h"

/* One covariance and its derivative in (ma, mb, sa, sb, c). */
typedef struct {
    double v, ma, mb, s, c; /* derivative in sa equals that in sb */
} cov5;

static cov5 cov_sin_sin(double ma, double mb, double sa, double sb, double c)
{
    double d = 0.5 * exp(-0.5 * (sa + sb)), p = expm1(c), q = expm1(-c), ep = d * (p + 1), eq = d * (q + 1);
    double cm = cos(ma - mb), cp = cos(ma + mb), sm = sin(ma - mb), sp = sin(ma + mb);
    cov5   r = {.v = d * (p * cm - q * cp), .c = ep * cm + eq * cp};
    r.ma = d * (-p * sm + q * sp);
    r.mb = d * (p * sm + q * sp);
    r.s = -0.5 * r.v;
    return r;
}

static cov5 cov_cos_cos(double ma, double mb, double sa, double sb, double c)
{
    double d = 0.5 * exp(-0.5 * (sa + sb)), p = expm1(c), q = expm1(-c), ep = d * (p + 1), eq = d * (q + 1);
    double cm = cos(ma - mb), cp = cos(ma + mb), sm = sin(ma - mb), sp = sin(ma + mb);
    cov5   r = {.v = d * (p * cm + q * cp), .c = ep * cm - eq * cp};
    r.ma = d * (-p * sm - q * sp);
    r.mb = d * (p * sm - q * sp);
    r.s = -0.5 * r.v;
    return r;
}

static cov5 cov_sin_cos(double ma, double mb, double sa, double sb, double c)
{
    double d = 0.5 * exp(-0.5 * (sa + sb)), p = expm1(c), q = expm1(-c), ep = d * (p + 1), eq = d * (q + 1);
    double cm = cos(ma - mb), cp = cos(ma + mb), sm = sin(ma - mb), sp = sin(ma + mb);
    cov5   r = {.v = d * (p * sm + q * sp), .c = ep * sm - eq * sp};
    r.ma = d * (p * cm + q * cp);
    r.mb = d * (-p * cm + q * cp);
    r.s = -0.5 * r.v;
    return r;
}

void mcp_trig_forward(const mcp_gauss *x, int k, const int *angle, const mcp_moments *out)
{
    const int     n = x->n;
    const double *m = x->m, *S = x->S;
    double       *M = out->M, *V = out->V, *C = out->C;
    for (int i = 0; i < n * 2 * k; i++) C[i] = 0;
    for (int i = 0; i < k; i++) {
        int    a = angle[i];
        double sa = S[a * n + a], f = exp(-0.5 * sa);
        M[2 * i] = f * sin(m[a]);
        M[2 * i + 1] = f * cos(m[a]);
        C[a * 2 * k + 2 * i] = M[2 * i + 1];
        C[a * 2 * k + 2 * i + 1] = -M[2 * i];
        for (int j = 0; j < k; j++) {
            int    b = angle[j];
            double sb = S[b * n + b], c = S[a * n + b], *v = V + (2 * i) * 2 * k + 2 * j;
            v[0] = cov_sin_sin(m[a], m[b], sa, sb, c).v;
            v[1] = cov_sin_cos(m[a], m[b], sa, sb, c).v;
            v[2 * k] = cov_sin_cos(m[b], m[a], sb, sa, c).v;
            v[2 * k + 1] = cov_cos_cos(m[a], m[b], sa, sb, c).v;
        }
    }
}

static void add_cov(int n, cov5 r, double bar, int a, int b, double *m_bar, double *S_bar)
{
    m_bar[a] += bar * r.ma;
    m_bar[b] += bar * r.mb;
    S_bar[a * n + a] += bar * r.s;
    S_bar[b * n + b] += bar * r.s;
    S_bar[a * n + b] += bar * r.c;
}

void mcp_trig_backward(const mcp_gauss *x, int k, const int *angle, const mcp_moments_bar *out_bar,
                       const mcp_gauss_bar *x_bar)
{
    const int     n = x->n;
    const double *m = x->m, *S = x->S, *M_bar = out_bar->M, *V_bar = out_bar->V, *C_bar = out_bar->C;
    double       *m_bar = x_bar->m, *S_bar = x_bar->S;
    for (int i = 0; i < k; i++) {
        int    a = angle[i];
        double sa = S[a * n + a], f = exp(-0.5 * sa), es = f * sin(m[a]), ec = f * cos(m[a]);
        double s_bar = M_bar[2 * i] - C_bar[a * 2 * k + 2 * i + 1],
               c_bar = M_bar[2 * i + 1] + C_bar[a * 2 * k + 2 * i];
        m_bar[a] += s_bar * ec - c_bar * es;
        S_bar[a * n + a] += -0.5 * (s_bar * es + c_bar * ec);
        for (int j = 0; j < k; j++) {
            int           b = angle[j];
            double        sb = S[b * n + b], c = S[a * n + b];
            const double *v = V_bar + (2 * i) * 2 * k + 2 * j;
            add_cov(n, cov_sin_sin(m[a], m[b], sa, sb, c), v[0], a, b, m_bar, S_bar);
            add_cov(n, cov_sin_cos(m[a], m[b], sa, sb, c), v[1], a, b, m_bar, S_bar);
            add_cov(n, cov_sin_cos(m[b], m[a], sb, sa, c), v[2 * k], b, a, m_bar, S_bar);
            add_cov(n, cov_cos_cos(m[a], m[b], sa, sb, c), v[2 * k + 1], a, b, m_bar, S_bar);
        }
    }
}

const mcp_sine_sum mcp_sine_plain = {1, {1, 0}, {1, 0}};
const mcp_sine_sum mcp_sine_squash = {2, {9.0 / 8, 1.0 / 8}, {1, 3}};

void mcp_sine_forward(const mcp_sine_sum *f, const mcp_gauss *x, int k, const int *index, const double *e,
                      const mcp_moments *out)
{
    const int     n = x->n;
    const double *m = x->m, *S = x->S;
    double       *M = out->M, *V = out->V, *C = out->C;
    for (int i = 0; i < n * k; i++) C[i] = 0;
    for (int i = 0; i < k; i++) {
        int    a = index[i];
        double sa = S[a * n + a], slope = 0;
        M[i] = 0;
        for (int h = 0; h < f->terms; h++) {
            double r = f->rate[h], g = e[i] * f->weight[h] * exp(-0.5 * r * r * sa);
            M[i] += g * sin(r * m[a]);
            slope += g * r * cos(r * m[a]);
        }
        C[a * k + i] = slope;
        for (int j = 0; j < k; j++) {
            int    b = index[j];
            double sum = 0;
            for (int h = 0; h < f->terms; h++)
                for (int l = 0; l < f->terms; l++) {
                    double r = f->rate[h], q = f->rate[l];
                    sum += f->weight[h] * f->weight[l] *
                           cov_sin_sin(r * m[a], q * m[b], r * r * sa, q * q * S[b * n + b],
                                       r * q * S[a * n + b])
                               .v;
                }
            V[i * k + j] = e[i] * e[j] * sum;
        }
    }
}

void mcp_sine_backward(const mcp_sine_sum *f, const mcp_gauss *x, int k, const int *index, const double *e,
                       const mcp_moments_bar *out_bar, const mcp_gauss_bar *x_bar)
{
    const int     n = x->n;
    const double *m = x->m, *S = x->S, *M_bar = out_bar->M, *V_bar = out_bar->V, *C_bar = out_bar->C;
    double       *m_bar = x_bar->m, *S_bar = x_bar->S;
    for (int i = 0; i < k; i++) {
        int    a = index[i];
        double sa = S[a * n + a];
        for (int h = 0; h < f->terms; h++) {
            double r = f->rate[h], g = e[i] * f->weight[h] * exp(-0.5 * r * r * sa);
            double s = g * sin(r * m[a]), c = g * cos(r * m[a]), cb = C_bar[a * k + i];
            m_bar[a] += M_bar[i] * r * c - cb * r * r * s;
            S_bar[a * n + a] += -0.5 * r * r * (M_bar[i] * s + cb * r * c);
        }
        for (int j = 0; j < k; j++) {
            int b = index[j];
            for (int h = 0; h < f->terms; h++)
                for (int l = 0; l < f->terms; l++) {
                    double r = f->rate[h], q = f->rate[l],
                           bar = V_bar[i * k + j] * e[i] * e[j] * f->weight[h] * f->weight[l];
                    cov5 d = cov_sin_sin(r * m[a], q * m[b], r * r * sa, q * q * S[b * n + b],
                                         r * q * S[a * n + b]);
                    m_bar[a] += bar * r * d.ma;
                    m_bar[b] += bar * q * d.mb;
                    S_bar[a * n + a] += bar * r * r * d.s;
                    S_bar[b * n + b] += bar * q * q * d.s;
                    S_bar[a * n + b] += bar * r * q * d.c;
                }
        }
    }
}
