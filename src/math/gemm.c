/* gemm.c - packed product: sizes, and the choice of level. */
#include "math/gemm.h"

#include "math/gemm_levels.h"

size_t mcp_gemm_packed_doubles(int m, int k)
{
    /* a panel of r rows wastes less than r of them */
    return ((size_t)m + MCP_GEMM_ROWS_MAX - 1) * (size_t)k;
}

void mcp_gemm_pack(mcp_packed *p, mcp_isa level, int m, int k, const double *A, int lda, double *mem)
{
    *p = (mcp_packed){.m = m, .k = k, .level = level, .data = mem};
    MCP_ISA_PICK(level, mcp_gemm_pack)(MCP_FULL, m, k, A, lda, mem);
}

void mcp_gemm_pack_triangle(mcp_packed *p, mcp_isa level, int shape, int n, const double *A, int lda,
                            double *mem)
{
    *p = (mcp_packed){.m = n, .k = n, .shape = shape, .level = level, .data = mem};
    MCP_ISA_PICK(level, mcp_gemm_pack)(shape, n, n, A, lda, mem);
}

void mcp_gemm(const mcp_packed *p, int n, const double *B, int ldb, double *C, int ldc, int accumulate)
{
    MCP_ISA_PICK(p->level, mcp_gemm)(p, n, B, ldb, C, ldc, accumulate);
}
