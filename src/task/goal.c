/* goal.c - constants, policy, start, exploration, limits: what is wanted and how to begin. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "math/number.h"
#include "task/keys.h"

mcp_status mcp_read_constants(mcp_reader *r, mcp_yaml *n, void *base, const mcp_key *key)
{
    mcp_task  *t  = base;
    mcp_status st = mcp_expect(r, n, MCP_YAML_MAP, key->form);
    for (mcp_yaml *c = n->first; c && st == MCP_OK; c = c->next)
        if (mcp_is_reserved(c->key))
            return mcp_fail_at(r->err, c->key_at,
                               "found \"%s\", expected a name that is not a word of the expression language",
                               c->key);
    if (st == MCP_OK) st = mcp_read_exprs(r, n, &t->constants);
    return st == MCP_OK ? mcp_evaluate_constants(r) : st;
}

/* An input's limit as the task file writes it, ready to stand in an expression; NULL: it has two ends. */
static const char *limit_text(const mcp_task *t, int input, char *out, size_t size)
{
    const mcp_yaml *n = mcp_yaml_find(mcp_yaml_find(t->tree, "inputs"), t->input[input].name);
    if (n->kind == MCP_YAML_MAP) n = mcp_yaml_find(n, "limit");
    if (n->kind != MCP_YAML_SCALAR) return NULL;
    snprintf(out, size, strpbrk(n->text, "+-*/^ ") ? "(%s)" : "%s", n->text);
    return out;
}

/* limit*tanh((rbf(200, ...)[k] + rbf(1, ...)*linear(...)[k])/limit) on all states that are observed, angles
 * as sine and cosine; between two ends the same about their middle. The network goes to the goal, the linear
 * part within the single bell, which starts there, holds it. A goal that varies has no such place. */
static mcp_status natural_policy(mcp_reader *r, mcp_yaml *n)
{
    const mcp_task *t = r->task;
    char            text[9000], list[2500], hold[5200] = "", limit[500];
    size_t          used = 0;
    for (int i = 0; i < t->nx && used < sizeof list - 160; i++) {
        const char *s = t->state[i], *comma = used ? ", " : "";
        if (!mcp_state_observable(t, i)) continue;
        used += (size_t)(t->state_angle[i]
                             ? snprintf(list + used, sizeof list - used, "%ssin(%s), cos(%s)", comma, s, s)
                             : snprintf(list + used, sizeof list - used, "%s%s", comma, s));
    }
    if (!used)
        return mcp_fail_at(r->err, n->at,
                           "policy: nothing tells the controller about any state, so there is none for the "
                           "default policy; measure one, compute one from what is measured (measured: "
                           "{%s: {from: ...}}) or give it by a custom observer", t->state[0]);
    for (int k = 0; k < t->nu; k++) {
        char which[16] = "";
        if (t->nu > 1) snprintf(which, sizeof which, "[%d]", k + 1);
        const double reach = mcp_input_reach(&t->input[k]), centre = mcp_input_centre(&t->input[k]);
        if (!t->goals.n)
            snprintf(hold, sizeof hold, " + rbf(1, %s)*linear(%s)%s", list, list, which);
        if (limit_text(t, k, limit, sizeof limit))
            snprintf(text, sizeof text, "%s*tanh((rbf(200, %s)%s%s)/%s)", limit, list, which, hold, limit);
        else
            mcp_print(text, sizeof text, "%.17g + %.17g*tanh((rbf(200, %s)%s%s)/%.17g)", centre, reach, list,
                      which, hold, reach);
        mcp_status st = mcp_fill(r, n, t->input[k].name, text);
        if (st != MCP_OK) return st;
    }
    return MCP_OK;
}

