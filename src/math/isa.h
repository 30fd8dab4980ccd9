/* isa.h - one source, several instruction sets.
 *
 * A file named foo.isa.c is compiled once per level with MCP_ISA set to base, v2, v3 or v4 (x86-64 levels;
 * base alone on other machines). Its functions are named MCP_ISA_FN(mcp_foo_bar), e.g. mcp_foo_bar_v3. A
 * plain foo.c beside it picks one at run time by mcp_isa_level() and stores the pointer in the object it
 * creates: there is no global table to change.
 *
 * Batches: arrays are [variable][lane]; the number of lanes n and the stride ld are multiples of MCP_LANES
 * and rows start on 64-byte boundaries. Kernels always work on whole groups of MCP_LANES, never on a
 * remainder, so that a lane's result does not depend on the batch it sits in. Unused lanes hold finite
 * numbers. */
#ifndef MCP_ISA_H
#define MCP_ISA_H

#define MCP_LANES 8

/* n rounded up to whole groups of lanes */
static inline int mcp_round_lanes(int n)
{
    return (n + MCP_LANES - 1) / MCP_LANES * MCP_LANES;
}

#define MCP_ISA_CAT2(a, b) a##_##b
#define MCP_ISA_CAT(a, b) MCP_ISA_CAT2(a, b)
#define MCP_ISA_FN(name) MCP_ISA_CAT(name, MCP_ISA)

typedef enum { MCP_ISA_BASE = 0, MCP_ISA_V2, MCP_ISA_V3, MCP_ISA_V4 } mcp_isa;

/* The widest level this CPU runs, or the one the environment variable MCPILCO_ISA (base, v2, v3, v4) asks for
 * if the CPU can run it (otherwise the widest that it can). Looked up once per process. */
mcp_isa     mcp_isa_level(void);
mcp_isa     mcp_isa_widest(void); /* what the CPU runs, whatever the environment says */
const char *mcp_isa_name(mcp_isa level);

/* Declares one kernel at every level; MCP_ISA_PICK chooses among them. */
#if defined(__x86_64__)
#define MCP_ISA_DECLARE(ret, name, args) \
    ret name##_base args;                \
    ret name##_v2 args;                  \
    ret name##_v3 args;                  \
    ret name##_v4 args
#define MCP_ISA_PICK(level, name)        \
    ((level) >= MCP_ISA_V4   ? name##_v4 \
     : (level) == MCP_ISA_V3 ? name##_v3 \
     : (level) == MCP_ISA_V2 ? name##_v2 \
                             : name##_base)
#else
#define MCP_ISA_DECLARE(ret, name, args) ret name##_base args
#define MCP_ISA_PICK(level, name) ((void)(level), name##_base)
#endif

#endif
