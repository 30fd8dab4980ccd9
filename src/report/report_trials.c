/* report_trials.c - what each trial was: trajectory over the particle fan, inputs, cost of the optimisation.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/csv.h"
#include "math/arena.h"
#include "report/parts.h"

enum { WIDTH = 520, HEIGHT = 230, GHOSTS = 12 };

const char *mcp_state_label(const mcp_run *r, int state, char *buf, size_t size)
{
    const char *unit = r->task->state_unit ? r->task->state_unit[state] : NULL;
    if (unit && *unit) snprintf(buf, size, "%s [%s]", r->task->state[state], unit);
    else snprintf(buf, size, "%s", r->task->state[state]);
    return buf;
}

const char *mcp_item_name(const mcp_run_item *it, char *buf, size_t size)
{
    snprintf(buf, size, "%s %d", it->info.explored ? "exploration" : "trial", it->info.number);
    return buf;
}

void mcp_page_figure(mcp_text *out, const mcp_plot *p, const char *caption)
{
    mcp_text_add(out, "<figure>");
    mcp_plot_render(p, out);
    if (caption) {
        mcp_text_add(out, "<figcaption>");
        mcp_text_escaped(out, caption);
        mcp_text_add(out, "</figcaption>");
    }
    mcp_text_add(out, "</figure>\n");
}

static int has_truth(const mcp_trial *t, int state)
{
    for (int i = 0; i < t->samples; i++)
        if (isfinite(t->truth[(size_t)i * (size_t)t->nx + (size_t)state])) return 1;
    return 0;
}

/* The paper's picture: band and median of the particles, some of them, and what the plant did. */
void mcp_chart_state(mcp_plot *p, const mcp_run *r, const mcp_run_item *it, int state)
{
    const mcp_trial    *t = it->trial;
    const mcp_forecast *f = it->forecast;
    const int           nx = r->system->nx;
    if (f) {
        int n = f->samples < t->capacity ? f->samples : t->capacity;
        for (int k = 0; f->states && k < f->kept && k < GHOSTS; k++) {
            mcp_item *g = mcp_plot_line(p, n < t->samples ? n : t->samples, t->t, f->states + k * nx + state,
                                        f->kept * nx, MCP_FAINT, k ? NULL : "particles");
            g->weight   = 0.6;
        }
        int m = n < t->samples ? n : t->samples;
        mcp_plot_band(p, m, t->t, f->low + state, f->high + state, nx, MCP_C1, "5-95 %");
        mcp_plot_line(p, m, t->t, f->median + state, nx, MCP_C1, "median")->weight = 1;
    }
    mcp_item *real;
    if (has_truth(t, state)) real = mcp_plot_line(p, t->samples, t->t, t->truth + state, nx, MCP_C2, "plant");
    else real = mcp_plot_line(p, t->samples, t->t, t->observed + state, nx, MCP_C2, "observed");
    real->weight = 2;
}

void mcp_chart_input(mcp_plot *p, const mcp_run *r, const mcp_run_item *it, int input)
{
    const mcp_trial *t = it->trial;
    double           limit = r->task->input[input].limit;
    if (limit > 0 && limit < 1e6) {
        mcp_plot_hline(p, limit, MCP_FAINT, "limit");
        mcp_plot_hline(p, -limit, MCP_FAINT, NULL);
    }
    mcp_plot_line(p, t->samples, t->t, t->input + input, t->nu, MCP_C3, NULL);
}

void mcp_chart_history_free(struct mcp_chart_history *h)
{
    mcp_csv_free(h->table);
    mcp_free(h->step);
    memset(h, 0, sizeof *h);
}

