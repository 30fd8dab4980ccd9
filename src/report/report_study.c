/* report_study.c - a study's page: success per trial with intervals, cost with its spread, first success,
 * times. */
#include "report/report_study.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "embedded.h"
#include "io/file.h"
#include "io/json.h"
#include "math/arena.h"
#include "math/number.h"
#include "math/stats.h"
#include "report/page.h"
#include "report/report.h"
#include "report/plot.h"
#include "report/study_bars.h"
#include "study/study.h"

/* Lines of more than FEW variants are a tangle: the page has bars instead. */
enum { WIDTH = 560, HEIGHT = 300, VARIANTS = 12, FEW = 6 };

/* Series of all variants for one chart; x is shifted a little so that intervals stay apart. */
typedef struct {
    double x[MCP_STUDY_TRIALS], value[MCP_STUDY_TRIALS], low[MCP_STUDY_TRIALS], high[MCP_STUDY_TRIALS],
        paper[MCP_STUDY_TRIALS];
} series;

typedef struct {
    mcp_study       *study;
    mcp_study_result result;
    series          *of; /* [variants] */
} material;

/* study.txt: the study file and the seeds the folder was made with. */
static mcp_status gather(material *m, const char *folder, mcp_error *err)
{
    char      *path = mcp_sprintf("%s/study.txt", folder), *text = NULL, *line;
    memset(m, 0, sizeof *m);
    mcp_status st =
        path ? mcp_file_read(path, &text, NULL, err) : mcp_fail(err, MCP_ERR_MEMORY, "out of memory");
    mcp_free(path);
    if (st != MCP_OK) return st;
    line = strchr(text, '\n');
    if (!line)
        st = mcp_fail(err, MCP_ERR_IO,
                      "%s/study.txt is damaged: expected the study file's name and the seeds", folder);
    else {
        *line = '\0';
        st    = mcp_study_load(&m->study, text, err);
        if (st == MCP_OK && sscanf(line + 1, "%d %d", &m->study->seed_first, &m->study->seed_last) != 2)
            st = mcp_fail(err, MCP_ERR_IO, "%s/study.txt is damaged: expected two seeds in its second line",
                          folder);
    }
    mcp_free(text);
    if (st == MCP_OK) st = mcp_study_know_folder(m->study, folder, err);
    if (st == MCP_OK) st = mcp_study_collect(&m->result, m->study, folder, err);
    if (st == MCP_OK && !(m->of = mcp_calloc((size_t)m->study->variants, sizeof *m->of)))
        st = mcp_fail(err, MCP_ERR_MEMORY, "out of memory");
    return st;
}

static void material_free(material *m)
{
    mcp_study_result_free(&m->result);
    mcp_study_free(m->study);
    mcp_free(m->of);
}

static int shown(const material *m) { return m->study->variants < VARIANTS ? m->study->variants : VARIANTS; }
static mcp_colour colour(int v) { return (mcp_colour)(MCP_C1 + v % 6); }

static void chart_success(const material *m, mcp_plot *p)
{
    for (int v = 0; v < shown(m); v++) {
        const mcp_variant *q = &m->study->variant[v];
        series            *s = &m->of[v];
        int                n = m->study->trials;
        for (int k = 0; k < n; k++) {
            mcp_study_cell c;
            mcp_study_cell_make(&c, &m->result, v, k + 1);
            s->x[k]     = k + 1 + 0.06 * (v - 0.5 * (shown(m) - 1));
            s->value[k] = c.runs ? 100.0 * c.successes / c.runs : NAN;
            s->low[k]   = 100 * c.low;
            s->high[k]  = 100 * c.high;
            s->paper[k] = k < q->papers ? q->paper[k] : NAN;
        }
        mcp_plot_ranges(p, n, s->x, s->low, s->high, colour(v), NULL);
        mcp_plot_line(p, n, s->x, s->value, 1, colour(v), q->name);
        mcp_plot_points(p, n, s->x, s->value, 1, colour(v), NULL)->weight = 3;
        if (q->papers) {
            mcp_item *paper = mcp_plot_line(p, n, s->x, s->paper, 1, colour(v), NULL);
            paper->dashed = 1;
            paper->weight = 1;
        }
    }
    p->y0 = -3;
    p->y1 = 103;
    p->integers = 1;
    p->x0 = 0.6;
    p->x1 = m->study->trials + 0.4;
}

