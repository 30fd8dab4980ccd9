/* robot.c - state, inputs, measured, observer, smoother: what the robot is and what is known about it while
 * it moves. */
#include <stdio.h>
#include <string.h>

#include "math/arena.h"
#include "task/keys.h"

typedef struct {
    char *unit;
    int   angle;
} state_row;

const mcp_key mcp_state_table[] = {
    {"unit", KEY_TEXT, offsetof(state_row, unit), .about = "for labels in tables and plots, e.g. m/s"},
    {"angle", KEY_FLAG, offsetof(state_row, angle), .fallback = "no",
     .about =
         "an angle in rad, never wrapped: enters default features and the default policy as sine and cosine"},
    MCP_KEY_END,
};
/* limit: 12 is [-12, 12]; limit: [0, 12] is what it says. */
static mcp_status read_limit(mcp_reader *r, mcp_yaml *n, void *base, const mcp_key *key)
{
    static const mcp_key     side = {.type = KEY_NUMBER, .lo = -1e9, .hi = 1e9, .unit = "the input's unit"};
    static const char *const names[] = {"low", "high"};
    mcp_task_input          *u = base;
    double                   v[2] = {0.0, 0.0};
    mcp_status               st;
    if (n->kind != MCP_YAML_LIST) {
        if ((st = mcp_read_number(r, n, key, &u->high)) == MCP_OK) u->low = -u->high;
        return st;
    }
    if ((st = mcp_read_vector(r, n, &side, 2, names, 0.0, v)) != MCP_OK) return st;
    if (!(v[0] < v[1])) return mcp_read_fail(r, n, "[low, high] with low < high");
    u->low  = v[0];
    u->high = v[1];
    return MCP_OK;
}

const mcp_key mcp_input_table[] = {
    {"limit", KEY_OWN, 0, 0, 1e9, OPEN_LO, .required = 1, .read = read_limit,
     .shape = SHAPE_NUMBER | SHAPE_INTERVAL,
     .form = "a number, or [low, high]", .unit = "the input's unit",
     .about = "what the actuator takes, clamped on the plant: the largest magnitude, |u| <= limit, or both "
              "ends, e.g. [0, 12] for a pump"},
    {"unit", KEY_TEXT, offsetof(mcp_task_input, unit), .about = "for labels, e.g. N"},
    {"slew", KEY_NUMBER, offsetof(mcp_task_input, slew), 0, 1e12, .fallback = "0", .unit = "1/s",
     .about = "largest change per second; 0 = none"},
    {"delay", KEY_INT, offsetof(mcp_task_input, delay), 0, 32, .fallback = "0", .unit = "samples",
     .about = "whole samples between command and effect"},
    MCP_KEY_END,
};
const mcp_key mcp_measured_table[] = {
    {"noise", KEY_NUMBER, offsetof(mcp_task_channel, noise), 0, 1e9, .fallback = "0",
     .unit = "the state's unit",
     .about = "standard deviation of the sensor's noise. With from: of the computed state; 0 = from the "
              "sensors' own, at the mean of the start"},
    {"of", KEY_EXPR, offsetof(mcp_task_channel, of),
     .about = "what a sensor with a name of its own shows: an expression of the state, e.g. tip: {of: "
              "l*sin(theta)}"},
    {"from", KEY_EXPR, offsetof(mcp_task_channel, from),
     .about = "a state that no sensor shows by itself, computed from this sample's measurements y_NAME, e.g. "
              "theta: {from: atan2(y_sx, y_cx), wraps: yes}"},
    {"unit", KEY_TEXT, offsetof(mcp_task_channel, unit), .about = "of a sensor with a name of its own"},
    {"resolution", KEY_NUMBER, offsetof(mcp_task_channel, quantum), 0, 1e9, .fallback = "0",
     .unit = "the state's unit",
     .about =
         "step of an encoder or converter (rounding on the plant, equivalent noise in particles); 0 = none"},
    {"delay", KEY_INT, offsetof(mcp_task_channel, delay), 0, 32, .fallback = "0", .unit = "samples",
     .about = "whole samples until the value arrives"},
    {"wraps", KEY_FLAG, offsetof(mcp_task_channel, angle), .fallback = "no",
     .about = "the sensor, or from, gives an angle within +-pi; it is unwrapped on arrival"},
    {"most", KEY_NUMBER, offsetof(mcp_task_channel, most), 0, 1e300, .fallback = "0",
     .unit = "the state's unit",
     .about = "a trial ends at a larger magnitude: the sensor or its wire is broken; 0 = at a million times "
              "the largest one before it"},
    MCP_KEY_END,
};

