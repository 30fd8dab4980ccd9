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

/* x[j] = 2^-x[j] for x >= 0, relative error 2e-7, of `count` vectors step by step: one alone would
 * keep a core waiting. From `most` (at most 126) on it stays at 2^-most, so that no product of it is a slow
 * subnormal number; NaN is handed on. */
MCP_INLINE void mcp_f8_exp2_minus(int count, mcp_f8 *x, float most)
{
    static const float c[] = {0.00134004282f, 0.00961805668f, 0.0555032723f,
                              0.240226509f,   0.693147207f,   1.0f};
    const float        magic = 0x1.8p23f;
    const mcp_f8       cap = most - (mcp_f8){0};
    mcp_f8             t[8], p[8];
#pragma GCC unroll 8
    for (int j = 0; j < count; j++) {
#if defined(__AVX2__)
        x[j] = _mm256_min_ps(cap, x[j]);
#else
        mcp_i8 far = x[j] > cap;
        x[j] = (mcp_f8)((far & (mcp_i8)cap) | (~far & (mcp_i8)x[j]));
#endif
    }
#pragma GCC unroll 8
    for (int j = 0; j < count; j++) t[j] = x[j] + magic;
#pragma GCC unroll 8
    for (int j = 0; j < count; j++) x[j] = (t[j] - magic) - x[j];
#pragma GCC unroll 8
    for (int j = 0; j < count; j++) p[j] = 0.000154614447f * x[j] + c[0];
#pragma GCC unroll 8
    for (int k = 1; k < 6; k++)
#pragma GCC unroll 8
        for (int j = 0; j < count; j++) p[j] = p[j] * x[j] + c[k];
#pragma GCC unroll 8
    for (int j = 0; j < count; j++) x[j] = (mcp_f8)((mcp_i8)p[j] - ((mcp_i8)t[j] << 23));
}

#endif
