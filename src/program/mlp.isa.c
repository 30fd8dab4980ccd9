/* mlp.isa.c - layers a_l = tanh(W_l a_{l-1} + b_l), linear output, and their adjoint.
 *   theta  W_1 [units][inputs], b_1 [units], W_2, ..      tape  a_1 [units][ld], a_2, ..      sums
 *     as theta */
#include <string.h>

#include "math/elementary.h"
#include "program/batch_call.h"

static int units_of(const mcp_net *net, int layer)
{
    return layer < 0 ? net->features : layer < net->layers ? net->units[layer] : net->outputs;
}

/* Row i of what enters a layer. */
static const double *entering(const mcp_net_run *c, int layer, const double *before, int i)
{
    return layer ? before + (size_t)i * (size_t)c->ld : c->feature[i];
}

void MCP_ISA_FN(mcp_mlp_forward)(const mcp_net_run *c)
{
    const mcp_net *net    = &c->net->net;
    const double  *W      = c->theta, *before = NULL;
    double        *hidden = c->tape;
    for (int l = 0; l <= net->layers; l++) {
        int           m = units_of(net, l), k = units_of(net, l - 1);
        const double *bias = W + (size_t)m * (size_t)k;
        double       *to   = l < net->layers ? hidden : c->out;
        for (int o = 0; o < m; o++, W += k) {
            double *y = to + (size_t)o * (size_t)c->ld;
            for (int b = 0; b < c->n; b += MCP_W) {
                mcp_v s = mcp_v_all(bias[o]);
                for (int i = 0; i < k; i++) s += W[i] * mcp_v_load(entering(c, l, before, i) + b);
                mcp_v_store(y + b, l < net->layers ? mcp_v_tanh(s) : s);
            }
        }
        W += m;
        before = to;
        hidden += (size_t)m * (size_t)c->ld;
    }
}

/* Sums of one layer: its delta against what entered it. */
static void layer_sums(const mcp_net_run *c, int l, int m, int k, const double *before, const double *delta,
                       double *sums)
{
    static const double ones[MCP_LANES] = {1, 1, 1, 1, 1, 1, 1, 1};
    for (int b = 0; b < c->n; b += MCP_LANES, sums += c->sums_stride) {
        for (int o = 0; o < m; o++) {
            const double *d = delta + (size_t)o * (size_t)c->ld + b;
            if (l) mcp_lanes_dot(d, before + b, c->ld, k, sums + (size_t)o * (size_t)k);
            else
                for (int i = 0; i < k; i++)
                    mcp_lanes_dot(d, c->feature[i] + b, c->ld, 1, sums + (size_t)o * (size_t)k + i);
        }
        mcp_lanes_dot(ones, delta + b, c->ld, m, sums + (size_t)m * (size_t)k);
    }
}

/* Adjoint of what entered a layer: W^T delta, times the slope of tanh when it came from a hidden layer. */
static void enter_backward(const mcp_net_run *c, int l, int m, int k, const double *W, const double *before,
                           const double *delta, double *to)
{
    for (int i = 0; i < k; i++) {
        double *bar = l ? to + (size_t)i * (size_t)c->ld : c->feature_bar[i];
        for (int b = 0; bar && b < c->n; b += MCP_W) {
            mcp_v s = l ? mcp_v_all(0.0) : mcp_v_load(bar + b);
            for (int o = 0; o < m; o++)
                s += W[(size_t)o * (size_t)k + (size_t)i] * mcp_v_load(delta + (size_t)o * (size_t)c->ld + b);
            if (l) {
                mcp_v y = mcp_v_load(before + (size_t)i * (size_t)c->ld + b);
                s *= (1.0 - y) * (1.0 + y);
            }
            mcp_v_store(bar + b, s);
        }
    }
}

void MCP_ISA_FN(mcp_mlp_backward)(const mcp_net_run *c)
{
    const mcp_net *net    = &c->net->net;
    const double  *W      = c->theta, *hidden = c->tape, *delta = c->out_bar;
    size_t         ld = (size_t)c->ld, offset = 0;
    int            wide = units_of(net, -1);
    for (int l = 0; l <= net->layers; l++) {
        int m = units_of(net, l), k = units_of(net, l - 1);
        offset += (size_t)m * (size_t)(k + 1);
        if (l < net->layers) hidden += (size_t)m * ld;
        if (wide < m) wide = m;
    }
    double *side[2] = {c->scratch, c->scratch + (size_t)wide * ld};
    for (int l = net->layers; l >= 0; l--) {
        int           m = units_of(net, l), k = units_of(net, l - 1);
        const double *before = l ? hidden - (size_t)k * ld : NULL;
        offset -= (size_t)m * (size_t)(k + 1);
        if (c->sums) layer_sums(c, l, m, k, before, delta, c->sums + offset);
        enter_backward(c, l, m, k, W + offset, before, delta, side[l & 1]);
        delta = side[l & 1];
        if (l) hidden = before;
    }
}
