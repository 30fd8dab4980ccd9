/* strip.isa.c - see strip.h. Every lane goes through the same operations in the same order, whether its strip
 * has two vectors or, at the end of an odd block, one. */
#include "model/strip.h"

#include <math.h>
#include <string.h>

#include "math/lanes.h"
#include "math/single.h"

/* GROUP points' terms of the row, CHUNK terms of a product are added up in single precision. */
enum { MR = MCP_STRIP_ROWS, GROUP = 16, CHUNK = 16 };

typedef struct {
    const mcp_strip_model *p;
    const mcp_strip_call  *c;
    int                    j;          /* first lane */
    float                 *x, *y, *K, *A; /* [D][STRIP], [L][STRIP], [m][STRIP], [mv][STRIP]: A, then V */
    float                 *E;          /* [m][STRIP] the squared exponential's part of K; K without L */
    double                 mean[MCP_STRIP], square[MCP_STRIP];
} strip;

/* POINTS points abreast: one alone would wait for its own results. Their terms of the mean are added up in
 * single precision, then to the double sum. */
MCP_INLINE void covariances(strip *s, int nv, int D)
{
    enum { POINTS = MCP_STRIP_POINTS };
    const float *x = s->x, *Z = s->p->Z, *Zl = s->p->Zl, *alpha = s->p->alpha;
    float       *K = s->K, *E = s->E;
    const int    m = s->p->m, L = s->p->L;
    mcp_d4       mean[4];
    for (int v = 0; v < 2 * nv; v++) mean[v] = (mcp_d4){0};
    for (int z = 0; z < m; z += POINTS, Z += POINTS * D, K += POINTS * MCP_STRIP) {
        mcp_f8 q[POINTS * 2];
        for (int i = 0; i < POINTS * nv; i++) q[i] = (mcp_f8){0};
        for (int d = 0; d < D; d++)
#pragma GCC unroll 2
            for (int v = 0; v < nv; v++) {
                mcp_f8 xd = mcp_f8_load(x + d * MCP_STRIP + 8 * v);
#pragma GCC unroll 4
                for (int i = 0; i < POINTS; i++) {
                    mcp_f8 r = xd - Z[i * D + d];
                    q[i * nv + v] += r * r;
                }
            }
        mcp_f8_exp2_minus(POINTS * nv, q, 120.0f);
        if (L) {
            for (int i = 0; i < POINTS; i++)
                for (int v = 0; v < nv; v++) mcp_f8_store(E + i * MCP_STRIP + 8 * v, q[i * nv + v]);
            for (int l = 0; l < L; l++)
#pragma GCC unroll 2
                for (int v = 0; v < nv; v++) {
                    mcp_f8 yl = mcp_f8_load(s->y + l * MCP_STRIP + 8 * v);
#pragma GCC unroll 4
                    for (int i = 0; i < POINTS; i++) q[i * nv + v] += Zl[i * L + l] * yl;
                }
            E += POINTS * MCP_STRIP;
            Zl += POINTS * L;
        }
#pragma GCC unroll 2
        for (int v = 0; v < nv; v++) {
            mcp_f8 sum = (mcp_f8){0};
#pragma GCC unroll 4
            for (int i = 0; i < POINTS; i++) {
                mcp_f8_store(K + i * MCP_STRIP + 8 * v, q[i * nv + v]);
                sum += alpha[z + i] * q[i * nv + v];
            }
            mean[2 * v] += mcp_f8_low(sum);
            mean[2 * v + 1] += mcp_f8_high(sum);
        }
    }
    memcpy(s->mean, mean, (size_t)nv * 2 * sizeof *mean);
}

/* MR rows of a panel times k rows of B. CHUNK terms at a time are added up by themselves: the terms are far
 * larger than their sum, and what a long sum loses to rounding grows with its length. */
MCP_INLINE void panel(int nv, int k, const float *a, const float *B, mcp_f8 acc[MR][2])
{
    for (int i = 0; i < MR; i++)
        for (int v = 0; v < nv; v++) acc[i][v] = (mcp_f8){0};
    for (int l0 = 0; l0 < k; l0 += CHUNK) {
        const int l1 = l0 + CHUNK < k ? l0 + CHUNK : k;
        mcp_f8    part[MR][2];
        for (int i = 0; i < MR; i++)
            for (int v = 0; v < nv; v++) part[i][v] = (mcp_f8){0};
#pragma GCC unroll 4
        for (int l = l0; l < l1; l++, a += MR, B += MCP_STRIP) {
            mcp_f8 b[2];
            for (int v = 0; v < nv; v++) b[v] = mcp_f8_load(B + 8 * v);
#pragma GCC unroll 6
            for (int i = 0; i < MR; i++)
                for (int v = 0; v < nv; v++) part[i][v] += a[i] * b[v];
        }
        for (int i = 0; i < MR; i++)
            for (int v = 0; v < nv; v++) acc[i][v] += part[i][v];
    }
}

