/* single.h - eight floats side by side, for *.isa.c files: one native vector with AVX2, pieces of it on other
 * machines, where the compiler splits it. */
#ifndef MCP_SINGLE_H
#define MCP_SINGLE_H

#include <stdint.h>

#include "math/lanes.h"

#if defined(__AVX2__)
#include <immintrin.h>
#else
#pragma GCC diagnostic ignored "-Wpsabi" /* all functions with vectors of 32 bytes are inlined */
#endif

typedef float   mcp_f8 __attribute__((vector_size(32)));
typedef int32_t mcp_i8 __attribute__((vector_size(32)));
typedef float   mcp_f4 __attribute__((vector_size(16)));
typedef double  mcp_d4 __attribute__((vector_size(32)));
typedef float   mcp_f8_mem __attribute__((vector_size(32), aligned(4), may_alias));

MCP_INLINE mcp_f8 mcp_f8_load(const float *p)
{
    return *(const mcp_f8_mem *)p;
}

MCP_INLINE void mcp_f8_store(float *p, mcp_f8 v)
{
    *(mcp_f8_mem *)p = v;
}

/* The first and the last four as doubles. */
MCP_INLINE mcp_d4 mcp_f8_low(mcp_f8 v)
{
    return __builtin_convertvector(__builtin_shufflevector(v, v, 0, 1, 2, 3), mcp_d4);
}

MCP_INLINE mcp_d4 mcp_f8_high(mcp_f8 v)
{
    return __builtin_convertvector(__builtin_shufflevector(v, v, 4, 5, 6, 7), mcp_d4);
}

/* 2^-q for q >= 0, relative error 2e-7. From `most` (at most 126) on it stays at 2^-most, so that no product
 * of it is a slow subnormal number; NaN is handed on. */
MCP_INLINE mcp_f8 mcp_f8_exp2_minus(mcp_f8 q, float most)
{
    const float  magic = 0x1.8p23f;
    const mcp_f8 cap = most - (mcp_f8){0};
#if defined(__AVX2__)
    q = _mm256_min_ps(cap, q);
#else
    mcp_i8 far = q > cap;
    q = (mcp_f8)((far & (mcp_i8)cap) | (~far & (mcp_i8)q));
#endif
    mcp_f8 t = q + magic, r = (t - magic) - q;
    mcp_f8 p = 0.000154614447f * r + 0.00134004282f;
    p = p * r + 0.00961805668f;
    p = p * r + 0.0555032723f;
    p = p * r + 0.240226509f;
    p = p * r + 0.693147207f;
    p = p * r + 1.0f;
    return (mcp_f8)((mcp_i8)p - ((mcp_i8)t << 23));
}

#endif
