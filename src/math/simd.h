/* simd.h - vectors for .isa.c files: as wide as the level they are compiled for.
 *
 *   mcp_v   MCP_W doubles (2, 4 or 8); + - * / and comparisons work lane by lane
 *   mcp_v_load, mcp_v_store   MCP_W doubles at any 8-byte boundary (as fast as aligned ones where they are
 *     aligned)
 *   MCP_V_FN(tan)   declares mcp_v_tan: libm's function of that name lane by lane, within 4 units in the last
 *     place; exp, log, sin, cos and tanh are in line, see math/elementary.h
 *
 * Where they are there, glibc's vector functions (libmvec) are called by their ABI names: their parameters
 * travel in vector registers like those of any C function with vector arguments, so gcc and clang both reach
 * them. Without libmvec each lane goes through libm. */
#ifndef MCP_SIMD_H
#define MCP_SIMD_H

#include <math.h>
#include <stdint.h>

/* MCP_WIDE: vectors of 8 on any CPU, for the compiler to split. It lets tests run the code of the widest
 * level anywhere. */
#if defined(__AVX512F__) || defined(MCP_WIDE)
#define MCP_W 8
#define MCP_MVEC(f) _ZGVeN8v_##f
#elif defined(__AVX2__)
#define MCP_W 4
#define MCP_MVEC(f) _ZGVdN4v_##f
#else
#define MCP_W 2
#define MCP_MVEC(f) _ZGVbN2v_##f
#endif

typedef double   mcp_v __attribute__((vector_size(8 * MCP_W)));
typedef uint64_t mcp_vu __attribute__((vector_size(8 * MCP_W)));
/* The same in memory: at any boundary, over any type. */
typedef double   mcp_v_mem __attribute__((vector_size(8 * MCP_W), aligned(8), may_alias));
typedef uint64_t mcp_vu_mem __attribute__((vector_size(8 * MCP_W), aligned(1), may_alias));

static inline mcp_v mcp_v_load(const double *p)
{
    return *(const mcp_v_mem *)p;
}

static inline void mcp_v_store(double *p, mcp_v v)
{
    *(mcp_v_mem *)p = v;
}

static inline mcp_v mcp_v_all(double a)
{
    return a - (mcp_v){0};
}

static inline mcp_vu mcp_vu_all(uint64_t a)
{
    return a - (mcp_vu){0};
}

#ifdef MCP_HAVE_MVEC
#define MCP_V_FN(f)                                \
    extern mcp_v        MCP_MVEC(f)(mcp_v);        \
    static inline mcp_v mcp_v_##f(mcp_v x)         \
    {                                              \
        return MCP_MVEC(f)(x);                     \
    }
#else
#define MCP_V_FN(f)                                      \
    static inline mcp_v mcp_v_##f(mcp_v x)               \
    {                                                    \
        for (int i = 0; i < MCP_W; i++) x[i] = (f)(x[i]); \
        return x;                                        \
    }
#endif
static inline mcp_v mcp_v_sqrt(mcp_v x)
{
    for (int i = 0; i < MCP_W; i++) x[i] = sqrt(x[i]); /* becomes one instruction: -fno-math-errno */
    return x;
}

#endif