static void chart_cost(const material *m, mcp_plot *p)
{
    for (int v = 0; v < shown(m); v++) {
        series *s = &m->of[v];
        int     n = m->study->trials;
        for (int k = 0; k < n; k++) {
            mcp_study_cell c;
            mcp_study_cell_make(&c, &m->result, v, k + 1);
            s->x[k]     = k + 1;
            s->low[k]   = c.metric[0];
            s->value[k] = c.metric[1];
            s->high[k]  = c.metric[2];
        }
        mcp_plot_band(p, n, s->x, s->low, s->high, 1, colour(v), NULL);
        mcp_plot_line(p, n, s->x, s->value, 1, colour(v), m->study->variant[v].name)->weight = 2;
    }
    p->integers = 1;
}

/* Share of the seeds that have solved it by trial k, with the interval of a share. */
static void chart_first(const material *m, mcp_plot *p)
{
    for (int v = 0; v < shown(m); v++) {
        mcp_study_total t;
        series         *s = &m->of[v];
        int             by = 0, n = m->study->trials;
        mcp_study_total_make(&t, &m->result, v);
        for (int k = 0; k < n; k++) {
            by += t.first[k + 1];
            s->x[k]     = k + 1 + 0.06 * (v - 0.5 * (shown(m) - 1));
            s->value[k] = t.runs ? 100.0 * by / t.runs : NAN;
            s->low[k] = s->high[k] = NAN;
            if (t.runs) mcp_wilson(by, t.runs, &s->low[k], &s->high[k]);
            s->low[k] *= 100;
            s->high[k] *= 100;
        }
        mcp_plot_ranges(p, n, s->x, s->low, s->high, colour(v), NULL);
        mcp_plot_line(p, n, s->x, s->value, 1, colour(v), m->study->variant[v].name);
    }
    p->integers = 1;
    p->y0 = -3;
    p->y1 = 103;
    p->x0 = 0.6;
    p->x1 = m->study->trials + 0.4;
}

typedef struct {
    const char *name, *title, *caption;
    void (*draw)(const material *m, mcp_plot *p);
} chart;

static const chart charts[] = {
    {"success", "success per trial [%]",
     "Bars: Wilson's 95 % interval over seeds. Dashed: the paper's figures, where given.", chart_success},
    {"cost", "metric per trial", "Median and 5-95 % over seeds.", chart_cost},
    {"first", "seeds that have solved it by trial [%]", "Bars: Wilson's 95 % interval.", chart_first},
};

const char *mcp_report_study_figures(void) { return "success, cost, first, bars"; }

mcp_status mcp_report_study_figure(const char *folder, const char *name, char **svg, mcp_error *err)
{
    material   m;
    mcp_text   out = {0};
    mcp_status st = gather(&m, folder, err);
    int        found = 0;
    *svg = NULL;
    if (st == MCP_OK && (found = !strcmp(name, "bars"))) mcp_study_bars(&out, m.study, &m.result, 1);
    for (size_t i = 0; st == MCP_OK && i < sizeof charts / sizeof *charts; i++) {
        mcp_plot p;
        if (strcmp(charts[i].name, name)) continue;
        mcp_plot_init(&p, WIDTH, HEIGHT, charts[i].title, "trial", NULL);
        p.standalone = found = 1;
        charts[i].draw(&m, &p);
        mcp_plot_render(&p, &out);
    }
    if (st == MCP_OK && !found)
        st = mcp_fail(err, MCP_ERR_ARG, "there is no figure \"%s\" of a study; known: %s", name,
                      mcp_report_study_figures());
    if (st == MCP_OK) st = mcp_text_take(&out, svg, err);
    material_free(&m);
    return st;
}

/* "41 to 83 %" */
static const char *span(char *buf, size_t size, const char *fmt, double low, double high)
{
    buf[0] = '\0';
    if (isfinite(low) && isfinite(high)) snprintf(buf, size, fmt, low, high);
    return buf;
}

