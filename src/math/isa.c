/* isa.c - which instruction-set level this CPU runs. */
#include "math/isa.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {"base", "v2", "v3", "v4"};

/* The x86-64 levels by the features our kernels use. The compiler's builtin also asks the operating system
 * whether it saves the wide registers. */
mcp_isa mcp_isa_widest(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("sse4.2") || !__builtin_cpu_supports("ssse3") ||
        !__builtin_cpu_supports("popcnt"))
        return MCP_ISA_BASE;
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("bmi") ||
        !__builtin_cpu_supports("bmi2"))
        return MCP_ISA_V2;
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
        !__builtin_cpu_supports("avx512cd") || !__builtin_cpu_supports("avx512dq") ||
        !__builtin_cpu_supports("avx512vl"))
        return MCP_ISA_V3;
    return MCP_ISA_V4;
#else
    return MCP_ISA_BASE;
#endif
}

static mcp_isa choose(void)
{
    mcp_isa     widest = mcp_isa_widest();
    const char *wanted = getenv("MCPILCO_ISA");
    for (int i = 0; wanted && i < 4; i++)
        if (!strcmp(wanted, names[i])) return (mcp_isa)i < widest ? (mcp_isa)i : widest;
    return widest;
}

/* The answer is a constant of the process: it is looked up once, so that an environment changed later cannot
 * mix levels within one run, and so that hot callers may ask every time. */
mcp_isa mcp_isa_level(void)
{
    static atomic_int known; /* level + 1; 0 = not asked yet. Every thread would store the same number. */
    int               level = atomic_load_explicit(&known, memory_order_relaxed);
    if (!level) {
        level = (int)choose() + 1;
        atomic_store_explicit(&known, level, memory_order_relaxed);
    }
    return (mcp_isa)(level - 1);
}

const char *mcp_isa_name(mcp_isa level)
{
    return names[level];
}