/* A new name must be one, must not mean something already, and must be new. */
static mcp_status new_name(mcp_reader *r, const char *name, mcp_where at)
{
    const mcp_task *t = r->task;
    if (!mcp_is_name(name))
        return mcp_fail_at(r->err, at, "found \"%s\", expected a name (letters, digits, _; at most 31)",
                           name);
    if (mcp_is_reserved(name))
        return mcp_fail_at(r->err, at,
                           "found \"%s\", expected a name that is not a word of the expression language",
                           name);
    if (mcp_task_find_state(t, name) >= 0)
        return mcp_fail_at(r->err, at, "found \"%s\" twice, expected a name that no other state or input has",
                           name);
    for (int i = 0; i < t->nu; i++)
        if (!strcmp(t->input[i].name, name))
            return mcp_fail_at(r->err, at,
                               "found \"%s\" twice, expected a name that no other state or input has", name);
    for (int i = 0; i < t->constants.n; i++)
        if (!strcmp(t->constants.item[i].name, name))
            return mcp_fail_at(r->err, at, "found \"%s\", expected a name that no constant has (line %d)",
                               name, t->constants.item[i].expr.at.line);
    return MCP_OK;
}

mcp_status mcp_read_states(mcp_reader *r, mcp_yaml *n, void *base, const mcp_key *key)
{
    mcp_task  *t     = base;
    size_t     count = (size_t)n->count;
    mcp_status st;
    if (n->kind == MCP_YAML_SCALAR || !count) return mcp_read_fail(r, n, key->form);
    count += (size_t)t->goals.n;
    if (count > MCP_MAX_STATE)
        return mcp_fail_at(r->err, n->at, "found %zu states, expected at most %d", count, MCP_MAX_STATE);
    t->state       = mcp_task_memory_get(r->bag, count, sizeof *t->state);
    t->state_unit  = mcp_task_memory_get(r->bag, count, sizeof *t->state_unit);
    t->state_angle = mcp_task_memory_get(r->bag, count, sizeof *t->state_angle);
    if (!t->state || !t->state_unit || !t->state_angle) return mcp_read_memory(r);
    for (mcp_yaml *c = n->first; c; c = c->next) {
        state_row   row  = {0};
        const char *name = c->key;
        if (!name && (st = mcp_read_name(r, c, &name)) != MCP_OK) return st;
        if ((st = new_name(r, name, c->key ? c->key_at : c->at)) != MCP_OK) return st;
        if (c->key && (st = mcp_keys_read_short(r, c, mcp_state_table, "unit", &row)) != MCP_OK) return st;
        if (!(t->state[t->nx] = mcp_task_memory_text(r->bag, name, strlen(name)))) return mcp_read_memory(r);
        t->state_unit[t->nx]    = row.unit;
        t->state_angle[t->nx++] = row.angle;
    }
    for (int i = 0; i < t->goals.n; i++) { /* a goal is a state that stands still */
        const mcp_yaml *goal = mcp_yaml_find(mcp_yaml_find(n->parent, "goals"), t->goals.item[i].name);
        if ((st = new_name(r, t->goals.item[i].name, goal->key_at)) != MCP_OK) return st;
        t->state[t->nx++] = t->goals.item[i].name;
    }
    return MCP_OK;
}

mcp_status mcp_read_inputs(mcp_reader *r, mcp_yaml *n, void *base, const mcp_key *key)
{
    mcp_task  *t = base;
    mcp_status st;
    if (n->kind != MCP_YAML_MAP || !n->count) return mcp_read_fail(r, n, key->form);
    if (n->count > MCP_MAX_INPUT)
        return mcp_fail_at(r->err, n->at, "found %d inputs, expected at most %d", n->count, MCP_MAX_INPUT);
    if (!(t->input = mcp_task_memory_get(r->bag, (size_t)n->count, sizeof *t->input)))
        return mcp_read_memory(r);
    for (mcp_yaml *c = n->first; c; c = c->next) {
        mcp_task_input *in = &t->input[t->nu];
        if ((st = new_name(r, c->key, c->key_at)) != MCP_OK) return st;
        if ((st = mcp_keys_read_short(r, c, mcp_input_table, "limit", in)) != MCP_OK) return st;
        if (!(in->name = mcp_task_memory_text(r->bag, c->key, strlen(c->key)))) return mcp_read_memory(r);
        t->nu++;
    }
    return MCP_OK;
}