static void cell_row(mcp_text *out, const material *m, int v, int k)
{
    const mcp_variant *q = &m->study->variant[v];
    mcp_study_cell     c;
    mcp_slots          s = {0};
    char               interval[48], spread[64];
    mcp_study_cell_make(&c, &m->result, v, k);
    mcp_slot_text(&s, "variant", q->name);
    mcp_slot_int(&s, "trial", k);
    mcp_slot_int(&s, "runs", c.runs);
    mcp_slot_number(&s, "success", "%.0f %%", c.runs ? 100.0 * c.successes / c.runs : NAN);
    mcp_slot_text(
        &s, "interval",
        span(interval, sizeof interval, "%.0f to %.0f %%", c.runs ? 100 * c.low : NAN, 100 * c.high));
    mcp_slot_number(&s, "paper", "%.0f %%", k <= q->papers ? q->paper[k - 1] : NAN);
    mcp_slot_number(&s, "cost", "%.3g", c.cost[1]);
    mcp_slot_text(&s, "spread", span(spread, sizeof spread, "%.3g to %.3g", c.cost[0], c.cost[2]));
    mcp_slot_number(&s, "robust", "%.0f", c.runs ? c.robust : NAN);
    mcp_slot_number(&s, "model", "%.1f s", c.model_s);
    mcp_slot_number(&s, "policy", "%.1f s", c.optimise_s);
    mcp_html(out, mcp_embed_study_html, "table-row", &s);
}

static void total_row(mcp_text *out, const material *m, int v)
{
    mcp_study_total t;
    mcp_slots       s = {0};
    char            final[64] = "";
    mcp_study_total_make(&t, &m->result, v);
    if (t.final_runs)
        mcp_print(final, sizeof final, "%.1f %% of %d", 100.0 * t.final_ok / t.final_runs, t.final_runs);
    mcp_slot_text(&s, "variant", m->study->variant[v].name);
    mcp_slot_int(&s, "seeds", t.runs);
    mcp_slot_int(&s, "solved", t.solved);
    mcp_slot_number(&s, "median", "trial %.0f", t.first_median);
    mcp_slot_number(&s, "data", "%.1f s", t.data_median);
    mcp_slot_text(&s, "final", final);
    mcp_slot_int(&s, "limits", t.explore_limits + t.trial_limits);
    mcp_html(out, mcp_embed_study_html, "totals-row", &s);
}

/* What the run's last trial was diagnosed as. */
static void last_text(char *buf, size_t size, const char *folder, int trial)
{
    json_t *root = NULL;
    char   *path = mcp_sprintf("%s/trial-%02d/result.json", folder, trial);
    buf[0] = '\0';
    if (path && mcp_file_exists(path) && mcp_json_read(&root, path, NULL) == MCP_OK)
        snprintf(buf, size, "%s", mcp_json_get_text(json_object_get(root, "diagnosis"), "text", ""));
    json_decref(root);
    mcp_free(path);
}

/* Links are relative: the study's folder may be moved. A run without a page gets one when it is reported. */
static void run_rows(mcp_text *out, const material *m, const char *folder, int v)
{
    mcp_slots head = {0};
    mcp_slot_text(&head, "variant", m->study->variant[v].name);
    mcp_html(out, mcp_embed_study_html, "runs-begin", &head);
    for (int i = 0; i < m->result.rows; i++) {
        const mcp_study_row *row = &m->result.row[i];
        int                  first = 0;
        char                 link[300], text[320], when[32] = "never", *run;
        mcp_slots            s = {0};
        if (row->variant != v || !row->last) continue;
        for (int k = 0; k < m->result.rows; k++) {
            const mcp_study_row *q = &m->result.row[k];
            if (q->variant == v && q->seed == row->seed && q->success && (!first || q->trial < first))
                first = q->trial;
        }
        if (first) snprintf(when, sizeof when, "trial %d", first);
        snprintf(link, sizeof link, "%s/seed-%04d/report.html", m->study->variant[v].name, row->seed);
        run = mcp_sprintf("%s/%s/seed-%04d", folder, m->study->variant[v].name, row->seed);
        last_text(text, sizeof text, run ? run : ".", row->trial);
        mcp_free(run);
        mcp_slot_text(&s, "link", link);
        mcp_slot_int(&s, "seed", row->seed);
        mcp_slot_int(&s, "trials", row->trial);
        mcp_slot_text(&s, "first", when);
        mcp_slot_number(&s, "cost", "%.3g", row->cost);
        mcp_slot_text(&s, "text", text);
        mcp_html(out, mcp_embed_study_html, "runs-row", &s);
    }
    mcp_html(out, mcp_embed_study_html, "runs-end", NULL);
}