/* A = W k and the sum of its squares; rows past the last come out as zeros. */
MCP_INLINE void explained(strip *s, int nv)
{
    const int    mv = s->p->mv;
    const float *a = s->p->W;
    mcp_d4       square[4];
    for (int v = 0; v < 2 * nv; v++) square[v] = (mcp_d4){0};
    for (int i0 = 0; i0 < mv; i0 += MR) {
        const int k = i0 + MR < mv ? i0 + MR : mv;
        mcp_f8    acc[MR][2];
        panel(nv, k, a, s->K, acc);
        a += (size_t)k * MR;
        for (int v = 0; v < nv; v++) {
            mcp_f8 sum = (mcp_f8){0};
            for (int i = 0; i < MR; i++) {
                sum += acc[i][v] * acc[i][v];
                mcp_f8_store(s->A + (i0 + i) * MCP_STRIP + 8 * v, acc[i][v]);
            }
            square[2 * v] += mcp_f8_low(sum);
            square[2 * v + 1] += mcp_f8_high(sum);
        }
    }
    memcpy(s->square, square, (size_t)nv * 2 * sizeof *square);
}

/* V = W' A in A's place: a row of V needs only the rows of A from its own on. */
MCP_INLINE void transposed(strip *s, int nv)
{
    const int    mv = s->p->mv;
    const float *a = s->p->Wt;
    for (int i0 = 0; i0 < mv; i0 += MR) {
        mcp_f8 acc[MR][2];
        panel(nv, mv - i0, a, s->A + i0 * MCP_STRIP, acc);
        a += (size_t)(mv - i0) * MR;
        for (int i = 0; i < MR; i++)
            for (int v = 0; v < nv; v++) mcp_f8_store(s->A + (i0 + i) * MCP_STRIP + 8 * v, acc[i][v]);
    }
}

/* Features d0 .. d0+nd-1 of one vector of lanes; share: -lambda^2 eps/std. Adds up
 *   (alpha_z + share V_z) k_z (x_d - z_d)
 * of GROUP points in single precision, then in double. */
MCP_INLINE void row_features(const strip *s, int v, int d0, int nd, const float *share)
{
    const mcp_strip_model *p = s->p;
    const float           *K = s->E + 8 * v, *V = s->A + 8 * v, *Z = p->Z + d0, *alpha = p->alpha;
    const int              m = p->m, D = p->D;
    const mcp_f8           part = mcp_f8_load(share + 8 * v);
    mcp_f8                 x[8], sum[8];
    mcp_d4                 H[16];
    for (int d = 0; d < nd; d++) x[d] = mcp_f8_load(s->x + (d0 + d) * MCP_STRIP + 8 * v);
    for (int d = 0; d < 2 * nd; d++) H[d] = (mcp_d4){0};
    for (int z0 = 0; z0 < m; z0 += GROUP) {
        const int z1 = z0 + GROUP < m ? z0 + GROUP : m;
        for (int d = 0; d < nd; d++) sum[d] = (mcp_f8){0};
        for (int z = z0; z < z1; z++, Z += D) {
            mcp_f8 bar = part * mcp_f8_load(V + z * MCP_STRIP) + alpha[z];
            bar *= mcp_f8_load(K + z * MCP_STRIP);
            for (int d = 0; d < nd; d++) sum[d] += bar * (x[d] - Z[d]);
        }
        for (int d = 0; d < nd; d++) {
            H[2 * d] += mcp_f8_low(sum[d]);
            H[2 * d + 1] += mcp_f8_high(sum[d]);
        }
    }
    for (int d = 0; d < nd; d++) {
        double *to = s->c->row + (size_t)p->feature[d0 + d] * (size_t)s->c->ld + s->j + 8 * v;
        double  h[8], factor = -2.0 * 0.69314718055994531 * p->scale[d0 + d];
        memcpy(h, &H[2 * d], sizeof h);
        for (int i = 0; i < 8; i++) to[i] += factor * h[i];
    }
}

