/* rig_view.c - a probe against a task file: verdicts, a table, the lines to change. */
#include "rig_view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/json.h"
#include "math/arena.h"
#include "math/text.h"
#include "term.h"

/* verdicts */

static int other_noise(const mcp_probe_channel *c, const mcp_task_channel *t)
{
    if (isnan(c->noise)) return 0;
    if (c->hidden) return t->noise > 0.6 * c->resolution;
    if (!(c->noise > 0.0) || !(t->noise > 0.0)) return (c->noise > 0.0) != (t->noise > 0.0);
    return fabs(log(c->noise / t->noise)) > fmax(0.2, 3.0 * c->noise_error);
}

/* A step far below the noise (digits of a printed number) does not matter. */
static int other_resolution(const mcp_probe_channel *c, const mcp_task_channel *t)
{
    double matters = 0.3 * (c->noise > 0.0 ? c->noise : 0.0);
    if (isnan(c->resolution)) return 0;
    if (t->quantum <= matters && c->resolution <= matters) return 0;
    return fabs(c->resolution - t->quantum) > 0.02 * fmax(c->resolution, t->quantum);
}

/* What all channels share is the input's delay, what one has on top is its sensor's. */
static void judge_delays(rig_verdict *v, const mcp_task *task, const mcp_probe *p)
{
    for (int i = 0; i < task->ny; i++) v->sensor_delay[i] = task->measured[i].delay;
    for (int j = 0; j < task->nu; j++) {
        int least = 0, most = 0, seen = 0;
        v->input_delay[j] = task->input[j].delay;
        for (int i = 0; i < task->ny; i++) {
            const mcp_probe_response *r = &p->response[j][i];
            int more = r->delay - task->input[j].delay - task->measured[i].delay;
            if (!r->found || !r->delay_sure) continue;
            least = seen && least < more ? least : more;
            most = seen && most > more ? most : more;
            seen = 1;
        }
        int shared = least > 0 ? least : most < 0 ? most : 0;
        if (task->input[j].delay + shared < 0) shared = -task->input[j].delay;
        v->input_delay[j] += shared;
        for (int i = 0; i < task->ny; i++) {
            const mcp_probe_response *r = &p->response[j][i];
            if (r->found && r->delay_sure)
                v->sensor_delay[i] = r->delay - v->input_delay[j] > 0 ? r->delay - v->input_delay[j] : 0;
        }
    }
}

static int judge_gain(const mcp_probe_response *r, const mcp_probe_response *e)
{
    if (!r->found || !e->found) return 0;
    if (r->gain * e->gain < 0.0) return 3;
    double doubt = 3.0 * hypot(r->gain_error, e->gain_error);
    return fabs(r->gain - e->gain) > fmax(doubt, 0.35 * fabs(e->gain)) ? 2 : 1;
}

void rig_judge(rig_verdict *v, const mcp_task *task, const mcp_probe *p, const mcp_probe *reference)
{
    double error = p->jitter / sqrt(fmax(1.0, p->samples - 1));
    memset(v, 0, sizeof *v);
    v->rate = !p->paced && fabs(p->period * task->rate - 1.0) > fmax(0.005, 4.0 * error * task->rate)
                  ? 1.0 / p->period
                  : NAN;
    v->changes = !isnan(v->rate);
    judge_delays(v, task, p);
    for (int i = 0; i < task->ny; i++) {
        v->noise[i] = (char)other_noise(&p->channel[i], &task->measured[i]);
        v->resolution[i] = (char)other_resolution(&p->channel[i], &task->measured[i]);
        v->wraps[i] = p->channel[i].wraps && !task->measured[i].angle;
        v->changes +=
            v->noise[i] || v->resolution[i] || v->wraps[i] || v->sensor_delay[i] != task->measured[i].delay;
    }
    for (int j = 0; j < task->nu; j++) {
        v->changes += v->input_delay[j] != task->input[j].delay;
        for (int i = 0; i < task->ny && reference; i++)
            v->gain[j][i] = (char)judge_gain(&p->response[j][i], &reference->response[j][i]);
    }
}

/* words */

