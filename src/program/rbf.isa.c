/* rbf.isa.c - radial basis functions and their adjoint, one of the two hot kernels.
 *
 *   phi_i = keep_i 2^-q_i,  q_i = sum_d (F_d - C_id)^2,  F = s (f - m), C = s (c - m)
 *     out_k = scale sum_i w_ki phi_i
 *
 * Tape: F [D][ld], then phi [n][ld] (after dropout). With o_k = scale * out_bar_k and g_i = phi_i sum_k
 * w_ki o_k:
 *
 *   f_bar_d = -2 ln2 s_d (F_d sum_i g_i - sum_i g_i C_id)
 *   sums    [K][padded]  sum_b phi_i o_k        [padded]  sum_b g_i        [D][padded]  sum_b g_i F_d
 *           [D]          sum_b F_d (F_d sum_i g_i - 2 sum_i g_i C_id)
 *             (b: the group's lanes)
 *
 * from which mcp_program_gradient makes the adjoints of w, c and log l. */
#include <string.h>

#include "math/lanes.h"
#include "program/batch_call.h"

#if defined(__AVX512F__) || defined(__AVX2__)
#include <immintrin.h>
#endif

/* min(most, x), NaN handed on */
static inline mcp_v at_most(mcp_v x, double most)
{
#if defined(__AVX512F__)
    return _mm512_min_pd(mcp_v_all(most), x);
#elif defined(__AVX2__)
    return _mm256_min_pd(mcp_v_all(most), x);
#else
    return mcp_v_select((mcp_vu)(x > mcp_v_all(most)), mcp_v_all(most), x);
#endif
}

/* 2^-q for q >= 0: 2^r by a polynomial on [-1/2, 1/2] (relative error 2e-17 before rounding), even and odd
 * powers apart to halve the chain of dependent operations, then the exponent. Beyond 2^-900, where nothing is
 * left of a basis function, it stays there: products of it are no slow subnormal numbers. */
static inline mcp_v exp2_minus(mcp_v q)
{
    const double magic = 0x1.8p52; /* adding it rounds to a whole number, kept in the low bits */
    q           = at_most(q, 900.0);
    mcp_v t     = q + magic;
    mcp_v r     = (t - magic) - q, r2 = r * r;
    mcp_v odd   = 4.4549605981865186e-10 * r2 + 1.0178062445845774e-07;
    mcp_v even  = 7.072585949269223e-09 * r2 + 1.321544258792169e-06;
    odd         = odd * r2 + 1.525273382983612e-05;
    even        = even * r2 + 0.0001540353044173605;
    odd         = odd * r2 + 0.0013333558146416936;
    even        = even * r2 + 0.009618129107606888;
    odd         = odd * r2 + 0.0555041086648216;
    even        = even * r2 + 0.24022650695910097;
    odd         = odd * r2 + 0.6931471805599453;
    even        = even * r2 + 1.0;
    return (mcp_v)((mcp_vu)(odd * r + even) - ((mcp_vu)t << 52));
}

/* All ones where the byte is. */
static inline mcp_vu keep_mask(const uint8_t *keep)
{
    mcp_vu m = {0};
#if defined(__AVX512F__)
    m = (mcp_vu)_mm512_cvtepi8_epi64(_mm_loadl_epi64((const void *)keep));
#elif defined(__AVX2__)
    int32_t four;
    memcpy(&four, keep, sizeof four);
    m = (mcp_vu)_mm256_cvtepi8_epi64(_mm_cvtsi32_si128(four));
#else
    for (int i = 0; i < MCP_W; i++) m[i] = (uint64_t)(int8_t)keep[i];
#endif
    return m;
}

enum { TILE = 32 };

typedef uint8_t bytes __attribute__((vector_size(16)));

/* [8 lanes][8 bases] to [8 bases][8 lanes]: the halves interleaved three times. */
static inline void turn_keep(const uint8_t *from, uint8_t *to)
{
    bytes x[4], y[4];
    memcpy(x, from, sizeof x);
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < 2; i++) {
            y[2 * i] = __builtin_shufflevector(x[i], x[i + 2], 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6,
                                               22, 7, 23);
            y[2 * i + 1] = __builtin_shufflevector(x[i], x[i + 2], 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13,
                                                   29, 14, 30, 15, 31);
        }
        memcpy(x, y, sizeof x);
    }
    memcpy(to, x, sizeof x);
}

