/* gemm.isa.c - C = A B with A packed in panels of MR rows: panel p holds, for each k, the MR numbers A[p*MR
 * ..][k].
 *
 * A tile of MR x NV vectors of C stays in registers while k runs; per k it costs NV loads of B and MR
 * broadcasts of A for MR * NV multiply-adds. The panel of A (MR x KC) stays in the first-level cache while
 * the tile moves along the columns. Every C[i][j] is the same chain of multiply-adds, k increasing, whatever
 * tile it falls in. Of an upper triangular A a panel begins at its first row's diagonal, of a lower one it
 * ends at its last row's. */
#include "math/gemm.h"

#include <string.h>

#include "math/gemm_levels.h"
#include "math/simd.h"

#if MCP_W == 8 /* 32 registers of 8 doubles */
#define MR 12
#define NV 2
#elif defined(__aarch64__) /* 32 registers of 2 doubles */
#define MR 6
#define NV 4
#else /* 16 registers */
#define MR 6
#define NV 2
#endif
#define NR (NV * MCP_W)

_Static_assert(MR <= MCP_GEMM_ROWS_MAX, "packed memory is measured for MCP_GEMM_ROWS_MAX rows a panel");

void MCP_ISA_FN(mcp_gemm_pack)(int shape, int m, int k, const double *A, int lda, double *out)
{
    for (int i0 = 0; i0 < m; i0 += MR)
        for (int l = 0; l < k; l++)
            for (int i = i0; i < i0 + MR; i++) {
                int zero = i >= m || (shape == MCP_UPPER && l < i) || (shape == MCP_LOWER && l > i);
                *out++   = zero ? 0.0 : A[(size_t)i * (size_t)lda + (size_t)l];
            }
}

/* One tile over k numbers of the sum. rows <= MR of it are stored. vectors is a constant in each caller. */
static inline __attribute__((always_inline)) void tile(int vectors, int rows, int k, const double *a,
                                                       const double *B, size_t ldb, double *C, size_t ldc,
                                                       int accumulate)
{
    mcp_v acc[MR][NV];
    for (int i = 0; i < MR; i++)
        for (int v = 0; v < vectors; v++)
            acc[i][v] = accumulate && i < rows ? mcp_v_load(C + (size_t)i * ldc + v * MCP_W) : mcp_v_all(0.0);
#pragma GCC unroll 8 /* spares the loop its counting, which a busy sibling thread makes dear */
    for (int l = 0; l < k; l++, a += MR, B += ldb) {
        mcp_v b[NV];
        for (int v = 0; v < vectors; v++) b[v] = mcp_v_load(B + v * MCP_W);
#pragma GCC unroll 12
        for (int i = 0; i < MR; i++)
#pragma GCC unroll 4
            for (int v = 0; v < vectors; v++) acc[i][v] += a[i] * b[v];
    }
    for (int i = 0; i < MR; i++)
        for (int v = 0; v < vectors; v++)
            if (i < rows) mcp_v_store(C + (size_t)i * ldc + v * MCP_W, acc[i][v]);
}

#define KC 256 /* a panel of MR x KC doubles fits the first-level cache with room for B */

void MCP_ISA_FN(mcp_gemm)(const mcp_packed *p, int n, const double *B, int ldb, double *C, int ldc,
                          int accumulate)
{
    size_t sb = (size_t)ldb, sc = (size_t)ldc;
    for (int l0 = 0; l0 == 0 || l0 < p->k; l0 += KC) {
        int           k = p->k - l0 < KC ? p->k - l0 : KC, add = accumulate || l0;
        const double *a = p->data + (size_t)l0 * MR, *b = B + (size_t)l0 * sb;
        for (int i0 = 0; i0 < p->m; i0 += MR, a += (size_t)MR * (size_t)p->k) {
            int     rows = p->m - i0 < MR ? p->m - i0 : MR, j = 0;
            int     zeros = p->shape != MCP_UPPER || i0 <= l0 ? 0 : i0 - l0 < k ? i0 - l0 : k;
            int     end = p->shape == MCP_LOWER && i0 + MR - l0 < k ? i0 + MR - l0 : k;
            double *c = C + (size_t)i0 * sc;
            const double *az = a + (size_t)zeros * MR, *bz = b + (size_t)zeros * sb;
            if (end <= 0) continue; /* nothing but zeros from here on: the sum is complete */
            for (; j + NR <= n; j += NR) tile(NV, rows, end - zeros, az, bz + j, sb, c + j, sc, add);
            for (; j < n; j += MCP_W) tile(1, rows, end - zeros, az, bz + j, sb, c + j, sc, add);
        }
    }
}
