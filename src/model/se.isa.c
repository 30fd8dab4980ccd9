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

#include "model/lanes.h"
#include "model/leaf.h"

#if VW == 8
enum { ZB = 8 };
#else
enum { ZB = 4 };
#endif

/* min(cap, x), but NaN stays */
LANES_INLINE vd v_cap(vd cap, vd x)
{
#if defined(__AVX512F__)
    return (vd)_mm512_min_pd((__m512d)cap, (__m512d)x);
#elif defined(__AVX2__)
    return (vd)_mm256_min_pd((__m256d)cap, (__m256d)x);
#elif defined(__SSE2__)
    return (vd)_mm_min_pd((__m128d)cap, (__m128d)x);
#else
    return v_select((vi)(x > cap), cap, x);
#endif
}

/* out[i] = s2 2^-q[i] for count vectors, each step for all of them */
LANES_INLINE void powers(int count, const double *c, vd cap, const vd *q, vd *out)
{
    const vd magic = v_set(0x1.8p52);
    vd       g[8];
    vi       exponent[8];
    _Pragma("GCC unroll 8") for (int i = 0; i < count; i++)
    {
        vd x        = v_cap(cap, q[i]);
        vd t        = magic - x;
        exponent[i] = (vi)t << 52;
        g[i]        = x + (t - magic);
        out[i]      = g[i] * c[11] + c[10];
    }
    _Pragma("GCC unroll 10") for (int k = 9; k >= 0; k--)
        _Pragma("GCC unroll 8") for (int i = 0; i < count; i++) out[i] = out[i] * g[i] + c[k];
    _Pragma("GCC unroll 8") for (int i = 0; i < count; i++) out[i] = (vd)((vi)out[i] + exponent[i]);
}

LANES_INLINE void forward_points(int nb, const mcp_leaf *f, const double *Z, int n, int ld,
                                 const double *rows, double *K, int ldk)
{
    const vd  cap   = v_set(f->cap);
    const int count = nb * NV, chunk = count < 8 ? count : 8;
    for (int j = 0; j < n; j += MCP_LANES) {
        vd q[ZB * NV], k[8];
        for (int i = 0; i < count; i++) q[i] = v_set(0.0);
        for (int d = 0; d < f->D; d++) {
            vd x[NV];
            for (int v = 0; v < NV; v++) x[v] = v_load(rows + (size_t)d * (size_t)ld + j + v * VW);
            for (int b = 0; b < nb; b++) {
                vd z = v_set(Z[b * f->D + d]);
                for (int v = 0; v < NV; v++) {
                    vd r = x[v] - z;
                    q[b * NV + v] += r * r;
                }
            }
        }
        for (int first = 0; first < count; first += chunk) {
            powers(chunk, f->power, cap, q + first, k);
            _Pragma("GCC unroll 8") for (int i = 0; i < chunk; i++)
                v_store(K + (size_t)((first + i) / NV) * (size_t)ldk + j + (first + i) % NV * VW, k[i]);
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
        for (int v = 0; v < NV; v++) {
            vd bar = v_load(kbar + (size_t)z * (size_t)ldb + v * VW),
               k = v_load(K + (size_t)z * (size_t)ldk + v * VW);
            v_store(c + (size_t)z * MCP_LANES + v * VW, bar * (k * 0.69314718055994531));
        }
}
