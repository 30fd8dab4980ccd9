/* learn.c - START HERE: the whole method, one call per stage, in the order things happen.
 *
 *   explore on the plant -> trial data (measured q, observed z, input u)
 *     -> estimate   offline, may look ahead: smoothed states                       estimate/
 *     -> model      one GP per velocity change, by marginal likelihood             model/
 *       (fit.c gathers the data)
 *     -> optimise   particles through sensor, observer, policy, GPs; adjoint; Adam rollout/, optim/
 *     -> forecast   what the particles say will happen                             forecast.c
 *     -> trial      the policy on the plant                                        plant/
 *     -> judge      what happened, and how right the forecast was                  and again from estimate
 *
 * Every stage is a pure function of recorded data and the seed, and is on disk before the next one begins
 * (run_folder.c, store.c). That is all there is to resuming: what is on disk is read, the rest is computed
 * again, to the same bits. Creating a learner and resuming a run are in learner.c. */
#include "mcpilco/learn.h"

#include <math.h>
#include <string.h>

#include "learn/diagnosis.h"
#include "learn/evaluate.h"
#include "learn/learner.h"
#include "learn/recommend.h"
#include "math/arena.h"
#include "math/clock.h"

/* Tells the caller where we are; non-zero: it wants to stop. */
static int tell(mcp_learner *l, mcp_phase phase, int trial, const mcp_progress *p, int step, int steps)
{
    if (phase != l->phase || step == 0) l->phase_began = mcp_clock();
    l->phase = phase;
    if (!l->settings.progress) return l->stopped;
    mcp_learn_progress q = {
        .phase = phase,
        .trial = trial,
        .step = step,
        .steps = steps,
        .cost = NAN,
        .cost_std = NAN,
        .best = NAN,
        .step_size = NAN,
        .dropout = NAN,
        .gradient_norm = NAN,
        .seconds = mcp_clock() - l->phase_began,
    };
    if (p) {
        q.cost = p->cost;
        q.cost_std = p->cost_std;
        q.best = p->best;
        q.event = p->event;
        q.step_size = p->step_size;
        q.dropout = p->dropout;
        q.gradient_norm = p->gradient_norm;
    }
    if (l->settings.progress(l->settings.progress_context, &q)) mcp_learner_stop(l);
    return l->stopped;
}

static mcp_status stopped(mcp_error *err)
{
    return mcp_fail(err, MCP_ERR_STOPPED, "stopped as asked; everything finished is kept");
}

/* The stages. Each fills its part of the item and writes its files. */

static mcp_status estimate(mcp_learner *l, mcp_run_item *it, mcp_error *err)
{
    double     began = mcp_clock();
    mcp_status st;
    tell(l, MCP_PHASE_ESTIMATE, it->info.number, NULL, 0, 0);
    if ((st = mcp_estimate_states(&it->states, l->run->system, it->trial, err)) != MCP_OK) return st;
    it->info.estimate_s = mcp_clock() - began;
    return mcp_store_states(l->run, it, err);
}

/* Hyper-parameters of the trial before, from where training goes on; 0: there are none. */
static int last_hyper(const mcp_run *r, int number, double **hyper)
{
    const mcp_run_item *it = mcp_run_trial(r, number - 1);
    if (!it) return 0;
    return (it->hyper ? mcp_fit_hyper_split(it->hyper, r->system, hyper, NULL)
                      : mcp_load_hyper(r, number - 1, hyper, NULL)) == MCP_OK;
}