/* C of bases first .. first+count-1, rows of D */
static void scale_centres(const double *centre, const double *scale, const double *shift, int D, int count,
                          double *C)
{
    for (int i = 0; i < count; i++)
        for (int d = 0; d < D; d++) C[i * D + d] = (centre[i * D + d] - shift[d]) * scale[d];
}

/* Three short loops over a tile instead of one long one: in each, what a basis needs is soon done and does
 * not depend on the basis before, so that the core works on many of them at once. */

/* q of P bases for one group of lanes */
static inline __attribute__((always_inline)) void distances(int P, int D, size_t ld, const double *C,
                                                            const double *F, double *to)
{
    mcp_v q[2][MCP_NV];
    for (int j = 0; j < P; j++)
        for (int v = 0; v < MCP_NV; v++) q[j][v] = (mcp_v){0};
    for (int d = 0; d < D; d++)
        for (int j = 0; j < P; j++)
            for (int v = 0; v < MCP_NV; v++) {
                mcp_v r = mcp_v_load(F + (size_t)d * ld + v * MCP_W) - C[j * D + d];
                q[j][v] += r * r;
            }
    for (int j = 0; j < P; j++)
        for (int v = 0; v < MCP_NV; v++) mcp_v_store(to + (size_t)j * MCP_LANES + v * MCP_W, q[j][v]);
}

static inline __attribute__((always_inline)) void tile_distances(int count, int D, size_t ld, const double *C,
                                                                 const double *F, double *to)
{
    int i = 0;
    for (; i + 2 <= count; i += 2) distances(2, D, ld, C + i * D, F, to + i * MCP_LANES);
    if (i < count) distances(1, D, ld, C + i * D, F, to + i * MCP_LANES);
}

/* The usual numbers of features as constants: their loop is then unrolled. */
static void choose_distances(int count, int D, size_t ld, const double *C, const double *F, double *to)
{
    switch (D) {
    case 1: tile_distances(count, 1, ld, C, F, to); break;
    case 2: tile_distances(count, 2, ld, C, F, to); break;
    case 3: tile_distances(count, 3, ld, C, F, to); break;
    case 4: tile_distances(count, 4, ld, C, F, to); break;
    case 5: tile_distances(count, 5, ld, C, F, to); break;
    case 6: tile_distances(count, 6, ld, C, F, to); break;
    case 7: tile_distances(count, 7, ld, C, F, to); break;
    case 8: tile_distances(count, 8, ld, C, F, to); break;
    default: tile_distances(count, D, ld, C, F, to);
    }
}

static void activate(int count, size_t ld, const double *q, const uint8_t *keep, double *phi)
{
    if (keep)
        for (int i = 0; i < count; i++, q += MCP_LANES, keep += MCP_LANES, phi += ld)
            for (int v = 0; v < MCP_LANES; v += MCP_W)
                mcp_v_store(phi + v, mcp_v_and(keep_mask(keep + v), exp2_minus(mcp_v_load(q + v))));
    else
        for (int i = 0; i < count; i++, q += MCP_LANES, phi += ld)
            for (int v = 0; v < MCP_LANES; v += MCP_W) mcp_v_store(phi + v, exp2_minus(mcp_v_load(q + v)));
}

/* out += scale sum_i w_i phi_i, even and odd i apart */
static void weigh(int count, size_t ld, const double *w, double scale, const double *phi, double *out)
{
    mcp_v y[2][MCP_NV];
    for (int v = 0; v < MCP_NV; v++) y[0][v] = y[1][v] = (mcp_v){0};
    int i = 0;
    for (; i + 2 <= count; i += 2, phi += 2 * ld)
        for (int j = 0; j < 2; j++)
            for (int v = 0; v < MCP_NV; v++)
                y[j][v] += w[i + j] * mcp_v_load(phi + (size_t)j * ld + v * MCP_W);
    for (int v = 0; i < count && v < MCP_NV; v++) y[0][v] += w[i] * mcp_v_load(phi + v * MCP_W);
    for (int v = 0; v < MCP_NV; v++)
        mcp_v_store(out + v * MCP_W, mcp_v_load(out + v * MCP_W) + scale * (y[0][v] + y[1][v]));
}

