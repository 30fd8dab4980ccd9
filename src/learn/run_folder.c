/* run_folder.c - a run: its folder, its trials in order, read back as far as they are whole. */
#include "learn/run_folder.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "io/file.h"
#include "math/arena.h"
#include "math/text.h"
#include "mcpilco/machine.h"
#include "mcpilco/version.h"

static mcp_status no_memory(const mcp_run *r, mcp_error *err)
{
    return mcp_fail(err, MCP_ERR_MEMORY, "%s: out of memory for the run",
                    r && r->folder ? r->folder : "learn");
}

/* items */

mcp_status mcp_run_item_create(mcp_run_item **out, const mcp_run *r, int explored, int number, int make,
                               mcp_error *err)
{
    mcp_run_item *it = mcp_calloc(1, sizeof *it);
    mcp_status    st = MCP_OK;
    *out = NULL;
    if (!it) return no_memory(r, err);
    it->info = (mcp_learn_info){
        .explored = explored,
        .number = number,
        .cost_first = NAN,
        .cost_last = NAN,
        .check_cosine = NAN,
        .check_first = NAN,
        .tolerance = NAN,
        .forecast_cost = NAN,
        .forecast_std = NAN,
        .forecast_success = NAN,
        .forecast_limit = NAN,
        .cost = NAN,
        .metric = NAN,
        .coverage = NAN,
        .estimate_s = NAN,
        .model_s = NAN,
        .optimise_s = NAN,
        .forecast_s = NAN,
        .plant_s = NAN,
    };
    it->own = r->lock;
    if (r->folder) {
        it->folder = mcp_sprintf("%s/%s-%02d", r->folder, explored ? "explore" : "trial", number);
        if (!it->folder) st = no_memory(r, err);
        else if (make) st = mcp_folder_make_in(r->lock, it->folder, err);
    }
    if (st == MCP_OK) *out = it;
    else mcp_run_item_free(it);
    return st;
}

void mcp_run_item_free(mcp_run_item *it)
{
    if (!it) return;
    mcp_trial_free(it->trial);
    mcp_states_free(it->states);
    mcp_forecast_free(it->forecast);
    mcp_free(it->theta);
    mcp_free(it->hyper);
    mcp_free(it->folder);
    mcp_free(it);
}

/* observer={type: kalman, gains: {..}}: what whoever reads the task later needs to know. */
static mcp_status write_observer(mcp_run *r, mcp_error *err)
{
    const mcp_task *t = r->task;
    mcp_text        out = {0};
    mcp_text_add(&out, "observer={type: kalman, gains: {");
    for (int i = 0; i < mcp_task_seen(t); i++)
        mcp_text_add(&out, "%s%s: [%.17g, %.17g]", i ? ", " : "", t->seen[i].name,
                     r->system->choice[i].gain[0], r->system->choice[i].gain[1]);
    mcp_text_add(&out, "}}");
    mcp_free(r->observer);
    mcp_free(r->override);
    r->observer = NULL;
    r->override = mcp_calloc((size_t)t->overrides + 1, sizeof *r->override);
    mcp_status st = mcp_text_take(&out, &r->observer, err);
    if (st != MCP_OK) return st;
    if (!r->override) return no_memory(r, err);
    for (int i = 0; i < t->overrides; i++) r->override[i] = t->override[i];
    r->override[t->overrides] = r->observer;
    return MCP_OK;
}

static mcp_status settle(mcp_run *r, const mcp_run_item *last, mcp_error *err)
{
    int         n = r->explored + 1;
    mcp_trial **trial = mcp_calloc((size_t)n, sizeof(mcp_trial *));
    if (!trial) return no_memory(r, err);
    for (int i = 0; i < n; i++) trial[i] = i + 1 < n ? r->item[i]->trial : last->trial;
    mcp_status st = mcp_observer_settle(r->system, n, trial, err);
    mcp_free(trial);
    return st == MCP_OK ? write_observer(r, err) : st;
}

mcp_status mcp_run_add(mcp_run *r, mcp_run_item *it, mcp_error *err)
{
    mcp_run_item **more = mcp_realloc(r->item, ((size_t)r->items + 1) * sizeof(mcp_run_item *));
    mcp_status     st;
    if (!more) return no_memory(r, err);
    r->item = more;
    if (r->task->observer.type == MCP_OBSERVER_AUTO && it->info.explored && it->trial &&
        r->explored + 1 == r->task->explore.trials && (st = settle(r, it, err)) != MCP_OK)
        return st;
    r->item[r->items++] = it;
    r->explored += it->info.explored;
    return MCP_OK;
}

