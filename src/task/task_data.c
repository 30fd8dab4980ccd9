/* task_data.c - a task file from disk or memory to an mcp_task: parse, apply overrides, read by table, check.
 */
#include "task/task_data.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "math/arena.h"
#include "math/sized.h"
#include "model/kernel.h"
#include "task/keys.h"

#define AT(field) offsetof(mcp_task, field)

const mcp_key mcp_task_table[] = {
    {"name", KEY_TEXT, AT(name), .required = 1, .about = "a short name of the task"},
    {"title", KEY_TEXT, AT(title), .about = "one line for the report"},
    {"rate", KEY_NUMBER, AT(rate), 0, 1e9, OPEN_LO, .required = 1, .base = 1, .unit = "Hz",
     .about = "how often the controller runs"},
    {"trial", KEY_NUMBER, AT(trial), 0, 1e9, OPEN_LO, .required = 1, .base = 1, .unit = "s",
     .about = "length of a trial, a whole number of samples"},
    {"trials", KEY_INT, AT(trials), 1, 1000, .fallback = "5", .about = "policy trials after exploration"},
    {"constants", KEY_OWN, 0, .base = 1, .read = mcp_read_constants,
     .shape = SHAPE_TEXT_MAP, .form = "a mapping name: expression",
     .about = "names for numbers, used in all expressions; each may use those before it. pi and Ts (the "
              "sampling time "
              "in s) exist already"},
    {"goals", KEY_OWN, AT(goals), .base = 1, .read = mcp_read_random,
     .shape = SHAPE_ROWS, .table = mcp_random_table,
     .shorthand = "range", .form = "a mapping name: [low, high], or name: {mean, std}",
     .about = "set-points: numbers drawn anew for every trial, constant within it, which cost, success and "
              "policy may use by name. No sensor measures them: whoever runs the controller sets them"},
    {"state", KEY_OWN, 0, .base = 1, .required = 1, .read = mcp_read_states,
     .shape = SHAPE_TEXTS | SHAPE_ROWS, .table = mcp_state_table,
     .shorthand = "unit", .form = "a list of names, or name: unit",
     .about = "the names of the robot's state"},
    {"inputs", KEY_OWN, 0, .base = 1, .required = 1, .read = mcp_read_inputs,
     .shape = SHAPE_ROWS, .table = mcp_input_table,
     .shorthand = "limit", .form = "a mapping name: limit", .about = "what the controller commands"},
    {"measured", KEY_OWN, 0, .base = 1, .required = 1, .read = mcp_read_measured,
     .shape = SHAPE_TEXTS | SHAPE_ROWS, .table = mcp_measured_table,
     .shorthand = "noise", .form = "a mapping state: noise, or a list of states",
     .about = "the states that sensors give, sensors that show an expression of them (of), and states "
              "computed from what sensors show (from)"},
    {"model", KEY_OWN, 0, .base = 1, .required = 1, .read = mcp_read_model,
     .shape = SHAPE_TABLE, .table = mcp_model_table,
     .form = "a mapping key: value", .about = "what Gaussian processes learn about the motion"},
    {"observer", KEY_OWN, 0, .base = 1, .fallback = "{}", .read = mcp_read_observer,
     .shape = SHAPE_TABLE, .table = mcp_observer_table,
     .shorthand = "type", .form = "a type, or a mapping",
     .about = "ONLINE: how the controller gets velocities; runs on the robot and in every particle. Default: "
              "none when "
              "all states are measured, else auto"},
    {"smoother", KEY_OWN, 0, .fallback = "{}", .read = mcp_read_smoother,
     .shape = SHAPE_TABLE, .table = mcp_smoother_table,
     .shorthand = "type", .form = "a type, or a mapping",
     .about = "OFFLINE: how recorded positions become training data. Default: none when all states are "
              "measured, else auto"},
    {"let", KEY_EXPRS, AT(let), .about = "helper definitions for the policy, in order"},
    {"policy", KEY_OWN, 0, .fallback = "{}", .read = mcp_read_policy, .shape = SHAPE_TEXT | SHAPE_TEXT_MAP,
     .form = "an expression, or a mapping input: expression",
     .about =
         "the controller with its learnable parts: rbf(n, feature, ...), mlp(...), param(name, start). State "
         "names mean the observed state. Default: limit*tanh((rbf(200, all states) + rbf(1, all "
         "states)*linear(all states))/limit), a network and a linear controller near the goal, about the "
         "middle of a range"},
    {"cost", KEY_EXPR, AT(cost), .required = 1,
     .about = "cost of a sample: an expression of state and inputs, best between 0 and 1"},
    {"metric", KEY_EXPR, AT(metric), .about = "a second cost that is reported but not optimised"},
    {"metric_at", KEY_CHOICE, AT(metric_at), .choices = "sum|end", .fallback = "sum",
     .about = "sum: the metric is added up over a trial like the cost; end: its value at the trial's last "
              "sample counts, "
              "e.g. a final distance"},
    {"start", KEY_OWN, AT(start), .required = 1, .read = mcp_read_start,
     .shape = SHAPE_TABLE, .table = mcp_start_table,
     .form = "a mapping",
     .about = "where trials begin: mean and std (Gaussian), low and high (uniform), or mixture"},
    {"explore", KEY_OWN, 0, .fallback = "{}", .read = mcp_read_explore,
     .shape = SHAPE_TABLE, .table = mcp_explore_table,
     .shorthand = "type", .form = "a type, or a mapping",
     .about = "inputs of the first trials, before there is a policy"},
    {"success", KEY_MAP, 0, .table = mcp_success_table, .shorthand = "when",
     .about = "when a trial counts as solved"},
    {"limits", KEY_OWN, 0, .read = mcp_read_limits,
     .shape = SHAPE_TEXT_MAP, .form = "a mapping name: expression",
     .about = "a trial ends when one of these becomes true; data up to then is used"},
    {"safe", KEY_OWN, 0, .read = mcp_read_safe,
     .shape = SHAPE_TEXT | SHAPE_TEXT_MAP, .form = "an expression, or a mapping input: expression",
     .about = "input sent at the end of a trial and on every error: zero, hold (the last command), or an "
              "expression of the observed state and, by the inputs' names, the last commands; several inputs "
              "need one each. Default zero"},
    {"plant", KEY_OWN, 0, .required = 1, .read = mcp_read_plant,
     .shape = SHAPE_TABLE | SHAPE_ONE_KIND, .choices = MCP_PLANT_KINDS, .table = mcp_plant_table,
     .form = "a mapping",
     .about =
         "the robot or its stand-in: exactly one of ode, mujoco, file, exec, udp, tcp, serial, callback"},
    {"optimise", KEY_MAP, AT(optimise), .fallback = "{}", .table = mcp_optimise_table,
     .about = "settings of the policy optimisation"},
    {"algorithm", KEY_WORD, AT(algorithm), .choices = "mc-pilco4pms|mc-pilco|pilco|black-drops",
     .fallback = "mc-pilco4pms", .about = "how the policy is improved between trials"},
    {"seed", KEY_U64, AT(seed), 0, 9007199254740992.0, .fallback = "1",
     .about = "same task, settings and seed: same numbers"},
    {"draw", KEY_OWN, 0, .read = mcp_read_draw,
     .shape = SHAPE_KIND_ROWS, .choices = MCP_DRAW_KINDS, .table = mcp_draw_table,
     .form = "a list of shapes {line|circle|rectangle|text: {...}}", .about = "the animation of a trial"},
    MCP_KEY_END,
};

