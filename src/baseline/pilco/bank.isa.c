/* bank.isa.c - the loops over training points of moment matching. */
#include "baseline/pilco/bank_levels.h"

#include "math/simd.h"

static inline double total(mcp_v v)
{
    double s = 0;
    for (int i = 0; i < MCP_W; i++) s += v[i];
    return s;
}

/* One vector of P for row i at column j. */
static inline mcp_v entry(const mcp_bank_rows_args *a, double Ai, const double *g, const double *weight, int j)
{
    mcp_v x = mcp_v_all(Ai) + mcp_v_load(a->B + j);
    for (int d = 0; d < a->D; d++) x += g[d] * mcp_v_load(a->w + d * a->ld + j);
    return mcp_v_load(weight + j) * mcp_v_exp(x);
}

/* Sums over the columns of one row, features d .. d+3 at a time: P is read back from p, four sums share each read. */
static inline void row_products(const mcp_bank_rows_args *a, int from, const double *p, double *Y)
{
    int d = 0;
    for (; d + 4 <= a->D; d += 4) {
        const double *w = a->w + d * a->ld;
        mcp_v         y0 = {0}, y1 = {0}, y2 = {0}, y3 = {0};
        for (int j = from; j < a->ld; j += MCP_W) {
            mcp_v v = mcp_v_load(p + j);
            y0 += v * mcp_v_load(w + j);
            y1 += v * mcp_v_load(w + a->ld + j);
            y2 += v * mcp_v_load(w + 2 * a->ld + j);
            y3 += v * mcp_v_load(w + 3 * a->ld + j);
        }
        Y[d] = total(y0), Y[d + 1] = total(y1), Y[d + 2] = total(y2), Y[d + 3] = total(y3);
    }
    for (; d < a->D; d++) {
        const double *w = a->w + d * a->ld;
        mcp_v         y = {0};
        for (int j = from; j < a->ld; j += MCP_W) y += mcp_v_load(p + j) * mcp_v_load(w + j);
        Y[d] = total(y);
    }
}

void MCP_ISA_FN(mcp_bank_rows)(const mcp_bank_rows_args *a)
{
    double *p = a->r + a->ld; /* a row of P, behind r */
    for (int i = 0; i < a->n; i++) {
        int           from = a->upper ? i / MCP_LANES * MCP_LANES : 0;
        const double *g = a->g + i * a->D, *weight = a->weight + (long)i * a->stride;
        double        f = a->factor ? a->factor[i] : 1.0;
        mcp_v         sum = {0};
        for (int j = from; j < a->ld; j += MCP_W) {
            mcp_v v = entry(a, a->A[i], g, weight, j);
            mcp_v_store(p + j, v);
            mcp_v_store(a->c + j, mcp_v_load(a->c + j) + f * v);
            sum += v;
        }
        a->r[i] = total(sum);
        row_products(a, from, p, a->Y + i * a->D);
    }
}

void MCP_ISA_FN(mcp_bank_sums)(int ld, int D, const double *s, const double *t, double *p, double *T1, double *T2, double *T3,
                               double *T4)
{
    mcp_v sum = {0};
    for (int j = 0; j < ld; j += MCP_W) sum += mcp_v_load(s + j);
    *T1 = total(sum);
    for (int d = 0; d < D; d++) {
        const double *td = t + d * ld;
        sum = (mcp_v){0};
        for (int j = 0; j < ld; j += MCP_W) sum += mcp_v_load(s + j) * mcp_v_load(td + j);
        T2[d] = total(sum);
        for (int e = 0; e <= d; e++) {
            const double *te = t + e * ld;
            sum = (mcp_v){0};
            for (int j = 0; j < ld; j += MCP_W) {
                mcp_v v = mcp_v_load(s + j) * mcp_v_load(td + j) * mcp_v_load(te + j);
                mcp_v_store(p + j, v);
                sum += v;
            }
            T3[d * D + e] = T3[e * D + d] = total(sum);
            for (int f = 0; f <= e; f++) {
                const double *tf = t + f * ld;
                sum = (mcp_v){0};
                for (int j = 0; j < ld; j += MCP_W) sum += mcp_v_load(p + j) * mcp_v_load(tf + j);
                double v = total(sum);
                T4[(d * D + e) * D + f] = T4[(d * D + f) * D + e] = T4[(e * D + d) * D + f] = v;
                T4[(e * D + f) * D + d] = T4[(f * D + d) * D + e] = T4[(f * D + e) * D + d] = v;
            }
        }
    }
}
