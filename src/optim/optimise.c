/* optimise.c - one policy optimisation.
 *
 *   starts:     a warm or a fresh policy, see starts.c
 *   candidates: warm start and fresh policies race for a few steps, the best goes on
 *   steps:      particles on new noise -> J, gradient -> norm clip -> Adam -> rule
 *   units:      Adam moves theta/unit, and J is measured by what a trial can cost (mcp_policy_measure): no
 *               step and no bound below knows in which units the task is written
 *   evaluation: now and then J without dropout on one fixed and somewhat larger noise set, raised by the
 *     share of particles that
 *               fail the task's success test: J (1 + w (1 - p)); the best policy by this score is kept and,
 *                 at the end, returned
 *   stop:       a gain counts when it is more than chance and more than the model can be trusted with;
 *               without one for a while the rate is lowered, and in the end the optimisation stops
 *   budget:     work is counted in gradients; its last part is for low rates, and when it is used up, or a
 *               rival is far ahead, the optimisation ends
 *   goal:       some of the particles that gradients are taken from start near it; judges never do
 *   incumbent:  a policy that worked on the plant is replaced only for a predicted gain that is worth the
 *     risk
 * A step whose particles give NaN is drawn again; after ten draws in a row the policy is given up for a
 * fresh one. */
#include "optim/optimise.h"

#include <math.h>
#include <string.h>

#include "math/arena.h"
#include "math/clock.h"
#include "model/posteriors.h"
#include "optim/optimise_parts.h"

enum { RACE_STEPS = 50, RESAMPLE_MOST = 10, RESTART_MOST = 5, CHECK_PARTICLES = 32 };
enum { RULE_PLATEAU = 0, RULE_MONITOR, RULE_SCHEDULE };
/* shares of the particles: the policy succeeds; it works, but wants more than polish; it does not succeed,
 * and is given four times the patience */
static const double failed_few = 0.01, failed_some = 0.02, failed_most = 0.5;
static const double failed_less = 0.015; /* what is worth replacing a policy that works, whatever it costs */
static const double polish_from = 0.75; /* of the budget */
static const double near_part = 0.1; /* of a state's unit: deviation of starts near the goal */

/* Dropout as the noise streams can draw it, so that activations are scaled by what is really kept. */
static double drawable(double dropout)
{
    return floor(dropout * 256.0 + 0.5) / 256.0;
}

/* How many of the particles start near the goal: of those that gradients are taken from some, of those that
 * show how it is held all, of judges none. */
static int near_count(const mcp_search *s, uint32_t step, int particles)
{
    if (!isfinite(s->units.goal[0])) return 0;
    if (step == MCP_HOLD_NOISE) return particles;
    return step > MCP_HOLD_NOISE ? 0 : (int)(s->set->near_goal * particles);
}

mcp_status mcp_search_particles(mcp_search *s, mcp_rollout *rollout, uint32_t step, double dropout,
                                double stress, mcp_rollout_result *result, mcp_error *err)
{
    int near = near_count(s, step, mcp_rollout_particles(rollout));
    mcp_stream_noise stream = {.system = s->q->system,
                               .seed = s->q->seed,
                               .trial = s->q->trial,
                               .step = step,
                               .dropout = drawable(dropout),
                               .antithetic = s->set->antithetic,
                               .stress = stress,
                               .near_from = mcp_rollout_particles(rollout) - near,
                               .near = near ? s->units.goal : NULL,
                               .near_std = s->near_std};
    mcp_noise        noise = mcp_noise_from_stream(&stream);
    return mcp_rollout_run(rollout, s->theta, stream.dropout, &noise, result, err);
}


/* Share of the judged particles that fail the task's success test. */
static double failures(const mcp_search *s)
{
    const int nx = s->q->system->nx, nu = s->q->system->nu;
    int       good = 0;
    for (int j = 0; j < s->judges; j++) {
        mcp_motion m = {.samples = s->q->system->steps + 1,
                        .states = s->states + (size_t)(j * nx),
                        .inputs = s->applied + (size_t)(j * nu),
                        .state_stride = (size_t)s->judges * (size_t)nx,
                        .input_stride = (size_t)s->judges * (size_t)nu};
        good += mcp_scorer_success(s->scorer, &m, s->set->success_margin);
    }
    return 1.0 - (double)good / s->judges;
}

