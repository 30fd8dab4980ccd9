/* rbf_single.isa.c - the basis functions of rbf.isa.c in single precision: eight bases of one lane a vector.
 *
 * The differences F = s (f - m) and C = s (c - m) are made in double precision and rounded; distances, powers
 * of two, sums over bases and sums over lanes are single. A net with one output leaves on its way forward
 *   S = sum_i w_i phi_i,  S_d = sum_i w_i C_id phi_i
 * so that with the output's adjoint o, g_i = o w_i phi_i has the sums G = o S and H_d = o S_d: the features'
 * adjoints are free, and all that the way back takes from the activations is sum_b phi_i o and
 * sum_b phi_i o F_d. Nets with several outputs make g on their way back.
 *
 *   table  of a net, from mcp_program_tabulate: scale [D], shift [D] in double precision; then ones [padded],
 *          C [D][padded], w [K][padded], and w C [D][padded] if K = 1. Bases that are not there have no
 *          weight.
 *   tape   of a group of lanes: F [D][lane], S [1+D][lane] if K = 1, phi [padded/8][lane][8]
 *   sums   K = 1: sum_b phi o, sum_b phi o F_d; else as in rbf.isa.c; in single precision, see
 *          mcp_program_sums_add */
#include <string.h>

#include "math/single.h"
#include "program/batch_call.h"

_Static_assert(MCP_LANES == 8, "a group of lanes is as wide as a vector here");

enum { TILE = 8 * MCP_LANES, CHUNK = 8 }; /* activations of eight bases; rows whose sums fit into registers */

/* One group of lanes. */
typedef struct {
    int            n, D, K, padded;
    const double  *scale, *shift;
    const float   *ones, *C, *w;
    float         *F, *S, *phi;
    const uint8_t *keep;
} group;

static group group_at(const mcp_net_run *c, int b)
{
    const int     D = c->net->net.features, K = c->net->net.outputs;
    const size_t  P = (size_t)c->net->padded, S = K == 1 ? (size_t)(1 + D) : 0;
    const double *t = c->table;
    group         a = {.n = c->net->net.units[0], .D = D, .K = K, .padded = c->net->padded};
    a.scale = t;
    a.shift = t + D;
    a.ones  = (const void *)(t + 2 * (size_t)D);
    a.C     = a.ones + P;
    a.w     = a.C + (size_t)D * P;
    a.F     = (float *)(void *)c->tape + (size_t)b * ((size_t)D + S + P);
    a.S     = a.F + (size_t)D * MCP_LANES;
    a.phi   = a.S + S * MCP_LANES;
    a.keep  = c->keep ? c->keep + (size_t)(b / MCP_LANES) * c->keep_stride : NULL;
    return a;
}

