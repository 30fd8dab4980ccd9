/* se.isa.c - the squared exponential over batches of lanes: most of the time spent outside the matrix product
 * goes here. k[z][j] = s2 2^-q,  q = sum_d (rows[d][j] - Z[z][d])^2       rows and Z are in units of
 * l_d/sqrt(log2 e) With n = round(q) and g = q - n in [-1/2, 1/2]:  k = 2^-n s2 P(g), P of degree 11 (2^-g =
 * 1 + g R(g), R interpolated at Chebyshev nodes, error 2e-17); s2 is multiplied into its coefficients, and
 * 2^-n is added to the exponent's bits. A few fixed points at a time against MCP_LANES lanes: distances stay
 * in registers, and independent chains hide each other's latency. */
#include <stddef.h>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "math/lanes.h"
#include "model/leaf.h"

#if MCP_W == 8
enum { ZB = 8 };
#else
enum { ZB = 4 };
#endif

/* min(cap, x), but NaN stays */
MCP_INLINE mcp_v v_cap(mcp_v cap, mcp_v x)
{
#if defined(__AVX512F__)
    return (mcp_v)_mm512_min_pd((__m512d)cap, (__m512d)x);
#elif defined(__AVX2__)
    return (mcp_v)_mm256_min_pd((__m256d)cap, (__m256d)x);
#elif defined(__SSE2__)
    return (mcp_v)_mm_min_pd((__m128d)cap, (__m128d)x);
#else
    return mcp_v_select((mcp_vu)(x > cap), cap, x);
#endif
}

/* out[i] = s2 2^-q[i] for count vectors, each step for all of them */
MCP_INLINE void powers(int count, const double *c, mcp_v cap, const mcp_v *q, mcp_v *out)
{
    const mcp_v magic = mcp_v_all(0x1.8p52);
    mcp_v       g[8];
    mcp_vu       exponent[8];
    _Pragma("GCC unroll 8") for (int i = 0; i < count; i++)
    {
        mcp_v x        = v_cap(cap, q[i]);
        mcp_v t        = magic - x;
        exponent[i] = (mcp_vu)t << 52;
        g[i]        = x + (t - magic);
        out[i]      = g[i] * c[11] + c[10];
    }
    _Pragma("GCC unroll 10") for (int k = 9; k >= 0; k--)
        _Pragma("GCC unroll 8") for (int i = 0; i < count; i++) out[i] = out[i] * g[i] + c[k];
    _Pragma("GCC unroll 8") for (int i = 0; i < count; i++) out[i] = (mcp_v)((mcp_vu)out[i] + exponent[i]);
}

MCP_INLINE void forward_points(int nb, const mcp_leaf *f, const double *Z, int n, int ld,
                                 const double *rows, double *K, int ldk)
{
    const mcp_v  cap   = mcp_v_all(f->cap);
    const int count = nb * MCP_NV, chunk = count < 8 ? count : 8;
    for (int j = 0; j < n; j += MCP_LANES) {
        mcp_v q[ZB * MCP_NV], k[8];
        for (int i = 0; i < count; i++) q[i] = mcp_v_all(0.0);
        for (int d = 0; d < f->D; d++) {
            mcp_v x[MCP_NV];
            for (int v = 0; v < MCP_NV; v++) x[v] = mcp_v_load(rows + (size_t)d * (size_t)ld + j + v * MCP_W);
            for (int b = 0; b < nb; b++) {
                mcp_v z = mcp_v_all(Z[b * f->D + d]);
                for (int v = 0; v < MCP_NV; v++) {
                    mcp_v r = x[v] - z;
                    q[b * MCP_NV + v] += r * r;
                }
            }
        }
        for (int first = 0; first < count; first += chunk) {
            powers(chunk, f->power, cap, q + first, k);
            _Pragma("GCC unroll 8") for (int i = 0; i < chunk; i++)
            {
                int z = (first + i) / MCP_NV, v = (first + i) % MCP_NV;
                mcp_v_store(K + (size_t)z * (size_t)ldk + j + v * MCP_W, k[i]);
            }
        }
    }
}

void MCP_ISA_FN(mcp_se_forward) MCP_SE_FORWARD_ARGS
{
    int z = 0;
    for (; z + ZB <= f->nz; z += ZB)
        forward_points(ZB, f, f->Z + (size_t)z * (size_t)f->D, n, ld, rows, K + (size_t)z * (size_t)ldk, ldk);
    for (; z < f->nz; z++)
        forward_points(1, f, f->Z + (size_t)z * (size_t)f->D, n, ld, rows, K + (size_t)z * (size_t)ldk, ldk);
}

/* dk/dq = -ln 2 k: c[z][MCP_LANES] = kbar ln 2 k. */
void MCP_ISA_FN(mcp_se_slope) MCP_SE_SLOPE_ARGS
{
    for (int z = 0; z < nz; z++)
        for (int v = 0; v < MCP_NV; v++) {
            mcp_v bar = mcp_v_load(kbar + (size_t)z * (size_t)ldb + v * MCP_W),
               k = mcp_v_load(K + (size_t)z * (size_t)ldk + v * MCP_W);
            mcp_v_store(c + (size_t)z * MCP_LANES + v * MCP_W, bar * (k * 0.69314718055994531));
        }
}
