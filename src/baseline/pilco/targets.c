/* targets.c - pseudo-targets to weights and back.
 *   w = A^-1 y, A = K + noise:   y_bar = A^-1 w_bar,  A_bar = -y_bar w^T,
 *     dK_ij/dc_i = -2 K_ij (c_i - c_j)/l^2 */
#include "baseline/pilco/targets.h"

#include <math.h>
#include <string.h>

#include "math/linalg.h"

static const double target_noise = 0.01;

static void kernel(int nu, int b, int f, const double *x, double *K)
{
    const double *c = x + nu * b, *log_l = c + b * f;
    for (int i = 0; i < b; i++)
        for (int j = 0; j < b; j++) {
            double d = 0;
            for (int k = 0; k < f; k++) d += pow((c[i * f + k] - c[j * f + k]) * exp(-log_l[k]), 2);
            K[i * b + j] = exp(-d);
        }
}

mcp_status mcp_targets_forward(const mcp_targets *t, const double *x)
{
    const int     nu = t->nu, b = t->b, f = t->f;
    double       *w = t->w, *lambda = t->lambda, *K = t->K, *L = t->L;
    const double *log_l = x + nu * b + b * f;
    mcp_status    st;
    kernel(nu, b, f, x, K);
    memcpy(L, K, (size_t)(b * b) * sizeof *L);
    for (int i = 0; i < b; i++) L[i * b + i] += target_noise * target_noise;
    if ((st = mcp_cholesky(b, L, b, NULL)) != MCP_OK) return st;
    memcpy(w, x, (size_t)(nu * b) * sizeof *w);
    mcp_cholesky_solve(b, L, b, nu, w);
    for (int k = 0; k < f; k++) lambda[k] = 0.5 * exp(2 * log_l[k]);
    return MCP_OK;
}

void mcp_targets_backward(const mcp_targets *t, const double *x, const double *w_bar,
                          const double *lambda_bar, double *x_bar)
{
    const int     nu = t->nu, b = t->b, f = t->f;
    const double *w = t->w, *lambda = t->lambda, *K = t->K, *L = t->L;
    const double *c = x + nu * b, *log_l = c + b * f;
    double       *c_bar = x_bar + nu * b, *l_bar = c_bar + b * f;
    memcpy(x_bar, w_bar, (size_t)(nu * b) * sizeof *x_bar);
    mcp_cholesky_solve(b, L, b, nu, x_bar);
    for (int k = 0; k < f; k++) l_bar[k] = 2 * lambda[k] * lambda_bar[k];
    for (int i = 0; i < b; i++)
        for (int j = 0; j < b; j++) {
            double k_bar = 0;
            for (int a = 0; a < nu; a++) k_bar -= x_bar[a * b + i] * w[a * b + j];
            k_bar *= K[i * b + j];
            for (int k = 0; k < f; k++) {
                double il2 = exp(-2 * log_l[k]), d = c[i * f + k] - c[j * f + k];
                c_bar[i * f + k] -= 2 * k_bar * d * il2;
                c_bar[j * f + k] += 2 * k_bar * d * il2;
                l_bar[k] += 2 * k_bar * d * d * il2;
            }
        }
}

void mcp_targets_from_weights(int nu, int b, int f, const double *w, double *x, double *K)
{
    kernel(nu, b, f, x, K);
    for (int a = 0; a < nu; a++)
        for (int i = 0; i < b; i++) {
            double s = target_noise * target_noise * w[a * b + i];
            for (int j = 0; j < b; j++) s += K[i * b + j] * w[a * b + j];
            x[a * b + i] = s;
        }
}
