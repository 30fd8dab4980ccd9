/* rng.isa.c - Philox4x32-10 in vectors, and what is made of it: uniforms, normals (Box-Muller), keep masks.
 *
 *   round   (x0, x1, x2, x3) <- (hi(M1 x2) ^ x1 ^ k0, lo(M1 x2), hi(M0 x0) ^ x3 ^ k1, lo(M0 x0)),
 *     k += W, ten times
 *   uniform (i + 1/2) 2^-52 from 52 bits i
 *   normal  r cos(phi), r sin(phi)  with  r = sqrt(-2 log u1), phi = 2 pi u2 */
#include "math/rng.h"

#include <string.h>

#include "math/elementary.h"
#include "math/rng_levels.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* 64-bit product of the low halves of each lane; what the high halves hold does not matter. */
static inline mcp_vu product(mcp_vu a, mcp_vu b)
{
#if MCP_W == 8 && defined(__AVX512F__)
    return (mcp_vu)_mm512_mul_epu32((__m512i)a, (__m512i)b);
#elif MCP_W == 4
    return (mcp_vu)_mm256_mul_epu32((__m256i)a, (__m256i)b);
#elif MCP_W == 2 && defined(__x86_64__)
    return (mcp_vu)_mm_mul_epu32((__m128i)a, (__m128i)b);
#else
    return (a & 0xffffffffu) * (b & 0xffffffffu);
#endif
}

typedef struct {
    mcp_vu x[4]; /* low 32 bits of each lane count; high bits are anything */
} block;

/* COUNT independent vectors of blocks at a time: the rounds of one hide the latency of the other. A group of
 * particles has 8 blocks and may be a single vector. */
#define COUNT 2
#define GROUP_COUNT (MCP_W == 8 ? 1 : COUNT)

static inline __attribute__((always_inline)) void philox(int count, block *b, const uint32_t key[2])
{
    uint32_t k0 = key[0], k1 = key[1];
    mcp_vu   m0 = mcp_vu_all(PHILOX_M0), m1 = mcp_vu_all(PHILOX_M1);
    for (int round = 0; round < 10; round++, k0 += PHILOX_W0, k1 += PHILOX_W1)
        for (int c = 0; c < count; c++) {
            mcp_vu p0 = product(b[c].x[0], m0), p1 = product(b[c].x[2], m1);
            b[c].x[0] = (p1 >> 32) ^ b[c].x[1] ^ mcp_vu_all(k0);
            b[c].x[1] = p1;
            b[c].x[2] = (p0 >> 32) ^ b[c].x[3] ^ mcp_vu_all(k1);
            b[c].x[3] = p0;
        }
}

static inline mcp_vu lane_numbers(void)
{
    mcp_vu n = {0};
    for (int i = 0; i < MCP_W; i++) n[i] = (uint64_t)i;
    return n;
}

/* words lo and hi of a block as one 64-bit number per lane */
static inline mcp_vu joined(mcp_vu lo, mcp_vu hi)
{
    return (lo & 0xffffffffu) | (hi << 32);
}

/* 52 bits i as (i + 1/2) 2^-52: the bits become the fraction of a number in [1, 2). */
static inline mcp_v uniform(mcp_vu bits)
{
    mcp_vu one = (bits >> 12) | 0x3ff0000000000000u;
    mcp_v  v;
    memcpy(&v, &one, sizeof v);
    return (v - 1.0) + 0x1p-53;
}

/* Two uniforms for each of the 8 blocks of a group: out[0..7] and out[8..15]. */
static inline __attribute__((always_inline)) void group(const uint32_t base[4], const uint32_t key[2],
                                                        uint32_t g, double *out)
{
    for (int l = 0; l < 8; l += GROUP_COUNT * MCP_W) {
        block b[GROUP_COUNT];
        for (int c = 0; c < GROUP_COUNT; c++) {
            b[c].x[0] =
                lane_numbers() + mcp_vu_all((uint64_t)base[0] + (uint64_t)g * 8u + (uint64_t)(l + c * MCP_W));
            for (int w = 1; w < 4; w++) b[c].x[w] = mcp_vu_all(base[w]);
        }
        philox(GROUP_COUNT, b, key);
        for (int c = 0; c < GROUP_COUNT; c++) {
            mcp_v_store(out + l + c * MCP_W, uniform(joined(b[c].x[0], b[c].x[1])));
            mcp_v_store(out + 8 + l + c * MCP_W, uniform(joined(b[c].x[2], b[c].x[3])));
        }
    }
}

