/* descent.c - NLopt's L-BFGS around a function that may fail: keeps the lowest point of all and
 * goes on from it when the method stops early. */
#include "baseline/pilco/descent.h"

#include <math.h>
#include <nlopt.h>
#include <string.h>

#include "math/arena.h"

/* A round of L-BFGS ends by itself or when it has settled; a fresh memory often finds the way on. */
enum { ROUNDS = 8, WINDOW = 20 };

typedef struct {
    int                         n;
    mcp_descent_value          *value;
    mcp_descent_step           *step;
    void                       *context;
    const mcp_descent_settings *s;
    mcp_descent_info           *info;
    nlopt_opt                   opt;
    int                         settled, first; /* the round is over; its first evaluation */
    double                      scale;          /* of f for NLopt, whose first step is the gradient */
    double                     *best, *best_gradient;          /* the lowest point */
    double                     *x, *gradient, *history;        /* where NLopt is; f so far */
} descent;

static size_t layout(descent *q, char *mem)
{
    mcp_arena a = {.base = mem};
    size_t    n = (size_t)q->n;
    q->best = mcp_arena_doubles(&a, n);
    q->best_gradient = mcp_arena_doubles(&a, n);
    q->x = mcp_arena_doubles(&a, n);
    q->gradient = mcp_arena_doubles(&a, n);
    q->history = mcp_arena_doubles(&a, (size_t)q->s->evaluations_max + 2);
    return a.used;
}

static double norm(int n, const double *x, const double *from)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += (x[i] - (from ? from[i] : 0)) * (x[i] - (from ? from[i] : 0));
    return sqrt(sum);
}

static int has_settled(const descent *q)
{
    const double *f = q->history + q->info->evaluations;
    return q->info->evaluations - q->first >= WINDOW && f[0] < q->s->plateau &&
           f[-WINDOW] - f[0] <= q->s->tolerance * (fabs(f[0]) + 1e-12);
}

/* After a stop NLopt asks once more. No value: far above the start, and flat, so that the
 * line search turns back. */
static double evaluate(descent *q, size_t n, const double *x, double *g)
{
    mcp_descent_info *info = q->info;
    double           *out = g ? g : q->gradient, f, size, length;
    if (info->stopped || q->settled || info->evaluations >= q->s->evaluations_max) return info->f;
    if (!memcmp(x, q->best, n * sizeof *x)) { /* where a round begins */
        memcpy(out, q->best_gradient, n * sizeof *out);
        return info->f;
    }
    f = q->value(q->context, x, out);
    size = norm(q->n, out, NULL);
    length = norm(q->n, x, q->best);
    if (!isfinite(f) || !isfinite(size)) {
        memset(out, 0, n * sizeof *out);
        f = q->history[0] + 10 * (fabs(q->history[0]) + 1);
    } else if (f < info->f) {
        memcpy(q->best, x, n * sizeof *x);
        memcpy(q->best_gradient, out, n * sizeof *out);
        info->f = f;
    }
    q->history[++info->evaluations] = info->f;
    info->stopped = q->step && q->step(q->context, info->evaluations, info->f, size, length);
    q->settled = has_settled(q);
    if (info->stopped || q->settled) nlopt_force_stop(q->opt);
    return f;
}

static double objective(unsigned n, const double *x, double *g, void *data)
{
    descent *q = data;
    double   f = evaluate(q, n, x, g);
    for (unsigned i = 0; g && i < n; i++) g[i] *= q->scale;
    return q->scale * f;
}

static mcp_status run(descent *q, mcp_error *err)
{
    q->opt = nlopt_create(NLOPT_LD_LBFGS, (unsigned)q->n);
    if (!q->opt || nlopt_set_min_objective(q->opt, objective, q) < 0)
        return mcp_fail(err, MCP_ERR_MEMORY, "pilco: no memory for a descent over %d parameters", q->n);
    for (int round = 0; round < ROUNDS && !q->info->stopped && !q->info->converged; round++) {
        int    left = q->s->evaluations_max - q->info->evaluations;
        double f, before = q->info->f;
        if (left < 2) break;
        q->settled = 0;
        q->scale = 1 / fmax(1, norm(q->n, q->best_gradient, NULL));
        q->first = q->info->evaluations;
        nlopt_set_force_stop(q->opt, 0);
        nlopt_set_maxeval(q->opt, left);
        memcpy(q->x, q->best, (size_t)q->n * sizeof *q->x);
        if (nlopt_optimize(q->opt, q->x, &f) == NLOPT_OUT_OF_MEMORY)
            return mcp_fail(err, MCP_ERR_MEMORY, "pilco: no memory for a descent over %d parameters", q->n);
        q->info->converged = !(before - q->info->f > q->s->tolerance * fabs(before));
    }
    return MCP_OK;
}

mcp_status mcp_descent(int n, double *x, mcp_descent_value *value, mcp_descent_step *step, void *context,
                       const mcp_descent_settings *s, mcp_descent_info *info, mcp_error *err)
{
    descent    q = {.n = n, .value = value, .step = step, .context = context, .s = s, .info = info};
    void      *mem;
    mcp_status st = mcp_block_alloc(&mem, layout(&q, NULL), err);
    *info = (mcp_descent_info){0};
    if (st != MCP_OK) return st;
    layout(&q, mem);
    memcpy(q.best, x, (size_t)n * sizeof *x);
    q.history[0] = info->f = value(context, x, q.best_gradient);
    if (!isfinite(info->f) || !isfinite(norm(n, q.best_gradient, NULL)))
        st = mcp_fail(err, MCP_ERR_NUMERIC, "pilco: the expected cost of the first policy is not a number");
    if (st == MCP_OK) st = run(&q, err);
    memcpy(x, q.best, (size_t)n * sizeof *x);
    nlopt_destroy(q.opt);
    mcp_block_free(mem);
    return st;
}
