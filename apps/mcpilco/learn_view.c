/* learn_view.c - progress and tables of learn. */
#include "learn_view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "io/json.h"
#include "term.h"

enum { SPARK = 16, LINES_EVERY = 250, JSON_EVERY = 10 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void view_begin(learn_view *v, view_mode mode, int trials)
{
    memset(v, 0, sizeof *v);
    v->mode = mode;
    v->trials = trials;
    v->trial_began = now();
    v->phase = (mcp_phase)-1;
}

void view_clear(learn_view *v)
{
    if (v->mode == VIEW_LIVE) fprintf(stderr, "\r\033[K");
}

/* At most: what this optimisation may still take, and the trials after it as long as those before. */
static double time_left(const learn_view *v, const mcp_learn_progress *p)
{
    double here = 0.0, mean = v->done ? v->spent / v->done : NAN, elapsed = now() - v->trial_began;
    if (p->phase == MCP_PHASE_OPTIMISE && p->step > 0) here = p->seconds / p->step * (p->steps - p->step);
    if (v->done) here = fmin(here, fmax(mean - elapsed, 0.0));
    else mean = elapsed + here;
    return here + mean * fmax(v->trials - p->trial, 0);
}

static void draw(learn_view *v, const mcp_learn_progress *p)
{
    char spark[3 * SPARK + 1], left[32], name[16];
    snprintf(name, sizeof name, "%s", p->phase == MCP_PHASE_EXPLORE ? "explore" : "trial");
    if (p->phase == MCP_PHASE_EXPLORE) fprintf(stderr, "\r\033[K%s %d  on the plant  sample %d/%d", name, p->trial, p->step, p->steps);
    else if (p->phase == MCP_PHASE_TRIAL) fprintf(stderr, "\r\033[K%s %d/%d  on the plant  sample %d/%d", name, p->trial, v->trials, p->step, p->steps);
    else if (p->phase != MCP_PHASE_OPTIMISE || p->step == 0)
        fprintf(stderr, "\r\033[K%s %d/%d  %s ...", name, p->trial, v->trials, mcp_phase_name(p->phase));
    else {
        term_sparkline(spark, v->history, v->steps, SPARK);
        fprintf(stderr, "\r\033[K%s %d/%d  optimise  step %d/%d  cost %.2f  %s  rate %.3g  at most %s left", name, p->trial, v->trials,
                p->step, p->steps, p->cost, spark, p->step_size, term_seconds(left, sizeof left, time_left(v, p)));
    }
    fflush(stderr);
}

static void say(learn_view *v, const mcp_learn_progress *p, int fresh)
{
    char left[32];
    if (p->phase == MCP_PHASE_OPTIMISE && p->step > 0 && (p->step % LINES_EVERY == 0 || p->event == 2 || p->event == 3))
        printf("trial %d: step %d/%d, cost %.3f, rate %.3g, dropout %.3g, at most %s left%s\n", p->trial, p->step, p->steps, p->cost,
               p->step_size, p->dropout, term_seconds(left, sizeof left, time_left(v, p)),
               p->event == 2 ? " (began again: the numbers had gone wrong)" : p->event == 3 ? " (a fresh policy)" : "");
    else if (fresh && (p->phase == MCP_PHASE_MODEL || p->phase == MCP_PHASE_EXPLORE))
        printf("%s %d: %s\n", p->phase == MCP_PHASE_EXPLORE ? "explore" : "trial", p->trial,
               p->phase == MCP_PHASE_EXPLORE ? "on the plant" : "training the model");
    fflush(stdout);
}

static void send(const mcp_learn_progress *p)
{
    json_t *o = json_pack("{s:s, s:s, s:i, s:i, s:i, s:i}", "event", "progress", "phase", mcp_phase_name(p->phase), "trial", p->trial,
                          "step", p->step, "steps", p->steps, "happened", p->event);
    json_object_set_new(o, "cost", mcp_json_number(p->cost));
    json_object_set_new(o, "best", mcp_json_number(p->best));
    json_object_set_new(o, "rate", mcp_json_number(p->step_size));
    json_object_set_new(o, "dropout", mcp_json_number(p->dropout));
    json_object_set_new(o, "seconds", mcp_json_number(p->seconds));
    (void)term_json(o);
}

int view_progress(void *context, const mcp_learn_progress *p)
{
    learn_view *v = context;
    int         fresh = p->phase != v->phase || p->trial != v->phase_trial;
    v->phase = p->phase;
    v->phase_trial = p->trial;
    if (p->phase == MCP_PHASE_OPTIMISE && p->step > 0) {
        if (fresh || p->step == 1) v->steps = 0;
        if (v->steps < VIEW_HISTORY) v->history[v->steps++] = p->cost;
    } else if (fresh) {
        v->steps = 0;
    }
    if (v->also) v->also(v->also_context, p);
    double t = now();
    if (v->mode == VIEW_LIVE && (fresh || t - v->last_draw > 0.1)) {
        draw(v, p);
        v->last_draw = t;
    } else if (v->mode == VIEW_LINES) {
        say(v, p, fresh);
    } else if (v->mode == VIEW_JSON && (fresh || p->event || (p->phase == MCP_PHASE_OPTIMISE && p->step % JSON_EVERY == 0))) {
        send(p);
    }
    return term_stop();
}

json_t *view_info_json(const mcp_learn_info *i)
{
    json_t *o = json_pack("{s:b, s:i, s:i, s:i, s:i, s:i, s:b, s:i, s:b, s:o}", "explored", i->explored, "trial", i->number, "samples",
                          i->samples, "data", i->data, "outcome", i->outcome, "steps", i->steps, "success", i->success, "limit",
                          i->limit, "ended", i->ended, "reason", mcp_json_text(i->reason));
    const struct { const char *key; double v; } n[] = {
        {"cost", i->cost}, {"metric", i->metric}, {"coverage", i->coverage}, {"cost_first", i->cost_first}, {"cost_last", i->cost_last},
        {"forecast_cost", i->forecast_cost}, {"forecast_std", i->forecast_std}, {"forecast_success", i->forecast_success},
        {"forecast_limit", i->forecast_limit}, {"check_cosine", i->check_cosine}, {"estimate_s", i->estimate_s}, {"model_s", i->model_s},
        {"optimise_s", i->optimise_s}, {"forecast_s", i->forecast_s}, {"plant_s", i->plant_s}};
    for (size_t k = 0; k < sizeof n / sizeof *n; k++) json_object_set_new(o, n[k].key, mcp_json_number(n[k].v));
    return o;
}

static double seconds_of(const mcp_learn_info *i)
{
    const double part[] = {i->estimate_s, i->model_s, i->optimise_s, i->forecast_s, i->plant_s};
    double       sum = 0.0;
    for (int k = 0; k < 5; k++) sum += isnan(part[k]) ? 0.0 : part[k];
    return sum;
}

static const char *verdict(const mcp_learn_info *i)
{
    return i->explored ? "explored" : i->success ? "success" : i->ended ? "ended early" : "no success";
}

void view_trial(learn_view *v, const mcp_learn_info *i)
{
    char a[32], b[32], c[32];
    view_clear(v);
    if (!i->explored) {
        v->done++;
        v->spent += now() - v->trial_began;
    }
    v->trial_began = now();
    if (v->mode == VIEW_QUIET) return;
    if (v->mode == VIEW_JSON) {
        json_t *o = view_info_json(i);
        json_object_set_new(o, "event", json_string("trial"));
        (void)term_json(o);
    } else if (i->explored) {
        printf("explore %d: %d samples, cost %s%s%s\n", i->number, i->samples, term_number(a, sizeof a, "%.2f", i->cost),
               i->ended ? ", ended early: " : "", i->ended ? i->reason : "");
    } else {
        printf("trial %d: %s, cost %s (forecast %s, success %s)%s%s; %d steps on %d pairs, %s\n", i->number, verdict(i),
               term_number(a, sizeof a, "%.2f", i->cost), term_number(b, sizeof b, "%.2f", i->forecast_cost),
               term_number(c, sizeof c, "%.2f", i->forecast_success), i->ended ? "; " : "", i->ended ? i->reason : "", i->steps, i->data,
               term_seconds((char[32]){0}, 32, seconds_of(i)));
    }
    fflush(stdout);
}

void view_table(const mcp_learn_info *info, int count)
{
    printf("\n  trial       pairs  steps   forecast cost  success  limit     cost  result         in band    time\n");
    for (int k = 0; k < count; k++) {
        const mcp_learn_info *i = &info[k];
        char name[24], cost[24] = "-", success[24] = "-", limit[24] = "-", real[24], band[24] = "-", time[32], steps[24] = "-", pairs[24] = "-";
        snprintf(name, sizeof name, "%s %d", i->explored ? "explore" : "trial", i->number);
        if (!i->explored) {
            snprintf(steps, sizeof steps, "%d", i->steps);
            snprintf(pairs, sizeof pairs, "%d", i->data);
            if (!isnan(i->forecast_cost)) snprintf(cost, sizeof cost, "%.2f +- %.2f", i->forecast_cost, i->forecast_std);
            if (!isnan(i->forecast_success)) snprintf(success, sizeof success, "%.0f %%", 100 * i->forecast_success);
            if (!isnan(i->forecast_limit)) snprintf(limit, sizeof limit, "%.0f %%", 100 * i->forecast_limit);
            if (!isnan(i->coverage)) snprintf(band, sizeof band, "%.0f %%", 100 * i->coverage);
        }
        printf("  %-10s %6s %6s %15s %8s %6s %8s  %-13s %8s %10s\n", name, pairs, steps, cost, success, limit,
               term_number(real, sizeof real, "%.2f", i->cost), verdict(i), band, term_seconds(time, sizeof time, seconds_of(i)));
    }
    printf("\n");
}
