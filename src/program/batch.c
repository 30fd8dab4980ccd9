/* batch.c - batch runs: sizes, choice of level, and the gradient from the sums. */
#include <math.h>
#include <string.h>

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

size_t mcp_program_table(const mcp_program *p)
{
    return (size_t)p->table + 1;
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

/* See rbf_single.isa.c. */
static void tabulate_rbf(const mcp_net_code *net, const double *theta, double *table)
{
    const size_t  n = (size_t)net->net.units[0], D = (size_t)net->net.features, K = (size_t)net->net.outputs;
    const size_t  P = (size_t)net->padded;
    const double *centre = theta + K * n;
    double       *scale = table, *shift = scale + D;
    float        *ones = (void *)(shift + D), *C = ones + P, *w = C + D * P, *wC = w + K * P;
    mcp_rbf_scale(net, theta, scale, shift);
    memset(ones, 0, ((1 + 2 * D + K) * P) * sizeof *ones);
    for (size_t i = 0; i < n; i++) {
        ones[i] = 1.0f;
        for (size_t k = 0; k < K; k++) w[k * P + i] = (float)theta[k * n + i];
        for (size_t d = 0; d < D; d++) {
            double c = (centre[i * D + d] - shift[d]) * scale[d];
            C[d * P + i] = (float)c;
            if (K == 1) wC[d * P + i] = (float)(theta[i] * c);
        }
    }
}

void mcp_program_tabulate(const mcp_program *p, const double *theta, double *table)
{
    for (int i = 0; i < p->nets; i++)
        if (p->net[i].net.kind == MCP_NET_RBF)
            tabulate_rbf(&p->net[i], theta + p->net[i].theta, table + p->net[i].table);
}

/* Single sums of one rbf net in the order of the double ones. */
static void add_single(const mcp_net_code *net, const double *theta, const float *sums, double *total)
{
    const size_t n = (size_t)net->net.units[0], D = (size_t)net->net.features, K = (size_t)net->net.outputs;
    const size_t P = (size_t)net->padded, rows = K == 1 ? 1 + D : K + 1 + D;
    double      *g = total + K * P;
    for (size_t i = 0; i < (K == 1 ? P : rows * P); i++) total[i] += (double)sums[i];
    for (size_t r = 0; K == 1 && r <= D; r++) /* g = w o phi */
        for (size_t i = 0; i < n; i++) g[r * P + i] += theta[i] * (double)sums[r * P + i];
    for (size_t d = 0; d < D; d++) g[(1 + D) * P + d] += (double)sums[rows * P + d];
}

void mcp_program_sums_add(const mcp_program *p, const double *theta, int single, const double *sums,
                          double *total)
{
    for (int i = 0; i < (p->nets ? p->net[0].sums : p->sums); i++) total[i] += sums[i];
    for (int k = 0; k < p->nets; k++) {
        const mcp_net_code *net = &p->net[k];
        const int           end = k + 1 < p->nets ? net[1].sums : p->sums;
        if (single && net->net.kind == MCP_NET_RBF)
            add_single(net, theta + net->theta, (const void *)(sums + net->sums), total + net->sums);
        else for (int i = net->sums; i < end; i++) total[i] += sums[i];
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
