/* network.c - moments of a deterministic radial basis network of a Gaussian vector, and their adjoint; the
 * policy.
 *
 *   phi_i(x) = exp(-(x-c_i)^T L^-1 (x-c_i)/2),  L = diag(lambda);  outputs w phi
 *   q_i  = E phi_i         = |S L^-1 + I|^-1/2 exp(-zeta_i^T G zeta_i/2),
 *     zeta_i = c_i - m, G = (S + L)^-1
 *   Q_ij = E phi_i phi_j   = exp(-d^T L^-1 d/4) |2 S L^-1 + I|^-1/2 exp(-zeta^T H zeta/2),
 *          d = c_i - c_j, zeta = (zeta_i + zeta_j)/2, H = (S + L/2)^-1        (product of two Gaussians)
 *   M = w q,   V = w Q w^T - M M^T,   C = sum_i w_i q_i G zeta_i              (Stein)
 * Deisenroth, Fox, Rasmussen 2015, equations 14 to 19 without the model's own uncertainty.
 * work: G [n][n], H [n][n], scratch [n][n] + n, q [b], t [b][n], Q [b][b]. */
#include <math.h>
#include <string.h>

#include "baseline/pilco/moments.h"
#include "baseline/pilco/small.h"

typedef struct {
    double *G, *H, *scratch, *q, *t, *Q, *tau, *h;
} parts;

static parts split(int n, int b, double *work)
{
    parts p;
    p.G = work;
    p.H = p.G + n * n;
    p.scratch = p.H + n * n;
    p.q = p.scratch + n * n + n;
    p.t = p.q + b;
    p.Q = p.t + b * n;
    p.tau = p.Q + b * b;
    p.h = p.tau + n;
    return p;
}

int mcp_network_work(int n, int b) { return 3 * n * n + n + b + b * n + b * b + 3 * n; }

/* A = (S + scale L)^-1 and log |S (scale L)^-1 + I|. */
static mcp_status shifted_inverse(int n, const double *S, double scale, const double *lambda, double *A,
                                  double *logdet, double *scratch, mcp_error *err)
{
    mcp_status st;
    memcpy(A, S, (size_t)(n * n) * sizeof *A);
    for (int d = 0; d < n; d++) A[d * n + d] += scale * lambda[d];
    if ((st = mcp_small_inverse(n, A, logdet, scratch, err)) != MCP_OK) return st;
    for (int d = 0; d < n; d++) *logdet -= log(scale * lambda[d]);
    return MCP_OK;
}

/* tau = A zeta; returns zeta^T A zeta. */
static double form(int n, const double *A, const double *zeta, double *tau)
{
    double s = 0;
    for (int d = 0; d < n; d++) {
        tau[d] = 0;
        for (int e = 0; e < n; e++) tau[d] += A[d * n + e] * zeta[e];
        s += zeta[d] * tau[d];
    }
    return s;
}

mcp_status mcp_network_forward(const mcp_network *net, const mcp_gauss *x, const mcp_moments *out,
                               double *work, mcp_error *err)
{
    const int     n = net->n, b = net->b, o = net->o;
    const double *w = net->w, *c = net->c, *lambda = net->lambda, *m = x->m, *S = x->S;
    double       *M = out->M, *V = out->V, *C = out->C;
    parts      p = split(n, b, work);
    double     ld1, ld2;
    mcp_status st;
    if ((st = shifted_inverse(n, S, 1, lambda, p.G, &ld1, p.scratch, err)) != MCP_OK) return st;
    if ((st = shifted_inverse(n, S, 0.5, lambda, p.H, &ld2, p.scratch, err)) != MCP_OK) return st;
    memset(M, 0, (size_t)o * sizeof *M);
    memset(V, 0, (size_t)(o * o) * sizeof *V);
    memset(C, 0, (size_t)(n * o) * sizeof *C);
    for (int i = 0; i < b; i++) {
        for (int d = 0; d < n; d++) p.h[d] = c[i * n + d] - m[d];
        p.q[i] = exp(-0.5 * ld1 - 0.5 * form(n, p.G, p.h, p.t + i * n));
        for (int a = 0; a < o; a++) {
            double s = w[a * b + i] * p.q[i];
            M[a] += s;
            for (int d = 0; d < n; d++) C[d * o + a] += s * p.t[i * n + d];
        }
        for (int j = 0; j <= i; j++) {
            double far = 0;
            for (int d = 0; d < n; d++) {
                double e = c[i * n + d] - c[j * n + d];
                far += e * e / lambda[d];
                p.h[d] = 0.5 * (c[i * n + d] + c[j * n + d]) - m[d];
            }
            p.Q[i * b + j] = p.Q[j * b + i] = exp(-0.25 * far - 0.5 * ld2 - 0.5 * form(n, p.H, p.h, p.tau));
        }
    }
    for (int a = 0; a < o; a++)
        for (int e = 0; e < o; e++) {
            double s = 0;
            for (int i = 0; i < b; i++)
                for (int j = 0; j < b; j++) s += w[a * b + i] * p.Q[i * b + j] * w[e * b + j];
            V[a * o + e] = s - M[a] * M[e];
        }
    return MCP_OK;
}

