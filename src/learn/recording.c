/* recording.c - read, check the clock, resample if need be, play back. */
#include "learn/recording.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/csv.h"
#include "math/angle.h"
#include "math/arena.h"
#include "math/number.h"
#include "math/stats.h"

void mcp_add_settings_default(mcp_add_settings *s)
{
    *s = (mcp_add_settings){.rate_tolerance = 0.05, .input_tolerance = 0.02};
}

static size_t layout(mcp_recording *r, char *mem)
{
    mcp_arena a = {.base = mem, .used = 0};
    size_t    n = (size_t)r->capacity;
    mcp_arena_bytes(&a, sizeof *r);
    r->t        = mcp_arena_doubles(&a, n);
    r->measured = mcp_arena_doubles(&a, n * (size_t)r->ny);
    r->input    = mcp_arena_doubles(&a, n * (size_t)r->nu);
    r->applied  = mcp_arena_doubles(&a, n * (size_t)r->nu);
    r->truth    = mcp_arena_doubles(&a, n * (size_t)r->nx);
    return a.used;
}

static mcp_status create(mcp_recording **out, const mcp_system *s, int capacity, mcp_error *err)
{
    mcp_recording size = {.capacity = capacity, .nx = s->nx, .ny = s->ny, .nu = s->nu};
    void         *block;
    *out = NULL;
    mcp_status st = mcp_block_alloc(&block, layout(&size, NULL), err);
    if (st != MCP_OK) return st;
    layout(&size, block);
    *out = block;
    **out = size;
    return MCP_OK;
}

void mcp_recording_free(mcp_recording *r)
{
    mcp_block_free(r);
}

/* names: a file's columns as the task calls them */

typedef struct {
    const char             *path;
    const mcp_task         *task;
    const mcp_add_settings *q;
    const mcp_csv          *csv;
    mcp_error              *err;
} file;

/* "left=right" with this right side, when left matches; NULL = no such pair. */
static const char *right_of(const char *pair, const char *left)
{
    size_t n = strlen(left);
    return !strncmp(pair, left, n) && pair[n] == '=' ? pair + n + 1 : NULL;
}

/* The column that is called so, by the file or by a map; a column that is mapped has lost its own name. */
static int column(const file *f, const char *name)
{
    for (int c = 0; c < f->csv->columns; c++) {
        const char *mapped = NULL;
        for (int m = 0; m < f->q->maps && !mapped; m++) mapped = right_of(f->q->map[m], f->csv->name[c]);
        if (!strcmp(mapped ? mapped : f->csv->name[c], name)) return c;
    }
    return -1;
}

static int find(const file *f, const char *prefix, const char *name)
{
    char full[160];
    snprintf(full, sizeof full, "%s.%.140s", prefix, name);
    return column(f, full);
}

static int find_time(const file *f)
{
    int c = column(f, "t");
    return c >= 0 ? c : column(f, "time");
}

static int is_signal(const file *f, const char *name)
{
    const char *dot = strchr(name, '.'), *bare = dot ? dot + 1 : name;
    return !strcmp(name, "t") || !strcmp(name, "time") || mcp_task_find_state(f->task, bare) >= 0 ||
           mcp_task_find_input(f->task, bare) >= 0;
}

static mcp_status check_pairs(const file *f)
{
    for (int m = 0; m < f->q->maps; m++) {
        const char *equals = strchr(f->q->map[m], '=');
        int         there = 0;
        for (int c = 0; equals && c < f->csv->columns; c++)
            there |= right_of(f->q->map[m], f->csv->name[c]) != NULL;
        if (!equals)
            return mcp_fail(f->err, MCP_ERR_ARG, "map \"%s\": expected THEIR_NAME=OUR_NAME", f->q->map[m]);
        if (!there)
            return mcp_fail(f->err, MCP_ERR_ARG, "map \"%s\": %s has no column %.*s", f->q->map[m], f->path,
                            (int)(equals - f->q->map[m]), f->q->map[m]);
        if (!is_signal(f, equals + 1))
            return mcp_fail(f->err, MCP_ERR_ARG, "map \"%s\": the task has no signal %s", f->q->map[m],
                            equals + 1);
    }
    for (int m = 0; m < f->q->scales; m++) {
        const char *equals = strchr(f->q->scale[m], '=');
        char        name[128], *end = NULL;
        double      v = equals ? mcp_number_read(equals + 1, &end) : 0.0;
        if (!equals || !end || *end || end == equals + 1 || !isfinite(v) || v == 0.0)
            return mcp_fail(f->err, MCP_ERR_ARG,
                            "scale \"%s\": expected NAME=FACTOR with a number that is not 0", f->q->scale[m]);
        snprintf(name, sizeof name, "%.*s", (int)(equals - f->q->scale[m]), f->q->scale[m]);
        if (!is_signal(f, name))
            return mcp_fail(f->err, MCP_ERR_ARG, "scale \"%s\": the task has no signal %s", f->q->scale[m],
                            name);
    }
    return MCP_OK;
}

