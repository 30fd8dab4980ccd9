/* vecmath.c - the table of array functions for a level. */
#include "math/vecmath.h"

#include <stddef.h>

#include "math/vecmath_levels.h"

#define TABLE(id, s) \
    {                \
        id, mcp_vec_exp_##s, mcp_vec_log_##s, mcp_vec_sin_##s, mcp_vec_cos_##s, mcp_vec_tanh_##s}

static const mcp_vecmath tables[] = {
    TABLE(MCP_ISA_BASE, base),
#if defined(__x86_64__)
    TABLE(MCP_ISA_V2, v2),
    TABLE(MCP_ISA_V3, v3),
    TABLE(MCP_ISA_V4, v4),
#endif
};

const mcp_vecmath *mcp_vecmath_get(mcp_isa level)
{
    return &tables[(size_t)level < sizeof tables / sizeof *tables ? level : MCP_ISA_BASE];
}
