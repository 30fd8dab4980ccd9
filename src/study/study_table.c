/* study_table.c - what the runs of a study say together: rows, tables, files. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/csv.h"
#include "io/file.h"
#include "io/json.h"
#include "math/arena.h"
#include "math/stats.h"
#include "study/study.h"

/* collecting */

static json_t *read_json(const char *folder, const char *name)
{
    json_t *root = NULL;
    char   *path = mcp_sprintf("%s/%s", folder, name);
    if (path) mcp_json_read(&root, path, NULL);
    mcp_free(path);
    return root;
}

static void evaluation_into(mcp_study_row *w, const json_t *evaluation)
{
    const json_t *e = json_array_get(json_object_get(evaluation, "list"), (size_t)w->trial - 1);
    const json_t *f = json_object_get(evaluation, "recommended");
    w->evaluated        = mcp_json_get_int(e, "runs", 0);
    w->evaluated_ok     = mcp_json_get_int(e, "success", 0);
    w->evaluated_limit  = mcp_json_get_int(e, "limit", 0);
    w->plant_cost_median   = mcp_json_get_double(e, "cost_median", NAN);
    w->plant_metric_median = mcp_json_get_double(e, "metric_median", NAN);
    w->plant_metric_mean   = mcp_json_get_double(e, "metric_mean", NAN);
    w->plant_metric_max    = mcp_json_get_double(e, "metric_max", NAN);
    w->recommended = mcp_json_get_int(f, "trial", 0) == w->trial;
    if (!w->recommended) f = NULL;
    w->final = (mcp_study_final){.runs = mcp_json_get_int(f, "runs", 0),
                                 .ok = mcp_json_get_int(f, "success", 0),
                                 .limit = mcp_json_get_int(f, "limit", 0),
                                 .model_runs = mcp_json_get_int(f, "model_runs", 0),
                                 .model_ok = mcp_json_get_int(f, "model_success", 0),
                                 .cost_median = mcp_json_get_double(f, "cost_median", NAN),
                                 .metric_median = mcp_json_get_double(f, "metric_median", NAN),
                                 .metric_mean = mcp_json_get_double(f, "metric_mean", NAN),
                                 .metric_max = mcp_json_get_double(f, "metric_max", NAN)};
}

static mcp_status run_rows(mcp_study_result *r, const mcp_study *s, const char *folder, int variant, int seed,
                           mcp_error *err)
{
    mcp_run  *run = NULL;
    mcp_error trouble = {MCP_OK, ""};
    double    data = 0;
    int       explore_limits = 0;
    mcp_status st = mcp_run_open(&run, folder, &trouble, err);
    if (st != MCP_OK) return st;
    json_t *evaluation = read_json(folder, "evaluation.json");
    for (int k = 0; k < run->items; k++) {
        const mcp_learn_info *i = &run->item[k]->info;
        explore_limits += i->explored && i->limit != 0;
        if (!i->explored && i->number <= s->variant[variant].trials) {
            mcp_study_row w = {.variant = variant,
                               .seed = seed,
                               .trial = i->number,
                               .success = i->success,
                               .limit = i->limit,
                               .ended = i->ended,
                               .explore_limits = explore_limits,
                               .cost = i->cost,
                               .metric = i->metric,
                               .forecast_cost = i->forecast_cost,
                               .forecast_success = i->forecast_success,
                               .coverage = i->coverage,
                               .data_s = data,
                               .model_s = i->model_s,
                               .optimise_s = i->optimise_s,
                               .steps = i->steps};
            w.last = i->number == s->variant[variant].trials || k == run->items - 1;
            evaluation_into(&w, evaluation);
            w.robust = mcp_study_is_robust(s, w.success, w.evaluated, w.evaluated_ok, w.evaluated_limit);
            r->row[r->rows++] = w;
        }
        data += (i->samples - 1) * run->system->ts;
    }
    json_decref(evaluation);
    mcp_run_free(run);
    return MCP_OK;
}

/* Seeds first .. last of a variant share a reason; first < 0: there are none. */
static void tell(mcp_study_result *r, const char *variant, int first, int last, const char *why)
{
    if (first < 0) return;
    if (first == last) mcp_text_add(&r->trouble, "%s, seed %d: %s\n", variant, first, why);
    else mcp_text_add(&r->trouble, "%s, seeds %d to %d: %s\n", variant, first, last, why);
    r->unfinished += last - first + 1;
}

