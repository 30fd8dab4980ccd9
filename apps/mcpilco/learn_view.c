/* learn_view.c - progress and tables of learn. */
#include "learn_view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/json.h"
#include "math/clock.h"
#include "term.h"

enum { SPARK = 16, LINES_EVERY = 100, JSON_EVERY = 10 };

void view_begin(learn_view *v, view_mode mode, int trials, double ts)
{
    memset(v, 0, sizeof *v);
    v->mode = mode;
    v->trials = trials;
    v->ts = ts;
    v->phase = (mcp_phase)-1;
}

void view_clear(learn_view *v)
{
    if (v->mode == VIEW_LIVE) fprintf(stderr, "\r\033[K");
}

/* What the optimisation at hand can still take, in words: all the steps it may do, at the speed of those it
 * did. It usually ends long before. */
static const char *time_left(const learn_view *v, const mcp_learn_progress *p, char *out, size_t size)
{
    char s[32];
    out[0] = '\0';
    if (p->step < 10 || p->step > p->steps || !(v->first_step > 0.0)) return out;
    double a_step = (mcp_clock() - v->first_step) / (p->step - 1);
    snprintf(out, size, "at most about %s left", term_seconds(s, sizeof s, a_step * (p->steps - p->step)));
    return out;
}

/* An algorithm may take more steps than it announced; a step beyond its limit would read as nonsense. */
static int steps_most(const mcp_learn_progress *p)
{
    return p->steps > p->step ? p->steps : p->step;
}

/* One line that fits the terminal, since a longer one would leave its remains above; the sparkline takes what
 * room there is. */
static void draw(learn_view *v, const mcp_learn_progress *p)
{
    char      spark[3 * SPARK + 1] = "", head[128], tail[96] = "", left[64];
    const int width = term_columns(stderr) - 1;
    int n = p->phase == MCP_PHASE_EXPLORE ? snprintf(head, sizeof head, "explore %d", p->trial)
                                          : snprintf(head, sizeof head, "trial %d/%d", p->trial, v->trials);
    if (p->phase == MCP_PHASE_EXPLORE || p->phase == MCP_PHASE_TRIAL)
        snprintf(head + n, sizeof head - (size_t)n, "  on the plant  sample %d/%d", p->step, p->steps);
    else if (p->phase != MCP_PHASE_OPTIMISE || p->step == 0)
        snprintf(head + n, sizeof head - (size_t)n, "  %s ...", mcp_phase_name(p->phase));
    else {
        n += snprintf(head + n, sizeof head - (size_t)n, "  step %d/%d  cost %.2f  ", p->step,
                      steps_most(p), p->cost);
        int room = width - n - snprintf(tail, sizeof tail, "  rate %.3g  %s", p->step_size,
                                        time_left(v, p, left, sizeof left));
        if (room >= 4) term_sparkline(spark, v->history, v->steps, room < SPARK ? room : SPARK);
        else tail[0] = '\0';
    }
    fprintf(stderr, "\r\033[K%.*s%s%s", width, head, spark, tail);
    fflush(stderr);
}

static void say(learn_view *v, const mcp_learn_progress *p, int fresh)
{
    char        text[64];
    const char *left = time_left(v, p, text, sizeof text);
    if (p->phase == MCP_PHASE_OPTIMISE && p->step > 0 &&
        (p->step % LINES_EVERY == 0 || p->event == 2 || p->event == 3))
        printf("trial %d: step %d/%d, cost %.3f, rate %.3g, dropout %.3g%s%s%s\n", p->trial, p->step,
               steps_most(p), p->cost, p->step_size, p->dropout, left[0] ? ", " : "", left,
               p->event == 2   ? " (began again: the numbers had gone wrong)"
               : p->event == 3 ? " (a fresh policy)"
                               : "");
    else if (fresh && p->trial <= v->trials && (p->phase == MCP_PHASE_MODEL || p->phase == MCP_PHASE_EXPLORE))
        printf("%s %d: %s\n", p->phase == MCP_PHASE_EXPLORE ? "explore" : "trial", p->trial,
               p->phase == MCP_PHASE_EXPLORE ? "on the plant" : "training the model");
    fflush(stdout);
}

