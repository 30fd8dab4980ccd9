/* pilco.c - one policy improvement by PILCO: the task's trained GPs into a bank, the horizon's expected cost
 * and gradient into L-BFGS. The search works on what the authors' code searches: pseudo-targets, centres and
 * log length-scales (targets.h). */
#include "baseline/pilco/pilco.h"

#include <math.h>
#include <string.h>

#include "baseline/pilco/descent.h"
#include "baseline/pilco/horizon.h"
#include "baseline/pilco/recognise.h"
#include "baseline/pilco/targets.h"
#include "math/arena.h"
#include "math/clock.h"
#include "math/rng.h"
#include "model/posterior.h"
#include "optim/policy_init.h"

enum {
    DRAWS = 20,       /* fresh policies of which the best is improved */
    BEGINS = 10       /* tries to find a first policy with a finite cost */
};

/* A fresh policy is led to the task by easier problems: part of the horizon, W times sharpness (a sixteenth:
 * four times the width). */
typedef struct {
    double part, sharpness;
    int    evaluations;
} easing;
static const easing easings[] = {{1.0 / 3, 1.0 / 16, 60}, {0.5, 1.0 / 16, 60}, {1, 0.25, 80}};
enum { EASINGS = sizeof easings / sizeof *easings };

typedef struct {
    const mcp_algorithm_input *in;
    mcp_pilco_plan             plan;
    mcp_bank                  *bank;
    mcp_horizon               *horizon;
    mcp_optimise_info         *info;
    void                      *block;
    double *theta;                                       /* of a fresh draw */
    double *x, *best, *gradient;                         /* y [nu][b], c [b][f], log l [f] */
    double *w, *lambda, *w_bar, *lambda_bar, *L, *K;     /* [nu][b], [f], .. , [b][b] x 2 */
    double  began, best_J;
    int     room;                                        /* of the histories */
} search;

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
    q->theta = mcp_arena_doubles(&a, (size_t)mcp_program_params(q->in->system->controller));
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
    const mcp_targets     t = {p->nu, p->basis, p->features, q->w, q->lambda, q->K, q->L};
    const mcp_network     policy = {p->features, p->basis, p->nu, q->w, c, q->lambda};
    const mcp_network_bar bar = {q->w_bar, g + p->nu * p->basis, q->lambda_bar};
    if (mcp_targets_forward(&t, x) != MCP_OK) return INFINITY;
    if (mcp_horizon_run(q->horizon, &policy, &J, NULL, &bar, NULL) != MCP_OK) return INFINITY;
    mcp_targets_backward(&t, x, q->w_bar, q->lambda_bar, g);
    return J;
}

static int note(void *context, int evaluations, double f, double norm, double step)
{
    search *q = context;
    int     at = q->info->steps + evaluations;
    if (at <= q->room) {
        q->info->history[at - 1] = f;
        q->info->rate_history[at - 1] = step;
    }
    if (!q->in->progress) return 0;
    mcp_progress p = {.step = at,
                      .steps_max = q->room,
                      .cost = f,
                      .best = fmin(f, q->best_J),
                      .step_size = step,
                      .gradient_norm = norm,
                      .event = evaluations == 1 && at > 1 ? 3 : 0,
                      .seconds = mcp_clock() - q->began};
    return q->in->progress(q->in->progress_context, &p);
}

/* The task's GPs: l becomes l/sqrt 2 in the kernel with the 1/2. */
static mcp_status make_bank(search *q, mcp_error *err)
{
    const mcp_pairs          *d = q->in->pairs;
    const mcp_model_settings *m = &q->in->system->task->model;
    int                       D = d->nf, E = d->ngp;
    if (m->posterior.type != MCP_POSTERIOR_EXACT)
        return mcp_bank_create_sparse(&q->bank, E, q->in->gp, m->posterior.tolerance,
                                      m->posterior.points_max, mcp_isa_level(), err);
    double          *hyper = mcp_calloc((size_t)E * (size_t)(D + 2), sizeof *hyper);
    mcp_status       st;
    if (!hyper) return mcp_fail(err, MCP_ERR_MEMORY, "pilco: out of memory");
    for (int e = 0; e < E; e++) {
        const double *h = mcp_gp_hyper(q->in->gp[e]);
        for (int k = 0; k < D; k++) hyper[e * (D + 2) + k] = h[1 + k] - 0.5 * M_LN2;
        hyper[e * (D + 2) + D] = h[0];
        hyper[e * (D + 2) + D + 1] = h[1 + D];
    }
    st = mcp_bank_create(&q->bank, &(mcp_bank_data){d->n, D, E, d->X, d->Y, hyper}, mcp_isa_level(), err);
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
    if (mcp_targets_forward(&(mcp_targets){p->nu, b, f, q->w, q->lambda, q->K, q->L}, q->x) != MCP_OK)
        return mcp_fail(
            err, MCP_ERR_NUMERIC,
            "pilco: the policy's basis functions coincide; give its rbf fewer, or start again from an "
            "earlier trial");
    memcpy(theta + l->weights, q->w, (size_t)(p->nu * b) * sizeof *theta);
    memcpy(theta + l->centres, q->x + p->nu * b, (size_t)(b * f) * sizeof *theta);
    memcpy(theta + l->lengths, q->x + p->nu * b + b * f, (size_t)f * sizeof *theta);
    return MCP_OK;
}

