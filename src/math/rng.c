/* rng.c - counter-based random numbers: who gets which block (rng_levels.h), the plain generator, the plain
 * sequence. */
#include "math/rng.h"

#include <math.h>
#include <string.h>

#include "math/rng_levels.h"

void mcp_philox4x32(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    uint32_t x0 = counter[0], x1 = counter[1], x2 = counter[2], x3 = counter[3], k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; round++, k0 += PHILOX_W0, k1 += PHILOX_W1) {
        uint64_t p0 = (uint64_t)PHILOX_M0 * x0, p1 = (uint64_t)PHILOX_M1 * x2;
        x0 = (uint32_t)(p1 >> 32) ^ x1 ^ k0;
        x1 = (uint32_t)p1;
        x2 = (uint32_t)(p0 >> 32) ^ x3 ^ k1;
        x3 = (uint32_t)p0;
    }
    out[0] = x0;
    out[1] = x1;
    out[2] = x2;
    out[3] = x3;
}

static void place(const mcp_stream *s, uint32_t time, uint32_t channel, uint32_t kind, uint32_t base[4],
                  uint32_t key[2])
{
    base[0] = 0;
    base[1] = s->step;
    base[2] = s->trial << 16 | (time & 0xffffu);
    base[3] = s->purpose << 24 | (channel & 0xffu) << 16 | kind << 14;
    key[0]  = (uint32_t)s->seed;
    key[1]  = (uint32_t)(s->seed >> 32);
}

typedef void group_fn(const uint32_t base[4], const uint32_t key[2], uint32_t first, int groups, double *out);

/* Whole groups go straight to out; the ragged ends go through a buffer. */
static void by_groups(group_fn *fn, const uint32_t base[4], const uint32_t key[2], uint32_t first, int n,
                      double *out)
{
    while (n > 0) {
        uint32_t g = first / RNG_GROUP, skip = first % RNG_GROUP;
        int      take;
        if (!skip && n >= RNG_GROUP) {
            take = n / RNG_GROUP * RNG_GROUP;
            fn(base, key, g, n / RNG_GROUP, out);
        } else {
            double whole[RNG_GROUP];
            take = RNG_GROUP - (int)skip < n ? RNG_GROUP - (int)skip : n;
            fn(base, key, g, 1, whole);
            memcpy(out, whole + skip, (size_t)take * sizeof *out);
        }
        first += (uint32_t)take;
        out += take;
        n -= take;
    }
}

void mcp_rng_normals_at(mcp_isa level, const mcp_stream *s, uint32_t time, uint32_t channel, uint32_t first,
                        int n, double *out)
{
    uint32_t base[4], key[2];
    place(s, time, channel, RNG_NORMAL, base, key);
    by_groups(MCP_ISA_PICK(level, mcp_rng_group_normals), base, key, first, n, out);
}

void mcp_rng_normals(const mcp_stream *s, uint32_t time, uint32_t channel, uint32_t first, int n, double *out)
{
    mcp_rng_normals_at(mcp_isa_level(), s, time, channel, first, n, out);
}

void mcp_rng_uniforms(const mcp_stream *s, uint32_t time, uint32_t channel, uint32_t first, int n,
                      double *out)
{
    uint32_t base[4], key[2];
    place(s, time, channel, RNG_UNIFORM, base, key);
    by_groups(MCP_ISA_PICK(mcp_isa_level(), mcp_rng_group_uniforms), base, key, first, n, out);
}

void mcp_rng_keep(mcp_isa level, const mcp_stream *s, const mcp_rng_mask *m, uint8_t *keep)
{
    uint32_t base[4], key[2];
    int      threshold = (int)lrint(m->p * 256.0);
    if (threshold <= 0 || threshold > 255) { /* nothing or everything is dropped */
        memset(keep, threshold <= 0 ? 255 : 0, (size_t)m->activations * (size_t)m->n);
        return;
    }
    place(s, m->time, 0, RNG_KEEP, base, key);
    MCP_ISA_PICK(level, mcp_rng_group_keep)
    (base, key, m->first / MCP_LANES, m->n / MCP_LANES, m->activations / 8, threshold, keep);
}

mcp_rand mcp_rand_make(uint64_t seed, uint32_t trial, uint32_t step, mcp_rng_purpose purpose)
{
    return (mcp_rand){.stream = {.seed = seed, .trial = trial, .step = step, .purpose = purpose}, .next = 0};
}

/* The next block of the sequence as two uniforms. */
static void draw(mcp_rand *r, double u[2])
{
    uint32_t c[4], key[2], x[4];
    place(&r->stream, 0, 0, RNG_SEQUENCE, c, key);
    c[0] = (uint32_t)r->next;
    c[3] |= (uint32_t)(r->next >> 32) & 0x3fffu;
    r->next++;
    mcp_philox4x32(c, key, x);
    for (int i = 0; i < 2; i++) {
        uint64_t bits = (uint64_t)x[2 * i + 1] << 32 | x[2 * i];
        u[i]          = (double)(bits >> 12) * 0x1p-52 + 0x1p-53;
    }
}

double mcp_rand_uniform(mcp_rand *r)
{
    double u[2];
    draw(r, u);
    return u[0];
}

double mcp_rand_normal(mcp_rand *r)
{
    double u[2];
    draw(r, u);
    return sqrt(-2.0 * log(u[0])) * cos(6.283185307179586477 * u[1]);
}
