/* pilco.c - one policy improvement by PILCO: the task's trained GPs into a bank, the horizon's expected cost and gradient
 * into BFGS. The search works on what the authors' code searches: pseudo-targets, centres and log length-scales (targets.h). */
#include "baseline/pilco/pilco.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "baseline/pilco/bfgs.h"
#include "baseline/pilco/horizon.h"
#include "baseline/pilco/recognise.h"
#include "baseline/pilco/targets.h"
#include "math/arena.h"
#include "math/rng.h"

enum {
    LINE_SEARCHES = 150, /* of one descent, as the authors have it */
    EVALUATIONS = 20,    /* of one line search                     */
    CANDIDATES = 3,      /* fresh policies tried while the best expects more than half of the greatest cost */
    SCREENING = 40       /* line searches after which a candidate must beat the best to go on                */
};

typedef struct {
    const mcp_algorithm_input *in;
    mcp_pilco_plan             plan;
    mcp_bank                  *bank;
    mcp_horizon               *horizon;
    mcp_optimise_info         *info;
    void                      *block;
    double *x, *best, *gradient;                         /* y [nu][b], c [b][f], log l [f] */
    double *w, *lambda, *w_bar, *lambda_bar, *L, *K;     /* [nu][b], [f], .. , [b][b] x 2 */
    double  began, best_J;
} search;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int params(const search *q)
{
    const mcp_horizon_problem *p = &q->plan.p;
    return p->nu * p->basis + p->basis * p->features + p->features;
}

static size_t layout(search *q, char *mem)
{
    mcp_arena                  a = {.base = mem};
    const mcp_horizon_problem *p = &q->plan.p;
    size_t                     b = (size_t)p->basis, f = (size_t)p->features, nu = (size_t)p->nu;
    q->x = mcp_arena_doubles(&a, (size_t)params(q));
    q->best = mcp_arena_doubles(&a, (size_t)params(q));
    q->gradient = mcp_arena_doubles(&a, (size_t)params(q));
    q->w = mcp_arena_doubles(&a, nu * b);
    q->lambda = mcp_arena_doubles(&a, f);
    q->w_bar = mcp_arena_doubles(&a, nu * b);
    q->lambda_bar = mcp_arena_doubles(&a, f);
    q->L = mcp_arena_doubles(&a, b * b);
    q->K = mcp_arena_doubles(&a, b * b);
    return a.used;
}

static double value(void *context, const double *x, double *g)
{
    search                    *q = context;
    const mcp_horizon_problem *p = &q->plan.p;
    double                     J;
    const double              *c = x + p->nu * p->basis;
    for (int k = 0; k < p->features; k++)
        if (!(fabs(c[p->basis * p->features + k]) < 20)) return INFINITY;
    if (mcp_targets_forward(p->nu, p->basis, p->features, x, q->w, q->lambda, q->K, q->L) != MCP_OK) return INFINITY;
    if (mcp_horizon_run(q->horizon, q->w, c, q->lambda, &J, NULL, q->w_bar, g + p->nu * p->basis, q->lambda_bar, NULL) != MCP_OK)
        return INFINITY;
    mcp_targets_backward(p->nu, p->basis, p->features, x, q->w, q->lambda, q->K, q->L, q->w_bar, q->lambda_bar, g);
    return J;
}

static int note(void *context, int searches, double f, double norm, double step)
{
    search *q = context;
    int     at = q->info->steps + searches;
    q->info->history[at - 1] = f;
    q->info->rate_history[at - 1] = step;
    if (!q->in->progress) return 0;
    mcp_progress p = {.step = at, .steps_max = LINE_SEARCHES * (1 + CANDIDATES), .cost = f, .best = fmin(f, q->best_J), .step_size = step,
                      .gradient_norm = norm, .event = searches == 1 && at > 1 ? 3 : 0, .seconds = now() - q->began};
    return q->in->progress(q->in->progress_context, &p);
}

