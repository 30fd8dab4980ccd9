/* kernel_base.c - the base kernels for one pair (x, z): value and derivatives side by side, plain C. This is
 * the reference that the batched forms (stationary.isa.c, dot.isa.c, periodic.isa.c) are tested against.
 *
 *   q = sum_d ((x_d - z_d)/l_d)^2     parameters are logs: lambda, [alpha], l_1 .. l_n
 *   se        lambda^2 exp(-q)
 *   matern32  lambda^2 (1 + a) exp(-a),           a = sqrt(3 q)
 *   matern52  lambda^2 (1 + a + a^2/3) exp(-a),   a = sqrt(5 q)
 *   rq        lambda^2 (1 + q/alpha)^-alpha
 *   periodic  lambda^2 exp(-sum_d (sin(pi (x_d - z_d)/t_d)/l_d)^2)    logs of lambda, t_1 .. t_n, l_1 .. l_n
 *   mp        prod_r (s_r + sum_d g_rd x_d z_d)                       per factor logs of s_r, g_r1 .. g_rn
 *   linear, pi  sum_d g_d x_d z_d                                     logs of g_1 .. g_n */
#include <math.h>

#include "model/kernel.h"

static double scaled_distance(const mcp_kernel_node *b, const double *log_l, const double *x, const double *z)
{
    double q = 0.0;
    for (int i = 0; i < b->count; i++) {
        double r = (x[b->feature[i]] - z[b->feature[i]]) * exp(-log_l[i]);
        q += r * r;
    }
    return q;
}

/* Value of a stationary kernel at q; *slope = -dk/dq, *dalpha = dk/dlog(alpha) of rq. */
static double stationary_value(mcp_kernel_kind kind, const double *p, double q, double *slope, double *dalpha)
{
    double s2 = exp(2.0 * p[0]), a, e, k;
    *dalpha = 0.0;
    switch (kind) {
    case MCP_K_MATERN32:
        a      = sqrt(3.0 * q);
        e      = s2 * exp(-a);
        *slope = 1.5 * e;
        return (1.0 + a) * e;
    case MCP_K_MATERN52:
        a      = sqrt(5.0 * q);
        e      = s2 * exp(-a);
        *slope = 5.0 / 6.0 * (1.0 + a) * e;
        return (1.0 + a + a * a / 3.0) * e;
    case MCP_K_RQ:
        a       = exp(p[1]);
        e       = 1.0 + q / a;
        k       = s2 * exp(-a * log(e));
        *slope  = k / e;
        *dalpha = -k * (a * log(e) - q / e);
        return k;
    default:
        k      = s2 * exp(-q);
        *slope = k;
        return k;
    }
}

static double stationary_gradient(const mcp_kernel_node *b, const double *p, const double *x, const double *z,
                                  double scale, double *dx, double *dp)
{
    int           first = b->kind == MCP_K_RQ ? 2 : 1; /* log length-scales start here */
    double        slope, dalpha, q = scaled_distance(b, p + first, x, z);
    const double *log_l = p + first;
    double        k     = stationary_value(b->kind, p, q, &slope, &dalpha);
    for (int i = 0; i < b->count; i++) {
        double w = exp(-log_l[i]), r = (x[b->feature[i]] - z[b->feature[i]]) * w;
        if (dx) dx[b->feature[i]] -= scale * slope * 2.0 * r * w;
        if (dp) dp[first + i] += scale * slope * 2.0 * r * r;
    }
    if (dp) {
        dp[0] += scale * 2.0 * k;
        if (b->kind == MCP_K_RQ) dp[1] += scale * dalpha;
    }
    return k;
}

static double periodic_value(const mcp_kernel_node *b, const double *p, const double *x, const double *z)
{
    const double *log_t = p + 1, *log_l = p + 1 + b->count;
    double        q = 0.0;
    for (int i = 0; i < b->count; i++) {
        double s = sin(M_PI * (x[b->feature[i]] - z[b->feature[i]]) * exp(-log_t[i])) * exp(-log_l[i]);
        q += s * s;
    }
    return exp(2.0 * p[0] - q);
}

static double periodic_gradient(const mcp_kernel_node *b, const double *p, const double *x, const double *z,
                                double scale, double *dx, double *dp)
{
    const double *log_t = p + 1, *log_l = p + 1 + b->count;
    double        k = periodic_value(b, p, x, z);
    for (int i = 0; i < b->count; i++) {
        double a = M_PI * exp(-log_t[i]), r = a * (x[b->feature[i]] - z[b->feature[i]]);
        double w2 = exp(-2.0 * log_l[i]), s = sin(r), c = cos(r);
        if (dx) dx[b->feature[i]] -= scale * k * 2.0 * w2 * s * c * a;
        if (dp) dp[1 + i] += scale * k * 2.0 * w2 * s * c * r;
        if (dp) dp[1 + b->count + i] += scale * k * 2.0 * w2 * s * s;
    }
    if (dp) dp[0] += scale * 2.0 * k;
    return k;
}