int mcp_chart_history_load(struct mcp_chart_history *h, mcp_plot *p, const mcp_run_item *it, char *why,
                           size_t size)
{
    mcp_error err;
    mcp_csv  *c = NULL;
    char     *path = mcp_sprintf("%s/history.csv", it->folder ? it->folder : ".");
    memset(h, 0, sizeof *h);
    if (!path || mcp_csv_read(&c, path, &err) != MCP_OK) {
        snprintf(why, size, "%.*s", (int)size - 1, path ? err.text : "out of memory");
        mcp_free(path);
        return 0;
    }
    mcp_free(path);
    int cost = mcp_csv_find(c, "cost"), rate = mcp_csv_find(c, "rate");
    h->table = c;
    h->step  = mcp_calloc((size_t)c->rows * 2 + 1, sizeof *h->step);
    if (cost < 0 || !h->step) {
        snprintf(why, size, "history.csv has no column \"cost\"");
        mcp_chart_history_free(h);
        return 0;
    }
    h->cost = h->step + c->rows;
    for (int i = 0; i < c->rows; i++) {
        h->step[i] = i + 1;
        h->cost[i] = c->value[(size_t)i * (size_t)c->columns + (size_t)cost];
        if (rate >= 0 && i > 0 && p->n < MCP_PLOT_ITEMS - 2) {
            double now = c->value[(size_t)i * (size_t)c->columns + (size_t)rate],
                   before = c->value[(size_t)(i - 1) * (size_t)c->columns + (size_t)rate];
            if (now < 0.75 * before) mcp_plot_vline(p, i + 1, MCP_FAINT, NULL);
        }
    }
    mcp_plot_line(p, c->rows, h->step, h->cost, 1, MCP_C4, NULL)->weight = 1.1;
    return 1;
}

static void optimisation(mcp_text *out, const mcp_run_item *it)
{
    struct mcp_chart_history h;
    char                     why[256];
    mcp_plot                 p;
    mcp_plot_init(&p, WIDTH, HEIGHT, "predicted cost while the policy is optimised", "step", NULL);
    if (isfinite(it->info.cost)) mcp_plot_hline(&p, it->info.cost, MCP_C2, "cost on the plant");
    if (mcp_chart_history_load(&h, &p, it, why, sizeof why)) {
        mcp_page_figure(out, &p,
                        "Dropout makes single steps cost more than the policy does; dashed verticals: the "
                        "learning rate was lowered.");
        mcp_chart_history_free(&h);
    } else {
        mcp_text_add(out, "<p class='soft'>No cost curve: ");
        mcp_text_escaped(out, why);
        mcp_text_add(out, "</p>\n");
    }
}

static void outcome_words(mcp_text *out, const mcp_run_item *it)
{
    const mcp_learn_info *i = &it->info;
    if (i->explored) mcp_text_add(out, "<span class='soft'>exploration, %d samples</span>", i->samples);
    else if (i->success) mcp_text_add(out, "<span class='good'>solved</span>");
    else mcp_text_add(out, "<span class='bad'>not solved</span>");
    if (i->ended) {
        mcp_text_add(out, " <span class='soft'>(ended early: ");
        mcp_text_escaped(out, i->reason);
        mcp_text_add(out, ")</span>");
    }
}

static void one_trial(mcp_text *out, const mcp_run *r, const mcp_run_item *it, int open)
{
    char     name[48], label[96];
    mcp_plot p;
    mcp_text_add(out, "<details%s><summary>%s: ", open ? " open" : "", mcp_item_name(it, name, sizeof name));
    outcome_words(out, it);
    mcp_text_add(out, "</summary>\n<div class='grid2'>\n");
    for (int k = 0; k < r->system->nx; k++) {
        mcp_plot_init(&p, WIDTH, HEIGHT, mcp_state_label(r, k, label, sizeof label), "s", NULL);
        mcp_chart_state(&p, r, it, k);
        mcp_page_figure(out, &p, NULL);
    }
    for (int k = 0; k < r->system->nu; k++) {
        const mcp_task_input *u = &r->task->input[k];
        snprintf(label, sizeof label, u->unit && *u->unit ? "input %s [%s]" : "input %s", u->name,
                 u->unit ? u->unit : "");
        mcp_plot_init(&p, WIDTH, HEIGHT, label, "s", NULL);
        mcp_chart_input(&p, r, it, k);
        mcp_page_figure(out, &p, NULL);
    }
    if (!it->info.explored) optimisation(out, it);
    mcp_text_add(out, "</div></details>\n");
}

