/* learner.c - creating a learner, resuming a run, looking up what was learned. The method is in
 * learn.c. */
#include "learn/learner.h"

#include <math.h>
#include <string.h>

#include "learn/task_change.h"
#include "math/arena.h"
#include "math/sized.h"
#include "model/kernel.h"

const char *mcp_phase_name(mcp_phase p)
{
    static const char *const names[] = {"explore", "estimate", "model", "optimise", "forecast", "trial"};
    return p <= MCP_PHASE_TRIAL ? names[p] : "?";
}

void mcp_learn_settings_init(mcp_learn_settings *s, size_t size)
{
    static const mcp_learn_settings usual = {.seed = 1, .trials = 5, .particles_kept = 100, .risk = 1.0};
    mcp_sized_init(s, size, &usual, sizeof usual);
}

/* Whoever resumes must mean the same run: the same seed and algorithm, and a task that learns the same. */
static mcp_status same_run(const mcp_run *r, const mcp_run *old, mcp_error *err)
{
    const char     *where = r->folder;
    mcp_task_change change;
    mcp_status      st;
    if (old->seed != r->seed)
        return mcp_fail(err, MCP_ERR_ARG,
                        "%s: this run was started with seed %llu, not %llu; give that seed, or start a new "
                        "run with --out",
                        where, (unsigned long long)old->seed, (unsigned long long)r->seed);
    if (old->algorithm != r->algorithm)
        return mcp_fail(err, MCP_ERR_ARG,
                        "%s: this run was started with algorithm %s, not %s; give that one, or start a new "
                        "run with --out",
                        where, old->algorithm->name, r->algorithm->name);
    if (!old->task->tree || !r->task->tree) return MCP_OK; /* made by a program: nothing to compare */
    if ((st = mcp_task_change_find(old->task, r->task, &change, err)) != MCP_OK) return st;
    if (change.kind == MCP_CHANGE_NONE) return MCP_OK;
    return mcp_fail(err, MCP_ERR_ARG, "%s: this run was started with %s = %s, the task has %s; %s%s", where,
                    change.key, change.was, change.is,
                    change.kind == MCP_CHANGE_LEARNING
                        ? "set it back to continue, or start a new run that keeps these trials with --from "
                        : "set it back to continue, or start a new run with --out",
                    change.kind == MCP_CHANGE_LEARNING ? where : "");
}

static mcp_status resume(mcp_learner *l, mcp_error *err)
{
    mcp_run   *old = NULL, *r = l->run;
    mcp_status st = mcp_run_open_with(&old, r->folder, r->task->registry, NULL, err);
    if (st == MCP_OK && (st = same_run(r, old, err)) == MCP_OK) st = mcp_run_load(r, err);
    if (st == MCP_OK) r->notes = json_incref(old->notes);
    mcp_run_free(old);
    for (int i = 0; st == MCP_OK && i < r->items; i++) {
        mcp_run_item *it = r->item[i];
        it->info.restored = 1;
        if (isnan(it->info.cost)) { /* killed between trial.csv and result.json */
            if ((st = mcp_store_states(r, it, err)) == MCP_OK) st = mcp_learner_judge(l, it, err);
        }
    }
    return st;
}

static mcp_status open_folder(mcp_learner *l, mcp_error *err)
{
    mcp_run   *r = l->run;
    mcp_status st;
    if ((st = mcp_folder_make(r->folder, err)) != MCP_OK) return st;
    if ((st = mcp_lock_take(&l->lock, r->folder, err)) != MCP_OK) return st;
    r->lock = l->lock;
    char *path = mcp_sprintf("%s/run.json", r->folder);
    if (!path) return mcp_fail(err, MCP_ERR_MEMORY, "%s: out of memory", r->folder);
    int there = mcp_file_exists(path) && !mcp_run_is_empty(r->folder);
    mcp_free(path);
    if (there && !l->settings.resume)
        return mcp_fail(
            err, MCP_ERR_ARG,
            "%s: there is a run in this folder already; continue it with --resume, or name another "
            "folder by --out",
            r->folder);
    if (there && (st = resume(l, err)) != MCP_OK) return st;
    return mcp_run_note(r, "running", err);
}