/* The score without dropout on the fixed noise, infinite when it is no number; the best policy so far is
 * kept. A wide cost hardly tells a policy that always ends well from one that does nine times in ten: the
 * success test does. And of failures that come once in a thousand runs some hundred particles show nothing,
 * unless their noise is larger than the robot's. */
static double evaluate(mcp_search *s, double *J)
{
    mcp_rollout_result result = {.states = s->states, .applied = s->applied, .particle_cost = s->costs};
    double             score;
    *J = INFINITY;
    s->failed = 0.0;
    s->info->work += 0.5 * s->judge_work;
    if (mcp_search_particles(s, s->judge, MCP_FIXED_NOISE, 0.0, s->set->stress, &result, NULL) != MCP_OK)
        return INFINITY;
    if (s->states) s->failed = failures(s);
    *J    = result.J;
    score = result.J + s->set->success_weight * s->failed * fabs(result.J);
    if (score < s->best_score) {
        s->best_failed = s->failed;
        s->best_score = score;
        s->best_cost  = result.J;
        memcpy(s->best, s->theta, (size_t)s->params * sizeof *s->best);
    }
    return score;
}

/* The least gain over the reference that counts. Chance: the standard error of the gain over the particles,
 * times how many deviations the last forecast was off (1.5 at most, and before there was one). Use: a policy
 * that already succeeds needs a gain that would replace it. */
static double worth(const mcp_search *s, double reference)
{
    const double surprise = s->q->surprise;
    double       doubt = surprise > 0.0 ? fmin(fmax(surprise, 1.0), 1.5) : 1.5;
    double       error = doubt * mcp_gain_error(s->judges, s->reference_costs, s->costs);
    int          succeeds = s->states && s->failed <= failed_few;
    double       relative = succeeds ? fmax(s->set->gain, s->set->incumbent_gain) : s->set->gain;
    if (!isfinite(reference) || !isfinite(error)) return 0.0;
    return fmax(relative * fabs(reference), error * (1.0 + s->set->success_weight * s->failed));
}

/* One evaluation for the plateau rule, at step i. */
static mcp_verdict plateau_at(mcp_search *s, mcp_plateau *r, int i)
{
    double      J, now = evaluate(s, &J);
    r->patience = s->set->patience * (s->states && s->failed > failed_most ? 4 : 1);
    mcp_verdict verdict = mcp_plateau_step(r, i, now, isfinite(now) ? worth(s, r->reference) : 0.0, &s->pace);
    if (r->since == i && verdict == MCP_RULE_GO)
        memcpy(s->reference_costs, s->costs, (size_t)s->judges * sizeof *s->costs);
    return verdict;
}

static void go_to_best(mcp_search *s)
{
    if (isfinite(s->best_score)) memcpy(s->theta, s->best, (size_t)s->params * sizeof *s->theta);
    mcp_adam_reset(&s->adam);
}

/* A gradient at theta on new noise. NaN: other noise, then another policy. */
static mcp_status sample(mcp_search *s, mcp_rollout_result *result, int *event)
{
    for (;;) {
        mcp_status st = MCP_OK;
        for (int k = 0; k < RESAMPLE_MOST; k++) {
            mcp_rollout *now = s->coarse ? s->few : s->rollout;
            s->info->work += s->coarse ? s->few_work : s->work;
            st = mcp_search_particles(s, now, s->draws++, s->pace.dropout, s->wider, result, s->err);
            if (st != MCP_ERR_NUMERIC) return st;
            s->info->resampled++;
        }
        if (s->info->restarts >= RESTART_MOST) return st;
        s->info->restarts++;
        *event = 2;
        if ((st = mcp_start_fresh(s, 1.0)) != MCP_OK) return st;
    }
}

