/* lanes.h - for *.isa.c files: MCP_LANES queries side by side as NV native vectors of VW doubles, with exp and log.
 * A lane's result is the same wherever the lane stands, because there is never a scalar remainder. */
#ifndef MCP_MODEL_LANES_H
#define MCP_MODEL_LANES_H

#include <stdint.h>

#include "math/isa.h"

#if defined(__AVX512F__)
#define VW 8
#elif defined(__AVX2__)
#define VW 4
#else
#define VW 2
#endif
#define NV (MCP_LANES / VW)

typedef double  vd __attribute__((vector_size(VW * 8)));
typedef int64_t vi __attribute__((vector_size(VW * 8)));
typedef double  vd_mem __attribute__((vector_size(VW * 8), may_alias)); /* as it lies in an array of double */

#define LANES_INLINE static inline __attribute__((always_inline))

LANES_INLINE vd   v_load(const double *p) { return *(const vd_mem *)p; }
LANES_INLINE void v_store(double *p, vd v) { *(vd_mem *)p = v; }
LANES_INLINE vd   v_set(double a) { return a - (vd){0}; }

/* mask ? a : b; the mask is all ones or all zeros per lane, as comparisons give it */
LANES_INLINE vd v_select(vi mask, vd a, vd b) { return (vd)((mask & (vi)a) | (~mask & (vi)b)); }

/* Sum of the lanes in a fixed tree, independent of the level: pairs (i, i + half). */
LANES_INLINE double v_sum_lanes(const vd s[NV])
{
    double t[MCP_LANES];
    for (int v = 0; v < NV; v++) __builtin_memcpy(t + v * VW, &s[v], sizeof(vd));
    return ((t[0] + t[4]) + (t[2] + t[6])) + ((t[1] + t[5]) + (t[3] + t[7]));
}

/* exp(x) for x <= 700, within about 1 ulp; below -708 it stays at exp(-708); NaN stays NaN.
 * x = n ln 2 + r, exp(r) = 1 + r + r^2 P(r), P of degree 9 (interpolated at Chebyshev nodes, error 2e-17). */
LANES_INLINE vd v_exp(vd x)
{
    const vd magic = v_set(0x1.8p52), lowest = v_set(-708.0);
    x    = v_select(x < lowest, lowest, x);
    vd t = x * 1.4426950408889634 + magic;
    vd n = t - magic;
    vd r = (x - n * 0.69314718013629317) - n * 4.236521365809284e-10;
    vd r2 = r * r, r4 = r2 * r2; /* in pairs: a short chain matters more than a few operations */
    vd p0 = r * 0.16666666666666669 + 0.50000000000000011, p1 = r * 0.0083333333333300615 + 0.041666666666624129;
    vd p2 = r * 0.00019841269863053618 + 0.0013888888917213717, p3 = r * 2.7557268459997064e-06 + 2.4801521295954376e-05;
    vd p4 = r * 2.510038549551032e-08 + 2.7620088445409746e-07;
    vd P  = (p0 + r2 * p1) + r4 * ((p2 + r2 * p3) + r4 * p4);
    vd e  = P * r2 + r;
    vi s = ((vi)t << 52) + (vi)v_set(1.0);
    return e * (vd)s + (vd)s;
}

/* log(x) for normal positive x: x = m 2^e with m in [0.7, 1.4], log m = 2 atanh((m - 1)/(m + 1)). */
LANES_INLINE vd v_log(vd x)
{
    vi b  = (vi)x;
    vi e  = (b - (int64_t)0x3fe6a09e667f3bcd) >> 52; /* 2^-1/2 splits the range of m */
    vd m  = (vd)(b - (e << 52));
    vd en = (vd)(e + (int64_t)0x4338000000000000) - v_set(0x1.8p52);
    vd s  = (m - 1.0) / (m + 1.0), s2 = s * s;
    vd P  = v_set(1.0 / 23);
    for (int k = 21; k >= 3; k -= 2) P = P * s2 + 1.0 / k;
    vd big = en * 0.69314718013629317;
    return big + (2.0 * s + (2.0 * s * s2 * P + en * 4.236521365809284e-10));
}

/* sqrt, exactly rounded as the hardware does it */
LANES_INLINE vd v_sqrt(vd x)
{
    for (int i = 0; i < VW; i++) x[i] = __builtin_sqrt(x[i]);
    return x;
}

#endif