/* Eight vectors as rows of a matrix, transposed. */
MCP_INLINE void transpose(mcp_f8 *x)
{
    mcp_f8 a[8];
    for (int i = 0; i < 8; i += 2) {
        a[i]     = __builtin_shufflevector(x[i], x[i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
        a[i + 1] = __builtin_shufflevector(x[i], x[i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
    }
    for (int i = 0; i < 8; i += 4) {
        x[i]     = __builtin_shufflevector(a[i], a[i + 2], 0, 1, 8, 9, 4, 5, 12, 13);
        x[i + 1] = __builtin_shufflevector(a[i], a[i + 2], 2, 3, 10, 11, 6, 7, 14, 15);
        x[i + 2] = __builtin_shufflevector(a[i + 1], a[i + 3], 0, 1, 8, 9, 4, 5, 12, 13);
        x[i + 3] = __builtin_shufflevector(a[i + 1], a[i + 3], 2, 3, 10, 11, 6, 7, 14, 15);
    }
    for (int i = 0; i < 4; i++) {
        mcp_f8 low = __builtin_shufflevector(x[i], x[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        x[i + 4]   = __builtin_shufflevector(x[i], x[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
        x[i]       = low;
    }
}

/* phi where the byte is all ones, 0 where it is 0. */
MCP_INLINE mcp_f8 kept(const uint8_t *keep, mcp_f8 phi)
{
#if defined(__AVX2__)
    return (mcp_f8)((mcp_i8)_mm256_cvtepi8_epi32(_mm_loadl_epi64((const void *)keep)) & (mcp_i8)phi);
#else
    typedef int8_t b8 __attribute__((vector_size(8)));
    b8 bytes;
    memcpy(&bytes, keep, sizeof bytes);
    return (mcp_f8)(__builtin_convertvector(bytes, mcp_i8) & (mcp_i8)phi);
#endif
}

enum { ABREAST = 8 }; /* lanes whose exponentials go side by side: one alone would wait for itself */

/* phi of all bases for ABREAST lanes: F, phi and keep from the first of them on. Beyond 2^-64, below all that
 * single precision adds up, it stays there. */
MCP_INLINE void some_lanes(int D, int padded, const float *C, const float *F, const uint8_t *keep, float *phi)
{
    const int drop = keep != NULL;
    for (int i = 0; i < padded; i += 8, C += 8, phi += TILE, keep += drop ? TILE : 0) {
        mcp_f8 q[ABREAST];
        for (int j = 0; j < ABREAST; j++) q[j] = (mcp_f8){0};
        for (int d = 0; d < D; d++) {
            mcp_f8 c = mcp_f8_load(C + (size_t)d * (size_t)padded);
#pragma GCC unroll 8
            for (int j = 0; j < ABREAST; j++) {
                mcp_f8 r = F[d * MCP_LANES + j] - c;
                q[j] += r * r;
            }
        }
        mcp_f8_exp2_minus(ABREAST, q, 64.0f);
#pragma GCC unroll 8
        for (int j = 0; j < ABREAST; j++) mcp_f8_store(phi + j * 8, drop ? kept(keep + j * 8, q[j]) : q[j]);
    }
}

MCP_INLINE void activate(const group *a, int D)
{
    for (int l = 0; l < MCP_LANES; l += ABREAST)
        if (a->keep) some_lanes(D, a->padded, a->C, a->F + l, a->keep + l * 8, a->phi + l * 8);
        else some_lanes(D, a->padded, a->C, a->F + l, NULL, a->phi + l * 8);
}

/* The usual numbers of features as constants. */
static void choose_activate(const group *a)
{
    switch (a->D) {
    case 1: activate(a, 1); break;
    case 2: activate(a, 2); break;
    case 3: activate(a, 3); break;
    case 4: activate(a, 4); break;
    case 5: activate(a, 5); break;
    case 6: activate(a, 6); break;
    case 7: activate(a, 7); break;
    case 8: activate(a, 8); break;
    default: activate(a, a->D);
    }
}

/* to[r][lane] = sum_i rows[r][i] x[i][lane] for up to eight rows; x in tiles, as phi is. */
MCP_INLINE void over_bases_rows(int count, int padded, const float *rows, const float *x, float *to)
{
    mcp_f8 part[CHUNK][MCP_LANES];
    for (int l = 0; l < MCP_LANES; l++) {
        mcp_f8 sum[CHUNK];
        for (int r = 0; r < count; r++) sum[r] = (mcp_f8){0};
        for (int i = 0; i < padded; i += 8) {
            mcp_f8 v = mcp_f8_load(x + i * MCP_LANES + l * 8);
            for (int r = 0; r < count; r++) sum[r] += v * mcp_f8_load(rows + (size_t)r * (size_t)padded + i);
        }
        for (int r = 0; r < count; r++) part[r][l] = sum[r];
    }
    for (int r = 0; r < count; r++) {
        mcp_f8 *p = part[r];
        transpose(p);
        mcp_f8_store(to + r * MCP_LANES, ((p[0] + p[1]) + (p[2] + p[3])) + ((p[4] + p[5]) + (p[6] + p[7])));
    }
}

static void over_bases(int count, int padded, const float *rows, const float *x, float *to)
{
    for (; count > 0; count -= CHUNK, rows += CHUNK * (size_t)padded, to += CHUNK * MCP_LANES)
        switch (count) {
        case 1: over_bases_rows(1, padded, rows, x, to); break;
        case 2: over_bases_rows(2, padded, rows, x, to); break;
        case 3: over_bases_rows(3, padded, rows, x, to); break;
        case 4: over_bases_rows(4, padded, rows, x, to); break;
        case 5: over_bases_rows(5, padded, rows, x, to); break;
        case 6: over_bases_rows(6, padded, rows, x, to); break;
        case 7: over_bases_rows(7, padded, rows, x, to); break;
        default: over_bases_rows(CHUNK, padded, rows, x, to);
        }
}

/* to[r][i] += sum_lane rows[r][lane] x[i][lane] for up to eight rows. */
MCP_INLINE void over_lanes_rows(int count, int padded, const float *rows, const float *x, float *to)
{
    for (int i = 0; i < padded; i += 8, x += TILE) {
        mcp_f8 sum[CHUNK];
        for (int r = 0; r < count; r++) sum[r] = (mcp_f8){0};
#pragma GCC unroll 8
        for (int l = 0; l < MCP_LANES; l++) {
            mcp_f8 v = mcp_f8_load(x + l * 8);
            for (int r = 0; r < count; r++) sum[r] += v * rows[r * MCP_LANES + l];
        }
        for (int r = 0; r < count; r++) {
            float *at = to + (size_t)r * (size_t)padded + i;
            mcp_f8_store(at, mcp_f8_load(at) + sum[r]);
        }
    }
}

static void over_lanes(int count, int padded, const float *rows, const float *x, float *to)
{
    for (; count > 0; count -= CHUNK, rows += CHUNK * MCP_LANES, to += CHUNK * (size_t)padded)
        switch (count) {
        case 1: over_lanes_rows(1, padded, rows, x, to); break;
        case 2: over_lanes_rows(2, padded, rows, x, to); break;
        case 3: over_lanes_rows(3, padded, rows, x, to); break;
        case 4: over_lanes_rows(4, padded, rows, x, to); break;
        case 5: over_lanes_rows(5, padded, rows, x, to); break;
        case 6: over_lanes_rows(6, padded, rows, x, to); break;
        case 7: over_lanes_rows(7, padded, rows, x, to); break;
        default: over_lanes_rows(CHUNK, padded, rows, x, to);
        }
}

void MCP_ISA_FN(mcp_rbf_forward_single)(const mcp_net_run *c)
{
    for (int b = 0; b < c->n; b += MCP_LANES) {
        group a = group_at(c, b);
        float out[MCP_NET_OUTPUTS * MCP_LANES], *S = a.K == 1 ? a.S : out;
        for (int d = 0; d < a.D; d++)
            for (int l = 0; l < MCP_LANES; l++)
                a.F[d * MCP_LANES + l] = (float)((c->feature[d][b + l] - a.shift[d]) * a.scale[d]);
        choose_activate(&a);
        over_bases(a.K == 1 ? 1 + a.D : a.K, a.padded, a.w, a.phi, S);
        for (int k = 0; k < a.K; k++)
            for (int l = 0; l < MCP_LANES; l++)
                c->out[(size_t)k * (size_t)c->ld + (size_t)(b + l)] =
                    c->keep_scale * (double)S[k * MCP_LANES + l];
    }
}

/* What the way back leaves for one group of lanes: rows of lanes o [K]; G; H [D], and e [1+D] = 1, F_d. */
typedef struct {
    float o[MCP_NET_OUTPUTS * MCP_LANES], GH[(1 + MCP_NET_FEATURES) * MCP_LANES];
    float e[(1 + MCP_NET_FEATURES) * MCP_LANES];
} adjoint;

/* One output: G and H from the tape; e times o. */
static void one_output(const group *a, adjoint *t, float *sums)
{
    for (int i = 0; i < (1 + a->D) * MCP_LANES; i++) {
        t->GH[i] = t->o[i % MCP_LANES] * a->S[i];
        t->e[i] *= t->o[i % MCP_LANES];
    }
    if (sums) over_lanes(1 + a->D, a->padded, t->e, a->phi, sums);
}

static void more_outputs(const group *a, adjoint *t, float *g, float *sums)
{
    for (int i = 0; i < a->padded; i += 8)
        for (int l = 0; l < MCP_LANES; l++) {
            const int at = i * MCP_LANES + l * 8;
            mcp_f8    x = {0};
            for (int k = 0; k < a->K; k++)
                x += mcp_f8_load(a->w + (size_t)k * (size_t)a->padded + i) * t->o[k * MCP_LANES + l];
            mcp_f8_store(g + at, x * mcp_f8_load(a->phi + at));
        }
    over_bases(1 + a->D, a->padded, a->ones, g, t->GH);
    if (!sums) return;
    over_lanes(a->K, a->padded, t->o, a->phi, sums);
    over_lanes(1 + a->D, a->padded, t->e, g, sums + (size_t)a->K * (size_t)a->padded);
}

/* From G and H: the features' adjoints and the length-scales' sums. */
static void finish_group(const group *a, const mcp_net_run *c, int b, const adjoint *t, float *lengths)
{
    const double two_ln2 = 2.0 * 0.6931471805599453;
    for (int d = 0; d < a->D; d++) {
        double l = 0.0;
        for (int j = 0; j < MCP_LANES; j++) {
            double F = a->F[d * MCP_LANES + j], FG = F * t->GH[j], H = t->GH[(1 + d) * MCP_LANES + j];
            if (c->feature_bar[d]) c->feature_bar[d][b + j] -= two_ln2 * a->scale[d] * (FG - H);
            l += F * (FG - 2.0 * H);
        }
        if (lengths) lengths[d] += (float)l;
    }
}

void MCP_ISA_FN(mcp_rbf_backward_single)(const mcp_net_run *c)
{
    for (int b = 0; b < c->n; b += MCP_LANES) {
        const group a = group_at(c, b);
        const int   rows = a.K == 1 ? 1 + a.D : a.K + 1 + a.D;
        float      *sums =
            c->sums ? (float *)(void *)(c->sums + (size_t)(b / MCP_LANES) * c->sums_stride) : NULL;
        adjoint     t;
        for (int k = 0; k < a.K; k++)
            for (int l = 0; l < MCP_LANES; l++)
                t.o[k * MCP_LANES + l] =
                    (float)(c->keep_scale * c->out_bar[(size_t)k * (size_t)c->ld + (size_t)(b + l)]);
        for (int l = 0; l < MCP_LANES; l++) t.e[l] = 1.0f;
        memcpy(t.e + MCP_LANES, a.F, (size_t)a.D * MCP_LANES * sizeof *t.e);
        if (a.K == 1) one_output(&a, &t, sums);
        else more_outputs(&a, &t, (void *)c->scratch, sums);
        finish_group(&a, c, b, &t, sums ? sums + (size_t)rows * (size_t)a.padded : NULL);
    }
}
