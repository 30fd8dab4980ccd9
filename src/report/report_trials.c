/* report_trials.c - what each trial was: trajectory over the particle fan, inputs, cost of the optimisation.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "embedded.h"
#include "io/csv.h"
#include "math/arena.h"
#include "math/number.h"
#include "math/stats.h"
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

const char *mcp_item_group(const mcp_run_item *it, char *buf, size_t size)
{
    snprintf(buf, size, "%s-%d", it->info.explored ? "exploration" : "trial", it->info.number);
    return buf;
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

/* Where the success test holds along one state, the others as they are where it first held in the run; a
 * task whose test never held shows nothing. */
void mcp_chart_success(mcp_plot *p, const mcp_run *r, const mcp_run_item *it, int state)
{
    enum { POINTS = 400 };
    const mcp_system *s = r->system;
    double            in[MCP_MAX_STATE + MCP_MAX_INPUT] = {0}, out[MCP_MAX_LIST + 2], none[1] = {0};
    double           *work = mcp_calloc(mcp_program_work(s->events) + 1, sizeof *work);
    int               found = 0;
    double            low = INFINITY, high = -INFINITY;
    for (int i = 0; work && r->task->success.text && i < r->items && !found; i++) {
        double *real = mcp_run_outcome(r->item[i]);
        for (int k = r->item[i]->trial->samples - 1; real && k >= 0 && !found; k--) {
            memcpy(in, real + (size_t)k * (size_t)s->nx, (size_t)s->nx * sizeof *in);
            mcp_program_step(s->events, none, 1, in, none, out, work);
            found = out[0] != 0.0;
        }
        mcp_free(real);
    }
    double *real = found ? mcp_run_outcome(it) : NULL;
    for (int k = 0; real && k < it->trial->samples; k++) {
        double v = real[(size_t)k * (size_t)s->nx + (size_t)state];
        low  = fmin(low, v);
        high = fmax(high, v);
    }
    double margin = 0.3 * (high - low), from = NAN;
    int    named = 0, all = 1;
    for (int pass = 0; real && high > low && pass < 2; pass++)
        for (int k = 0; k <= POINTS; k++) {
            double v = low - margin + (high - low + 2 * margin) * k / POINTS;
            in[state] = v;
            mcp_program_step(s->events, none, 1, in, none, out, work);
            int holds = out[0] != 0.0 && k < POINTS;
            if (!pass) all &= out[0] != 0.0;
            else if (!all && holds && isnan(from)) from = v;
            else if (!all && !holds && !isnan(from)) {
                mcp_plot_region(p, from, v, MCP_C3, named++ ? NULL : "success");
                from = NAN;
            }
        }
    mcp_free(real);
    mcp_free(work);
}