static const char *unit_of(const mcp_task *task, int channel)
{
    const char *u = mcp_channel_unit(task, &task->measured[channel]);
    return u ? u : "";
}

static const char *says(int other)
{
    return other ? "NOT as the task says" : "as the task says";
}

/* "m/s" per second is "m/s^2"; a plain "m" is "m/s". */
static const char *rate_unit(char *out, size_t size, const mcp_task *task, int channel, int order)
{
    const char *u = unit_of(task, channel);
    size_t      n = strlen(u);
    int         velocity = n > 2 && !strcmp(u + n - 2, "/s");
    if (velocity) snprintf(out, size, "%s^%d", u, order + 1);
    else if (order == 1) snprintf(out, size, "%s/s", u[0] ? u : "1");
    else snprintf(out, size, "%s/s^2", u[0] ? u : "1");
    return out;
}

/* "+-0.3 %", "+-12 %" */
static const char *per_cent(char *out, size_t size, double share)
{
    snprintf(out, size, 100 * share < 1.0 ? "+-%.1f %%" : "+-%.0f %%", 100 * share);
    return out;
}

static void print_time(const rig_verdict *v, const mcp_probe *p)
{
    printf("  rate        %.6g Hz by %s clock", 1.0 / p->period, p->paced ? "our" : "the plant's");
    if (p->jitter > 1e-9)
        printf(", jitter %.3g ms, periods %.4g to %.4g ms", 1e3 * p->jitter, 1e3 * p->period_low,
               1e3 * p->period_high);
    if (p->paced) printf("\n  misses      %d of %d samples\n", p->misses, p->samples - 1);
    else printf(": %s\n", says(!isnan(v->rate)));
    if (!p->paced && p->real_time)
        printf("  our clock   %.6g Hz, jitter %.3g ms (the plant keeps time)\n", 1.0 / p->wall_period,
               1e3 * p->wall_jitter);
    if (p->paced || !p->real_time)
        printf("  round trip  %.3g ms mean, %.3g ms most%s\n", 1e3 * p->answer, 1e3 * p->answer_most,
               p->paced ? "" : " (faster than the rate: a simulation)");
}

static void print_channel(const rig_verdict *v, const mcp_task *task, const mcp_probe *p, int i)
{
    const mcp_probe_channel *c = &p->channel[i];
    const mcp_task_channel  *t = &task->measured[i];
    const char              *unit = unit_of(task, i);
    char                     error[24];
    if (isnan(c->noise)) printf("  %-10s  noise: too few samples at rest\n", t->name);
    else if (c->hidden)
        printf("  %-10s  noise below what its resolution shows: %s\n", t->name, says(v->noise[i]));
    else
        printf("  %-10s  noise %.2g %s (%s), the task has %.2g: %s\n", t->name, c->noise, unit,
               per_cent(error, sizeof error, c->noise_error), t->noise, says(v->noise[i]));
    if (isnan(c->resolution))
        printf("  %-10s  resolution: its value never changed from %.6g %s; move it by hand, or look at the "
               "wiring\n",
               "", c->low, unit);
    else if (c->resolution > 0.0)
        printf("  %-10s  resolution %.4g %s, the task has %.4g: %s\n", "", c->resolution, unit, t->quantum,
               says(v->resolution[i]));
    else printf("  %-10s  resolution: none seen: %s\n", "", says(v->resolution[i]));
    if (c->wraps) printf("  %-10s  wraps by a turn, %d times: %s\n", "", c->wraps, says(v->wraps[i]));
    else if (task->state_angle[t->state])
        printf("  %-10s  no jump by a turn was seen between %.3g and %.3g rad; the task says it %s\n", "",
               c->low, c->high, t->angle ? "wraps" : "does not wrap");
}