int mcp_task_steps(const mcp_task *t)
{
    return (int)lround(t->trial * t->rate);
}

int mcp_task_find_state(const mcp_task *t, const char *name)
{
    for (int i = 0; i < t->nx; i++)
        if (!strcmp(t->state[i], name)) return i;
    return -1;
}

int mcp_task_find_input(const mcp_task *t, const char *name)
{
    for (int i = 0; i < t->nu; i++)
        if (!strcmp(t->input[i].name, name)) return i;
    return -1;
}

void mcp_task_free(mcp_task *t)
{
    if (t) mcp_task_memory_free(t->bag); /* t itself is in it */
}

/* The task with these settings is another task: it keeps them as it keeps its text. */
static mcp_status keep_overrides(mcp_task *t, const char *const *overrides, int count, mcp_error *err)
{
    t->override = mcp_task_memory_get(t->bag, (size_t)count + 1, sizeof *t->override);
    for (; t->override && t->overrides < count; t->overrides++) {
        const char *text = overrides[t->overrides];
        if (!(t->override[t->overrides] = mcp_task_memory_text(t->bag, text, strlen(text)))) break;
    }
    if (!t->override || t->overrides < count)
        return mcp_fail(err, MCP_ERR_MEMORY, "out of memory while reading the task");
    return MCP_OK;
}

static mcp_status read_tree(mcp_task *t, size_t length, const mcp_task_source *s, mcp_mistakes *all,
                            mcp_error *err)
{
    mcp_reader r  = {.task = t, .bag = t->bag, .err = err, .all = all};
    mcp_status st = mcp_yaml_parse(&t->tree, t->bag, t->file, t->source, length, err);
    if (st != MCP_OK) return st;
    mcp_where top = {t->file, 1, 1};
    if (!t->tree)
        return mcp_fail_at(err, top, "found an empty file, expected a task: name, rate, trial, state, ...");
    if (t->tree->kind != MCP_YAML_MAP) {
        char found[96];
        return mcp_fail_at(err, t->tree->at,
                           "found %s, expected a mapping key: value (name, rate, trial, state, ...)",
                           mcp_yaml_found(t->tree, found, sizeof found));
    }
    if ((st = keep_overrides(t, s->overrides, s->override_count, err)) != MCP_OK) return st;
    for (int i = 0; i < s->override_count; i++)
        if ((st = mcp_yaml_override(t->tree, t->bag, s->overrides[i], err)) != MCP_OK) return st;
    st = mcp_keys_read(&r, t->tree, mcp_task_table, t);
    if (st == MCP_OK && t->name && strpbrk(t->name, "\n\t"))
        st = mcp_read_note(&r, mcp_fail_at(err, mcp_yaml_find(t->tree, "name")->at,
                                           "found a name of several lines or with tabs, expected a short "
                                           "one: files and folders are called by it"));
    if (st == MCP_OK) st = mcp_task_consistent(&r, t->tree);
    return st == MCP_OK && all && all->count ? MCP_ERR_TASK : st;
}

