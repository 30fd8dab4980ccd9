/* small.h - dense matrices of a few rows, row-major. */
#ifndef MCP_PILCO_SMALL_H
#define MCP_PILCO_SMALL_H

#include "mcpilco/error.h"

/* C (m x n) += scale A (m x k) B (k x n). */
void mcp_small_add(int m, int k, int n, double scale, const double *A, const double *B, double *C);
/* C (m x n) += scale A^T B with A k x m. */
void mcp_small_add_tn(int m, int k, int n, double scale, const double *A, const double *B, double *C);
/* C (m x n) += scale A B^T with B n x k. */
void mcp_small_add_nt(int m, int k, int n, double scale, const double *A, const double *B, double *C);
/* A (n x n, any) is replaced by its inverse; *logdet gets log|det A|. work: n ints worth of doubles and n*n
 * doubles: n*n + n. */
mcp_status mcp_small_inverse(int n, double *A, double *logdet, double *work, mcp_error *err);

#endif
