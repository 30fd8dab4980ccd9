/* exchange.c - the learner's two halves, apart: prepare here, run elsewhere, accept here. */
#include "learn/exchange.h"

#include <math.h>
#include <string.h>

#include "control/runtime.h"
#include "io/file.h"
#include "math/arena.h"
#include "math/sized.h"

mcp_status mcp_exchange_inputs(const mcp_learner *l, double *u, mcp_error *err)
{
    const mcp_run *r = l->run;
    mcp_runtime   *control = NULL;
    mcp_status     st = mcp_run_explore(r, u, err);
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
            double off = fabs(was - wanted) / mcp_input_reach(in);
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

/* The recording becomes the trial in preparation. Where strict, an exploration's commands must be those that
 * were asked for. */
static mcp_status take(mcp_learner *l, const mcp_recording *rec, const char *ended, double tolerance,
                       int strict, double *difference, mcp_error *err)
{
    mcp_run      *r = l->run;
    mcp_run_item *it = l->next;
    double       *asked = NULL;
    mcp_status    st = mcp_trial_create(&it->trial, r->task, err);
    if (st == MCP_OK && !it->theta && strict) {
        asked = mcp_calloc(((size_t)r->system->steps + 1) * (size_t)r->system->nu, sizeof *asked);
        st = asked ? mcp_exchange_inputs(l, asked, err)
                   : mcp_fail(err, MCP_ERR_MEMORY, "out of memory for the exploration's inputs");
    }
    if (st == MCP_OK) st = mcp_recording_play(rec, r->system, it->theta, ended, it->trial, err);
    if (st == MCP_OK) st = settle_inputs(r, rec, asked, tolerance, it->trial, difference, err);
    mcp_free(asked);
    return st;
}

/* A trial that was taken, or not, joins the run, or is dropped. */
static mcp_status settle(mcp_learner *l, mcp_status st, const mcp_learn_info **info, mcp_error *err)
{
    if (st == MCP_OK) {
        l->next->info.samples = l->next->trial->samples;
        if ((st = mcp_store_trial(l->run, l->next, "trial", err)) == MCP_OK)
            return mcp_learner_accept(l, info, err);
    }
    mcp_run_item_free(l->next);
    l->next = NULL;
    return st;
}

mcp_status mcp_learner_add(mcp_learner *l, const char *path, const mcp_add_settings *s, mcp_add_info *what,
                           const mcp_learn_info **info, mcp_error *err)
{
    mcp_recording *rec = NULL;
    mcp_status     st;
    if ((st = prepared(l->run, err)) != MCP_OK) return st;
    if ((st = mcp_learner_prepare(l, NULL, err)) != MCP_OK) return st;
    if ((st = mcp_recording_read(&rec, l->run->system, path, s, err)) == MCP_OK) {
        *what = (mcp_add_info){.file_rows = rec->file_rows,
                               .resampled = rec->resampled,
                               .surplus = rec->surplus,
                               .rate = rec->rate,
                               .off = rec->off};
        st = take(l, rec, s->ended, s->input_tolerance, 1, &what->difference, err);
        if (st == MCP_OK) what->samples = l->next->trial->samples;
    }
    mcp_recording_free(rec);
    return settle(l, st, info, err);
}

void mcp_recorded_trial_init(mcp_recorded_trial *t, size_t size)
{
    mcp_add_settings usual;
    mcp_add_settings_default(&usual);
    const mcp_recorded_trial none = {.input_tolerance = usual.input_tolerance};
    mcp_sized_init(t, size, &none, sizeof none);
}

/* Every number of a recorded trial that counts is finite. */
static mcp_status check_recorded(const mcp_system *s, const mcp_recorded_trial *t, mcp_error *err)
{
    if (!t->measured || !t->input || t->samples < 2 || t->samples > s->steps + 1)
        return mcp_fail(err, MCP_ERR_ARG,
                        "a recorded trial: %d samples; it needs measurements and inputs of 2 to %d",
                        t->measured && t->input ? t->samples : 0, s->steps + 1);
    for (int k = 0; k < t->samples; k++) {
        for (int j = 0; j < s->ny; j++)
            if (!isfinite(t->measured[k * s->ny + j]))
                return mcp_fail(err, MCP_ERR_ARG, "a recorded trial: %s is %g in sample %d",
                                s->task->measured[j].name, t->measured[k * s->ny + j], k);
        for (int j = 0; k + 1 < t->samples && j < s->nu; j++)
            if (!isfinite(t->input[k * s->nu + j]))
                return mcp_fail(err, MCP_ERR_ARG, "a recorded trial: %s is %g in sample %d",
                                s->task->input[j].name, t->input[k * s->nu + j], k);
    }
    return MCP_OK;
}

mcp_status mcp_learner_add_trial(mcp_learner *l, const mcp_recorded_trial *given, const mcp_learn_info **info,
                                 mcp_error *err)
{
    const mcp_system  *s = l->run->system;
    mcp_recorded_trial t;
    mcp_recording     *rec = NULL;
    double             difference;
    mcp_status         st;
    if (info) *info = NULL;
    mcp_recorded_trial_default(&t);
    if ((st = mcp_sized_read(&t, sizeof t, given, "mcp_recorded_trial", err)) != MCP_OK) return st;
    if ((st = check_recorded(s, &t, err)) != MCP_OK) return st;
    if (l->run->explored >= l->run->task->explore.trials && !l->next && !l->run->folder)
        return mcp_fail(err, MCP_ERR_ARG,
                        "no policy was made for trial %d, so none can have been recorded; call "
                        "mcp_learner_prepare first",
                        mcp_run_trials(l->run) + 1);
    if ((st = prepared(l->run, err)) != MCP_OK) return st;
    if ((st = mcp_learner_prepare(l, NULL, err)) != MCP_OK) return st;
    st = mcp_recording_from_arrays(&rec, s, &t, err);
    if (st == MCP_OK)
        st = take(l, rec, t.ended, l->next->theta ? t.input_tolerance : INFINITY, 0, &difference, err);
    mcp_recording_free(rec);
    return settle(l, st, info, err);
}
