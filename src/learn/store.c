/* store.c - the files of one trial, to and from disk. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/csv.h"
#include "io/file.h"
#include "learn/run_folder.h"
#include "learn/store.h"
#include "math/arena.h"
#include "plant/plausible.h"

static mcp_status no_memory(const mcp_run_item *it, const char *what, mcp_error *err)
{
    return mcp_fail(err, MCP_ERR_MEMORY, "%s: out of memory for its %s", it->folder ? it->folder : "trial",
                    what);
}

mcp_status mcp_store_json(const mcp_run_item *it, const char *name, json_t *root, mcp_error *err)
{
    char      *path = mcp_sprintf("%s/%s", it->folder, name);
    mcp_status st = path ? mcp_json_write_in(it->own, path, root, err) : no_memory(it, name, err);
    json_decref(root);
    mcp_free(path);
    return st;
}

mcp_status mcp_load_json(const mcp_run_item *it, const char *name, json_t **out, mcp_error *err)
{
    *out = NULL;
    char *path = mcp_sprintf("%s/%s", it->folder, name);
    if (!path) return no_memory(it, name, err);
    mcp_status st = mcp_file_exists(path) ? mcp_json_read(out, path, err) : MCP_OK;
    mcp_free(path);
    return st;
}

/* mcp_learn_info, a line per number: which file it is in, by which key. */
typedef enum { WHOLE, REAL, TEXT } kind;
static const struct {
    mcp_info_file file;
    const char   *key;
    kind          type;
    size_t        offset;
} fields[] = {
    {MCP_IN_OPTIMISE, "data", WHOLE, offsetof(mcp_learn_info, data)},
    {MCP_IN_OPTIMISE, "outcome", WHOLE, offsetof(mcp_learn_info, outcome)},
    {MCP_IN_OPTIMISE, "steps", WHOLE, offsetof(mcp_learn_info, steps)},
    {MCP_IN_OPTIMISE, "restarts", WHOLE, offsetof(mcp_learn_info, restarts)},
    {MCP_IN_OPTIMISE, "cost_first", REAL, offsetof(mcp_learn_info, cost_first)},
    {MCP_IN_OPTIMISE, "cost_last", REAL, offsetof(mcp_learn_info, cost_last)},
    {MCP_IN_OPTIMISE, "check_cosine", REAL, offsetof(mcp_learn_info, check_cosine)},
    {MCP_IN_OPTIMISE, "check_first", REAL, offsetof(mcp_learn_info, check_first)},
    {MCP_IN_OPTIMISE, "tolerance", REAL, offsetof(mcp_learn_info, tolerance)},
    {MCP_IN_OPTIMISE, "model_s", REAL, offsetof(mcp_learn_info, model_s)},
    {MCP_IN_OPTIMISE, "optimise_s", REAL, offsetof(mcp_learn_info, optimise_s)},
    {MCP_IN_FORECAST, "cost", REAL, offsetof(mcp_learn_info, forecast_cost)},
    {MCP_IN_FORECAST, "cost_std", REAL, offsetof(mcp_learn_info, forecast_std)},
    {MCP_IN_FORECAST, "success", REAL, offsetof(mcp_learn_info, forecast_success)},
    {MCP_IN_FORECAST, "limit", REAL, offsetof(mcp_learn_info, forecast_limit)},
    {MCP_IN_FORECAST, "forecast_s", REAL, offsetof(mcp_learn_info, forecast_s)},
    {MCP_IN_RESULT, "samples", WHOLE, offsetof(mcp_learn_info, samples)},
    {MCP_IN_RESULT, "cost", REAL, offsetof(mcp_learn_info, cost)},
    {MCP_IN_RESULT, "metric", REAL, offsetof(mcp_learn_info, metric)},
    {MCP_IN_RESULT, "success", WHOLE, offsetof(mcp_learn_info, success)},
    {MCP_IN_RESULT, "limit", WHOLE, offsetof(mcp_learn_info, limit)},
    {MCP_IN_RESULT, "ended", WHOLE, offsetof(mcp_learn_info, ended)},
    {MCP_IN_RESULT, "reason", TEXT, offsetof(mcp_learn_info, reason)},
    {MCP_IN_RESULT, "coverage", REAL, offsetof(mcp_learn_info, coverage)},
    {MCP_IN_RESULT, "estimate_s", REAL, offsetof(mcp_learn_info, estimate_s)},
    {MCP_IN_RESULT, "plant_s", REAL, offsetof(mcp_learn_info, plant_s)},
};
enum { FIELDS = (int)(sizeof fields / sizeof *fields) };

