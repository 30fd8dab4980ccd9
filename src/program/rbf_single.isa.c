/* rbf_single.isa.c - the basis functions of rbf.isa.c in single precision: eight lanes a vector, half the
 * tape.
 *
 * The differences F = s (f - m) and C = s (c - m) are made in double precision and rounded; from there on
 * distances, powers of two, products with weights and adjoints are single. Sums over more than a few
 * numbers that lead out of here are double.
 *
 *   tape  F [D][ld], then phi by lane, [ld][padded]: the way back works on eight bases at a time of one
 *     lane, so that no sum
 *         goes across a vector but the few that end in a lane
 *   sums  as in rbf.isa.c */
#include <string.h>

#include "math/lanes.h"
#include "program/batch_call.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

typedef float   f8 __attribute__((vector_size(32)));
typedef int32_t i8 __attribute__((vector_size(32)));
typedef float   f8_mem __attribute__((vector_size(32), aligned(4), may_alias));

_Static_assert(MCP_LANES == 8, "a group of lanes is one vector here");

#define INLINE static inline __attribute__((always_inline))
#define LOAD(p) (*(const f8_mem *)(p))
#define STORE(p, v) (*(f8_mem *)(p) = (v))
#define ALL(a) ((float)(a) - (f8){0})

enum { TILE = 256 };

/* phi = 2^-q in place. Beyond 2^-64, below all that single precision adds up, it stays there. */
INLINE void powers(f8 *x)
{
    const float magic = 0x1.8p23f;
    f8          q = *x, most = ALL(64.0f);
#if defined(__AVX2__)
    q = _mm256_min_ps(most, q); /* NaN is handed on */
#else
    i8 far = q > most;
    q = (f8)((far & (i8)most) | (~far & (i8)q));
#endif
    f8 t = q + magic, r = (t - magic) - q;
    f8 p = 0.000154614447f * r + 0.00134004282f;
    p    = p * r + 0.00961805668f;
    p    = p * r + 0.0555032723f;
    p    = p * r + 0.240226509f;
    p    = p * r + 0.693147207f;
    p    = p * r + 1.0f;
    *x   = (f8)((i8)p - ((i8)t << 23));
}

