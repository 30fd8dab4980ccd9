/* cost_form.c - is a cost 1 - exp(-(a-z)^T W (a-z)/2) of the augmented state a = (x, sin, cos)? Which z and
 * W?
 *
 * q = -2 log(1 - cost) must be a quadratic polynomial of a: it is fitted to probes where the cost is not
 * saturated, by least squares, without the monomials cos^2 (they equal 1 - sin^2). What was dropped comes
 * back as a number t per angle, W(t) = W + sum t (e_sin e_sin^T + e_cos e_cos^T),   constant(t) = constant -
 * sum t, all the same function on the circle. Among them the one is taken whose minimum over all a, constant
 * - g^T W^-1 g, is largest: a concave function of t (the Lagrange dual), and zero for the form that is
 * wanted. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "baseline/pilco/recognise.h"
#include "math/arena.h"
#include "math/linalg.h"
#include "math/rng.h"

enum { TRIES = 60000, OVER = 4 };

typedef struct {
    int           nx, na, angles, cols;
    const int    *angle;
    mcp_cost_probe *probe;
    void         *context;
    double *R, *rhs, *coef;        /* [rows][cols] least squares, [rows], [cols] */
    double *W, *Wt, *V, *eig, *g;  /* [na][na] x 3, [na] x 2 */
    double *x, *best, *a;
    double  c0;
    mcp_status status; /* of the eigenvalues: out of memory is not "has not the form" */
    mcp_error *err;
} fit;

static void augmented(const fit *f, const double *x, double *a)
{
    memcpy(a, x, (size_t)f->nx * sizeof *a);
    for (int i = 0; i < f->angles; i++) {
        a[f->nx + 2 * i] = sin(x[f->angle[i]]);
        a[f->nx + 2 * i + 1] = cos(x[f->angle[i]]);
    }
}

static int dropped(const fit *f, int i, int j) { return i == j && i >= f->nx && (i - f->nx) % 2 == 1; }

static void monomials(const fit *f, const double *a, double *row)
{
    int k = 0;
    row[k++] = 1;
    for (int i = 0; i < f->na; i++) row[k++] = a[i];
    for (int i = 0; i < f->na; i++)
        for (int j = 0; j <= i; j++)
            if (!dropped(f, i, j)) row[k++] = a[i] * a[j];
}

/* Probes where 1 - cost is not lost in rounding: points at all scales, half of them around the cheapest so
 * far. */
static int gather(fit *f, int rows)
{
    mcp_rand r = mcp_rand_make(20, 0, 0, MCP_RNG_OTHER);
    double   low = INFINITY;
    int      have = 0;
    for (int t = 0; t < TRIES && have < rows; t++) {
        double scale = pow(10, 2.5 * mcp_rand_uniform(&r) - 2);
        for (int i = 0; i < f->nx; i++) {
            double centre = t % 2 && isfinite(low) ? f->best[i] : 0, wide = scale;
            for (int k = 0; k < f->angles; k++)
                if (f->angle[k] == i) wide = t % 2 ? fmin(scale, M_PI) : M_PI;
            f->x[i] = centre + wide * (2 * mcp_rand_uniform(&r) - 1);
        }
        double c = f->probe(f->context, f->x);
        if (!isfinite(c)) continue;
        if (c < low) {
            low = c;
            memcpy(f->best, f->x, (size_t)f->nx * sizeof *f->x);
        }
        if (!(1 - c > 1e-3) || c > 1) continue;
        augmented(f, f->x, f->a);
        monomials(f, f->a, f->R + have * f->cols);
        f->rhs[have++] = -2 * log1p(-c);
    }
    return have;
}

/* Householder least squares; returns the rms residual relative to the rms of rhs, or infinity when columns
 * are dependent. */