void MCP_ISA_FN(mcp_rng_group_uniforms)(const uint32_t base[4], const uint32_t key[2], uint32_t first,
                                        int groups, double *out)
{
    for (int g = 0; g < groups; g++) group(base, key, first + (uint32_t)g, out + RNG_GROUP * g);
}

void MCP_ISA_FN(mcp_rng_group_normals)(const uint32_t base[4], const uint32_t key[2], uint32_t first,
                                       int groups, double *out)
{
    for (int g = 0; g < groups; g++, out += RNG_GROUP) {
        group(base, key, first + (uint32_t)g, out);
        for (int l = 0; l < 8; l += MCP_W) {
            mcp_v r = mcp_v_sqrt(-2.0 * mcp_v_log(mcp_v_load(out + l)));
            mcp_v phi = 6.283185307179586477 * mcp_v_load(out + 8 + l);
            mcp_v s, c;
            mcp_v_sin_cos_near(phi, &s, &c);
            mcp_v_store(out + l, r * c);
            mcp_v_store(out + 8 + l, r * s);
        }
    }
}

typedef uint8_t bytes __attribute__((vector_size(8 * MCP_W)));

/* The masks that one 64-bit word per tile makes: from every byte 8/bits decisions for one activation each, of
 * as many particles. Tiles first .. first + MCP_W - 1, those below `tiles` are there. */
static inline __attribute__((always_inline)) void spread(int bits, mcp_vu word, int threshold, int particle,
                                                         int first, int tiles, uint8_t *keep)
{
    const bytes at_least = (uint8_t)threshold - (bytes){0}, low = (uint8_t)((1 << bits) - 1) - (bytes){0};
    for (int s = 0; s < 8 / bits; s++) {
        bytes    some = (bytes)(word >> (s * bits)) & low;
        mcp_vu   mask = (mcp_vu)(some >= at_least);
        uint64_t eight[MCP_W];
        memcpy(eight, &mask, sizeof eight);
        for (int i = 0; i < MCP_W && first + i < tiles; i++)
            memcpy(keep + (size_t)(first + i) * 64 + (size_t)(particle + s) * 8, &eight[i], 8);
    }
}

/* Lanes are tiles of 8 activations and 8 particles; 64 decisions of so many bits fill bits/2 blocks. */
static inline __attribute__((always_inline)) void keep_tiles(int bits, const uint32_t base[4],
                                                             const uint32_t key[2], uint32_t group_at,
                                                             int tiles, int threshold, uint8_t *keep)
{
    for (int a0 = 0; a0 < tiles; a0 += COUNT * MCP_W)
        for (int k = 0; k < bits / 2; k++) {
            block b[COUNT];
            for (int c = 0; c < COUNT; c++) {
                b[c].x[0] = mcp_vu_all((uint64_t)base[0] + group_at);
                b[c].x[1] = mcp_vu_all(base[1]);
                b[c].x[2] = mcp_vu_all(base[2]);
                b[c].x[3] = 4u * (lane_numbers() + mcp_vu_all((uint64_t)(a0 + c * MCP_W))) +
                            mcp_vu_all((uint64_t)base[3] + (uint64_t)k);
            }
            philox(COUNT, b, key);
            for (int c = 0; c < COUNT; c++)
                for (int half = 0; half < 2; half++)
                    spread(bits, joined(b[c].x[2 * half], b[c].x[2 * half + 1]), threshold,
                           (2 * k + half) * (8 / bits), a0 + c * MCP_W, tiles, keep);
        }
}

void MCP_ISA_FN(mcp_rng_group_keep)(const uint32_t base[4], const uint32_t key[2], uint32_t first, int groups,
                                    int tiles, int threshold, uint8_t *keep)
{
    for (int g = 0; g < groups; g++, keep += (size_t)tiles * 64) {
        const uint32_t at = first + (uint32_t)g;
        if (threshold % 64 == 0) keep_tiles(2, base, key, at, tiles, threshold / 64, keep);
        else if (threshold % 16 == 0) keep_tiles(4, base, key, at, tiles, threshold / 16, keep);
        else keep_tiles(8, base, key, at, tiles, threshold, keep);
    }
}
