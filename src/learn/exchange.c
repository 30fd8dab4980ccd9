/* exchange.c - the learner's two halves, apart: prepare here, run elsewhere, accept here. */
#include "learn/exchange.h"

#include <math.h>
#include <string.h>

#include "control/runtime.h"
#include "io/file.h"
#include "math/arena.h"

mcp_status mcp_exchange_inputs(const mcp_learner *l, double *u, mcp_error *err)
{
    const mcp_run *r = l->run;
    mcp_runtime   *control = NULL;
    mcp_status     st = mcp_explore_inputs(r->task, r->seed, (uint32_t)r->items, u, err);
    if (st == MCP_OK) st = mcp_runtime_create(&control, r->system, err);
    if (st == MCP_OK) mcp_runtime_limit(control, r->system->steps, u);
    mcp_runtime_free(control);
    return st;
}

/* A view of a trial's measurements as a recording. */
static mcp_recording view(const mcp_trial *t)
{
    return (mcp_recording){.rows = t->samples,
                           .capacity = t->capacity,
                           .nx = t->nx,
                           .ny = t->ny,
                           .nu = t->nu,
                           .t = t->t,
                           .measured = t->measured,
                           .input = t->input,
                           .applied = t->applied,
                           .truth = t->truth};
}

mcp_status mcp_exchange_rehearse(const mcp_learner *l, mcp_trial **out, mcp_error *err)
{
    const mcp_run *r = l->run;
    mcp_status     st = mcp_trial_create(out, r->task, err);
    if (st != MCP_OK) return st;
    mcp_recording last = view(r->item[r->items - 1]->trial);
    if ((st = mcp_recording_play(&last, r->system, l->next->theta, "rehearsed", *out, err)) != MCP_OK) {
        mcp_trial_free(*out);
        *out = NULL;
    }
    return st;
}

/* Commands as recorded against those asked; then the recorded ones are what counts. */
static mcp_status settle_inputs(const mcp_run *r, const mcp_recording *rec, const double *asked,
                                double tolerance, mcp_trial *t, double *difference, mcp_error *err)
{
    const mcp_task *task = r->task;
    int             nu = t->nu;
    *difference = 0.0;
    for (int k = 0; k < t->samples; k++)
        for (int j = 0; j < nu; j++) {
            const mcp_task_input *in = &task->input[j];
            double was = rec->input[k * nu + j], wanted = asked ? asked[k * nu + j] : t->input[k * nu + j];
            if (isnan(t->input[k * nu + j]) || isnan(was)) continue; /* the last row */
            double off = fabs(was - wanted) / in->limit;
            if (off > *difference) *difference = off;
            if (off > tolerance)
                return mcp_fail(
                    err, MCP_ERR_IO,
                    "sample %d: %s was %.6g, but %.6g was asked; another program ran, or a unit is wrong "
                    "(--scale); data of other inputs are taken with --input-tolerance",
                    k, in->name, was, wanted);
            if (was == t->input[k * nu + j]) continue;
            t->input[k * nu + j] = was;
            if (k + in->delay < t->samples && isnan(rec->applied[(k + in->delay) * nu + j]))
                t->applied[(k + in->delay) * nu + j] = was;
        }
    return MCP_OK;
}

static mcp_status prepared(const mcp_run *r, mcp_error *err)
{
    if (r->explored < r->task->explore.trials || !r->folder) return MCP_OK;
    char *path = mcp_sprintf("%s/trial-%02d/forecast.json", r->folder, mcp_run_trials(r) + 1);
    if (!path) return mcp_fail(err, MCP_ERR_MEMORY, "%s: out of memory", r->folder);
    int there = mcp_file_exists(path);
    mcp_free(path);
    if (there) return MCP_OK;
    return mcp_fail(
        err, MCP_ERR_ARG,
        "%s: no policy was made for trial %d, so none can have been recorded; mcpilco next %s makes it",
        r->folder, mcp_run_trials(r) + 1, r->folder);
}

static mcp_status record(mcp_learner *l, const char *path, const mcp_add_settings *s, mcp_add_info *what,
                         mcp_error *err)
{
    mcp_run       *r = l->run;
    mcp_run_item  *it = l->next;
    mcp_recording *rec = NULL;
    double        *asked = NULL;
    mcp_status     st = mcp_recording_read(&rec, r->system, path, s, err);
    if (st != MCP_OK) return st;
    *what = (mcp_add_info){.file_rows = rec->file_rows,
                           .resampled = rec->resampled,
                           .surplus = rec->surplus,
                           .rate = rec->rate,
                           .off = rec->off};
    if ((st = mcp_trial_create(&it->trial, r->task, err)) != MCP_OK) goto done;
    if (!it->theta) {
        asked = mcp_calloc(((size_t)r->system->steps + 1) * (size_t)r->system->nu, sizeof *asked);
        st = asked ? mcp_exchange_inputs(l, asked, err)
                   : mcp_fail(err, MCP_ERR_MEMORY, "out of memory for the exploration's inputs");
    }
    if (st == MCP_OK) st = mcp_recording_play(rec, r->system, it->theta, s->ended, it->trial, err);
    if (st == MCP_OK)
        st = settle_inputs(r, rec, asked, s->input_tolerance, it->trial, &what->difference, err);
    what->samples = it->trial->samples;
done:
    mcp_free(asked);
    mcp_recording_free(rec);
    return st;
}

mcp_status mcp_learner_add(mcp_learner *l, const char *path, const mcp_add_settings *s, mcp_add_info *what,
                           mcp_learn_info *info, mcp_error *err)
{
    mcp_status st;
    if ((st = prepared(l->run, err)) != MCP_OK) return st;
    if ((st = mcp_learner_prepare(l, NULL, err)) != MCP_OK) return st;
    if ((st = record(l, path, s, what, err)) == MCP_OK) {
        l->next->info.samples = l->next->trial->samples;
        if ((st = mcp_store_trial(l->run, l->next, "trial", err)) == MCP_OK)
            return mcp_learner_accept(l, info, err);
    }
    mcp_run_item_free(l->next);
    l->next = NULL;
    return st;
}
