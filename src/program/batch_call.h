/* batch_call.h - the kernels behind a batch run at every instruction-set level, and a net as they see it. */
#ifndef MCP_BATCH_CALL_H
#define MCP_BATCH_CALL_H

#include "program/code.h"

/* One net on n lanes: features[d] and features_bar[d] (NULL = not wanted) are rows, out and out_bar runs of
 * rows. */
typedef struct {
    const mcp_net_code *net;
    const double       *theta; /* of this net */
    const double       *table; /* of this net, single precision only */
    int                 n, ld;
    const double       *feature[MCP_NET_FEATURES];
    const uint8_t      *keep;        /* of the first group: [padded/8][lane][8] */
    size_t              keep_stride; /* to the next group */
    double              keep_scale;
    double             *tape, *out;
    const double       *out_bar;
    double             *feature_bar[MCP_NET_FEATURES];
    double             *sums; /* of this net, first group; NULL = not wanted */
    size_t              sums_stride;
    double             *scratch;
} mcp_net_run;

MCP_ISA_DECLARE(void, mcp_batch_forward, (const mcp_batch_call *c));
MCP_ISA_DECLARE(void, mcp_batch_backward, (const mcp_batch_call *c));
MCP_ISA_DECLARE(void, mcp_rbf_forward, (const mcp_net_run *c));
MCP_ISA_DECLARE(void, mcp_rbf_backward, (const mcp_net_run *c));
MCP_ISA_DECLARE(void, mcp_rbf_forward_single, (const mcp_net_run *c));
MCP_ISA_DECLARE(void, mcp_rbf_backward_single, (const mcp_net_run *c));
MCP_ISA_DECLARE(void, mcp_mlp_forward, (const mcp_net_run *c));
MCP_ISA_DECLARE(void, mcp_mlp_backward, (const mcp_net_run *c));

/* What the rbf kernels work with: phi = 2^-|s (f - m) - s (c - m)|^2, s = sqrt(log2 e)/l, m one of the
 * centres (differences of large numbers are taken once, before squares are). Fills scale s [D] and shift m
 * [D]. */
void mcp_rbf_scale(const mcp_net_code *net, const double *theta, double *scale, double *shift);

#endif
