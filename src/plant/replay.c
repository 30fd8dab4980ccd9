/* replay.c - a plant that plays back recorded trials, one after another: what was measured then is measured
 * now, and the inputs recorded then count as applied, whatever is commanded. The file (or a pattern such as
 * data/trial-*.csv: sorted by name) is CSV; a new trial starts with a new file, when the column t goes back
 * or when the column trial changes. Columns: t (s); every measured channel by its name or as measured.NAME;
 * every input as applied.NAME, commanded.NAME or NAME; optionally truth.NAME. */
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/csv.h"
#include "math/arena.h"
#include "plant/plant_parts.h"
#include "plant/path.h"

typedef struct {
    int    files;
    int    rows, row;  /* rows of the trial that plays, next row in it */
    int    file, from; /* which file, first row of the trial           */
    int    started;
    const mcp_system *system;
    mcp_csv         **table;
    char            **path;
} replay;

static int column(const mcp_csv *t, const char *prefix, const char *name)
{
    char full[160];
    snprintf(full, sizeof full, "%s%s", prefix, name);
    return mcp_csv_find(t, full);
}

static int measured_column(const mcp_csv *t, const char *name)
{
    int c = column(t, "measured.", name);
    return c >= 0 ? c : column(t, "", name);
}

static int input_column(const mcp_csv *t, const char *name)
{
    int c = column(t, "applied.", name);
    if (c < 0) c = column(t, "commanded.", name);
    return c >= 0 ? c : column(t, "", name);
}

static double cell(const mcp_csv *t, int row, int col)
{
    return col < 0 ? NAN : t->value[(size_t)row * (size_t)t->columns + (size_t)col];
}

static mcp_status check(const replay *p, const mcp_csv *t, const char *path, mcp_error *err)
{
    const mcp_task *task = p->system->task;
    int             time = mcp_csv_find(t, "t");
    for (int i = 0; i < task->ny; i++)
        if (measured_column(t, task->measured[i].name) < 0)
            return mcp_fail(err, MCP_ERR_PLANT, "%s: no column %s (or measured.%s) for that measured channel",
                            path, task->measured[i].name, task->measured[i].name);
    for (int i = 0; i < task->nu; i++)
        if (input_column(t, task->input[i].name) < 0)
            return mcp_fail(err, MCP_ERR_PLANT, "%s: no column %s (or applied.%s) for that input", path,
                            task->input[i].name, task->input[i].name);
    for (int k = 1; time >= 0 && k < t->rows; k++) {
        double step = cell(t, k, time) - cell(t, k - 1, time);
        if (step > 0.0 && fabs(step - p->system->ts) > 0.2 * p->system->ts)
            return mcp_fail(
                err, MCP_ERR_PLANT,
                "%s: row %d comes %.6g s after the one before; the task's rate of %g Hz means %.6g s", path,
                k + 1, step, task->rate, p->system->ts);
    }
    return MCP_OK;
}

static int trial_end(const replay *p)
{
    const mcp_csv *t = p->table[p->file];
    int time = mcp_csv_find(t, "t"), trial = mcp_csv_find(t, "trial"), k = p->from + 1;
    for (; k < t->rows; k++) {
        if (time >= 0 && cell(t, k, time) <= cell(t, k - 1, time)) break;
        if (trial >= 0 && cell(t, k, trial) != cell(t, k - 1, trial)) break;
    }
    return k;
}

static void show(replay *p, mcp_sample *s)
{
    const mcp_task  *task = p->system->task;
    const mcp_csv *t = p->table[p->file];
    int              k = p->from + p->row;
    s->time = p->row * p->system->ts;
    for (int i = 0; i < task->ny; i++)
        s->measured[i] = cell(t, k, measured_column(t, task->measured[i].name));
    for (int i = 0; i < task->nx; i++) s->truth[i] = cell(t, k, column(t, "truth.", task->state[i]));
    if (p->row == p->rows - 1 && p->row < p->system->steps) {
        s->ended = 1;
        snprintf(s->reason, sizeof s->reason, "the recording ends here");
    }
}