/* One entry: a state's own sensor, a sensor of an expression (of), or a state from measurements (from). */
static mcp_status read_channel(mcp_reader *r, mcp_yaml *c, mcp_task_channel *ch)
{
    const mcp_task *t    = r->task;
    const char     *name = c->key;
    mcp_where       at   = c->key ? c->key_at : c->at;
    mcp_status      st;
    if (!name && (st = mcp_read_name(r, c, &name)) != MCP_OK) return st;
    if (c->key && (st = mcp_keys_read_short(r, c, mcp_measured_table, "noise", ch)) != MCP_OK) return st;
    ch->state = mcp_task_find_state(t, name);
    if (ch->of.text && ch->state >= 0)
        return mcp_fail_at(r->err, at,
                           "found \"%s\" with of, expected a name of its own for this sensor: %s is a state, "
                           "which follows from sensors by from", name, name);
    if (ch->of.text && ch->from.text)
        return mcp_fail_at(r->err, at, "found of and from for \"%s\", expected one of them", name);
    if (ch->of.text && (st = new_name(r, name, at)) != MCP_OK) return st;
    if (!ch->of.text && (st = mcp_read_state(r, name, at, &ch->state)) != MCP_OK) return st;
    if (ch->state >= mcp_task_moving(t))
        return mcp_fail_at(r->err, at,
                           "found the goal \"%s\", expected a state: goals are told, not measured", name);
    if (ch->from.text && (ch->quantum > 0.0 || ch->delay || ch->most > 0.0))
        return mcp_fail_at(r->err, at,
                           "found resolution, delay or most for \"%s\", which is computed (from); expected "
                           "them at the sensors that it is computed from", name);
    for (int i = 0; i < t->ny + t->nseen; i++)
        if (!strcmp(i < t->ny ? t->measured[i].name : t->seen[i - t->ny].name, name))
            return mcp_fail_at(r->err, at, "found \"%s\" twice in measured, expected it once", name);
    ch->name = mcp_task_memory_text(r->bag, name, strlen(name));
    return ch->name ? MCP_OK : mcp_read_memory(r);
}

mcp_status mcp_read_measured(mcp_reader *r, mcp_yaml *n, void *base, const mcp_key *key)
{
    mcp_task  *t = base;
    mcp_status st;
    if (n->kind == MCP_YAML_SCALAR || !n->count) return mcp_read_fail(r, n, key->form);
    size_t channels = (size_t)(n->count + t->goals.n);
    if (channels > MCP_MAX_STATE)
        return mcp_fail_at(r->err, n->at, "found %zu measured channels, expected at most %d", channels,
                           MCP_MAX_STATE);
    t->measured = mcp_task_memory_get(r->bag, channels, sizeof *t->measured);
    t->seen     = mcp_task_memory_get(r->bag, channels, sizeof *t->seen);
    if (!t->measured || !t->seen) return mcp_read_memory(r);
    for (mcp_yaml *c = n->first; c; c = c->next) {
        mcp_task_channel ch = {0};
        if ((st = read_channel(r, c, &ch)) != MCP_OK) return st;
        ch.sensor = ch.from.text ? -1 : t->ny;
        if (ch.state >= 0) t->seen[t->nseen++] = ch;
        if (!ch.from.text) t->measured[t->ny++] = ch;
    }
    if (!t->ny) return mcp_fail_at(r->err, n->at, "found no sensor in measured, expected at least one");
    for (int i = 0; i < t->goals.n; i++) {
        const mcp_task_channel goal = {
            .name = t->goals.item[i].name, .state = mcp_task_moving(t) + i, .sensor = t->ny};
        t->seen[t->nseen++]  = goal;
        t->measured[t->ny++] = goal;
    }
    return MCP_OK;
}

/* Is every state measured, or known from the commands? */
int mcp_all_measured(const mcp_task *t)
{
    for (int i = 0; i < t->nx; i++) {
        int seen = 0;
        for (int k = 0; k < t->nseen; k++) seen |= t->seen[k].state == i;
        for (int k = 0; k < t->known.n; k++) seen |= !strcmp(t->known.item[k].name, t->state[i]);
        if (!seen) return 0;
    }
    return 1;
}