static mcp_status grow(mcp_search *s)
{
    if (s->info->steps < s->room) return MCP_OK;
    int     room = s->room ? 2 * s->room : 1024;
    double *h = mcp_realloc(s->info->history, (size_t)room * sizeof *h);
    if (h) s->info->history = h;
    double *r = h ? mcp_realloc(s->info->rate_history, (size_t)room * sizeof *r) : NULL;
    if (r) s->info->rate_history = r;
    if (!h || !r) return mcp_fail(s->err, MCP_ERR_MEMORY, "out of memory for the cost history");
    s->room = room;
    return MCP_OK;
}

/* One Adam step; *J is its cost. */
static mcp_status step(mcp_search *s, int event, double *J)
{
    mcp_rollout_result result = {.gradient = s->gradient};
    mcp_status         st = grow(s);
    if (st == MCP_OK) st = sample(s, &result, &event);
    if (st != MCP_OK) return st;
    for (int i = 0; i < s->params; i++) s->gradient[i] *= s->units.param[i] / s->trial_cost;
    double norm = mcp_clip_norm(s->params, s->set->gradient_clip, s->gradient);
    s->info->history[s->info->steps] = result.J;
    s->info->rate_history[s->info->steps] = s->pace.step_size;
    s->info->steps++;
    *J = result.J;
    mcp_adam_step(&s->adam, s->pace.step_size, s->gradient, s->theta);
    s->spent = s->q->work_max > 0.0 && s->info->work > s->q->work_max;
    if (!s->q->progress) return MCP_OK;
    mcp_progress p = {.step = s->info->steps,
                      .steps_max = s->steps_max,
                      .cost = result.J,
                      .cost_std = result.J_std,
                      .best = isfinite(s->best_cost) ? s->best_cost : NAN,
                      .step_size = s->pace.step_size,
                      .dropout = drawable(s->pace.dropout),
                      .gradient_norm = norm,
                      .event = event,
                      .seconds = mcp_clock() - s->began};
    s->stopped = s->q->progress(s->q->progress_context, &p) != 0;
    return MCP_OK;
}

/* Whether this start is so far behind what another one ended with that it is not worth its time. */
static int far_behind(const mcp_search *s, int step)
{
    double least = s->q->rival;
    return (step >= 400 && s->best_score > 1.3 * least) || (step >= 200 && s->best_score > 2.0 * least);
}

/* Warm start and fresh policies for a few steps each; theta becomes the best of them. */
static mcp_status race(mcp_search *s, int warm)
{
    mcp_status st = MCP_OK;
    for (int k = 0; k <= s->set->candidates && st == MCP_OK && !s->stopped && !s->spent; k++) {
        double J;
        mcp_adam_reset(&s->adam);
        if (k > 0 || !warm) {
            if (k > 0) st = mcp_start_fresh(s, 1.0); /* candidate 0 is in theta already, drawn or warm */
            if (st == MCP_OK) evaluate(s, &J);
        }
        for (int i = 0; i < RACE_STEPS && st == MCP_OK && !s->stopped; i++) st = step(s, i == 0 ? 3 : 0, &J);
        if (st == MCP_OK) evaluate(s, &J);
    }
    if (st == MCP_OK) go_to_best(s);
    return st;
}

/* The last part of a budget is for low rates, which a policy needs to settle. */
static int short_of_work(const mcp_search *s)
{
    return s->set->stop_rule == RULE_PLATEAU && s->q->work_max > 0.0 &&
           s->pace.step_size == s->set->step_size && s->info->work > polish_from * s->q->work_max;
}

static mcp_verdict polish(mcp_search *s, mcp_plateau *r, int i)
{
    double J;
    (void)evaluate(s, &J);
    r->since = i;
    mcp_pace_lower(&s->pace, s->set->step_size_min);
    mcp_pace_lower(&s->pace, s->set->step_size_min);
    return MCP_RULE_LOWERED;
}

