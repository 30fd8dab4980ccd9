/* report_model.c - can the model be trusted: one-step predictions of a trial it had not seen, and which
 * features matter. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "embedded.h"
#include "math/arena.h"
#include "math/number.h"
#include "model/kernel.h"
#include "report/parts.h"

enum { WIDTH = 520, HEIGHT = 210, BINS = 25 };

#define NINETY 1.6448536269514722 /* deviations that hold 90 % of a normal distribution */

static mcp_status predict(mcp_model_check *m, const mcp_run *r, const mcp_run_item *it,
                          const mcp_pairs *pairs, mcp_error *err)
{
    size_t     n = (size_t)pairs->n, g = (size_t)r->system->ngp;
    double    *block = mcp_calloc(n + 5 * n * g + 2 * g + 1, sizeof *block);
    mcp_status st = MCP_OK;
    if (!block) return mcp_fail(err, MCP_ERR_MEMORY, "out of memory for %d predictions", pairs->n);
    m->t        = block;
    m->change   = m->t + n;
    m->mean     = m->change + n * g;
    m->std      = m->mean + n * g;
    m->low      = m->std + n * g;
    m->high     = m->low + n * g;
    m->coverage = m->high + n * g;
    m->z_rms    = m->coverage + g;
    m->n        = pairs->n;
    m->ngp      = r->system->ngp;
    memcpy(m->change, pairs->Y, n * g * sizeof *block);
    for (size_t k = 0; k < n; k++)
        m->t[k] = it->trial->t[(size_t)it->states->first + (size_t)m->fit->lost + k];
    for (size_t i = 0; i < g && st == MCP_OK; i++) {
        mcp_gp *gp = m->fit->gp[i];
        double *mean = m->mean + i * n, *std = m->std + i * n;
        double  known = m->fit->sensor_std[i], noise = mcp_gp_noise_var(gp) + known * known;
        double  inside = 0, sum = 0;
        st = mcp_gp_predict(gp, pairs->n, pairs->X, mean, std, err);
        for (size_t k = 0; st == MCP_OK && k < n; k++) {
            std[k]   = sqrt(fmax(std[k], 0) + noise);
            double z = (m->change[i * n + k] - mean[k]) / std[k];
            m->low[i * n + k]  = mean[k] - NINETY * std[k];
            m->high[i * n + k] = mean[k] + NINETY * std[k];
            inside += fabs(z) <= NINETY;
            sum += z * z;
        }
        m->coverage[i] = inside / pairs->n;
        m->z_rms[i]    = sqrt(sum / pairs->n);
    }
    return st;
}

void mcp_model_check_make(mcp_model_check *m, const mcp_run *r, const mcp_run_item *it)
{
    mcp_error  err   = {MCP_OK, ""};
    mcp_pairs *pairs = NULL;
    memset(m, 0, sizeof *m);
    if (!it || it->info.explored) snprintf(m->why, sizeof m->why, "no policy trial yet");
    else if (!it->states) snprintf(m->why, sizeof m->why, "the last trial has no smoothed states");
    else if (mcp_run_model(&m->fit, r, it->info.number, NULL, &err) == MCP_OK &&
             mcp_fit_pairs(&pairs, m->fit, 1, &it->trial, &it->states, &err) == MCP_OK && pairs->n > 0 &&
             predict(m, r, it, pairs, &err) == MCP_OK)
        m->known = 1;
    else
        snprintf(m->why, sizeof m->why, "%.*s", (int)sizeof m->why - 1,
                 err.text[0] ? err.text : "the trial is too short");
    mcp_pairs_free(pairs);
}

void mcp_model_check_free(mcp_model_check *m)
{
    mcp_fit_free(m->fit);
    mcp_free(m->t);
    memset(m, 0, sizeof *m);
}

/* The 90 % band around the one-step prediction, and what happened. */
void mcp_chart_model(mcp_plot *p, const mcp_run *r, const mcp_model_check *m, int gp)
{
    (void)r;
    size_t at = (size_t)gp * (size_t)m->n;
    mcp_plot_band(p, m->n, m->t, m->low + at, m->high + at, 1, MCP_C1, "predicted, 90 %");
    mcp_plot_points(p, m->n, m->t, m->change + at, 1, MCP_C2, "happened")->weight = 1.8;
}

/* Residuals in predicted deviations beside the bell they should follow; the caption says what they do. */
static void z_histogram(mcp_text *out, const mcp_model_check *m, int gp)
{
    double   x[BINS], count[BINS] = {0}, bell_x[61], bell[61], width = 8.0 / BINS, sum = 0;
    size_t   at = (size_t)gp * (size_t)m->n;
    int      beyond = 0;
    char     caption[240];
    mcp_plot p;
    for (int b = 0; b < BINS; b++) x[b] = -4 + (b + 0.5) * width;
    for (int k = 0; k < m->n; k++) {
        double z = (m->change[at + (size_t)k] - m->mean[at + (size_t)k]) / m->std[at + (size_t)k];
        int    b = (int)floor((fmin(fmax(z, -3.999), 3.999) + 4) / width);
        count[b]++;
        sum += z;
        beyond += fabs(z) > 3;
    }
    for (int k = 0; k <= 60; k++) {
        bell_x[k] = -4 + k * 8.0 / 60;
        bell[k]   = m->n * width * exp(-bell_x[k] * bell_x[k] / 2) / sqrt(2 * acos(-1));
    }
    mcp_plot_init(&p, WIDTH, HEIGHT, "residuals in predicted standard deviations", NULL, NULL);
    mcp_plot_bars(&p, BINS, x, count, 0.9 * width, MCP_C1, "residuals");
    mcp_plot_line(&p, 61, bell_x, bell, 1, MCP_C2, "as it should be");
    const char *word = m->z_rms[gp] > 1.5   ? "the model is too sure of itself"
                       : m->z_rms[gp] < 0.5 ? "the model is more cautious than it need be"
                                            : "the model knows how wrong it is";
    mcp_print(caption, sizeof caption,
             "Root mean square %.2f (1 is right), mean %+.2f, %d of %d beyond three deviations: %s.",
             m->z_rms[gp], sum / m->n, beyond, m->n, word);
    mcp_page_figure(out, &p, caption);
}