/* The task's GPs: l becomes l/sqrt 2 in the kernel with the 1/2. */
static mcp_status make_bank(search *q, mcp_error *err)
{
    const mcp_pairs *d = q->in->pairs;
    int              D = d->nf, E = d->ngp;
    double          *hyper = mcp_calloc((size_t)E * (size_t)(D + 2), sizeof *hyper);
    mcp_status       st;
    if (!hyper) return mcp_fail(err, MCP_ERR_MEMORY, "pilco: out of memory");
    for (int e = 0; e < E; e++) {
        const double *h = mcp_gp_hyper(q->in->gp[e]);
        for (int k = 0; k < D; k++) hyper[e * (D + 2) + k] = h[1 + k] - 0.5 * M_LN2;
        hyper[e * (D + 2) + D] = h[0];
        hyper[e * (D + 2) + D + 1] = h[1 + D];
    }
    st = mcp_bank_create(&q->bank, d->n, D, E, d->X, d->Y, hyper, mcp_isa_level(), err);
    mcp_free(hyper);
    return st;
}

/* From the weights of the policy program. */
static void from_theta(search *q, const double *theta)
{
    const mcp_pilco_plan      *l = &q->plan;
    const mcp_horizon_problem *p = &l->p;
    int                        b = p->basis, f = p->features;
    memcpy(q->x + p->nu * b, theta + l->centres, (size_t)(b * f) * sizeof *theta);
    memcpy(q->x + p->nu * b + b * f, theta + l->lengths, (size_t)f * sizeof *theta);
    mcp_targets_from_weights(p->nu, b, f, theta + l->weights, q->x, q->K);
}

static mcp_status to_theta(search *q, double *theta, mcp_error *err)
{
    const mcp_pilco_plan      *l = &q->plan;
    const mcp_horizon_problem *p = &l->p;
    int                        b = p->basis, f = p->features;
    if (mcp_targets_forward(p->nu, b, f, q->x, q->w, q->lambda, q->K, q->L) != MCP_OK)
        return mcp_fail(err, MCP_ERR_NUMERIC, "pilco: the policy's basis functions coincide");
    memcpy(theta + l->weights, q->w, (size_t)(p->nu * b) * sizeof *theta);
    memcpy(theta + l->centres, q->x + p->nu * b, (size_t)(b * f) * sizeof *theta);
    memcpy(theta + l->lengths, q->x + p->nu * b + b * f, (size_t)f * sizeof *theta);
    return MCP_OK;
}

static double policy_input(const mcp_horizon_problem *p, const double *x, int k)
{
    int v = p->feature[k];
    if (v < p->nx) return p->feature_scale[k] * x[v];
    double angle = x[p->angle[(v - p->nx) / 2]];
    return p->feature_scale[k] * ((v - p->nx) % 2 ? cos(angle) : sin(angle));
}

/* Pseudo-targets amplitude N(0, 1); pseudo-inputs at states drawn from those visited; length-scales one deviation of each feature
 * over them (the authors draw inputs from the start and give length-scales by hand). */
static void fresh(search *q, uint32_t draw, double amplitude)
{
    const mcp_algorithm_input *in = q->in;
    const mcp_horizon_problem *p = &q->plan.p;
    int                        b = p->basis, f = p->features;
    double                    *c = q->x + p->nu * b, *log_l = c + b * f;
    mcp_rand                   r = mcp_rand_make(in->seed, in->number, draw, MCP_RNG_POLICY);
    for (int i = 0; i < p->nu * b; i++) q->x[i] = amplitude * mcp_rand_normal(&r);
    for (int i = 0; i < b; i++) {
        const double *x = in->visited + (size_t)(mcp_rand_uniform(&r) * in->visits) * (size_t)p->nx;
        for (int k = 0; k < f; k++) c[i * f + k] = policy_input(p, x, k);
    }
    for (int k = 0; k < f; k++) {
        double mean = 0, second = 0;
        for (int i = 0; i < in->visits; i++) {
            double a = policy_input(p, in->visited + (size_t)i * (size_t)p->nx, k);
            mean += a / in->visits, second += a * a / in->visits;
        }
        log_l[k] = 0.5 * log(fmax(second - mean * mean, 1e-4)) + 0.5 * M_LN2;
    }
}

