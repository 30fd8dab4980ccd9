/* diagnosis.c - which part was the weak one.
 *
 * First the verdict: forecast against outcome, in standard deviations of the forecast, then how often and how
 * sharply the bands held. Then causes, in the order in which one hides the other: what cut the trial short, a
 * task that describes another robot (start, sign, delay, smoother, sensor, features), a horizon the model
 * cannot see to, and only when the model is right, the optimisation: cost, horizon, search, policy. Every
 * remedy is one that worked in tests/learn/test_faults.c. */
#include "learn/diagnosis.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "learn/signs.h"
#include "math/number.h"

/* Limits of what counts as a sign; docs/reading-the-report.md has the table of tests behind them. */
#define MISSED_DEVIATIONS 4.0 /* a forecast this far off is wrong, whatever else it got right    */
#define MISSED_INSIDE     0.5 /* share of states in the 90 % band                                */
#define VAGUE_WIDTH       1.0 /* band over the range of everything the plant ever did            */
#define VAGUE_ALWAYS      3.0 /* the same: too wide, however sure the forecast is of its cost    */
#define VAGUE_COST        0.1 /* deviation of the forecast cost over that cost                   */
#define START_OFF         5.0
#define SMOOTHED_OFF      3.0
#define NOISE_OFF         3.0
#define TOGETHER          0.3 /* correlation of neighbouring residuals that the sensor does not make */
#define EXPLAINED         0.4 /* a line must lose this much of its errors before a cause is named   */
#define FLAT              0.02
#define OBSERVER_OFF      0.3

static const char *const verdict_names[] = {"none",       "solved", "solved-otherwise", "as-forecast",
                                            "unforeseen", "missed", "vague",            "cut-short",
                                            "cost-as-forecast"};
static const char *const cause_names[] = {
    "none",    "limit",      "ended",     "start",       "sign",      "delay",  "smoother", "sensor",
    "feature", "long-trial", "flat-cost", "short-trial", "optimiser", "policy", "observer", "data"};

const char *mcp_verdict_name(mcp_verdict v) { return verdict_names[v]; }
const char *mcp_cause_name(mcp_cause c) { return cause_names[c]; }

int mcp_verdict_is_good(mcp_verdict v)
{
    return v == MCP_VERDICT_SOLVED || v == MCP_VERDICT_SOLVED_OTHER || v == MCP_VERDICT_COST_AS_FORECAST;
}

const char *mcp_diagnosis_remedy(const mcp_diagnosis *d)
{
    return d->findings ? d->finding[0].remedy : "";
}

typedef struct {
    mcp_diagnosis      *out;
    const mcp_run      *run;
    const mcp_task     *task;
    const mcp_run_item *it;
    const mcp_learn_info *info;
    mcp_signs           sign;
} doctor;

static mcp_finding *find(doctor *q, mcp_cause cause, const char *fmt, ...) MCP_PRINTF(3, 4);
static mcp_finding *find(doctor *q, mcp_cause cause, const char *fmt, ...)
{
    mcp_diagnosis *d = q->out;
    mcp_finding   *f = &d->finding[d->findings < MCP_FINDINGS ? d->findings++ : MCP_FINDINGS - 1];
    va_list        args;
    f->cause = cause;
    va_start(args, fmt);
    mcp_vprint(f->text, sizeof f->text, fmt, args);
    va_end(args);
    return f;
}

static void remedy(mcp_finding *f, const char *fmt, ...) MCP_PRINTF(2, 3);
static void remedy(mcp_finding *f, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    mcp_vprint(f->remedy, sizeof f->remedy, fmt, args);
    va_end(args);
}

static const char *channel(const doctor *q, int j) { return q->task->seen[j].name; }

/* What cut the trial short. */

