/* learn_live.c - what the live page is told: phases, costs, the forecast before a trial, the outcome after
 * it. */
#include "learn_live.h"

#include <jansson.h>
#include <math.h>

#include "io/json.h"
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

static void push_forecast(learn_live *l, const mcp_run *r, const mcp_run_item *it)
{
    const mcp_forecast *f = it->forecast;
    json_t             *names = json_array();
    for (int k = 0; k < r->system->nx; k++) json_array_append_new(names, json_string(r->task->state[k]));
    push(l, json_pack("{s:s,s:i,s:f,s:o,s:o,s:o,s:o}", "type", "fan", "trial", it->info.number, "ts",
                      r->system->ts, "states", names, "low", columns(f->low, f->samples, f->nx), "mid",
                      columns(f->median, f->samples, f->nx), "high", columns(f->high, f->samples, f->nx)));
}

void live_progress(void *context, const mcp_learn_progress *p)
{
    learn_live *l = context;
    int         fresh = p->phase != l->phase || p->trial != l->trial;
    if (!l->page) return;
    if (mcp_live_stop_asked(l->page)) term_ask_stop();
    l->phase = p->phase;
    l->trial = p->trial;
    if (p->phase == MCP_PHASE_OPTIMISE && p->step > 0) {
        if (isfinite(p->cost) && (p->step < 200 || p->step % 4 == 0)) /* enough for the eye */
            push(l, json_pack("{s:s,s:i,s:i,s:i,s:f,s:f}", "type", "step", "trial", p->trial, "step", p->step,
                              "steps_max", p->steps, "cost", p->cost, "rate", p->step_size));
    } else if (fresh) {
        push(l, json_pack("{s:s,s:i,s:s}", "type", "phase", "trial", p->trial, "text",
                          mcp_phase_name(p->phase)));
        if (p->phase == MCP_PHASE_TRIAL && l->learner && l->learner->next && l->learner->next->forecast)
            push_forecast(l, l->learner->run, l->learner->next);
    }
}

void live_trial(learn_live *l)
{
    if (!l->page || !l->learner || !l->learner->run->items) return;
    const mcp_run      *r = l->learner->run;
    const mcp_run_item *it = r->item[r->items - 1];
    double             *real = mcp_run_outcome(it);
    if (!it->info.explored && real)
        push(l, json_pack("{s:s,s:i,s:b,s:o,s:o,s:o}", "type", "trial", "trial", it->info.number, "success",
                          it->info.success, "cost", mcp_json_number(it->info.cost), "predicted",
                          mcp_json_number(it->info.forecast_cost), "real",
                          columns(real, it->trial->samples, r->system->nx)));
    mcp_free(real);
}

void live_done(learn_live *l, const char *text)
{
    if (!l->page) return;
    push(l, json_pack("{s:s,s:s}", "type", "done", "text", text));
    mcp_live_stop(l->page);
    l->page = NULL;
}