/* The rows of one run. 1: it is finished or what is wrong was told, 0: it waits to be run. */
static int collect_run(mcp_study_result *r, const mcp_study *s, const char *out, const char *folder, int i)
{
    int       variant, seed;
    mcp_error why = {MCP_OK, ""};
    mcp_study_at(s, i, &variant, &seed);
    if (mcp_study_known(s, i)) {
        for (int k = 0; k < s->known_rows; k++)
            if (s->known[k].variant == variant && s->known[k].seed == seed) r->row[r->rows++] = s->known[k];
        return 1;
    }
    if (mcp_study_done(s, out, i)) {
        if (run_rows(r, s, folder, variant, seed, &why) != MCP_OK)
            tell(r, s->variant[variant].name, seed, seed, why.text);
        return 1;
    }
    char *note = mcp_sprintf("%s.failed.txt", folder), *text = NULL;
    if (note) mcp_file_read(note, &text, NULL, NULL);
    int told = text != NULL;
    if (told) tell(r, s->variant[variant].name, seed, seed, text);
    mcp_free(text);
    mcp_free(note);
    return told;
}

mcp_status mcp_study_collect(mcp_study_result *r, const mcp_study *s, const char *out, mcp_error *err)
{
    int n = mcp_study_runs(s);
    memset(r, 0, sizeof *r);
    r->runs = n;
    r->row  = mcp_calloc((size_t)n * (size_t)s->trials + 1, sizeof *r->row);
    if (!r->row) return mcp_fail(err, MCP_ERR_MEMORY, "out of memory for the rows of %d runs", n);
    for (int v = 0; v < s->variants; v++) {
        int first = -1, seed = -1, variant; /* seeds that wait, one after the other */
        for (int i = v; i < n; i += s->variants) {
            char *folder = mcp_study_folder(s, out, i);
            if (!folder) return mcp_fail(err, MCP_ERR_MEMORY, "out of memory for the rows of %d runs", n);
            if (collect_run(r, s, out, folder, i)) {
                tell(r, s->variant[v].name, first, seed, "not finished");
                first = -1;
            } else {
                mcp_study_at(s, i, &variant, &seed);
                if (first < 0) first = seed;
            }
            mcp_free(folder);
        }
        tell(r, s->variant[v].name, first, seed, "not finished");
    }
    return MCP_OK;
}

void mcp_study_result_free(mcp_study_result *r)
{
    mcp_free(r->row);
    mcp_text_free(&r->trouble);
    memset(r, 0, sizeof *r);
}

/* cells and totals */

static void quantiles(double *v, int n, double out[3])
{
    out[0] = mcp_quantile(v, n, 0.05);
    out[1] = mcp_quantile(v, n, 0.5);
    out[2] = mcp_quantile(v, n, 0.95);
}

void mcp_study_cell_make(mcp_study_cell *c, const mcp_study_result *r, int variant, int trial)
{
    double *v = mcp_calloc((size_t)r->rows * 4 + 4, sizeof *v), *cost = v, *metric, *model, *optimise;
    int     timed = 0;
    memset(c, 0, sizeof *c);
    if (!v) return;
    metric = v + r->rows;
    model = metric + r->rows;
    optimise = model + r->rows;
    for (int i = 0; i < r->rows; i++) {
        const mcp_study_row *w = &r->row[i];
        if (w->variant != variant || w->trial != trial) continue;
        cost[c->runs]     = w->cost;
        metric[c->runs]   = w->metric;
        c->runs++;
        if (isfinite(w->model_s) && isfinite(w->optimise_s)) { /* known runs have no times */
            model[timed]      = w->model_s;
            optimise[timed++] = w->optimise_s;
        }
        c->successes += w->success;
        c->evaluated += w->evaluated;
        c->evaluated_ok += w->evaluated_ok;
        c->robust += w->robust;
        c->limits += w->limit != 0;
        if (w->evaluated) {
            c->plant_metric_mean += w->plant_metric_mean * w->evaluated;
            c->plant_metric_max = c->evaluated == w->evaluated
                                      ? w->plant_metric_max
                                      : fmax(c->plant_metric_max, w->plant_metric_max);
        }
    }
    c->plant_metric_mean = c->evaluated ? c->plant_metric_mean / c->evaluated : NAN;
    if (!c->evaluated) c->plant_metric_max = NAN;
    mcp_wilson(c->successes, c->runs, &c->low, &c->high);
    quantiles(cost, c->runs, c->cost);
    quantiles(metric, c->runs, c->metric);
    c->model_s    = mcp_quantile(model, timed, 0.5);
    c->optimise_s = mcp_quantile(optimise, timed, 0.5);
    mcp_free(v);
}