/* While a plant at the end of a wire is waited for: the caller is asked, and mcp_learner_stop counts. */
static int asked_to_stop(void *context)
{
    mcp_learner     *l = context;
    const mcp_watch *w = &l->settings.watch;
    if (w->stop && w->stop(w->context)) mcp_learner_stop(l);
    return l->stopped;
}

static void tell_moving(void *context, int fd, const char *line)
{
    const mcp_watch *w = &((mcp_learner *)context)->settings.watch;
    w->moving(w->context, fd, line);
}

void mcp_learner_stop(mcp_learner *l)
{
    l->stopped = 1;
}

/* A plant does not move for data that no model can take. */
static mcp_status check_amount(const mcp_run *r, mcp_error *err)
{
    int trials = r->task->explore.trials, steps = r->system->steps;
    if ((double)trials * (steps - 1) <= MCP_GP_MOST) return MCP_OK;
    return mcp_fail(err, MCP_ERR_TASK,
                    "the exploration alone has %.0f pairs of samples (%d trials of %d steps); a model takes "
                    "%d at most: a lower rate, shorter or fewer trials",
                    (double)trials * (steps - 1), trials, steps, MCP_GP_MOST);
}

mcp_status mcp_learner_create(mcp_learner **out, const mcp_task *task, const mcp_learn_settings *given,
                              mcp_error *err)
{
    mcp_status   st;
    mcp_learner *l = mcp_calloc(1, sizeof *l);
    *out = NULL;
    if (!l) return mcp_fail(err, MCP_ERR_MEMORY, "out of memory for the learner");
    mcp_learn_settings *s = &l->settings;
    mcp_learn_settings_default(s);
    if ((st = mcp_sized_read(s, sizeof *s, given, "mcp_learn_settings", err)) != MCP_OK) goto failed;
    if (s->plant) l->plant_ops = *s->plant;
    l->watch.stop = asked_to_stop;
    l->watch.moving = s->watch.moving ? tell_moving : NULL;
    l->watch.context = l;
    if ((st = mcp_run_create(&l->run, task, s, err)) != MCP_OK) goto failed;
    if ((st = check_amount(l->run, err)) != MCP_OK) goto failed;
    if ((st = mcp_pool_create(&l->pool, s->threads, err)) != MCP_OK) goto failed;
    if (s->folder && (st = open_folder(l, err)) != MCP_OK) goto failed;
    l->settings.folder = NULL; /* the run has its own copies */
    l->settings.algorithm = NULL;
    *out = l;
    return MCP_OK;
failed:
    mcp_learner_free(l);
    return st;
}

void mcp_learner_free(mcp_learner *l)
{
    if (!l) return;
    mcp_plant_close(l->plant);
    mcp_run_item_free(l->next);
    mcp_fit_free(l->fit);
    mcp_free(l->trials);
    mcp_free(l->states);
    mcp_run_free(l->run);
    mcp_pool_free(l->pool);
    mcp_lock_free(l->lock);
    mcp_free(l);
}

mcp_status mcp_learner_close(mcp_learner *l, mcp_run_state state, mcp_error *err)
{
    return mcp_run_note(l->run, mcp_run_state_name(state), err);
}

int mcp_learner_explored(const mcp_learner *l)
{
    return l->run->explored;
}

int mcp_learner_explorations(const mcp_learner *l)
{
    return l->run->task->explore.trials;
}

int mcp_learner_trials(const mcp_learner *l)
{
    return mcp_run_trials(l->run);
}

const mcp_learn_info *mcp_learner_info(const mcp_learner *l, int i)
{
    return mcp_run_info(l->run, i);
}

const mcp_run *mcp_learner_run(const mcp_learner *l)
{
    return l->run;
}

const double *mcp_learner_policy(const mcp_learner *l, int *count)
{
    mcp_run_item *last = mcp_run_trial(l->run, mcp_run_trials(l->run));
    if (count) *count = last ? l->run->params : 0;
    return last ? last->theta : NULL;
}