static double solve(int rows, int n, double *A, double *b, double *x)
{
    double size = 0, left = 0;
    for (int i = 0; i < rows; i++) size += b[i] * b[i];
    for (int k = 0; k < n; k++) {
        double norm = 0, dot;
        for (int i = k; i < rows; i++) norm += A[i * n + k] * A[i * n + k];
        norm = sqrt(norm);
        if (norm < 1e-10) return INFINITY;
        double alpha = A[k * n + k] > 0 ? -norm : norm, v0 = A[k * n + k] - alpha,
               vv = norm * norm - 2 * alpha * A[k * n + k] + alpha * alpha;
        A[k * n + k] = v0;
        for (int j = k + 1; j <= n; j++) {
            dot = 0;
            for (int i = k; i < rows; i++) dot += A[i * n + k] * (j < n ? A[i * n + j] : b[i]);
            dot *= 2 / vv;
            for (int i = k; i < rows; i++)
                if (j < n) A[i * n + j] -= dot * A[i * n + k];
                else b[i] -= dot * A[i * n + k];
        }
        A[k * n + k] = alpha;
        for (int i = k + 1; i < rows; i++) A[i * n + k] = 0;
    }
    for (int i = n; i < rows; i++) left += b[i] * b[i];
    for (int k = n - 1; k >= 0; k--) {
        x[k] = b[k];
        for (int j = k + 1; j < n; j++) x[k] -= A[k * n + j] * x[j];
        x[k] /= A[k * n + k];
    }
    return sqrt(left / (size + DBL_MIN));
}

/* Coefficients to W, g, c0: q = a^T W a + 2 g^T a + c0. Rounding dust becomes zero. */
static double unpack(fit *f)
{
    double top = 0;
    int    k = 0;
    for (int i = 0; i < f->cols; i++) top = fmax(top, fabs(f->coef[i]));
    for (int i = 0; i < f->cols; i++)
        if (fabs(f->coef[i]) < 1e-8 * top) f->coef[i] = 0;
    f->c0 = f->coef[k++];
    for (int i = 0; i < f->na; i++) f->g[i] = 0.5 * f->coef[k++];
    memset(f->W, 0, (size_t)(f->na * f->na) * sizeof *f->W);
    for (int i = 0; i < f->na; i++)
        for (int j = 0; j <= i; j++)
            if (!dropped(f, i, j)) {
                f->W[i * f->na + j] = f->W[j * f->na + i] = (i == j ? 1 : 0.5) * f->coef[k];
                k++;
            }
    return top;
}

/* Least value of the quadratic form at t; strongly negative when W(t) is not positive semi-definite. Leaves
 * V, eig. */
static double dual(fit *f, const double *t, double top)
{
    int    na = f->na;
    double tol = 1e-7 * top, least = f->c0;
    memcpy(f->Wt, f->W, (size_t)(na * na) * sizeof *f->W);
    for (int i = 0; i < f->angles; i++) {
        int s = f->nx + 2 * i;
        f->Wt[s * na + s] += t[i];
        f->Wt[(s + 1) * na + s + 1] += t[i];
        least -= t[i];
    }
    memcpy(f->V, f->Wt, (size_t)(na * na) * sizeof *f->V);
    if (f->status != MCP_OK || (f->status = mcp_eigen_symmetric(na, f->V, na, f->eig, f->err)) != MCP_OK)
        return -DBL_MAX;
    if (f->eig[0] < -tol) return 1e6 * (f->eig[0] - top);
    for (int k = 0; k < na; k++) {
        double d = 0;
        for (int i = 0; i < na; i++) d += f->V[k * na + i] * f->g[i];
        least -= d * d / fmax(f->eig[k], tol);
    }
    return least;
}

/* Coordinate ascent with golden sections; the function is concave where it is finite and rises towards there
 * elsewhere. */
static void best_t(fit *f, double *t, double top)
{
    const double golden = 0.5 * (sqrt(5) - 1);
    for (int sweep = 0; sweep < (f->angles > 1 ? 30 : 1); sweep++)
        for (int k = 0; k < f->angles; k++) {
            double lo = 0, hi = 4 * top, u = hi - golden * (hi - lo), v = lo + golden * (hi - lo), fu, fv;
            t[k] = u;
            fu = dual(f, t, top);
            t[k] = v;
            fv = dual(f, t, top);
            for (int it = 0; it < 60; it++) {
                if (fu > fv) {
                    hi = v;
                    v = u;
                    fv = fu;
                    u = hi - golden * (hi - lo);
                    t[k] = u;
                    fu = dual(f, t, top);
                } else {
                    lo = u;
                    u = v;
                    fu = fv;
                    v = lo + golden * (hi - lo);
                    t[k] = v;
                    fv = dual(f, t, top);
                }
            }
            t[k] = fu > fv ? u : v;
        }
}