static mcp_status descend(mcp_search *s)
{
    const mcp_optimise_settings *set = s->set;
    const mcp_pace               start = s->pace;
    const int                    every = set->evaluate_every > 0 ? set->evaluate_every : 50;
    mcp_monitor                  monitor = mcp_monitor_make(set->step_size_min);
    mcp_plateau                  plateau = mcp_plateau_make(set->patience, set->step_size_min, s->best_score);
    mcp_status                   st = MCP_OK;
    int                          lowered = 0, restarts = s->info->restarts, base = s->info->steps;
    memcpy(s->reference_costs, s->costs, (size_t)s->judges * sizeof *s->costs);
    s->info->outcome = MCP_STEPS_MAX;
    for (int i = 1; base + i <= s->steps_max && !s->stopped && !s->spent; i++) {
        double      J;
        mcp_verdict verdict = MCP_RULE_GO;
        if (set->stop_rule == RULE_SCHEDULE) mcp_schedule_pace(&start, i - 1, s->steps_max - base, &s->pace);
        if ((st = step(s, lowered, &J)) != MCP_OK) break;
        lowered = 0;
        if (s->info->restarts != restarts) { /* another policy: the rules start over */
            restarts = s->info->restarts;
            s->pace = start;
            monitor = mcp_monitor_make(set->step_size_min);
            s->coarse = s->few != NULL;
            plateau = mcp_plateau_make(set->patience, set->step_size_min, INFINITY);
            plateau.since = i;
        }
        if (set->stop_rule == RULE_MONITOR) verdict = mcp_monitor_step(&monitor, J, &s->pace);
        else if (i % every == 0) {
            if (set->stop_rule == RULE_PLATEAU) verdict = plateau_at(s, &plateau, i);
            else evaluate(s, &J);
            if (far_behind(s, i)) verdict = MCP_RULE_STOP;
        }
        if (verdict == MCP_RULE_GO && short_of_work(s)) verdict = polish(s, &plateau, i);
        if (verdict == MCP_RULE_STOP) {
            s->info->outcome = MCP_CONVERGED;
            break;
        }
        if (verdict != MCP_RULE_LOWERED) continue;
        lowered = 1;
        s->coarse = 0;
        if (set->stop_rule == RULE_PLATEAU) go_to_best(s);
        else mcp_adam_reset(&s->adam);
    }
    if (s->spent) s->info->outcome = MCP_BUDGET_SPENT;
    /* The monitor ends where it is, as the paper does; the others on the best of the fixed noise. */
    double now = evaluate(s, &s->info->cost_last);
    s->info->score_last = now;
    s->info->failed_last = s->failed;
    if ((set->stop_rule != RULE_MONITOR || !isfinite(now)) && isfinite(s->best_score)) {
        go_to_best(s);
        s->info->cost_last = s->best_cost;
        s->info->score_last = s->best_score;
        s->info->failed_last = s->best_failed;
    }
    if (st == MCP_ERR_NUMERIC && isfinite(s->best_score))
        st = MCP_OK; /* a policy with finite costs is known: that one it is */
    return st;
}

static size_t layout(mcp_search *s, char *mem)
{
    mcp_arena a = {mem, 0};
    size_t    n = (size_t)s->params;
    s->gradient = mcp_arena_doubles(&a, n);
    s->best     = mcp_arena_doubles(&a, n);
    s->rate     = mcp_arena_doubles(&a, n);
    s->adjoint_unit = mcp_arena_doubles(&a, (size_t)s->q->system->nx);
    s->near_std = mcp_arena_doubles(&a, (size_t)s->q->system->nx);
    s->adam.m   = mcp_arena_doubles(&a, n);
    s->adam.v   = mcp_arena_doubles(&a, n);
    s->costs    = mcp_arena_doubles(&a, (size_t)s->judges);
    s->reference_costs = mcp_arena_doubles(&a, (size_t)s->judges);
    if (s->q->system->task->success.text && s->set->success_weight > 0.0) {
        size_t rows     = (size_t)(s->q->system->steps + 1) * (size_t)s->judges;
        s->states       = mcp_arena_doubles(&a, rows * (size_t)s->q->system->nx);
        s->applied      = mcp_arena_doubles(&a, rows * (size_t)s->q->system->nu);
    }
    return a.used;
}