/* Centres over the box that the system visits, angles on the whole circle (mcp_policy_draw), length-scales
 * twice what is drawn there; pseudo-targets a random linear function of the pseudo-inputs plus 0.1 N(0, 1).
 * Basis functions must reach each other: a policy that is zero between narrow ones leads no gradient out of
 * the hanging rest. With scaling: none as the authors have it: centres drawn from the start distribution,
 * fixed length-scales (in a kernel with 1/2), pseudo-targets 0.1 N(0, 1) alone. */
static mcp_status fresh(search *q, uint32_t draw, mcp_error *err)
{
    const mcp_algorithm_input *in = q->in;
    const mcp_horizon_problem *p = &q->plan.p;
    int                        b = p->basis, f = p->features;
    double                    *c = q->x + p->nu * b, *log_l = c + b * f;
    int                        theirs = in->system->task->optimise.scaling == MCP_SCALING_NONE;
    mcp_rand                   r = mcp_rand_make(in->seed, in->number, draw, MCP_RNG_POLICY);
    mcp_status st = mcp_policy_draw(&(mcp_policy_request){.system = in->system,
                                                          .visited = in->visited,
                                                          .visits = in->visits,
                                                          .seed = in->seed,
                                                          .trial = in->number,
                                                          .draw = draw,
                                                          .at_start = theirs},
                                    q->theta, err);
    if (st != MCP_OK) return st;
    from_theta(q, q->theta);
    for (int k = 0; k < f; k++) log_l[k] += theirs ? 0.5 * M_LN2 : M_LN2;
    for (int a = 0; a < p->nu; a++) {
        double *y = q->x + a * b;
        for (int i = 0; i < b; i++) y[i] = 0.1 * mcp_rand_normal(&r);
        for (int k = 0; k < f && !theirs; k++) {
            double slope = exp(-log_l[k]) * mcp_rand_normal(&r);
            for (int i = 0; i < b; i++) y[i] += slope * c[i * f + k];
        }
    }
    return MCP_OK;
}

mcp_status mcp_pilco_check(const mcp_system *s, mcp_error *err)
{
    mcp_pilco_plan plan;
    mcp_status     st = mcp_pilco_recognise(&plan, s, err);
    if (st == MCP_OK) mcp_pilco_plan_free(&plan);
    return st;
}

/* A descent on the problem as it is eased now; count != 0: it is the task itself, and the result may
 * become the answer. */
static mcp_status descend(search *q, int evaluations, int count, mcp_descent_info *b, mcp_error *err)
{
    /* a cost of one a step is the plateau of the saturated cost; the way off it is slow at first */
    mcp_descent_settings s = {.evaluations_max = evaluations,
                              .tolerance = 1e-4,
                              .plateau = 0.98 * (q->plan.p.T + 1)};
    mcp_status        st = mcp_descent(params(q), q->x, value, note, q, &s, b, err);
    q->info->steps += b->evaluations;
    if (st == MCP_OK && count && b->f < q->best_J) {
        q->best_J = b->f;
        memcpy(q->best, q->x, (size_t)params(q) * sizeof *q->x);
    }
    return st;
}

static void ease(search *q, const easing *e)
{
    mcp_horizon_ease(q->horizon, (int)ceil(e->part * q->plan.p.T), e->sharpness);
}