/* The registry's kernels become the task's own; a small flat struct. */
static mcp_status keep_registry(mcp_task *t, const mcp_registry *registry, mcp_error *err)
{
    if (!registry) return MCP_OK;
    mcp_registry *copy = mcp_task_memory_get(t->bag, 1, sizeof *copy);
    if (!copy) return mcp_fail(err, MCP_ERR_MEMORY, "out of memory while reading the task");
    *copy       = *registry;
    t->registry = copy;
    return MCP_OK;
}

static mcp_status parse_bytes(mcp_task **out, const mcp_task_source *s, const char *text, size_t length,
                              mcp_mistakes *all, mcp_error *err)
{
    *out        = NULL;
    mcp_task_memory  *b = mcp_task_memory_create();
    mcp_task *t = b ? mcp_task_memory_get(b, 1, sizeof *t) : NULL;
    if (!t) {
        mcp_task_memory_free(b);
        return mcp_fail(err, MCP_ERR_MEMORY, "out of memory while reading the task");
    }
    mcp_status st = MCP_ERR_MEMORY;
    t->bag        = b;
    t->file       = mcp_task_memory_text(b, s->file, strlen(s->file));
    t->source     = mcp_task_memory_text(b, text, length);
    if (!t->file || !t->source)
        mcp_fail(err, st, "out of memory while reading the task");
    else
        st = keep_registry(t, s->registry, err);
    if (st == MCP_OK) st = read_tree(t, length, s, all, err);
    if (st == MCP_OK)
        *out = t;
    else
        mcp_task_free(t);
    return st;
}

static mcp_status read_file(mcp_task **out, const mcp_task_source *s, mcp_mistakes *all, mcp_error *err)
{
    FILE *f = fopen(s->file, "rb");
    if (!f) return mcp_fail(err, MCP_ERR_IO, "%s: cannot be opened (%s)", s->file, strerror(errno));
    char *text = mcp_calloc(MCP_YAML_FILE + 1, 1);
    if (!text) {
        fclose(f);
        return mcp_fail(err, MCP_ERR_MEMORY, "out of memory while reading %s", s->file);
    }
    size_t     length = fread(text, 1, MCP_YAML_FILE + 1, f);
    int        broken = ferror(f);
    mcp_status st;
    fclose(f);
    if (broken)
        st = mcp_fail(err, MCP_ERR_IO, "%s: cannot be read", s->file);
    else if (length > MCP_YAML_FILE)
        st = mcp_fail(err, MCP_ERR_TASK, "%s: found more than %d bytes, expected a task file", s->file,
                      MCP_YAML_FILE);
    else
        st = parse_bytes(out, s, text, length, all, err);
    mcp_free(text);
    return st;
}

mcp_status mcp_task_read_all(mcp_task **out, const mcp_task_source *given, mcp_mistakes *all, mcp_error *err)
{
    mcp_task_source s;
    mcp_error       own;
    *out = NULL;
    if (!err) err = &own;
    if (all) all->count = 0;
    mcp_task_source_default(&s);
    mcp_status st = mcp_sized_read(&s, sizeof s, given, "mcp_task_source", err);
    if (st != MCP_OK) return st;
    if (!s.file && !s.text)
        return mcp_fail(err, MCP_ERR_ARG, "a task: neither a file nor a text to read it from; give one");
    if (!s.file) s.file = "task";
    st = s.text ? parse_bytes(out, &s, s.text, strlen(s.text), all, err) : read_file(out, &s, all, err);
    if (st == MCP_OK || !all || !all->most) return st;
    mcp_mistakes_add(all, err);
    if (st == MCP_ERR_TASK) *err = all->item[0];
    return st;
}

mcp_status mcp_task_read(mcp_task **out, const mcp_task_source *given, mcp_error *err)
{
    return mcp_task_read_all(out, given, NULL, err);
}

mcp_status mcp_task_parse(mcp_task **out, const char *name, const char *text, const char *const *overrides,
                          int count, mcp_error *err)
{
    mcp_task_source s = {sizeof s, name, text, overrides, count, NULL};
    return mcp_task_read(out, &s, err);
}

mcp_status mcp_task_load(mcp_task **out, const char *file, const char *const *overrides, int count,
                         mcp_error *err)
{
    mcp_task_source s = {sizeof s, file, NULL, overrides, count, NULL};
    return mcp_task_read(out, &s, err);
}