/* The model of all data so far, in l->fit; number: of the policy trial it is for. */
static mcp_status fit_all(mcp_learner *l, int number, mcp_error *err)
{
    mcp_run    *r = l->run;
    mcp_status  st = MCP_OK;
    mcp_trial **trial = mcp_calloc((size_t)r->items + 1, sizeof *trial);
    mcp_free(l->states);
    l->states = mcp_calloc((size_t)r->items + 1, sizeof(mcp_states *));
    if (!trial || !l->states) st = mcp_fail(err, MCP_ERR_MEMORY, "out of memory for %d trials", r->items);
    for (int i = 0; st == MCP_OK && i < r->items; i++) {
        trial[i] = r->item[i]->trial;
        l->states[i] = r->item[i]->states;
    }
    if (st == MCP_OK && tell(l, MCP_PHASE_MODEL, number, NULL, 0, 0)) st = stopped(err);
    mcp_fit_free(l->fit);
    l->fit = NULL;
    double     **before = mcp_calloc(2 * (size_t)r->system->ngp + 1, sizeof *before);
    mcp_fit_data data = {r->items, trial, l->states, NULL, r->seed, (uint32_t)number, NULL};
    if (st == MCP_OK && !before) st = mcp_fail(err, MCP_ERR_MEMORY, "out of memory for the model");
    if (st == MCP_OK && last_hyper(r, number, before)) data.start = before;
    if (st == MCP_OK) st = mcp_fit_create(&l->fit, r->system, &data, l->pool, err);
    for (int g = 0; before && g < 2 * r->system->ngp; g++) mcp_free(before[g]);
    mcp_free(before);
    mcp_free(l->trials);
    l->trials = trial;
    return st;
}

static mcp_status model(mcp_learner *l, mcp_run_item *it, mcp_error *err)
{
    double     began = mcp_clock();
    mcp_status st = fit_all(l, it->info.number, err);
    if (st != MCP_OK) return st;
    it->info.model_s = mcp_clock() - began;
    it->info.data = l->fit->pairs->n;
    if ((st = mcp_fit_hyper(&it->hyper, l->fit, err)) != MCP_OK) return st;
    return mcp_store_model(l->run, it, l->fit, err);
}

static int optimise_progress(void *context, const mcp_progress *p)
{
    mcp_learner *l = context;
    return tell(l, MCP_PHASE_OPTIMISE, l->next->info.number, p, p->step, p->steps_max);
}

/* A policy works when it succeeded as forecast. A success that cost much more than the particles said is luck
 * on a wrong model: the next optimisation, which has seen it, should not hold back. */
static int works(const mcp_learn_info *i)
{
    return i->success && !(i->cost > i->forecast_cost + 3 * i->forecast_std);
}

/* The policy to start from, and whether it is one that works: the best so far by all evidence, so that a
 * trial that went wrong does not lose it; without one, the last. */
static mcp_status incumbent(mcp_learner *l, mcp_run_item **start, int *working, mcp_error *err)
{
    mcp_run            *r = l->run;
    mcp_recommendation *known = NULL;
    int                 trials = mcp_run_trials(r), any = 0;
    mcp_status          st;
    *start = mcp_run_trial(r, trials);
    *working = 0;
    if (*start && (*start)->info.outcome == MCP_STUCK) *start = NULL; /* nothing to go on from */
    for (int i = 1; i <= trials; i++) any |= works(&mcp_run_trial(r, i)->info);
    if (!any) return MCP_OK;
    if ((st = mcp_recommend(&known, r, l->fit, l->pool, err)) == MCP_OK)
        st = mcp_recommendation_store(r, known, err);
    if (st == MCP_OK && known->number && works(&mcp_run_trial(r, known->number)->info)) {
        *start = mcp_run_trial(r, known->number);
        *working = 1;
    }
    mcp_recommendation_free(known);
    return st;
}

/* How far the last trial's cost was from its forecast, in the forecast's deviations; 0 without one. */
static double surprise(const mcp_run *r)
{
    const mcp_run_item *last = mcp_run_trial(r, mcp_run_trials(r));
    double off = last ? fabs(last->info.cost - last->info.forecast_cost) / last->info.forecast_std : 0.0;
    return isfinite(off) ? off : 0.0;
}

/* Trials in a row, the last included, of which the model rightly expected that they may well fail: what the
 * next policy lacks is optimisation, not data. One that then succeeded was lucky. */
static int foreseen_failures(const mcp_run *r)
{
    int n = 0;
    if (!r->task->success.text) return 0; /* nothing says what a failure is */
    for (int k = mcp_run_trials(r); k > 0; k--, n++) {
        const mcp_learn_info *i = &mcp_run_trial(r, k)->info;
        double                off = fabs(i->cost - i->forecast_cost) / i->forecast_std;
        if (!(i->forecast_success < 0.9) || !(off < 2.0)) break;
    }
    return n;
}

