/* report_run.c - a run's page, section by section, and single figures of it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/file.h"
#include "math/arena.h"
#include "mcpilco/version.h"
#include "report/parts.h"

static void settings(mcp_text *out, const mcp_run *r)
{
    char *text = NULL, *path = mcp_sprintf("%s/task.yaml", r->folder);
    mcp_page_section(out, "settings", "Settings and how to reproduce");
    mcp_text_add(out,
                 "<p>The same task, settings and seed give the same numbers on any number of "
                 "threads:</p><pre><code>mcpilco learn task.yaml --seed %llu --trials %d --algorithm %s",
                 (unsigned long long)r->seed, r->wanted, r->algorithm->name);
    for (int i = 0; i < r->overrides; i++) {
        mcp_text_add(out, " --set '");
        mcp_text_escaped(out, r->override[i]);
        mcp_text_add(out, "'");
    }
    mcp_text_add(out, "</code></pre>\n<p class='soft'>Version " MCP_VERSION "; run folder status: ");
    mcp_text_escaped(out, r->status);
    mcp_text_add(out, ".</p>\n");
    if (path && mcp_file_read(path, &text, NULL, NULL) == MCP_OK) {
        mcp_text_add(out, "<details><summary>task.yaml</summary><pre><code>");
        mcp_text_escaped(out, text);
        mcp_text_add(out, "</code></pre></details>\n");
    } else mcp_text_add(out, "<p>task.yaml is missing from the run folder.</p>");
    char *dump = NULL;
    if (mcp_task_dump(r->task, &dump, NULL) == MCP_OK) {
        mcp_text_add(out, "<details><summary>All settings, defaults included</summary><pre><code>");
        mcp_text_escaped(out, dump);
        mcp_text_add(out, "</code></pre></details>\n");
    }
    mcp_free(dump);
    mcp_free(text);
    mcp_free(path);
    mcp_page_close(out);
}

static void heading(mcp_text *out, const mcp_run *r, const mcp_error *trouble)
{
    const char *title = r->task->title && *r->task->title ? r->task->title : r->task->name;
    mcp_page_begin(out, title);
    mcp_text_add(out, "<h1>");
    mcp_text_escaped(out, title);
    mcp_text_add(out, "</h1>\n<nav class='noprint'><a href='#animation'>Animation</a><a "
                      "href='#diagnosis'>Diagnosis</a><a href='#trials'>Trials</a>"
                      "<a href='#forecast'>Forecast</a><a href='#model'>Model</a><a "
                      "href='#observer'>Observer</a><a href='#settings'>Settings</a></nav>\n");
    if (trouble->status != MCP_OK) {
        mcp_text_add(out,
                     "<div class='card'><p><strong class='bad'>Part of the run could not be read.</strong> ");
        mcp_text_escaped(out, trouble->text);
        mcp_text_add(out, " The page shows what is there.</p></div>\n");
    }
}

mcp_status mcp_report_run(const char *folder, char **html, mcp_error *err)
{
    mcp_run           *r = NULL;
    mcp_text           out = {0};
    mcp_error          trouble = {MCP_OK, ""};
    mcp_model_check    model;
    mcp_observer_check observer;
    *html         = NULL;
    mcp_status st = mcp_run_open(&r, folder, &trouble, err);
    if (st != MCP_OK) return st;
    mcp_model_check_make(&model, r, mcp_run_trial(r, mcp_run_trials(r)));
    mcp_observer_check_make(&observer, r, r->items ? r->item[r->items - 1] : NULL);
    heading(&out, r, &trouble);
    mcp_report_summary(&out, r);
    mcp_report_animation(&out, r);
    mcp_report_diagnosis(&out, r, &model, &observer);
    mcp_report_trials(&out, r);
    mcp_report_forecast(&out, r);
    mcp_report_model(&out, r, &model);
    mcp_report_observer(&out, r, &observer);
    settings(&out, r);
    mcp_page_end(&out);
    mcp_model_check_free(&model);
    mcp_run_free(r);
    return mcp_text_take(&out, html, err);
}

/* Figures: panels below each other, one per state, input or GP. */

enum { FIGURE_WIDTH = 560, PANEL_HEIGHT = 210 };

void mcp_panel(mcp_panels *out, mcp_plot *p, int column, int row)
{
    mcp_text one  = {0};
    p->width      = FIGURE_WIDTH;
    p->height     = PANEL_HEIGHT;
    p->standalone = 1;
    mcp_plot_render(p, &one);
    if (one.data)
        mcp_text_add(&out->body, "<g transform='translate(%d %d)'>%s</g>\n", column * FIGURE_WIDTH,
                     row * PANEL_HEIGHT, one.data);
    out->body.failed |= one.failed;
    if (column >= out->columns) out->columns = column + 1;
    if (row >= out->rows) out->rows = row + 1;
    mcp_text_free(&one);
}