json_t *mcp_info_to_json(mcp_info_file file, const mcp_learn_info *info)
{
    json_t *root = json_object();
    for (int i = 0; i < FIELDS; i++) {
        const char *at = (const char *)info + fields[i].offset;
        if (fields[i].file != file) continue;
        json_t *v = fields[i].type == WHOLE  ? json_integer(*(const int *)(const void *)at)
                    : fields[i].type == REAL ? mcp_json_number(*(const double *)(const void *)at)
                                             : mcp_json_text(at);
        mcp_json_set(&root, fields[i].key, v);
    }
    return root;
}

void mcp_info_from_json(mcp_info_file file, const json_t *root, mcp_learn_info *info)
{
    for (int i = 0; i < FIELDS; i++) {
        char *at = (char *)info + fields[i].offset;
        if (fields[i].file != file) continue;
        if (fields[i].type == WHOLE) *(int *)(void *)at = mcp_json_get_int(root, fields[i].key, 0);
        else if (fields[i].type == REAL)
            *(double *)(void *)at = mcp_json_get_double(root, fields[i].key, NAN);
        else snprintf(at, sizeof info->reason, "%s", mcp_json_get_text(root, fields[i].key, ""));
    }
}

/* trial.json, trial.csv */

typedef struct {
    const char *prefix;
    int         count;
    double     *value; /* [sample][count] */
    int         kind;  /* 0 state, 1 channel, 2 input */
} column_group;

enum { GROUPS = 5, MOST_COLUMNS = 2 + 3 * MCP_MAX_STATE + 2 * MCP_MAX_INPUT };

static void trial_groups(const mcp_trial *t, column_group g[GROUPS])
{
    g[0] = (column_group){"measured", t->ny, t->measured, 1};
    g[1] = (column_group){"observed", t->nx, t->observed, 0};
    g[2] = (column_group){"commanded", t->nu, t->input, 2};
    g[3] = (column_group){"applied", t->nu, t->applied, 2};
    g[4] = (column_group){"truth", t->nx, t->truth, 0};
}

static const char *signal_name(const mcp_task *task, int kind_, int i)
{
    return kind_ == 0 ? task->state[i] : kind_ == 1 ? task->measured[i].name : task->input[i].name;
}

static void free_names(char **name, int n)
{
    for (int i = 0; i < n; i++) mcp_free(name[i]);
}

static mcp_status write_trial_csv(const mcp_run *r, const mcp_run_item *it, const char *path, mcp_error *err)
{
    const mcp_trial *t = it->trial;
    column_group     g[GROUPS];
    char            *name[MOST_COLUMNS] = {0};
    int              columns = 0, ok = 1;
    trial_groups(t, g);
    name[columns++] = mcp_strdup("t");
    for (int k = 0; k < GROUPS; k++)
        for (int i = 0; i < g[k].count; i++)
            name[columns++] = mcp_sprintf("%s.%s", g[k].prefix, signal_name(r->task, g[k].kind, i));
    name[columns++] = mcp_strdup("wall");
    for (int c = 0; c < columns; c++) ok &= name[c] != NULL;

    double *table = mcp_calloc((size_t)(t->samples + 1) * (size_t)columns, sizeof *table), *to = table;
    for (int s = 0; table && s < t->samples; s++) {
        *to++ = t->t[s];
        for (int k = 0; k < GROUPS; k++)
            for (int i = 0; i < g[k].count; i++) *to++ = g[k].value[s * g[k].count + i];
        *to++ = t->wall[s];
    }
    mcp_status st = !ok || !table ? no_memory(it, "data", err)
                                  : mcp_csv_write_in(it->own, path, columns, (const char *const *)name,
                                                     t->samples, table, err);
    free_names(name, columns);
    mcp_free(table);
    return st;
}

