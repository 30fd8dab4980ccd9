/* study_run.c - one run of a study: claim it, learn, evaluate, leave evaluation.json. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "io/file.h"
#include "io/json.h"
#include "learn/learner.h"
#include "learn/recommend.h"
#include "learn/task_change.h"
#include "math/arena.h"
#include "mcpilco/run.h"
#include "study/study.h"

int mcp_study_runs(const mcp_study *s) { return s->variants * (s->seed_last - s->seed_first + 1); }

void mcp_study_at(const mcp_study *s, int i, int *variant, int *seed)
{
    *variant = i % s->variants;
    *seed    = s->seed_first + i / s->variants;
}

char *mcp_study_folder(const mcp_study *s, const char *out, int i)
{
    int v, seed;
    mcp_study_at(s, i, &v, &seed);
    return mcp_sprintf("%s/%s/seed-%04d", out, s->variant[v].name, seed);
}

/* Finished means: the file is there and was made for at least this many trials and plant runs. */
int mcp_study_done(const mcp_study *s, const char *out, int i)
{
    if (mcp_study_known(s, i)) return 1;
    char *folder = mcp_study_folder(s, out, i),
         *path = folder ? mcp_sprintf("%s/evaluation.json", folder) : NULL;
    json_t *root = NULL;
    int     v, seed;
    mcp_study_at(s, i, &v, &seed);
    int done = path && mcp_json_read(&root, path, NULL) == MCP_OK &&
               mcp_json_get_int(root, "trials", -1) >= s->variant[v].trials &&
               mcp_json_get_int(root, "evaluate", -1) == s->evaluate &&
               mcp_json_get_int(root, "final", -1) == s->final && json_object_get(root, "recommended");
    json_decref(root);
    mcp_free(path);
    mcp_free(folder);
    return done;
}

static mcp_status same_settings(const mcp_variant *v, const char *folder, mcp_error *err)
{
    mcp_task       *task = NULL;
    mcp_run        *run = NULL;
    mcp_error       trouble, why; /* of damaged runs: the table tells */
    mcp_task_change change;
    mcp_status      st = mcp_task_load(&task, v->task, v->set, v->sets, err);
    if (st == MCP_OK && mcp_run_open(&run, folder, &trouble, &why) != MCP_OK) {
        mcp_task_free(task);
        return MCP_OK;
    }
    if (st == MCP_OK) st = mcp_task_change_find(mcp_run_task(run), task, &change, err);
    const char *name = v->algorithm ? v->algorithm : st == MCP_OK ? task->algorithm : NULL;
    if (st == MCP_OK && name && strcmp(name, mcp_run_algorithm(run)) != 0) {
        change.kind = MCP_CHANGE_LEARNING;
        snprintf(change.key, sizeof change.key, "algorithm");
        snprintf(change.was, sizeof change.was, "%s", mcp_run_algorithm(run));
        snprintf(change.is, sizeof change.is, "%s", name);
    }
    if (st == MCP_OK && change.kind != MCP_CHANGE_NONE)
        st = mcp_fail(err, MCP_ERR_ARG,
                      "%s: this run was made with %s = %s, the study has %s for variant %s; name another "
                      "folder by --out, or remove the runs of that variant",
                      folder, change.key, change.was, change.is, v->name);
    mcp_run_free(run);
    mcp_task_free(task);
    return st;
}

mcp_status mcp_study_same(const mcp_study *s, const char *out, mcp_error *err)
{
    mcp_status st = MCP_OK;
    for (int v = 0; v < s->variants && st == MCP_OK; v++) {
        int i = v, runs = mcp_study_runs(s);
        while (i < runs && (mcp_study_known(s, i) || !mcp_study_done(s, out, i))) i += s->variants;
        if (i >= runs) continue;
        char *folder = mcp_study_folder(s, out, i);
        st = folder ? same_settings(&s->variant[v], folder, err)
                    : mcp_fail(err, MCP_ERR_MEMORY, "out of memory");
        mcp_free(folder);
    }
    return st;
}

typedef struct {
    mcp_learn_progress_fn *progress;
    void                  *context;
} teller;

static int evaluate_tick(void *context, int done, int runs)
{
    teller            *t = context;
    mcp_learn_progress p = {.phase = MCP_PHASE_TRIAL, .step = done, .steps = runs};
    return t->progress ? t->progress(t->context, &p) : 0;
}