static void figure_states(mcp_panels *out, const mcp_run *r, const mcp_run_item *it, int observer)
{
    double *column = mcp_calloc((size_t)it->trial->samples + 1, sizeof *column);
    for (int k = 0; column && k < r->system->nx; k++) {
        char     label[96];
        mcp_plot p;
        mcp_plot_init(&p, 0, 0, mcp_state_label(r, k, label, sizeof label), "s", NULL);
        if (observer) mcp_chart_observer(&p, r, it, k, column);
        else mcp_chart_state(&p, r, it, k);
        mcp_panel(out, &p, 0, k);
    }
    out->body.failed |= !column;
    mcp_free(column);
}

static void figure_inputs(mcp_panels *out, const mcp_run *r, const mcp_run_item *it)
{
    for (int k = 0; k < r->system->nu; k++) {
        mcp_plot p;
        mcp_plot_init(&p, 0, 0, r->task->input[k].name, "s", NULL);
        mcp_chart_input(&p, r, it, k);
        mcp_panel(out, &p, 0, k);
    }
}

static mcp_status figure_cost(mcp_panels *out, const mcp_run_item *it, mcp_error *err)
{
    struct mcp_chart_history h;
    char                     why[256];
    mcp_plot                 p;
    mcp_plot_init(&p, 0, 0, "predicted cost", "step", NULL);
    if (!mcp_chart_history_load(&h, &p, it, why, sizeof why)) return mcp_fail(err, MCP_ERR_IO, "%s", why);
    mcp_panel(out, &p, 0, 0);
    mcp_chart_history_free(&h);
    return MCP_OK;
}

static mcp_status figure_model(mcp_panels *out, const mcp_run *r, const mcp_run_item *it, mcp_error *err)
{
    mcp_model_check m;
    mcp_model_check_make(&m, r, it);
    mcp_status st = m.known ? MCP_OK : mcp_fail(err, MCP_ERR_IO, "%s", m.why);
    for (int k = 0; k < m.ngp && st == MCP_OK; k++) {
        char     title[120];
        mcp_plot p;
        snprintf(title, sizeof title, "change of %s", r->task->state[r->task->gp[k].state]);
        mcp_plot_init(&p, 0, 0, title, "s", NULL);
        mcp_chart_model(&p, r, &m, k);
        mcp_panel(out, &p, 0, k);
    }
    mcp_model_check_free(&m);
    return st;
}

const char *mcp_report_figures(void)
{
    return "trajectory, inputs, cost, model, observer, runs, trials, plane";
}

mcp_status mcp_report_figure(const char *folder, const char *name, int number, char **svg, mcp_error *err)
{
    mcp_run   *r = NULL;
    mcp_text   out = {0};
    mcp_panels panels = {0};
    mcp_error  trouble = {MCP_OK, ""};
    *svg          = NULL;
    mcp_status st = mcp_run_open(&r, folder, &trouble, err);
    if (st != MCP_OK) return st;
    mcp_run_item *it = mcp_run_trial(r, number ? number : mcp_run_trials(r));
    if (!it)
        st = mcp_fail(err, MCP_ERR_ARG, "%s has no trial %d; it has %d", folder, number, mcp_run_trials(r));
    else if (!strcmp(name, "trajectory")) figure_states(&panels, r, it, 0);
    else if (!strcmp(name, "observer")) figure_states(&panels, r, it, 1);
    else if (!strcmp(name, "inputs")) figure_inputs(&panels, r, it);
    else if (!strcmp(name, "cost")) st = figure_cost(&panels, it, err);
    else if (!strcmp(name, "model")) st = figure_model(&panels, r, it, err);
    else if (!strcmp(name, "runs")) st = mcp_figure_runs(&panels, r, it, err);
    else if (!strcmp(name, "plane")) st = mcp_figure_plane(&panels, r, it, err);
    else if (!strcmp(name, "trials")) st = mcp_figure_trials(&panels, r, err);
    else
        st = mcp_fail(err, MCP_ERR_ARG, "there is no figure \"%s\" of a run; known: %s", name,
                      mcp_report_figures());
    mcp_run_free(r);
    if (st == MCP_OK) {
        int width = panels.columns * FIGURE_WIDTH, height = panels.rows * PANEL_HEIGHT;
        mcp_text_add(&out,
                     "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %d' width='%d' height='%d'>\n",
                     width, height, width, height);
        if (panels.body.data) mcp_text_bytes(&out, panels.body.data, panels.body.length);
        mcp_text_add(&out, "</svg>\n");
        out.failed |= panels.body.failed;
        st = mcp_text_take(&out, svg, err);
    }
    mcp_text_free(&panels.body);
    return st;
}