void mcp_chart_input(mcp_plot *p, const mcp_run *r, const mcp_run_item *it, int input)
{
    const mcp_trial *t = it->trial;
    const mcp_task_input *u = &r->task->input[input];
    if (fmax(fabs(u->low), fabs(u->high)) < 1e6) {
        mcp_plot_hline(p, u->high, MCP_FAINT, "limit");
        mcp_plot_hline(p, u->low, MCP_FAINT, NULL);
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

/* The caption says what is in the chart. */
static void optimisation(mcp_text *out, const mcp_run_item *it)
{
    struct mcp_chart_history h;
    char                     why[256], caption[200];
    mcp_plot                 p;
    mcp_plot_init(&p, WIDTH, HEIGHT, "predicted cost while the policy is optimised", "step", NULL);
    if (isfinite(it->info.cost)) mcp_plot_hline(&p, it->info.cost, MCP_C2, "cost on the plant");
    if (!mcp_chart_history_load(&h, &p, it, why, sizeof why)) {
        mcp_page_note(out, "No cost curve: %s", why);
        return;
    }
    int lowered = 0;
    for (int i = 0; i < p.n; i++) lowered += p.item[i].kind == MCP_ITEM_VLINE;
    int n = mcp_print(caption, sizeof caption, "%d steps, from %.3g to %.3g without dropout", it->info.steps,
                     it->info.cost_first, it->info.cost_last);
    if (lowered)
        snprintf(caption + n, sizeof caption - (size_t)n,
                 "; dashed verticals: the learning rate was lowered, %d time%s.", lowered,
                 lowered == 1 ? "" : "s");
    else snprintf(caption + n, sizeof caption - (size_t)n, ".");
    mcp_page_figure(out, &p, caption);
    mcp_chart_history_free(&h);
}

const char *mcp_item_outcome(const mcp_run *r, const mcp_run_item *it, const char **class)
{
    const mcp_learn_info *i = &it->info;
    *class = i->explored ? "soft" : i->success ? "good" : i->ended || r->task->success.text ? "bad" : "soft";
    return i->explored ? "explored"
           : i->success ? "success"
           : i->ended ? "ended early"
           : r->task->success.text ? "no success"
                                   : "run";
}

static void one_trial(mcp_text *out, const mcp_run *r, const mcp_run_item *it, int open)
{
    char        name[48], group[48], label[96];
    const char *class;
    mcp_plot    p;
    mcp_slots   s = {0};
    mcp_slot_text(&s, "open", open ? "open" : "");
    mcp_slot_text(&s, "name", mcp_item_name(it, name, sizeof name));
    mcp_slot_text(&s, "outcome", mcp_item_outcome(r, it, &class));
    mcp_slot_text(&s, "class", class);
    mcp_slot_text(&s, "reason", it->info.ended ? it->info.reason : "");
    mcp_html(out, mcp_embed_run_html, "trial-begin", &s);
    mcp_report_verdict(out, it);
    mcp_page_grid(out, 1);
    mcp_item_group(it, group, sizeof group);
    for (int k = 0; k < r->system->nx; k++) {
        mcp_plot_init(&p, WIDTH, HEIGHT, mcp_state_label(r, k, label, sizeof label), "s", NULL);
        p.group = group;
        mcp_chart_success(&p, r, it, k);
        mcp_chart_state(&p, r, it, k);
        mcp_page_figure(out, &p, NULL);
    }
    for (int k = 0; k < r->system->nu; k++) {
        const mcp_task_input *u = &r->task->input[k];
        snprintf(label, sizeof label, u->unit && *u->unit ? "input %s [%s]" : "input %s", u->name,
                 u->unit ? u->unit : "");
        mcp_plot_init(&p, WIDTH, HEIGHT, label, "s", NULL);
        p.group = group;
        mcp_chart_input(&p, r, it, k);
        mcp_page_figure(out, &p, NULL);
    }
    if (!it->info.explored) optimisation(out, it);
    mcp_page_grid(out, 0);
    mcp_html(out, mcp_embed_run_html, "trial-end", NULL);
}

void mcp_report_trials(mcp_text *out, const mcp_run *r)
{
    mcp_page_section(out, "trials", "Trials");
    mcp_page_note(
        out, "Blue: what the particles forecast before the trial. Orange: what the plant did. Green: where "
             "the success test holds. Drag over a chart to zoom, double-click to see all.");
    if (!r->items) mcp_page_paragraph(out, "No trial is on record yet.");
    for (int i = r->items - 1; i >= 0; i--) one_trial(out, r, r->item[i], i == r->items - 1);
    mcp_page_close(out);
}

static void table_row(mcp_text *out, const mcp_run *r, const mcp_run_item *it)
{
    const mcp_learn_info *i = &it->info;
    char                  name[48];
    const char           *class;
    mcp_slots             s = {0};
    int                   e = i->explored;
    mcp_slot_text(&s, "name", mcp_item_name(it, name, sizeof name));
    mcp_slot_text(&s, "outcome", mcp_item_outcome(r, it, &class));
    mcp_slot_text(&s, "class", class);
    mcp_slot_text(&s, "reason", i->ended ? i->reason : "");
    mcp_slot_number(&s, "data", "%.0f", e ? NAN : i->data);
    mcp_slot_number(&s, "forecast", "%.2f", e ? NAN : i->forecast_cost);
    mcp_slot_number(&s, "cost", "%.2f", i->cost);
    mcp_slot_number(&s, "deviations", "%+.1f", e ? NAN : it->diagnosis.deviations);
    mcp_slot_number(&s, "chance", "%.0f %%", e || !r->task->success.text ? NAN : 100 * i->forecast_success);
    mcp_slot_number(&s, "band", "%.0f %%", e ? NAN : 100 * i->coverage);
    mcp_slot_number(&s, "steps", "%.0f", e ? NAN : i->steps);
    mcp_slot_number(&s, "model", "%.1f s", e ? NAN : i->model_s);
    mcp_slot_number(&s, "policy", "%.1f s", e ? NAN : i->optimise_s);
    mcp_html(out, mcp_embed_run_html, "table-row", &s);
}

/* The page's first line: the evaluation when there is one, else the trials themselves. */
static void lead(mcp_text *out, const mcp_run *r, const mcp_finish *f, int first)
{
    char      what[160], more[400] = "";
    int       trials = mcp_run_trials(r);
    mcp_slots s = {0};
    const char *class = "soft";
    if (f->known) {
        class = mcp_finish_headline(f, what, sizeof what, more, sizeof more) ? "good"
                : f->tested                                                  ? "bad"
                                                                             : "soft";
    } else if (!trials) snprintf(what, sizeof what, "No policy has been tried yet.");
    else if (first) {
        class = "good";
        snprintf(what, sizeof what, "Success in trial %d.", first);
        if (!r->item[r->items - 1]->info.success) snprintf(more, sizeof more, "The last trial failed again.");
    } else if (r->task->success.text) {
        class = "bad";
        snprintf(what, sizeof what, "No success in %d trial%s.", trials, trials == 1 ? "" : "s");
    } else
        mcp_print(what, sizeof what, "Cost from %.3g to %.3g in %d trial%s.", r->item[0]->info.cost,
                 r->item[r->items - 1]->info.cost, trials, trials == 1 ? "" : "s");
    mcp_slot_text(&s, "class", class);
    mcp_slot_text(&s, "what", what);
    mcp_slot_text(&s, "more", more);
    mcp_html(out, mcp_embed_run_html, "lead", &s);
}

void mcp_report_summary(mcp_text *out, const mcp_run *r, const mcp_finish *finish)
{
    int       first = 0;
    double    data = 0, work = 0;
    char      seed[32], when[32] = "-";
    mcp_slots s = {0};
    for (int k = 0; k < r->items; k++) {
        const mcp_learn_info *i = &r->item[k]->info;
        if (!i->explored && i->success && !first) first = i->number;
        data += (i->samples - 1) * r->system->ts;
        if (!i->explored)
            work += fmax(i->estimate_s, 0) + fmax(i->model_s, 0) + fmax(i->optimise_s, 0) +
                    fmax(i->forecast_s, 0);
    }
    lead(out, r, finish, first);
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)r->seed);
    if (first) snprintf(when, sizeof when, "trial %d", first);
    mcp_slot_int(&s, "trials", mcp_run_trials(r));
    mcp_slot_number(&s, "seconds", "%g", r->task->trial);
    mcp_slot_number(&s, "rate", "%g", r->task->rate);
    mcp_slot_number(&s, "data", "%.1f", data);
    mcp_slot_text(&s, "first", when);
    mcp_slot_text(&s, "first-name", r->task->success.text ? "first success" : "the task has no success test");
    mcp_slot_number(&s, "work", "%.1f", work);
    mcp_slot_text(&s, "algorithm", r->algorithm->name);
    mcp_slot_text(&s, "seed", seed);
    mcp_html(out, mcp_embed_run_html, "facts", &s);
    mcp_html(out, mcp_embed_run_html, "table-begin", NULL);
    for (int k = 0; k < r->items; k++) table_row(out, r, r->item[k]);
    mcp_html(out, mcp_embed_run_html, "table-end", NULL);
}

