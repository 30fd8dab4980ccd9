/* evaluate.c - success rate and cost of one policy over many runs. A single run on the plant says little:
 * policies that succeed half of the time pass a trial by luck. */
#include "learn/evaluate.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "control/fixed_goals.h"
#include "math/arena.h"
#include "math/stats.h"

int mcp_plant_is_simulated(const mcp_task *task)
{
    return task->plant.type == MCP_PLANT_ODE || task->plant.type == MCP_PLANT_MUJOCO;
}

void mcp_evaluation_clear(mcp_evaluation *e)
{
    mcp_free(e->cost);
    mcp_free(e->metric);
    mcp_free(e->success);
    e->cost = e->metric = NULL;
    e->success = NULL;
}

static mcp_status lists(mcp_evaluation *e, int runs, mcp_error *err)
{
    *e = (mcp_evaluation){.runs = runs};
    e->cost = mcp_calloc((size_t)runs, sizeof *e->cost);
    e->metric = mcp_calloc((size_t)runs, sizeof *e->metric);
    e->success = mcp_calloc((size_t)runs, sizeof *e->success);
    if (e->cost && e->metric && e->success) return MCP_OK;
    mcp_evaluation_clear(e);
    return mcp_fail(err, MCP_ERR_MEMORY, "out of memory for %d runs", runs);
}

static void three(const double *v, int n, double *sorted, double *low, double *median, double *high)
{
    memcpy(sorted, v, (size_t)n * sizeof *v);
    *low = mcp_quantile(sorted, n, 0.05);
    *median = mcp_quantile_sorted(sorted, n, 0.5);
    *high = mcp_quantile_sorted(sorted, n, 0.95);
}

static mcp_status summarise(mcp_evaluation *e, mcp_error *err)
{
    double *sorted = mcp_calloc((size_t)e->runs, sizeof *sorted);
    if (!sorted) return mcp_fail(err, MCP_ERR_MEMORY, "out of memory for %d runs", e->runs);
    for (int i = 0; i < e->runs; i++) e->successes += e->success[i];
    mcp_wilson(e->successes, e->runs, &e->low, &e->high);
    three(e->cost, e->runs, sorted, &e->cost_p05, &e->cost_median, &e->cost_p95);
    three(e->metric, e->runs, sorted, &e->metric_p05, &e->metric_median, &e->metric_p95);
    e->metric_max = e->metric[0];
    for (int i = 0; i < e->runs; i++) {
        e->metric_mean += e->metric[i] / e->runs;
        e->metric_max = fmax(e->metric_max, e->metric[i]);
    }
    mcp_free(sorted);
    return MCP_OK;
}

/* On the plant. */

typedef struct {
    const mcp_system            *system;
    const double                *theta;
    const mcp_evaluate_settings *q;
    int                          workers;
    mcp_evaluation              *out;
    atomic_int        done, limits, ended, stop;
    mcp_status       *status; /* per worker */
    mcp_error        *error;
} work;

/* Stop in the middle of a run, too. */
static int tick(void *context, const mcp_trial *so_far)
{
    const mcp_watch *watch = ((const mcp_system *)context)->watch;
    (void)so_far;
    return watch && watch->stop && watch->stop(watch->context);
}

static mcp_status one_run(work *w, mcp_plant *p, mcp_run_item *it, int run, mcp_error *err)
{
    mcp_score  score;
    mcp_trial_key key = {w->q->seed, (uint32_t)w->q->trial, (uint32_t)run + 1};
    mcp_status    st = mcp_plant_run(p, w->theta, key, tick, (void *)(uintptr_t)w->system, it->trial, err);
    if (st != MCP_OK) return st;
    mcp_states_free(it->states);
    it->states = NULL;
    if (!mcp_plant_is_simulated(w->system->task) &&
        (st = mcp_estimate_states(&it->states, w->system, it->trial, err)) != MCP_OK) return st;
    double *states = mcp_run_outcome(it);
    if (!states) return mcp_fail(err, MCP_ERR_MEMORY, "out of memory in run %d", run + 1);
    mcp_trial_score(w->system, it->trial, states, &score);
    mcp_free(states);
    w->out->cost[run] = score.cost;
    w->out->metric[run] = score.metric;
    w->out->success[run] = score.success;
    atomic_fetch_add(&w->limits, score.limit != 0);
    atomic_fetch_add(&w->ended, it->trial->ended != 0);
    return MCP_OK;
}

