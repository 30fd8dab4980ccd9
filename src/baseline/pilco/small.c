/* small.c - dense matrices of a few rows: products, and an inverse by Gauss-Jordan with row exchanges. The
 * matrices here have the size of a state vector; a BLAS call would cost more than the work. */
#include "baseline/pilco/small.h"

#include <math.h>
#include <string.h>

void mcp_small_add(int m, int k, int n, double scale, const double *A, const double *B, double *C)
{
    for (int i = 0; i < m; i++)
        for (int l = 0; l < k; l++) {
            double a = scale * A[i * k + l];
            for (int j = 0; j < n; j++) C[i * n + j] += a * B[l * n + j];
        }
}

void mcp_small_add_tn(int m, int k, int n, double scale, const double *A, const double *B, double *C)
{
    for (int l = 0; l < k; l++)
        for (int i = 0; i < m; i++) {
            double a = scale * A[l * m + i];
            for (int j = 0; j < n; j++) C[i * n + j] += a * B[l * n + j];
        }
}

void mcp_small_add_nt(int m, int k, int n, double scale, const double *A, const double *B, double *C)
{
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            double s = 0;
            for (int l = 0; l < k; l++) s += A[i * k + l] * B[j * k + l];
            C[i * n + j] += scale * s;
        }
}

mcp_status mcp_small_inverse(int n, double *A, double *logdet, double *work, mcp_error *err)
{
    double *inv = work, *swap = work + (size_t)n * (size_t)n;
    size_t  row = (size_t)n * sizeof *A;
    memset(inv, 0, (size_t)n * row);
    for (int i = 0; i < n; i++) inv[i * n + i] = 1;
    *logdet = 0;
    for (int c = 0; c < n; c++) {
        int p = c;
        for (int i = c + 1; i < n; i++)
            if (fabs(A[i * n + c]) > fabs(A[p * n + c])) p = i;
        double pivot = A[p * n + c];
        if (!(fabs(pivot) > 0) || !isfinite(pivot))
            return mcp_fail(err, MCP_ERR_NUMERIC,
                            "moment matching: a %d x %d matrix cannot be inverted (pivot %g)", n, n, pivot);
        if (p != c) {
            memcpy(swap, A + c * n, row);
            memcpy(A + c * n, A + p * n, row);
            memcpy(A + p * n, swap, row);
            memcpy(swap, inv + c * n, row);
            memcpy(inv + c * n, inv + p * n, row);
            memcpy(inv + p * n, swap, row);
        }
        *logdet += log(fabs(pivot));
        for (int j = 0; j < n; j++) {
            A[c * n + j] /= pivot;
            inv[c * n + j] /= pivot;
        }
        for (int i = 0; i < n; i++) {
            double f = A[i * n + c];
            if (i == c || f == 0) continue;
            for (int j = 0; j < n; j++) {
                A[i * n + j] -= f * A[c * n + j];
                inv[i * n + j] -= f * inv[c * n + j];
            }
        }
    }
    memcpy(A, inv, (size_t)n * row);
    return MCP_OK;
}
