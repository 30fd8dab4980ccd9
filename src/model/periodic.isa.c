/* periodic.isa.c - k = s2 exp(-sum_d (w_d sin(a_d - b_d))^2), a = pi x/t of the query, b = pi z/t of the
 * fixed point. rows and Z hold a, sin a, cos a: the sine of a difference then needs no trigonometric function
 * per pair. */
#include <stddef.h>

#include "model/lanes.h"
#include "model/leaf.h"

LANES_INLINE vd row_at(const double *rows, int d, int ld, int at)
{
    return v_load(rows + (size_t)d * (size_t)ld + at);
}

void MCP_ISA_FN(mcp_periodic_forward) MCP_LEAF_FORWARD_ARGS
{
    int D = f->D;
    for (int z = 0; z < f->nz; z++) {
        const double *Zz = f->Z + (size_t)z * (size_t)f->cols;
        for (int j = 0; j < n; j += VW) {
            double *out = K + (size_t)z * (size_t)ldk + j;
            vd      q   = v_set(0.0);
            for (int d = 0; d < D; d++) {
                vd s = (row_at(rows, D + d, ld, j) * Zz[2 * D + d] -
                        row_at(rows, 2 * D + d, ld, j) * Zz[D + d]) *
                       f->w[d];
                q += s * s;
            }
            vd k = f->s2 * v_exp(-q);
            v_store(out, add ? v_load(out) + k : k);
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
        vd     st[NV], sl[NV];
        for (int v = 0; v < NV; v++) {
            vd a = row_at(rows, d, ld, v * VW), sa = row_at(rows, D + d, ld, v * VW),
               ca = row_at(rows, 2 * D + d, ld, v * VW);
            vd sx = v_set(0.0);
            st[v] = sl[v] = v_set(0.0);
            for (int z = 0; z < f->nz; z++) {
                const double *Zz = f->Z + (size_t)z * (size_t)f->cols;
                vd            cz = v_load(c + (size_t)z * MCP_LANES + v * VW);
                vd s = sa * Zz[2 * D + d] - ca * Zz[D + d], co = ca * Zz[2 * D + d] + sa * Zz[D + d];
                sx += cz * s * co;
                st[v] += cz * s * co * (a - Zz[d]);
                sl[v] += cz * s * s;
            }
            if (S) v_store(S + d * MCP_LANES + v * VW, v_load(S + d * MCP_LANES + v * VW) - w2 * sx);
        }
        if (dt) dt[d] += w2 * v_sum_lanes(st);
        if (dl) dl[d] += w2 * v_sum_lanes(sl);
    }
}
