/* periodic.isa.c - k = s2 exp(-sum_d (w_d sin(a_d - b_d))^2), a = pi x/t of the query, b = pi z/t of the
 * fixed point. rows and Z hold a, sin a, cos a: the sine of a difference then needs no trigonometric function
 * per pair. */
#include <stddef.h>

#include "math/lanes.h"
#include "model/leaf.h"

MCP_INLINE mcp_v row_at(const double *rows, int d, int ld, int at)
{
    return mcp_v_load(rows + (size_t)d * (size_t)ld + at);
}

void MCP_ISA_FN(mcp_periodic_forward) MCP_LEAF_FORWARD_ARGS
{
    int D = f->D;
    for (int z = 0; z < f->nz; z++) {
        const double *Zz = f->Z + (size_t)z * (size_t)f->cols;
        for (int j = 0; j < n; j += MCP_W) {
            double *out = K + (size_t)z * (size_t)ldk + j;
            mcp_v      q   = mcp_v_all(0.0);
            for (int d = 0; d < D; d++) {
                mcp_v s = (row_at(rows, D + d, ld, j) * Zz[2 * D + d] -
                        row_at(rows, 2 * D + d, ld, j) * Zz[D + d]) *
                       f->w[d];
                q += s * s;
            }
            mcp_v k = f->s2 * mcp_v_exp_down(-q);
            mcp_v_store(out, add ? mcp_v_load(out) + k : k);
        }
    }
}

/* With c = kbar k:  dJ/da_d = -2 w^2 sum_z c s cos,  dJ/dlog t_d = 2 w^2 sum c s cos (a - b),  dJ/dlog l_d =
 * 2 w^2 sum c s^2 */
void MCP_ISA_FN(mcp_periodic_backward) MCP_LEAF_PERIODIC_ARGS
{
    int D = f->D;
    for (int d = 0; d < D; d++) {
        double w2 = 2.0 * f->w[d] * f->w[d];
        mcp_v     st[MCP_NV], sl[MCP_NV];
        for (int v = 0; v < MCP_NV; v++) {
            mcp_v a = row_at(rows, d, ld, v * MCP_W), sa = row_at(rows, D + d, ld, v * MCP_W),
               ca = row_at(rows, 2 * D + d, ld, v * MCP_W);
            mcp_v sx = mcp_v_all(0.0);
            st[v] = sl[v] = mcp_v_all(0.0);
            for (int z = 0; z < f->nz; z++) {
                const double *Zz = f->Z + (size_t)z * (size_t)f->cols;
                mcp_v            cz = mcp_v_load(c + (size_t)z * MCP_LANES + v * MCP_W);
                mcp_v s = sa * Zz[2 * D + d] - ca * Zz[D + d], co = ca * Zz[2 * D + d] + sa * Zz[D + d];
                sx += cz * s * co;
                st[v] += cz * s * co * (a - Zz[d]);
                sl[v] += cz * s * s;
            }
            double *to = S ? S + d * MCP_LANES + v * MCP_W : NULL;
            if (to) mcp_v_store(to, mcp_v_load(to) - w2 * sx);
        }
        if (dt) dt[d] += w2 * mcp_v_sum_lanes(st);
        if (dl) dl[d] += w2 * mcp_v_sum_lanes(sl);
    }
}