/* One policy on the plant; with model, on the model it was learned with too. */
static mcp_status evaluate_policy(const mcp_run *r, int trial, int runs, int model, teller *t, json_t **out,
                                  mcp_error *err)
{
    const mcp_run_item *it = mcp_run_trial(r, trial);
    mcp_evaluation      plant = {0}, modelled = {0};
    mcp_fit            *fit = NULL;
    mcp_status          st = MCP_OK;
    const mcp_evaluate_settings q = {
        .trial = trial, .runs = runs, .seed = r->seed, .progress = evaluate_tick, .progress_context = t};
    *out = NULL;
    if (!it) return mcp_fail(err, MCP_ERR_IO, "%s: trial %d is missing", r->folder, trial);
    if (runs) st = mcp_evaluate_plant(&plant, r->system, it->theta, &q, NULL, err);
    if (st == MCP_OK && model && runs) st = mcp_run_model(&fit, r, trial, NULL, err);
    if (st == MCP_OK && model && runs)
        st = mcp_evaluate_model(&modelled, fit, it->theta, r->algorithm->true_state, &q, NULL, err);
    if (st == MCP_OK) {
        *out = json_pack("{s:i,s:i,s:i,s:i,s:o,s:o,s:o,s:o,s:i,s:i}", "trial", trial, "runs", runs, "success",
                         plant.successes, "limit", plant.limits, "cost_median",
                         mcp_json_number(plant.cost_median), "metric_median",
                         mcp_json_number(plant.metric_median), "metric_mean",
                         mcp_json_number(plant.metric_mean), "metric_max", mcp_json_number(plant.metric_max),
                         "model_runs", modelled.runs, "model_success", modelled.successes);
        if (!*out) st = mcp_fail(err, MCP_ERR_MEMORY, "%s: out of memory for its evaluation", r->folder);
    }
    mcp_evaluation_clear(&plant);
    mcp_evaluation_clear(&modelled);
    mcp_fit_free(fit);
    return st;
}

/* Every trial's policy on the plant; the recommended one in more runs, and on the model too. A folder may
 * have more trials than the study asks for: its recommendation then looked at these too, and the last one
 * that is asked for stands in for a later one. */
static mcp_status evaluate(const mcp_study *s, int trials, const mcp_run *r, teller *t, json_t *root,
                           mcp_error *err)
{
    mcp_status st = MCP_OK;
    json_t    *list = json_array(), *one = NULL;
    int        n = s->until_robust && mcp_run_trials(r) < trials ? mcp_run_trials(r) : trials;
    int        best = mcp_recommended(r);
    for (int k = 1; k <= n && st == MCP_OK; k++) {
        st = evaluate_policy(r, k, s->evaluate, 0, t, &one, err);
        if (st == MCP_OK) mcp_json_append(&list, one);
    }
    json_object_set_new(root, "list", list);
    if (best < 1 || best > n) best = n;
    if (st == MCP_OK) st = evaluate_policy(r, best, s->final, 1, t, &one, err);
    if (st == MCP_OK) json_object_set_new(root, "recommended", one);
    return st;
}

static mcp_status store_evaluation(const mcp_study *s, int trials, const char *folder, teller *t,
                                   mcp_error *err)
{
    mcp_run   *r = NULL;
    mcp_error  trouble = {MCP_OK, ""};
    json_t    *root =
        json_pack("{s:i,s:i,s:i}", "trials", trials, "evaluate", s->evaluate, "final", s->final);
    char      *path = mcp_sprintf("%s/evaluation.json", folder);
    mcp_status st = mcp_run_open(&r, folder, &trouble, err);
    if (st == MCP_OK && trouble.status != MCP_OK) st = mcp_fail(err, trouble.status, "%s", trouble.text);
    if (st == MCP_OK && (!path || !root)) st = mcp_fail(err, MCP_ERR_MEMORY, "out of memory");
    if (st == MCP_OK) st = evaluate(s, trials, r, t, root, err);
    if (st == MCP_OK) st = mcp_json_write(path, root, err);
    json_decref(root);
    mcp_free(path);
    mcp_run_free(r);
    return st;
}

int mcp_study_is_robust(const mcp_study *s, int success, int runs, int successes, int limits)
{
    return success && !limits && successes >= s->robust * runs;
}

/* Is the run's last policy robust? Asked before every trial, so that a resumed run ends where it would have.
 */