void MCP_ISA_FN(mcp_rbf_forward)(const mcp_net_run *c)
{
    int           n = c->net->net.units[0], D = c->net->net.features, K = c->net->net.outputs;
    size_t        ld = (size_t)c->ld;
    const double *w = c->theta, *centre = w + (size_t)K * (size_t)n;
    double       *F = c->tape, *phi = F + (size_t)D * ld;
    double        scale[MCP_NET_FEATURES], shift[MCP_NET_FEATURES];
    _Alignas(64) double C[TILE * MCP_NET_FEATURES], q[TILE * MCP_LANES];
    uint8_t       keep[TILE * MCP_LANES];
    mcp_rbf_scale(c->net, c->theta, scale, shift);
    for (int d = 0; d < D; d++)
        for (int b = 0; b < c->n; b += MCP_W)
            mcp_v_store(F + (size_t)d * ld + b, (mcp_v_load(c->feature[d] + b) - shift[d]) * scale[d]);
    for (int k = 0; k < K; k++) memset(c->out + (size_t)k * ld, 0, sizeof(double) * (size_t)c->n);
    for (int i = 0; i < n; i += TILE) {
        int count = n - i < TILE ? n - i : TILE;
        scale_centres(centre + (size_t)i * (size_t)D, scale, shift, D, count, C);
        for (int b = 0; b < c->n; b += MCP_LANES) {
            double *to = phi + (size_t)i * ld + b;
            choose_distances(count, D, ld, C, F + b, q);
            for (int j = 0; c->keep && j < count; j += 8)
                turn_keep(c->keep + (size_t)(b / MCP_LANES) * c->keep_stride + (i + j) * MCP_LANES,
                          keep + j * MCP_LANES);
            activate(count, ld, q, c->keep ? keep : NULL, to);
            for (int k = 0; k < K; k++)
                weigh(count, ld, w + (size_t)k * (size_t)n + i, c->keep_scale, to,
                      c->out + (size_t)k * ld + b);
        }
    }
}

/* One group of lanes. o: scaled output adjoints [K][MCP_LANES]; H: sum_i g_i C_id [D][MCP_LANES], sums at the
 * group's. */
typedef struct {
    int           n, D, K, padded, ld;
    const double *w, *C, *F, *phi, *o;
    double       *G, *H, *sums;
} group;

/* sum[0 .. MCP_W) += lane sums of x_j y */
static inline void add_products(mcp_v x[MCP_W][MCP_NV], const mcp_v *y, double *sum)
{
    mcp_v t[MCP_W];
    for (int j = 0; j < MCP_W; j++) {
        t[j] = x[j][0] * y[0];
        for (int v = 1; v < MCP_NV; v++) t[j] += x[j][v] * y[v];
    }
    mcp_v_store(sum, mcp_v_load(sum) + mcp_v_sum_each(t));
}

/* MCP_W bases from i on: g from phi, and the sums that need phi */
static inline void basis_adjoints(const group *a, int i, mcp_v g[MCP_W][MCP_NV])
{
    mcp_v phi[MCP_W][MCP_NV], o[MCP_NV];
    for (int j = 0; j < MCP_W; j++)
        for (int v = 0; v < MCP_NV; v++) {
            phi[j][v] =
                i + j < a->n ? mcp_v_load(a->phi + (size_t)(i + j) * (size_t)a->ld + v * MCP_W) : (mcp_v){0};
            g[j][v]   = (mcp_v){0};
        }
    for (int k = 0; k < a->K; k++) {
        const double *w = a->w + (size_t)k * (size_t)a->n;
        for (int v = 0; v < MCP_NV; v++) o[v] = mcp_v_load(a->o + k * MCP_LANES + v * MCP_W);
        for (int j = 0; j < MCP_W; j++)
            for (int v = 0; v < MCP_NV; v++) g[j][v] += (i + j < a->n ? w[i + j] : 0.0) * o[v];
        if (a->sums) add_products(phi, o, a->sums + (size_t)k * (size_t)a->padded + i);
    }
    for (int j = 0; j < MCP_W; j++)
        for (int v = 0; v < MCP_NV; v++) g[j][v] *= phi[j][v];
}