static void print_response(const rig_verdict *v, const mcp_task *task, const mcp_probe *p,
                           const mcp_probe *reference, int j, int i)
{
    const mcp_probe_response *r = &p->response[j][i];
    const mcp_task_input     *in = &task->input[j];
    char                      unit[64], name[160], error[24];
    static const char *const  words[] = {"", ": agrees", ": NOT as the equations say", ": OPPOSITE SIGN"};
    int                       expected = in->delay + task->measured[i].delay;
    snprintf(name, sizeof name, "%s -> %s", in->name, task->measured[i].name);
    if (!r->found) {
        printf("  %-10s  no clear answer; if there should be one, raise --amplitude, --pulse or --seconds\n",
               name);
        return;
    }
    printf("  %-10s  %+.3g %s per %s (%s)", name, r->gain, rate_unit(unit, sizeof unit, task, i, r->order),
           in->unit ? in->unit : "unit", per_cent(error, sizeof error, r->gain_error / fabs(r->gain)));
    if (reference && reference->response[j][i].found)
        printf(", the equations give %+.3g%s\n", reference->response[j][i].gain, words[(int)v->gain[j][i]]);
    else printf("; the model learns it\n");
    printf("  %-10s  after %d sample%s%s: %s\n", "", r->delay, r->delay == 1 ? "" : "s",
           r->delay_sure ? "" : " or so", says(r->delay_sure && r->delay != expected));
}

/* the lines to change */

static void propose_channel(mcp_text *t, const rig_verdict *v, const mcp_task *task, const mcp_probe *p,
                            int i)
{
    const mcp_task_channel *c = &task->measured[i];
    double noise = !v->noise[i] ? c->noise : p->channel[i].hidden ? 0.0 : p->channel[i].noise;
    double step = v->resolution[i] ? p->channel[i].resolution : c->quantum;
    mcp_text_add(t, "  %s: {noise: %.3g", c->name, noise);
    if (step > 0.0) mcp_text_add(t, ", resolution: %.6g", step);
    if (v->sensor_delay[i]) mcp_text_add(t, ", delay: %d", v->sensor_delay[i]);
    if (c->angle || v->wraps[i]) mcp_text_add(t, ", wraps: yes");
    mcp_text_add(t, "}\n");
}

static void propose_input(mcp_text *t, const rig_verdict *v, const mcp_task *task, int j)
{
    const mcp_task_input *in = &task->input[j];
    if (in->low == -in->high) mcp_text_add(t, "  %s: {limit: %.6g", in->name, in->high);
    else mcp_text_add(t, "  %s: {limit: [%.6g, %.6g]", in->name, in->low, in->high);
    if (in->unit) mcp_text_add(t, ", unit: %s", in->unit);
    if (in->slew > 0.0) mcp_text_add(t, ", slew: %.6g", in->slew);
    if (v->input_delay[j]) mcp_text_add(t, ", delay: %d", v->input_delay[j]);
    mcp_text_add(t, "}\n");
}

/* YAML, whole entries; "" when nothing has to change. mcp_free it; NULL = no memory. */
static char *propose(const rig_verdict *v, const mcp_task *task, const mcp_probe *p)
{
    mcp_text t = {0};
    char    *out = NULL;
    int      said = 0;
    mcp_text_add(&t, "%s", "");
    if (!isnan(v->rate)) mcp_text_add(&t, "rate: %.6g\n", v->rate);
    for (int j = 0; j < task->nu; j++) {
        if (v->input_delay[j] == task->input[j].delay) continue;
        if (!said++) mcp_text_add(&t, "inputs:\n");
        propose_input(&t, v, task, j);
    }
    said = 0;
    for (int i = 0; i < task->ny; i++) {
        if (!(v->noise[i] || v->resolution[i] || v->wraps[i] ||
              v->sensor_delay[i] != task->measured[i].delay))
            continue;
        if (!said++) mcp_text_add(&t, "measured:\n");
        propose_channel(&t, v, task, p, i);
    }
    return mcp_text_take(&t, &out, NULL) == MCP_OK ? out : NULL;
}

static int signs_differ(const rig_verdict *v, const mcp_task *task, int j)
{
    int other = 0;
    for (int i = 0; i < task->ny; i++) other |= v->gain[j][i] == 3;
    return other;
}