static void cut_short(doctor *q)
{
    const mcp_learn_info *i = q->info;
    if (i->limit)
        remedy(find(q, MCP_CAUSE_LIMIT,
                    "The trial ran into a limit (%s) at %.3g s; the forecast gave that %.0f %%.", i->reason,
                    (i->samples - 1) * q->run->system->ts,
                    isnan(i->forecast_limit) ? 0.0 : 100 * i->forecast_limit),
               "Let the cost rise before the limit is reached, so that the policy keeps away from it.");
    else if (i->ended)
        remedy(find(q, MCP_CAUSE_ENDED, "The plant ended the trial at %.3g s: %s.",
                    (i->samples - 1) * q->run->system->ts, i->reason),
               "Remove what ended it; until then the policy sees only the trial's beginning.");
}

/* A task that describes another robot. */

static void wrong_task(doctor *q)
{
    const mcp_signs *s = &q->sign;
    if (s->start_off > START_OFF * fmax(s->noise, 1)) /* a noisy sensor is another finding */
        remedy(find(q, MCP_CAUSE_START,
                    "The trial began at %s = %.3g, %.0f deviations from the task's start.",
                    channel(q, s->start_channel), s->start_value, s->start_off),
               "Let start: cover where the plant really begins: a larger std, or mixture: with every place.");
    if (fabs(s->slope - 1) > 0.2) {
        const mcp_task_gp *g = &q->task->gp[s->slope_gp];
        const char        *p = q->task->state[g->position], *v = q->task->state[g->state];
        remedy(find(q, MCP_CAUSE_SIGN, "%s changes by %.2f times what the measured %s says (1 is right).", p,
                    s->slope, v),
               s->slope < 0 ? "Reverse the sign of %s in the plant's driver."
                            : "Check the unit of %s in the driver.",
               v);
    }
    if (s->late < EXPLAINED)
        remedy(find(q, MCP_CAUSE_DELAY,
                    "Changes of %s follow the input of %d samples before: it explains all but %.0f %% of "
                    "what the "
                    "input at the time cannot.",
                    q->task->state[q->task->gp[s->late_gp].state], s->late_by, 100 * s->late),
               "Set delay: %d on the input that is late; mcpilco rig measures it.",
               s->late_by + q->task->input[0].delay);
    if (s->lacking < EXPLAINED) {
        const char *v = q->task->state[s->lacking_state];
        remedy(find(q, MCP_CAUSE_FEATURE,
                    "Changes of %s depend on %s, which no feature of the model names: it explains all but "
                    "%.0f %% of "
                    "what is left.",
                    q->task->state[q->task->gp[s->lacking_gp].state], v, 100 * s->lacking),
               q->task->state_angle[s->lacking_state] ? "Add sin(%s) and cos(%s) to model.features."
                                                      : "Add %s to model.features.",
               v, v);
    }
    if (s->smoothed > SMOOTHED_OFF)
        remedy(find(q, MCP_CAUSE_SMOOTHER,
                    "The smoothed %s is %.0f times the sensor's noise away from what was measured.",
                    channel(q, s->smoothed_channel), s->smoothed),
               "Smooth less: a higher cut-off, a shorter window, or smoother: central-difference.");
}

static void wrong_model(doctor *q)
{
    const mcp_signs *s = &q->sign;
    const char      *v = q->task->state[q->task->gp[s->noise_gp].state];
    if (!(s->noise > NOISE_OFF) || s->correlation > TOGETHER || q->out->findings) return;
    remedy(
        find(q, MCP_CAUSE_SENSOR,
             "The model of %s finds %.1f times the noise that the stated sensors explain, and it is random.",
             v, s->noise),
        "State the sensor's true noise in measured: (about %.1f times as much); mcpilco rig measures it.",
        s->noise);
}

/* Bands that say nothing of the state; narrower ones are forgiven a forecast that is sure of its cost. */
static double vague_width(const doctor *q)
{
    const mcp_learn_info *i = q->info;
    return i->forecast_std > VAGUE_COST * fabs(i->forecast_cost) ? VAGUE_WIDTH : VAGUE_ALWAYS;
}