static double finite_median(double *v, int n)
{
    double m = mcp_quantile(v, n, 0.5);
    return isfinite(m) ? m : NAN;
}

/* Rows of a run stand together, trials in order. A seed that never solved counts as later than all trials. */
void mcp_study_total_make(mcp_study_total *t, const mcp_study_result *r, int variant)
{
    size_t  n = (size_t)r->rows + 1;
    double *first = mcp_calloc(4 * n, sizeof *first), *data, *robust, *robust_data;
    memset(t, 0, sizeof *t);
    if (!first) return;
    data = first + n;
    robust = data + n;
    robust_data = robust + n;
    for (int i = 0; i < r->rows; i++) {
        const mcp_study_row *w = &r->row[i];
        if (w->variant != variant) continue;
        if (w->trial == 1) {
            first[t->runs] = data[t->runs] = robust[t->runs] = robust_data[t->runs] = INFINITY;
            t->explore_limits += w->explore_limits;
            t->runs++;
        }
        t->trial_limits += w->limit != 0;
        if (w->robust && t->runs && isinf(robust[t->runs - 1])) {
            robust[t->runs - 1]      = w->trial;
            robust_data[t->runs - 1] = w->data_s;
            t->robust++;
        }
        if (w->success && t->runs && isinf(first[t->runs - 1])) {
            first[t->runs - 1] = w->trial;
            data[t->runs - 1]  = w->data_s;
            t->first[w->trial]++;
            t->solved++;
        }
        if (w->final.runs) {
            const mcp_study_final *f = &w->final;
            t->final_metric_max = t->final_runs ? fmax(t->final_metric_max, f->metric_max) : f->metric_max;
            t->final_metric_mean += f->metric_mean * f->runs;
            t->final_runs += f->runs;
            t->final_ok += f->ok;
            t->final_limits += f->limit;
            t->final_all += f->ok == f->runs;
            t->model_runs += f->model_runs;
            t->model_ok += f->model_ok;
        }
    }
    t->final_metric_mean  = t->final_runs ? t->final_metric_mean / t->final_runs : NAN;
    t->first_median       = finite_median(first, t->runs);
    t->data_median        = finite_median(data, t->runs);
    t->robust_median      = finite_median(robust, t->runs);
    t->robust_data_median = finite_median(robust_data, t->runs);
    mcp_free(first);
}

/* files */

static void csv_number(mcp_text *t, double v)
{
    if (isfinite(v)) mcp_text_add(t, ",%.17g", v);
    else mcp_text_add(t, ",");
}

static void summary_csv(mcp_text *t, mcp_text *times, const mcp_study *s, const mcp_study_result *r)
{
    mcp_text_add(t, "variant,trial,runs,success,success_low,success_high,cost_p05,cost_median,cost_p95,"
                    "metric_p05,metric_median,metric_p95,"
                    "plant_runs,plant_success,solved_first_here,paper_success,plant_metric_mean,plant_metric_"
                    "max,robust,limits\n");
    mcp_text_add(times, "variant,trial,model_s_median,optimise_s_median\n");
    for (int v = 0; v < s->variants; v++) {
        mcp_study_total total;
        mcp_study_total_make(&total, r, v);
        for (int k = 1; k <= s->variant[v].trials; k++) {
            mcp_study_cell c;
            mcp_study_cell_make(&c, r, v, k);
            mcp_text_add(t, "%s,%d,%d,%d", s->variant[v].name, k, c.runs, c.successes);
            const double q[] = {c.low,     c.high,      c.cost[0],   c.cost[1],
                                c.cost[2], c.metric[0], c.metric[1], c.metric[2]};
            for (int j = 0; j < 8; j++) csv_number(t, q[j]);
            mcp_text_add(t, ",%d,%d,%d", c.evaluated, c.evaluated_ok, total.first[k]);
            csv_number(t, k <= s->variant[v].papers ? s->variant[v].paper[k - 1] : NAN);
            csv_number(t, c.plant_metric_mean);
            csv_number(t, c.plant_metric_max);
            mcp_text_add(t, ",%d,%d\n", c.robust, c.limits);
            mcp_text_add(times, "%s,%d", s->variant[v].name, k);
            csv_number(times, c.model_s);
            csv_number(times, c.optimise_s);
            mcp_text_add(times, "\n");
        }
    }
}

