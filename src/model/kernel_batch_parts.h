/* kernel_batch_parts.h - the inside of mcp_kernel_batch, shared by kernel_batch.c (set-up, forward),
 * kernel_batch_backward.c and kernel_batch_diagonal.c.
 */
#ifndef MCP_KERNEL_BATCH_PARTS_H
#define MCP_KERNEL_BATCH_PARTS_H

#include "model/kernel_batch.h"
#include "model/leaf.h"

typedef struct {
    mcp_leaf f;
    double  *Z, *w, *offset;
    double  *rate;    /* pi/t_d of a periodic kernel   */
    double  *g;       /* weights of dot, degree x D    */
    size_t   rows_at; /* first of its rows on the tape */
} mcp_kernel_batch_leaf;

struct mcp_kernel_batch {
    const mcp_kernel *k;
    mcp_isa           level;
    int               nz;
    size_t bytes, rows, buffers,
        strips; /* rows and nz x ld matrices on the tape; nz x MCP_LANES strips of scratch */
    int               cols_max;
    double           *p, *Z; /* parameters; fixed points, nz x features */
    mcp_kernel_batch_leaf     *leaf;  /* one per node, used by base nodes          */
    int              *buffer, *strip; /* per node: its matrix on the tape, its strip; -1 = none */
    void (*se_forward) MCP_SE_FORWARD_ARGS;
    void (*se_slope) MCP_SE_SLOPE_ARGS;
    void (*stationary_forward) MCP_LEAF_FORWARD_ARGS;
    double (*stationary_slope) MCP_LEAF_SLOPE_ARGS;
    void (*stationary_lengths) MCP_LEAF_LENGTHS_ARGS;
    void (*dot_forward) MCP_LEAF_FORWARD_ARGS;
    void (*dot_rest) MCP_LEAF_REST_ARGS;
    void (*reduce) MCP_LEAF_REDUCE_ARGS;
    void (*periodic_forward) MCP_LEAF_FORWARD_ARGS;
    void (*periodic_backward) MCP_LEAF_PERIODIC_ARGS;
};

static inline int mcp_kernel_batch_is_dot(mcp_kernel_kind kind)
{
    return kind == MCP_K_LINEAR || kind == MCP_K_PI || kind == MCP_K_MP;
}

#endif
