/* report_compare.c - runs side by side: costs, successes, times, settings that differ, trajectories. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "embedded.h"
#include "learn/recommend.h"
#include "math/arena.h"
#include "math/number.h"
#include "report/parts.h"

enum { RUNS = 12, TRIALS = 64, WIDTH = 520, HEIGHT = 250, KEYS = 400 };

typedef struct {
    const char *folder;
    mcp_run    *run;
    mcp_finish  finish;
    double      number[TRIALS], cost[TRIALS], chance[TRIALS];
    int         trials;
} one;

typedef struct {
    one *of;
    int  n;
} lot;

static mcp_colour colour(int i) { return (mcp_colour)(MCP_C1 + i % 6); }

/* The last part of the path, or all of it when that is not unique. */
static const char *name_of(const lot *q, int i)
{
    const char *slash = strrchr(q->of[i].folder, '/');
    const char *base = slash && slash[1] ? slash + 1 : q->of[i].folder;
    for (int k = 0; k < q->n; k++) {
        const char *other = strrchr(q->of[k].folder, '/');
        if (k != i && !strcmp(other && other[1] ? other + 1 : q->of[k].folder, base)) return q->of[i].folder;
    }
    return base;
}

static void gather(one *o)
{
    const mcp_run *r = o->run;
    mcp_finish_load(&o->finish, r);
    for (int i = 0; i < r->items && o->trials < TRIALS; i++) {
        const mcp_learn_info *f = &r->item[i]->info;
        if (f->explored) continue;
        o->number[o->trials]   = f->number;
        o->cost[o->trials]     = f->cost;
        o->chance[o->trials++] = 100 * f->forecast_success;
    }
}

static void table_row(mcp_text *out, const lot *q, int i)
{
    const one     *o = &q->of[i];
    const mcp_run *r = o->run;
    char           seed[32], first[32] = "never", interval[48] = "", class[4];
    double         data = 0, work = 0;
    int            won = 0;
    mcp_slots      s = {0};
    for (int k = 0; k < r->items; k++) {
        const mcp_learn_info *f = &r->item[k]->info;
        if (!f->explored && f->success && !won) won = f->number;
        data += (f->samples - 1) * r->system->ts;
        if (!f->explored) work += fmax(f->model_s, 0) + fmax(f->optimise_s, 0) + fmax(f->forecast_s, 0);
    }
    if (won) snprintf(first, sizeof first, "trial %d", won);
    if (!r->task->success.text) first[0] = '\0';
    if (o->finish.known && o->finish.tested)
        mcp_print(interval, sizeof interval, "%.1f to %.1f %%", 100 * o->finish.low, 100 * o->finish.high);
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)r->seed);
    snprintf(class, sizeof class, "c%d", 1 + i % 6);
    mcp_slot_text(&s, "colour", class);
    mcp_slot_text(&s, "run", name_of(q, i));
    mcp_slot_text(&s, "task", r->task->title && *r->task->title ? r->task->title : r->task->name);
    mcp_slot_text(&s, "algorithm", r->algorithm->name);
    mcp_slot_text(&s, "seed", seed);
    mcp_slot_int(&s, "trials", mcp_run_trials(r));
    mcp_slot_text(&s, "first", first);
    mcp_slot_number(&s, "rate", "%.1f %%",
                    o->finish.known && o->finish.tested ? 100.0 * o->finish.successes / o->finish.runs : NAN);
    mcp_slot_text(&s, "interval", interval);
    mcp_slot_number(&s, "cost", "%.3g", r->items ? r->item[r->items - 1]->info.cost : NAN);
    mcp_slot_number(&s, "data", "%.1f s", data);
    mcp_slot_number(&s, "work", "%.1f s", work);
    mcp_html(out, mcp_embed_compare_html, "table-row", &s);
}

static void cost_charts(mcp_text *out, const lot *q)
{
    mcp_plot p;
    int      most = 1;
    for (int i = 0; i < q->n; i++)
        if (q->of[i].trials > most) most = q->of[i].trials;
    mcp_page_section(out, "costs", "Costs");
    mcp_page_grid(out, 1);
    for (int chart = 0; chart < 2; chart++) {
        mcp_plot_init(&p, WIDTH, HEIGHT, chart ? "forecast chance of success [%]" : "cost of each trial",
                      "trial", NULL);
        p.integers = 1;
        p.x0 = 0.5;
        p.x1 = most + 0.5;
        for (int i = 0; i < q->n; i++) {
            one *o = &q->of[i];
            double *y = chart ? o->chance : o->cost;
            mcp_plot_line(&p, o->trials, o->number, y, 1, colour(i), q->n <= 6 ? name_of(q, i) : NULL);
            mcp_plot_points(&p, o->trials, o->number, y, 1, colour(i), name_of(q, i))->weight = 3;
            if (q->n <= 6) p.item[p.n - 1].label = NULL;
        }
        mcp_page_figure(out, &p, NULL);
    }
    mcp_page_grid(out, 0);
    mcp_page_close(out);
}