static mcp_status optimise(mcp_learner *l, mcp_run_item *it, mcp_error *err)
{
    mcp_run             *r = l->run;
    mcp_run_item        *start;
    int                  working;
    mcp_status           st = incumbent(l, &start, &working, err);
    if (st != MCP_OK) return st;
    mcp_optimise_info    info = {.check_cosine = NAN, .check_first = NAN, .tolerance = NAN};
    mcp_algorithm_input in = {
        .system = r->system,
        .trials = r->items,
        .trial = l->trials,
        .states = l->states,
        .pairs = l->fit->pairs,
        .gp = l->fit->gp,
        .visited = l->fit->visited,
        .visits = l->fit->visits,
        .seed = r->seed,
        .number = (uint32_t)it->info.number,
        .warm = start != NULL,
        .incumbent_works = working,
        .cost_scale = mcp_run_cost_scale(r),
        .surprise = surprise(r),
        .foreseen = foreseen_failures(r),
        .pool = l->pool,
        .progress = optimise_progress,
        .progress_context = l,
    };
    it->theta = mcp_calloc((size_t)r->params + 1, sizeof *it->theta);
    if (!it->theta)
        return mcp_fail(err, MCP_ERR_MEMORY, "out of memory for a policy of %d parameters", r->params);
    if (start) memcpy(it->theta, start->theta, (size_t)r->params * sizeof *it->theta);
    tell(l, MCP_PHASE_OPTIMISE, it->info.number, NULL, 0, 0);
    double began = mcp_clock();
    st = l->stopped ? stopped(err) : r->algorithm->improve(&in, it->theta, &info, err);
    if (st == MCP_OK && (l->stopped || info.outcome == MCP_INTERRUPTED)) st = stopped(err);
    if (st == MCP_OK) {
        it->info.outcome = info.outcome;
        it->info.steps = info.steps;
        it->info.restarts = info.restarts;
        it->info.cost_first = info.cost_first;
        it->info.cost_last = info.cost_last;
        it->info.check_cosine = info.check_cosine;
        it->info.check_first = info.check_first;
        it->info.tolerance = info.tolerance;
        it->info.optimise_s = mcp_clock() - began;
        st = mcp_store_policy(r, it, &info, err);
    }
    mcp_free(info.history);
    mcp_free(info.rate_history);
    return st;
}

static mcp_status forecast(mcp_learner *l, mcp_run_item *it, mcp_error *err)
{
    double                began = mcp_clock();
    mcp_run              *r = l->run;
    mcp_particles        *p = NULL;
    mcp_particle_settings q = {.count = r->task->optimise.particles,
                               .true_state = r->algorithm->true_state,
                               .seed = r->seed,
                               .trial = (uint32_t)it->info.number};
    mcp_status            st;
    if (tell(l, MCP_PHASE_FORECAST, it->info.number, NULL, 0, 0)) return stopped(err);
    if (q.count < 200) q.count = 200; /* probabilities to a few per cent */
    if ((st = mcp_particles_run(&p, r->system, l->fit->gp, it->theta, &q, l->pool, err)) != MCP_OK) return st;
    if ((st = mcp_forecast_make(&it->forecast, r->system, p, l->settings.particles_kept, err)) == MCP_OK) {
        it->info.forecast_cost = it->forecast->cost;
        it->info.forecast_std = it->forecast->cost_std;
        it->info.forecast_success = it->forecast->success;
        it->info.forecast_limit = it->forecast->limit;
        it->info.forecast_s = mcp_clock() - began;
        st = mcp_store_forecast(r, it, err);
    }
    mcp_particles_free(p);
    return st;
}

static int tick(void *context, const mcp_trial *so_far)
{
    mcp_learner *l = context;
    return tell(l, l->next->info.explored ? MCP_PHASE_EXPLORE : MCP_PHASE_TRIAL, l->next->info.number, NULL,
                so_far->samples, l->run->system->steps + 1);
}

