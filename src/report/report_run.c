/* report_run.c - a run's page, section by section, and single figures of it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "embedded.h"
#include "io/file.h"
#include "io/json.h"
#include "math/arena.h"
#include "mcpilco/version.h"
#include "report/parts.h"

static void file_details(mcp_text *out, const char *name, const char *text)
{
    mcp_slots s = {0};
    mcp_slot_text(&s, "name", name);
    mcp_slot_text(&s, "text", text);
    mcp_html(out, mcp_embed_run_html, "settings-file", &s);
}

/* 'text' for a shell. */
static void quoted(mcp_text *out, const char *text)
{
    mcp_text_add(out, "'");
    for (const char *c = text; *c; c++)
        if (*c == '\'') mcp_text_add(out, "'\\''");
        else mcp_text_bytes(out, c, 1);
    mcp_text_add(out, "'");
}

/* From anywhere: the folder's own copy of the task, by its full path. A task that names other files beside it
 * is taken from where it was. */
static void command(mcp_text *out, const mcp_run *r)
{
    char       *own = realpath(r->folder, NULL), *path = mcp_sprintf("%s/task.yaml", own ? own : r->folder);
    const char *from = mcp_json_get_text(r->notes, "task_file", "");
    mcp_text_add(out, "mcpilco learn ");
    quoted(out, *from && mcp_file_exists(from) ? from : path ? path : "task.yaml");
    mcp_text_add(out, " --seed %llu --trials %d --algorithm %s", (unsigned long long)r->seed, r->wanted,
                 r->algorithm->name);
    for (int i = 0; i < r->task->overrides; i++) {
        mcp_text_add(out, " --set ");
        quoted(out, r->task->override[i]);
    }
    mcp_text_add(out, " --out again");
    mcp_free(path);
    free(own);
}

static void settings(mcp_text *out, const mcp_run *r)
{
    char     *text = NULL, *dump = NULL, *path = mcp_sprintf("%s/task.yaml", r->folder);
    mcp_text  line = {0};
    mcp_slots s = {0};
    mcp_page_section(out, "settings", "Settings and how to reproduce");
    command(&line, r);
    mcp_slot_text(&s, "command", line.data);
    mcp_slot_text(&s, "version", MCP_VERSION);
    mcp_slot_text(&s, "status", r->status);
    mcp_html(out, mcp_embed_run_html, "settings", &s);
    if (path && mcp_file_read(path, &text, NULL, NULL) == MCP_OK) file_details(out, "task.yaml", text);
    else mcp_page_paragraph(out, "task.yaml is missing from the run folder.");
    if (mcp_task_dump(r->task, &dump, NULL) == MCP_OK)
        file_details(out, "All settings, defaults included", dump);
    mcp_text_free(&line);
    mcp_free(dump);
    mcp_free(text);
    mcp_free(path);
    mcp_page_close(out);
}

static void heading(mcp_text *out, const mcp_run *r, const mcp_error *trouble)
{
    const char *title = r->task->title && *r->task->title ? r->task->title : r->task->name;
    mcp_slots   s = {0}, t = {0};
    mcp_page_begin(out, title);
    mcp_slot_text(&s, "title", title);
    mcp_html(out, mcp_embed_run_html, "heading", &s);
    mcp_slot_text(&t, "why", trouble->text);
    if (trouble->status != MCP_OK) mcp_html(out, mcp_embed_run_html, "trouble", &t);
}

mcp_status mcp_report_run(const char *folder, char **html, mcp_error *err)
{
    mcp_run           *r = NULL;
    mcp_text           out = {0};
    mcp_error          trouble = {MCP_OK, ""};
    mcp_model_check    model;
    mcp_observer_check observer;
    mcp_finish         finish;
    *html         = NULL;
    mcp_status st = mcp_run_open(&r, folder, &trouble, err);
    if (st != MCP_OK) return st;
    mcp_finish_load(&finish, r);
    mcp_model_check_make(&model, r, mcp_run_trial(r, mcp_run_trials(r)));
    mcp_observer_check_make(&observer, r, r->items ? r->item[r->items - 1] : NULL);
    heading(&out, r, &trouble);
    mcp_report_summary(&out, r, &finish);
    mcp_report_animation(&out, r);
    mcp_report_diagnosis(&out, r);
    mcp_report_trials(&out, r);
    mcp_report_forecast(&out, r, &finish);
    mcp_report_model(&out, r, &model);
    mcp_report_observer(&out, r, &observer);
    settings(&out, r);
    mcp_page_end(&out, mcp_embed_page_js);
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
    double *column = mcp_calloc(2 * (size_t)it->trial->samples + 1, sizeof *column);
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
    return "trajectory, inputs, cost, model, observer, runs, trials, plane, moments, animation";
}

mcp_status mcp_open_trial(mcp_run **r, mcp_run_item **it, const char *folder, int number, mcp_error *err)
{
    mcp_error  trouble = {MCP_OK, ""};
    mcp_status st = mcp_run_open(r, folder, &trouble, err);
    *it = NULL;
    if (st != MCP_OK) return st;
    if ((*it = mcp_run_trial(*r, number ? number : mcp_run_trials(*r)))) return MCP_OK;
    st = mcp_fail(err, MCP_ERR_ARG, "%s has no trial %d; it has %d", folder, number, mcp_run_trials(*r));
    mcp_run_free(*r);
    *r = NULL;
    return st;
}

mcp_status mcp_report_figure(const char *folder, const char *name, int number, char **svg, mcp_error *err)
{
    mcp_run      *r = NULL;
    mcp_run_item *it;
    mcp_text      out = {0};
    mcp_panels    panels = {0};
    mcp_status    st = mcp_open_trial(&r, &it, folder, number, err);
    *svg = NULL;
    if (st != MCP_OK) return st;
    if (!strcmp(name, "trajectory")) figure_states(&panels, r, it, 0);
    else if (!strcmp(name, "observer")) figure_states(&panels, r, it, 1);
    else if (!strcmp(name, "inputs")) figure_inputs(&panels, r, it);
    else if (!strcmp(name, "cost")) st = figure_cost(&panels, it, err);
    else if (!strcmp(name, "model")) st = figure_model(&panels, r, it, err);
    else if (!strcmp(name, "runs")) st = mcp_figure_runs(&panels, r, it, err);
    else if (!strcmp(name, "plane")) st = mcp_figure_plane(&panels, r, it, err);
    else if (!strcmp(name, "trials")) st = mcp_figure_trials(&panels, r, err);
    else if (!strcmp(name, "moments")) st = mcp_figure_moments(&out, r, it, err);
    else
        st = mcp_fail(err, MCP_ERR_ARG, "there is no figure \"%s\" of a run; known: %s", name,
                      mcp_report_figures());
    mcp_run_free(r);
    if (st == MCP_OK && !out.data) {
        int width = panels.columns * FIGURE_WIDTH, height = panels.rows * PANEL_HEIGHT;
        mcp_text_add(&out,
                     "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %d' width='%d' height='%d'>\n",
                     width, height, width, height);
        if (panels.body.data) mcp_text_bytes(&out, panels.body.data, panels.body.length);
        mcp_text_add(&out, "</svg>\n");
        out.failed |= panels.body.failed;
    }
    if (st == MCP_OK) st = mcp_text_take(&out, svg, err);
    else mcp_text_free(&out);
    mcp_text_free(&panels.body);
    return st;
}
