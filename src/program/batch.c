/* batch.c - batch runs: sizes, choice of level, and the gradient from the sums. */
#include <math.h>

#include "program/batch_call.h"

size_t mcp_program_tape(const mcp_program *p, int ld)
{
    return (size_t)p->tape_rows * (size_t)ld;
}

size_t mcp_program_scratch(const mcp_program *p, int ld)
{
    return (size_t)(p->rows + p->net_scratch_rows) * (size_t)ld + p->net_scratch;
}

size_t mcp_program_sums(const mcp_program *p)
{
    return (size_t)p->sums;
}

void mcp_batch_forward(const mcp_batch_call *c)
{
    MCP_ISA_PICK(c->level, mcp_batch_forward)(c);
}

void mcp_batch_backward(const mcp_batch_call *c)
{
    MCP_ISA_PICK(c->level, mcp_batch_backward)(c);
}

void mcp_rbf_scale(const mcp_net_code *net, const double *theta, double *scale, double *shift)
{
    int           n = net->net.units[0], D = net->net.features;
    const double *centre = theta + (size_t)net->net.outputs * (size_t)n,
                 *lengths = centre + (size_t)n * (size_t)D;
    for (int d = 0; d < D; d++) {
        scale[d] = sqrt(1.4426950408889634) * exp(-lengths[d]);
        shift[d] = centre[d];
    }
}

/* See rbf.isa.c. c_bar_id = 2 ln2 s_d (sum g F_d - C_id sum g);  log l_bar_d = 2 ln2 sum g (F_d - C_id)^2 */
static void rbf_gradient(const mcp_net_code *net, const double *theta, const double *sums, double *theta_bar)
{
    int           n = net->net.units[0], D = net->net.features, K = net->net.outputs, P = net->padded;
    const double  two_ln2 = 2.0 * 0.6931471805599453;
    const double *centre  = theta + (size_t)K * (size_t)n, *g = sums + (size_t)K * (size_t)P;
    double       *c_bar   = theta_bar + (size_t)K * (size_t)n, *l_bar = c_bar + (size_t)n * (size_t)D;
    double        scale[MCP_NET_FEATURES], shift[MCP_NET_FEATURES];
    mcp_rbf_scale(net, theta, scale, shift);
    for (int k = 0; k < K; k++)
        for (int i = 0; i < n; i++)
            theta_bar[(size_t)k * (size_t)n + (size_t)i] += sums[(size_t)k * (size_t)P + (size_t)i];
    for (int d = 0; d < D; d++) {
        const double *gF = g + (size_t)(d + 1) * (size_t)P;
        double        l  = g[(size_t)(D + 1) * (size_t)P + (size_t)d];
        for (int i = 0; i < n; i++) {
            double C = (centre[(size_t)i * (size_t)D + (size_t)d] - shift[d]) * scale[d];
            c_bar[(size_t)i * (size_t)D + (size_t)d] += two_ln2 * scale[d] * (gF[i] - C * g[i]);
            l += C * C * g[i];
        }
        l_bar[d] += two_ln2 * l;
    }
}

void mcp_program_gradient(const mcp_program *p, const double *theta, const double *sums, double *theta_bar)
{
    for (int i = 0; i < p->scalars; i++) theta_bar[i] += sums[i];
    for (int i = 0; i < p->nets; i++) {
        const mcp_net_code *net = &p->net[i];
        int                 end = i + 1 < p->nets ? p->net[i + 1].theta : p->params;
        if (net->net.kind == MCP_NET_RBF)
            rbf_gradient(net, theta + net->theta, sums + net->sums, theta_bar + net->theta);
        else for (int k = net->theta; k < end; k++) theta_bar[k] += sums[net->sums + k - net->theta];
    }
}
