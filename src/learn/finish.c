/* finish.c - recommend and evaluate. */
#include "learn/finish.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/file.h"
#include "learn/recommend.h"
#include "math/arena.h"
#include "math/number.h"

#define SOLVED_RATE 0.95

json_t *mcp_finish_to_json(const mcp_finish *f)
{
    json_t *o = json_pack("{s:i, s:i, s:b, s:i, s:i, s:i, s:b}", "trial", f->trial, "trials", f->trials,
                          "tested", f->tested, "runs", f->runs, "successes", f->successes, "limits",
                          f->limits, "solved", mcp_finish_solved(f));
    const struct { const char *key; double v;
    } n[] = {{"low", f->low},           {"high", f->high},           {"cost_before", f->cost_before},
             {"cost_p05", f->cost_p05}, {"cost_median", f->cost_median}, {"cost_p95", f->cost_p95}};
    for (size_t i = 0; i < sizeof n / sizeof *n; i++)
        json_object_set_new(o, n[i].key, mcp_json_number(n[i].v));
    return o;
}

static mcp_status store(const mcp_finish *f, const mcp_run *r, mcp_error *err)
{
    char      *path = mcp_sprintf("%s/finish.json", r->folder);
    json_t    *root = mcp_finish_to_json(f);
    mcp_status st = path ? mcp_json_write_in(r->lock, path, root, err)
                         : mcp_fail(err, MCP_ERR_MEMORY, "%s: out of memory", r->folder);
    json_decref(root);
    mcp_free(path);
    return st;
}

mcp_status mcp_finish_make(mcp_finish *f, const mcp_run *r, mcp_pool *pool, mcp_evaluate_fn *tell,
                           void *context, mcp_error *err)
{
    mcp_status     st = MCP_OK;
    mcp_evaluation e = {0};
    int            trials = mcp_run_trials(r), trial = mcp_recommended(r);
    memset(f, 0, sizeof *f);
    if (!trial) return MCP_OK;
    const mcp_evaluate_settings q = {.trial = trial,
                                     .runs = MCP_FINISH_RUNS,
                                     .seed = r->seed,
                                     .progress = tell,
                                     .progress_context = context};
    st = mcp_evaluate_plant(&e, r->system, mcp_run_trial(r, trial)->theta, &q, pool, err);
    if (st != MCP_OK) return st;
    *f = (mcp_finish){.known = 1,
                      .trial = trial,
                      .trials = trials,
                      .tested = r->task->success.text != NULL,
                      .runs = e.runs,
                      .successes = e.successes,
                      .limits = e.limits,
                      .low = e.low,
                      .high = e.high,
                      .cost_before = r->item[0]->info.cost,
                      .cost_p05 = e.cost_p05,
                      .cost_median = e.cost_median,
                      .cost_p95 = e.cost_p95};
    mcp_evaluation_clear(&e);
    return r->folder ? store(f, r, err) : MCP_OK;
}

void mcp_finish_load(mcp_finish *f, const mcp_run *r)
{
    json_t *o = NULL;
    char   *path = mcp_sprintf("%s/finish.json", r->folder);
    memset(f, 0, sizeof *f);
    if (path && mcp_file_exists(path) && mcp_json_read(&o, path, NULL) == MCP_OK)
        *f = (mcp_finish){.trial = mcp_json_get_int(o, "trial", 0),
                          .trials = mcp_json_get_int(o, "trials", 0),
                          .tested = mcp_json_get_int(o, "tested", 0),
                          .runs = mcp_json_get_int(o, "runs", 0),
                          .successes = mcp_json_get_int(o, "successes", 0),
                          .limits = mcp_json_get_int(o, "limits", 0),
                          .low = mcp_json_get_double(o, "low", NAN),
                          .high = mcp_json_get_double(o, "high", NAN),
                          .cost_before = mcp_json_get_double(o, "cost_before", NAN),
                          .cost_p05 = mcp_json_get_double(o, "cost_p05", NAN),
                          .cost_median = mcp_json_get_double(o, "cost_median", NAN),
                          .cost_p95 = mcp_json_get_double(o, "cost_p95", NAN)};
    f->known = o && f->runs > 0 && f->trials == mcp_run_trials(r);
    json_decref(o);
    mcp_free(path);
}

int mcp_finish_solved(const mcp_finish *f)
{
    return f->tested && f->runs > 0 && f->successes >= SOLVED_RATE * f->runs;
}

int mcp_finish_headline(const mcp_finish *f, char *what, size_t size, char *more, size_t more_size)
{
    int solved = mcp_finish_solved(f);
    if (f->tested) {
        snprintf(what, size, "%s: %d of %d starts succeed.", solved ? "Solved" : "Not solved yet",
                 f->successes, f->runs);
        mcp_print(more, more_size,
                 "The policy of trial %d, %.1f %% (95 %% interval %.1f to %.1f %%)%s; cost %.3g in the "
                 "median.",
                 f->trial, 100.0 * f->successes / f->runs, 100 * f->low, 100 * f->high,
                 f->limits ? ", some runs meet a limit" : "", f->cost_median);
    } else {
        mcp_print(what, size, "Cost from %.3g to %.3g.", f->cost_before, f->cost_median);
        mcp_print(more, more_size,
                 "The policy of trial %d over %d starts: 5 to 95 %% %.3g to %.3g; before: the first "
                 "exploration. The task has no success test.",
                 f->trial, f->runs, f->cost_p05, f->cost_p95);
    }
    return solved;
}