/* Candidate k: the best of some fresh policies on the easiest problem, led from there to the task. */
static mcp_status candidate(search *q, uint32_t k, mcp_descent_info *b, mcp_error *err)
{
    uint32_t   first = 100 + DRAWS * k, pick = 0;
    double     low = INFINITY;
    mcp_status st = MCP_OK;
    ease(q, &easings[0]);
    for (uint32_t i = 0; i < DRAWS && st == MCP_OK; i++) {
        if ((st = fresh(q, first + i, err)) != MCP_OK) return st;
        double J = value(q, q->x, q->gradient);
        if (J < low) {
            low = J;
            pick = i;
        }
    }
    if (isfinite(low) && (st = fresh(q, first + pick, err)) == MCP_OK) {
        for (int i = 0; i < EASINGS && st == MCP_OK && !b->stopped; i++) {
            ease(q, &easings[i]);
            if (isfinite(value(q, q->x, q->gradient))) st = descend(q, easings[i].evaluations, 0, b, err);
        }
    }
    mcp_horizon_ease(q->horizon, q->plan.p.T, 1);
    if (st != MCP_OK || b->stopped || !isfinite(value(q, q->x, q->gradient))) return st;
    return descend(q, q->in->system->task->optimise.evaluations, 1, b, err);
}

/* The first policy whose expected cost is a number: the last one if there is one, else fresh ones. */
static mcp_status begin(search *q, const double *theta, mcp_error *err)
{
    mcp_status st = MCP_OK;
    if (q->in->warm) from_theta(q, theta);
    else st = fresh(q, 0, err);
    for (uint32_t draw = 1; st == MCP_OK; draw++) {
        q->info->cost_first = value(q, q->x, q->gradient);
        if (isfinite(q->info->cost_first) || draw == BEGINS) break;
        st = fresh(q, draw, err);
        q->info->restarts++;
    }
    return st;
}

static mcp_status improve(search *q, double *theta, mcp_error *err)
{
    const mcp_optimise_settings *s = &q->in->system->task->optimise;
    const double                 poor = 0.5 * (q->plan.p.T + 1);
    mcp_descent_info                b = {0};
    mcp_status                   st;
    q->room = s->evaluations * (1 + s->starts) + 1;
    for (int i = 0; i < EASINGS; i++) q->room += s->starts * easings[i].evaluations;
    q->info->history = mcp_calloc((size_t)q->room, sizeof(double));
    q->info->rate_history = mcp_calloc((size_t)q->room, sizeof(double));
    if (!q->info->history || !q->info->rate_history)
        return mcp_fail(err, MCP_ERR_MEMORY, "pilco: out of memory");
    if ((st = begin(q, theta, err)) != MCP_OK) return st;
    if (isfinite(q->info->cost_first)) st = descend(q, s->evaluations, 1, &b, err);
    for (int k = 0;
         k < s->starts && st == MCP_OK && !b.stopped && q->best_J > poor && !q->in->incumbent_works; k++)
        st = candidate(q, (uint32_t)k, &b, err);
    if (st != MCP_OK) return st;
    if (!isfinite(q->best_J))
        return mcp_fail(err, MCP_ERR_NUMERIC,
                        "pilco: no policy has a finite expected cost on the model; look at the data of the "
                        "trials so far, "
                        "raise model.noise_floor, or use mc-pilco4pms, which needs no Gaussian over states");
    q->info->outcome = b.stopped ? MCP_INTERRUPTED : b.converged ? MCP_CONVERGED : MCP_STEPS_MAX;
    memcpy(q->x, q->best, (size_t)params(q) * sizeof *q->x);
    q->info->cost_last = q->best_J;
    return to_theta(q, theta, err);
}

mcp_status mcp_pilco_improve(const mcp_algorithm_input *in, double *theta, mcp_optimise_info *info,
                             mcp_error *err)
{
    search     q = {.in = in, .info = info, .began = mcp_clock(), .best_J = INFINITY};
    mcp_status st;
    *info = (mcp_optimise_info){.check_cosine = NAN,
                                .check_first = NAN,
                                .points = in->pairs->n,
                                .tolerance = in->system->task->model.posterior.tolerance};
    if ((st = mcp_pilco_recognise(&q.plan, in->system, err)) != MCP_OK) return st;
    if ((st = make_bank(&q, err)) == MCP_OK &&
        (st = mcp_horizon_create(&q.horizon, &q.plan.p, q.bank, in->pool, err)) == MCP_OK &&
        (st = mcp_block_alloc(&q.block, layout(&q, NULL), err)) == MCP_OK) {
        layout(&q, q.block);
        st = improve(&q, theta, err);
    }
    info->seconds = mcp_clock() - q.began;
    mcp_horizon_free(q.horizon);
    mcp_bank_free(q.bank);
    mcp_block_free(q.block);
    mcp_pilco_plan_free(&q.plan);
    return st;
}