static mcp_status replay_reset(void *context, const double *x0, uint64_t seed, uint32_t trial, uint32_t run,
                               mcp_sample *first, mcp_error *err)
{
    replay *p = context;
    (void)x0, (void)seed, (void)trial, (void)run;
    if (p->started) p->from += p->rows;
    p->started = 1;
    if (p->file < p->files && p->from >= p->table[p->file]->rows) {
        p->file++;
        p->from = 0;
    }
    if (p->file >= p->files)
        return mcp_fail(err, MCP_ERR_PLANT,
                        "%s: all recorded trials have been played; add more files or ask for fewer trials",
                        p->path[p->files - 1]);
    p->rows = trial_end(p) - p->from;
    p->row  = 0;
    show(p, first);
    return MCP_OK;
}

static mcp_status replay_step(void *context, const double *u, mcp_sample *next, mcp_error *err)
{
    replay          *p = context;
    const mcp_task  *task = p->system->task;
    const mcp_csv *t = p->table[p->file];
    (void)u;
    for (int i = 0; i < task->nu; i++) {
        next->applied[i] = cell(t, p->from + p->row, input_column(t, task->input[i].name));
        if (!isfinite(next->applied[i]))
            return mcp_fail(err, MCP_ERR_PLANT, "%s: row %d has no value for input %s", p->path[p->file],
                            p->from + p->row + 1, task->input[i].name);
    }
    if (p->row + 1 >= p->rows)
        return mcp_fail(err, MCP_ERR_PLANT, "%s: the recording is over", p->path[p->file]);
    p->row++;
    show(p, next);
    return MCP_OK;
}

static mcp_status replay_stop(void *context, const double *safe_u, mcp_error *err)
{
    (void)context, (void)safe_u, (void)err;
    return MCP_OK;
}

static void replay_destroy(void *context)
{
    replay *p = context;
    if (!p) return;
    for (int i = 0; p->table && i < p->files; i++) mcp_csv_free(p->table[i]);
    for (int i = 0; p->path && i < p->files; i++) mcp_free(p->path[i]);
    mcp_free(p->table);
    mcp_free(p->path);
    mcp_free(p);
}

static mcp_status load(replay *p, const glob_t *found, mcp_error *err)
{
    p->table = mcp_calloc(found->gl_pathc, sizeof *p->table);
    p->path  = mcp_calloc(found->gl_pathc, sizeof *p->path);
    if (!p->table || !p->path) return mcp_fail(err, MCP_ERR_MEMORY, "out of memory for recorded trials");
    for (size_t i = 0; i < found->gl_pathc; i++) {
        mcp_status st = mcp_csv_read(&p->table[i], found->gl_pathv[i], err);
        if (st != MCP_OK) return st;
        p->files++;
        if (!(p->path[i] = mcp_strdup(found->gl_pathv[i])))
            return mcp_fail(err, MCP_ERR_MEMORY, "out of memory for recorded trials");
        if ((st = check(p, p->table[i], p->path[i], err)) != MCP_OK) return st;
    }
    return MCP_OK;
}

mcp_status mcp_replay_plant(const mcp_system *s, mcp_plant_ops *ops, void **context, mcp_error *err)
{
    char      *pattern = mcp_path_beside(s->task->file, s->task->plant.file);
    replay    *p = mcp_calloc(1, sizeof *p);
    glob_t     found = {0};
    mcp_status st;
    if (!p || !pattern) {
        st = mcp_fail(err, MCP_ERR_MEMORY, "out of memory for recorded trials");
        goto done;
    }
    p->system = s;
    if (glob(pattern, 0, NULL, &found))
        st = mcp_fail(err, MCP_ERR_PLANT,
                      "%s: no such recording; plant.file is a CSV file or a pattern of CSV files", pattern);
    else st = load(p, &found, err);
done:
    globfree(&found);
    mcp_free(pattern);
    if (st != MCP_OK) {
        replay_destroy(p);
        return st;
    }
    *ops     = (mcp_plant_ops){replay_reset, replay_step, replay_stop, replay_destroy};
    *context = p;
    return MCP_OK;
}