static void wide_bands(doctor *q)
{
    const mcp_signs *s = &q->sign;
    const double     most = vague_width(q);
    int              w = 0;
    while (w < MCP_WINDOWS && !(s->width[w] > most)) w++;
    if (w == MCP_WINDOWS) return;
    double until = w * q->task->trial / MCP_WINDOWS;
    mcp_finding *f = find(q, MCP_CAUSE_LONG_TRIAL,
                          "From %.2g s on, the forecast of %s is wider than everything the plant has done.",
                          until, q->task->state[s->widest]);
    if (w) remedy(f, "Shorten trial: to what the model can see, or run another trial for its data.");
    else remedy(f, "Run another trial: its data narrow the model.");
}

/* Time spent at full cost after the forecast had gone wrong teaches nothing. */
static void lost_time(doctor *q)
{
    const double *rate = q->sign.rate;
    double        high = -INFINITY;
    int           tail = 0;
    for (int b = 0; b < MCP_COST_BINS; b++) high = fmax(high, rate[b]);
    while (tail < MCP_COST_BINS && rate[MCP_COST_BINS - 1 - tail] > 0.95 * high) tail++;
    if (tail < MCP_COST_BINS / 2 || tail == MCP_COST_BINS) return;
    double used = q->task->trial * (MCP_COST_BINS - tail) / MCP_COST_BINS;
    remedy(find(q, MCP_CAUSE_LONG_TRIAL,
                "After %.2g s the plant had left the forecast, and the other %.2g s passed at full cost.",
                used, q->task->trial - used),
           "Shorten trial: to about %.2g s; lengthen it again when that works.",
           fmax(1.25 * used, 0.25 * q->task->trial));
}

/* The policy, when the model is right. */

static void weak_policy(doctor *q)
{
    const mcp_learn_info *i = q->info;
    const double         *rate = q->sign.rate;
    double                low = INFINITY, high = -INFINITY;
    int                   best = 0;
    for (int b = 0; b < MCP_COST_BINS; b++) {
        if (rate[b] < low) {
            low  = rate[b];
            best = b;
        }
        high = fmax(high, rate[b]);
    }
    if (high - low < FLAT * fabs(high))
        remedy(find(q, MCP_CAUSE_FLAT_COST,
                    "The cost is the same all along the trial (%.3g to %.3g a sample): "
                    "nothing shows the policy the way.",
                    low, high),
               "Widen the cost, so that it falls long before the goal.");
    else if (best >= 3 * MCP_COST_BINS / 4 && low > 0.3 * high && low < 0.9 * rate[MCP_COST_BINS / 2])
        remedy(
            find(
                q, MCP_CAUSE_SHORT_TRIAL,
                "The cost comes down from %.3g to %.3g a sample at the end and no further: the trial ends on "
                "the way.",
                high, low),
            "Lengthen trial:, so that the motion has time to finish.");
    if (i->outcome == MCP_STUCK)
        remedy(find(q, MCP_CAUSE_OPTIMISER,
                    "The optimisation failed: the expected cost was %.3g at first and %.3g after %d steps.",
                    i->cost_first, i->cost_last, i->steps),
               "Widen the cost, shorten the trial, or explore more, so that a change of the policy shows.");
    else if (i->restarts > 0 || i->check_cosine < 0.9)
        remedy(
            find(q, MCP_CAUSE_OPTIMISER,
                 "The optimisation had trouble: %d restarts after numbers went wrong, gradient check %.2f.",
                 i->restarts, isnan(i->check_cosine) ? 1.0 : i->check_cosine),
            "Lower model.tolerance or optimise.step_size.");
    if (!q->out->findings)
        remedy(find(q, MCP_CAUSE_POLICY,
                    "The model is right about a policy that is not good enough: the optimisation brought the "
                    "predicted cost from %.3g to %.3g in %d steps, and that is no success.",
                    i->cost_first, i->cost_last, i->steps),
               "Give the policy more to work with: more basis functions or features, a larger "
               "optimise.budget, or more trials.");
}

