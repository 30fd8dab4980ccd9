/* learn_live.c - what the live page is told: phases, costs, the forecast before a trial, the outcome after
 * it. */
#include "learn_live.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>

#include "io/json.h"
#include "learn/diagnosis.h"
#include "math/arena.h"
#include "term.h"

static void push(learn_live *l, json_t *message)
{
    char *text = mcp_json_line(message);
    if (text) mcp_live_push(l->page, text);
    mcp_free(text);
    json_decref(message);
}

/* [state][sample] from [sample][nx] */
static json_t *columns(const double *v, int samples, int nx)
{
    json_t *all = json_array();
    for (int k = 0; k < nx; k++) {
        json_t *one = json_array();
        for (int i = 0; i < samples; i++)
            json_array_append_new(one, mcp_json_number(v[(size_t)i * (size_t)nx + (size_t)k]));
        json_array_append_new(all, one);
    }
    return all;
}

static json_t *labels(const mcp_run *r)
{
    json_t *names = json_array();
    for (int k = 0; k < r->system->nx; k++) {
        const char *unit = r->task->state_unit ? r->task->state_unit[k] : NULL;
        char        label[160];
        snprintf(label, sizeof label, unit && *unit ? "%s [%s]" : "%s", r->task->state[k], unit);
        json_array_append_new(names, mcp_json_text(label));
    }
    return names;
}

static void push_forecast(learn_live *l, const mcp_run *r, const mcp_run_item *it)
{
    const mcp_forecast *f = it->forecast;
    push(l, json_pack("{s:s,s:i,s:f,s:o,s:o,s:o,s:o}", "type", "fan", "trial", it->info.number, "ts",
                      r->system->ts, "states", labels(r), "low", columns(f->low, f->samples, f->nx), "mid",
                      columns(f->median, f->samples, f->nx), "high", columns(f->high, f->samples, f->nx)));
}

/* "about 40 s": this optimisation as fast as its steps so far, to the most it may take. */
static void left_text(const mcp_learn_progress *p, char *text, size_t size)
{
    char part[32];
    double left = p->step > 0 ? p->seconds / p->step * fmax(p->steps - p->step, 0) : NAN;
    snprintf(text, size, "%s", isfinite(left) ? term_seconds(part, sizeof part, left) : "");
}

static void push_step(learn_live *l, const mcp_learn_progress *p)
{
    char left[40];
    left_text(p, left, sizeof left);
    push(l, json_pack("{s:s,s:i,s:i,s:i,s:i,s:f,s:f,s:s}", "type", "step", "trial", p->trial, "candidate",
                      l->candidate, "step", p->step, "steps_max", p->steps > p->step ? p->steps : p->step,
                      "cost", p->cost, "rate", p->step_size, "left", left));
}

/* What the observer sees of the trial that runs now, as it would be drawn. */
static void push_sample(learn_live *l, const mcp_learn_progress *p)
{
    const mcp_run_item *it = l->learner ? l->learner->next : NULL;
    if (!it || !it->trial || !it->trial->samples || it->trial->samples == l->samples) return;
    int    k = it->trial->samples - 1, nx = it->trial->nx;
    double view[4] = {0, 0, 0, 0};
    l->samples = it->trial->samples;
    if (!l->scene && k == 0 && mcp_scene_create(&l->scene, l->learner->run, NULL) == MCP_OK && l->scene)
        push(l, json_pack("{s:s,s:f,s:o}", "type", "scene", "ts", l->learner->run->system->ts, "shapes",
                          mcp_scene_shapes(l->scene)));
    json_t *frames = l->scene ? mcp_scene_frames(l->scene, 1, it->trial->observed + k * nx, nx, view) : NULL;
    push(l, json_pack("{s:s,s:i,s:b,s:o,s:o}", "type", "sample", "trial", p->trial, "explored",
                      it->info.explored, "t", mcp_json_number(it->trial->t[k]), "frame",
                      frames ? json_incref(json_array_get(frames, 0)) : json_null()));
    json_decref(frames);
}

static void push_phase(learn_live *l, const mcp_learn_progress *p)
{
    static const char *const words[] = {"exploring on the plant", "estimating states", "training the model",
                                        "optimising the policy", "forecasting", "the policy on the plant"};
    char text[96];
    snprintf(text, sizeof text, "%s %d: %s", p->phase == MCP_PHASE_EXPLORE ? "Exploration" : "Trial",
             p->trial, p->phase <= MCP_PHASE_TRIAL ? words[p->phase] : "");
    push(l, json_pack("{s:s,s:i,s:s}", "type", "phase", "trial", p->trial, "text", text));
    if (p->phase == MCP_PHASE_TRIAL && l->learner && l->learner->next && l->learner->next->forecast)
        push_forecast(l, l->learner->run, l->learner->next);
}

void live_progress(void *context, const mcp_learn_progress *p)
{
    learn_live *l = context;
    int         fresh = p->phase != l->phase || p->trial != l->trial;
    if (!l->page) return;
    if (mcp_live_stop_asked(l->page)) term_ask_stop();
    l->phase = p->phase;
    l->trial = p->trial;
    if (fresh) l->candidate = l->samples = 0;
    if (p->event == 3) l->candidate++;
    if (p->phase == MCP_PHASE_OPTIMISE && p->step > 0) {
        if (isfinite(p->cost) && (p->step < 200 || p->step % 4 == 0))
            push_step(l, p); /* enough for the eye */
    } else if (fresh) push_phase(l, p);
    if (p->phase == MCP_PHASE_EXPLORE || p->phase == MCP_PHASE_TRIAL) push_sample(l, p);
}

void live_trial(learn_live *l)
{
    if (!l->page || !l->learner || !l->learner->run->items) return;
    const mcp_run       *r = l->learner->run;
    const mcp_run_item  *it = r->item[r->items - 1];
    const mcp_diagnosis *d = &it->diagnosis;
    double              *real = mcp_run_outcome(it);
    const char *outcome = it->info.explored ? "explored" : it->info.success ? "success"
                          : it->info.ended  ? "ended early" : r->task->success.text ? "no success" : "run";
    if (real)
        push(l,
             json_pack("{s:s,s:i,s:b,s:s,s:b,s:o,s:o,s:o,s:o,s:o}", "type", "trial", "trial", it->info.number,
                       "explored", it->info.explored, "outcome", outcome, "good",
                       it->info.success || mcp_verdict_is_good(d->verdict), "cost",
                       mcp_json_number(it->info.cost), "predicted", mcp_json_number(it->info.forecast_cost),
                       "text", mcp_json_text(d->text), "remedy", mcp_json_text(mcp_diagnosis_remedy(d)),
                       "real", columns(real, it->trial->samples, r->system->nx)));
    mcp_free(real);
}

void live_done(learn_live *l, const char *text, const mcp_finish *f)
{
    if (!l->page) return;
    char what[160] = "", more[400] = "", verdict[600];
    if (f->known) mcp_finish_headline(f, what, sizeof what, more, sizeof more);
    snprintf(verdict, sizeof verdict, "%s %s", what, more);
    push(l, json_pack("{s:s,s:o,s:b,s:o,s:b}", "type", "done", "text", mcp_json_text(text), "solved",
                      f->known && mcp_finish_solved(f), "verdict", mcp_json_text(f->known ? verdict : ""),
                      "report", mcp_live_has_report(l->page)));
    mcp_live_stop(l->page);
    mcp_scene_free(l->scene);
    l->scene = NULL;
    l->page = NULL;
}