int mcp_run_trials(const mcp_run *r)
{
    return r->items - r->explored;
}

mcp_run_item *mcp_run_trial(const mcp_run *r, int number)
{
    return number >= 1 && number <= mcp_run_trials(r) ? r->item[r->explored + number - 1] : NULL;
}

double *mcp_run_outcome(const mcp_run_item *it)
{
    const mcp_trial *t = it->trial;
    double          *x = mcp_calloc((size_t)t->samples + 1, (size_t)t->nx * sizeof *x);
    for (int s = 0; x && s < t->samples; s++) {
        int            k = it->states ? s - it->states->first : -1;
        const double  *smoothed = k >= 0 && k < it->states->count ? it->states->state + k * t->nx : NULL;
        for (int i = 0; i < t->nx; i++) {
            double truth = t->truth[s * t->nx + i];
            x[s * t->nx + i] = !isnan(truth) ? truth : smoothed ? smoothed[i] : t->observed[s * t->nx + i];
        }
    }
    return x;
}

double *mcp_run_modelled(const mcp_system *s, const mcp_run_item *it)
{
    double      *x = mcp_run_outcome(it);
    const size_t nx = (size_t)s->nx;
    for (int g = 0; x && g < s->ngp; g++) {
        const mcp_task_gp *gp = &s->task->gp[g];
        if (gp->kind != MCP_GP_VELOCITY || !mcp_is_difference(s->task, gp->state)) continue;
        for (size_t k = 1; k < (size_t)it->trial->samples; k++)
            x[k * nx + (size_t)gp->state] =
                (x[k * nx + (size_t)gp->position] - x[(k - 1) * nx + (size_t)gp->position]) / s->ts;
    }
    return x;
}

mcp_status mcp_run_model(mcp_fit **out, const mcp_run *r, int number, mcp_pool *pool, mcp_error *err)
{
    int          n = r->explored + number - 1;
    double     **hyper = mcp_calloc(2 * (size_t)r->system->ngp + 1, sizeof *hyper);
    mcp_trial  **trial = mcp_calloc((size_t)n + 1, sizeof *trial);
    mcp_states **states = mcp_calloc((size_t)n + 1, sizeof *states);
    mcp_status   st = hyper && trial && states ? MCP_OK : no_memory(r, err);
    *out = NULL;
    if (st == MCP_OK && (number < 1 || n > r->items))
        st = mcp_fail(err, MCP_ERR_ARG, "%s: there is no model of trial %d; the run has %d policy trials",
                      r->folder ? r->folder : "run", number, mcp_run_trials(r));
    const mcp_run_item *it = mcp_run_trial(r, number);
    if (st == MCP_OK)
        st = it && it->hyper ? mcp_fit_hyper_split(it->hyper, r->system, hyper, err)
                             : mcp_load_hyper(r, number, hyper, err);
    for (int i = 0; st == MCP_OK && i < n; i++) {
        trial[i] = r->item[i]->trial;
        states[i] = r->item[i]->states;
    }
    mcp_fit_data data = {n, trial, states, hyper, r->seed, (uint32_t)number, NULL};
    if (st == MCP_OK) st = mcp_fit_create(out, r->system, &data, pool, err);
    for (int g = 0; hyper && g < 2 * r->system->ngp; g++) mcp_free(hyper[g]);
    mcp_free(hyper);
    mcp_free(trial);
    mcp_free(states);
    return st;
}

/* creating */

mcp_status mcp_run_create(mcp_run **out, const mcp_task *task, const mcp_learn_settings *s, mcp_error *err)
{
    mcp_status st;
    mcp_run   *r = mcp_calloc(1, sizeof *r);
    *out = NULL;
    if (!r) return no_memory(NULL, err);
    r->task = task;
    r->seed = s->seed;
    r->wanted = s->trials;
    r->folder = s->folder ? mcp_strdup(s->folder) : NULL;
    st = s->folder && !r->folder ? no_memory(NULL, err) : MCP_OK;
    for (size_t n = r->folder ? strlen(r->folder) : 0; n > 1 && r->folder[n - 1] == '/'; n--)
        r->folder[n - 1] = '\0';
    if (st == MCP_OK) {
        r->algorithm = mcp_algorithm_find(s->algorithm      ? s->algorithm
                                          : task->algorithm ? task->algorithm
                                                            : "mc-pilco4pms",
                                          err);
        if (!r->algorithm) st = MCP_ERR_ARG;
    }
    if (st == MCP_OK) st = mcp_system_create(&r->system, task, err);
    if (st == MCP_OK) r->system->white_noise = r->algorithm->white_noise;
    if (st == MCP_OK && r->algorithm->check) st = r->algorithm->check(r->system, err);
    if (st == MCP_OK) r->params = mcp_program_params(r->system->controller);
    if (st == MCP_OK) *out = r;
    else mcp_run_free(r);
    return st;
}