static void poor_observer(doctor *q)
{
    const mcp_signs *s = &q->sign;
    if (s->observer > OBSERVER_OFF)
        remedy(find(q, MCP_CAUSE_OBSERVER, "The observer's error of %s is %.0f %% of the signal itself.",
                    q->task->state[s->observer_state], 100 * s->observer),
               q->task->observer.type == MCP_OBSERVER_KALMAN
                   ? "A faster rate, a better sensor or other noise figures in the filter help."
                   : "A faster rate, less filtering or observer: kalman help.");
}

/* The verdict. */

static void verdict(doctor *q, mcp_verdict v, const char *fmt, ...) MCP_PRINTF(3, 4);
static void verdict(doctor *q, mcp_verdict v, const char *fmt, ...)
{
    va_list args;
    q->out->verdict = v;
    va_start(args, fmt);
    mcp_vprint(q->out->text, sizeof q->out->text, fmt, args);
    va_end(args);
}

static double lowest_inside(const mcp_signs *s)
{
    double low = NAN;
    for (int w = 0; w < MCP_WINDOWS; w++) low = isnan(low) ? s->inside[w] : fmin(low, s->inside[w]);
    return low;
}

static void judge(doctor *q)
{
    const mcp_learn_info *i = q->info;
    double off = q->out->deviations, chance = 100 * i->forecast_success, inside = lowest_inside(&q->sign);
    int    tested = q->task->success.text != NULL;
    int    missed = fabs(off) >= MISSED_DEVIATIONS || i->coverage < MISSED_INSIDE;
    int    vague = q->sign.width[MCP_WINDOWS - 1] > vague_width(q);
    char   cost[96];
    mcp_print(cost, sizeof cost, "cost %.3g, forecast %.3g +- %.2g (%+.1f deviations)", i->cost,
             i->forecast_cost, i->forecast_std, off);
    if (i->ended || i->limit)
        verdict(q, MCP_VERDICT_CUT_SHORT, "The trial ended before its time: %s.", i->reason);
    else if (i->success && !missed && !vague && chance >= 80)
        verdict(q, MCP_VERDICT_SOLVED, "Solved, and the model predicted it: %s, chance of success %.0f %%.",
                cost, chance);
    else if (i->success)
        verdict(q, MCP_VERDICT_SOLVED_OTHER,
                "Solved, but not as forecast: %s, chance of success %.0f %%, at worst %.0f %% of the states "
                "inside "
                "the 90 %% band. It may have been luck.",
                cost, chance, 100 * inside);
    else if (missed)
        verdict(q, MCP_VERDICT_MISSED,
                "The model is wrong where the policy went: %s, at worst %.0f %% of the states inside the 90 "
                "%% band.",
                cost, 100 * inside);
    else if (vague)
        verdict(q, MCP_VERDICT_VAGUE, "The forecast is too wide to say anything: %s.", cost);
    else if (!tested)
        verdict(q, MCP_VERDICT_COST_AS_FORECAST, "The plant did what was forecast: %s.", cost);
    else if (chance >= 50)
        verdict(q, MCP_VERDICT_UNFORESEEN,
                "The forecast promised success (%.0f %%) and the plant did not keep it: %s.", chance, cost);
    else
        verdict(q, MCP_VERDICT_AS_FORECAST,
                "No success, as forecast (%.0f %%): %s.", chance, cost);
}

static void causes(doctor *q)
{
    mcp_verdict v = q->out->verdict;
    cut_short(q);
    wrong_task(q);
    wrong_model(q);
    if (!mcp_verdict_is_good(v)) wide_bands(q);
    if (v == MCP_VERDICT_AS_FORECAST) weak_policy(q);
    if (v == MCP_VERDICT_MISSED && !q->out->findings) lost_time(q);
    if (!mcp_verdict_is_good(v)) poor_observer(q);
    if (!q->out->findings && !mcp_verdict_is_good(v))
        remedy(find(q, MCP_CAUSE_DATA,
                    "Nothing in the data contradicts the task: the model has not seen enough "
                    "of where the policy goes."),
               "Run another trial: this one's data correct the model.");
}