static mcp_status explore(mcp_learner *l, mcp_trial_key key, mcp_trial *out, mcp_error *err)
{
    const mcp_system *s = l->run->system;
    double           *u = mcp_calloc((size_t)s->steps * (size_t)s->nu + 1, sizeof *u);
    mcp_status        st = u ? mcp_run_explore(l->run, u, err)
                             : mcp_fail(err, MCP_ERR_MEMORY, "out of memory for the exploration's inputs");
    if (st == MCP_OK) st = mcp_plant_run_inputs(l->plant, u, key, tick, l, out, err);
    mcp_free(u);
    return st;
}

/* On the plant. A trial that was stopped or whose plant was lost is kept beside, as interrupted.csv, and does
 * not count. */
static mcp_status execute(mcp_learner *l, mcp_run_item *it, mcp_error *err)
{
    mcp_run   *r = l->run;
    double     began = mcp_clock();
    mcp_status st;
    if (it->info.forecast_limit > l->settings.risk)
        return mcp_fail(err, MCP_ERR_PLANT,
                        "trial %d was not run: the forecast chance of reaching a limit is %.0f %%, above the "
                        "allowed %.0f %%; add limits to the cost, or allow more risk",
                        it->info.number, 100 * it->info.forecast_limit, 100 * l->settings.risk);
    if (l->stopped) return stopped(err);
    if ((st = mcp_lock_check(l->lock, err)) != MCP_OK) return st; /* nothing moves for it */
    if (it->folder && !mcp_plant_is_simulated(r->task) &&
        (st = mcp_folder_room(l->lock, it->folder, mcp_trial_room(r->system), err)) != MCP_OK)
        return st;
    const mcp_plant_ops *own = l->settings.plant ? &l->plant_ops : NULL;
    if (!l->plant && own &&
        (st = mcp_plant_from_ops(&l->plant, r->system, own, l->settings.plant_context, err)) != MCP_OK)
        return st;
    r->system->watch = &l->watch;
    if (!l->plant && (st = mcp_plant_open(&l->plant, r->system, err)) != MCP_OK) return st;
    if ((st = mcp_trial_create(&it->trial, r->task, err)) != MCP_OK) return st;
    mcp_trial_key key = {r->seed, (uint32_t)r->items, 0};
    if (it->theta) st = mcp_plant_run(l->plant, it->theta, key, tick, l, it->trial, err);
    else st = explore(l, key, it->trial, err);
    if (st != MCP_OK) {
        if (it->trial->samples > 0) (void)mcp_store_trial(r, it, "interrupted", NULL);
        return st;
    }
    it->info.plant_s = mcp_clock() - began;
    it->info.samples = it->trial->samples;
    return mcp_store_trial(r, it, "trial", err);
}

/* What happened: cost, success, and how much of it was inside the particles' bands. */
mcp_status mcp_learner_judge(mcp_learner *l, mcp_run_item *it, mcp_error *err)
{
    mcp_run   *r = l->run;
    double     coverage[MCP_MAX_STATE * MCP_WINDOWS];
    double    *states = mcp_run_outcome(it);
    mcp_score  score;
    if (!states)
        return mcp_fail(err, MCP_ERR_MEMORY, "out of memory for the result of trial %d", it->info.number);
    mcp_trial_score(r->system, it->trial, states, &score);
    it->info.samples = it->trial->samples;
    it->info.cost = score.cost;
    it->info.metric = score.metric;
    it->info.success = score.success;
    it->info.limit = score.limit;
    it->info.ended = it->trial->ended;
    memcpy(it->info.reason, it->trial->reason, sizeof it->info.reason);
    mcp_free(states);
    if (it->forecast && !(states = mcp_run_modelled(r->system, it)))
        return mcp_fail(err, MCP_ERR_MEMORY, "out of memory for the result of trial %d", it->info.number);
    if (it->forecast) {
        mcp_forecast_coverage(it->forecast, it->trial->samples, states, coverage, &it->info.coverage);
        mcp_free(states);
    }
    mcp_fit *own = NULL; /* a resumed trial has its policy from the folder: its model is made again */
    if (!it->info.explored && !l->fit) (void)mcp_run_model(&own, r, it->info.number, l->pool, NULL);
    mcp_diagnosis_make(&it->diagnosis, r, it, own ? own : l->fit);
    mcp_fit_free(own);
    return mcp_store_result(r, it, it->forecast ? coverage : NULL, err);
}