void mcp_run_free(mcp_run *r)
{
    if (!r) return;
    for (int i = 0; i < r->items; i++) mcp_run_item_free(r->item[i]);
    mcp_free(r->item);
    mcp_free(r->observer);
    mcp_free(r->override);
    mcp_free(r->status);
    mcp_free(r->folder);
    json_decref(r->notes);
    mcp_system_free(r->system);
    mcp_task_free(r->own_task);
    mcp_free(r);
}

/* run.json */

static json_t *machine(void)
{
    struct utsname u;
    mcp_machine    m;
    mcp_machine_info(&m, sizeof m);
    if (uname(&u)) memset(&u, 0, sizeof u);
    return json_pack("{s:s, s:s, s:s, s:i, s:s, s:s}", "system", u.sysname, "release", u.release, "processor",
                     u.machine, "cores", m.cores, "isa", m.isa, "blas", m.blas);
}

static json_t *settings(const mcp_task *task)
{
    char *text;
    if (!task->tree) return json_null(); /* made by a program, not read from a file */
    if (mcp_task_dump(task, &text, NULL) != MCP_OK) return NULL;
    json_t *root = mcp_json_parse(text, NULL);
    mcp_task_text_free(text);
    return root;
}

/* Relative paths in the task stay valid wherever the run is looked at from. */
static json_t *whole_path(const char *file)
{
    char    real[PATH_MAX];
    json_t *v = file && realpath(file, real) ? mcp_json_text(real) : mcp_json_text(file ? file : "");
    return v;
}

/* 1: the file is there with this text. */
static int holds(const char *path, const char *text)
{
    char *old = NULL;
    int same = mcp_file_exists(path) && mcp_file_read(path, &old, NULL, NULL) == MCP_OK && !strcmp(old, text);
    mcp_free(old);
    return same;
}

mcp_status mcp_run_note(mcp_run *r, const char *status, mcp_error *err)
{
    if (!r->folder) return MCP_OK;
    mcp_status st = MCP_OK;
    char      *path = mcp_sprintf("%s/run.json", r->folder), *task = mcp_sprintf("%s/task.yaml", r->folder);
    if (!path || !task) st = no_memory(r, err);
    else if (!holds(task, r->task->source))
        st = mcp_file_write_in(r->lock, task, r->task->source, strlen(r->task->source), err);
    if (st == MCP_OK) {
        json_t *root = json_object(), *override = json_array();
        for (int i = 0; i < r->task->overrides; i++)
            mcp_json_append(&override, mcp_json_text(r->task->override[i]));
        mcp_json_set(&root, "format", json_integer(1));
        mcp_json_set(&root, "version", json_string(MCP_VERSION));
        mcp_json_set(&root, "status", json_string(status));
        mcp_json_set(&root, "task", mcp_json_text(r->task->name));
        mcp_json_set(&root, "task_file",
                     r->notes ? json_incref(json_object_get(r->notes, "task_file"))
                              : whole_path(r->task->file));
        mcp_json_set(&root, "seed", json_integer((json_int_t)r->seed));
        mcp_json_set(&root, "algorithm", json_string(r->algorithm->name));
        mcp_json_set(&root, "trials", json_integer(r->wanted));
        mcp_json_set(&root, "overrides", override);
        mcp_json_set(&root, "machine", machine());
        mcp_json_set(&root, "settings", settings(r->task));
        st = mcp_json_write_in(r->lock, path, root, err);
        json_decref(st == MCP_OK ? r->notes : root);
        if (st == MCP_OK) r->notes = root;
    }
    mcp_free(path);
    mcp_free(task);
    return st;
}

/* reading back */

/* Whole numbers of files that somebody may have changed: what counts or indexes something is within it. */
static void make_sane(const mcp_run *r, mcp_run_item *it)
{
    mcp_learn_info *i = &it->info;
    i->samples = it->trial->samples;
    if (i->limit < 0 || i->limit > r->task->limits) i->limit = 0;
    if (i->outcome < 0 || i->outcome > MCP_STUCK) i->outcome = 0;
    if (i->steps < 0) i->steps = 0;
    if (i->restarts < 0) i->restarts = 0;
    if (i->data < 0) i->data = 0;
    i->success = i->success != 0;
    i->ended = i->ended != 0;
    mcp_text_plain(i->reason);
    mcp_text_plain(it->trial->reason);
}