/* The recommended policy's trial; states of the same name share a chart. */
static void trajectories(mcp_text *out, const lot *q)
{
    const mcp_run *first = q->of[0].run;
    double        *real[RUNS] = {0};
    mcp_run_item  *it[RUNS] = {0};
    for (int i = 0; i < q->n; i++) {
        it[i]   = mcp_run_trial(q->of[i].run, mcp_recommended(q->of[i].run));
        real[i] = it[i] ? mcp_run_outcome(it[i]) : NULL;
    }
    mcp_page_section(out, "trajectories", "Trajectories");
    mcp_page_note(out, "The trial of each run's recommended policy.");
    mcp_page_grid(out, 1);
    for (int k = 0; k < first->system->nx; k++) {
        char     label[96];
        mcp_plot p;
        mcp_plot_init(&p, WIDTH, HEIGHT, mcp_state_label(first, k, label, sizeof label), "s", NULL);
        p.group = "compare";
        for (int i = 0; i < q->n; i++) {
            int at = mcp_task_find_state(q->of[i].run->task, first->task->state[k]);
            if (at >= 0 && real[i])
                mcp_plot_line(&p, it[i]->trial->samples, it[i]->trial->t, real[i] + at,
                              q->of[i].run->system->nx, colour(i), name_of(q, i));
        }
        mcp_page_figure(out, &p, NULL);
    }
    mcp_page_grid(out, 0);
    mcp_page_close(out);
    for (int i = 0; i < q->n; i++) mcp_free(real[i]);
}

/* Settings, flat: "optimise.particles" -> "200". */
typedef struct {
    char *key;
    char *value[RUNS];
} entry;
typedef struct {
    entry key[KEYS];
    int   n;
} table;

static void put(table *t, const char *key, int run, const json_t *v)
{
    int i = 0;
    while (i < t->n && strcmp(t->key[i].key, key)) i++;
    if (i == KEYS) return;
    if (i == t->n && !(t->key[t->n++].key = mcp_strdup(key))) {
        t->n--;
        return;
    }
    char *text = mcp_json_compact(v, 6);
    t->key[i].value[run] = text ? text : mcp_strdup("");
}

static void flatten(table *t, const char *prefix, int run, json_t *o)
{
    const char *key;
    json_t     *v;
    json_object_foreach(o, key, v)
    {
        char *full = prefix ? mcp_sprintf("%s.%s", prefix, key) : mcp_strdup(key);
        if (full && json_is_object(v)) flatten(t, full, run, v);
        else if (full) put(t, full, run, v);
        mcp_free(full);
    }
}

static int differs(const entry *e, int n)
{
    for (int i = 1; i < n; i++) {
        if (!e->value[i] != !e->value[0]) return 1;
        if (e->value[0] && strcmp(e->value[i], e->value[0])) return 1;
    }
    return 0;
}

static void differences(mcp_text *out, const lot *q)
{
    table *t = mcp_calloc(1, sizeof *t);
    int    shown = 0;
    mcp_page_section(out, "differences", "Settings that differ");
    for (int i = 0; t && i < q->n; i++) flatten(t, NULL, i, json_object_get(q->of[i].run->notes, "settings"));
    for (int k = 0; t && k < t->n; k++) {
        mcp_slots row = {0};
        if (!differs(&t->key[k], q->n)) continue;
        if (!shown++) {
            mcp_html(out, mcp_embed_compare_html, "differ-begin", NULL);
            for (int i = 0; i < q->n; i++) {
                mcp_slots s = {0};
                mcp_slot_text(&s, "run", name_of(q, i));
                mcp_html(out, mcp_embed_compare_html, "differ-head", &s);
            }
            mcp_html(out, mcp_embed_compare_html, "differ-body", NULL);
        }
        mcp_slot_text(&row, "key", t->key[k].key);
        mcp_html(out, mcp_embed_compare_html, "differ-row", &row);
        for (int i = 0; i < q->n; i++) {
            mcp_slots s = {0};
            mcp_slot_text(&s, "value", t->key[k].value[i]);
            mcp_html(out, mcp_embed_compare_html, "differ-value", &s);
        }
        mcp_html(out, mcp_embed_compare_html, "differ-row-end", NULL);
    }
    if (shown) mcp_html(out, mcp_embed_compare_html, "differ-end", NULL);
    else mcp_page_paragraph(out, "None: the runs differ in seed or number of trials at most.");
    for (int k = 0; t && k < t->n; k++) {
        mcp_free(t->key[k].key);
        for (int i = 0; i < q->n; i++) mcp_free(t->key[k].value[i]);
    }
    out->failed |= !t;
    mcp_free(t);
    mcp_page_close(out);
}

mcp_status mcp_report_compare(int n, const char *const *folder, char **html, mcp_error *err)
{
    mcp_text   out = {0};
    mcp_slots  s = {0};
    mcp_status st = MCP_OK;
    lot        q = {.of = mcp_calloc(RUNS, sizeof(one))};
    *html = NULL;
    if (!q.of) return mcp_fail(err, MCP_ERR_MEMORY, "out of memory for a comparison");
    if (n > RUNS)
        st = mcp_fail(err, MCP_ERR_ARG, "%d runs are too many for one page; name at most %d", n, RUNS);
    for (int i = 0; st == MCP_OK && i < n; i++) {
        mcp_error trouble;
        q.of[i].folder = folder[i];
        if ((st = mcp_run_open(&q.of[i].run, folder[i], &trouble, err)) != MCP_OK) break;
        q.n++;
        gather(&q.of[i]);
    }
    if (st == MCP_OK) {
        char title[64];
        snprintf(title, sizeof title, "%d runs compared", n);
        mcp_page_begin(&out, title);
        mcp_slot_text(&s, "title", title);
        mcp_html(&out, mcp_embed_compare_html, "heading", &s);
        mcp_html(&out, mcp_embed_compare_html, "table-begin", NULL);
        for (int i = 0; i < n; i++) table_row(&out, &q, i);
        mcp_html(&out, mcp_embed_compare_html, "table-end", NULL);
        cost_charts(&out, &q);
        trajectories(&out, &q);
        differences(&out, &q);
        mcp_page_end(&out, mcp_embed_page_js);
        st = mcp_text_take(&out, html, err);
    }
    for (int i = 0; i < q.n; i++) mcp_run_free(q.of[i].run);
    mcp_free(q.of);
    return st;
}