int mcp_state_observable(const mcp_task *t, int state)
{
    const mcp_task_observer *o = &t->observer;
    for (int i = 0; o->type == MCP_OBSERVER_CUSTOM && i < o->output.n; i++)
        if (!strcmp(o->output.item[i].name, t->state[state])) return 1;
    for (int i = 0; i < t->known.n; i++)
        if (!strcmp(t->known.item[i].name, t->state[state])) return 1;
    for (int i = 0; i < t->nseen; i++)
        if (t->seen[i].state == state) return 1;
    if (o->type == MCP_OBSERVER_NONE || o->type == MCP_OBSERVER_CUSTOM) return 0;
    for (int i = 0; i < t->nseen; i++)
        for (int g = 0; g < t->ngp; g++) /* the velocity of a measured position */
            if (t->gp[g].kind == MCP_GP_VELOCITY && t->gp[g].state == state &&
                t->gp[g].position == t->seen[i].state)
                return 1;
    return 0;
}

/* Numbers per measured channel: one for all, a list, or by name. */
static mcp_status per_channel(mcp_reader *r, mcp_yaml *n, const mcp_key *key, double fallback, double **out)
{
    const mcp_task *t = r->task;
    const char     *names[MCP_MAX_STATE];
    for (int i = 0; i < mcp_task_seen(t); i++) names[i] = t->seen[i].name;
    if (!(*out = mcp_task_memory_get(r->bag, (size_t)t->nseen + 1, sizeof **out))) return mcp_read_memory(r);
    return mcp_read_vector(r, n, key, mcp_task_seen(t), names, fallback, *out);
}

static mcp_status read_per_channel(mcp_reader *r, mcp_yaml *n, void *base, const mcp_key *key)
{
    return per_channel(r, n, key, 0.0, (double **)(void *)((char *)base + key->offset));
}

/* gains: {p: [0.6, 9.9], ..}: one row per channel. */
static mcp_status read_gains(mcp_reader *r, mcp_yaml *n, void *base, const mcp_key *key)
{
    static const char *const names[] = {"position", "velocity", "acceleration"};
    const mcp_task          *t       = r->task;
    mcp_task_observer       *o       = base;
    int                      width   = o->acceleration ? 3 : 2;
    mcp_status               st      = mcp_expect(r, n, MCP_YAML_MAP, key->form);
    if (st != MCP_OK) return st;
    if (!(o->gains = mcp_task_memory_get(r->bag, ((size_t)t->nseen + 1) * (size_t)width, sizeof *o->gains)))
        return mcp_read_memory(r);
    for (int i = 0; i < mcp_task_seen(t); i++) {
        mcp_yaml *c = mcp_yaml_find(n, t->seen[i].name);
        if (!c)
            return mcp_fail_at(r->err, n->at,
                               "gains of \"%s\" are missing, expected %d numbers for every measured channel",
                               t->seen[i].name, width);
        if ((st = mcp_read_vector(r, c, NULL, width, names, 0.0, o->gains + i * width)) != MCP_OK) return st;
    }
    if (n->count != mcp_task_seen(t)) return mcp_read_fail(r, n, "gains of the measured channels only");
    return MCP_OK;
}

typedef struct {
    mcp_expr start, next;
} memory_row;

const mcp_key mcp_memory_table[] = {
    {"start", KEY_EXPR, offsetof(memory_row, start), .fallback = "0",
     .about = "value at the first sample: an expression of the measured channels"},
    {"next", KEY_EXPR, offsetof(memory_row, next), .required = 1,
     .about = "value at the next sample: an expression of measured channels and memory"},
    MCP_KEY_END,
};

static mcp_status read_memory(mcp_reader *r, mcp_yaml *n, void *base, const mcp_key *key)
{
    mcp_task_observer *o  = base;
    mcp_status         st = mcp_expect(r, n, MCP_YAML_MAP, key->form);
    if (st != MCP_OK) return st;
    if (n->count > MCP_MAX_LIST)
        return mcp_fail_at(r->err, n->at, "found %d memories, expected at most %d", n->count, MCP_MAX_LIST);
    o->memory_start.item = mcp_task_memory_get(r->bag, (size_t)n->count, sizeof(mcp_named_expr));
    o->memory_next.item  = mcp_task_memory_get(r->bag, (size_t)n->count, sizeof(mcp_named_expr));
    if (!o->memory_start.item || !o->memory_next.item) return mcp_read_memory(r);
    for (mcp_yaml *c = n->first; c; c = c->next) {
        memory_row row = {0};
        if ((st = new_name(r, c->key, c->key_at)) != MCP_OK) return st;
        if ((st = mcp_keys_read_short(r, c, mcp_memory_table, "next", &row)) != MCP_OK) return st;
        char *name = mcp_task_memory_text(r->bag, c->key, strlen(c->key));
        if (!name) return mcp_read_memory(r);
        o->memory_start.item[o->memory_start.n++] = (mcp_named_expr){name, row.start};
        o->memory_next.item[o->memory_next.n++]   = (mcp_named_expr){name, row.next};
    }
    return MCP_OK;
}

