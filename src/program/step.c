/* step.c - one sample through libm, in real time: no allocation, no lock, no system call. The reference for
 * the batch run. */
#include <math.h>
#include <string.h>

#include "program/code.h"

size_t mcp_program_work(const mcp_program *p)
{
    return (size_t)p->regs + (size_t)p->rows + p->net_work;
}

/* out[k] = sum_i w_ki exp(-sum_d ((f_d - c_id)/l_d)^2) */
static void rbf_step(const mcp_net *net, const double *theta, const double *f, double *out)
{
    int           n = net->units[0], D = net->features;
    const double *centre = theta + (size_t)net->outputs * (size_t)n,
                 *lengths = centre + (size_t)n * (size_t)D;
    double        inverse[MCP_NET_FEATURES];
    for (int d = 0; d < D; d++) inverse[d] = exp(-lengths[d]);
    for (int k = 0; k < net->outputs; k++) out[k] = 0.0;
    for (int i = 0; i < n; i++, centre += D) {
        double q = 0.0;
        for (int d = 0; d < D; d++) {
            double r = (f[d] - centre[d]) * inverse[d];
            q += r * r;
        }
        double phi = exp(-q);
        for (int k = 0; k < net->outputs; k++) out[k] += theta[(size_t)k * (size_t)n + (size_t)i] * phi;
    }
}

static void mlp_step(const mcp_net *net, const double *W, const double *f, double *out, double *work)
{
    int k = net->features, wide = k;
    for (int l = 0; l < net->layers; l++)
        if (wide < net->units[l]) wide = net->units[l];
    if (wide < net->outputs) wide = net->outputs;
    double *side[2] = {work, work + wide};
    for (int l = 0; l <= net->layers; l++) {
        int           m    = l < net->layers ? net->units[l] : net->outputs;
        const double *bias = W + (size_t)m * (size_t)k;
        double       *y    = l < net->layers ? side[l & 1] : out;
        for (int o = 0; o < m; o++, W += k) {
            double s = bias[o];
            for (int i = 0; i < k; i++) s += W[i] * f[i];
            y[o] = l < net->layers ? tanh(s) : s;
        }
        W += m;
        f = y;
        k = m;
    }
}

/* Every register's value in work[register]; outputs of nets in the rows behind. */
static void evaluate(const mcp_program *p, const double *theta, int first, const double *in,
                     const double *mem, double *work)
{
    double *row = work + p->regs, *side = row + p->rows;
    for (int r = 0; r < p->regs; r++) {
        const mcp_reg *g = &p->reg[r];
        if (g->op == OP_INPUT) work[r] = in[g->row];
        else if (g->op == OP_MEMORY) work[r] = first ? 0.0 : mem[g->row];
    }
    const mcp_instr *s = p->list[first], *end = s + p->count[first];
    for (; s < end; s++) {
        if (s->op == OP_CONST) {
            work[s->r] = p->reg[s->r].value;
        } else if (s->op == OP_PARAM) {
            work[s->r] = theta[p->reg[s->r].index];
        } else if (s->op == OP_NET) {
            const mcp_net_code *net = &p->net[s->a];
            for (int d = 0; d < net->net.features; d++) side[d] = work[net->feature[first][d]];
            if (net->net.kind == MCP_NET_RBF)
                rbf_step(&net->net, theta + net->theta, side, row + net->out_row);
            else mlp_step(&net->net, theta + net->theta, side, row + net->out_row, side + MCP_NET_FEATURES);
            for (int r = s->r; r < p->regs; r++)
                if (p->reg[r].op == OP_NET && p->reg[r].index == s->a) work[r] = row[p->reg[r].row];
        } else {
            work[s->r] = mcp_op_value(s->op, work[s->a], mcp_op_binary(s->op) ? work[s->b] : 0.0);
        }
    }
}

void mcp_program_step(const mcp_program *p, const double *theta, int first, const double *in, double *mem,
                      double *out, double *work)
{
    first = first != 0;
    evaluate(p, theta, first, in, mem, work);
    for (int i = 0; i < p->outputs; i++) out[i] = work[p->out[first][i]];
    for (int i = 0; i < p->slots; i++) mem[i] = work[p->next[first][i]];
}

int mcp_program_net_count(const mcp_program *p)
{
    return p->nets;
}

int mcp_program_net_features(const mcp_program *p, int node)
{
    return p->net[node].net.features;
}

void mcp_program_net_inputs(const mcp_program *p, int node, const double *theta, int first, const double *in,
                            const double *mem, double *features, double *work)
{
    first = first != 0;
    memset(work, 0, sizeof(double) * mcp_program_work(p));
    evaluate(p, theta, first, in, mem, work);
    for (int d = 0; d < p->net[node].net.features; d++) features[d] = work[p->net[node].feature[first][d]];
}
