/* rng.h - counter-based random numbers (Philox4x32-10).
 * A number depends only on what it is for, never on who draws it or when: results are the same for any number
 * of threads, any block size and any number of MPI ranks. */
#ifndef MCP_RNG_H
#define MCP_RNG_H

#include <stdint.h>

#include "math/isa.h"

typedef enum {
    MCP_RNG_START = 1, /* initial states of particles        */
    MCP_RNG_SENSOR,    /* measurement noise in particles     */
    MCP_RNG_MODEL,     /* eps of the GP samples              */
    MCP_RNG_DROPOUT,   /* dropped policy activations         */
    MCP_RNG_POLICY,    /* a policy's first parameters        */
    MCP_RNG_EXPLORE,   /* exploration inputs                 */
    MCP_RNG_PLANT,     /* start and noise of a simulated plant */
    MCP_RNG_TRAIN,     /* restarts of model training         */
    MCP_RNG_EVALUATE,  /* plant runs of evaluate             */
    MCP_RNG_CMAES,
    MCP_RNG_OTHER
} mcp_rng_purpose;

/* One stream: everything but (particle, time, channel). step is the optimisation step or run index. */
typedef struct {
    uint64_t seed;
    uint32_t trial; /* < 2^16 */
    uint32_t step;
    uint32_t purpose; /* mcp_rng_purpose, < 2^8 */
} mcp_stream;

void mcp_philox4x32(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

/* out[j] for particles first..first+n-1 at one time (< 2^16) and channel (< 2^8). Any first and n. */
void mcp_rng_normals(const mcp_stream *s, uint32_t time, uint32_t channel, uint32_t first, int n,
                     double *out);
void mcp_rng_uniforms(const mcp_stream *s, uint32_t time, uint32_t channel, uint32_t first, int n,
                      double *out); /* (0,1) */
/* Which activations stay at one time, particles first .. first + n - 1: bytes [group of MCP_LANES
 * particles][activation / 8][particle][8 activations], 255 with probability 1 - p (p in 1/256), else 0.
 * first, n, activations (< 2^15): multiples of MCP_LANES. */
typedef struct {
    uint32_t time, first;
    int      n, activations;
    double   p;
} mcp_rng_mask;
void mcp_rng_keep(mcp_isa level, const mcp_stream *s, const mcp_rng_mask *m, uint8_t *keep);
/* Normals at a chosen level. Uniforms and keep masks are the same bits at every level; normals differ in the
 * last ones. */
void mcp_rng_normals_at(mcp_isa level, const mcp_stream *s, uint32_t time, uint32_t channel, uint32_t first,
                        int n, double *out);

/* The same generator as a plain sequence, for set-up code. */
typedef struct {
    mcp_stream stream;
    uint64_t   next;
} mcp_rand;
mcp_rand mcp_rand_make(uint64_t seed, uint32_t trial, uint32_t step, mcp_rng_purpose purpose);
double   mcp_rand_uniform(mcp_rand *r); /* (0, 1) */
double   mcp_rand_normal(mcp_rand *r);

#endif
