/* run_read.c - a run for those who read it: the public functions of run.h, on a folder or a learner's run. */
#include <math.h>
#include <string.h>

#include "learn/evaluate.h"
#include "learn/recommend.h"
#include "learn/run_folder.h"
#include "math/arena.h"
#include "math/sized.h"

static const char *const states[] = {"running", "waiting", "finished", "stopped", "failed", "unknown"};

const char *mcp_run_state_name(mcp_run_state s)
{
    return (int)s >= 0 && s < MCP_RUN_IS_UNKNOWN ? states[s] : states[MCP_RUN_IS_UNKNOWN];
}

mcp_run_state mcp_run_state_after(mcp_status st)
{
    if (st == MCP_OK) return MCP_RUN_IS_FINISHED;
    return st == MCP_ERR_STOPPED ? MCP_RUN_IS_STOPPED : MCP_RUN_IS_FAILED;
}

mcp_run_state mcp_run_status(const mcp_run *r)
{
    int s = 0;
    if (!r->status) return MCP_RUN_IS_RUNNING; /* a learner's own */
    while (s < MCP_RUN_IS_UNKNOWN && strcmp(states[s], r->status) != 0) s++;
    return (mcp_run_state)s;
}

mcp_task_source mcp_run_source(const mcp_run *r)
{
    mcp_task_source s;
    mcp_task_source_default(&s);
    s.file = r->task->file;
    s.text = r->task->source;
    s.overrides = r->observer ? r->override : (const char *const *)r->task->override;
    s.override_count = r->task->overrides + (r->observer != NULL);
    s.registry = r->task->registry;
    return s;
}

const mcp_task *mcp_run_task(const mcp_run *r) { return r->task; }
const char     *mcp_run_folder(const mcp_run *r) { return r->folder; }
const char     *mcp_run_algorithm(const mcp_run *r) { return r->algorithm->name; }
uint64_t        mcp_run_seed(const mcp_run *r) { return r->seed; }
int             mcp_run_wanted(const mcp_run *r) { return r->wanted; }
int             mcp_run_explored(const mcp_run *r) { return r->explored; }
int             mcp_run_count(const mcp_run *r) { return r->items; }
int             mcp_run_recommended(const mcp_run *r) { return mcp_recommended(r); }

static const mcp_run_item *item(const mcp_run *r, int i)
{
    return i >= 0 && i < r->items ? r->item[i] : NULL;
}

const mcp_learn_info *mcp_run_info(const mcp_run *r, int i)
{
    const mcp_run_item *it = item(r, i);
    return it ? &it->info : NULL;
}

static mcp_array array(const double *data, int rows, int columns, int layers)
{
    return (mcp_array){.data = data, .shape = {rows, columns, layers}};
}

static int forecast_array(const mcp_forecast *f, mcp_array_kind kind, mcp_array *out)
{
    if (!f) return 0;
    switch (kind) {
    case MCP_ARRAY_FORECAST_LOW: *out = array(f->low, f->samples, f->nx, 1); break;
    case MCP_ARRAY_FORECAST_MEDIAN: *out = array(f->median, f->samples, f->nx, 1); break;
    case MCP_ARRAY_FORECAST_HIGH: *out = array(f->high, f->samples, f->nx, 1); break;
    default: *out = array(f->states, f->samples, f->kept, f->nx); break;
    }
    return out->data && out->shape[1] > 0;
}

static int trial_array(const mcp_trial *t, mcp_array_kind kind, mcp_array *out)
{
    if (!t) return 0;
    switch (kind) {
    case MCP_ARRAY_TIME: *out = array(t->t, t->samples, 1, 1); break;
    case MCP_ARRAY_TRUTH: *out = array(t->truth, t->samples, t->nx, 1); break;
    case MCP_ARRAY_MEASURED: *out = array(t->measured, t->samples, t->ny, 1); break;
    case MCP_ARRAY_OBSERVED: *out = array(t->observed, t->samples, t->nx, 1); break;
    case MCP_ARRAY_INPUT: *out = array(t->input, t->samples, t->nu, 1); break;
    case MCP_ARRAY_APPLIED: *out = array(t->applied, t->samples, t->nu, 1); break;
    default: *out = array(t->wall, t->samples, 1, 1); break;
    }
    return 1;
}

