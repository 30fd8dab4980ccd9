/* dot.isa.c - dot-product kernels (linear, pi, mp) over batches of lanes, and the reductions all kernels
 * share. factor_r[z][j] = s_r + sum_d Z[z][r D + d] rows[d][j],  Z holds g_rd z_d;     k = prod_r factor_r
 *   dk/dx_d = sum_r rest_r Z[z][r D + d],  rest_r = product of the other factors */
#include <stddef.h>

#include "math/lanes.h"
#include "model/leaf.h"

/* One factor of nb points at the lanes of row. */
MCP_INLINE void factor(int nb, int D, int cols, const double *Z, double offset, int ld, const double *row,
                         mcp_v out[][MCP_NV])
{
    for (int b = 0; b < nb; b++)
        for (int v = 0; v < MCP_NV; v++) out[b][v] = mcp_v_all(offset);
    for (int d = 0; d < D; d++) {
        mcp_v x[MCP_NV];
        for (int v = 0; v < MCP_NV; v++) x[v] = mcp_v_load(row + (size_t)d * (size_t)ld + v * MCP_W);
        for (int b = 0; b < nb; b++) {
            mcp_v g = mcp_v_all(Z[(size_t)b * (size_t)cols + (size_t)d]);
            for (int v = 0; v < MCP_NV; v++) out[b][v] += g * x[v];
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
MCP_INLINE void forward_points(int nb, const batch *a, int z)
{
    const mcp_leaf *f = a->f;
    const double   *Z = f->Z + (size_t)z * (size_t)f->cols;
    mcp_v           k[4][MCP_NV], g[4][MCP_NV];
    for (int j = 0; j < a->n; j += MCP_LANES) {
        factor(nb, f->D, f->cols, Z, f->offset[0], a->ld, a->rows + j, k);
        for (int r = 1; r < f->degree; r++) {
            factor(nb, f->D, f->cols, Z + r * f->D, f->offset[r], a->ld, a->rows + j, g);
            for (int b = 0; b < nb; b++)
                for (int v = 0; v < MCP_NV; v++) k[b][v] *= g[b][v];
        }
        for (int b = 0; b < nb; b++)
            for (int v = 0; v < MCP_NV; v++) {
                double *out = a->K + (size_t)(z + b) * (size_t)a->ldk + j + v * MCP_W;
                mcp_v_store(out, a->add ? mcp_v_load(out) + k[b][v] : k[b][v]);
            }
    }
}

void MCP_ISA_FN(mcp_dot_forward) MCP_LEAF_FORWARD_ARGS
{
    const batch a = {f, n, ld, rows, K, ldk, add};
    int         z = 0;
    for (; z + 4 <= f->nz; z += 4) forward_points(4, &a, z);
    for (; z < f->nz; z++) forward_points(1, &a, z);
}

typedef struct {
    const mcp_leaf *f;
    int             r, ld; /* r: the factor left out */
    const double   *rows, *kbar;
    int             ldb;
    double         *c;
} strip;

/* nb points from the z-th on */
MCP_INLINE void rest_points(int nb, const strip *a, int z)
{
    const mcp_leaf *f = a->f;
    const double   *Z = f->Z + (size_t)z * (size_t)f->cols;
    mcp_v           k[4][MCP_NV], g[4][MCP_NV];
    for (int b = 0; b < nb; b++)
        for (int v = 0; v < MCP_NV; v++)
            k[b][v] = mcp_v_load(a->kbar + (size_t)(z + b) * (size_t)a->ldb + v * MCP_W);
    for (int s = 0; s < f->degree; s++) {
        if (s == a->r) continue;
        factor(nb, f->D, f->cols, Z + s * f->D, f->offset[s], a->ld, a->rows, g);
        for (int b = 0; b < nb; b++)
            for (int v = 0; v < MCP_NV; v++) k[b][v] *= g[b][v];
    }
    for (int b = 0; b < nb; b++)
        for (int v = 0; v < MCP_NV; v++) mcp_v_store(a->c + (z + b) * MCP_LANES + v * MCP_W, k[b][v]);
}

void MCP_ISA_FN(mcp_dot_rest) MCP_LEAF_REST_ARGS
{
    const strip a = {f, r, ld, rows, kbar, ldb, c};
    int         z = 0;
    for (; z + 4 <= f->nz; z += 4) rest_points(4, &a, z);
    for (; z < f->nz; z++) rest_points(1, &a, z);
}

/* nd columns of A at once, their sums in registers; the lanes of one native vector. */
MCP_INLINE void reduce_columns(int nd, int nz, const double *A, int lda, const double *c, int ldc,
                                 double *S, double *S0)
{
    mcp_v sum[8], total = mcp_v_all(0.0);
    for (int d = 0; d < nd; d++) sum[d] = mcp_v_all(0.0);
    for (int z = 0; z < nz; z++) {
        mcp_v            cz = mcp_v_load(c + (size_t)z * (size_t)ldc);
        const double *a  = A + (size_t)z * (size_t)lda;
        for (int d = 0; d < nd; d++) sum[d] += a[d] * cz;
        total += cz;
    }
    for (int d = 0; d < nd; d++) mcp_v_store(S + d * MCP_LANES, sum[d]);
    mcp_v_store(S0, total);
}

void MCP_ISA_FN(mcp_leaf_reduce) MCP_LEAF_REDUCE_ARGS
{
    double *S0 = S + D * MCP_LANES;
    for (int v = 0; v < MCP_NV; v++)
        for (int d = 0; d < D; d += 8) {
            const double *cv = c + v * MCP_W, *a = A + d;
            double       *out = S + d * MCP_LANES + v * MCP_W, *s0 = S0 + v * MCP_W;
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
        mcp_v m[2][MCP_NV], s[2][MCP_NV];
        for (int v = 0; v < MCP_NV; v++) m[0][v] = m[1][v] = s[0][v] = s[1][v] = mcp_v_all(0.0);
        for (int z = 0; z < nz; z++)
            for (int v = 0; v < MCP_NV; v++)
                m[z & 1][v] += alpha[z] * mcp_v_load(K + (size_t)z * (size_t)ld + j + v * MCP_W);
        for (int z = 0; z < nv; z++)
            for (int v = 0; v < MCP_NV; v++) {
                mcp_v a = mcp_v_load(A + (size_t)z * (size_t)ld + j + v * MCP_W);
                s[z & 1][v] += a * a;
            }
        for (int v = 0; v < MCP_NV; v++) {
            mcp_v_store(mean + j + v * MCP_W, m[0][v] + m[1][v]);
            mcp_v_store(squares + j + v * MCP_W, s[0][v] + s[1][v]);
        }
    }
}

void MCP_ISA_FN(mcp_moments_backward) MCP_KBAR_ARGS
{
    mcp_v m[MCP_NV], s[MCP_NV];
    for (int v = 0; v < MCP_NV; v++) {
        m[v] = mcp_v_load(mean_bar + v * MCP_W);
        s[v] = -2.0 * mcp_v_load(var_bar + v * MCP_W);
    }
    for (int z = 0; z < nv; z++)
        for (int v = 0; v < MCP_NV; v++)
            mcp_v_store(kbar + (size_t)z * MCP_LANES + v * MCP_W,
                    m[v] * alpha[z] + s[v] * mcp_v_load(V + (size_t)z * (size_t)ldv + v * MCP_W));
    for (int z = nv; z < nz; z++)
        for (int v = 0; v < MCP_NV; v++)
            mcp_v_store(kbar + (size_t)z * MCP_LANES + v * MCP_W, m[v] * alpha[z]);
}