/* The loop's body. */

static mcp_status begin(mcp_learner *l, mcp_error *err)
{
    mcp_run   *r = l->run;
    mcp_status st;
    int        explore = r->explored < r->task->explore.trials;
    if (l->next) return MCP_OK;
    if ((st = mcp_run_item_create(&l->next, r, explore, explore ? r->explored + 1 : mcp_run_trials(r) + 1, 1,
                                  err)) != MCP_OK)
        return st;
    if (explore || !l->next->folder) return MCP_OK;
    /* A killed run may have left the policy, and even its forecast. */
    if ((st = mcp_load_policy(r, l->next, err)) != MCP_OK) return st;
    return l->next->theta ? mcp_load_forecast(r, l->next, err) : MCP_OK;
}

/* Who stopped has been told so: the next call goes on. */
static mcp_status report(mcp_learner *l, mcp_status st)
{
    if (st == MCP_ERR_STOPPED) l->stopped = 0;
    return st;
}

/* Drops the trial that was being made. */
static mcp_status give_up(mcp_learner *l, mcp_status st)
{
    mcp_run_item_free(l->next);
    l->next = NULL;
    return report(l, st);
}

/* The caller's view of the trial that is being made, which may be dropped. */
static void show(mcp_learner *l, const mcp_run_item *it, const mcp_learn_info **info)
{
    l->info = it->info;
    if (info) *info = &l->info;
}

mcp_status mcp_learner_prepare(mcp_learner *l, const mcp_learn_info **info, mcp_error *err)
{
    if (info) *info = NULL;
    mcp_status st = begin(l, err);
    if (st != MCP_OK) return give_up(l, st);
    mcp_run_item *it = l->next;
    if (!it->info.explored && !it->forecast) {
        if ((st = model(l, it, err)) != MCP_OK) return give_up(l, st);
        if (!it->theta && (st = optimise(l, it, err)) != MCP_OK) return give_up(l, st);
        if ((st = forecast(l, it, err)) != MCP_OK) return give_up(l, st);
    }
    show(l, it, info);
    return MCP_OK;
}

mcp_status mcp_learner_accept(mcp_learner *l, const mcp_learn_info **info, mcp_error *err)
{
    mcp_run_item *it = l->next;
    mcp_status    st;
    if ((st = estimate(l, it, err)) != MCP_OK) return give_up(l, st);
    if ((st = mcp_learner_judge(l, it, err)) != MCP_OK) return give_up(l, st);
    if ((st = mcp_run_add(l->run, it, err)) != MCP_OK) return give_up(l, st);
    show(l, it, info);
    l->next = NULL;
    return MCP_OK;
}

mcp_status mcp_learner_trial(mcp_learner *l, const mcp_learn_info **info, mcp_error *err)
{
    mcp_status st = mcp_learner_prepare(l, info, err);
    if (st != MCP_OK) return st;
    if ((st = execute(l, l->next, err)) != MCP_OK) {
        show(l, l->next, info);
        return give_up(l, st);
    }
    return mcp_learner_accept(l, info, err);
}

mcp_status mcp_learner_recommend(mcp_learner *l, int *trial, mcp_error *err)
{
    mcp_run            *r = l->run;
    mcp_recommendation *m = NULL;
    mcp_status          st = mcp_recommendation_load(&m, r, err);
    *trial = 0;
    /* The model must have seen every trial; a single policy needs no comparison. */
    if (st == MCP_OK && m->count > 1 && !m->data) {
        mcp_recommendation_free(m);
        m = NULL;
        if ((st = fit_all(l, mcp_run_trials(r) + 1, err)) == MCP_OK)
            st = mcp_recommend(&m, r, l->fit, l->pool, err);
        if (st == MCP_OK) st = mcp_recommendation_store(r, m, err);
    } else if (st == MCP_OK && m->count == 1 && !m->data) {
        st = mcp_recommendation_store(r, m, err); /* one policy in all trials: the folder says so */
    }
    if (st == MCP_OK) *trial = m->number;
    mcp_recommendation_free(m);
    return report(l, st);
}