/* Factor r of a dot-product kernel; *g its log weights, *offset its sigma^2. */
static double dot_factor(const mcp_kernel_node *b, const double *p, int r, const double *x, const double *z,
                         const double **g, double *offset)
{
    int stride = b->kind == MCP_K_MP ? b->count + 1 : b->count;
    *g         = p + r * stride;
    *offset    = 0.0;
    if (b->kind == MCP_K_MP) *offset = exp(*(*g)++);
    double v = *offset;
    for (int i = 0; i < b->count; i++) v += exp((*g)[i]) * x[b->feature[i]] * z[b->feature[i]];
    return v;
}

static double dot_value(const mcp_kernel_node *b, const double *p, const double *x, const double *z)
{
    const double *g;
    double        offset, k = 1.0;
    for (int r = 0; r < b->degree; r++) k *= dot_factor(b, p, r, x, z, &g, &offset);
    return k;
}

static double dot_gradient(const mcp_kernel_node *b, const double *p, const double *x, const double *z,
                           double scale, double *dx, double *dp)
{
    const double *g, *other;
    double        offset, unused;
    for (int r = 0; r < b->degree; r++) {
        dot_factor(b, p, r, x, z, &g, &offset);
        double rest = scale; /* product of the other factors */
        for (int s = 0; s < b->degree; s++)
            if (s != r) rest *= dot_factor(b, p, s, x, z, &other, &unused);
        if (dp && b->kind == MCP_K_MP) dp[g - 1 - p] += rest * offset;
        for (int i = 0; i < b->count; i++) {
            double w = exp(g[i]), xi = x[b->feature[i]], zi = z[b->feature[i]];
            if (dx) dx[b->feature[i]] += rest * w * zi;
            if (dp) dp[g - p + i] += rest * w * xi * zi;
        }
    }
    return dot_value(b, p, x, z);
}

static double user_value(const mcp_kernel_node *b, const double *p, const double *x, const double *z)
{
    double own_x[MCP_USER_FEATURES], own_z[MCP_USER_FEATURES];
    mcp_kernel_pick(b, x, 1, own_x);
    mcp_kernel_pick(b, z, 1, own_z);
    return b->user.value(b->user.user, p, own_x, own_z);
}

static double user_gradient(const mcp_kernel_node *b, const double *p, const double *x, const double *z,
                            double scale, double *dx, double *dp)
{
    double own_x[MCP_USER_FEATURES], own_z[MCP_USER_FEATURES], own_dx[MCP_USER_FEATURES];
    mcp_kernel_pick(b, x, 1, own_x);
    mcp_kernel_pick(b, z, 1, own_z);
    for (int d = 0; d < b->count; d++) own_dx[d] = 0.0;
    double v = b->user.gradient(b->user.user, p, own_x, own_z, scale, dx ? own_dx : NULL, dp);
    for (int d = 0; dx && d < b->count; d++) dx[b->feature[d]] += own_dx[d];
    return v;
}

double mcp_kernel_base_value(const mcp_kernel_node *b, const double *p, const double *x, const double *z)
{
    double slope, dalpha;
    switch (b->kind) {
    case MCP_K_PERIODIC: return periodic_value(b, p, x, z);
    case MCP_K_LINEAR:
    case MCP_K_PI:
    case MCP_K_MP: return dot_value(b, p, x, z);
    case MCP_K_USER: return user_value(b, p, x, z);
    default:
        return stationary_value(b->kind, p, scaled_distance(b, p + (b->kind == MCP_K_RQ ? 2 : 1), x, z),
                                &slope, &dalpha);
    }
}

double mcp_kernel_base_gradient(const mcp_kernel_node *b, const double *p, const double *x, const double *z,
                                double scale, double *dx, double *dp)
{
    switch (b->kind) {
    case MCP_K_PERIODIC: return periodic_gradient(b, p, x, z, scale, dx, dp);
    case MCP_K_LINEAR:
    case MCP_K_PI:
    case MCP_K_MP: return dot_gradient(b, p, x, z, scale, dx, dp);
    case MCP_K_USER: return user_gradient(b, p, x, z, scale, dx, dp);
    default: return stationary_gradient(b, p, x, z, scale, dx, dp);
    }
}

mcp_param_role mcp_kernel_role(const mcp_kernel_node *b, int i, int *feature)
{
    int n = b->count;
    *feature = -1;
    switch (b->kind) {
    case MCP_K_USER: return MCP_P_USER;
    case MCP_K_LINEAR:
    case MCP_K_PI: *feature = b->feature[i]; return MCP_P_DIAG;
    case MCP_K_MP:
        if (i % (n + 1) == 0) return MCP_P_SIGMA2;
        *feature = b->feature[i % (n + 1) - 1];
        return MCP_P_DIAG;
    default: break;
    }
    if (i == 0) return MCP_P_LAMBDA;
    if (b->kind == MCP_K_RQ) {
        if (i == 1) return MCP_P_ALPHA;
        i--;
    }
    if (b->kind == MCP_K_PERIODIC) {
        *feature = b->feature[(i - 1) % n];
        return i <= n ? MCP_P_PERIOD : MCP_P_LENGTHSCALE;
    }
    *feature = b->feature[i - 1];
    return MCP_P_LENGTHSCALE;
}