static void group_backward(const group *a)
{
    mcp_v   g[MCP_W][MCP_NV], f[MCP_NV], h[MCP_NV], G[MCP_NV];
    double *sum_g = a->sums ? a->sums + (size_t)a->K * (size_t)a->padded : NULL;
    for (int v = 0; v < MCP_NV; v++) G[v] = (mcp_v){0};
    memset(a->H, 0, sizeof(double) * (size_t)a->D * MCP_LANES);
    for (int i = 0; i < a->n; i += MCP_W) {
        basis_adjoints(a, i, g);
        const double *C = a->C + (size_t)i * (size_t)a->D;
        for (int j = 0; j < MCP_W; j++)
            for (int v = 0; v < MCP_NV; v++) G[v] += g[j][v];
        for (int d = 0; d < a->D; d++) {
            double *H = a->H + d * MCP_LANES;
            for (int v = 0; v < MCP_NV; v++) h[v] = mcp_v_load(H + v * MCP_W);
            for (int j = 0; j < MCP_W; j++)
                for (int v = 0; v < MCP_NV; v++) h[v] += C[j * a->D + d] * g[j][v];
            for (int v = 0; v < MCP_NV; v++) mcp_v_store(H + v * MCP_W, h[v]);
        }
        if (!a->sums) continue;
        for (int v = 0; v < MCP_NV; v++) f[v] = mcp_v_all(1.0);
        add_products(g, f, sum_g + i);
        for (int d = 0; d < a->D; d++) {
            for (int v = 0; v < MCP_NV; v++) f[v] = mcp_v_load(a->F + (size_t)d * (size_t)a->ld + v * MCP_W);
            add_products(g, f, sum_g + (size_t)(d + 1) * (size_t)a->padded + i);
        }
    }
    for (int v = 0; v < MCP_NV; v++) mcp_v_store(a->G + v * MCP_W, G[v]);
}

/* From G = sum_i g_i and H: the features' adjoints and the length-scales' sums. */
static void finish_group(const group *a, const mcp_net_run *c, int b, const double *scale)
{
    static const double ones[MCP_LANES] = {1, 1, 1, 1, 1, 1, 1, 1};
    const double        two_ln2         = 2.0 * 0.6931471805599453;
    double             *lengths = a->sums ? a->sums + (size_t)(a->K + 1 + a->D) * (size_t)a->padded : NULL;
    for (int d = 0; d < a->D; d++) {
        _Alignas(64) double l[MCP_LANES];
        double             *f_bar = c->feature_bar[d];
        for (int v = 0; v < MCP_LANES; v += MCP_W) {
            mcp_v F = mcp_v_load(a->F + (size_t)d * (size_t)a->ld + v), FG = F * mcp_v_load(a->G + v);
            mcp_v H = mcp_v_load(a->H + d * MCP_LANES + v);
            if (f_bar)
                mcp_v_store(f_bar + b + v, mcp_v_load(f_bar + b + v) - (two_ln2 * scale[d]) * (FG - H));
            mcp_v_store(l + v, F * (FG - 2.0 * H));
        }
        if (a->sums) mcp_lanes_dot(ones, l, MCP_LANES, 1, lengths + d);
    }
}

void MCP_ISA_FN(mcp_rbf_backward)(const mcp_net_run *c)
{
    group a = {.n = c->net->net.units[0],
               .D = c->net->net.features,
               .K = c->net->net.outputs,
               .padded = c->net->padded,
               .ld = c->ld};
    size_t ld = (size_t)c->ld;
    double scale[MCP_NET_FEATURES], shift[MCP_NET_FEATURES];
    _Alignas(64) double o[MCP_NET_OUTPUTS * MCP_LANES], G[MCP_LANES], H[MCP_NET_FEATURES * MCP_LANES];
    mcp_rbf_scale(c->net, c->theta, scale, shift);
    scale_centres(c->theta + (size_t)a.K * (size_t)a.n, scale, shift, a.D, a.n, c->scratch);
    memset(c->scratch + (size_t)a.n * (size_t)a.D, 0, sizeof(double) * (size_t)((a.padded - a.n) * a.D));
    a.w = c->theta;
    a.C = c->scratch;
    a.o = o;
    a.G = G;
    a.H = H;
    for (int b = 0; b < c->n; b += MCP_LANES) {
        for (int k = 0; k < a.K; k++)
            for (int v = 0; v < MCP_LANES; v += MCP_W)
                mcp_v_store(o + k * MCP_LANES + v,
                            c->keep_scale * mcp_v_load(c->out_bar + (size_t)k * ld + b + v));
        a.F    = c->tape + b;
        a.phi  = a.F + (size_t)a.D * ld;
        a.sums = c->sums ? c->sums + (size_t)(b / MCP_LANES) * c->sums_stride : NULL;
        group_backward(&a);
        finish_group(&a, c, b, scale);
    }
}