static double factor(const file *f, const char *name)
{
    for (int m = 0; m < f->q->scales; m++) {
        const char *v = right_of(f->q->scale[m], name);
        if (v) return mcp_number_read(v, NULL);
    }
    return 1.0;
}

/* Copies a column with its unit; c < 0: NaN. */
static void take(const file *f, int c, const char *name, double *out, int stride)
{
    double by = factor(f, name); /* 1 leaves every bit */
    for (int k = 0; k < f->csv->rows; k++)
        out[k * stride] = c < 0 ? NAN : by * f->csv->value[k * f->csv->columns + c];
}

static mcp_status missing(const file *f, const char *name)
{
    char there[120] = "";
    for (int c = 0; c < f->csv->columns; c++) {
        size_t n = strlen(there);
        snprintf(there + n, sizeof there - n, "%s%s", c ? ", " : "", f->csv->name[c]);
    }
    return mcp_fail(f->err, MCP_ERR_IO, "%s: it has no column %s; it has %s (name one by --map THEIRS=%s)",
                    f->path, name, there, name);
}

static mcp_status all_finite(const file *f, const double *v, int stride, int rows, const char *name)
{
    for (int k = 0; k < rows; k++)
        if (!isfinite(v[k * stride]))
            return mcp_fail(f->err, MCP_ERR_IO, "%s: row %d of the data: %s is not a finite number", f->path,
                            k + 1, name);
    return MCP_OK;
}

static mcp_status take_all(const file *f, mcp_recording *r)
{
    const mcp_task *t = f->task;
    mcp_status      st;
    int             c = find_time(f);
    if (c < 0) return missing(f, "t");
    take(f, c, !strcmp(f->csv->name[c], "time") ? "time" : "t", r->t, 1);
    if ((st = all_finite(f, r->t, 1, f->csv->rows, "the time")) != MCP_OK) return st;
    for (int i = 0; i < t->ny; i++) {
        const char *name = t->measured[i].name;
        if ((c = find(f, "measured", name)) < 0) c = column(f, name);
        if (c < 0) return missing(f, name);
        take(f, c, name, r->measured + i, r->ny);
        if ((st = all_finite(f, r->measured + i, r->ny, f->csv->rows, name)) != MCP_OK) return st;
    }
    for (int j = 0; j < t->nu; j++) {
        const char *name = t->input[j].name;
        if ((c = find(f, "commanded", name)) < 0) c = column(f, name);
        if (c < 0) return missing(f, name);
        take(f, c, name, r->input + j, r->nu);
        if ((st = all_finite(f, r->input + j, r->nu, f->csv->rows - 1, name)) != MCP_OK) return st;
        take(f, find(f, "applied", name), name, r->applied + j, r->nu);
    }
    for (int i = 0; i < t->nx; i++) take(f, find(f, "truth", t->state[i]), t->state[i], r->truth + i, r->nx);
    r->rows = r->file_rows = f->csv->rows;
    return MCP_OK;
}

/* the clock */

/* Time goes on, and nothing big is missing. */
static mcp_status check_gaps(const file *f, const mcp_recording *r, double ts)
{
    for (int k = 1; k < r->rows; k++) {
        double gap = r->t[k] - r->t[k - 1];
        if (!(gap > 0.0))
            return mcp_fail(f->err, MCP_ERR_IO,
                            "%s: row %d of the data: the time does not go on (%g s after %g s)", f->path,
                            k + 1, r->t[k], r->t[k - 1]);
        if (gap > 2.5 * ts)
            return mcp_fail(
                f->err, MCP_ERR_IO,
                "%s: row %d of the data comes %.4g s after the one before; more than a sample is missing at "
                "%g Hz",
                f->path, k + 1, gap, 1 / ts);
    }
    return MCP_OK;
}