static mcp_status search_memory(mcp_search *s, void **memory)
{
    const mcp_program *p = s->q->system->controller;
    mcp_status         st = mcp_block_alloc(memory, layout(s, NULL), s->err);
    if (st != MCP_OK) return st;
    s->adam = (mcp_adam){.n = s->params,
                         .beta1 = s->set->beta1,
                         .beta2 = s->set->beta2,
                         .epsilon = s->set->epsilon};
    layout(s, *memory);
    s->adam.factor = s->rate;
    memcpy(s->rate, s->units.param, (size_t)s->params * sizeof *s->rate);
    for (int k = 0; k < mcp_program_groups(p); k++) {
        const mcp_param_group *g = mcp_program_group(p, k);
        for (int i = 0; g->kind == MCP_RBF_WEIGHTS && i < g->count; i++)
            s->rate[g->offset + i] *= s->set->weight_rate;
    }
    for (int i = 0; i < s->q->system->nx; i++) {
        s->adjoint_unit[i] = s->units.state[i] / s->trial_cost;
        s->near_std[i] = near_part * s->units.state[i];
    }
    mcp_adam_reset(&s->adam);
    return MCP_OK;
}

/* Always from the same draw, so that the units of a trial follow from its data alone. */
static mcp_status measure(mcp_search *s)
{
    const mcp_policy_request q = {.system = s->q->system,
                                  .visited = s->q->visited,
                                  .visits = s->q->visits,
                                  .seed = s->q->seed,
                                  .draw = UINT32_MAX};
    mcp_status               st = mcp_policy_measure(&q, &s->units, s->err);
    s->trial_cost = s->units.cost * (s->q->system->steps + 1);
    if (!(s->trial_cost > 0.0)) s->trial_cost = s->q->cost_scale;
    if (!(s->trial_cost > 0.0) || isinf(s->trial_cost)) s->trial_cost = 1.0;
    return st;
}

static mcp_status check_settings(const mcp_optimise_settings *o, mcp_error *err)
{
    if (!(o->step_size > 0.0) || !(o->beta1 >= 0.0 && o->beta1 < 1.0) ||
        !(o->beta2 >= 0.0 && o->beta2 < 1.0) || !(o->epsilon > 0.0))
        return mcp_fail(
            err, MCP_ERR_ARG,
            "optimise: step_size %g and epsilon %g must be above 0, beta1 %g and beta2 %g in [0, 1)",
            o->step_size, o->epsilon, o->beta1, o->beta2);
    if (!(o->dropout >= 0.0 && o->dropout < 1.0))
        return mcp_fail(err, MCP_ERR_ARG, "optimise: dropout = %g is outside [0, 1)", o->dropout);
    if (o->steps_first < 0 || o->steps < 0)
        return mcp_fail(err, MCP_ERR_ARG, "optimise: steps_first = %d and steps = %d; 0 or more are possible",
                        o->steps_first, o->steps);
    return MCP_OK;
}

int mcp_incumbent_yields(const mcp_optimise_request *q, double score, double gain, double fewer)
{
    double margin = q->system->task->optimise.incumbent_gain * fmax(fabs(score), q->cost_scale);
    return gain > margin || (gain > 0.0 && fewer >= failed_less);
}

/* The policy that worked on the plant stays unless the model promises enough. */
static void keep_incumbent(mcp_search *s, const double *incumbent)
{
    double gain = s->score_first - s->info->score_last, fewer = s->failed_first - s->info->failed_last;
    if (!isfinite(s->score_first) || mcp_incumbent_yields(s->q, s->score_first, gain, fewer)) return;
    memcpy(s->theta, incumbent, (size_t)s->params * sizeof *s->theta);
    s->info->cost_last = s->info->cost_first;
    s->info->score_last = s->score_first;
    s->info->failed_last = s->failed_first;
    if (!s->stopped) s->info->outcome = MCP_KEPT_INCUMBENT;
}