void mcp_report_trials(mcp_text *out, const mcp_run *r)
{
    mcp_page_section(out, "trials", "Trials");
    mcp_text_add(out, "<p class='soft'>Blue: what the particles forecast before the trial. Orange: what the "
                      "plant did.</p>\n");
    if (!r->items) mcp_text_add(out, "<p>No trial is on record yet.</p>\n");
    for (int i = r->items - 1; i >= 0; i--) one_trial(out, r, r->item[i], i == r->items - 1);
    mcp_page_close(out);
}

static void cell(mcp_text *out, double v, const char *format)
{
    if (isfinite(v)) {
        mcp_text_add(out, "<td>");
        char text[40];
        snprintf(text, sizeof text, format, v); /* formats are ours, see the callers */
        mcp_text_add(out, "%s</td>", text);
    } else mcp_text_add(out, "<td></td>");
}

static void trial_table(mcp_text *out, const mcp_run *r)
{
    mcp_text_add(
        out, "<div class='wide'><table><thead><tr><th>Trial</th><th>Outcome</th><th>Data</th><th>Predicted "
             "cost</th>"
             "<th>Real cost</th><th>Forecast</th><th>In band</th><th>Steps</th><th>Model [s]</th><th>Policy "
             "[s]</th></tr></thead><tbody>\n");
    for (int k = 0; k < r->items; k++) {
        const mcp_learn_info *i = &r->item[k]->info;
        char                  name[48];
        mcp_text_add(out, "<tr><td>%s</td><td>", mcp_item_name(r->item[k], name, sizeof name));
        outcome_words(out, r->item[k]);
        mcp_text_add(out, "</td>");
        cell(out, i->explored ? NAN : i->data, "%.0f");
        cell(out, i->explored ? NAN : i->forecast_cost, "%.2f");
        cell(out, i->cost, "%.2f");
        cell(out, i->explored ? NAN : 100 * i->forecast_success, "%.0f %%");
        cell(out, i->explored ? NAN : 100 * i->coverage, "%.0f %%");
        cell(out, i->explored ? NAN : i->steps, "%.0f");
        cell(out, i->explored ? NAN : i->model_s, "%.2f");
        cell(out, i->explored ? NAN : i->optimise_s, "%.1f");
        mcp_text_add(out, "</tr>\n");
    }
    mcp_text_add(out, "</tbody></table></div>\n");
}

void mcp_report_summary(mcp_text *out, const mcp_run *r)
{
    int    first = 0, trials = mcp_run_trials(r);
    double data = 0, work = 0;
    for (int k = 0; k < r->items; k++) {
        const mcp_learn_info *i = &r->item[k]->info;
        if (!i->explored && i->success && !first) first = i->number;
        if (!first || i->number < first || i->explored) data += (i->samples - 1) * r->system->ts;
        if (!i->explored) work += i->estimate_s + i->model_s + i->optimise_s + i->forecast_s;
    }
    mcp_text_add(out, "<p class='lead'>");
    if (first)
        mcp_text_add(
            out, "<span class='good'>Solved in trial %d</span>, learned from %.1f s of data on the plant.",
            first, data);
    else if (trials)
        mcp_text_add(out, "<span class='bad'>Not solved</span> in %d trial%s.", trials,
                     trials == 1 ? "" : "s");
    else mcp_text_add(out, "No policy has been tried yet.");
    if (trials && first && !r->item[r->items - 1]->info.success)
        mcp_text_add(out, " <span class='bad'>The last trial failed again.</span>");
    mcp_text_add(out,
                 "</p><p class='soft'>Algorithm %s, seed %llu, %d exploration%s and %d trial%s of %g s at %g "
                 "Hz; %.1f s of computing.</p>\n",
                 r->algorithm->name, (unsigned long long)r->seed, r->explored, r->explored == 1 ? "" : "s",
                 trials, trials == 1 ? "" : "s", r->task->trial, r->task->rate, work);
    trial_table(out, r);
}