/* One expression for each input, in the order of the inputs. */
static mcp_status read_per_input(mcp_reader *r, mcp_yaml *n, const mcp_key *key, mcp_expr_list *out)
{
    const mcp_task *t  = r->task;
    mcp_status      st = mcp_expect(r, n, MCP_YAML_MAP, key->form);
    const char     *names[MCP_MAX_INPUT];
    if (st != MCP_OK) return st;
    for (int k = 0; k < t->nu; k++) names[k] = t->input[k].name;
    for (mcp_yaml *c = n->first; c; c = c->next)
        if (mcp_task_find_input(t, c->key) < 0) {
            const char *near = mcp_nearest(c->key, names, t->nu);
            return mcp_fail_at(r->err, c->key_at,
                               "found \"%s\" in %s, expected the name of an input%s%s%s", c->key, key->name,
                               near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
        }
    out->item = mcp_task_memory_get(r->bag, (size_t)t->nu, sizeof *out->item);
    if (!out->item) return mcp_read_memory(r);
    for (out->n = 0; out->n < t->nu && st == MCP_OK; out->n++) {
        mcp_yaml *c = mcp_yaml_find(n, names[out->n]);
        if (!c)
            return mcp_fail_at(r->err, n->at,
                               "%s: input \"%s\" is missing, expected an expression for each input",
                               key->name, names[out->n]);
        out->item[out->n].name = t->input[out->n].name;
        st = mcp_read_expr(r, c, &out->item[out->n].expr);
    }
    return st;
}

/* The same expression for every input. */
static mcp_status read_for_all(mcp_reader *r, mcp_yaml *n, mcp_expr_list *out)
{
    const mcp_task *t = r->task;
    mcp_status      st = MCP_OK;
    out->item = mcp_task_memory_get(r->bag, (size_t)t->nu, sizeof *out->item);
    if (!out->item) return mcp_read_memory(r);
    for (out->n = 0; out->n < t->nu && st == MCP_OK; out->n++) {
        out->item[out->n].name = t->input[out->n].name;
        st = mcp_read_expr(r, n, &out->item[out->n].expr);
    }
    return st;
}

mcp_status mcp_read_policy(mcp_reader *r, mcp_yaml *n, void *base, const mcp_key *key)
{
    mcp_task  *t  = base;
    mcp_status st = MCP_OK;
    if (n->kind == MCP_YAML_MAP && !n->count) st = natural_policy(r, n);
    if (st != MCP_OK) return st;
    if (n->kind == MCP_YAML_SCALAR && t->nu == 1) return read_for_all(r, n, &t->policy);
    return read_per_input(r, n, key, &t->policy);
}

/* zero and hold have no unit and may stand for all inputs; an expression stands for the only one. */
mcp_status mcp_read_safe(mcp_reader *r, mcp_yaml *n, void *base, const mcp_key *key)
{
    mcp_task *t = base;
    if (n->kind != MCP_YAML_SCALAR) return read_per_input(r, n, key, &t->safe);
    if (t->nu > 1 && strcmp(n->text, "zero") && strcmp(n->text, "hold"))
        return mcp_fail_at(r->err, n->at,
                           "safe: found \"%s\" for %d inputs, which have units of their own; expected zero, "
                           "hold or a mapping such as {%s: ..., %s: ...}",
                           n->text, t->nu, t->input[0].name, t->input[1].name);
    return read_for_all(r, n, &t->safe);
}

/* Start distributions
 * ------------------------------------------------------------------------------------------------ */

static mcp_status per_state(mcp_reader *r, mcp_yaml *n, const mcp_key *key, double *out)
{
    const mcp_task *t = r->task;
    return mcp_read_vector(r, n, key, mcp_task_moving(t), (const char *const *)t->state, 0.0, out);
}

static mcp_status read_per_state(mcp_reader *r, mcp_yaml *n, void *base, const mcp_key *key)
{
    double **out = (double **)(void *)((char *)base + key->offset);
    if (!*out && !(*out = mcp_task_memory_get(r->bag, (size_t)r->task->nx, sizeof **out)))
        return mcp_read_memory(r);
    return per_state(r, n, key, *out);
}

typedef struct {
    double  weight;
    double *mean, *std;
} part_row;

#define ANY -1e9, 1e9
const mcp_key mcp_part_table[] = {
    {"weight", KEY_NUMBER, offsetof(part_row, weight), 0, 1e6, OPEN_LO, .fallback = "1",
     .about = "relative weight of this part"},
    {"mean", KEY_OWN, offsetof(part_row, mean), ANY, .fallback = "0", .read = read_per_state,
     .shape = SHAPE_VECTOR,
     .form = "a list, or state: number", .about = "mean of each state"},
    {"std", KEY_OWN, offsetof(part_row, std), 0, 1e9, .required = 1, .read = read_per_state,
     .shape = SHAPE_VECTOR,
     .form = "a number, a list, or state: number", .about = "standard deviation of each state"},
    MCP_KEY_END,
};

static mcp_status read_mixture(mcp_reader *r, mcp_yaml *n, void *base, const mcp_key *key)
{
    mcp_task_start *s  = base;
    size_t          nx = (size_t)r->task->nx, parts = (size_t)n->count;
    mcp_status      st  = mcp_expect(r, n, MCP_YAML_LIST, key->form);
    double          sum = 0.0;
    if (st != MCP_OK) return st;
    if (!parts || parts > MCP_MAX_LIST) return mcp_read_fail(r, n, "1 to 64 parts");
    s->weight = mcp_task_memory_get(r->bag, parts, sizeof *s->weight);
    s->mean   = mcp_task_memory_get(r->bag, parts * nx, sizeof *s->mean);
    s->std    = mcp_task_memory_get(r->bag, parts * nx, sizeof *s->std);
    if (!s->weight || !s->mean || !s->std) return mcp_read_memory(r);
    for (mcp_yaml *c = n->first; c; c = c->next) {
        part_row row = {0.0, s->mean + (size_t)c->index * nx, s->std + (size_t)c->index * nx};
        if ((st = mcp_keys_read(r, c, mcp_part_table, &row)) != MCP_OK) return st;
        sum += s->weight[c->index] = row.weight;
    }
    for (size_t i = 0; i < parts; i++) s->weight[i] /= sum;
    s->type  = MCP_START_MIXTURE;
    s->parts = (int)parts;
    return MCP_OK;
}

#define AT(field) offsetof(mcp_task_start, field)
const mcp_key mcp_start_table[] = {
    {"mean", KEY_OWN, AT(mean), ANY, .read = read_per_state,
     .shape = SHAPE_VECTOR, .form = "a list, or state: number",
     .about = "Gaussian: mean of each state; default 0"},
    {"std", KEY_OWN, AT(std), 0, 1e9, .read = read_per_state,
     .shape = SHAPE_VECTOR, .form = "a number, a list, or state: number",
     .about = "Gaussian: standard deviation of each state"},
    {"low", KEY_OWN, AT(low), ANY, .read = read_per_state,
     .shape = SHAPE_VECTOR, .form = "a list, or state: number",
     .about = "uniform: lower end for each state; default 0"},
    {"high", KEY_OWN, AT(high), ANY, .read = read_per_state,
     .shape = SHAPE_VECTOR, .form = "a list, or state: number",
     .about = "uniform: upper end for each state; default 0"},
    {"mixture", KEY_OWN, 0, .read = read_mixture, .shape = SHAPE_TABLES, .table = mcp_part_table,
     .form = "a list of {weight, mean, std}", .about = "several Gaussians instead of one"},
    MCP_KEY_END,
};
#undef AT

static mcp_status read_distribution(mcp_reader *r, mcp_yaml *n, mcp_task_start *s)
{
    size_t     nx = (size_t)r->task->nx;
    mcp_status st = mcp_keys_read(r, n, mcp_start_table, s);
    if (st != MCP_OK) return st;
    int gaussian = mcp_yaml_find(n, "std") || mcp_yaml_find(n, "mean"), uniform = s->low || s->high,
        mixture = s->parts > 0;
    if (gaussian + uniform + mixture != 1 || (gaussian && !mcp_yaml_find(n, "std")) ||
        (uniform && (!s->low || !s->high))) {
        char path[128];
        return mcp_fail_at(
            r->err, n->at,
            "%s: found %s, expected mean and std (Gaussian), low and high (uniform), or mixture",
            mcp_yaml_path(n, path, sizeof path), n->count ? "another set of keys" : "no keys");
    }
    if (mixture) return MCP_OK;
    s->parts = 1;
    if (!(s->weight = mcp_task_memory_get(r->bag, 1, sizeof *s->weight))) return mcp_read_memory(r);
    s->weight[0] = 1.0;
    if (gaussian) {
        s->type = MCP_START_GAUSSIAN;
        if (!s->mean && !(s->mean = mcp_task_memory_get(r->bag, nx, sizeof *s->mean)))
            return mcp_read_memory(r);
        return MCP_OK;
    }
    s->type = MCP_START_UNIFORM;
    for (size_t i = 0; i < nx; i++)
        if (s->low[i] > s->high[i])
            return mcp_fail_at(r->err, n->at,
                               "start: found low %g above high %g for \"%s\", expected low <= high",
                               s->low[i], s->high[i], r->task->state[i]);
    return MCP_OK;
}

/* The goals' entries of a start distribution: moments for whoever asks for those; draws are by the goals' own
 * rule (mcp_start_draw, particle_noise.c). */
static void start_goals(const mcp_task *t, mcp_task_start *s)
{
    for (int i = 0; i < t->goals.n; i++) {
        const mcp_task_random *d = &t->goals.item[i];
        const int              at = mcp_task_moving(t) + i;
        double mean = d->uniform ? 0.5 * (d->low + d->high) : d->mean;
        double std = d->uniform ? (d->high - d->low) / sqrt(12.0) : d->std;
        if (s->type == MCP_START_UNIFORM) {
            s->low[at]  = mean - sqrt(3.0) * std;
            s->high[at] = mean + sqrt(3.0) * std;
        }
        for (int k = 0; s->type != MCP_START_UNIFORM && k < s->parts; k++) {
            s->mean[k * t->nx + at] = mean;
            s->std[k * t->nx + at]  = std;
        }
    }
}

mcp_status mcp_read_start(mcp_reader *r, mcp_yaml *n, void *base, const mcp_key *key)
{
    mcp_task_start *s  = (mcp_task_start *)(void *)((char *)base + key->offset);
    mcp_status      st = read_distribution(r, n, s);
    if (st == MCP_OK) start_goals(r->task, s);
    return st;
}

/* Exploration
 * -------------------------------------------------------------------------------------------------------- */

/* [low, high] with 0 < low <= high. */
static mcp_status read_pair(mcp_reader *r, mcp_yaml *n, void *base, const mcp_key *key)
{
    mcp_task_explore *e = base;
    double            v[2];
    mcp_status        st = mcp_expect(r, n, MCP_YAML_LIST, key->form);
    if (st == MCP_OK) st = mcp_read_vector(r, n, key, 2, (const char *const[]){"low", "high"}, 0.0, v);
    if (st != MCP_OK) return st;
    if (v[0] > v[1]) return mcp_read_fail(r, n, "[low, high] with low <= high");
    e->low  = v[0];
    e->high = v[1];
    if (!strcmp(key->name, "frequency") && v[1] > 0.5 * r->task->rate)
        return mcp_fail_at(r->err, n->at,
                           "explore.frequency: found %g Hz, expected at most half the rate (%g Hz)", v[1],
                           0.5 * r->task->rate);
    return MCP_OK;
}

#define AT(field) offsetof(mcp_task_explore, field)
const mcp_key mcp_explore_table[] = {
    {"type", KEY_CHOICE, AT(type), .required = 1, .choices = "uniform|sines|triangle|file",
     .about =
         "uniform: white random input; sines: a sum of sines; triangle: triangular waves plus noise; file: "
         "recorded inputs. All are about the middle of the input's range. Default: sines, which suit any "
         "rate"},
    {"trials", KEY_INT, AT(trials), 1, 100, .fallback = "1",
     .about = "exploration trials before the first policy"},
    {"amplitude", KEY_NUMBER, AT(amplitude), 0, 1, OPEN_LO, .only = "uniform|sines|triangle",
     .unit = "of half the range",
     .about = "of the uniform range, of each sine, of the triangle; default 1, 0.1, 0.5"},
    {"sines", KEY_INT, AT(sines), 1, 1000, .fallback = "10", .only = "sines", .about = "how many sines"},
    {"frequency", KEY_OWN, 0, 0, 1e9, OPEN_LO, .only = "sines", .read = read_pair,
     .shape = SHAPE_NUMBERS, .form = "[low, high]", .unit = "Hz",
     .about = "range the frequencies are drawn from; default: from one to eight periods in a trial, at most "
              "a quarter of the rate; where the exploration before ended early, in the time that one lasted"},
    {"phase", KEY_CHOICE, AT(phase), .fallback = "spread", .only = "sines",
     .choices = "spread|zero|random|crest",
     .about = "spread: frequencies and phases are spread evenly, neighbours in opposite phase, so that the "
              "sum starts near zero; the whole is made smaller where it would change by more than a quarter "
              "of the limit, or than the slew limit, in a sample; zero: all sines start at zero, "
         "and push the same way "
              "at first; random: less drift of what integrates the input; crest: each starts at its largest "
              "or smallest value, which leaves no drift at all"},
    {"period", KEY_OWN, 0, 0, 1e9, OPEN_LO, .only = "triangle", .read = read_pair,
     .shape = SHAPE_NUMBERS, .form = "[low, high]",
     .fallback = "[0.7, 1.3]", .unit = "s", .about = "range the periods are drawn from"},
    {"noise", KEY_NUMBER, AT(noise), 0, 1, .fallback = "0.1", .only = "triangle", .unit = "of the limit",
     .about = "white noise on the triangle"},
    {"hold", KEY_INT, AT(hold), 1, 1000, .fallback = "1", .only = "uniform", .unit = "samples",
     .about = "how long each random value is held"},
    {"file", KEY_TEXT, AT(file), .only = "file", .required = 1,
     .about = "CSV file with the inputs' names as header, relative to the task file"},
    {"start", KEY_OWN, AT(start), .read = mcp_read_start, .shape = SHAPE_TABLE, .table = mcp_start_table,
     .form = "as start:", .about = "starts of exploration trials, when they differ from start:"},
    MCP_KEY_END,
};
#undef AT

void mcp_explore_band(const mcp_task *t, double lasts, double *low, double *high)
{
    *low  = 1.0 / lasts;
    *high = fmin(8.0 * *low, 0.25 * t->rate);
    *low  = fmin(*low, 0.25 * *high); /* sines of one frequency would cancel each other */
}

/* The band of the sines where the file names none. */
static mcp_status fill_band(mcp_reader *r, mcp_yaml *n)
{
    char   text[80];
    double low, high;
    mcp_explore_band(r->task, r->task->trial, &low, &high);
    mcp_print(text, sizeof text, "[%.6g, %.6g]", low, high);
    return mcp_fill(r, n, "frequency", text);
}

mcp_status mcp_read_explore(mcp_reader *r, mcp_yaml *n, void *base, const mcp_key *key)
{
    static const char *const amplitude[] = {"1", "0.1", "0.5"};
    double                   band[2];
    mcp_task                *t           = base;
    mcp_status               st          = MCP_OK;
    if (n->kind == MCP_YAML_MAP && !n->shorthand && !mcp_yaml_find(n, "type"))
        st = mcp_fill(r, n, "type", "sines");
    if (st == MCP_OK) st = mcp_keys_read_short(r, n, mcp_explore_table, key->shorthand, &t->explore);
    if (st == MCP_OK && t->explore.type == MCP_EXPLORE_SINES && !mcp_yaml_find(n, "frequency")) {
        if ((st = fill_band(r, n)) != MCP_OK) return st;
        st = mcp_read_vector(r, n->last, NULL, 2, (const char *const[]){"low", "high"}, 0.0, band);
        t->explore.own_band = 1;
        t->explore.low  = band[0];
        t->explore.high = band[1];
    }
    if (st != MCP_OK) return st;
    if (t->explore.type == MCP_EXPLORE_FILE || mcp_yaml_find(n, "amplitude")) return MCP_OK;
    if ((st = mcp_fill(r, n, "amplitude", amplitude[t->explore.type])) != MCP_OK) return st;
    return mcp_read_number(r, n->last, NULL, &t->explore.amplitude);
}

/* Success, limits
 * ---------------------------------------------------------------------------------------------------- */

#define AT(field) offsetof(mcp_task, field)
const mcp_key mcp_success_table[] = {
    {"when", KEY_EXPR, AT(success), .required = 1,
     .about = "the test: an expression of state and inputs, e.g. abs(p) < 0.1"},
    {"last", KEY_NUMBER, AT(success_last), 0, 1e9, .fallback = "1", .unit = "s",
     .about = "it must hold at all samples of the last so many seconds"},
    MCP_KEY_END,
};
#undef AT

mcp_status mcp_read_limits(mcp_reader *r, mcp_yaml *n, void *base, const mcp_key *key)
{
    mcp_task     *t    = base;
    mcp_expr_list list = {0};
    mcp_status    st   = mcp_expect(r, n, MCP_YAML_MAP, key->form);
    if (st != MCP_OK || (st = mcp_read_exprs(r, n, &list)) != MCP_OK) return st;
    if (!(t->limit = mcp_task_memory_get(r->bag, (size_t)list.n, sizeof *t->limit)))
        return mcp_read_memory(r);
    for (t->limits = 0; t->limits < list.n; t->limits++)
        t->limit[t->limits] = (mcp_task_limit){list.item[t->limits].expr, list.item[t->limits].name};
    return MCP_OK;
}