static void send(const mcp_learn_progress *p)
{
    json_t *o =
        json_pack("{s:s, s:s, s:i, s:i, s:i, s:i}", "event", "progress", "phase", mcp_phase_name(p->phase),
                  "trial", p->trial, "step", p->step, "steps", p->steps, "happened", p->event);
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
        if (fresh || p->step == 1) {
            v->steps = 0;
            v->first_step = mcp_clock();
        }
        if (v->steps < VIEW_HISTORY) v->history[v->steps++] = p->cost;
    } else if (fresh) {
        v->steps = 0;
    }
    if (v->also) v->also(v->also_context, p);
    double t = mcp_clock();
    if (v->mode == VIEW_LIVE && (fresh || t - v->last_draw > 0.1)) {
        draw(v, p);
        v->last_draw = t;
    } else if (v->mode == VIEW_LINES) {
        say(v, p, fresh);
    } else if (v->mode == VIEW_JSON &&
               (fresh || p->event || (p->phase == MCP_PHASE_OPTIMISE && p->step % JSON_EVERY == 0))) {
        send(p);
    }
    return term_stop();
}

json_t *view_info_json(const mcp_learn_info *i)
{
    json_t *o = json_pack("{s:b, s:i, s:i, s:i, s:i, s:i, s:b, s:i, s:b, s:o}", "explored", i->explored,
                          "trial", i->number, "samples", i->samples, "data", i->data, "outcome", i->outcome,
                          "steps", i->steps, "success", i->success, "limit", i->limit, "ended", i->ended,
                          "reason", mcp_json_text(i->reason));
    const struct { const char *key; double v;
    } n[] = {{"cost", i->cost},
             {"metric", i->metric},
             {"coverage", i->coverage},
             {"cost_first", i->cost_first},
             {"cost_last", i->cost_last},
             {"forecast_cost", i->forecast_cost},
             {"forecast_std", i->forecast_std},
             {"forecast_success", i->forecast_success},
             {"forecast_limit", i->forecast_limit},
             {"check_cosine", i->check_cosine},
             {"check_first", i->check_first},
             {"tolerance", i->tolerance},
             {"estimate_s", i->estimate_s},
             {"model_s", i->model_s},
             {"optimise_s", i->optimise_s},
             {"forecast_s", i->forecast_s},
             {"plant_s", i->plant_s}};
    for (size_t k = 0; k < sizeof n / sizeof *n; k++)
        json_object_set_new(o, n[k].key, mcp_json_number(n[k].v));
    return o;
}

/* The wait before a trial: from the end of the one before, whose states took estimate_s, to its own
 * policy. */
static double wait_of(const mcp_learn_info *i, double estimate_s)
{
    const double part[] = {estimate_s, i->model_s, i->optimise_s, i->forecast_s};
    double       sum = 0.0;
    for (int k = 0; k < 4; k++) sum += isnan(part[k]) ? 0.0 : part[k];
    return sum;
}

static double motion_of(const mcp_learn_info *i, double ts)
{
    return i->samples > 1 ? (i->samples - 1) * ts : 0.0;
}

static const char *verdict(const mcp_learn_info *i)
{
    return i->explored ? "explored" : i->success ? "success" : i->ended ? "ended early" : "no success";
}

/* The sparse model did not lead where the exact one does, and what was done about it. */
static void view_check(const mcp_learn_info *i)
{
    if (!(i->check_first < 0.99)) return;
    printf("  sparse and exact gradients disagreed (cosine %.3f); ", i->check_first);
    if (i->check_cosine == i->check_first)
        printf("more points bring them no nearer: the motion is chaotic over so long a trial. A shorter "
               "optimise.horizon may help\n");
    else if (i->tolerance > 0.0)
        printf("the policy was learned with more points: tolerance %g, cosine %.3f\n", i->tolerance,
               i->check_cosine);
    else printf("the policy was learned with the exact model\n");
}

void view_policy(learn_view *v, const mcp_learn_info *i)
{
    char start[32], end[32];
    /* A budget that ends an optimisation is the rule; after so few steps it is worth a sentence. */
    int  stuck = i->outcome == MCP_STUCK, spent = i->outcome == MCP_BUDGET_SPENT && i->steps < 100;
    if (i->explored || !(stuck || spent) || v->mode == VIEW_QUIET) return;
    view_clear(v);
    term_number(start, sizeof start, "%.3g", i->cost_first);
    term_number(end, sizeof end, "%.3g", i->cost_last);
    if (v->mode == VIEW_JSON)
        (void)term_json(json_pack("{s:s, s:i, s:i, s:o, s:o}", "event", stuck ? "stuck" : "budget", "trial",
                                  i->number, "restarts", i->restarts,
                                  "cost_first", mcp_json_number(i->cost_first),
                                  "cost_last", mcp_json_number(i->cost_last)));
    else if (stuck)
        printf("trial %d: the optimisation FAILED: expected cost %s at its start and %s after %d steps, %d "
               "starts given up because numbers left all bounds. What runs now is a guess within the "
               "limits; the next trial starts afresh. Ctrl-C stops before it. A wider cost, a shorter trial "
               "or more exploration may help\n",
               i->number, start, end, i->steps, i->restarts);
    else
        printf("trial %d: the budget of computing is used up after %d steps, expected cost %s, at first %s; "
               "optimise.budget allows more\n",
               i->number, i->steps, end, start);
    fflush(stdout);
}

