/* lanes.h - for *.isa.c files: MCP_LANES lanes side by side as MCP_NV native vectors (math/simd.h);
 * selections, sums over a group of lanes, and an exponential in line.
 *
 * A lane's result is the same wherever the lane stands, because there is never a scalar remainder. Sums
 * never go across one vector alone where many are wanted: MCP_W vectors are summed together by a transposing
 * tree, so that the result is again a whole vector. The order of additions inside a group is fixed by the
 * level alone. */
#ifndef MCP_LANES_H
#define MCP_LANES_H

#include <stddef.h>

#include "math/isa.h"
#include "math/simd.h"

enum { MCP_NV = MCP_LANES / MCP_W }; /* vectors a group */

#define MCP_INLINE static inline __attribute__((always_inline))

MCP_INLINE mcp_v mcp_v_and(mcp_vu mask, mcp_v x)
{
    return (mcp_v)(mask & (mcp_vu)x);
}

/* mask ? yes : no; the mask is all ones or all zeros per lane, as comparisons give it */
MCP_INLINE mcp_v mcp_v_select(mcp_vu mask, mcp_v yes, mcp_v no)
{
    return (mcp_v)((mask & (mcp_vu)yes) | (~mask & (mcp_vu)no));
}

/* Sum of the lanes in a fixed tree, whatever the width. */
MCP_INLINE double mcp_v_sum_lanes(const mcp_v s[MCP_NV])
{
    double t[MCP_LANES];
    for (int v = 0; v < MCP_NV; v++) __builtin_memcpy(t + v * MCP_W, &s[v], sizeof(mcp_v));
    return ((t[0] + t[4]) + (t[2] + t[6])) + ((t[1] + t[5]) + (t[3] + t[7]));
}

/* x[j] summed over its lanes is lane j of the result. */
MCP_INLINE mcp_v mcp_v_sum_each(const mcp_v x[MCP_W])
{
#if MCP_W == 2
    return __builtin_shufflevector(x[0], x[1], 0, 2) + __builtin_shufflevector(x[0], x[1], 1, 3);
#elif MCP_W == 4
    mcp_v a =
        __builtin_shufflevector(x[0], x[1], 0, 4, 2, 6) + __builtin_shufflevector(x[0], x[1], 1, 5, 3, 7);
    mcp_v b =
        __builtin_shufflevector(x[2], x[3], 0, 4, 2, 6) + __builtin_shufflevector(x[2], x[3], 1, 5, 3, 7);
    return __builtin_shufflevector(a, b, 0, 1, 4, 5) + __builtin_shufflevector(a, b, 2, 3, 6, 7);
#else
    mcp_v a[4], b[2];
    for (int i = 0; i < 4; i++)
        a[i] = __builtin_shufflevector(x[2 * i], x[2 * i + 1], 0, 8, 2, 10, 4, 12, 6, 14) +
               __builtin_shufflevector(x[2 * i], x[2 * i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
    for (int i = 0; i < 2; i++)
        b[i] = __builtin_shufflevector(a[2 * i], a[2 * i + 1], 0, 1, 8, 9, 4, 5, 12, 13) +
               __builtin_shufflevector(a[2 * i], a[2 * i + 1], 2, 3, 10, 11, 6, 7, 14, 15);
    return __builtin_shufflevector(b[0], b[1], 0, 1, 2, 3, 8, 9, 10, 11) +
           __builtin_shufflevector(b[0], b[1], 4, 5, 6, 7, 12, 13, 14, 15);
#endif
}

/* sum[i] += sum over one group's lanes of x * rows[i], i < count; rows are ld apart. */
MCP_INLINE void mcp_lanes_dot(const double *x, const double *rows, int ld, int count, double *sum)
{
    mcp_v xv[MCP_NV];
    for (int v = 0; v < MCP_NV; v++) xv[v] = mcp_v_load(x + v * MCP_W);
    for (int i = 0; i < count; i += MCP_W) {
        mcp_v t[MCP_W];
        int   m = count - i < MCP_W ? count - i : MCP_W;
        for (int j = 0; j < MCP_W; j++) {
            const double *row = rows + (size_t)(i + (j < m ? j : 0)) * (size_t)ld;
            t[j]              = xv[0] * mcp_v_load(row);
            for (int v = 1; v < MCP_NV; v++) t[j] += xv[v] * mcp_v_load(row + v * MCP_W);
        }
        mcp_v s = mcp_v_sum_each(t);
        if (m == MCP_W) mcp_v_store(sum + i, mcp_v_load(sum + i) + s);
        else for (int j = 0; j < m; j++) sum[i + j] += s[j];
    }
}

/* exp(x) for x <= 0, in line, within 2 ulp + |x|/4 ulp; below -708 it stays at exp(-708); NaN stays NaN.
 * x = n ln 2 + r, exp(r) = 1 + r + r^2 P(r), P of degree 9 (interpolated at Chebyshev nodes, error 2e-17). */
MCP_INLINE mcp_v mcp_v_exp_down(mcp_v x)
{
    const mcp_v magic = mcp_v_all(0x1.8p52), lowest = mcp_v_all(-708.0);
    x        = mcp_v_select((mcp_vu)(x < lowest), lowest, x);
    mcp_v t  = x * 1.4426950408889634 + magic;
    mcp_v r  = x - (t - magic) * 0.69314718055994531;
    mcp_v r2 = r * r, r4 = r2 * r2; /* in pairs: a short chain matters more than a few operations */
    mcp_v p0 = r * 0.16666666666666669 + 0.50000000000000011,
          p1 = r * 0.0083333333333300615 + 0.041666666666624129;
    mcp_v p2 = r * 0.00019841269863053618 + 0.0013888888917213717,
          p3 = r * 2.7557268459997064e-06 + 2.4801521295954376e-05;
    mcp_v  p4 = r * 2.510038549551032e-08 + 2.7620088445409746e-07;
    mcp_v  P  = (p0 + r2 * p1) + r4 * ((p2 + r2 * p3) + r4 * p4);
    mcp_vu s  = ((mcp_vu)t << 52) + (mcp_vu)mcp_v_all(1.0);
    return (P * r2 + r) * (mcp_v)s + (mcp_v)s;
}

#endif
