/* report_observer.c - what the policy saw against what was: true, measured, observed online, smoothed
 * offline. */
#include <math.h>
#include <string.h>

#include "embedded.h"
#include "math/arena.h"
#include "report/parts.h"

enum { WIDTH = 520, HEIGHT = 220 };

void mcp_observer_check_make(mcp_observer_check *o, const mcp_run *r, const mcp_run_item *it)
{
    const int nx = r->system->nx;
    memset(o, 0, sizeof *o);
    for (int k = 0; k < MCP_MAX_STATE; k++) o->observed[k] = o->smoothed[k] = o->spread[k] = NAN;
    if (!it) return;
    double *real = mcp_run_modelled(r->system, it);
    if (!real) return;
    const mcp_trial *t = it->trial;
    o->known = t->samples && isfinite(t->truth[0]) ? 1 : it->states ? 2 : 0;
    for (int k = 0; k < nx && o->known; k++) {
        double sum = 0, mean = 0, square = 0, smooth = 0;
        int    n = 0, m = 0;
        for (int i = 0; i < t->samples; i++) {
            size_t at = (size_t)i * (size_t)nx + (size_t)k;
            if (!isfinite(real[at])) continue;
            sum += (t->observed[at] - real[at]) * (t->observed[at] - real[at]);
            mean += real[at];
            square += real[at] * real[at];
            n++;
            if (!it->states || i < it->states->first || i >= it->states->first + it->states->count) continue;
            double e = it->states->state[(size_t)(i - it->states->first) * (size_t)nx + (size_t)k] - real[at];
            smooth += e * e;
            m++;
        }
        if (!n) continue;
        mean /= n;
        o->spread[k] = sqrt(fmax(square / n - mean * mean, 0));
        if (r->system->observed[k]) o->observed[k] = sqrt(sum / n);
        if (m && o->known == 1) o->smoothed[k] = sqrt(smooth / m);
    }
    mcp_free(real);
}

static int channel_of(const mcp_run *r, int state)
{
    for (int j = 0; j < r->task->nseen; j++)
        if (r->task->seen[j].state == state) return j;
    return -1;
}

/* What the sensors told of a state, or what they showed of it: one number a sample. */
static int told(const mcp_run *r, const mcp_trial *t, int channel, double *to)
{
    double *seen = NULL;
    if (mcp_trial_seen(r->system, t, &seen, NULL) != MCP_OK) return 0;
    for (int k = 0; k < t->samples; k++) to[k] = seen[k * r->task->nseen + channel];
    mcp_free(seen);
    return 1;
}

/* column: room for 2 x samples, filled with the times of the smoothed states and what was measured. */
void mcp_chart_observer(mcp_plot *p, const mcp_run *r, const mcp_run_item *it, int state, double *column)
{
    const mcp_trial *t = it->trial;
    const int        nx = r->system->nx, j = channel_of(r, state);
    double          *points = column + t->samples;
    if (j >= 0 && told(r, t, j, points))
        mcp_plot_points(p, t->samples, t->t, points, 1, MCP_C5, "measured")->weight = 1.6;
    mcp_plot_line(p, t->samples, t->t, t->truth + state, nx, MCP_INK,
                  isfinite(t->truth[state]) ? "true" : NULL)
        ->weight = 2.4;
    if (r->system->observed[state])
        mcp_plot_line(p, t->samples, t->t, t->observed + state, nx, MCP_C2, "observed")->weight = 1.3;
    if (it->states) {
        for (int i = 0; i < it->states->count; i++) column[i] = t->t[it->states->first + i];
        mcp_item *s =
            mcp_plot_line(p, it->states->count, column, it->states->state + state, nx, MCP_C3, "smoothed");
        s->weight = 1.2;
        s->dashed = 1;
    }
}

static void error_table(mcp_text *out, const mcp_run *r, const mcp_observer_check *o)
{
    char label[96];
    mcp_html(out, mcp_embed_run_html, "errors-begin", NULL);
    for (int k = 0; k < r->system->nx; k++) {
        mcp_slots s = {0};
        mcp_slot_text(&s, "name", mcp_state_label(r, k, label, sizeof label));
        mcp_slot_number(&s, "spread", "%.3g", o->spread[k]);
        mcp_slot_number(&s, "observed", "%.3g", o->observed[k]);
        mcp_slot_number(&s, "share", "%.1f", 100 * o->observed[k] / o->spread[k]);
        mcp_slot_number(&s, "smoothed", "%.3g", o->smoothed[k]);
        mcp_html(out, mcp_embed_run_html, "errors-row", &s);
    }
    mcp_html(out, mcp_embed_run_html, "errors-end", NULL);
}

void mcp_report_observer(mcp_text *out, const mcp_run *r, const mcp_observer_check *o)
{
    mcp_page_section(out, "observer", "Observer");
    const mcp_run_item *it = r->items ? r->item[r->items - 1] : NULL;
    double             *column = it ? mcp_calloc(2 * (size_t)it->trial->samples + 1, sizeof *column) : NULL;
    char                group[48];
    if (!column) {
        mcp_page_paragraph(out, "No trial is on record yet.");
        mcp_page_close(out);
        return;
    }
    mcp_page_note(
        out,
        "The last trial: what the sensors gave, what the policy saw in real time, and what the smoother made "
        "of it afterwards for the model. Errors are root mean squares against %s.",
        o->known == 1 ? "the true state" : "the smoothed state");
    for (int k = 0; k < mcp_task_seen(r->task); k++) {
        char why[400];
        if (mcp_observer_explain(r->system, k, why, sizeof why))
            mcp_page_note(out, "Chosen by itself for %s.", why);
    }
    error_table(out, r, o);
    mcp_page_grid(out, 1);
    for (int k = 0; k < r->system->nx; k++) {
        char     label[96];
        mcp_plot p;
        mcp_plot_init(&p, WIDTH, HEIGHT, mcp_state_label(r, k, label, sizeof label), "s", NULL);
        p.group = mcp_item_group(it, group, sizeof group);
        mcp_chart_observer(&p, r, it, k, column);
        mcp_page_figure(out, &p, NULL);
    }
    mcp_page_grid(out, 0);
    mcp_free(column);
    mcp_page_close(out);
}