/* trial.json, then trial.csv, which says that both are there. A folder that was moved still gets both. */
static mcp_status store_pair(const mcp_run *r, const mcp_run_item *it, const char *name, mcp_error *err)
{
    const mcp_trial  *t = it->trial;
    const mcp_timing *c = &t->timing;
    char              json[64];
    json_t *root =
        json_pack("{s:i, s:b, s:b, s:o, s:f, s:{s:b, s:i, s:f, s:f, s:f, s:f, s:f}}", "samples", t->samples,
                  "explored", t->explored, "ended", t->ended, "reason", mcp_json_text(t->reason), "rate",
                  r->task->rate, "timing", "paced", c->paced, "misses", c->misses, "period_mean",
                  c->period_mean, "period_std", c->period_std, "late_max", c->late_max, "answer_mean",
                  c->answer_mean, "answer_max", c->answer_max);
    snprintf(json, sizeof json, "%s.json", name);
    mcp_status st = mcp_store_json(it, json, root, err);
    if (st != MCP_OK && mcp_lock_check(it->own, NULL) == MCP_OK) return st;
    char      *path = mcp_sprintf("%s/%s.csv", it->folder, name);
    mcp_status second = path ? write_trial_csv(r, it, path, st == MCP_OK ? err : NULL)
                             : no_memory(it, "data", err);
    mcp_free(path);
    return st != MCP_OK ? st : second;
}

size_t mcp_trial_room(const mcp_system *s)
{
    enum { NUMBER = 26 }; /* -1.2345678901234567e-308, */
    size_t columns = (size_t)(2 + 3 * s->nx + s->ny + 2 * s->nu);
    return ((size_t)s->steps + 2) * columns * NUMBER + (1 << 16);
}

/* What was measured is not measured twice: where the run's folder takes no more, it goes to a place that
 * does. err holds why; the sentence gets where. */
static void spool(const mcp_run *r, const mcp_run_item *it, const char *name, mcp_error *err)
{
    const char *place[] = {getenv("TMPDIR"), "/tmp", "/var/tmp", "/dev/shm"};
    mcp_error   why = {MCP_OK, ""};
    if (err) why = *err;
    for (size_t i = 0; i < sizeof place / sizeof *place; i++) {
        mcp_run_item there = *it;
        there.own    = NULL;
        there.folder = place[i] && place[i][0] ? mcp_sprintf("%s/mcpilco-trial-XXXXXX", place[i]) : NULL;
        int done = there.folder && mkdtemp(there.folder) && store_pair(r, &there, name, NULL) == MCP_OK;
        if (done)
            mcp_fail(err, MCP_ERR_IO,
                     "the trial that was measured is kept in %s: make room, copy its files to %s, then "
                     "--resume (%.*s)",
                     there.folder, it->folder, 120, why.text);
        else if (there.folder) rmdir(there.folder);
        mcp_free(there.folder);
        if (done) return;
    }
}

/* 1: the files are there, if in a folder that was moved. */
static int is_kept(const mcp_run_item *it, const char *name)
{
    char       *path = mcp_sprintf("%s/%s.csv", it->folder, name);
    const char *inside = path;
    int         there = path && mcp_lock_check(it->own, NULL) != MCP_OK &&
                faccessat(mcp_lock_place(it->own, &inside), inside, F_OK, 0) == 0;
    mcp_free(path);
    return there;
}

mcp_status mcp_store_trial(const mcp_run *r, const mcp_run_item *it, const char *name, mcp_error *err)
{
    if (!it->folder) return MCP_OK;
    mcp_error  own = {MCP_OK, ""}, *why = err ? err : &own;
    mcp_status st = store_pair(r, it, name, why);
    if (st == MCP_ERR_IO && it->trial->samples > 0 && !is_kept(it, name)) spool(r, it, name, why);
    return st;
}

/* Copies the named columns; wall and truth may be missing. */
static mcp_status read_columns(const mcp_run *r, const char *path, const mcp_csv *c, mcp_trial *t,
                               mcp_error *err)
{
    column_group g[GROUPS];
    char         name[160];
    int          time = mcp_csv_find(c, "t"), wall = mcp_csv_find(c, "wall");
    if (time < 0) return mcp_fail(err, MCP_ERR_IO, "%s: it has no column t", path);
    if (c->rows > t->capacity)
        return mcp_fail(err, MCP_ERR_IO, "%s: %d samples where a trial of this task has at most %d", path,
                        c->rows, t->capacity);
    t->samples = c->rows;
    for (int s = 0; s < c->rows; s++) {
        t->t[s] = c->value[s * c->columns + time];
        t->wall[s] = wall < 0 ? NAN : c->value[s * c->columns + wall];
    }
    trial_groups(t, g);
    for (int k = 0; k < GROUPS; k++)
        for (int i = 0; i < g[k].count; i++) {
            snprintf(name, sizeof name, "%s.%.120s", g[k].prefix, signal_name(r->task, g[k].kind, i));
            int column = mcp_csv_find(c, name);
            if (column < 0 && g[k].value != t->truth)
                return mcp_fail(err, MCP_ERR_IO, "%s: it has no column %s", path, name);
            for (int s = 0; s < c->rows; s++)
                g[k].value[s * g[k].count + i] = column < 0 ? NAN : c->value[s * c->columns + column];
        }
    return MCP_OK;
}

