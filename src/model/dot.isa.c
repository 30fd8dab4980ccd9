/* dot.isa.c - dot-product kernels (linear, pi, mp) over batches of lanes, and the reductions all kernels
 * share. factor_r[z][j] = s_r + sum_d Z[z][r D + d] rows[d][j],  Z holds g_rd z_d;     k = prod_r factor_r
 *   dk/dx_d = sum_r rest_r Z[z][r D + d],  rest_r = product of the other factors */
#include <stddef.h>

#include "model/lanes.h"
#include "model/leaf.h"

/* One factor of nb points at the lanes of row. */
LANES_INLINE void factor(int nb, int D, int cols, const double *Z, double offset, int ld, const double *row,
                         vd out[][NV])
{
    for (int b = 0; b < nb; b++)
        for (int v = 0; v < NV; v++) out[b][v] = v_set(offset);
    for (int d = 0; d < D; d++) {
        vd x[NV];
        for (int v = 0; v < NV; v++) x[v] = v_load(row + (size_t)d * (size_t)ld + v * VW);
        for (int b = 0; b < nb; b++) {
            vd g = v_set(Z[(size_t)b * (size_t)cols + (size_t)d]);
            for (int v = 0; v < NV; v++) out[b][v] += g * x[v];
        }
    }
}

LANES_INLINE void forward_points(int nb, const mcp_leaf *f, const double *Z, int n, int ld,
                                 const double *rows, double *K, int ldk, int add)
{
    vd k[4][NV], g[4][NV];
    for (int j = 0; j < n; j += MCP_LANES) {
        factor(nb, f->D, f->cols, Z, f->offset[0], ld, rows + j, k);
        for (int r = 1; r < f->degree; r++) {
            factor(nb, f->D, f->cols, Z + r * f->D, f->offset[r], ld, rows + j, g);
            for (int b = 0; b < nb; b++)
                for (int v = 0; v < NV; v++) k[b][v] *= g[b][v];
        }
        for (int b = 0; b < nb; b++)
            for (int v = 0; v < NV; v++) {
                double *out = K + (size_t)b * (size_t)ldk + j + v * VW;
                v_store(out, add ? v_load(out) + k[b][v] : k[b][v]);
            }
    }
}

void MCP_ISA_FN(mcp_dot_forward) MCP_LEAF_FORWARD_ARGS
{
    int z = 0;
    for (; z + 4 <= f->nz; z += 4)
        forward_points(4, f, f->Z + (size_t)z * (size_t)f->cols, n, ld, rows, K + (size_t)z * (size_t)ldk,
                       ldk, add);
    for (; z < f->nz; z++)
        forward_points(1, f, f->Z + (size_t)z * (size_t)f->cols, n, ld, rows, K + (size_t)z * (size_t)ldk,
                       ldk, add);
}

LANES_INLINE void rest_points(int nb, const mcp_leaf *f, int r, const double *Z, int ld, const double *rows,
                              const double *kbar, int ldb, double *c)
{
    vd k[4][NV], g[4][NV];
    for (int b = 0; b < nb; b++)
        for (int v = 0; v < NV; v++) k[b][v] = v_load(kbar + (size_t)b * (size_t)ldb + v * VW);
    for (int s = 0; s < f->degree; s++) {
        if (s == r) continue;
        factor(nb, f->D, f->cols, Z + s * f->D, f->offset[s], ld, rows, g);
        for (int b = 0; b < nb; b++)
            for (int v = 0; v < NV; v++) k[b][v] *= g[b][v];
    }
    for (int b = 0; b < nb; b++)
        for (int v = 0; v < NV; v++) v_store(c + b * MCP_LANES + v * VW, k[b][v]);
}

void MCP_ISA_FN(mcp_dot_rest) MCP_LEAF_REST_ARGS
{
    int z = 0;
    for (; z + 4 <= f->nz; z += 4)
        rest_points(4, f, r, f->Z + (size_t)z * (size_t)f->cols, ld, rows, kbar + (size_t)z * (size_t)ldb,
                    ldb, c + (size_t)z * MCP_LANES);
    for (; z < f->nz; z++)
        rest_points(1, f, r, f->Z + (size_t)z * (size_t)f->cols, ld, rows, kbar + (size_t)z * (size_t)ldb,
                    ldb, c + (size_t)z * MCP_LANES);
}

