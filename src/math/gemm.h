/* gemm.h - C = A B (or C += A B) for a constant A used many times: A is packed once, B is a block of
 * particles.
 *   A  m x k row-major     B  k x n, row stride ldb     C  m x n, row stride ldc
 *     n a multiple of MCP_LANES
 * Each C[i][j] is one sum over k in increasing order, whatever n is: a lane's result does not depend on
 * its block. Of a triangular A the zeros are passed over, panel by panel: nearly half the work, the same
 * bits. */
#ifndef MCP_GEMM_H
#define MCP_GEMM_H

#include <stddef.h>

#include "math/isa.h"

enum { MCP_FULL = 0, MCP_UPPER, MCP_LOWER };

typedef struct {
    int     m, k;
    int     shape; /* MCP_FULL, or a triangle: the other one is zero */
    mcp_isa level;
    double *data; /* packed panels, 64-byte aligned, in memory given by the caller */
} mcp_packed;

size_t mcp_gemm_packed_doubles(int m, int k); /* memory needed by pack, in doubles, for any level */
void   mcp_gemm_pack(mcp_packed *p, mcp_isa level, int m, int k, const double *A, int lda, double *mem);
/* A triangle of A (n x n); the other one is not read and counts as zero. */
void mcp_gemm_pack_triangle(mcp_packed *p, mcp_isa level, int shape, int n, const double *A, int lda,
                            double *mem);
/* accumulate != 0 adds to C. */
void mcp_gemm(const mcp_packed *p, int n, const double *B, int ldb, double *C, int ldc, int accumulate);

#endif