/* Gradient of a few particles at the policy's start, without dropout, on noise of its own. */
static mcp_status check_gradient(void *context, mcp_posterior *const *p, double *g, mcp_error *err)
{
    const mcp_search           *s = context;
    const mcp_optimise_request *q = s->q;
    mcp_rollout_settings        set = {.particles = CHECK_PARTICLES,
                                       .steps = q->system->steps,
                                       .true_state = q->true_state,
                                       .noisy = q->system->task->model.noisy,
                                       .adjoint_clip = s->set->adjoint_clip,
                                       .adjoint_unit = s->adjoint_unit};
    mcp_stream_noise            stream = {.system = q->system,
                                          .seed = q->seed,
                                          .trial = q->trial,
                                          .step = MCP_CHECK_NOISE};
    mcp_noise                   noise = mcp_noise_from_stream(&stream);
    mcp_rollout_result          result = {.gradient = g};
    mcp_rollout                *r;
    mcp_status                  st = mcp_rollout_create(&r, q->system, p, &set, q->pool, err);
    if (st == MCP_OK) st = mcp_rollout_run(r, s->theta, 0.0, &noise, &result, err);
    for (int i = 0; st == MCP_OK && i < s->params; i++) g[i] *= s->units.param[i];
    mcp_rollout_free(r);
    return st;
}

static mcp_status make_posteriors(mcp_search *s, mcp_posteriors *models, mcp_error *err)
{
    const mcp_model_settings *m = &s->q->system->task->model;
    mcp_posteriors_request    r = {.ngp = s->q->system->ngp,
                                   .gp = s->q->gp,
                                   .set = m->posterior,
                                   .gradient = m->self_check ? check_gradient : NULL,
                                   .context = s,
                                   .params = s->params,
                                   .pool = s->q->pool};
    r.set.single = s->set->precision == MCP_PRECISION_AUTO;
    return mcp_posteriors_create(models, &r, err);
}

/* A policy that works is polished, not shaken: the rule begins where it would be after lowering the rate
 * twice, and a schedule is as much shorter. The monitor stays the paper's. */
static void be_gentle(mcp_search *s)
{
    if (s->set->stop_rule == RULE_MONITOR) return;
    for (int k = 0; k < 2; k++) mcp_pace_lower(&s->pace, s->set->step_size_min);
    s->coarse = 0;
    if (s->set->stop_rule == RULE_SCHEDULE) s->steps_max /= 4;
}

