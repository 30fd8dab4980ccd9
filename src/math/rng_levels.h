/* rng_levels.h - where a random number sits in Philox's counter, and the vectorised generators at every
 * level; for rng.c and rng.isa.c only.
 *
 *   key         seed, 64 bits
 *   counter[0]  index (which particles)          counter[1]  optimisation step
 *   counter[2]  trial (16 bits) | time (16 bits)
 *   counter[3]  purpose (8) | channel (8) | kind (2) | sub-index (14)
 *
 * Real numbers: one block of 128 bits makes two, for particles 16 g + l and 16 g + 8 + l, l < 8; its index is
 * 8 g + l. Keep masks: one decision takes 2, 4 or 8 bits, the fewest that p needs; the 64 decisions of
 * activations 8 a .. 8 a + 7 and particles 8 g .. 8 g + 7 take the 1, 2 or 4 blocks of index g and
 * sub-indices from 4 a on. So whatever range a caller asks for, a number is found in the same place of the
 * same block. */
#ifndef MCP_RNG_LEVELS_H
#define MCP_RNG_LEVELS_H

#include "math/isa.h"
#include "math/rng.h"

enum { RNG_NORMAL, RNG_UNIFORM, RNG_KEEP, RNG_SEQUENCE };

#define RNG_GROUP 16 /* particles that share 8 blocks */

#define PHILOX_M0 0xD2511F53u
#define PHILOX_M1 0xCD9E8D57u
#define PHILOX_W0 0x9E3779B9u
#define PHILOX_W1 0xBB67AE85u

/* Groups first .. first + groups - 1: out[16 * groups]. base is the counter with index 0. */
MCP_ISA_DECLARE(void, mcp_rng_group_normals,
                (const uint32_t base[4], const uint32_t key[2], uint32_t first, int groups, double *out));
MCP_ISA_DECLARE(void, mcp_rng_group_uniforms,
                (const uint32_t base[4], const uint32_t key[2], uint32_t first, int groups, double *out));
/* Keep masks of `tiles` times 8 activations; first counts groups of 8 particles. */
MCP_ISA_DECLARE(void, mcp_rng_group_keep,
                (const uint32_t base[4], const uint32_t key[2], uint32_t first, int groups, int tiles,
                 int threshold, uint8_t *keep));

#endif
