/* linalg.h - the few LAPACK calls we need. Matrices are row-major, n x n, symmetric where said. */
#ifndef MCP_LINALG_H
#define MCP_LINALG_H

#include "mcpilco/error.h"

/* A = L L^T, lower triangle of A overwritten by L, upper triangle zeroed. Fails with MCP_ERR_NUMERIC if A is
 * not positive definite (err may be NULL). */
mcp_status mcp_cholesky(int n, double *A, int lda, mcp_error *err);
/* A (symmetric, positive definite) given as L: full symmetric inverse into Ainv. */
mcp_status mcp_cholesky_inverse(int n, const double *L, int ldl, double *Ainv, int lda, mcp_error *err);
/* Solves L L^T x = b in place, nrhs right-hand sides as rows of B (B[r*n + i]). */
void mcp_cholesky_solve(int n, const double *L, int ldl, int nrhs, double *B);
/* Solves M x = b, n x n and symmetric without negative eigenvalues: M is overwritten, x is in b. A trillionth
 * of its largest entry is added to the diagonal: what M does not know stays near zero. */
mcp_status mcp_solve_semidefinite(int n, double *M, double *b, mcp_error *err);
/* Solves L x = b (in place, same layout of B). */
void mcp_lower_solve(int n, const double *L, int ldl, int nrhs, double *B);
/* L^-1 (n x n, zeros above the diagonal) of a lower triangular L. */
void mcp_lower_inverse(int n, const double *L, int ldl, double *Linv);
/* Eigenvalues ascending in w, eigenvectors as rows of A. */
mcp_status mcp_eigen_symmetric(int n, double *A, int lda, double *w, mcp_error *err);

/* What the linked BLAS is and which core type it chose, e.g. "OpenBLAS 0.3.21 Haswell"; *slow is 1 when it
 * runs SSE kernels on a machine that has AVX2. */
const char *mcp_blas_info(char *text, int size, int *slow);

#endif