/* A sample that cannot be would strand every model to come: the trial ends before it. trial.csv keeps it. */
static mcp_status cut_impossible(const mcp_run *r, mcp_run_item *it, mcp_error *err)
{
    mcp_trial *t = it->trial;
    mcp_error  why = {MCP_OK, ""};
    int        n = mcp_plausible_count(r->task, t, &why);
    if (n == t->samples) return MCP_OK;
    if (n < 3)
        return mcp_fail(err, MCP_ERR_IO,
                        "%s/trial.csv: %.300s; too little is left of this trial: remove its folder and "
                        "--resume to run it again",
                        it->folder, why.text);
    t->samples = n;
    for (int i = 0; i < t->nu; i++) t->input[(n - 1) * t->nu + i] = t->applied[(n - 1) * t->nu + i] = NAN;
    t->ended = 1;
    snprintf(t->reason, sizeof t->reason, "cut: %.100s", why.text);
    return MCP_OK;
}

mcp_status mcp_load_trial(const mcp_run *r, mcp_run_item *it, mcp_error *err)
{
    json_t    *root = NULL;
    mcp_csv   *csv = NULL;
    mcp_status st = MCP_OK;
    char      *path = mcp_sprintf("%s/trial.csv", it->folder);
    if (!path) return no_memory(it, "data", err);
    if (!mcp_file_exists(path)) goto done;
    if ((st = mcp_load_json(it, "trial.json", &root, err)) != MCP_OK) goto done;
    if (!root) {
        st = mcp_fail(err, MCP_ERR_IO, "%s/trial.json: it is missing beside trial.csv; the folder is damaged",
                      it->folder);
        goto done;
    }
    if ((st = mcp_csv_read(&csv, path, err)) != MCP_OK) goto done;
    if ((st = mcp_trial_create(&it->trial, r->task, err)) != MCP_OK) goto done;
    if ((st = read_columns(r, path, csv, it->trial, err)) != MCP_OK) goto done;

    const json_t *c = json_object_get(root, "timing");
    mcp_trial    *t = it->trial;
    t->explored = mcp_json_get_int(root, "explored", 0);
    t->ended = mcp_json_get_int(root, "ended", 0);
    snprintf(t->reason, sizeof t->reason, "%s", mcp_json_get_text(root, "reason", ""));
    t->timing =
        (mcp_timing){mcp_json_get_int(c, "paced", 0),          mcp_json_get_int(c, "misses", 0),
                     mcp_json_get_double(c, "period_mean", 0), mcp_json_get_double(c, "period_std", 0),
                     mcp_json_get_double(c, "late_max", 0),    mcp_json_get_double(c, "answer_mean", 0),
                     mcp_json_get_double(c, "answer_max", 0)};
    st = cut_impossible(r, it, err);
done:
    if (st != MCP_OK) {
        mcp_trial_free(it->trial);
        it->trial = NULL;
    }
    json_decref(root);
    mcp_csv_free(csv);
    mcp_free(path);
    return st;
}

/* states.csv */

mcp_status mcp_store_states(const mcp_run *r, const mcp_run_item *it, mcp_error *err)
{
    if (!it->folder) return MCP_OK;
    const mcp_states *s = it->states;
    const char       *name[1 + MCP_MAX_STATE] = {"t"};
    int               columns = 1 + s->nx;
    char             *path = mcp_sprintf("%s/states.csv", it->folder);
    double           *table = mcp_calloc((size_t)(s->count + 1) * (size_t)columns, sizeof *table);
    mcp_status        st = MCP_ERR_MEMORY;
    for (int i = 0; i < s->nx; i++) name[1 + i] = r->task->state[i];
    if (!path || !table) no_memory(it, "states", err);
    else {
        for (int k = 0; k < s->count; k++) {
            table[k * columns] = it->trial->t[s->first + k];
            memcpy(table + k * columns + 1, s->state + k * s->nx, (size_t)s->nx * sizeof(double));
        }
        st = mcp_csv_write_in(it->own, path, columns, name, s->count, table, err);
    }
    mcp_free(path);
    mcp_free(table);
    return st;
}

