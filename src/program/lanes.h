/* lanes.h - helpers of the .isa.c files here: selections, and sums over a group of MCP_LANES lanes.
 *
 * Sums never go across one vector alone: MCP_W vectors are summed together by a transposing tree, so that the
 * result is again a whole vector. The order of additions inside a group is fixed by the level alone. */
#ifndef MCP_PROGRAM_LANES_H
#define MCP_PROGRAM_LANES_H

#include "math/isa.h"
#include "math/simd.h"

enum { MCP_NV = MCP_LANES / MCP_W }; /* vectors a group */

static inline mcp_v mcp_v_and(mcp_vu mask, mcp_v x)
{
    return (mcp_v)(mask & (mcp_vu)x);
}

static inline mcp_v mcp_v_select(mcp_vu mask, mcp_v yes, mcp_v no)
{
    return (mcp_v)((mask & (mcp_vu)yes) | (~mask & (mcp_vu)no));
}

/* x[j] summed over its lanes is lane j of the result. */
static inline mcp_v mcp_v_sum_each(const mcp_v x[MCP_W])
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
static inline void mcp_lanes_dot(const double *x, const double *rows, int ld, int count, double *sum)
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

#endif