mcp_status mcp_pilco_check(const mcp_system *s, mcp_error *err)
{
    mcp_pilco_plan plan;
    mcp_status     st = mcp_pilco_recognise(&plan, s, err);
    if (st == MCP_OK) mcp_pilco_plan_free(&plan);
    return st;
}

static mcp_status descend(search *q, int searches, mcp_bfgs_info *b, mcp_error *err)
{
    /* a cost of one a step is the plateau of the saturated cost; the way off it is slow at first */
    mcp_bfgs_settings s = {.searches_max = searches, .evaluations_max = EVALUATIONS, .tolerance = 1e-4, .plateau = 0.98 * (q->plan.p.T + 1)};
    mcp_status        st = mcp_bfgs(params(q), q->x, value, note, q, &s, b, err);
    q->info->steps += b->searches;
    if (st == MCP_OK && b->f < q->best_J) {
        q->best_J = b->f;
        memcpy(q->best, q->x, (size_t)params(q) * sizeof *q->x);
    }
    return st;
}

/* The first policy whose expected cost is a number: the last one if there is one, else fresh ones. */
static void begin(search *q, const double *theta)
{
    if (q->in->warm) from_theta(q, theta);
    else fresh(q, 0, 0.1);
    q->info->cost_first = value(q, q->x, q->gradient);
    for (uint32_t draw = 1; !isfinite(q->info->cost_first) && draw < 10; draw++) {
        fresh(q, draw, 0.1);
        q->info->cost_first = value(q, q->x, q->gradient);
        q->info->restarts++;
    }
}

static mcp_status improve(search *q, double *theta, mcp_error *err)
{
    const size_t  room = LINE_SEARCHES * (1 + CANDIDATES) + 1;
    const double  poor = 0.5 * (q->plan.p.T + 1);
    mcp_bfgs_info b;
    mcp_status    st;
    q->info->history = mcp_calloc(room, sizeof(double));
    q->info->rate_history = mcp_calloc(room, sizeof(double));
    if (!q->info->history || !q->info->rate_history) return mcp_fail(err, MCP_ERR_MEMORY, "pilco: out of memory");
    begin(q, theta);
    if ((st = descend(q, LINE_SEARCHES, &b, err)) != MCP_OK) return st;
    q->info->outcome = b.converged ? MCP_CONVERGED : MCP_STEPS_MAX;
    for (uint32_t k = 0; k < CANDIDATES && q->best_J > poor && !b.stopped; k++) {
        fresh(q, 100 + k, 0.3 * (k + 1)); /* bolder ones: small targets start on the plateau of the cost */
        if (!isfinite(value(q, q->x, q->gradient))) continue;
        double before = q->best_J;
        if ((st = descend(q, SCREENING, &b, err)) != MCP_OK) return st;
        if (q->best_J < before && !b.stopped && (st = descend(q, LINE_SEARCHES - SCREENING, &b, err)) != MCP_OK) return st;
    }
    if (b.stopped) q->info->outcome = MCP_INTERRUPTED;
    q->info->cost_last = q->best_J;
    memcpy(q->x, q->best, (size_t)params(q) * sizeof *q->x);
    return to_theta(q, theta, err);
}

mcp_status mcp_pilco_improve(const mcp_algorithm_input *in, double *theta, mcp_optimise_info *info, mcp_error *err)
{
    search     q = {.in = in, .info = info, .began = now(), .best_J = INFINITY};
    mcp_status st;
    *info = (mcp_optimise_info){.check_cosine = NAN, .points = in->pairs->n};
    if ((st = mcp_pilco_recognise(&q.plan, in->system, err)) != MCP_OK) return st;
    if ((st = make_bank(&q, err)) == MCP_OK && (st = mcp_horizon_create(&q.horizon, &q.plan.p, q.bank, in->pool, err)) == MCP_OK &&
        (st = mcp_block_alloc(&q.block, layout(&q, NULL), err)) == MCP_OK) {
        layout(&q, q.block);
        st = improve(&q, theta, err);
    }
    info->seconds = now() - q.began;
    mcp_horizon_free(q.horizon);
    mcp_bank_free(q.bank);
    mcp_block_free(q.block);
    mcp_pilco_plan_free(&q.plan);
    return st;
}
