/* gemm_levels.h - packing and product at every level, for gemm.c and gemm.isa.c only. */
#ifndef MCP_GEMM_LEVELS_H
#define MCP_GEMM_LEVELS_H

#include "math/gemm.h"

#define MCP_GEMM_ROWS_MAX 12 /* rows of the tallest panel at any level */

MCP_ISA_DECLARE(void, mcp_gemm_pack, (int shape, int m, int k, const double *A, int lda, double *out));
MCP_ISA_DECLARE(void, mcp_gemm,
                (const mcp_packed *p, int n, const double *B, int ldb, double *C, int ldc, int accumulate));

#endif