/* How much of the last trial stayed in the band, by state and quarter of the trial: where the forecast goes
 * wrong. */
static void coverage(mcp_text *out, const mcp_run *r)
{
    const mcp_run_item *it = mcp_run_trial(r, mcp_run_trials(r));
    double              by_state[MCP_MAX_STATE * MCP_WINDOWS], all;
    double             *real = it && it->forecast ? mcp_run_outcome(it) : NULL;
    char                label[96];
    if (!real) return;
    mcp_forecast_coverage(it->forecast, it->trial->samples, real, by_state, &all);
    mcp_text_add(out, "<p>Share of the last trial's states inside the particles' 5-95 %% band, by quarter of "
                      "the trial (90 %% would be right):</p>"
                      "<div class='wide'><table><thead><tr><th>State</th>");
    for (int w = 0; w < MCP_WINDOWS; w++)
        mcp_text_add(out, "<th>%.2g - %.2g s</th>", w * r->task->trial / MCP_WINDOWS,
                     (w + 1) * r->task->trial / MCP_WINDOWS);
    mcp_text_add(out, "</tr></thead><tbody>\n");
    for (int k = 0; k < r->system->nx; k++) {
        mcp_text_add(out, "<tr><td>");
        mcp_text_escaped(out, mcp_state_label(r, k, label, sizeof label));
        mcp_text_add(out, "</td>");
        for (int w = 0; w < MCP_WINDOWS; w++) cell(out, 100 * by_state[k * MCP_WINDOWS + w], "%.0f %%");
        mcp_text_add(out, "</tr>\n");
    }
    mcp_text_add(out, "</tbody></table></div>\n");
    mcp_free(real);
}

/* Forecast against outcome: cost per trial with the particles' spread, success probability beside what
 * happened. */
void mcp_report_forecast(mcp_text *out, const mcp_run *r)
{
    double   x[64], cost[64], low[64], high[64], real[64], chance[64], won[64];
    int      n = 0;
    mcp_plot p;
    for (int k = 0; k < r->items && n < 64; k++) {
        const mcp_learn_info *i = &r->item[k]->info;
        if (i->explored) continue;
        x[n]      = i->number;
        cost[n]   = i->forecast_cost;
        low[n]    = i->forecast_cost - 2 * i->forecast_std;
        high[n]   = i->forecast_cost + 2 * i->forecast_std;
        real[n]   = i->cost;
        chance[n] = 100 * i->forecast_success;
        won[n++]  = i->success ? 100 : 0;
    }
    mcp_page_section(out, "forecast", "Forecast and outcome");
    if (!n) mcp_text_add(out, "<p>No policy trial yet.</p>");
    else {
        mcp_text_add(out, "<div class='grid2'>");
        mcp_plot_init(&p, WIDTH, HEIGHT, "cost of each trial", "trial", NULL);
        p.integers = 1;
        p.x0 = 0.5;
        p.x1 = n + 0.5;
        mcp_plot_ranges(&p, n, x, low, high, MCP_C1, NULL);
        mcp_plot_points(&p, n, x, cost, 1, MCP_C1, "forecast, 2 deviations");
        mcp_plot_points(&p, n, x, real, 1, MCP_C2, "plant")->weight = 4;
        mcp_page_figure(out, &p, "A plant far outside the bars met something the model does not know.");
        mcp_plot_init(&p, WIDTH, HEIGHT, "chance of success [%]", "trial", NULL);
        p.integers = 1;
        p.x0 = 0.5;
        p.x1 = n + 0.5;
        p.y0 = -5;
        p.y1 = 105;
        mcp_plot_line(&p, n, x, chance, 1, MCP_C1, "forecast");
        mcp_plot_points(&p, n, x, chance, 1, MCP_C1, NULL);
        mcp_plot_points(&p, n, x, won, 1, MCP_C2, "happened")->weight = 4;
        mcp_page_figure(out, &p, "One trial is one throw of the dice: mcpilco evaluate throws it 400 times.");
        mcp_text_add(out, "</div>");
        coverage(out, r);
    }
    mcp_page_close(out);
}