/* z = -W^+ g and W with negative dust removed. */
static void finish(fit *f, double top, double *z, double *W)
{
    int na = f->na;
    memset(z, 0, (size_t)na * sizeof *z);
    memset(W, 0, (size_t)(na * na) * sizeof *W);
    for (int k = 0; k < na; k++) {
        const double *v = f->V + k * na;
        double        d = 0;
        if (f->eig[k] < 1e-6 * top) continue;
        for (int i = 0; i < na; i++) d += v[i] * f->g[i];
        for (int i = 0; i < na; i++) {
            z[i] -= d / f->eig[k] * v[i];
            for (int j = 0; j < na; j++) W[i * na + j] += f->eig[k] * v[i] * v[j];
        }
    }
}

static double worst_error(fit *f, const double *z, const double *W)
{
    mcp_rand r = mcp_rand_make(21, 0, 0, MCP_RNG_OTHER);
    double   worst = 0;
    for (int t = 0; t < 400; t++) {
        double scale = pow(10, 2.5 * mcp_rand_uniform(&r) - 2), q = 0;
        for (int i = 0; i < f->nx; i++) f->x[i] = (t % 2 ? f->best[i] : 0) + scale * mcp_rand_normal(&r);
        augmented(f, f->x, f->a);
        for (int i = 0; i < f->na; i++)
            for (int j = 0; j < f->na; j++) q += (f->a[i] - z[i]) * W[i * f->na + j] * (f->a[j] - z[j]);
        double e = fabs(f->probe(f->context, f->x) - (1 - exp(-0.5 * q)));
        if (!(e <= worst)) worst = isnan(e) ? INFINITY : e;
    }
    return worst;
}

static size_t layout(fit *f, int rows, char *mem)
{
    mcp_arena a = {.base = mem};
    size_t    na = (size_t)f->na, cols = (size_t)f->cols;
    f->R = mcp_arena_doubles(&a, (size_t)rows * cols);
    f->rhs = mcp_arena_doubles(&a, (size_t)rows);
    f->coef = mcp_arena_doubles(&a, cols);
    f->W = mcp_arena_doubles(&a, na * na);
    f->Wt = mcp_arena_doubles(&a, na * na);
    f->V = mcp_arena_doubles(&a, na * na);
    f->eig = mcp_arena_doubles(&a, na);
    f->g = mcp_arena_doubles(&a, na);
    f->x = mcp_arena_doubles(&a, na);
    f->best = mcp_arena_doubles(&a, na);
    f->a = mcp_arena_doubles(&a, na);
    return a.used;
}

mcp_status mcp_cost_form(const mcp_cost_question *q, double *z, double *W, int *has_form, mcp_error *err)
{
    const int nx = q->nx, angles = q->angles;
    fit f = {.nx = nx,
             .na = nx + 2 * angles,
             .angles = angles,
             .angle = q->angle,
             .probe = q->probe,
             .context = q->context,
             .err = err};
    void      *mem;
    double     t[64] = {0};
    mcp_status st;
    *has_form = 0;
    f.cols = 1 + f.na + f.na * (f.na + 1) / 2 - angles;
    int rows = OVER * f.cols;
    if (angles > 64) return mcp_fail(err, MCP_ERR_ARG, "pilco: %d angles, at most 64", angles);
    if ((st = mcp_block_alloc(&mem, layout(&f, rows, NULL), err)) != MCP_OK) return st;
    layout(&f, rows, mem);
    if (gather(&f, rows) == rows && solve(rows, f.cols, f.R, f.rhs, f.coef) < 1e-6) {
        double top = unpack(&f);
        best_t(&f, t, top);
        double least = dual(&f, t, top);
        finish(&f, top, z, W);
        *has_form = fabs(least) < 1e-3 * (1 + top) && worst_error(&f, z, W) < 1e-3;
    }
    mcp_block_free(mem);
    return f.status;
}