static mcp_status check_clock(const file *f, mcp_recording *r, double ts)
{
    double    *gap = mcp_calloc((size_t)r->rows + 1, sizeof *gap), zero = r->t[0];
    mcp_status st =
        gap ? check_gaps(f, r, ts) : mcp_fail(f->err, MCP_ERR_MEMORY, "%s: out of memory", f->path);
    if (st != MCP_OK) {
        mcp_free(gap);
        return st;
    }
    for (int k = 1; k < r->rows; k++) gap[k - 1] = r->t[k] - r->t[k - 1];
    r->rate = 1.0 / mcp_quantile(gap, r->rows - 1, 0.5);
    mcp_free(gap);
    for (int k = 0; k < r->rows; k++) {
        r->t[k] -= zero;
        r->off = fmax(r->off, fabs(r->t[k] - k * ts));
    }
    if (!f->q->resample && fabs(r->rate * ts - 1.0) > f->q->rate_tolerance)
        return mcp_fail(
            f->err, MCP_ERR_IO,
            "%s: it was recorded at %.4g Hz, the task runs at %g Hz; give --resample if only the log has "
            "another rate",
            f->path, r->rate, 1 / ts);
    r->resampled = r->off > f->q->rate_tolerance * ts;
    return MCP_OK;
}

static void unwrap(mcp_recording *r, int i)
{
    for (int k = 1; k < r->rows; k++) {
        double before = r->measured[(k - 1) * r->ny + i], *v = &r->measured[k * r->ny + i];
        *v += MCP_TURN * mcp_turns_to(before, *v);
    }
}

static void blend(int n, const double *a, const double *b, double w, double *out)
{
    for (int i = 0; i < n; i++) out[i] = (1.0 - w) * a[i] + w * b[i];
}

/* Rows at k Ts: measurements and truth on straight lines, the input that was held in the middle of the
 * period. */
static void resample(const mcp_recording *from, mcp_recording *to, double ts)
{
    int last = from->rows - 1, a = 0, h = 0;
    to->rows = (int)floor(from->t[last] / ts + 0.05) + 1;
    if (to->rows > to->capacity) to->rows = to->capacity;
    for (int k = 0; k < to->rows; k++) {
        double t = fmin(k * ts, from->t[last]);
        while (a < last - 1 && from->t[a + 1] <= t) a++;
        while (h < last && from->t[h + 1] <= k * ts + 0.5 * ts) h++;
        int    b = a < last ? a + 1 : a;
        double w = b > a ? (t - from->t[a]) / (from->t[b] - from->t[a]) : 0.0;
        to->t[k] = k * ts;
        blend(to->ny, from->measured + a * to->ny, from->measured + b * to->ny, w, to->measured + k * to->ny);
        blend(to->nx, from->truth + a * to->nx, from->truth + b * to->nx, w, to->truth + k * to->nx);
        for (int j = 0; j < to->nu; j++) {
            to->input[k * to->nu + j] = from->input[h * to->nu + j];
            to->applied[k * to->nu + j] = from->applied[h * to->nu + j];
        }
    }
}

static mcp_status at_our_rate(const file *f, const mcp_system *s, mcp_recording **r)
{
    mcp_recording *old = *r, *new = NULL;
    mcp_status     st = create(&new, s, s->steps + 1, f->err);
    if (st != MCP_OK) return st;
    for (int i = 0; i < s->ny; i++)
        if (f->task->measured[i].angle) unwrap(old, i);
    new->file_rows = old->file_rows;
    new->rate = old->rate;
    new->off = old->off;
    new->resampled = 1;
    resample(old, new, s->ts);
    mcp_recording_free(old);
    *r = new;
    return MCP_OK;
}

mcp_status mcp_recording_read(mcp_recording **out, const mcp_system *s, const char *path,
                              const mcp_add_settings *q, mcp_error *err)
{
    mcp_csv       *csv = NULL;
    mcp_recording *r = NULL;
    file           f = {.path = path, .task = s->task, .q = q, .err = err};
    *out = NULL;
    mcp_status st = mcp_csv_read(&csv, path, err);
    if (st != MCP_OK) goto done;
    f.csv = csv;
    if ((st = check_pairs(&f)) != MCP_OK) goto done;
    if (csv->rows < 8) {
        st = mcp_fail(err, MCP_ERR_IO, "%s: %d rows of data are too few to learn from; a whole trial has %d",
                      path, csv->rows, s->steps + 1);
        goto done;
    }
    if ((st = create(&r, s, csv->rows, err)) != MCP_OK) goto done;
    if ((st = take_all(&f, r)) != MCP_OK) goto done;
    if ((st = check_clock(&f, r, s->ts)) != MCP_OK) goto done;
    if (r->resampled && (st = at_our_rate(&f, s, &r)) != MCP_OK) goto done;
    if (r->rows > s->steps + 1) {
        r->surplus = r->rows - (s->steps + 1);
        r->rows = s->steps + 1;
    }
    if (r->rows < s->steps + 1 && !q->ended && !s->task->limits)
        st = mcp_fail(err, MCP_ERR_IO,
                      "%s: it has %d samples of a trial of %d; give --ended REASON if it really ended there",
                      path, r->rows, s->steps + 1);
done:
    if (st == MCP_OK) *out = r;
    else mcp_recording_free(r);
    mcp_csv_free(csv);
    return st;
}