/* Worker k takes runs k, k + workers, ...: its plant is opened once. */
static void share(void *context, int k, int worker)
{
    work        *w = context;
    mcp_plant   *p = NULL;
    mcp_run_item it = {0};
    mcp_error   *err = &w->error[k];
    mcp_status   st;
    st = w->q->plant ? mcp_plant_from_ops(&p, w->system, w->q->plant, w->q->plant_context, err)
                     : mcp_plant_open(&p, w->system, err);
    if (st != MCP_OK) goto done;
    if ((st = mcp_trial_create(&it.trial, w->system->task, err)) != MCP_OK) goto done;
    for (int run = k; run < w->out->runs && !w->stop; run += w->workers) {
        if ((st = one_run(w, p, &it, run, err)) != MCP_OK) goto done;
        int done = atomic_fetch_add(&w->done, 1) + 1;
        if (worker == 0 && w->q->progress && w->q->progress(w->q->progress_context, done, w->out->runs))
            w->stop = 1;
    }
    if (w->stop)
        st = mcp_fail(err, MCP_ERR_STOPPED, "stopped after %d of %d runs", (int)w->done, w->out->runs);
done:
    w->status[k] = st;
    mcp_plant_close(p);
    mcp_trial_free(it.trial);
    mcp_states_free(it.states);
}

mcp_status mcp_evaluate_plant(mcp_evaluation *out, const mcp_system *s, const double *theta,
                              const mcp_evaluate_settings *q, mcp_pool *pool, mcp_error *err)
{
    int  runs = q->runs, workers = mcp_plant_is_simulated(s->task) && !q->plant ? mcp_pool_threads(pool) : 1;
    mcp_fixed_goals fixed;
    work            w = {.system = &fixed.system, .theta = theta, .q = q, .workers = workers, .out = out};
    mcp_status      st = lists(out, runs, err);
    if (st != MCP_OK) return st;
    if ((st = mcp_fix_goals(&fixed, s, q->goal_count, q->goals, err)) != MCP_OK) {
        mcp_evaluation_clear(out);
        return st;
    }
    w.status = mcp_calloc((size_t)workers, sizeof *w.status);
    w.error = mcp_calloc((size_t)workers, sizeof *w.error);
    if (!w.status || !w.error) st = mcp_fail(err, MCP_ERR_MEMORY, "out of memory for %d runs", runs);
    else mcp_pool_run(pool, workers, share, &w);
    for (int k = 0; st == MCP_OK && k < workers; k++)
        if ((st = w.status[k]) != MCP_OK && err) *err = w.error[k];
    out->limits = w.limits;
    out->ended = w.ended;
    if (st == MCP_OK) st = summarise(out, err);
    if (st != MCP_OK) mcp_evaluation_clear(out);
    mcp_free(w.status);
    mcp_free(w.error);
    return st;
}

/* On the model. */

mcp_status mcp_evaluate_model(mcp_evaluation *out, const mcp_fit *fit, const double *theta, int true_state,
                              const mcp_evaluate_settings *q, mcp_pool *pool, mcp_error *err)
{
    mcp_fixed_goals       fixed;
    const mcp_system     *s = &fixed.system;
    int                   runs = q->runs;
    mcp_particles        *p = NULL;
    mcp_particle_settings particles = {.count = runs,
                                       .true_state = true_state,
                                       .seed = q->seed,
                                       .trial = (uint32_t)q->trial,
                                       .set = 1};
    mcp_status            st = lists(out, runs, err);
    if (st != MCP_OK) return st;
    int *limit = mcp_calloc((size_t)runs, sizeof *limit);
    st = mcp_fix_goals(&fixed, fit->system, q->goal_count, q->goals, err);
    if (st == MCP_OK && !limit) st = mcp_fail(err, MCP_ERR_MEMORY, "out of memory for %d runs", runs);
    if (st == MCP_OK && (st = mcp_particles_run(&p, s, fit->gp, theta, &particles, pool, err)) == MCP_OK)
        st = mcp_particles_score(p, s, out->success, limit, out->metric, err);
    if (st == MCP_OK) {
        memcpy(out->cost, p->cost, (size_t)runs * sizeof *out->cost);
        for (int i = 0; i < runs; i++) out->limits += limit[i] != 0;
        st = summarise(out, err);
    }
    if (st != MCP_OK) mcp_evaluation_clear(out);
    mcp_particles_free(p);
    mcp_free(limit);
    return st;
}