/* model.json */

mcp_status mcp_store_model(const mcp_run *r, const mcp_run_item *it, const mcp_fit *fit, mcp_error *err)
{
    if (!it->folder) return MCP_OK;
    const mcp_task *task = r->task;
    json_t         *gps = json_array();
    for (int g = 0; g < r->system->ngp; g++) {
        const mcp_kernel *k = r->system->kernel[g];
        int               n = mcp_kernel_params(k);
        json_t           *names = json_array(), *gp = json_object();
        for (int i = 0; i < n; i++) mcp_json_append(&names, json_string(mcp_kernel_param_name(k, i)));
        mcp_json_append(&names, json_string("log_noise"));
        mcp_json_set(&gp, "target", json_string(task->state[task->gp[g].state]));
        mcp_json_set(&gp, "kind",
                     json_string(task->gp[g].kind == MCP_GP_VELOCITY ? "velocity" : "change"));
        mcp_json_set(&gp, "kernel", json_string(r->system->kernel_text[g]));
        mcp_json_set(&gp, "parameters", names);
        mcp_json_set(&gp, "hyper", mcp_json_numbers(n + 1, mcp_gp_hyper(fit->gp[g])));
        if (fit->first[g])
            mcp_json_set(&gp, "first", mcp_json_numbers(n + 1, mcp_gp_hyper(fit->first[g])));
        mcp_json_set(&gp, "noise_std", mcp_json_number(exp(mcp_gp_hyper(fit->gp[g])[n])));
        mcp_json_set(&gp, "noise_floor", mcp_json_number(fit->noise_floor[g]));
        mcp_json_set(&gp, "nlml", mcp_json_number(fit->info[g].nlml));
        mcp_json_set(&gp, "evaluations", json_integer(fit->info[g].evaluations));
        mcp_json_set(&gp, "jitter", mcp_json_number(fit->info[g].jitter));
        mcp_json_append(&gps, gp);
    }
    json_t *features = json_array();
    for (int i = 0; i < r->system->nf; i++)
        mcp_json_append(&features, json_string(r->system->feature_text[i]));
    static const char *const rest[] = {"none", "used", "contradicted"};
    return mcp_store_json(it, "model.json",
                          json_pack("{s:i, s:s, s:o, s:o}", "pairs", fit->pairs->n, "rest", rest[fit->rest],
                                    "features", features, "gps", gps),
                          err);
}

mcp_status mcp_load_hyper(const mcp_run *r, int number, double **hyper, mcp_error *err)
{
    mcp_run_item *it = NULL;
    json_t       *root = NULL;
    mcp_status    st = mcp_run_item_create(&it, r, 0, number, 0, err);
    if (st != MCP_OK) return st;
    if ((st = mcp_load_json(it, "model.json", &root, err)) == MCP_OK && !root)
        st = mcp_fail(err, MCP_ERR_IO,
                      "%s/model.json: it is missing, so this trial's model cannot be rebuilt", it->folder);
    const json_t *gps = json_object_get(root, "gps");
    int sets = mcp_refinable(r->system) ? 2 : 1, ngp = r->system->ngp;
    for (int k = 0; st == MCP_OK && k < sets * ngp; k++) {
        int         g = k % ngp, n = mcp_kernel_params(r->system->kernel[g]) + 1;
        const char *list = k < ngp ? "hyper" : "first";
        hyper[k] = mcp_calloc((size_t)n, sizeof **hyper);
        if (!hyper[k]) st = no_memory(it, "model", err);
        else if (!mcp_json_get_numbers(json_array_get(gps, (size_t)g), list, n, hyper[k]))
            st = mcp_fail(err, MCP_ERR_IO,
                          "%s/model.json: GP %d has no list \"%s\" of %d numbers; the file is damaged",
                          it->folder, g + 1, list, n);
    }
    json_decref(root);
    mcp_run_item_free(it);
    return st;
}
