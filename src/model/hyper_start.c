/* hyper_start.c - where training starts and how far it may go, from the scale of the data. All in logs.
 *   sd_d, rms_d  standard deviation and root mean square of feature d       rms_y
 *     of the targets (the prior mean is zero)
 * A feature that never changes has no scale of its own: its parameters start at 1 and the likelihood
 * leaves them there. */
#include <math.h>

#include "math/sized.h"
#include "model/gp_parts.h"

static const double wide = 9.3; /* log of about 1e4 */

void mcp_gp_settings_init(mcp_gp_settings *s, size_t size)
{
    static const mcp_gp_settings usual = {.restarts = 1, .evaluations_max = 200, .seed = 1};
    mcp_sized_init(s, size, &usual, sizeof usual);
}

static void moments(const mcp_gp *gp, int d, double *sd, double *rms)
{
    double mean = 0.0, square = 0.0, var = 0.0;
    for (int i = 0; i < gp->n; i++) mean += gp->X[(size_t)i * (size_t)gp->features + (size_t)d] / gp->n;
    for (int i = 0; i < gp->n; i++) {
        double x = gp->X[(size_t)i * (size_t)gp->features + (size_t)d];
        square += x * x / gp->n;
        var += (x - mean) * (x - mean) / gp->n;
    }
    *rms = sqrt(square) > 1e-100 ? sqrt(square) : 1.0;
    *sd  = sqrt(var) > 1e-9 * *rms ? sqrt(var) : 1.0;
}

static double target_scale(const mcp_gp *gp)
{
    double square = 0.0;
    for (int i = 0; i < gp->n; i++) square += gp->y[i] * gp->y[i] / gp->n;
    return sqrt(square) > 1e-100 ? sqrt(square) : 1.0;
}

/* Parameter j of base kernel b: scale is what makes the kernel's variance about rms_y^2 at the data. */
static void base_start(const mcp_gp *gp, const mcp_gp_settings *s, const mcp_kernel_node *b, int j,
                       double scale, double *start, double *lower, double *upper)
{
    double sd = 1.0, rms = 1.0;
    int    f;
    mcp_param_role role = mcp_kernel_role(b, j, &f);
    int            r    = b->kind == MCP_K_MP ? j / (b->count + 1) : 0;
    if (f >= 0) moments(gp, f, &sd, &rms);
    switch (role) {
    case MCP_P_LAMBDA:
        *start = s->fix_lambda ? 0.0 : log(scale);
        *lower = *start - (s->fix_lambda ? 0.0 : wide);
        *upper = *start + (s->fix_lambda ? 0.0 : wide);
        break;
    case MCP_P_LENGTHSCALE:
        if (b->kind == MCP_K_PERIODIC) sd = 1.0; /* in units of the sine */
        *lower = log(sd) + log(s->lengthscale_floor > 0.0 ? s->lengthscale_floor : 1e-2);
        *start = fmax(log(sd) + 0.5 * log((double)b->count), *lower);
        *upper = fmax(log(sd) + wide, *lower);
        break;
    case MCP_P_PERIOD:
        *start = log(4.0 * sd);
        *lower = *start - 4.0;
        *upper = *start + 4.0;
        break;
    case MCP_P_ALPHA:
        *start = 0.0;
        *lower = -4.0;
        *upper = wide;
        break;
    case MCP_P_SIGMA2: /* factors of mp start apart, or they would stay equal for ever */
        *start = 2.0 / b->degree * log(scale) - 0.2 * r;
        *lower = *start - 2.0 * wide;
        *upper = *start + wide;
        break;
    case MCP_P_DIAG:
        *start = 2.0 / b->degree * log(scale) - 2.0 * log(rms) - log((double)b->count) - 0.3 * r;
        *lower = *start - 2.0 * wide;
        *upper = *start + wide;
        break;
    default:
        *start = 0.0;
        *lower = -wide;
        *upper = wide;
    }
}

void mcp_gp_start(const mcp_gp *gp, const mcp_gp_settings *s, double *start, double *lower, double *upper)
{
    const mcp_kernel *k      = gp->kernel;
    double            scale  = target_scale(gp);
    int               params = k->params;
    for (int i = 0; i < k->nodes; i++)
        for (int j = 0; mcp_kernel_is_base(&k->node[i]) && j < k->node[i].params; j++) {
            int at = k->node[i].param + j;
            base_start(gp, s, &k->node[i], j, scale, &start[at], &lower[at], &upper[at]);
        }
    double floor  = s->noise_floor > 0.0 ? s->noise_floor : 1e-3 * scale;
    lower[params] = log(floor);
    upper[params] = fmax(log(scale) + 3.0, lower[params]);
    start[params] =
        fmin(fmax(log(s->noise_start > 0.0 ? s->noise_start : 0.1 * scale), lower[params]), upper[params]);
}

/* Weak, and lopsided: a long length-scale is a linear function at worst, a short one is a spike at every
 * point; a signal much larger than all that was seen is a guess about where nothing was seen. */
void mcp_gp_prior(const mcp_gp *gp, int i, double *below, double *above)
{
    const mcp_kernel *k = gp->kernel;
    *below = *above = 3.0;
    for (int b = 0; b < k->nodes; b++) {
        int f, j = i - k->node[b].param;
        if (!mcp_kernel_is_base(&k->node[b]) || j < 0 || j >= k->node[b].params) continue;
        mcp_param_role role = mcp_kernel_role(&k->node[b], j, &f);
        if (role == MCP_P_LENGTHSCALE) {
            *below = 1.0;
            *above = 4.0;
        }
        if (role == MCP_P_LAMBDA) *above = 1.5;
    }
}
