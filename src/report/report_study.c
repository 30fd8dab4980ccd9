/* report_study.c - a study's page: success per trial with intervals, cost with its spread, first success,
 * times. */
#include "report/report_study.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/file.h"
#include "math/arena.h"
#include "report/page.h"
#include "report/plot.h"
#include "study/study.h"

enum { WIDTH = 560, HEIGHT = 300, VARIANTS = 12 };

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

static void chart_first(const material *m, mcp_plot *p)
{
    double width = 0.8 / shown(m);
    for (int v = 0; v < shown(m); v++) {
        mcp_study_total t;
        series         *s = &m->of[v];
        mcp_study_total_make(&t, &m->result, v);
        for (int k = 0; k < m->study->trials; k++) {
            s->x[k]     = k + 1 + width * (v - 0.5 * (shown(m) - 1));
            s->value[k] = t.first[k + 1];
        }
        mcp_plot_bars(p, m->study->trials, s->x, s->value, 0.9 * width, colour(v), m->study->variant[v].name);
    }
    p->integers = p->counts = 1;
}

typedef struct {
    const char *name, *title, *caption;
    void (*draw)(const material *m, mcp_plot *p);
} chart;

static const chart charts[] = {
    {"success", "success per trial [%]",
     "Bars: Wilson's 95 % interval over seeds. Dashed: the paper's figures, where given.", chart_success},
    {"cost", "metric per trial", "Median and 5-95 % over seeds.", chart_cost},
    {"first", "seeds that solved it first in trial", "Seeds that never did are not shown.", chart_first},
};

const char *mcp_report_study_figures(void) { return "success, cost, first"; }

mcp_status mcp_report_study_figure(const char *folder, const char *name, char **svg, mcp_error *err)
{
    material   m;
    mcp_text   out = {0};
    mcp_status st = gather(&m, folder, err);
    int        found = 0;
    *svg = NULL;
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

mcp_status mcp_report_study(const char *folder, char **html, mcp_error *err)
{
    material   m;
    mcp_text   out = {0}, table = {0};
    mcp_status st = gather(&m, folder, err);
    *html = NULL;
    if (st == MCP_OK) {
        mcp_page_begin(&out, m.study->name);
        mcp_text_add(&out, "<h1>");
        mcp_text_escaped(&out, m.study->name);
        mcp_text_add(&out, "</h1><p class='lead'>");
        mcp_text_escaped(&out, m.study->about);
        mcp_text_add(
            &out, "</p><p class='soft'>%d variants, seeds %d to %d, %d trials; %d of %d runs finished.</p>\n",
            m.study->variants, m.study->seed_first, m.study->seed_last, m.study->trials,
            m.result.runs - m.result.unfinished, m.result.runs);
        mcp_page_section(&out, "figures", "Figures");
        mcp_text_add(&out, "<div class='grid2'>");
        for (size_t i = 0; i < sizeof charts / sizeof *charts; i++) {
            mcp_plot p;
            mcp_plot_init(&p, WIDTH, HEIGHT, charts[i].title, "trial", NULL);
            charts[i].draw(&m, &p);
            mcp_text_add(&out, "<figure>");
            mcp_plot_render(&p, &out);
            mcp_text_add(&out, "<figcaption>%s</figcaption></figure>\n", charts[i].caption);
        }
        mcp_text_add(&out, "</div>");
        mcp_page_close(&out);
        mcp_page_section(&out, "table", "Table");
        mcp_study_print(&table, m.study, &m.result);
        mcp_text_add(&out, "<pre>");
        mcp_text_escaped(&out, table.data);
        mcp_text_add(&out, "</pre>");
        mcp_page_close(&out);
        mcp_page_section(&out, "file", "The study file");
        mcp_text_add(&out, "<pre><code>");
        mcp_text_escaped(&out, m.study->source);
        mcp_text_add(&out, "</code></pre>");
        mcp_page_close(&out);
        mcp_page_end(&out);
        out.failed |= table.failed;
        st = mcp_text_take(&out, html, err);
    }
    mcp_text_free(&table);
    material_free(&m);
    return st;
}
