/* loss.c - saturating loss of a Gaussian vector (Deisenroth, Fox, Rasmussen, "Gaussian processes for
 * data-efficient learning in robotics and control", IEEE PAMI 2015, equations 25 to 29).
 *
 *   E[L] = 1 - |I + S W|^-1/2 exp(-(m-z)^T A (m-z)/2),     A = W (I + S W)^-1 (symmetric)
 *   E[(1-L)^2] = |I + 2 S W|^-1/2 exp(-(m-z)^T W (I + 2 S W)^-1 (m-z)) */
#include <math.h>
#include <string.h>

#include "baseline/pilco/moments.h"
#include "baseline/pilco/small.h"

typedef struct {
    int           n;
    const double *S, *W;
    double       *d;                  /* [n] m - z */
    double       *A, *Ad, *R, *work; /* [n][n], [n], scratch */
} quadratic;

/* |I + g S W|^-1/2 exp(-g (m-z)^T A (m-z)/2), A = W (I + g S W)^-1. */
static mcp_status term(const quadratic *k, double g, double *value, mcp_error *err)
{
    const int     n = k->n;
    const double *d = k->d;
    double       *A = k->A, *Ad = k->Ad, *R = k->R;
    double        logdet, q = 0;
    mcp_status st;
    memset(R, 0, (size_t)n * (size_t)n * sizeof *R);
    for (int i = 0; i < n; i++) R[i * n + i] = 1;
    mcp_small_add(n, n, n, g, k->S, k->W, R);
    if ((st = mcp_small_inverse(n, R, &logdet, k->work, err)) != MCP_OK) return st;
    memset(A, 0, (size_t)n * (size_t)n * sizeof *A);
    mcp_small_add(n, n, n, 1, k->W, R, A);
    for (int i = 0; i < n; i++) {
        Ad[i] = 0;
        for (int j = 0; j < n; j++) Ad[i] += 0.5 * (A[i * n + j] + A[j * n + i]) * d[j];
        q += d[i] * Ad[i];
    }
    *value = exp(-0.5 * logdet - 0.5 * g * q);
    return MCP_OK;
}

mcp_status mcp_loss_saturating(const mcp_gauss *x, const double *z, const double *W, const mcp_loss *out,
                               double *work, mcp_error *err)
{
    const int  n = x->n;
    size_t     nn = (size_t)n * (size_t)n;
    double    *A = work, *R = A + nn, *inv = R + nn, *d = inv + nn + n, *Ad = d + n, E, E2 = 0;
    double    *mean_dm = out->mean_dm, *mean_dS = out->mean_dS;
    quadratic  k = {.n = n, .S = x->S, .W = W, .d = d, .A = A, .Ad = Ad, .R = R, .work = inv};
    mcp_status st;
    for (int i = 0; i < n; i++) d[i] = x->m[i] - z[i];
    if (out->variance && (st = term(&k, 2, &E2, err)) != MCP_OK) return st;
    if ((st = term(&k, 1, &E, err)) != MCP_OK) return st;
    *out->mean = 1 - E;
    if (out->variance) *out->variance = E2 - E * E;
    for (int i = 0; mean_dm && i < n; i++) mean_dm[i] = E * Ad[i];
    for (int i = 0; mean_dS && i < n; i++)
        for (int j = 0; j < n; j++)
            mean_dS[i * n + j] = 0.5 * E * (0.5 * (A[i * n + j] + A[j * n + i]) - Ad[i] * Ad[j]);
    return MCP_OK;
}