/* nd columns of A at once, their sums in registers; the lanes of one native vector. */
LANES_INLINE void reduce_columns(int nd, int nz, const double *A, int lda, const double *c, int ldc,
                                 double *S, double *S0)
{
    vd sum[8], total = v_set(0.0);
    for (int d = 0; d < nd; d++) sum[d] = v_set(0.0);
    for (int z = 0; z < nz; z++) {
        vd            cz = v_load(c + (size_t)z * (size_t)ldc);
        const double *a  = A + (size_t)z * (size_t)lda;
        for (int d = 0; d < nd; d++) sum[d] += a[d] * cz;
        total += cz;
    }
    for (int d = 0; d < nd; d++) v_store(S + d * MCP_LANES, sum[d]);
    v_store(S0, total);
}

void MCP_ISA_FN(mcp_leaf_reduce) MCP_LEAF_REDUCE_ARGS
{
    double *S0 = S + D * MCP_LANES;
    for (int v = 0; v < NV; v++)
        for (int d = 0; d < D; d += 8) {
            const double *cv = c + v * VW, *a = A + d;
            double       *out = S + d * MCP_LANES + v * VW, *s0 = S0 + v * VW;
            switch (D - d) {
            case 1: reduce_columns(1, nz, a, lda, cv, ldc, out, s0); break;
            case 2: reduce_columns(2, nz, a, lda, cv, ldc, out, s0); break;
            case 3: reduce_columns(3, nz, a, lda, cv, ldc, out, s0); break;
            case 4: reduce_columns(4, nz, a, lda, cv, ldc, out, s0); break;
            case 5: reduce_columns(5, nz, a, lda, cv, ldc, out, s0); break;
            case 6: reduce_columns(6, nz, a, lda, cv, ldc, out, s0); break;
            case 7: reduce_columns(7, nz, a, lda, cv, ldc, out, s0); break;
            default: reduce_columns(8, nz, a, lda, cv, ldc, out, s0); break;
            }
        }
}

/* Even and odd points apart: enough chains of additions, in the same order for every batch. */
void MCP_ISA_FN(mcp_moments_forward) MCP_MOMENTS_ARGS
{
    for (int j = 0; j < n; j += MCP_LANES) {
        vd  m[2][NV], s[2][NV];
        int z = 0;
        for (int v = 0; v < NV; v++) m[0][v] = m[1][v] = s[0][v] = s[1][v] = v_set(0.0);
        for (; z + 2 <= nv; z += 2)
            for (int odd = 0; odd < 2; odd++) {
                const double *Kz = K + (size_t)(z + odd) * (size_t)ldk + j,
                             *Vz = V + (size_t)(z + odd) * (size_t)ldv + j;
                for (int v = 0; v < NV; v++) {
                    vd k = v_load(Kz + v * VW);
                    m[odd][v] += alpha[z + odd] * k;
                    s[odd][v] += k * v_load(Vz + v * VW);
                }
            }
        for (; z < nv; z++)
            for (int v = 0; v < NV; v++) {
                vd k = v_load(K + (size_t)z * (size_t)ldk + j + v * VW);
                m[0][v] += alpha[z] * k;
                s[0][v] += k * v_load(V + (size_t)z * (size_t)ldv + j + v * VW);
            }
        for (; z < nz; z++)
            for (int v = 0; v < NV; v++)
                m[z & 1][v] += alpha[z] * v_load(K + (size_t)z * (size_t)ldk + j + v * VW);
        for (int v = 0; v < NV; v++) {
            v_store(mean + j + v * VW, m[0][v] + m[1][v]);
            v_store(dotted + j + v * VW, s[0][v] + s[1][v]);
        }
    }
}

void MCP_ISA_FN(mcp_moments_backward) MCP_KBAR_ARGS
{
    vd m[NV], s[NV];
    for (int v = 0; v < NV; v++) {
        m[v] = v_load(mean_bar + v * VW);
        s[v] = -2.0 * v_load(var_bar + v * VW);
    }
    for (int z = 0; z < nv; z++)
        for (int v = 0; v < NV; v++)
            v_store(kbar + (size_t)z * MCP_LANES + v * VW,
                    m[v] * alpha[z] + s[v] * v_load(V + (size_t)z * (size_t)ldv + v * VW));
    for (int z = nv; z < nz; z++)
        for (int v = 0; v < NV; v++) v_store(kbar + (size_t)z * MCP_LANES + v * VW, m[v] * alpha[z]);
}