static const char *const windows[MCP_WINDOWS] = {"w0", "w1", "w2", "w3"};

/* How much of the last trial stayed in the band, by state and quarter of the trial: where the forecast goes
 * wrong. */
static void coverage(mcp_text *out, const mcp_run *r)
{
    const mcp_run_item *it = mcp_run_trial(r, mcp_run_trials(r));
    double              by_state[MCP_MAX_STATE * MCP_WINDOWS], all;
    double             *real = it && it->forecast ? mcp_run_modelled(r->system, it) : NULL;
    char                label[96], span[MCP_WINDOWS][48];
    mcp_slots           head = {0};
    if (!real) return;
    mcp_forecast_coverage(it->forecast, it->trial->samples, real, by_state, &all);
    mcp_page_paragraph(
        out, "Share of the last trial's states inside the particles' 5-95 % band, by quarter of the "
             "trial (90 % would be right):");
    for (int w = 0; w < MCP_WINDOWS; w++) {
        mcp_print(span[w], sizeof span[w], "%.2g - %.2g s", w * r->task->trial / MCP_WINDOWS,
                 (w + 1) * r->task->trial / MCP_WINDOWS);
        mcp_slot_text(&head, windows[w], span[w]);
    }
    mcp_html(out, mcp_embed_run_html, "coverage-begin", &head);
    for (int k = 0; k < r->system->nx; k++) {
        mcp_slots s = {0};
        mcp_slot_text(&s, "name", mcp_state_label(r, k, label, sizeof label));
        for (int w = 0; w < MCP_WINDOWS; w++)
            mcp_slot_number(&s, windows[w], "%.0f %%", 100 * by_state[k * MCP_WINDOWS + w]);
        mcp_html(out, mcp_embed_run_html, "coverage-row", &s);
    }
    mcp_html(out, mcp_embed_run_html, "coverage-end", NULL);
    mcp_free(real);
}