void view_trial(learn_view *v, const mcp_learn_info *i)
{
    char   a[32], b[32], c[32], d[32];
    double wait = wait_of(i, v->estimate_s), motion = motion_of(i, v->ts);
    view_clear(v);
    v->estimate_s = i->estimate_s;
    if (v->mode == VIEW_QUIET) return;
    if (v->mode == VIEW_JSON) {
        json_t *o = view_info_json(i);
        json_object_set_new(o, "event", json_string("trial"));
        (void)term_json(o);
    } else if (i->explored) {
        printf("explore %d: %d samples, cost %s%s%s\n", i->number, i->samples,
               term_number(a, sizeof a, "%.2f", i->cost), i->ended ? ", ended early: " : "",
               i->ended ? i->reason : "");
    } else {
        printf("trial %d: %s, cost %s (forecast %s, success %s)%s%s; %d steps on %d pairs, ready in %s",
               i->number, verdict(i), term_number(a, sizeof a, "%.2f", i->cost),
               term_number(b, sizeof b, "%.2f", i->forecast_cost),
               term_number(c, sizeof c, "%.2f", i->forecast_success), i->ended ? "; " : "",
               i->ended ? i->reason : "", i->steps, i->data, term_seconds(d, sizeof d, wait));
        if (motion > 0.0) printf(" (%.1f times the motion)", wait / motion);
        printf("\n");
        view_check(i);
    }
    fflush(stdout);
}

/* In 80 columns; the one about limits comes only when they were in sight. */
void view_table(const mcp_learn_info *info, int count, double ts)
{
    int    limits = 0;
    double waits = 0.0, motion = 0.0, estimate_s = 0.0;
    for (int k = 0; k < count; k++) limits |= info[k].forecast_limit >= 0.005;
    printf("\n  trial     pairs steps forecast cost success%s    cost result      in band   wait\n",
           limits ? " limit" : "");
    for (int k = 0; k < count; k++) {
        const mcp_learn_info *i = &info[k];
        char name[24], cost[32] = "-", success[24] = "-", limit[24] = "", real[24], band[24] = "-",
                       steps[24] = "-", pairs[24] = "-";
        double seconds = i->explored ? 0.0 : wait_of(i, estimate_s);
        estimate_s = i->estimate_s;
        waits += seconds;
        motion += motion_of(i, ts);
        snprintf(name, sizeof name, "%s %d", i->explored ? "explore" : "trial", i->number);
        if (limits) snprintf(limit, sizeof limit, "%6s", "-");
        if (!i->explored) {
            snprintf(steps, sizeof steps, "%d", i->steps);
            snprintf(pairs, sizeof pairs, "%d", i->data);
            if (!isnan(i->forecast_cost))
                snprintf(cost, sizeof cost, "%.1f +- %.1f", i->forecast_cost, i->forecast_std);
            if (!isnan(i->forecast_success))
                snprintf(success, sizeof success, "%.0f %%", 100 * i->forecast_success);
            if (limits && !isnan(i->forecast_limit))
                snprintf(limit, sizeof limit, "%4.0f %%", 100 * i->forecast_limit);
            if (!isnan(i->coverage)) snprintf(band, sizeof band, "%.0f %%", 100 * i->coverage);
        }
        printf("  %-9s %5s %5s %13s %7s%s %7s %-11s %7s %4.*f s\n", name, pairs, steps, cost, success, limit,
               term_number(real, sizeof real, "%.2f", i->cost), verdict(i), band, seconds < 100 ? 1 : 0,
               seconds);
    }
    if (motion > 0.0)
        printf("\n  %.1f s of waiting for policies, %.1f s of motion: %.1f times as long\n", waits, motion,
               waits / motion);
    printf("\n");
}