static void write_page(mcp_text *out, const material *m, const char *folder)
{
    mcp_slots s = {0}, bad = {0}, file = {0};
    mcp_page_begin(out, m->study->name);
    mcp_slot_text(&s, "name", m->study->name);
    mcp_slot_text(&s, "about", m->study->about);
    mcp_slot_int(&s, "variants", m->study->variants);
    mcp_slot_int(&s, "first", m->study->seed_first);
    mcp_slot_int(&s, "last", m->study->seed_last);
    mcp_slot_int(&s, "trials", m->study->trials);
    mcp_slot_int(&s, "done", m->result.runs - m->result.unfinished);
    mcp_slot_int(&s, "runs", m->result.runs);
    mcp_html(out, mcp_embed_study_html, "heading", &s);
    if (m->result.unfinished) {
        mcp_slot_int(&bad, "count", m->result.unfinished);
        mcp_slot_int(&bad, "runs", m->result.runs);
        mcp_slot_text(&bad, "text", m->result.trouble.data);
        mcp_html(out, mcp_embed_study_html, "trouble", &bad);
    }
    mcp_page_section(out, "figures", "Figures");
    if (m->study->variants > FEW) {
        mcp_page_figure_begin(out);
        mcp_study_bars(out, m->study, &m->result, 0);
        mcp_page_figure_end(out, NULL);
    }
    mcp_page_grid(out, 1);
    for (size_t i = 0; m->study->variants <= FEW && i < sizeof charts / sizeof *charts; i++) {
        mcp_plot p;
        mcp_plot_init(&p, WIDTH, HEIGHT, charts[i].title, "trial", NULL);
        charts[i].draw(m, &p);
        mcp_page_figure(out, &p, charts[i].caption);
    }
    mcp_page_grid(out, 0);
    mcp_page_close(out);
    mcp_page_section(out, "variants", "Variants");
    mcp_html(out, mcp_embed_study_html, "totals-begin", NULL);
    for (int v = 0; v < m->study->variants; v++) total_row(out, m, v);
    mcp_html(out, mcp_embed_study_html, "table-end", NULL);
    mcp_page_close(out);
    mcp_page_section(out, "table", "Trial by trial");
    mcp_html(out, mcp_embed_study_html, "table-begin", NULL);
    for (int v = 0; v < m->study->variants; v++)
        for (int k = 1; k <= m->study->trials; k++) cell_row(out, m, v, k);
    mcp_html(out, mcp_embed_study_html, "table-end", NULL);
    mcp_page_close(out);
    mcp_page_section(out, "runs", "Runs");
    for (int v = 0; v < m->study->variants; v++) run_rows(out, m, folder, v);
    mcp_page_close(out);
    mcp_page_section(out, "file", "The study file");
    mcp_slot_text(&file, "name", m->study->file);
    mcp_slot_text(&file, "text", m->study->source);
    mcp_html(out, mcp_embed_study_html, "file", &file);
    mcp_page_close(out);
    mcp_page_end(out, mcp_embed_page_js);
}

mcp_status mcp_report_study(const char *folder, char **html, mcp_error *err)
{
    material   m;
    mcp_text   out = {0};
    mcp_status st = gather(&m, folder, err);
    *html = NULL;
    if (st == MCP_OK) {
        write_page(&out, &m, folder);
        st = mcp_text_take(&out, html, err);
    }
    material_free(&m);
    return st;
}

mcp_status mcp_report_study_runs(const char *folder, mcp_error *err)
{
    material   m;
    mcp_status st = gather(&m, folder, err);
    for (int i = 0; st == MCP_OK && i < mcp_study_runs(m.study); i++) {
        char *run = mcp_study_folder(m.study, folder, i),
             *path = run ? mcp_sprintf("%s/report.html", run) : NULL;
        char *html = NULL;
        if (!path) st = mcp_fail(err, MCP_ERR_MEMORY, "out of memory");
        else if (!mcp_file_exists(path) && mcp_study_done(m.study, folder, i) &&
                 (st = mcp_report_run(run, &html, err)) == MCP_OK)
            st = mcp_file_write(path, html, strlen(html), err);
        mcp_free(html);
        mcp_free(path);
        mcp_free(run);
    }
    material_free(&m);
    return st;
}
