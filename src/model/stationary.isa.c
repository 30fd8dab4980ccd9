/* stationary.isa.c - matern32, matern52 and rq over batches of lanes; se, the fast one, is in se.isa.c.
 *   q[z][j] = sum_d (rows[d][j] - Z[z][d])^2       rows and Z are in units of the length-scales
 *   k = s2 g(q);  dk/dx_d = -2 w_d (row_d - Z_d) slope,  slope = -dk/dq,
 *     dk/dlog l_d = 2 slope (row_d - Z_d)^2 */
#include <stddef.h>

#include "math/elementary.h"
#include "model/leaf.h"

enum { ZB = 2 };

/* k and slope at q. kind is a constant wherever this is inlined; *part is dk/dlog(alpha) of rq. */
MCP_INLINE mcp_v value(mcp_kernel_kind kind, double s2, double alpha, mcp_v q, mcp_v *slope, mcp_v *part)
{
    mcp_v a, e, k;
    *part = mcp_v_all(0.0);
    switch (kind) {
    case MCP_K_MATERN32:
        a      = mcp_v_sqrt(3.0 * q);
        e      = s2 * mcp_v_exp_down(-a);
        *slope = 1.5 * e;
        return (1.0 + a) * e;
    case MCP_K_MATERN52:
        a      = mcp_v_sqrt(5.0 * q);
        e      = s2 * mcp_v_exp_down(-a);
        *slope = (5.0 / 6.0) * (1.0 + a) * e;
        return (1.0 + a + a * a * (1.0 / 3.0)) * e;
    default:
        e      = 1.0 + q / alpha;
        a      = alpha * mcp_v_log(e);
        k      = s2 * mcp_v_exp_down(-a);
        *slope = k / e;
        *part  = -k * (a - q / e);
        return k;
    }
}

/* Squared distances of nb fixed points (from Z) to the lanes at row. */
MCP_INLINE void distances(int nb, int D, const double *Z, int ld, const double *row, mcp_v q[ZB][MCP_NV])
{
    for (int b = 0; b < nb; b++)
        for (int v = 0; v < MCP_NV; v++) q[b][v] = mcp_v_all(0.0);
    for (int d = 0; d < D; d++) {
        mcp_v x[MCP_NV];
        for (int v = 0; v < MCP_NV; v++) x[v] = mcp_v_load(row + (size_t)d * (size_t)ld + v * MCP_W);
        for (int b = 0; b < nb; b++) {
            mcp_v z = mcp_v_all(Z[b * D + d]);
            for (int v = 0; v < MCP_NV; v++) {
                mcp_v r = x[v] - z;
                q[b][v] += r * r;
            }
        }
    }
}

typedef struct {
    const mcp_leaf *f;
    int             n, ld;
    const double   *rows;
    double         *K;
    int             ldk, add;
} batch;

/* nb points from the z-th on */
MCP_INLINE void forward_points(mcp_kernel_kind kind, int nb, const batch *a, int z)
{
    const mcp_leaf *f = a->f;
    const double   *Z = f->Z + (size_t)z * (size_t)f->D;
    mcp_v           q[ZB][MCP_NV], slope, part;
    for (int j = 0; j < a->n; j += MCP_LANES) {
        distances(nb, f->D, Z, a->ld, a->rows + j, q);
        for (int b = 0; b < nb; b++)
            for (int v = 0; v < MCP_NV; v++) {
                double *out = a->K + (size_t)(z + b) * (size_t)a->ldk + j + v * MCP_W;
                mcp_v   k   = value(kind, f->s2, f->alpha, q[b][v], &slope, &part);
                mcp_v_store(out, a->add ? mcp_v_load(out) + k : k);
            }
    }
}

MCP_INLINE void forward_kind(mcp_kernel_kind kind, const batch *a)
{
    int z = 0;
    for (; z + ZB <= a->f->nz; z += ZB) forward_points(kind, ZB, a, z);
    for (; z < a->f->nz; z++) forward_points(kind, 1, a, z);
}

void MCP_ISA_FN(mcp_stationary_forward) MCP_LEAF_FORWARD_ARGS
{
    const batch a = {f, n, ld, rows, K, ldk, add};
    switch (f->kind) {
    case MCP_K_MATERN32: forward_kind(MCP_K_MATERN32, &a); break;
    case MCP_K_MATERN52: forward_kind(MCP_K_MATERN52, &a); break;
    default: forward_kind(MCP_K_RQ, &a); break;
    }
}

/* The slope is evaluated again: cheaper than a second matrix on the tape. */
MCP_INLINE double slope_kind(mcp_kernel_kind kind, const mcp_leaf *f, int ld, const double *rows,
                               const double *kbar, int ldb, double *c)
{
    mcp_v q[ZB][MCP_NV], sum[MCP_NV], slope, part;
    for (int v = 0; v < MCP_NV; v++) sum[v] = mcp_v_all(0.0);
    for (int z = 0; z < f->nz; z++) {
        distances(1, f->D, f->Z + (size_t)z * (size_t)f->D, ld, rows, q);
        for (int v = 0; v < MCP_NV; v++) {
            mcp_v bar = mcp_v_load(kbar + (size_t)z * (size_t)ldb + v * MCP_W);
            value(kind, f->s2, f->alpha, q[0][v], &slope, &part);
            mcp_v_store(c + (size_t)z * MCP_LANES + v * MCP_W, bar * slope);
            sum[v] += bar * part;
        }
    }
    return mcp_v_sum_lanes(sum);
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
        mcp_v x[MCP_NV], sum[MCP_NV];
        for (int v = 0; v < MCP_NV; v++) {
            x[v]   = mcp_v_load(rows + (size_t)d * (size_t)ld + v * MCP_W);
            sum[v] = mcp_v_all(0.0);
        }
        for (int z = 0; z < f->nz; z++) {
            mcp_v zd = mcp_v_all(f->Z[(size_t)z * (size_t)f->D + (size_t)d]);
            for (int v = 0; v < MCP_NV; v++) {
                mcp_v r = x[v] - zd;
                sum[v] += r * r * mcp_v_load(c + (size_t)z * MCP_LANES + v * MCP_W);
            }
        }
        dl[d] += 2.0 * mcp_v_sum_lanes(sum);
    }
}
