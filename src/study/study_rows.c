/* study_rows.c - runs.csv, a row per run and trial: written, and read again by a later part of the study. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "io/csv.h"
#include "io/file.h"
#include "math/arena.h"
#include "study/study.h"
#include "task/task_memory.h"

typedef enum { COLUMN_INT, COLUMN_FLAG, COLUMN_NUMBER } column_kind; /* a flag: 0 or 1, whatever the int */

typedef struct {
    const char *name;
    column_kind kind;
    size_t      offset;
} column;

#define AT(member) offsetof(mcp_study_row, member)
/* After the variant's name. */
static const column COLUMNS[] = {
    {"seed", COLUMN_INT, AT(seed)},
    {"trial", COLUMN_INT, AT(trial)},
    {"success", COLUMN_INT, AT(success)},
    {"ended", COLUMN_INT, AT(ended)},
    {"cost", COLUMN_NUMBER, AT(cost)},
    {"metric", COLUMN_NUMBER, AT(metric)},
    {"forecast_cost", COLUMN_NUMBER, AT(forecast_cost)},
    {"forecast_success", COLUMN_NUMBER, AT(forecast_success)},
    {"coverage", COLUMN_NUMBER, AT(coverage)},
    {"data_s", COLUMN_NUMBER, AT(data_s)},
    {"steps", COLUMN_INT, AT(steps)},
    {"plant_runs", COLUMN_INT, AT(evaluated)},
    {"plant_success", COLUMN_INT, AT(evaluated_ok)},
    {"plant_limit", COLUMN_INT, AT(evaluated_limit)},
    {"plant_cost_median", COLUMN_NUMBER, AT(plant_cost_median)},
    {"plant_metric_median", COLUMN_NUMBER, AT(plant_metric_median)},
    {"plant_metric_mean", COLUMN_NUMBER, AT(plant_metric_mean)},
    {"plant_metric_max", COLUMN_NUMBER, AT(plant_metric_max)},
    {"model_runs", COLUMN_INT, AT(final.model_runs)},
    {"model_success", COLUMN_INT, AT(final.model_ok)},
    {"robust", COLUMN_INT, AT(robust)},
    {"limit", COLUMN_FLAG, AT(limit)},
    {"explore_limits", COLUMN_INT, AT(explore_limits)},
    {"recommended", COLUMN_INT, AT(recommended)},
    {"final_runs", COLUMN_INT, AT(final.runs)},
    {"final_success", COLUMN_INT, AT(final.ok)},
    {"final_limit", COLUMN_INT, AT(final.limit)},
    {"final_cost_median", COLUMN_NUMBER, AT(final.cost_median)},
    {"final_metric_median", COLUMN_NUMBER, AT(final.metric_median)},
    {"final_metric_mean", COLUMN_NUMBER, AT(final.metric_mean)},
    {"final_metric_max", COLUMN_NUMBER, AT(final.metric_max)},
};
enum { COLUMN_COUNT = (int)(sizeof COLUMNS / sizeof *COLUMNS) };

/* write */

void mcp_study_print_rows(mcp_text *t, const mcp_study *s, const mcp_study_result *r)
{
    mcp_text_add(t, "variant");
    for (int c = 0; c < COLUMN_COUNT; c++) mcp_text_add(t, ",%s", COLUMNS[c].name);
    for (int i = 0; i < r->rows; i++) {
        mcp_text_add(t, "\n%s", s->variant[r->row[i].variant].name);
        for (int c = 0; c < COLUMN_COUNT; c++) {
            const void *at = (const char *)&r->row[i] + COLUMNS[c].offset;
            if (COLUMNS[c].kind == COLUMN_INT) mcp_text_add(t, ",%d", *(const int *)at);
            else if (COLUMNS[c].kind == COLUMN_FLAG) mcp_text_add(t, ",%d", *(const int *)at != 0);
            else if (isfinite(*(const double *)at)) mcp_text_add(t, ",%.17g", *(const double *)at);
            else mcp_text_add(t, ",");
        }
    }
    mcp_text_add(t, "\n");
}

/* read */

static int variant_of(const mcp_study *s, const char *name, size_t length)
{
    for (int v = 0; v < s->variants; v++)
        if (strlen(s->variant[v].name) == length && !strncmp(s->variant[v].name, name, length)) return v;
    return -1;
}

/* A table of numbers for io/csv: each variant's name becomes its index, that of another study -1. */
static mcp_status numbered(mcp_text *t, const mcp_study *s, const char *file, const char *text,
                           mcp_error *err)
{
    int header = 1, line = 1;
    for (const char *p = text; *p; line++) {
        size_t length = strcspn(p, "\n"), name = strcspn(p, ",\n");
        if (*p == '#' || length == 0) mcp_text_add(t, "%.*s\n", (int)length, p);
        else if (header && (name != 7 || strncmp(p, "variant", 7) != 0))
            return mcp_fail(err, MCP_ERR_IO,
                            "%s:%d: expected the runs.csv of a study, whose first column is \"variant\"",
                            file, line);
        else if (header) mcp_text_add(t, "%.*s\n", (int)length, p);
        else mcp_text_add(t, "%d%.*s\n", variant_of(s, p, name), (int)(length - name), p + name);
        header &= *p == '#' || length == 0;
        p += length + (p[length] == '\n');
    }
    return t->failed ? mcp_fail(err, MCP_ERR_MEMORY, "%s: out of memory while reading it", file) : MCP_OK;
}

