/* from_run.c - begin a run with another run's trials. A recorded trial is worth the same to every goal: the
 * model learns how the robot moves, not what for. What was a policy's trial there is an exploration here. */
#include "learn/from_run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/file.h"
#include "learn/task_change.h"
#include "math/arena.h"

/* A damaged run is no basis: what is left out there would be missing here without a word. */
static mcp_status open_whole(mcp_run **out, const char *from, mcp_error *err)
{
    mcp_error  trouble;
    mcp_status st = mcp_run_open(out, from, &trouble, err);
    if (st == MCP_OK && trouble.status != MCP_OK) {
        mcp_run_free(*out);
        *out = NULL;
        st = mcp_fail(err, trouble.status, "%s", trouble.text);
    }
    if (st == MCP_OK && (*out)->items == 0) {
        mcp_run_free(*out);
        *out = NULL;
        st = mcp_fail(err, MCP_ERR_ARG, "%s: it has no finished trial to begin with", from);
    }
    return st;
}

mcp_status mcp_from_count(const char *from, int *trials, mcp_error *err)
{
    mcp_run   *old;
    mcp_status st = open_whole(&old, from, err);
    *trials = st == MCP_OK ? old->items : 0;
    mcp_run_free(st == MCP_OK ? old : NULL);
    return st;
}

static void copy_rows(double *to, const double *from, int rows, int columns)
{
    memcpy(to, from, (size_t)rows * (size_t)columns * sizeof *to);
}

static void copy_trial(mcp_trial *to, const mcp_trial *from)
{
    int n = from->samples < to->capacity ? from->samples : to->capacity;
    copy_rows(to->t, from->t, n, 1);
    copy_rows(to->wall, from->wall, n, 1);
    copy_rows(to->measured, from->measured, n, from->ny);
    copy_rows(to->observed, from->observed, n, from->nx);
    copy_rows(to->truth, from->truth, n, from->nx);
    copy_rows(to->input, from->input, n, from->nu);
    copy_rows(to->applied, from->applied, n, from->nu);
    to->samples = n;
    to->explored = 1;
    to->timing = from->timing;
    if (n == from->samples) {
        to->ended = from->ended;
        memcpy(to->reason, from->reason, sizeof to->reason);
    }
    for (int i = 0; n > 0 && i < to->nu; i++) { /* nothing was applied after the last sample */
        to->input[(n - 1) * to->nu + i] = NAN;
        to->applied[(n - 1) * to->nu + i] = NAN;
    }
}

static mcp_status take(mcp_run *r, const mcp_run *old, mcp_error *err)
{
    mcp_status st = MCP_OK;
    for (int i = 0; i < old->items && st == MCP_OK; i++) {
        mcp_run_item *it = NULL;
        st = mcp_run_item_create(&it, r, 1, i + 1, 1, err);
        if (st == MCP_OK) st = mcp_trial_create(&it->trial, r->task, err);
        if (st == MCP_OK) {
            copy_trial(it->trial, old->item[i]->trial);
            st = mcp_store_trial(r, it, "trial", err);
        }
        mcp_run_item_free(it);
    }
    return st;
}

static void tell(char said[256], const mcp_run *old, const mcp_task_change *c)
{
    int n = snprintf(said, 256, "begins with %d trial%s of %.80s", old->items, old->items == 1 ? "" : "s",
                     old->folder);
    if (c->kind != MCP_CHANGE_NONE && n > 0 && n < 256)
        snprintf(said + n, (size_t)(256 - n), "; %.60s was %.40s, is %.40s", c->key, c->was, c->is);
}

mcp_status mcp_from_run(const mcp_task *task, const mcp_learn_settings *s, const char *from, char said[256],
                        mcp_error *err)
{
    mcp_run        *old = NULL, *r = NULL;
    mcp_task_change change;
    mcp_status      st = open_whole(&old, from, err);
    if (st == MCP_OK) st = mcp_task_change_find(old->task, task, &change, err);
    if (st == MCP_OK && change.kind == MCP_CHANGE_ROBOT)
        st = mcp_fail(err, MCP_ERR_ARG,
                      "%s: its trials are of another robot: %s is %s there and %s in the task; explore anew, "
                      "without --from",
                      from, change.key, change.was, change.is);
    if (st == MCP_OK && task->explore.trials != old->items)
        st = mcp_fail(err, MCP_ERR_ARG, "%s: it has %d trials; load the task with explore.trials=%d", from,
                      old->items, old->items);
    if (st == MCP_OK) st = mcp_run_create(&r, task, s, err);
    if (st == MCP_OK) st = mcp_folder_make(r->folder, err);
    if (st == MCP_OK) st = take(r, old, err);
    if (st == MCP_OK) st = mcp_run_note(r, "running", err);
    if (st == MCP_OK && said) tell(said, old, &change);
    mcp_run_free(r);
    mcp_run_free(old);
    return st;
}