static mcp_status write_text(const char *out, const char *name, mcp_text *t, mcp_error *err)
{
    char      *path = mcp_sprintf("%s/%s", out, name);
    mcp_status st = !path || t->failed ? mcp_fail(err, MCP_ERR_MEMORY, "out of memory for %s", name)
                                       : mcp_file_write(path, t->data, t->length, err);
    mcp_free(path);
    mcp_text_free(t);
    return st;
}

mcp_status mcp_study_write(const mcp_study *s, const mcp_study_result *r, const char *out, mcp_error *err)
{
    mcp_text   runs = {0}, summary = {0}, times = {0};
    mcp_status st, worst;
    mcp_study_print_rows(&runs, s, r);
    summary_csv(&summary, &times, s, r);
    worst = write_text(out, "runs.csv", &runs, err);
    if ((st = write_text(out, "summary.csv", &summary, worst == MCP_OK ? err : NULL)) != MCP_OK) worst = st;
    if ((st = write_text(out, "times.csv", &times, worst == MCP_OK ? err : NULL)) != MCP_OK) worst = st;
    return worst;
}

/* the table for people */

static void print_variant(mcp_text *out, const mcp_study *s, const mcp_study_result *r, int v)
{
    const mcp_variant *q = &s->variant[v];
    mcp_study_total    t;
    mcp_study_total_make(&t, r, v);
    mcp_text_add(out, "%s: %d of %d seeds finished\n", q->name, t.runs, s->seed_last - s->seed_first + 1);
    if (!t.runs) return;
    mcp_text_add(out,
                 "  trial  solved   95 %% interval%s   policy on the plant   cost median (5-95 %%)      "
                 "metric median (5-95 %%)    model s  policy s\n",
                 q->papers ? "   paper" : "");
    for (int k = 1; k <= q->trials; k++) {
        mcp_study_cell c;
        mcp_study_cell_make(&c, r, v, k);
        if (!c.runs) continue;
        mcp_text_add(out, "  %5d   %3.0f %%   %3.0f - %3.0f %%  ", k,
                     100.0 * c.successes / (c.runs ? c.runs : 1), 100 * c.low, 100 * c.high);
        if (q->papers && k <= q->papers) mcp_text_add(out, "   %3.0f %%", q->paper[k - 1]);
        else if (q->papers) mcp_text_add(out, "        ");
        if (c.evaluated)
            mcp_text_add(out, "   %6d of %6d (%3.0f %%)", c.evaluated_ok, c.evaluated,
                         100.0 * c.evaluated_ok / c.evaluated);
        else mcp_text_add(out, "   %23s", "");
        mcp_text_add(out, "   %6.2f (%.2f - %.2f)", c.cost[1], c.cost[0], c.cost[2]);
        mcp_text_add(out, "   %6.4g (%.3g - %.3g)   %5.2f   %6.2f\n", c.metric[1], c.metric[0], c.metric[2],
                     c.model_s, c.optimise_s);
    }
    mcp_text_add(out, "  solved by %d of %d seeds", t.solved, t.runs);
    if (isfinite(t.first_median))
        mcp_text_add(out, "; median: in trial %g, from %.1f s of data", t.first_median, t.data_median);
    if (t.robust)
        mcp_text_add(out, "\n  robust policy (%.0f %% of its plant runs, no limit met) by %d of %d seeds",
                     100 * s->robust, t.robust, t.runs);
    if (isfinite(t.robust_median))
        mcp_text_add(out, "; median: in trial %g, from %.1f s of data", t.robust_median,
                     t.robust_data_median);
    if (t.explore_limits || t.trial_limits)
        mcp_text_add(out, "\n  limits met: in %d explorations, in %d policy trials", t.explore_limits,
                     t.trial_limits);
    if (t.final_runs) {
        mcp_text_add(out,
                     "\n  recommended policies: %d of %d plant runs succeed (%d of %d seeds: every one), %d "
                     "end at a limit; metric there: mean %.4g, largest %.4g",
                     t.final_ok, t.final_runs, t.final_all, t.runs, t.final_limits, t.final_metric_mean,
                     t.final_metric_max);
        if (t.model_runs) mcp_text_add(out, "; on the model %d of %d", t.model_ok, t.model_runs);
    }
    mcp_text_add(out, "\n\n");
}

void mcp_study_print(mcp_text *out, const mcp_study *s, const mcp_study_result *r)
{
    mcp_text_add(out, "%s\n\n", s->name);
    for (int v = 0; v < s->variants; v++) print_variant(out, s, r, v);
    if (r->unfinished)
        mcp_text_add(out, "%d of %d runs are not in the table:\n%s", r->unfinished, r->runs,
                     r->trouble.data ? r->trouble.data : "");
}
