/* bank.isa.c - the loops over training points of moment matching. */
#include "baseline/pilco/bank_levels.h"

#include <string.h>

#include "math/simd.h"

#define ALWAYS static inline __attribute__((always_inline))

static inline double total(mcp_v v)
{
    double s = 0;
    for (int i = 0; i < MCP_W; i++) s += v[i];
    return s;
}

/* exp for the sums below: arguments are at most about 0 here, rarely far below; within 2 units in the last
 * place. In line, so that the sums stay in registers; below -708 it stays at exp(-708), where any weight
 * makes nothing of it. NaN stays NaN. */
static inline mcp_v fast_exp(mcp_v x)
{
    const double magic = 6755399441055744.0; /* 1.5 2^52: the integer part of the sum sits in its low bits */
    mcp_vu       low = (mcp_vu)(x < -708.0), high = (mcp_vu)(x > 709.0);
    x = (mcp_v)((low & (mcp_vu)mcp_v_all(-708.0)) | (high & (mcp_vu)mcp_v_all(709.0)) |
                (~(low | high) & (mcp_vu)x));
    mcp_v  shifted = x * 1.4426950408889634 + magic, n = shifted - magic;
    mcp_v  r = x - n * 0.6931471803691238 - n * 1.9082149292705877e-10, r2 = r * r, r4 = r2 * r2;
    mcp_vu power = ((mcp_vu)shifted + 1023) << 52;
    mcp_v  p0 = r * (1.0 / 6) + 0.5, p1 = r * (1.0 / 120) + 1.0 / 24, p2 = r * (1.0 / 5040) + 1.0 / 720,
          p3 = r * (1.0 / 362880) + 1.0 / 40320, p4 = r * (1.0 / 39916800) + 1.0 / 3628800;
    mcp_v q = (p1 * r2 + p0) + r4 * ((p3 * r2 + p2) + r4 * (p4 + r2 * (1.0 / 479001600)));
    return (mcp_v)power * (1 + (r + r2 * q));
}

/* P for rows i and i+1. */
ALWAYS void two_rows(const mcp_bank_rows_args *a, int D, int i, int from, double *p0, double *p1)
{
    const double *g0 = a->g + i * D, *g1 = g0 + D, *w0 = a->weight + (long)i * a->stride,
                 *w1 = w0 + a->stride;
    double        f0 = a->factor ? a->factor[i] : 1.0, f1 = a->factor ? a->factor[i + 1] : 1.0;
    mcp_v         s0 = {0}, s1 = {0};
    for (int j = from; j < a->ld; j += MCP_W) {
        mcp_v b = mcp_v_load(a->B + j), x0 = a->A[i] + b, x1 = a->A[i + 1] + b;
        for (int d = 0; d < D; d++) {
            mcp_v w = mcp_v_load(a->w + d * a->ld + j);
            x0 += g0[d] * w;
            x1 += g1[d] * w;
        }
        x0 = mcp_v_load(w0 + j) * fast_exp(x0);
        x1 = mcp_v_load(w1 + j) * fast_exp(x1);
        mcp_v_store(p0 + j, x0);
        mcp_v_store(p1 + j, x1);
        mcp_v_store(a->c + j, mcp_v_load(a->c + j) + (f0 * x0 + f1 * x1));
        s0 += x0;
        s1 += x1;
    }
    a->r[i] = total(s0);
    a->r[i + 1] = total(s1);
}

ALWAYS void one_row(const mcp_bank_rows_args *a, int D, int i, int from, double *p)
{
    const double *g = a->g + i * D, *weight = a->weight + (long)i * a->stride;
    double        f = a->factor ? a->factor[i] : 1.0;
    mcp_v         sum = {0};
    for (int j = from; j < a->ld; j += MCP_W) {
        mcp_v x = a->A[i] + mcp_v_load(a->B + j);
        for (int d = 0; d < D; d++) x += g[d] * mcp_v_load(a->w + d * a->ld + j);
        x = mcp_v_load(weight + j) * fast_exp(x);
        mcp_v_store(p + j, x);
        mcp_v_store(a->c + j, mcp_v_load(a->c + j) + f * x);
        sum += x;
    }
    a->r[i] = total(sum);
}

/* Y of two rows: each column of w is read once for both, two features at a time. */
ALWAYS void two_products(const mcp_bank_rows_args *a, int D, int from, const double *p0, const double *p1,
                         double *Y0, double *Y1)
{
    int d = 0, ld = a->ld;
    for (; d + 3 <= D; d += 3) {
        const double *u = a->w + d * ld, *v = u + ld, *w = v + ld;
        mcp_v         u0 = {0}, u1 = {0}, v0 = {0}, v1 = {0}, w0 = {0}, w1 = {0};
        for (int j = from; j < ld; j += MCP_W) {
            mcp_v x0 = mcp_v_load(p0 + j), x1 = mcp_v_load(p1 + j), c = mcp_v_load(u + j);
            u0 += x0 * c;
            u1 += x1 * c;
            c = mcp_v_load(v + j);
            v0 += x0 * c;
            v1 += x1 * c;
            c = mcp_v_load(w + j);
            w0 += x0 * c;
            w1 += x1 * c;
        }
        Y0[d] = total(u0);
        Y0[d + 1] = total(v0);
        Y0[d + 2] = total(w0);
        Y1[d] = total(u1);
        Y1[d + 1] = total(v1);
        Y1[d + 2] = total(w1);
    }
    for (; d < D; d++) {
        const double *w = a->w + d * ld;
        mcp_v         y0 = {0}, y1 = {0};
        for (int j = from; j < ld; j += MCP_W) {
            y0 += mcp_v_load(p0 + j) * mcp_v_load(w + j);
            y1 += mcp_v_load(p1 + j) * mcp_v_load(w + j);
        }
        Y0[d] = total(y0);
        Y1[d] = total(y1);
    }
}

ALWAYS void rows(const mcp_bank_rows_args *a, int D)
{
    double *p0 = a->P, *p1 = p0 + a->ld;
    int     i = 0;
    for (; i + 2 <= a->n; i += 2) {
        int from =
            a->upper ? i / MCP_LANES * MCP_LANES : 0; /* i is even: both rows begin in the same group */
        two_rows(a, D, i, from, p0, p1);
        two_products(a, D, from, p0, p1, a->Y + i * D, a->Y + (i + 1) * D);
    }
    if (i < a->n) {
        int from = a->upper ? i / MCP_LANES * MCP_LANES : 0;
        one_row(a, D, i, from, p0);
        memset(p1, 0, (size_t)a->ld * sizeof *p1);
        two_products(a, D, from, p0, p1, a->Y + i * D, a->Y + (i + 1) * D); /* Y has room for one row more */
    }
}

/* Sizes of small robots get loops of known length. */
void MCP_ISA_FN(mcp_bank_rows)(const mcp_bank_rows_args *a)
{
    switch (a->D) {
    case 4: rows(a, 4); break;
    case 5: rows(a, 5); break;
    case 6: rows(a, 6); break;
    case 7: rows(a, 7); break;
    case 8: rows(a, 8); break;
    default: rows(a, a->D);
    }
}

void MCP_ISA_FN(mcp_bank_sums)(int ld, int D, const double *s, const double *t, double *p, double *T1,
                               double *T2, double *T3, double *T4)
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
