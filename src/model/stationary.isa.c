/* stationary.isa.c - matern32, matern52 and rq over batches of lanes; se, the fast one, is in se.isa.c.
 *   q[z][j] = sum_d (rows[d][j] - Z[z][d])^2       rows and Z are in units of the length-scales
 *   k = s2 g(q);  dk/dx_d = -2 w_d (row_d - Z_d) slope,  slope = -dk/dq,
 *     dk/dlog l_d = 2 slope (row_d - Z_d)^2 */
#include <stddef.h>

#include "model/lanes.h"
#include "model/leaf.h"

enum { ZB = 2 };

/* k and slope at q. kind is a constant wherever this is inlined; *part is dk/dlog(alpha) of rq. */
LANES_INLINE vd value(mcp_kernel_kind kind, double s2, double alpha, vd q, vd *slope, vd *part)
{
    vd a, e, k;
    *part = v_set(0.0);
    switch (kind) {
    case MCP_K_MATERN32:
        a      = mcp_v_sqrt(3.0 * q);
        e      = s2 * v_exp(-a);
        *slope = 1.5 * e;
        return (1.0 + a) * e;
    case MCP_K_MATERN52:
        a      = mcp_v_sqrt(5.0 * q);
        e      = s2 * v_exp(-a);
        *slope = (5.0 / 6.0) * (1.0 + a) * e;
        return (1.0 + a + a * a * (1.0 / 3.0)) * e;
    default:
        e      = 1.0 + q / alpha;
        a      = alpha * mcp_v_log(e);
        k      = s2 * v_exp(-a);
        *slope = k / e;
        *part  = -k * (a - q / e);
        return k;
    }
}

/* Squared distances of nb fixed points (from Z) to the lanes at row. */
LANES_INLINE void distances(int nb, int D, const double *Z, int ld, const double *row, vd q[ZB][NV])
{
    for (int b = 0; b < nb; b++)
        for (int v = 0; v < NV; v++) q[b][v] = v_set(0.0);
    for (int d = 0; d < D; d++) {
        vd x[NV];
        for (int v = 0; v < NV; v++) x[v] = v_load(row + (size_t)d * (size_t)ld + v * VW);
        for (int b = 0; b < nb; b++) {
            vd z = v_set(Z[b * D + d]);
            for (int v = 0; v < NV; v++) {
                vd r = x[v] - z;
                q[b][v] += r * r;
            }
        }
    }
}

LANES_INLINE void forward_points(mcp_kernel_kind kind, int nb, const mcp_leaf *f, const double *Z, int n,
                                 int ld, const double *rows, double *K, int ldk, int add)
{
    vd q[ZB][NV], slope, part;
    for (int j = 0; j < n; j += MCP_LANES) {
        distances(nb, f->D, Z, ld, rows + j, q);
        for (int b = 0; b < nb; b++)
            for (int v = 0; v < NV; v++) {
                double *out = K + (size_t)b * (size_t)ldk + j + v * VW;
                vd      k   = value(kind, f->s2, f->alpha, q[b][v], &slope, &part);
                v_store(out, add ? v_load(out) + k : k);
            }
    }
}

LANES_INLINE void forward_kind(mcp_kernel_kind kind, const mcp_leaf *f, int n, int ld, const double *rows,
                               double *K, int ldk, int add)
{
    int z = 0;
    for (; z + ZB <= f->nz; z += ZB)
        forward_points(kind, ZB, f, f->Z + (size_t)z * (size_t)f->D, n, ld, rows, K + (size_t)z * (size_t)ldk,
                       ldk, add);
    for (; z < f->nz; z++)
        forward_points(kind, 1, f, f->Z + (size_t)z * (size_t)f->D, n, ld, rows, K + (size_t)z * (size_t)ldk,
                       ldk, add);
}

void MCP_ISA_FN(mcp_stationary_forward) MCP_LEAF_FORWARD_ARGS
{
    switch (f->kind) {
    case MCP_K_MATERN32: forward_kind(MCP_K_MATERN32, f, n, ld, rows, K, ldk, add); break;
    case MCP_K_MATERN52: forward_kind(MCP_K_MATERN52, f, n, ld, rows, K, ldk, add); break;
    default: forward_kind(MCP_K_RQ, f, n, ld, rows, K, ldk, add); break;
    }
}

/* The slope is evaluated again: cheaper than a second matrix on the tape. */
LANES_INLINE double slope_kind(mcp_kernel_kind kind, const mcp_leaf *f, int ld, const double *rows,
                               const double *kbar, int ldb, double *c)
{
    vd q[ZB][NV], sum[NV], slope, part;
    for (int v = 0; v < NV; v++) sum[v] = v_set(0.0);
    for (int z = 0; z < f->nz; z++) {
        distances(1, f->D, f->Z + (size_t)z * (size_t)f->D, ld, rows, q);
        for (int v = 0; v < NV; v++) {
            vd bar = v_load(kbar + (size_t)z * (size_t)ldb + v * VW);
            value(kind, f->s2, f->alpha, q[0][v], &slope, &part);
            v_store(c + (size_t)z * MCP_LANES + v * VW, bar * slope);
            sum[v] += bar * part;
        }
    }
    return v_sum_lanes(sum);
}

double MCP_ISA_FN(mcp_stationary_slope) MCP_LEAF_SLOPE_ARGS
{
    switch (f->kind) {
    case MCP_K_MATERN32: return slope_kind(MCP_K_MATERN32, f, ld, rows, kbar, ldb, c);
    case MCP_K_MATERN52: return slope_kind(MCP_K_MATERN52, f, ld, rows, kbar, ldb, c);
    default: return slope_kind(MCP_K_RQ, f, ld, rows, kbar, ldb, c);
    }
}

/* Of every kernel with length-scales, se too. One at a time: two accumulators' worth of lanes stay in
 * registers, Z is read with stride D. */
void MCP_ISA_FN(mcp_stationary_lengths) MCP_LEAF_LENGTHS_ARGS
{
    for (int d = 0; d < f->D; d++) {
        vd x[NV], sum[NV];
        for (int v = 0; v < NV; v++) {
            x[v]   = v_load(rows + (size_t)d * (size_t)ld + v * VW);
            sum[v] = v_set(0.0);
        }
        for (int z = 0; z < f->nz; z++) {
            vd zd = v_set(f->Z[(size_t)z * (size_t)f->D + (size_t)d]);
            for (int v = 0; v < NV; v++) {
                vd r = x[v] - zd;
                sum[v] += r * r * v_load(c + (size_t)z * MCP_LANES + v * VW);
            }
        }
        dl[d] += 2.0 * v_sum_lanes(sum);
    }
}
