/* lanes.h - for *.isa.c files: MCP_LANES queries side by side as NV native vectors of VW doubles
 * (math/simd.h). A lane's result is the same wherever the lane stands, because there is never a scalar
 * remainder. */
#ifndef MCP_MODEL_LANES_H
#define MCP_MODEL_LANES_H

#include "math/isa.h"
#include "math/simd.h"

#define VW MCP_W
#define NV (MCP_LANES / VW)

typedef mcp_v   vd;
typedef int64_t vi __attribute__((vector_size(VW * 8)));

#define LANES_INLINE static inline __attribute__((always_inline))

LANES_INLINE vd   v_load(const double *p) { return mcp_v_load(p); }
LANES_INLINE void v_store(double *p, vd v) { mcp_v_store(p, v); }
LANES_INLINE vd   v_set(double a) { return mcp_v_all(a); }

/* mask ? a : b; the mask is all ones or all zeros per lane, as comparisons give it */
LANES_INLINE vd v_select(vi mask, vd a, vd b) { return (vd)((mask & (vi)a) | (~mask & (vi)b)); }

/* Sum of the lanes in a fixed tree, whatever the width. */
LANES_INLINE double v_sum_lanes(const vd s[NV])
{
    double t[MCP_LANES];
    for (int v = 0; v < NV; v++) __builtin_memcpy(t + v * VW, &s[v], sizeof(vd));
    return ((t[0] + t[4]) + (t[2] + t[6])) + ((t[1] + t[5]) + (t[3] + t[7]));
}

/* exp(x) for x <= 0, in line, within 2 ulp + |x|/4 ulp; below -708 it stays at exp(-708); NaN stays NaN.
 * x = n ln 2 + r, exp(r) = 1 + r + r^2 P(r), P of degree 9 (interpolated at Chebyshev nodes, error 2e-17). */
LANES_INLINE vd v_exp(vd x)
{
    const vd magic = v_set(0x1.8p52), lowest = v_set(-708.0);
    x     = v_select(x < lowest, lowest, x);
    vd t  = x * 1.4426950408889634 + magic;
    vd r  = x - (t - magic) * 0.69314718055994531;
    vd r2 = r * r, r4 = r2 * r2; /* in pairs: a short chain matters more than a few operations */
    vd p0 = r * 0.16666666666666669 + 0.50000000000000011,
       p1 = r * 0.0083333333333300615 + 0.041666666666624129;
    vd p2 = r * 0.00019841269863053618 + 0.0013888888917213717,
       p3 = r * 2.7557268459997064e-06 + 2.4801521295954376e-05;
    vd p4 = r * 2.510038549551032e-08 + 2.7620088445409746e-07;
    vd P  = (p0 + r2 * p1) + r4 * ((p2 + r2 * p3) + r4 * p4);
    vi s  = ((vi)t << 52) + (vi)v_set(1.0);
    return (P * r2 + r) * (vd)s + (vd)s;
}

#endif