/* The part through q and G zeta: M and C. M_bar here already has V's share of it. */
static void back_first(const mcp_network *net, const double *M_bar, const double *C_bar, const parts *p,
                       const mcp_gauss_bar *x_bar, const mcp_network_bar *net_bar)
{
    const int     n = net->n, b = net->b, o = net->o;
    const double *w = net->w, *lambda = net->lambda;
    double       *m_bar = x_bar->m, *S_bar = x_bar->S;
    double       *w_bar = net_bar->w, *c_bar = net_bar->c, *lambda_bar = net_bar->lambda;
    for (int i = 0; i < b; i++) {
        const double *t = p->t + i * n;
        double        e = 0;
        memset(p->h, 0, (size_t)n * sizeof *p->h);
        for (int a = 0; a < o; a++) {
            double s = M_bar[a];
            for (int d = 0; d < n; d++) {
                s += C_bar[d * o + a] * t[d];
                p->h[d] += w[a * b + i] * C_bar[d * o + a];
            }
            w_bar[a * b + i] += p->q[i] * s;
            e += w[a * b + i] * s;
        }
        form(n, p->G, p->h, p->tau); /* tau = G h, G symmetric */
        for (int d = 0; d < n; d++) {
            double g = p->q[i] * (p->tau[d] - e * t[d]);
            c_bar[i * n + d] += g;
            m_bar[d] -= g;
            for (int f = 0; f < n; f++) {
                double s = p->q[i] * (0.5 * e * (t[d] * t[f] - p->G[d * n + f]) - p->tau[d] * t[f]);
                S_bar[d * n + f] += s;
                if (d == f) lambda_bar[d] += s + 0.5 * p->q[i] * e / lambda[d];
            }
        }
    }
}

/* The part through Q. U [o][o] is V_bar + V_bar^T. */
static void back_second(const mcp_network *net, const double *m, const double *V_bar, const parts *p,
                        const mcp_gauss_bar *x_bar, const mcp_network_bar *net_bar)
{
    const int     n = net->n, b = net->b, o = net->o;
    const double *w = net->w, *c = net->c, *lambda = net->lambda;
    double       *m_bar = x_bar->m, *S_bar = x_bar->S;
    double       *w_bar = net_bar->w, *c_bar = net_bar->c, *lambda_bar = net_bar->lambda;
    for (int i = 0; i < b; i++)
        for (int j = 0; j < b; j++) {
            double P = 0;
            for (int a = 0; a < o; a++)
                for (int e = 0; e < o; e++) {
                    P += V_bar[a * o + e] * w[a * b + i] * w[e * b + j];
                    w_bar[a * b + i] +=
                        (V_bar[a * o + e] + V_bar[e * o + a]) * p->Q[i * b + j] * w[e * b + j];
                }
            P *= p->Q[i * b + j];
            for (int d = 0; d < n; d++) p->h[d] = 0.5 * (c[i * n + d] + c[j * n + d]) - m[d];
            form(n, p->H, p->h, p->tau);
            for (int d = 0; d < n; d++) {
                double e = c[i * n + d] - c[j * n + d], half = 0.5 * P * e / lambda[d];
                m_bar[d] += P * p->tau[d];
                c_bar[i * n + d] -= 0.5 * P * p->tau[d] + half;
                c_bar[j * n + d] -= 0.5 * P * p->tau[d] - half;
                lambda_bar[d] += 0.5 * half * e / lambda[d] + 0.5 * P / lambda[d] +
                                 0.25 * P * (p->tau[d] * p->tau[d] - p->H[d * n + d]);
                for (int f = 0; f < n; f++)
                    S_bar[d * n + f] += 0.5 * P * (p->tau[d] * p->tau[f] - p->H[d * n + f]);
            }
        }
}

void mcp_network_backward(const mcp_network *net, const mcp_gauss *x, const double *M,
                          const mcp_moments_bar *out_bar, double *work, const mcp_gauss_bar *x_bar,
                          const mcp_network_bar *net_bar)
{
    const int     o = net->o;
    const double *V_bar = out_bar->V;
    parts         p = split(net->n, net->b, work);
    double       *Mb = p.scratch; /* at least n*n + n long; o <= inputs of any policy we build */
    for (int a = 0; a < o; a++) {
        Mb[a] = out_bar->M[a];
        for (int e = 0; e < o; e++) Mb[a] -= (V_bar[a * o + e] + V_bar[e * o + a]) * M[e];
    }
    back_first(net, Mb, out_bar->C, &p, x_bar, net_bar);
    back_second(net, x->m, V_bar, &p, x_bar, net_bar);
}
