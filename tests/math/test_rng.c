/* The generator against its published answers, the numbers made from it against what they should be
 * distributed like, and the promise that a number depends only on what it is for. */
#include "math/rng.h"

#include "math/stats.h"
#include "test.h"

#if __has_include(<Random123/philox.h>)
#pragma GCC diagnostic ignored "-Wpedantic"
#include <Random123/philox.h>
#define HAVE_RANDOM123 1
#endif

static const mcp_stream stream = {.seed = 0x123456789abcdef0u,
                                  .trial = 3,
                                  .step = 77,
                                  .purpose = MCP_RNG_MODEL};

/* Known answers of Random123's kat_vectors, philox 4x32, 10 rounds. */
CASE(philox_gives_the_published_answers)
{
    static const uint32_t kat[3][10] = {{0, 0, 0, 0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
                                        {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff,
                                         0xffffffff, 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
                                        {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822,
                                         0x299f31d0, 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}};
    for (int c = 0; c < 3; c++) {
        uint32_t out[4];
        mcp_philox4x32(kat[c], kat[c] + 4, out);
        for (int i = 0; i < 4; i++) CHECK(out[i] == kat[c][6 + i]);
    }
}

#ifdef HAVE_RANDOM123
CASE(philox_equals_random123)
{
    uint32_t x = 1;
    for (int c = 0; c < 2000; c++) {
        uint32_t in[6], out[4];
        for (int i = 0; i < 6; i++) in[i] = x = x * 1664525u + 1013904223u;
        mcp_philox4x32(in, in + 4, out);
        philox4x32_ctr_t ctr = {{in[0], in[1], in[2], in[3]}};
        philox4x32_key_t key = {{in[4], in[5]}};
        philox4x32_ctr_t want = philox4x32_R(10, ctr, key);
        for (int i = 0; i < 4; i++) REQUIRE(out[i] == want.v[i]);
    }
}
#endif

/* The place of a number in the counter is part of what a run's record promises: this pins it. */
CASE(uniforms_sit_at_their_documented_place)
{
    double   u[40];
    uint32_t time = 5, channel = 2;
    mcp_rng_uniforms(&stream, time, channel, 0, 40, u);
    for (uint32_t p = 0; p < 40; p++) {
        uint32_t c[4] = {p / 16 * 8 + p % 8, stream.step, stream.trial << 16 | time,
                         stream.purpose << 24 | channel << 16 | 1u << 14};
        uint32_t key[2] = {(uint32_t)stream.seed, (uint32_t)(stream.seed >> 32)}, x[4];
        mcp_philox4x32(c, key, x);
        const uint32_t *w = p % 16 < 8 ? x : x + 2;
        uint64_t        bits = (uint64_t)w[1] << 32 | w[0];
        CHECK(u[p] == ((double)(bits >> 12) + 0.5) * 0x1p-52);
    }
}

enum { MANY = 1 << 16 };
static double many[MANY], other[MANY];

static void moments(const double *x, int n, double m[4])
{
    memset(m, 0, 4 * sizeof *m);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 4; k++) m[k] += pow(x[i], k + 1) / n;
}

CASE(normals_have_the_moments_of_a_normal_at_each_level)
{
    for (int level = 0; level <= (int)mcp_isa_widest(); level++) {
        double m[4];
        mcp_rng_normals_at((mcp_isa)level, &stream, 9, 1, 0, MANY, many);
        moments(many, MANY, m);
        CHECK_CLOSE(m[0], 0.0, 0, 4 * sqrt(1.0 / MANY));
        CHECK_CLOSE(m[1], 1.0, 0, 4 * sqrt(2.0 / MANY));
        CHECK_CLOSE(m[2], 0.0, 0, 4 * sqrt(15.0 / MANY));
        CHECK_CLOSE(m[3], 3.0, 0, 4 * sqrt(96.0 / MANY));
    }
}

/* Kolmogorov-Smirnov, at a level a right generator passes 999 times in 1000; the seed is fixed, so it is no
 * lottery. */
CASE(normals_follow_the_normal_distribution)
{
    double worst = 0;
    mcp_rng_normals(&stream, 1, 0, 0, MANY, many);
    mcp_sort(many, MANY);
    for (int i = 0; i < MANY; i++)
        worst = fmax(worst, fabs(0.5 * erfc(-many[i] / sqrt(2.0)) - (i + 0.5) / MANY));
    CHECK(worst < 1.95 / sqrt(MANY));
}

CASE(uniforms_fill_the_open_unit_interval)
{
    double m[4], lo = 1, hi = 0;
    mcp_rng_uniforms(&stream, 1, 0, 0, MANY, many);
    moments(many, MANY, m);
    for (int i = 0; i < MANY; i++) {
        lo = fmin(lo, many[i]);
        hi = fmax(hi, many[i]);
    }
    CHECK(lo > 0 && lo < 2e-4 && hi < 1 && hi > 1 - 2e-4);
    CHECK_CLOSE(m[0], 1.0 / 2, 0, 4 * sqrt(1.0 / 12 / MANY));
    CHECK_CLOSE(m[1], 1.0 / 3, 0, 4 * sqrt(4.0 / 45 / MANY));
}

static double correlation(const double *a, const double *b, int n)
{
    double s = 0;
    for (int i = 0; i < n; i++) s += a[i] * b[i] / n;
    return s;
}

CASE(streams_that_differ_in_one_field_are_independent)
{
    mcp_stream s[5] = {stream, stream, stream, stream, stream};
    s[1].seed++;
    s[2].trial++;
    s[3].step++;
    s[4].purpose++;
    mcp_rng_normals(&stream, 0, 0, 0, MANY, many);
    for (int i = 1; i < 5; i++) {
        mcp_rng_normals(&s[i], 0, 0, 0, MANY, other);
        CHECK(fabs(correlation(many, other, MANY)) < 4 / sqrt(MANY));
    }
    mcp_rng_normals(&stream, 1, 0, 0, MANY, other);
    CHECK(fabs(correlation(many, other, MANY)) < 4 / sqrt(MANY));
    mcp_rng_normals(&stream, 0, 1, 0, MANY, other);
    CHECK(fabs(correlation(many, other, MANY)) < 4 / sqrt(MANY));
    mcp_rng_normals(&stream, 0, 0, 1, MANY, other); /* neighbours */
    CHECK(fabs(correlation(many, other, MANY)) < 4 / sqrt(MANY));
    mcp_rng_normals(&stream, 0, 0, 8, MANY, other); /* the two numbers of one block */
    CHECK(fabs(correlation(many, other, MANY)) < 4 / sqrt(MANY));
}

CASE(normals_are_the_same_bits_in_any_split)
{
    enum { N = 100 };
    for (int level = 0; level <= (int)mcp_isa_widest(); level++) {
        double whole[N], part[N];
        mcp_rng_normals_at((mcp_isa)level, &stream, 4, 3, 0, N, whole);
        for (int cut = 0; cut <= N; cut++) {
            mcp_rng_normals_at((mcp_isa)level, &stream, 4, 3, 0, cut, part);
            mcp_rng_normals_at((mcp_isa)level, &stream, 4, 3, (uint32_t)cut, N - cut, part + cut);
            CHECK(!memcmp(whole, part, sizeof whole));
        }
        for (uint32_t i = 0; i < N; i++) {
            mcp_rng_normals_at((mcp_isa)level, &stream, 4, 3, i, 1, part);
            CHECK(part[0] == whole[i]);
        }
    }
}

CASE(normals_differ_between_levels_in_the_last_bits_only)
{
    enum { N = 4096 };
    mcp_rng_normals_at(MCP_ISA_BASE, &stream, 0, 0, 0, N, many);
    for (int level = 1; level <= (int)mcp_isa_widest(); level++) {
        mcp_rng_normals_at((mcp_isa)level, &stream, 0, 0, 0, N, other);
        for (int i = 0; i < N; i++) CHECK_CLOSE(other[i], many[i], 1e-13, 1e-14);
    }
}

enum { ACT = 208, LANES = 96 };
static uint8_t keep[ACT * LANES], piece[ACT * LANES];

static mcp_rng_mask mask(uint32_t time, int activations, double p)
{
    return (mcp_rng_mask){.time = time, .n = LANES, .activations = activations, .p = p};
}

static void draw_masks(uint32_t time, int activations, double p, uint8_t *to)
{
    mcp_rng_mask m = mask(time, activations, p);
    mcp_rng_keep(mcp_isa_level(), &stream, &m, to);
}

CASE(masks_keep_as_often_as_asked)
{
    static const double drop[] = {0.0625, 0.1, 0.125, 0.25, 0.5, 0.75, 0.9};
    for (int d = 0; d < 7; d++) {
        double p = rint(drop[d] * 256) / 256, kept = 0, n = 0;
        for (uint32_t time = 0; time < 30; time++) {
            draw_masks(time, ACT, drop[d], keep);
            for (int i = 0; i < ACT * LANES; i++, n++) {
                REQUIRE(keep[i] == 0 || keep[i] == 255);
                kept += keep[i] == 255;
            }
        }
        CHECK_CLOSE(kept / n, 1 - p, 0, 4 * sqrt(p * (1 - p) / n));
    }
}

CASE(masks_at_the_ends_keep_all_or_nothing)
{
    int all = 0;
    draw_masks(0, ACT, 0.0, keep);
    for (int i = 0; i < ACT * LANES; i++) all += keep[i] == 255;
    CHECK(all == ACT * LANES);
    draw_masks(0, ACT, 1.0, keep);
    for (int i = 0; i < ACT * LANES; i++) all -= !keep[i];
    CHECK(all == 0);
}

static void check_masks_in_pieces(double p)
{
    draw_masks(7, ACT, p, keep);
    for (int level = 0; level <= (int)mcp_isa_widest(); level++)
        for (int cut = 0; cut <= LANES; cut += MCP_LANES) {
            memset(piece, 9, sizeof piece);
            mcp_rng_mask left = mask(7, ACT, p), right = left;
            left.n = cut;
            right.first = (uint32_t)cut;
            right.n = LANES - cut;
            mcp_rng_keep((mcp_isa)level, &stream, &left, piece);
            mcp_rng_keep((mcp_isa)level, &stream, &right, piece + cut * ACT);
            CHECK(!memcmp(keep, piece, sizeof keep));
        }
    for (int act = 8; act < 80; act += 8) { /* fewer activations: the same first ones, nothing beyond */
        memset(piece, 9, sizeof piece);
        draw_masks(7, act, p, piece);
        for (int g = 0; g < LANES / 8; g++)
            CHECK(!memcmp(keep + g * 8 * ACT, piece + g * 8 * act, (size_t)act * 8));
        CHECK(piece[act * LANES] == 9);
    }
}

CASE(masks_are_the_same_in_any_split_and_at_each_level)
{
    check_masks_in_pieces(0.25);
    check_masks_in_pieces(0.0625);
    check_masks_in_pieces(0.1);
}

/* Activation i of particle j. */
static int kept_at(const uint8_t *masks, int i, int j)
{
    return masks[j / 8 * 8 * ACT + i / 8 * 64 + j % 8 * 8 + i % 8] == 255;
}

CASE(masks_of_neighbours_in_every_direction_are_independent)
{
    static uint8_t next[ACT * LANES];
    double         lane = 0, row = 0, time = 0, n = 0, p = 0.25;
    for (uint32_t t = 0; t < 20; t++) {
        draw_masks(t, ACT, p, keep);
        draw_masks(t + 1, ACT, p, next);
        for (int i = 0; i + 1 < ACT; i++)
            for (int j = 0; j + 1 < LANES; j++, n++) {
                double a = kept_at(keep, i, j) - (1 - p);
                lane += a * (kept_at(keep, i, j + 1) - (1 - p));
                row += a * (kept_at(keep, i + 1, j) - (1 - p));
                time += a * (kept_at(next, i, j) - (1 - p));
            }
    }
    double bound = 4 * p * (1 - p) / sqrt(n);
    CHECK(fabs(lane / n) < bound);
    CHECK(fabs(row / n) < bound);
    CHECK(fabs(time / n) < bound);
}

CASE(the_plain_sequence_is_reproducible_and_normal)
{
    double   m[4];
    mcp_rand r = mcp_rand_make(5, 1, 2, MCP_RNG_EXPLORE), again = r;
    for (int i = 0; i < MANY; i++) many[i] = mcp_rand_normal(&r);
    for (int i = 0; i < 10; i++) CHECK(mcp_rand_normal(&again) == many[i]);
    moments(many, MANY, m);
    CHECK_CLOSE(m[0], 0.0, 0, 4 * sqrt(1.0 / MANY));
    CHECK_CLOSE(m[1], 1.0, 0, 4 * sqrt(2.0 / MANY));
    for (int i = 0; i < MANY; i++) {
        double u = mcp_rand_uniform(&r);
        REQUIRE(u > 0 && u < 1);
    }
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(philox_gives_the_published_answers);
#ifdef HAVE_RANDOM123
    RUN(philox_equals_random123);
#endif
    RUN(uniforms_sit_at_their_documented_place);
    RUN(normals_have_the_moments_of_a_normal_at_each_level);
    RUN(normals_follow_the_normal_distribution);
    RUN(uniforms_fill_the_open_unit_interval);
    RUN(streams_that_differ_in_one_field_are_independent);
    RUN(normals_are_the_same_bits_in_any_split);
    RUN(normals_differ_between_levels_in_the_last_bits_only);
    RUN(masks_keep_as_often_as_asked);
    RUN(masks_at_the_ends_keep_all_or_nothing);
    RUN(masks_are_the_same_in_any_split_and_at_each_level);
    RUN(masks_of_neighbours_in_every_direction_are_independent);
    RUN(the_plain_sequence_is_reproducible_and_normal);
    return DONE();
}