static double feature_spread(const mcp_pairs *q, int feature)
{
    double sum = 0, square = 0;
    for (int k = 0; k < q->n; k++) {
        double v = q->X[(size_t)k * (size_t)q->nf + (size_t)feature];
        sum += v;
        square += v * v;
    }
    double mean = sum / q->n;
    return sqrt(fmax(square / q->n - mean * mean, 0));
}

/* "se.log_lengthscale[2]", "mp.log_diag[0][3]": the last index is the feature. */
static int feature_of(const char *name)
{
    const char *last = strrchr(name, '[');
    if (!last || (!strstr(name, "log_lengthscale") && !strstr(name, "log_diag"))) return -1;
    return atoi(last + 1);
}

/* "se.log_lengthscale[2]" to "se length-scale", "mp.log_diag[0][3]" to "mp diagonal": the feature has a
 * column of its own. */
static const char *plain_name(const char *name, int has_feature, char *buf, size_t size)
{
    const char *log = strstr(name, "log_"), *rest = log ? log + 4 : name, *dot = strchr(name, '.');
    int         kernel = dot && (!log || dot < log) ? (int)(dot - name) : 0;
    if (!has_feature) snprintf(buf, size, "%.*s %s", kernel, name, kernel && !log ? dot + 1 : rest);
    else
        snprintf(buf, size, "%.*s %s", kernel, name,
                 strstr(rest, "lengthscale") ? "length-scale" : "diagonal");
    return buf[0] == ' ' ? buf + 1 : buf;
}

/* Spread over length-scale: how many length-scales the data spans along a feature; near 0, the feature does
 * not matter. */
static void relevance(mcp_text *out, const mcp_run *r, const mcp_model_check *m, int gp)
{
    const mcp_kernel *k = r->system->kernel[gp];
    const double     *hyper = mcp_gp_hyper(m->fit->gp[gp]);
    int               count = mcp_kernel_params(k);
    mcp_html(out, mcp_embed_run_html, "hyper-begin", NULL);
    for (int i = 0; i <= count; i++) {
        const char *name = i < count ? mcp_kernel_param_name(k, i) : "noise";
        int         f = i < count ? feature_of(name) : -1, known = f >= 0 && f < r->system->nf;
        double      value = exp(hyper[i]);
        char        buf[160];
        mcp_slots   s = {0};
        mcp_slot_text(&s, "name", plain_name(name, known, buf, sizeof buf));
        mcp_slot_text(&s, "feature", known ? r->system->feature_text[f] : "");
        mcp_slot_number(&s, "value", "%.4g", value);
        mcp_slot_number(&s, "spread", "%.3g",
                        known && strstr(name, "lengthscale") ? feature_spread(m->fit->pairs, f) / value
                                                             : NAN);
        mcp_html(out, mcp_embed_run_html, "hyper-row", &s);
    }
    mcp_html(out, mcp_embed_run_html, "hyper-end", NULL);
}

static void one_gp(mcp_text *out, const mcp_run *r, const mcp_model_check *m, int i)
{
    const char *state = r->task->state[r->task->gp[i].state];
    mcp_plot    p;
    mcp_slots   s = {0};
    char        title[120], text[160];
    snprintf(title, sizeof title, "change of %s over one sample", state);
    mcp_print(text, sizeof text, "%.0f %% of the changes fall inside the 90 %% band.", 100 * m->coverage[i]);
    mcp_slot_text(&s, "text", state);
    mcp_html(out, mcp_embed_run_html, "subheading", &s);
    mcp_page_grid(out, 1);
    mcp_plot_init(&p, WIDTH, HEIGHT, title, "s", NULL);
    mcp_chart_model(&p, r, m, i);
    mcp_page_figure(out, &p, text);
    z_histogram(out, m, i);
    mcp_page_grid(out, 0);
    relevance(out, r, m, i);
}

/* What the model knows besides its pairs. */
static const char *about_rest(mcp_rest rest)
{
    switch (rest) {
    case MCP_REST_USED: return " Each GP was also told that the goal can be held (model.rest).";
    case MCP_REST_CONTRADICTED:
        return " By its data no input holds the goal: is the cost least where the robot can stay?";
    default: return "";
    }
}

void mcp_report_model(mcp_text *out, const mcp_run *r, const mcp_model_check *m)
{
    mcp_page_section(out, "model", "Model");
    if (!m->known) mcp_page_note(out, "The model cannot be shown: %s.", m->why);
    else
        mcp_page_note(out,
                      "Predictions one step ahead for the last trial, by the model that was learned before "
                      "it: %d pairs "
                      "it had not seen. Values are plain; the run's files hold their logarithms.%s",
                      m->n, about_rest(m->fit->rest));
    for (int i = 0; m->known && i < m->ngp; i++) one_gp(out, r, m, i);
    mcp_page_close(out);
}
