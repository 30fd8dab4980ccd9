/* bfgs.c - BFGS with a line search for the strong Wolfe conditions (Nocedal and Wright, algorithms 3.5, 3.6
 * and 6.1). A point without a value counts as too far: the step is cut to a fifth. */
#include "baseline/pilco/bfgs.h"

#include <math.h>
#include <string.h>

#include "math/arena.h"

static const double sufficient = 0.05, curvature = 0.5; /* of Wolfe's conditions */

typedef struct {
    int             n;
    mcp_bfgs_value *value;
    void           *context;
    double         *x, *d, *g, *try_x, *try_g; /* point, direction, gradient; trial point and its gradient */
    double         *H, *y, *Hy;                /* inverse Hessian [n][n] */
    double          f, slope, try_f, try_slope;
    int             evaluations;
} search;

static double dot(int n, const double *a, const double *b)
{
    double s = 0;
    for (int i = 0; i < n; i++) s += a[i] * b[i];
    return s;
}

static void look(search *q, double a)
{
    for (int i = 0; i < q->n; i++) q->try_x[i] = q->x[i] + a * q->d[i];
    q->try_f = q->value(q->context, q->try_x, q->try_g);
    q->try_slope = dot(q->n, q->try_g, q->d);
    if (!isfinite(q->try_f) || !isfinite(q->try_slope)) q->try_f = INFINITY;
    q->evaluations++;
}

/* Minimum of the cubic through values and slopes at a and b, kept away from both ends. */
static double cubic(double a, double fa, double sa, double b, double fb, double sb)
{
    double m = sa + sb - 3 * (fa - fb) / (a - b), r = m * m - sa * sb, t = 0.5 * (a + b);
    if (isfinite(fa) && isfinite(fb) && r >= 0) {
        double root = (b > a ? 1 : -1) * sqrt(r), c = b - (b - a) * (sb + root - m) / (sb - sa + 2 * root);
        if (isfinite(c)) t = c;
    } else return a + 0.2 * (b - a);
    double lo = fmin(a, b), hi = fmax(a, b), margin = 0.1 * (hi - lo);
    return fmin(fmax(t, lo + margin), hi - margin);
}

/* Step along d from first guess a; 0: none found. On success the trial point is the new point. */
static double line_search(search *q, double a, int most)
{
    double lo = 0, flo = q->f, slo = q->slope, hi = 0, fhi = 0, shi = 0;
    int    bracket = 0;
    for (int k = 0; k < most; k++) {
        look(q, a);
        int armijo = q->try_f <= q->f + sufficient * a * q->slope;
        if (armijo && fabs(q->try_slope) <= -curvature * q->slope) return a;
        if (!armijo || q->try_f >= flo) {
            hi = a;
            fhi = q->try_f;
            shi = q->try_slope;
            bracket = 1;
        } else {
            if (bracket ? q->try_slope * (hi - lo) >= 0 : q->try_slope >= 0) {
                hi = lo;
                fhi = flo;
                shi = slo;
                bracket = 1;
            }
            lo = a;
            flo = q->try_f;
            slo = q->try_slope;
        }
        if (bracket) a = cubic(lo, flo, slo, hi, fhi, shi);
        else a *= 3;
        if (bracket && fabs(hi - lo) < 1e-12 * (1 + fabs(lo))) break;
    }
    if (lo == 0) return 0; /* nothing better than the start */
    look(q, lo);
    return lo;
}

static void reset(search *q)
{
    memset(q->H, 0, (size_t)q->n * (size_t)q->n * sizeof *q->H);
    for (int i = 0; i < q->n; i++) q->H[i * q->n + i] = 1;
}

/* H <- (I - r s y^T) H (I - r y s^T) + r s s^T, s = a d, y = new gradient - old. */
static void update(search *q, double a, int first)
{
    int     n = q->n;
    double *y = q->y, *Hy = q->Hy, sy, yy, yHy = 0;
    for (int i = 0; i < n; i++) y[i] = q->try_g[i] - q->g[i];
    sy = a * dot(n, q->d, y);
    yy = dot(n, y, y);
    if (!(sy > 1e-14 * sqrt(yy) * a * sqrt(dot(n, q->d, q->d)))) return;
    if (first)
        for (int i = 0; i < n; i++) q->H[i * n + i] = sy / yy;
    for (int i = 0; i < n; i++) {
        Hy[i] = dot(n, q->H + i * n, y);
        yHy += y[i] * Hy[i];
    }
    double r = 1 / sy, c = r * (1 + r * yHy);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double si = a * q->d[i], sj = a * q->d[j];
            q->H[i * n + j] += c * si * sj - r * (si * Hy[j] + Hy[i] * sj);
        }
}

static size_t layout(search *q, double **history, int searches, char *mem)
{
    mcp_arena      a = {.base = mem};
    size_t         n = (size_t)q->n;
    double **const list[] = {&q->d, &q->g, &q->try_x, &q->try_g, &q->y, &q->Hy};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) *list[i] = mcp_arena_doubles(&a, n);
    q->H = mcp_arena_doubles(&a, n * n);
    *history = mcp_arena_doubles(&a, (size_t)searches + 1);
    return a.used;
}

static int settled(const double *history, int k, const mcp_bfgs_settings *s)
{
    return k >= 10 && history[k] < s->plateau &&
           history[k - 10] - history[k] <= s->tolerance * (fabs(history[k]) + 1e-12);
}

mcp_status mcp_bfgs(int n, double *x, mcp_bfgs_value *value, mcp_bfgs_step *step, void *context,
                    const mcp_bfgs_settings *s, mcp_bfgs_info *info, mcp_error *err)
{
    search     q = {.n = n, .value = value, .context = context, .x = x};
    double    *history;
    void      *mem;
    int        fresh = 1, most = s->searches_max > 0 ? s->searches_max : 0;
    mcp_status st = mcp_block_alloc(&mem, layout(&q, &history, most, NULL), err);
    *info = (mcp_bfgs_info){0};
    if (st != MCP_OK) return st;
    layout(&q, &history, most, mem);
    reset(&q);
    history[0] = q.f = value(context, x, q.g);
    if (!isfinite(q.f) || !isfinite(dot(n, q.g, q.g)))
        st = mcp_fail(err, MCP_ERR_NUMERIC, "pilco: the expected cost of the first policy is not a number");
    while (st == MCP_OK && info->searches < most && !info->converged && !info->stopped) {
        for (int i = 0; i < n; i++) q.d[i] = -dot(n, q.H + i * n, q.g);
        q.slope = dot(n, q.d, q.g);
        if (q.slope >= 0) {
            if (fresh) break;
            reset(&q);
            fresh = 1;
            continue;
        }
        double norm = sqrt(dot(n, q.g, q.g)),
               a = line_search(&q, fresh ? fmin(1, 1 / norm) : 1, s->evaluations_max);
        if (a == 0) {
            info->converged = fresh; /* steepest descent gains nothing either */
            if (!fresh) {
                reset(&q);
                fresh = 1;
            }
            info->searches++;
            history[info->searches] = q.f;
            info->stopped = step && step(context, info->searches, q.f, norm, 0);
            continue;
        }
        update(&q, a, fresh);
        fresh = 0;
        memcpy(x, q.try_x, (size_t)n * sizeof *x);
        memcpy(q.g, q.try_g, (size_t)n * sizeof *q.g);
        q.f = history[++info->searches] = q.try_f;
        info->stopped = step && step(context, info->searches, q.f, norm, a);
        info->converged = settled(history, info->searches, s);
    }
    info->f = q.f;
    info->evaluations = q.evaluations + 1;
    mcp_block_free(mem);
    return st;
}