int mcp_run_array(const mcp_run *r, int i, mcp_array_kind kind, mcp_array *out)
{
    const mcp_run_item *it = item(r, i);
    *out = array(NULL, 0, 0, 0);
    if (!it || (int)kind < 0) return 0;
    if (kind <= MCP_ARRAY_WALL) return trial_array(it->trial, kind, out);
    if (kind == MCP_ARRAY_STATES) {
        if (!it->states) return 0;
        *out = array(it->states->state, it->states->count, it->states->nx, 1);
        out->first = it->states->first;
        return 1;
    }
    if (kind <= MCP_ARRAY_PARTICLES) return forecast_array(it->forecast, kind, out);
    if (kind != MCP_ARRAY_POLICY || !it->theta) return 0;
    *out = array(it->theta, r->params, 1, 1);
    return 1;
}

/* many runs of one policy */

void mcp_evaluate_settings_init(mcp_evaluate_settings *s, size_t size)
{
    static const mcp_evaluate_settings usual = {.runs = 400, .seed = 1};
    mcp_sized_init(s, size, &usual, sizeof usual);
}

void mcp_evaluation_free(mcp_evaluation *e)
{
    if (!e) return;
    mcp_evaluation_clear(e);
    mcp_free(e);
}

static mcp_status evaluate(mcp_evaluation *e, const mcp_run *r, const mcp_evaluate_settings *q,
                           mcp_error *err)
{
    const mcp_run_item *it = mcp_run_trial(r, q->trial);
    mcp_pool           *pool = NULL;
    mcp_fit            *fit = NULL;
    mcp_status          st = mcp_pool_create(&pool, q->threads, err);
    if (st == MCP_OK && q->where == MCP_ON_PLANT)
        st = mcp_evaluate_plant(e, r->system, it->theta, q, pool, err);
    else if (st == MCP_OK && (st = mcp_run_model(&fit, r, q->trial, pool, err)) == MCP_OK)
        st = mcp_evaluate_model(e, fit, it->theta, r->algorithm->true_state, q, pool, err);
    mcp_fit_free(fit);
    mcp_pool_free(pool);
    return st;
}

mcp_status mcp_run_evaluate(mcp_evaluation **out, const mcp_run *r, const mcp_evaluate_settings *s,
                            mcp_error *err)
{
    mcp_evaluate_settings q;
    mcp_status            st;
    *out = NULL;
    mcp_evaluate_settings_default(&q);
    if (s && (st = mcp_sized_read(&q, sizeof q, s, "mcp_evaluate_settings", err)) != MCP_OK) return st;
    if (!q.trial) q.trial = mcp_recommended(r);
    if (!q.trial) q.trial = mcp_run_trials(r);
    if (!mcp_run_trial(r, q.trial))
        return mcp_fail(err, MCP_ERR_ARG, "%s: there is no policy of trial %d to evaluate; the run has %d",
                        r->folder ? r->folder : "run", q.trial, mcp_run_trials(r));
    if (q.runs < 1 || q.runs > 1000000)
        return mcp_fail(err, MCP_ERR_ARG, "evaluate: %d runs; 1 to 1000000 are possible", q.runs);
    mcp_evaluation *e = mcp_calloc(1, sizeof *e);
    if (!e) return mcp_fail(err, MCP_ERR_MEMORY, "out of memory for %d runs", q.runs);
    if ((st = evaluate(e, r, &q, err)) == MCP_OK) *out = e;
    else mcp_evaluation_free(e);
    return st;
}