/* The linear kernel's part of the row: (alpha_z + share V_z) w_zl, and what the prior variance adds. */
static void row_line(const strip *s, int v, int l, const float *share)
{
    const mcp_strip_model *p = s->p;
    const float           *V = s->A + 8 * v, *Zl = p->Zl + l;
    const mcp_f8           part = mcp_f8_load(share + 8 * v);
    mcp_d4                 low = {0}, high = {0};
    for (int z0 = 0; z0 < p->m; z0 += GROUP) {
        const int z1 = z0 + GROUP < p->m ? z0 + GROUP : p->m;
        mcp_f8    sum = (mcp_f8){0};
        for (int z = z0; z < z1; z++)
            sum += (part * mcp_f8_load(V + z * MCP_STRIP) + p->alpha[z]) * Zl[z * p->L];
        low += mcp_f8_low(sum);
        high += mcp_f8_high(sum);
    }
    const float *y = s->y + l * MCP_STRIP + 8 * v;
    double      *to = s->c->row + (size_t)p->line_feature[l] * (size_t)s->c->ld + s->j + 8 * v, h[8];
    memcpy(h, &low, sizeof low);
    memcpy(h + 4, &high, sizeof high);
    for (int i = 0; i < 8; i++)
        to[i] += p->line_scale[l] * (h[i] - (double)share[8 * v + i] * (double)y[i]);
}

static void rows(const strip *s, int nv, const float *share)
{
    for (int v = 0; v < nv; v++)
        for (int l = 0; l < s->p->L; l++) row_line(s, v, l, share);
    for (int v = 0; v < nv; v++)
        for (int d0 = 0; d0 < s->p->D; d0 += 8) switch (s->p->D - d0) {
            case 1: row_features(s, v, d0, 1, share); break;
            case 2: row_features(s, v, d0, 2, share); break;
            case 3: row_features(s, v, d0, 3, share); break;
            case 4: row_features(s, v, d0, 4, share); break;
            case 5: row_features(s, v, d0, 5, share); break;
            case 6: row_features(s, v, d0, 6, share); break;
            case 7: row_features(s, v, d0, 7, share); break;
            default: row_features(s, v, d0, 8, share);
            }
}

static void two(strip *s)
{
    switch (s->p->D) {
    case 3: covariances(s, 2, 3); break;
    case 4: covariances(s, 2, 4); break;
    case 5: covariances(s, 2, 5); break;
    case 6: covariances(s, 2, 6); break;
    case 7: covariances(s, 2, 7); break;
    case 8: covariances(s, 2, 8); break;
    default: covariances(s, 2, s->p->D);
    }
    explained(s, 2);
    if (s->c->row) transposed(s, 2);
}

static void one(strip *s)
{
    covariances(s, 1, s->p->D);
    explained(s, 1);
    if (s->c->row) transposed(s, 1);
}

void MCP_ISA_FN(mcp_strip_sample)(const mcp_strip_model *p, const mcp_strip_call *c)
{
    strip s = {.p = p, .c = c, .x = c->work};
    s.y = s.x + p->D * MCP_STRIP;
    s.K = s.y + p->L * MCP_STRIP;
    s.A = s.K + (size_t)p->m * MCP_STRIP;
    s.E = p->L ? s.A + (size_t)((p->m > p->mv ? p->m : p->mv) + MCP_STRIP_ROWS) * MCP_STRIP : s.K;
    for (int i = p->mv * MCP_STRIP; i < p->m * MCP_STRIP; i++) s.A[i] = 0.0f; /* V of the mean's own points */
    for (s.j = 0; s.j < c->n; s.j += MCP_STRIP) {
        const int lanes = c->n - s.j < MCP_STRIP ? c->n - s.j : MCP_STRIP;
        float     share[MCP_STRIP];
        for (int d = 0; d < p->D; d++) {
            const double *f = c->F + (size_t)p->feature[d] * (size_t)c->ld + s.j;
            for (int i = 0; i < lanes; i++)
                s.x[d * MCP_STRIP + i] = (float)((f[i] - p->centre[d]) * p->scale[d]);
        }
        double prior[MCP_STRIP];
        for (int i = 0; i < lanes; i++) prior[i] = 1.0;
        for (int l = 0; l < p->L; l++) {
            const double *f = c->F + (size_t)p->line_feature[l] * (size_t)c->ld + s.j;
            for (int i = 0; i < lanes; i++) {
                double y = f[i] * p->line_scale[l];
                s.y[l * MCP_STRIP + i] = (float)y;
                prior[i] += y * y;
            }
        }
        if (lanes == MCP_STRIP) two(&s);
        else one(&s);
        for (int i = 0; i < lanes; i++) {
            double v = p->lambda2 * (prior[i] - s.square[i]);
            int    low = v < p->floor;
            double std = sqrt((low ? p->floor : v) + c->more);
            share[i] = low ? 0.0f : (float)(-p->lambda2 * c->eps[s.j + i] / std);
            c->mean[s.j + i] = s.mean[i];
            c->std[s.j + i] = std;
        }
        if (c->row) rows(&s, lanes / 8, share);
    }
}