void rig_print(const rig_verdict *v, const mcp_task *task, const mcp_probe *p, const mcp_probe *reference)
{
    printf("%d samples in %.3g s, %d of them at rest, then %d pulses of each input\n", p->samples, p->seconds,
           p->rest, p->pulses);
    if (p->ended) printf("the probe ended early: %s\n", p->reason);
    print_time(v, p);
    for (int i = 0; i < task->ny; i++) print_channel(v, task, p, i);
    for (int j = 0; j < task->nu; j++)
        for (int i = 0; i < task->ny; i++) print_response(v, task, p, reference, j, i);
    for (int j = 0; j < task->nu; j++)
        if (signs_differ(v, task, j))
            printf("input %s works against the equations: swap the motor's wires or the sensor's, or change "
                   "the sign in the driver\n",
                   task->input[j].name);
    char *lines = propose(v, task, p);
    if (lines && lines[0]) printf("\nlines to change in %s:\n%s", task->file, lines);
    else if (lines) printf("\nnothing to change in %s\n", task->file);
    mcp_free(lines);
}

/* JSON */

static json_t *channel_json(const rig_verdict *v, const mcp_task *task, const mcp_probe *p, int i)
{
    const mcp_probe_channel *c = &p->channel[i];
    return json_pack("{s:s, s:o, s:o, s:b, s:o, s:i, s:o, s:o, s:b, s:b, s:b, s:i}", "name",
                     task->measured[i].name, "noise", mcp_json_number(c->noise), "noise_error",
                     mcp_json_number(c->noise_error), "noise_hidden", c->hidden, "resolution",
                     mcp_json_number(c->resolution), "wraps", c->wraps, "low", mcp_json_number(c->low),
                     "high", mcp_json_number(c->high), "change_noise", v->noise[i], "change_resolution",
                     v->resolution[i], "change_wraps", v->wraps[i], "delay", v->sensor_delay[i]);
}

static json_t *response_json(const rig_verdict *v, const mcp_task *task, const mcp_probe *p,
                             const mcp_probe *reference, int j, int i)
{
    static const char *const words[] = {"unknown", "agrees", "differs", "opposite"};
    const mcp_probe_response *r = &p->response[j][i];
    return json_pack(
        "{s:s, s:s, s:b, s:i, s:o, s:o, s:i, s:b, s:s, s:o}", "input", task->input[j].name, "channel",
        task->measured[i].name, "found", r->found, "order", r->order, "gain", mcp_json_number(r->gain),
        "gain_error", mcp_json_number(r->gain_error), "delay", r->delay, "delay_sure", r->delay_sure,
        "equations", words[(int)v->gain[j][i]], "equations_gain",
        mcp_json_number(reference && reference->response[j][i].found ? reference->response[j][i].gain : NAN));
}

int rig_json(const rig_verdict *v, const mcp_task *task, const mcp_probe *p, const mcp_probe *reference)
{
    json_t *channels = json_array(), *responses = json_array(), *delays = json_object();
    char   *lines = propose(v, task, p);
    for (int i = 0; i < task->ny; i++) json_array_append_new(channels, channel_json(v, task, p, i));
    for (int j = 0; j < task->nu; j++) {
        json_object_set_new(delays, task->input[j].name, json_integer(v->input_delay[j]));
        for (int i = 0; i < task->ny; i++)
            json_array_append_new(responses, response_json(v, task, p, reference, j, i));
    }
    json_t *time =
        json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:b, s:b, s:i}", "period", p->period, "jitter",
                  p->jitter, "period_low", p->period_low, "period_high", p->period_high, "wall_period",
                  p->wall_period, "wall_jitter", p->wall_jitter, "answer_mean", p->answer, "answer_max",
                  p->answer_most, "paced", p->paced, "real_time", p->real_time, "misses", p->misses);
    json_t *root = json_pack("{s:i, s:i, s:f, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:i, s:o}", "samples",
                             p->samples, "rest", p->rest, "seconds", p->seconds, "ended", p->ended, "reason",
                             mcp_json_text(p->reason), "time", time, "rate", mcp_json_number(v->rate),
                             "channels", channels, "responses", responses, "input_delays", delays, "changes",
                             v->changes, "lines", mcp_json_text(lines ? lines : ""));
    mcp_free(lines);
    return term_json(root);
}