/* A section with a type. One that is left out is `none` when every state is measured, and else `estimating`.
 */
static mcp_status read_typed(mcp_reader *r, mcp_yaml *n, const mcp_key *table, const char *shorthand,
                             const char *estimating, void *into)
{
    mcp_status st = MCP_OK;
    if (n->kind == MCP_YAML_MAP && !n->shorthand && !mcp_yaml_find(n, "type"))
        st = mcp_fill(r, n, "type", mcp_all_measured(r->task) ? "none" : estimating);
    return st == MCP_OK ? mcp_keys_read_short(r, n, table, shorthand, into) : st;
}

#define AT(field) offsetof(mcp_task_observer, field)
const mcp_key mcp_observer_table[] = {
    {"type", KEY_CHOICE, AT(type), .required = 1, .choices = "none|difference|kalman|custom|auto",
     .about =
         "none: the policy sees what is measured; difference: velocities by backward difference; kalman: one "
         "filter per measured channel; custom: your own recurrence; auto: nothing to choose, a filter per "
         "channel whose gains follow from the sensor's figures and the exploration"},
    {"lowpass", KEY_NUMBER, AT(lowpass), 0, 1, OPEN_HI, .fallback = "0", .only = "difference",
     .unit = "of Nyquist", .about = "cut-off of a Butterworth low-pass on the velocities; 0 = no filter"},
    {"order", KEY_INT, AT(order), 1, 4, .fallback = "1", .only = "difference",
     .about = "order of the low-pass"},
    {"acceleration", KEY_FLAG, AT(acceleration), .fallback = "no", .only = "kalman",
     .about = "model of a channel: no = constant velocity, yes = constant acceleration"},
    {"steady", KEY_FLAG, AT(steady), .fallback = "no", .only = "kalman",
     .about = "steady gains instead of time-varying ones"},
    {"drive", KEY_OWN, AT(drive), 0, 1e9, OPEN_LO, .only = "kalman", .read = read_per_channel,
     .shape = SHAPE_VECTOR,
     .form = "a number, or channel: number", .unit = "state/s^2",
     .about = "standard deviation of the white acceleration (or jerk) that moves a channel; needed unless "
              "gains are given"},
    {"noise", KEY_OWN, AT(noise), 0, 1e6, .fallback = "0", .only = "kalman", .read = read_per_channel,
     .shape = SHAPE_VECTOR,
     .form = "a number, or channel: number", .unit = "the state's unit",
     .about = "measurement deviation the filter assumes; 0 = the channel's own noise and resolution"},
    {"gains", KEY_OWN, 0, .only = "kalman", .read = read_gains, .shape = SHAPE_NUMBERS_MAP,
     .form = "a mapping channel: [position gain, velocity gain]",
     .about = "fixed gains; computed when absent"},
    {"memory", KEY_OWN, 0, .only = "custom", .read = read_memory,
     .shape = SHAPE_ROWS, .table = mcp_memory_table,
     .shorthand = "next", .form = "a mapping name: {start, next}",
     .about = "what the observer remembers from sample to sample"},
    {"output", KEY_EXPRS, AT(output), .only = "custom",
     .about = "state: expression of measured channels and memory, for every state the policy sees"},
    MCP_KEY_END,
};

mcp_status mcp_read_observer(mcp_reader *r, mcp_yaml *n, void *base, const mcp_key *key)
{
    mcp_task  *t  = base;
    mcp_status st = read_typed(r, n, mcp_observer_table, key->shorthand, "auto", &t->observer);
    if (st != MCP_OK) return st;
    const mcp_task_observer *o = &t->observer;
    if (o->type == MCP_OBSERVER_KALMAN && !o->drive && !o->gains)
        return mcp_fail_at(
            r->err, n->at,
            "observer: drive is missing, expected the white-acceleration deviation, e.g. drive: 1.0");
    if (o->type == MCP_OBSERVER_CUSTOM && !o->output.n)
        return mcp_fail_at(
            r->err, n->at,
            "observer: output is missing, expected state: expression for what the policy sees");
    for (int i = 0, index; i < o->output.n && st == MCP_OK; i++)
        st = mcp_read_state(r, o->output.item[i].name, o->output.item[i].expr.at, &index);
    return st;
}
#undef AT