static mcp_status take_row(mcp_study_row *w, const mcp_csv *c, int row, const int *place, const char *file,
                           mcp_error *err)
{
    const double *value = c->value + (size_t)row * (size_t)c->columns;
    for (int k = 0; k < COLUMN_COUNT; k++) {
        double v = value[place[k]];
        void  *at = (char *)w + COLUMNS[k].offset;
        if (COLUMNS[k].kind == COLUMN_NUMBER) *(double *)at = v;
        else if (v == floor(v) && fabs(v) < 1e9) *(int *)at = (int)v;
        else
            return mcp_fail(err, MCP_ERR_IO, "%s: row %d: %s is not a whole number", file, row + 1,
                            COLUMNS[k].name);
    }
    return MCP_OK;
}

/* Row w after those before it: the next trial of the same run, or the first of a run not seen yet. */
static mcp_status in_order(const mcp_study *s, const mcp_study_row *w, const char *file, mcp_error *err)
{
    const char          *name = s->variant[w->variant].name;
    const mcp_study_row *before = w > s->known ? w - 1 : NULL;
    int same = before && before->variant == w->variant && before->seed == w->seed, seen = 0;
    for (const mcp_study_row *k = s->known; k < w; k++)
        seen |= k->variant == w->variant && k->seed == w->seed;
    if (seen != same || w->trial != (same ? before->trial + 1 : 1))
        return mcp_fail(err, MCP_ERR_IO,
                        "%s: %s, seed %d: trial %d is out of order; the rows of a run stand together, trials "
                        "1, 2, ... of it",
                        file, name, w->seed, w->trial);
    if (w->trial > s->variant[w->variant].trials)
        return mcp_fail(err, MCP_ERR_IO, "%s: %s, seed %d has a trial %d; %s asks for %d", file, name,
                        w->seed, w->trial, s->file, s->variant[w->variant].trials);
    return MCP_OK;
}

static mcp_status take_rows(mcp_study *s, const mcp_csv *c, const char *file, mcp_error *err)
{
    int        place[COLUMN_COUNT], variant = mcp_csv_find(c, "variant");
    mcp_status st = MCP_OK;
    for (int k = 0; k < COLUMN_COUNT; k++)
        if ((place[k] = mcp_csv_find(c, COLUMNS[k].name)) < 0)
            return mcp_fail(err, MCP_ERR_IO,
                            "%s: it has no column %s; it is of another version, run the study anew", file,
                            COLUMNS[k].name);
    if (!(s->known = mcp_task_memory_get(s->memory, (size_t)c->rows + 1, sizeof *s->known)))
        return mcp_fail(err, MCP_ERR_MEMORY, "%s: out of memory while reading it", file);
    for (int i = 0; i < c->rows && st == MCP_OK; i++) {
        double         v = c->value[(size_t)i * (size_t)c->columns + (size_t)variant];
        mcp_study_row *w = &s->known[s->known_rows];
        if (!(v >= 0)) continue;
        *w = (mcp_study_row){.variant = (int)v, .model_s = NAN, .optimise_s = NAN};
        if ((st = take_row(w, c, i, place, file, err)) == MCP_OK) st = in_order(s, w, file, err);
        s->known_rows++;
    }
    for (int i = 0; i < s->known_rows; i++) { /* a run's rows stand together */
        const mcp_study_row *w = &s->known[i], *next = i + 1 < s->known_rows ? w + 1 : NULL;
        s->known[i].last = !next || next->variant != w->variant || next->seed != w->seed;
    }
    return st;
}

mcp_status mcp_study_know(mcp_study *s, const char *file, mcp_error *err)
{
    mcp_text   t = {0};
    mcp_csv   *c = NULL;
    char      *text = NULL;
    mcp_status st = mcp_file_read(file, &text, NULL, err);
    if (st == MCP_OK) st = numbered(&t, s, file, text, err);
    if (st == MCP_OK) st = mcp_csv_parse(&c, file, t.data ? t.data : "", err);
    if (st == MCP_OK) st = take_rows(s, c, file, err);
    mcp_csv_free(c);
    mcp_text_free(&t);
    mcp_free(text);
    return st;
}

mcp_status mcp_study_know_folder(mcp_study *s, const char *out, mcp_error *err)
{
    char *path = mcp_sprintf("%s/known.csv", out);
    if (!path) return mcp_fail(err, MCP_ERR_MEMORY, "out of memory");
    mcp_status st = mcp_file_exists(path) ? mcp_study_know(s, path, err) : MCP_OK;
    mcp_free(path);
    return st;
}

mcp_status mcp_study_keep(const char *out, const char *file, mcp_error *err)
{
    char      *path = mcp_sprintf("%s/known.csv", out), *text = NULL;
    mcp_status st =
        path ? mcp_file_read(file, &text, NULL, err) : mcp_fail(err, MCP_ERR_MEMORY, "out of memory");
    if (st == MCP_OK) st = mcp_file_write(path, text, strlen(text), err);
    mcp_free(text);
    mcp_free(path);
    return st;
}

int mcp_study_known(const mcp_study *s, int i)
{
    int variant, seed;
    mcp_study_at(s, i, &variant, &seed);
    for (int k = 0; k < s->known_rows; k++)
        if (s->known[k].variant == variant && s->known[k].seed == seed) return 1;
    return 0;
}