/* Eight vectors as rows of a matrix, transposed. */
INLINE void transpose(f8 *x)
{
    f8 a[8];
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
        f8 low = __builtin_shufflevector(x[i], x[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        x[i + 4] = __builtin_shufflevector(x[i], x[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
        x[i]     = low;
    }
}

/* to[0 .. 8) += v */
INLINE void add_double(double *to, const f8 *v)
{
#if defined(__AVX2__)
    _mm256_storeu_pd(to, _mm256_add_pd(_mm256_loadu_pd(to), _mm256_cvtps_pd(_mm256_castps256_ps128(*v))));
    _mm256_storeu_pd(to + 4,
                     _mm256_add_pd(_mm256_loadu_pd(to + 4), _mm256_cvtps_pd(_mm256_extractf128_ps(*v, 1))));
#else
    for (int i = 0; i < 8; i++) to[i] += (double)(*v)[i];
#endif
}

/* phi of eight bases for one group of lanes; C their centres [8][D] */
INLINE void activate(int D, size_t ld, const float *C, const float *F, f8 *phi)
{
#pragma GCC unroll 8
    for (int j = 0; j < 8; j++) phi[j] = (f8){0};
    for (int d = 0; d < D; d++) {
        f8 f = LOAD(F + (size_t)d * ld);
#pragma GCC unroll 8
        for (int j = 0; j < 8; j++) {
            f8 r = f - C[j * D + d];
            phi[j] += r * r;
        }
    }
#pragma GCC unroll 8
    for (int j = 0; j < 8; j++) powers(&phi[j]);
}

/* phi = 0 where the byte is 0; it is 1 elsewhere. */
INLINE void drop(const uint8_t *keep, f8 *phi)
{
    i8 mask = {0};
#if defined(__AVX2__)
    mask = (i8)_mm256_cvtepu8_epi32(_mm_loadl_epi64((const void *)keep));
#else
    for (int i = 0; i < 8; i++) mask[i] = keep[i];
#endif
    *phi = (f8)(-mask & (i8)*phi);
}

typedef struct {
    int            n, D, K, padded, count; /* count: bases of the tile, from its first on */
    size_t         ld;
    const float   *C, *w; /* tile: [TILE][D], [K][TILE] */
    const uint8_t *keep;
    double         keep_scale;
} tile;

/* Eight bases from i on, of which live are there, for one group of lanes. */
INLINE void eight_forward(const tile *a, int D, int i, int live, const float *F, const uint8_t *keep,
                          float *to, double *out)
{
    f8 phi[8];
    activate(D, a->ld, a->C + i * D, F, phi);
    if (keep)
#pragma GCC unroll 8
        for (int j = 0; j < 8; j++) drop(keep + (size_t)(i + (j < live ? j : live - 1)) * a->ld, &phi[j]);
    if (live < 8)
#pragma GCC unroll 8
        for (int j = 0; j < 8; j++) phi[j] *= j < live ? 1.0f : 0.0f;
    for (int k = 0; k < a->K; k++) {
        const float *w = a->w + k * TILE + i;
        f8           even = (f8){0}, odd = (f8){0};
#pragma GCC unroll 4
        for (int j = 0; j < 8; j += 2) {
            even += w[j] * phi[j];
            odd += w[j + 1] * phi[j + 1];
        }
        even += odd;
        add_double(out + (size_t)k * a->ld, &even);
    }
    transpose(phi);
#pragma GCC unroll 8
    for (int j = 0; j < 8; j++) STORE(to + (size_t)j * (size_t)a->padded + i, phi[j]);
}

/* One tile of bases, one group of lanes. to: the tile's first basis of the group's first lane. */
INLINE void tile_forward(const tile *a, int D, const float *F, const uint8_t *keep, float *to, double *out)
{
    int i = 0;
    for (; i + 8 <= a->count; i += 8) eight_forward(a, D, i, 8, F, keep, to, out);
    if (i < a->count) eight_forward(a, D, i, a->count - i, F, keep, to, out);
}

/* The usual numbers of features as constants. */
static void choose_forward(const tile *a, const float *F, const uint8_t *keep, float *to, double *out)
{
    switch (a->D) {
    case 2: tile_forward(a, 2, F, keep, to, out); break;
    case 3: tile_forward(a, 3, F, keep, to, out); break;
    case 4: tile_forward(a, 4, F, keep, to, out); break;
    case 5: tile_forward(a, 5, F, keep, to, out); break;
    case 6: tile_forward(a, 6, F, keep, to, out); break;
    case 8: tile_forward(a, 8, F, keep, to, out); break;
    default: tile_forward(a, a->D, F, keep, to, out);
    }
}

void MCP_ISA_FN(mcp_rbf_forward_single)(const mcp_net_run *c)
{
    tile a = {.n = c->net->net.units[0],
              .D = c->net->net.features,
              .K = c->net->net.outputs,
              .padded = c->net->padded,
              .ld = (size_t)c->ld};
    const double *centre = c->theta + (size_t)a.K * (size_t)a.n;
    float        *F = (void *)c->tape, *phi = F + (size_t)a.D * a.ld;
    double        scale[MCP_NET_FEATURES], shift[MCP_NET_FEATURES];
    _Alignas(64) float C[TILE * MCP_NET_FEATURES], w[MCP_NET_OUTPUTS * TILE];
    mcp_rbf_scale(c->net, c->theta, scale, shift);
    for (int d = 0; d < a.D; d++) {
        const double *f = c->feature[d], m = shift[d], s = scale[d];
        for (int b = 0; b < c->n; b++) F[(size_t)d * a.ld + (size_t)b] = (float)((f[b] - m) * s);
    }
    for (int k = 0; k < a.K; k++) memset(c->out + (size_t)k * a.ld, 0, sizeof(double) * (size_t)c->n);
    a.C = C;
    a.w = w;
    for (int i = 0; i < a.n; i += TILE) {
        a.count = a.n - i < TILE ? a.n - i : TILE;
        for (int j = 0; j < mcp_round_lanes(a.count); j++) {
            int at = i + (j < a.count ? j : 0);
            for (int d = 0; d < a.D; d++)
                C[j * a.D + d] =
                    (float)((centre[(size_t)at * (size_t)a.D + (size_t)d] - shift[d]) * scale[d]);
            for (int k = 0; k < a.K; k++)
                w[k * TILE + j] = (float)(c->keep_scale * c->theta[(size_t)k * (size_t)a.n + (size_t)at]);
        }
        for (int b = 0; b < c->n; b += MCP_LANES)
            choose_forward(&a, F + b, c->keep ? c->keep + (size_t)i * a.ld + b : NULL,
                           phi + (size_t)b * (size_t)a.padded + i, c->out + b);
    }
}

/* One group of lanes on the way back. C, w by basis: [D][padded], [K][padded]; g: [MCP_LANES][padded]. */
typedef struct {
    int          n, D, K, padded;
    const float *C, *w, *phi;
    float       *g, o[MCP_NET_OUTPUTS][MCP_LANES], F[MCP_NET_FEATURES][MCP_LANES];
    float        G[MCP_LANES], H[MCP_NET_FEATURES][MCP_LANES];
    double      *sums;
} group;

/* to[j] = sum of x[j] over its eight numbers; x is scratch. */
INLINE void sum_each(f8 *x, float *to)
{
    transpose(x);
    STORE(to, ((x[0] + x[1]) + (x[2] + x[3])) + ((x[4] + x[5]) + (x[6] + x[7])));
}

/* g_i of every basis, lane by lane, and their sums into G and H. */
INLINE void lanes_backward(group *a, int D)
{
    f8 part[8 + 1][MCP_LANES];
    for (int d0 = 0; d0 < D; d0 += 8) { /* eight features at a time have their sums in registers */
        int nd = D - d0 < 8 ? D - d0 : 8;
        for (int l = 0; l < MCP_LANES; l++) {
            f8           sum[8 + 1];
            const float *phi = a->phi + (size_t)l * (size_t)a->padded;
            float       *g = a->g + (size_t)l * (size_t)a->padded;
            for (int d = 0; d <= nd; d++) sum[d] = (f8){0};
            for (int i = 0; i < a->padded; i += 8) {
                f8 x = LOAD(a->w + i) * a->o[0][l];
                for (int k = 1; k < a->K; k++)
                    x += LOAD(a->w + (size_t)k * (size_t)a->padded + i) * a->o[k][l];
                x *= LOAD(phi + i);
                STORE(g + i, x);
                sum[nd] += x;
                for (int d = 0; d < nd; d++)
                    sum[d] += x * LOAD(a->C + (size_t)(d0 + d) * (size_t)a->padded + i);
            }
            for (int d = 0; d <= nd; d++) part[d][l] = sum[d];
        }
        for (int d = 0; d < nd; d++) sum_each(part[d], a->H[d0 + d]);
        sum_each(part[nd], a->G);
    }
}

/* The sums over lanes of every basis. */
INLINE void bases_backward(const group *a, int D)
{
    double *sum_g = a->sums + (size_t)a->K * (size_t)a->padded;
    for (int i = 0; i < a->padded; i += 8) {
        for (int k = 0; k < a->K; k++) {
            f8 x = (f8){0};
            for (int l = 0; l < MCP_LANES; l++)
                x += LOAD(a->phi + (size_t)l * (size_t)a->padded + i) * a->o[k][l];
            add_double(a->sums + (size_t)k * (size_t)a->padded + i, &x);
        }
        for (int d0 = 0; d0 < D; d0 += 8) {
            int nd = D - d0 < 8 ? D - d0 : 8;
            f8  sum[8 + 1];
            for (int d = 0; d <= nd; d++) sum[d] = (f8){0};
            for (int l = 0; l < MCP_LANES; l++) {
                f8 g = LOAD(a->g + (size_t)l * (size_t)a->padded + i);
                sum[nd] += g;
                for (int d = 0; d < nd; d++) sum[d] += g * a->F[d0 + d][l];
            }
            for (int d = 0; d < nd; d++)
                add_double(sum_g + (size_t)(d0 + d + 1) * (size_t)a->padded + i, &sum[d]);
            if (d0 == 0) add_double(sum_g + i, &sum[nd]);
        }
    }
}

INLINE void both(group *a, int D)
{
    lanes_backward(a, D);
    if (a->sums) bases_backward(a, D);
}

static void group_backward(group *a)
{
    switch (a->D) {
    case 2: both(a, 2); break;
    case 3: both(a, 3); break;
    case 4: both(a, 4); break;
    case 5: both(a, 5); break;
    case 6: both(a, 6); break;
    case 8: both(a, 8); break;
    default: both(a, a->D);
    }
}

/* From G = sum_i g_i and H: the features' adjoints and the length-scales' sums. */
static void finish_group(const group *a, const mcp_net_run *c, int b, const double *scale)
{
    const double two_ln2 = 2.0 * 0.6931471805599453;
    double      *lengths = a->sums ? a->sums + (size_t)(a->K + 1 + a->D) * (size_t)a->padded : NULL;
    for (int d = 0; d < a->D; d++) {
        double l = 0.0;
        for (int j = 0; j < MCP_LANES; j++) {
            double F = a->F[d][j], FG = F * a->G[j], H = a->H[d][j];
            if (c->feature_bar[d]) c->feature_bar[d][b + j] -= two_ln2 * scale[d] * (FG - H);
            l += F * (FG - 2.0 * H);
        }
        if (lengths) lengths[d] += l;
    }
}

void MCP_ISA_FN(mcp_rbf_backward_single)(const mcp_net_run *c)
{
    group a = {.n = c->net->net.units[0],
               .D = c->net->net.features,
               .K = c->net->net.outputs,
               .padded = c->net->padded};
    size_t        ld = (size_t)c->ld, padded = (size_t)a.padded;
    const float  *F = (const void *)c->tape;
    const double *centre = c->theta + (size_t)a.K * (size_t)a.n;
    double        scale[MCP_NET_FEATURES], shift[MCP_NET_FEATURES];
    float        *C = (void *)c->scratch, *w = C + (size_t)a.D * padded;
    mcp_rbf_scale(c->net, c->theta, scale, shift);
    memset(C, 0, (size_t)(a.D + a.K) * padded * sizeof *C); /* bases that are not there have no weight */
    for (int d = 0; d < a.D; d++)
        for (size_t i = 0; i < (size_t)a.n; i++)
            C[(size_t)d * padded + i] = (float)((centre[i * (size_t)a.D + (size_t)d] - shift[d]) * scale[d]);
    for (int k = 0; k < a.K; k++)
        for (size_t i = 0; i < (size_t)a.n; i++)
            w[(size_t)k * padded + i] = (float)c->theta[(size_t)k * (size_t)a.n + i];
    a.C = C;
    a.w = w;
    a.g = w + (size_t)a.K * padded;
    for (int b = 0; b < c->n; b += MCP_LANES) {
        for (int j = 0; j < MCP_LANES; j++) {
            for (int k = 0; k < a.K; k++)
                a.o[k][j] = (float)(c->keep_scale * c->out_bar[(size_t)k * ld + (size_t)(b + j)]);
            for (int d = 0; d < a.D; d++) a.F[d][j] = F[(size_t)d * ld + (size_t)(b + j)];
        }
        a.phi  = F + (size_t)a.D * ld + (size_t)b * padded;
        a.sums = c->sums ? c->sums + (size_t)(b / MCP_LANES) * c->sums_stride : NULL;
        group_backward(&a);
        finish_group(&a, c, b, scale);
    }
}