#define AT(field) offsetof(mcp_task_smoother, field)
const mcp_key mcp_smoother_table[] = {
    {"type", KEY_CHOICE, AT(type), .required = 1,
     .choices = "none|central-difference|butterworth|savitzky-golay|kalman|difference|trapezoid|auto",
     .about =
         "none: all states are measured and used as they are; butterworth: zero-phase low-pass, then central "
         "difference; kalman: Rauch-Tung-Striebel; difference: nothing is smoothed, a velocity IS the "
         "difference to "
         "the sample before, in the model too (q+ = q + Ts (v + change)); it needs the input before as a "
         "feature; trapezoid: all states "
         "are measured, and each position of model.velocities is smoothed along the sums of its velocity; "
         "auto: nothing to choose, the model learns from plain differences and is told what the sensors' "
         "noise does to them; the input before is a feature by itself"},
    {"cutoff", KEY_NUMBER, AT(cutoff), 0, 1, OPEN_LO | OPEN_HI, .fallback = "0.5", .only = "butterworth",
     .unit = "of Nyquist", .about = "cut-off frequency"},
    {"order", KEY_INT, AT(order), 1, 8, .fallback = "2", .only = "butterworth|savitzky-golay",
     .about = "order of the filter or degree of the polynomial"},
    {"window", KEY_INT, AT(window), 3, 101, .fallback = "5", .only = "savitzky-golay", .unit = "samples",
     .about = "odd length of the window, more than the degree"},
    {"match_inputs", KEY_FLAG, AT(match_inputs), .fallback = "yes", .only = "central-difference",
     .about = "pair a change with (u(t-1) + 2 u(t) + u(t+1))/4, the inputs it really mixes, instead of u(t)"},
    {"refine", KEY_FLAG, AT(refine), .fallback = "yes", .only = "central-difference",
     .about = "train twice: the first model tells how the acceleration changes at each sample, which a "
              "central difference takes for "
              "velocity; the second learns from velocities without it and from u(t) itself"},
    {"drive", KEY_OWN, AT(drive), 0, 1e9, OPEN_LO, .only = "kalman", .required = 1, .read = read_per_channel,
     .shape = SHAPE_VECTOR,
     .form = "a number, or channel: number", .unit = "state/s^2",
     .about = "standard deviation of the white acceleration"},
    {"noise", KEY_OWN, AT(noise), 0, 1e6, .fallback = "0", .only = "kalman", .read = read_per_channel,
     .shape = SHAPE_VECTOR,
     .form = "a number, or channel: number", .unit = "the state's unit",
     .about = "measurement deviation; must cover the error of taking the acceleration as constant over a "
              "sample; 0 = "
              "the channel's own"},
    MCP_KEY_END,
};

mcp_status mcp_read_smoother(mcp_reader *r, mcp_yaml *n, void *base, const mcp_key *key)
{
    mcp_task  *t  = base;
    mcp_status st = read_typed(r, n, mcp_smoother_table, key->shorthand, "auto", &t->smoother);
    if (st != MCP_OK) return st;
    const mcp_task_smoother *s = &t->smoother;
    if (s->type == MCP_SMOOTHER_SAVGOL && (s->window % 2 == 0 || s->window <= s->order))
        return mcp_fail_at(r->err, n->at, "smoother: found window %d, expected an odd number above order %d",
                           s->window, s->order);
    if ((s->type == MCP_SMOOTHER_NONE || s->type == MCP_SMOOTHER_TRAPEZOID) && !mcp_all_measured(t))
        return mcp_fail_at(
            r->err, n->at,
            "smoother: found %s, expected one that estimates velocities: only %d of %d states are measured",
            s->type == MCP_SMOOTHER_NONE ? "none" : "trapezoid", t->nseen, t->nx);
    int pairs = 0;
    for (int g = 0; g < t->ngp; g++) pairs += t->gp[g].kind == MCP_GP_VELOCITY;
    if (s->type == MCP_SMOOTHER_TRAPEZOID && !pairs)
        return mcp_fail_at(r->err, n->at,
                           "smoother: found trapezoid, but model.velocities names no position with its "
                           "velocity; name them there, or use smoother: none");
    return MCP_OK;
}