static mcp_status found_robust(const mcp_study *s, const mcp_learner *l, teller *t, int *yes, mcp_error *err)
{
    const mcp_run      *r = l->run;
    const mcp_run_item *it = mcp_run_trial(r, mcp_run_trials(r));
    mcp_evaluation      plant = {0};
    *yes = 0;
    if (!s->until_robust || !it || !it->info.success) return MCP_OK;
    const mcp_evaluate_settings q = {.trial = it->info.number,
                                     .runs = s->evaluate,
                                     .seed = r->seed,
                                     .progress = evaluate_tick,
                                     .progress_context = t};
    mcp_status st = mcp_evaluate_plant(&plant, r->system, it->theta, &q, NULL, err);
    if (st == MCP_OK) *yes = mcp_study_is_robust(s, 1, plant.runs, plant.successes, plant.limits);
    mcp_evaluation_clear(&plant);
    return st;
}

static mcp_status learn(const mcp_study *s, int variant, int seed, const char *folder, teller *t,
                        mcp_error *err)
{
    const mcp_variant *v = &s->variant[variant];
    mcp_task          *task = NULL;
    mcp_learner       *l = NULL;
    mcp_learn_settings q;
    mcp_status         st = mcp_task_load(&task, v->task, v->set, v->sets, err);
    if (st != MCP_OK) return st;
    mcp_learn_settings_default(&q);
    q.seed             = (uint64_t)seed;
    q.threads          = 1;
    q.algorithm        = v->algorithm;
    q.folder           = folder;
    q.resume           = 1;
    q.trials           = v->trials;
    q.progress         = t->progress;
    q.progress_context = t->context;
    st                 = mcp_learner_create(&l, task, &q, err);
    for (int found = 0; st == MCP_OK && mcp_learner_trials(l) < v->trials;) {
        if ((st = found_robust(s, l, t, &found, err)) != MCP_OK || found) break;
        st = mcp_learner_trial(l, NULL, err);
    }
    int recommended;
    if (st == MCP_OK) st = mcp_learner_recommend(l, &recommended, err);
    if (l)
        mcp_learner_close(l, mcp_run_state_after(st), NULL);
    mcp_learner_free(l);
    mcp_task_free(task);
    return st;
}

static void note_failure(const char *folder, const mcp_error *err)
{
    char *path = mcp_sprintf("%s.failed.txt", folder);
    if (path && err) mcp_file_write(path, err->text, strlen(err->text), NULL);
    else if (path) unlink(path);
    mcp_free(path);
}

mcp_run_outcome_kind mcp_study_work(const mcp_study *s, const char *out, int i,
                                    mcp_learn_progress_fn *progress, void *context, mcp_error *err)
{
    mcp_error            own = {MCP_OK, ""};
    mcp_lock            *claim = NULL;
    teller               t = {progress, context};
    mcp_run_outcome_kind kind = MCP_RUN_FAILED;
    int                  variant, seed;
    mcp_study_at(s, i, &variant, &seed);
    char      *folder = mcp_study_folder(s, out, i), *desk = folder ? mcp_sprintf("%s.claim", folder) : NULL;
    mcp_status st = desk ? mcp_folder_make(desk, &own) : mcp_fail(&own, MCP_ERR_MEMORY, "out of memory");
    if (st == MCP_OK && mcp_lock_take(&claim, desk, NULL) != MCP_OK) kind = MCP_RUN_TAKEN;
    else if (st == MCP_OK && mcp_study_done(s, out, i)) kind = MCP_RUN_DONE; /* somebody was faster */
    else {
        if (st == MCP_OK) st = learn(s, variant, seed, folder, &t, &own);
        if (st == MCP_OK) st = store_evaluation(s, s->variant[variant].trials, folder, &t, &own);
        kind = st == MCP_OK ? MCP_RUN_DONE : st == MCP_ERR_STOPPED ? MCP_RUN_STOPPED : MCP_RUN_FAILED;
        if (folder && kind != MCP_RUN_STOPPED) note_failure(folder, kind == MCP_RUN_FAILED ? &own : NULL);
    }
    if (kind == MCP_RUN_DONE && claim) { /* nobody will ask again */
        char *file = mcp_sprintf("%s/lock", desk);
        if (file) unlink(file);
        mcp_free(file);
        rmdir(desk);
    }
    mcp_lock_free(claim);
    mcp_free(desk);
    mcp_free(folder);
    if (err) *err = own;
    return kind;
}
