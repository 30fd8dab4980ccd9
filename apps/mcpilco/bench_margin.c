/* bench_margin.c - single precision against the noise. */
#include "bench_margin.h"

#include <math.h>

#include "math/arena.h"
#include "math/stats.h"

static double distance(int n, const double *a, const double *b)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum);
}

static double ratio(double noise, double error)
{
    return error > 0.0 ? noise / error : INFINITY;
}

mcp_status margin_compare(margin_figures *out, int draws, int params, margin_draw *draw, void *context,
                          mcp_error *err)
{
    const size_t n = (size_t)params, d = (size_t)draws;
    double      *J = mcp_calloc(2 * d + (d + 2) * n + 1, sizeof *J), *off = J + d, *g = off + d,
           *mean = g + d * n, *h = mean + n;
    double       single = 0.0;
    mcp_status   st = J ? MCP_OK : mcp_fail(err, MCP_ERR_MEMORY, "out of memory for %d gradients", draws);
    *out = (margin_figures){0};
    for (size_t k = 0; k < d && st == MCP_OK; k++) {
        st = draw(context, 0, (int)k, &J[k], g + k * n, err);
        if (st == MCP_OK) st = draw(context, 1, (int)k, &single, h, err);
        const double J_off = fabs(single - J[k]), g_off = distance(params, g + k * n, h);
        out->J += J[k] / draws;
        out->J_error += J_off * J_off / draws;
        out->gradient_error += g_off * g_off / draws;
        off[k] = g_off;
        out->J_largest = fmax(out->J_largest, J_off);
        out->gradient_largest = fmax(out->gradient_largest, g_off);
        for (size_t i = 0; i < n; i++) mean[i] += g[k * n + i] / draws;
    }
    for (size_t k = 0; k < d && st == MCP_OK; k++) {
        out->J_noise += pow(J[k] - out->J, 2.0) / (draws - 1);
        out->gradient_noise += pow(distance(params, g + k * n, mean), 2.0) / (draws - 1);
    }
    if (st == MCP_OK) out->gradient_usual = mcp_quantile(off, draws, 0.5);
    out->J_error = sqrt(out->J_error);
    out->gradient_error = sqrt(out->gradient_error);
    out->J_noise = sqrt(out->J_noise);
    out->gradient_noise = sqrt(out->gradient_noise);
    out->J_ratio = ratio(out->J_noise, out->J_error);
    out->gradient_ratio = ratio(out->gradient_noise, out->gradient_error);
    out->usual_ratio = ratio(out->gradient_noise, out->gradient_usual);
    mcp_free(J);
    return st;
}