/* One trial is one throw of the dice: the interval of a forecast is that of its particles, of a policy that
 * of its evaluation. */
static void chance_chart(mcp_text *out, const mcp_run *r, const mcp_finish *finish)
{
    double   x[64], chance[64], low[64], high[64], won[64], at[1], rate[1], lower[1], upper[1];
    int      n = 0, particles = r->task->optimise.particles > 200 ? r->task->optimise.particles : 200;
    char     caption[240];
    mcp_plot p;
    for (int k = 0; k < r->items && n < 64; k++) {
        const mcp_learn_info *i = &r->item[k]->info;
        if (i->explored || isnan(i->forecast_success)) continue;
        x[n]      = i->number;
        chance[n] = 100 * i->forecast_success;
        mcp_wilson((int)lround(i->forecast_success * particles), particles, &low[n], &high[n]);
        low[n] *= 100;
        high[n] *= 100;
        won[n++] = i->success ? 100 : 0;
    }
    mcp_plot_init(&p, WIDTH, HEIGHT, "chance of success [%]", "trial", NULL);
    p.integers = 1;
    p.x0 = 0.5;
    p.x1 = mcp_run_trials(r) + 0.5;
    p.y0 = -5;
    p.y1 = 105;
    mcp_plot_ranges(&p, n, x, low, high, MCP_C1, NULL);
    mcp_plot_line(&p, n, x, chance, 1, MCP_C1, "forecast");
    mcp_plot_points(&p, n, x, won, 1, MCP_C2, "the trial")->weight = 4;
    snprintf(caption, sizeof caption, "Intervals: 95 %%, from %d particles.", particles);
    if (finish->known && finish->tested) {
        at[0]    = finish->trial + 0.12;
        rate[0]  = 100.0 * finish->successes / finish->runs;
        lower[0] = 100 * finish->low;
        upper[0] = 100 * finish->high;
        mcp_plot_ranges(&p, 1, at, lower, upper, MCP_C3, NULL);
        mcp_plot_points(&p, 1, at, rate, 1, MCP_C3, "evaluated")->weight = 4;
        snprintf(caption, sizeof caption,
                 "Intervals: 95 %%, from %d particles and from %d runs on the plant.", particles,
                 finish->runs);
    }
    mcp_page_figure(out, &p, caption);
}

/* Forecast against outcome: cost per trial with the particles' spread, success probability beside what
 * happened. */
void mcp_report_forecast(mcp_text *out, const mcp_run *r, const mcp_finish *finish)
{
    double   x[64], cost[64], low[64], high[64], real[64];
    int      n = 0, outside = 0;
    char     caption[160];
    mcp_plot p;
    for (int k = 0; k < r->items && n < 64; k++) {
        const mcp_learn_info *i = &r->item[k]->info;
        if (i->explored) continue;
        x[n]    = i->number;
        cost[n] = i->forecast_cost;
        low[n]  = i->forecast_cost - 2 * i->forecast_std;
        high[n] = i->forecast_cost + 2 * i->forecast_std;
        outside += i->cost < low[n] || i->cost > high[n];
        real[n++] = i->cost;
    }
    mcp_page_section(out, "forecast", "Forecast and outcome");
    if (!n) mcp_page_paragraph(out, "No policy trial yet.");
    else {
        mcp_page_grid(out, 1);
        mcp_plot_init(&p, WIDTH, HEIGHT, "cost of each trial", "trial", NULL);
        p.integers = 1;
        p.x0 = 0.5;
        p.x1 = mcp_run_trials(r) + 0.5;
        mcp_plot_ranges(&p, n, x, low, high, MCP_C1, NULL);
        mcp_plot_points(&p, n, x, cost, 1, MCP_C1, "forecast, 2 deviations");
        mcp_plot_points(&p, n, x, real, 1, MCP_C2, "plant")->weight = 4;
        snprintf(caption, sizeof caption, "%d of %d trials cost what was forecast, within two deviations.",
                 n - outside, n);
        mcp_page_figure(out, &p, caption);
        if (r->task->success.text) chance_chart(out, r, finish);
        mcp_page_grid(out, 0);
        coverage(out, r);
    }
    mcp_page_close(out);
}
