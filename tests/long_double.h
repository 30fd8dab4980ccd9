/* long_double.h - small dense systems in long double, as a reference. */
#ifndef LONG_DOUBLE_H
#define LONG_DOUBLE_H

#include <math.h>

/* A (n x n, symmetric, overwritten by its lower factor) x = b in place; returns log det A. */
static inline long double long_solve(int n, long double *A, long double *b)
{
    long double log_det = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            long double v = A[i * n + j];
            for (int k = 0; k < j; k++) v -= A[i * n + k] * A[j * n + k];
            A[i * n + j] = i == j ? sqrtl(v) : v / A[j * n + j];
        }
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++) b[i] -= A[i * n + k] * b[k];
        b[i] /= A[i * n + i];
        log_det += 2 * logl(A[i * n + i]);
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++) b[i] -= A[k * n + i] * b[k];
        b[i] /= A[i * n + i];
    }
    return log_det;
}

#endif