void mcp_diagnosis_make(mcp_diagnosis *d, const mcp_run *r, const mcp_run_item *it, const mcp_fit *fit)
{
    memset(d, 0, sizeof *d);
    d->deviations = NAN;
    for (int w = 0; w < MCP_WINDOWS; w++) d->inside[w] = d->width[w] = NAN;
    if (!it->trial) return;
    doctor q = {.out = d, .run = r, .task = r->task, .it = it, .info = &it->info};
    mcp_signs_measure(&q.sign, r, it, fit);
    if (it->info.explored || isnan(it->info.forecast_cost)) {
        cut_short(&q);
        if (it->info.explored) wrong_task(&q);
        return;
    }
    memcpy(d->inside, q.sign.inside, sizeof d->inside);
    memcpy(d->width, q.sign.width, sizeof d->width);
    /* particles that all cost the same have no deviation: the last digit of a cost stands in for it */
    double off = it->info.cost - it->info.forecast_cost;
    double digit = 1e-6 * fmax(fabs(it->info.forecast_cost), fabs(it->info.cost));
    d->deviations = off == 0.0 ? 0.0 : off / fmax(it->info.forecast_std, digit);
    judge(&q);
    causes(&q);
}

/* JSON. */

json_t *mcp_diagnosis_to_json(const mcp_diagnosis *d)
{
    json_t *list = json_array(), *o = json_object();
    for (int i = 0; i < d->findings; i++)
        mcp_json_append(&list, json_pack("{s:s, s:o, s:o}", "cause", mcp_cause_name(d->finding[i].cause),
                                              "text", mcp_json_text(d->finding[i].text), "remedy",
                                              mcp_json_text(d->finding[i].remedy)));
    mcp_json_set(&o, "verdict", json_string(mcp_verdict_name(d->verdict)));
    mcp_json_set(&o, "text", mcp_json_text(d->text));
    mcp_json_set(&o, "deviations", mcp_json_number(d->deviations));
    mcp_json_set(&o, "inside", mcp_json_numbers(MCP_WINDOWS, d->inside));
    mcp_json_set(&o, "width", mcp_json_numbers(MCP_WINDOWS, d->width));
    mcp_json_set(&o, "findings", list);
    return o;
}

static int index_of(const char *const *names, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(names[i], name)) return i;
    return 0;
}

void mcp_diagnosis_from_json(mcp_diagnosis *d, const json_t *o)
{
    const json_t *list = json_object_get(o, "findings");
    memset(d, 0, sizeof *d);
    d->verdict = (mcp_verdict)index_of(verdict_names, (int)(sizeof verdict_names / sizeof *verdict_names),
                                       mcp_json_get_text(o, "verdict", "none"));
    snprintf(d->text, sizeof d->text, "%s", mcp_json_get_text(o, "text", ""));
    d->deviations = mcp_json_get_double(o, "deviations", NAN);
    if (!mcp_json_get_numbers(o, "inside", MCP_WINDOWS, d->inside) ||
        !mcp_json_get_numbers(o, "width", MCP_WINDOWS, d->width))
        for (int w = 0; w < MCP_WINDOWS; w++) d->inside[w] = d->width[w] = NAN;
    for (size_t i = 0; i < json_array_size(list) && d->findings < MCP_FINDINGS; i++) {
        const json_t *q = json_array_get(list, i);
        mcp_finding  *f = &d->finding[d->findings++];
        f->cause = (mcp_cause)index_of(cause_names, (int)(sizeof cause_names / sizeof *cause_names),
                                       mcp_json_get_text(q, "cause", "none"));
        snprintf(f->text, sizeof f->text, "%s", mcp_json_get_text(q, "text", ""));
        snprintf(f->remedy, sizeof f->remedy, "%s", mcp_json_get_text(q, "remedy", ""));
    }
}