/* Finished means: trial.csv is there. What a kill left out after it (states, result) is for the learner to
 * make again. */
static mcp_status load_item(mcp_run *r, int explored, int number, mcp_run_item **out, mcp_error *err)
{
    mcp_run_item *it;
    mcp_status    st = mcp_run_item_create(&it, r, explored, number, 0, err);
    *out = NULL;
    if (st != MCP_OK) return st;
    if ((st = mcp_load_trial(r, it, err)) != MCP_OK || !it->trial) goto done;
    it->info.samples = it->trial->samples;
    if (!explored) {
        mcp_error lost = {.status = MCP_OK};
        if ((st = mcp_load_policy(r, it, err)) != MCP_OK) goto done;
        st = mcp_load_forecast(r, it, &lost);
        if (it->theta && !it->forecast && r->own_task) { /* who only looks can do without it */
            if (st == MCP_OK) mcp_fail(&lost, MCP_ERR_IO, "%s: forecast.json is missing", it->folder);
            r->missing = lost;
        } else if (st != MCP_OK) {
            mcp_fail(err, st, "%s", lost.text);
            goto done;
        } else if (!it->theta || !it->forecast) {
            st = mcp_fail(err, MCP_ERR_IO, "%s: trial.csv is there but %s is missing; the folder is damaged",
                          it->folder, it->theta ? "forecast.json" : "policy.json");
            goto done;
        }
    }
    if ((st = mcp_load_result(r, it, err)) != MCP_OK) goto done;
    make_sane(r, it);
    if ((st = mcp_estimate_states(&it->states, r->system, it->trial, err)) != MCP_OK) goto done;
    *out = it;
    it = NULL;
done:
    mcp_run_item_free(it);
    return st;
}

/* A trial that is there although one before it is not: going on would measure the missing one anew, and mix
 * what was learned from different data. */
static mcp_status no_hole(const mcp_run *r, int explored, int number, mcp_error *err)
{
    mcp_status st = MCP_OK;
    for (int kind = explored; kind >= 0 && st == MCP_OK; kind--)
        for (int k = kind == explored ? number + 1 : 1, end = k + 20; k < end && st == MCP_OK; k++) {
            const char *word = kind ? "explore" : "trial";
            char       *path = mcp_sprintf("%s/%s-%02d/trial.csv", r->folder, word, k);
            if (!path) st = no_memory(r, err);
            else if (mcp_file_exists(path))
                st = mcp_fail(err, MCP_ERR_IO,
                              "%s/%s-%02d/trial.csv is missing, but %s-%02d, which came after it, is there; "
                              "the folder is damaged: bring it back, or move everything from there on away",
                              r->folder, explored ? "explore" : "trial", number, word, k);
            mcp_free(path);
        }
    return st;
}

mcp_status mcp_run_load(mcp_run *r, mcp_error *err)
{
    mcp_run_item *it;
    mcp_status    st;
    for (int explored = 1; explored >= 0; explored--)
        for (int number = 1;; number++) {
            if (explored && number > r->task->explore.trials) break;
            if ((st = load_item(r, explored, number, &it, err)) != MCP_OK) return st;
            if (!it && (st = no_hole(r, explored, number, err)) != MCP_OK) return st;
            if (!it) break;
            if ((st = mcp_run_add(r, it, err)) != MCP_OK) {
                mcp_run_item_free(it);
                return st;
            }
        }
    return MCP_OK;
}

/* The task as it was loaded: its text, and the settings that run.json notes. */
static mcp_status open_task(mcp_task **out, const char *folder, const json_t *notes,
                            const mcp_registry *registry, const mcp_texts *more, mcp_error *err)
{
    const json_t   *list = json_object_get(notes, "overrides");
    size_t          count = json_array_size(list), all = count + (size_t)more->count;
    char           *path = mcp_sprintf("%s/task.yaml", folder), *text = NULL;
    const char     *name = mcp_json_get_text(notes, "task_file", NULL);
    const char    **override = mcp_calloc(all + 1, sizeof *override);
    mcp_task_source source;
    mcp_status      st = path && override ? mcp_file_read(path, &text, NULL, err)
                                          : mcp_fail(err, MCP_ERR_MEMORY, "%s: out of memory", folder);
    for (size_t i = 0; st == MCP_OK && i < count; i++)
        if (!(override[i] = json_string_value(json_array_get(list, i))))
            st = mcp_fail(err, MCP_ERR_IO,
                          "%s/run.json: setting %zu of its \"overrides\" is not a text; the file is damaged",
                          folder, i + 1);
    for (int i = 0; st == MCP_OK && i < more->count; i++) override[count + (size_t)i] = more->text[i];
    mcp_task_source_default(&source);
    source.file = name && *name ? name : path;
    source.text = text;
    source.overrides = override;
    source.override_count = (int)all;
    source.registry = registry;
    if (st == MCP_OK) st = mcp_task_read(out, &source, err);
    mcp_free(override);
    mcp_free(text);
    mcp_free(path);
    return st;
}

