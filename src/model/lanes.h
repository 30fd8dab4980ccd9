/* lanes.h - for *.isa.c files: MCP_LANES queries side by side as NV native vectors of VW doubles (math/simd.h).
 * A lane's result is the same wherever the lane stands, because there is never a scalar remainder. */
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

/* x[i] = exp(x[i]) for x <= 0, in line, within 2 ulp + |x|/4 ulp; below -708 it stays at exp(-708); NaN stays NaN.
 * x = n ln 2 + r, exp(r) = 1 + r + r^2 P(r), P of degree 9 (interpolated at Chebyshev nodes, error 2e-17).
 * count vectors go through each step together, so that one chain of operations hides the others' latency. */
LANES_INLINE void v_exp_many(int count, vd *x)
{
    static const double c[] = {2.7620088445409746e-07, 2.7557268459997064e-06, 2.4801521295954376e-05,
                               0.00019841269863053618, 0.0013888888917213717,  0.0083333333333300615,
                               0.041666666666624129,   0.16666666666666669,    0.50000000000000011};
    const vd magic = v_set(0x1.8p52), lowest = v_set(-708.0);
    vd       P[8];
    vi       s[8];
    for (int i = 0; i < count; i++) {
        x[i] = v_select(x[i] < lowest, lowest, x[i]);
        vd t = x[i] * 1.4426950408889634 + magic;
        s[i] = ((vi)t << 52) + (vi)v_set(1.0);
        x[i] -= (t - magic) * 0.69314718055994531;
    }
    for (int i = 0; i < count; i++) P[i] = x[i] * 2.510038549551032e-08 + c[0];
    _Pragma("GCC unroll 8") for (int k = 1; k < 9; k++)
        for (int i = 0; i < count; i++) P[i] = P[i] * x[i] + c[k];
    for (int i = 0; i < count; i++) P[i] = (P[i] * x[i]) * x[i] + x[i];
    for (int i = 0; i < count; i++) x[i] = P[i] * (vd)s[i] + (vd)s[i];
}

LANES_INLINE vd v_exp(vd x)
{
    v_exp_many(1, &x);
    return x;
}

#endif