static mcp_status run(mcp_search *s, int warm, mcp_error *err)
{
    const mcp_optimise_request *q = s->q;
    mcp_posteriors              models = {0};
    double                     *incumbent = mcp_calloc((size_t)s->params + 1, sizeof *incumbent);
    mcp_status st = incumbent ? MCP_OK : mcp_fail(err, MCP_ERR_MEMORY, "out of memory for the policy");
    mcp_rollout_settings r = {.particles = s->set->particles,
                              .steps = q->system->steps,
                              .block = s->set->block,
                              .true_state = q->true_state,
                              .noisy = q->system->task->model.noisy,
                              .single = s->set->precision != MCP_PRECISION_DOUBLE,
                              .adjoint_clip = s->set->adjoint_clip,
                              .adjoint_unit = s->adjoint_unit};
    int horizon = (int)lround(s->set->horizon * q->system->task->rate);
    if (horizon > 0 && horizon < q->system->steps) r.steps = horizon;
    if (st == MCP_OK && !warm) st = mcp_start_fresh(s, 1.0);
    if (st == MCP_OK) memcpy(incumbent, s->theta, (size_t)s->params * sizeof *incumbent);
    if (st == MCP_OK) st = make_posteriors(s, &models, err);
    if (st == MCP_OK) {
        s->info->check_cosine = models.cosine;
        s->info->check_first = models.first;
        s->info->tolerance = models.tolerance;
        s->info->points = models.points;
        s->info->single = models.single;
        st = mcp_rollout_create(&s->rollout, q->system, models.of, &r, q->pool, err);
        r.particles = (int)ceil(s->set->particles * s->set->start_particles);
        if (r.particles < s->set->particles && s->set->stop_rule == RULE_PLATEAU && st == MCP_OK)
            st = mcp_rollout_create(&s->few, q->system, models.of, &r, q->pool, err);
        s->coarse = s->few != NULL;
        s->work = (double)r.steps / q->system->steps;
        s->few_work = s->work * r.particles / s->set->particles;
        s->judge_work = (double)s->judges / s->set->particles;
        r.particles = s->judges;
        r.steps = q->system->steps;
        if (st == MCP_OK) st = mcp_rollout_create(&s->judge, q->system, models.of, &r, q->pool, err);
    }
    if (st == MCP_OK && !warm && q->attempt > 0) st = mcp_start_cast(s);
    if (st == MCP_OK && s->set->regulator) st = mcp_start_regulated(s, models.of, warm && q->incumbent_works);
    if (st == MCP_OK) {
        s->score_first = evaluate(s, &s->info->cost_first);
        s->failed_first = s->failed;
        if (warm && q->incumbent_works && s->failed <= failed_some) be_gentle(s);
        else if (warm && q->incumbent_works) s->wider = s->set->stress > 0.0 ? s->set->stress : 1.0;
        /* Fresh policies are a way out of a bad optimum: not needed where a policy works. */
        if (s->set->candidates > 0 && !(warm && q->incumbent_works)) {
            s->steps_max += (s->set->candidates + 1) * RACE_STEPS; /* the race is on top */
            st = race(s, warm);
        }
    }
    if (st == MCP_OK) st = descend(s);
    if (st == MCP_OK && (s->info->restarts >= RESTART_MOST ||
                         (!warm && !(s->info->score_last < s->score_first))))
        s->info->outcome = MCP_STUCK;
    if (st == MCP_OK && s->stopped) s->info->outcome = MCP_INTERRUPTED;
    if (st == MCP_OK && warm && q->incumbent_works) keep_incumbent(s, incumbent);
    mcp_rollout_free(s->rollout);
    mcp_rollout_free(s->few);
    mcp_rollout_free(s->judge);
    mcp_posteriors_free(&models);
    mcp_free(incumbent);
    return st;
}

mcp_status mcp_policy_optimise(const mcp_optimise_request *q, int warm, double *theta,
                               mcp_optimise_info *info, mcp_error *err)
{
    const mcp_optimise_settings *set = &q->system->task->optimise;
    mcp_optimise_info            unused = {0};
    void                        *memory = NULL;
    mcp_search s = {.q = q,
                .set = set,
                .info = info ? info : &unused,
                .err = err,
                .theta = theta,
                .policies = q->attempt << 16,
                .draws = q->attempt << 24,
                .best_score = INFINITY,
                .best_cost = INFINITY,
                .wider = 1.0};
    *s.info = (mcp_optimise_info){.check_cosine = NAN, .check_first = NAN};
    s.began = mcp_clock();
    mcp_status st = check_settings(set, err);
    if (st != MCP_OK) return st;
    s.params    = mcp_program_params(q->system->controller);
    s.judges    = set->evaluate_particles < 4 * set->particles ? set->evaluate_particles : 4 * set->particles;
    if (s.judges < set->particles) s.judges = set->particles;
    s.steps_max = q->trial <= 1 ? set->steps_first : set->steps;
    s.pace      = (mcp_pace){set->step_size, set->dropout};
    if (s.params < 1)
        return mcp_fail(err, MCP_ERR_TASK, "policy: nothing in it can be learned (no rbf, mlp or param)");
    st = measure(&s);
    if (st == MCP_OK) st = search_memory(&s, &memory);
    if (st == MCP_OK && s.states) st = mcp_scorer_create(&s.scorer, q->system, err);
    if (st == MCP_OK) st = run(&s, warm, err);
    s.info->seconds = mcp_clock() - s.began;
    if (st != MCP_OK || !info) {
        mcp_free(s.info->history);
        mcp_free(s.info->rate_history);
        s.info->history = s.info->rate_history = NULL;
    }
    mcp_scorer_free(s.scorer);
    mcp_policy_units_free(&s.units);
    mcp_block_free(memory);
    return st;
}