mcp_status mcp_run_explore(const mcp_run *r, double *u, mcp_error *err)
{
    const mcp_trial *last = r->items ? r->item[r->items - 1]->trial : NULL;
    double           lasted = last && last->ended ? last->samples / r->task->rate : 0.0;
    return mcp_explore_inputs(r->task, r->seed, (uint32_t)r->items, lasted, u, err);
}

int mcp_run_is_empty(const char *folder)
{
    int empty = 1;
    for (int explored = 0; explored < 2; explored++) {
        char *path = mcp_sprintf("%s/%s-01/trial.csv", folder, explored ? "explore" : "trial");
        empty &= path && !mcp_file_exists(path);
        mcp_free(path);
    }
    return empty;
}

mcp_status mcp_run_origin_read(mcp_run_origin *out, const char *folder, const mcp_texts *more, mcp_error *err)
{
    json_t    *notes = NULL;
    char      *path = mcp_sprintf("%s/run.json", folder);
    mcp_status st = path ? mcp_json_read(&notes, path, err) : no_memory(NULL, err);
    *out = (mcp_run_origin){.task = NULL};
    if (st == MCP_OK) st = open_task(&out->task, folder, notes, NULL, more, err);
    if (st == MCP_OK) {
        out->seed = (uint64_t)json_integer_value(json_object_get(notes, "seed"));
        out->trials = mcp_json_get_int(notes, "trials", 0);
        snprintf(out->algorithm, sizeof out->algorithm, "%s", mcp_json_get_text(notes, "algorithm", ""));
    }
    json_decref(notes);
    mcp_free(path);
    return st;
}

mcp_status mcp_run_open(mcp_run **out, const char *folder, mcp_error *trouble, mcp_error *err)
{
    return mcp_run_open_with(out, folder, NULL, trouble, err);
}

mcp_status mcp_run_open_with(mcp_run **out, const char *folder, const mcp_registry *registry,
                             mcp_error *trouble, mcp_error *err)
{
    json_t     *notes = NULL;
    mcp_task   *task = NULL;
    mcp_run    *r = NULL;
    mcp_status  st;
    *out = NULL;
    if (trouble) *trouble = (mcp_error){.status = MCP_OK};
    char *path = mcp_sprintf("%s/run.json", folder);
    if (!path) return no_memory(NULL, err);
    if (!mcp_file_exists(path)) {
        st = mcp_fail(err, MCP_ERR_IO,
                      "%s: this is not a run folder (it has no run.json); mcpilco learn makes them", folder);
        goto done;
    }
    if ((st = mcp_json_read(&notes, path, err)) != MCP_OK) goto done;
    if ((st = open_task(&task, folder, notes, registry, &(mcp_texts){NULL, 0}, err)) != MCP_OK) goto done;

    mcp_learn_settings s;
    mcp_learn_settings_default(&s);
    s.folder = folder;
    s.seed = (uint64_t)json_integer_value(json_object_get(notes, "seed"));
    s.trials = mcp_json_get_int(notes, "trials", 0);
    s.algorithm = mcp_json_get_text(notes, "algorithm", NULL);
    if ((st = mcp_run_create(&r, task, &s, err)) != MCP_OK) goto done;
    r->own_task = task;
    task = NULL;
    r->status = mcp_strdup(mcp_json_get_text(notes, "status", "unknown"));
    r->notes = json_incref(notes);
    mcp_error wrong = {.status = MCP_OK};
    mcp_run_load(r, &wrong);
    if (trouble) *trouble = wrong.status != MCP_OK ? wrong : r->missing;
    *out = r;
done:
    if (st != MCP_OK) mcp_run_free(r);
    mcp_task_free(task);
    json_decref(notes);
    mcp_free(path);
    return st;
}