mcp_status mcp_recording_from_arrays(mcp_recording **out, const mcp_system *s, const mcp_recorded_trial *t,
                                     mcp_error *err)
{
    mcp_recording *r;
    size_t         n = (size_t)t->samples;
    *out = NULL;
    mcp_status st = create(&r, s, t->samples, err);
    if (st != MCP_OK) return st;
    r->rows = t->samples;
    for (int k = 0; k < t->samples; k++) r->t[k] = k * s->ts;
    memcpy(r->measured, t->measured, n * (size_t)s->ny * sizeof(double));
    memcpy(r->input, t->input, n * (size_t)s->nu * sizeof(double));
    for (size_t i = 0; i < n * (size_t)s->nu; i++) r->applied[i] = t->applied ? t->applied[i] : NAN;
    for (size_t i = 0; i < n * (size_t)s->nx; i++) r->truth[i] = t->truth ? t->truth[i] : NAN;
    *out = r;
    return MCP_OK;
}

/* playing back */

typedef struct {
    const mcp_recording *r;
    const mcp_system    *s;
    const char          *ended;
    int                  row;
} player;

static mcp_status give(player *p, mcp_sample *out, mcp_error *err)
{
    const mcp_recording *r = p->r;
    int                  k = p->row;
    if (k >= r->rows)
        return mcp_fail(err, MCP_ERR_IO,
                        "the recording has %d samples of a trial of %d and reaches no limit; give --ended "
                        "REASON if it really "
                        "ended there",
                        r->rows, p->s->steps + 1);
    out->time = r->t[k];
    memcpy(out->measured, r->measured + k * r->ny, (size_t)r->ny * sizeof(double));
    memcpy(out->truth, r->truth + k * r->nx, (size_t)r->nx * sizeof(double));
    if (k) memcpy(out->applied, r->applied + (k - 1) * r->nu, (size_t)r->nu * sizeof(double));
    if (k == r->rows - 1 && k < p->s->steps && p->ended) {
        out->ended = 1;
        snprintf(out->reason, sizeof out->reason, "%s", p->ended);
    }
    p->row++;
    return MCP_OK;
}

static mcp_status play_reset(void *context, const double *x0, uint64_t seed, uint32_t trial, uint32_t run,
                             mcp_sample *first, mcp_error *err)
{
    player *p = context;
    (void)x0, (void)seed, (void)trial, (void)run;
    p->row = 0;
    return give(p, first, err);
}

static mcp_status play_step(void *context, const double *u, mcp_sample *next, mcp_error *err)
{
    (void)u;
    return give(context, next, err);
}

static mcp_status play_stop(void *context, const double *safe_u, mcp_error *err)
{
    (void)context, (void)safe_u, (void)err;
    return MCP_OK;
}

mcp_status mcp_recording_play(const mcp_recording *r, const mcp_system *s, const double *theta,
                              const char *ended, mcp_trial *out, mcp_error *err)
{
    static const mcp_plant_ops ops = {play_reset, play_step, play_stop, NULL};
    player     p = {.r = r, .s = s, .ended = ended};
    mcp_plant *plant = NULL;
    double    *u = mcp_calloc((size_t)s->steps * (size_t)s->nu + 1, sizeof *u);
    mcp_status st = u ? mcp_plant_from_ops(&plant, s, &ops, &p, err)
                      : mcp_fail(err, MCP_ERR_MEMORY, "out of memory for a recording");
    if (st == MCP_OK && theta)
        st = mcp_plant_run(plant, theta, (mcp_trial_key){0, 0, 0}, NULL, NULL, out, err);
    else if (st == MCP_OK) {
        int n = r->rows < s->steps ? r->rows : s->steps;
        for (int k = 0; k < n * s->nu; k++) u[k] = isnan(r->input[k]) ? 0.0 : r->input[k];
        st = mcp_plant_run_inputs(plant, u, (mcp_trial_key){0, 0, 0}, NULL, NULL, out, err);
    }
    mcp_plant_close(plant);
    mcp_free(u);
    return st;
}
