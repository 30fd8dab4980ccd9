/* controller.c - observer and policy of a run, one sample at a time, in the user's own loop. */
#include "mcpilco/controller.h"

#include <math.h>
#include <string.h>

#include "control/runtime.h"
#include "export/export.h"
#include "io/json.h"
#include "learn/recommend.h"
#include "math/arena.h"
#include "model/kernel.h"

struct mcp_controller {
    mcp_task    *task;
    mcp_system  *system;
    double      *theta;
    mcp_runtime *runtime;
    double       y[MCP_MAX_STATE]; /* what sensors show, then the goals */
};

/* The wanted trial, or a sentence. A damaged trial hides those behind it: what the rest recommends may be an
 * older policy, so such a run gives one only by its number. */
static mcp_status pick(mcp_run_item **out, const mcp_run *r, int trial, const mcp_error *trouble,
                       mcp_error *err)
{
    const int last = mcp_run_trials(r);
    const int damaged = trouble->status != MCP_OK && strcmp(trouble->text, r->missing.text) != 0;
    *out = NULL;
    if (damaged && (!trial || trial > last))
        return mcp_fail(err, MCP_ERR_IO,
                        "%s; repair it with mcpilco learn --resume, or ask for a trial from 1 to %d by its "
                        "number",
                        trouble->text, last);
    if ((*out = mcp_run_trial(r, trial ? trial : mcp_recommended(r)))) return MCP_OK;
    return mcp_fail(err, MCP_ERR_ARG, "%s has no policy of trial %d; it has %d",
                    r->folder ? r->folder : "the run", trial, last);
}

/* The task, read again so that the controller is its own, compiled; its parameters are zero. */
static mcp_status build(mcp_controller **out, const mcp_task_source *given, mcp_error *err)
{
    static const mcp_registry anything = {.any = 1}; /* a controller has no use for kernels */
    mcp_task_source           own = *given, *source = &own;
    mcp_controller *c = mcp_calloc(1, sizeof *c);
    *out = NULL;
    if (!c) return mcp_fail(err, MCP_ERR_MEMORY, "%s: out of memory for its controller", source->file);
    source->registry = &anything;
    mcp_status st = mcp_task_read(&c->task, source, err);
    if (st == MCP_OK) st = mcp_system_create(&c->system, c->task, err);
    if (st == MCP_OK) {
        c->theta = mcp_calloc((size_t)mcp_program_params(c->system->controller) + 1, sizeof *c->theta);
        if (!c->theta)
            st = mcp_fail(err, MCP_ERR_MEMORY, "%s: out of memory for its controller", source->file);
    }
    if (st == MCP_OK) st = mcp_runtime_create(&c->runtime, c->system, err);
    if (st == MCP_OK) mcp_controller_reset(*out = c);
    else mcp_controller_free(c);
    return st;
}

static mcp_status from_run(mcp_controller **out, const mcp_run *r, int trial, const mcp_error *trouble,
                           mcp_error *err)
{
    mcp_task_source source = mcp_run_source(r);
    mcp_run_item   *it;
    mcp_status      st = pick(&it, r, trial, trouble, err);
    if (st == MCP_OK) st = build(out, &source, err);
    if (st == MCP_OK) memcpy((*out)->theta, it->theta, (size_t)r->params * sizeof *it->theta);
    return st;
}

mcp_status mcp_controller_create(mcp_controller **out, const mcp_run *run, int trial, mcp_error *err)
{
    const mcp_error none = {MCP_OK, ""};
    *out = NULL;
    return from_run(out, run, trial, &none, err);
}

mcp_status mcp_controller_load(mcp_controller **out, const char *run_folder, int trial, mcp_error *err)
{
    mcp_error  trouble = {MCP_OK, ""};
    mcp_run   *r = NULL;
    mcp_status st = mcp_run_open(&r, run_folder, &trouble, err);
    *out = NULL;
    if (st == MCP_OK) st = from_run(out, r, trial, &trouble, err);
    mcp_run_free(r);
    return st;
}

/* Every group of parameters by its place, name and shape: a policy of another shape is not this one. */
static mcp_status read_parameters(mcp_controller *c, const json_t *root, const char *name, mcp_error *err)
{
    const mcp_program *p = c->system->controller;
    const json_t      *list = json_object_get(root, "parameters");
    int                count = mcp_program_groups(p);
    if ((int)json_array_size(list) != count)
        return mcp_fail(err, MCP_ERR_IO,
                        "%s: %d groups of parameters, but its policy has %d; export it again", name,
                        (int)json_array_size(list), count);
    for (int i = 0; i < count; i++) {
        const mcp_param_group *g = mcp_program_group(p, i);
        const json_t          *o = json_array_get(list, (size_t)i);
        if (strcmp(mcp_json_get_text(o, "name", ""), g->name) != 0 ||
            mcp_json_get_int(o, "rows", -1) != g->rows || mcp_json_get_int(o, "cols", -1) != g->cols ||
            !mcp_json_get_numbers(o, "values", g->count, c->theta + g->offset))
            return mcp_fail(err, MCP_ERR_IO,
                            "%s: parameters %d are not the %d x %d numbers of %s; export it again", name,
                            i + 1, g->rows, g->cols, g->name);
    }
    return MCP_OK;
}

static mcp_status from_json(mcp_controller **out, const json_t *root, const char *name, mcp_error *err)
{
    mcp_task_source source;
    const json_t   *list = json_object_get(root, "overrides");
    size_t          count = json_array_size(list);
    mcp_task_source_default(&source);
    source.file = name;
    source.text = mcp_json_get_text(root, "task_text", NULL);
    if (mcp_json_get_int(root, "format", 0) != MCP_CONTROLLER_FORMAT || !source.text)
        return mcp_fail(err, MCP_ERR_IO,
                        "%s: this is not the JSON of an exported controller of format %d; mcpilco export "
                        "writes it",
                        name, MCP_CONTROLLER_FORMAT);
    const char **overrides = mcp_calloc(count + 1, sizeof *overrides);
    if (!overrides) return mcp_fail(err, MCP_ERR_MEMORY, "%s: out of memory", name);
    for (size_t i = 0; i < count; i++) {
        const char *text = json_string_value(json_array_get(list, i));
        overrides[i] = text ? text : "";
    }
    source.overrides = overrides;
    source.override_count = (int)count;
    mcp_status st = build(out, &source, err);
    if (st == MCP_OK && (st = read_parameters(*out, root, name, err)) != MCP_OK) {
        mcp_controller_free(*out);
        *out = NULL;
    }
    mcp_free(overrides);
    return st;
}

mcp_status mcp_controller_load_json(mcp_controller **out, const char *file, mcp_error *err)
{
    json_t    *root = NULL;
    mcp_status st = mcp_json_read(&root, file, err);
    *out = NULL;
    if (st == MCP_OK) st = from_json(out, root, file, err);
    json_decref(root);
    return st;
}

mcp_status mcp_controller_parse_json(mcp_controller **out, const char *text, mcp_error *err)
{
    json_error_t why;
    json_t      *root = mcp_json_parse(text, &why);
    *out = NULL;
    if (!root)
        return mcp_fail(err, MCP_ERR_IO,
                        "controller, line %d: %.200s; give the text of an exported PREFIX.json", why.line,
                        why.text);
    mcp_status st = from_json(out, root, "controller", err);
    json_decref(root);
    return st;
}

void mcp_controller_free(mcp_controller *c)
{
    if (!c) return;
    mcp_runtime_free(c->runtime);
    mcp_system_free(c->system);
    mcp_task_free(c->task);
    mcp_free(c->theta);
    mcp_free(c);
}

void mcp_controller_describe(const mcp_controller *c, mcp_controller_info *info)
{
    const mcp_system *s = c->system;
    *info = (mcp_controller_info){.rate = s->task->rate,
                                  .measured = mcp_task_sensors(s->task),
                                  .commands = s->nu,
                                  .states = s->nx};
}

const char *mcp_controller_measured_name(const mcp_controller *c, int i)
{
    return i >= 0 && i < mcp_task_sensors(c->task) ? c->task->measured[i].name : NULL;
}

const char *mcp_controller_command_name(const mcp_controller *c, int i)
{
    return i >= 0 && i < c->system->nu ? c->task->input[i].name : NULL;
}

double mcp_controller_command_limit(const mcp_controller *c, int i)
{
    return mcp_task_input_limit(c->task, i);
}

int mcp_controller_command_range(const mcp_controller *c, int i, double *low, double *high)
{
    return mcp_task_input_range(c->task, i, low, high);
}

static double *goal_at(mcp_controller *c, int i)
{
    return &c->y[mcp_task_sensors(c->task) + i];
}

const char *mcp_controller_goal_name(const mcp_controller *c, int i)
{
    return i >= 0 && i < c->task->goals.n ? c->task->goals.item[i].name : NULL;
}

double mcp_controller_goal(const mcp_controller *c, int i)
{
    return i >= 0 && i < c->task->goals.n ? c->y[mcp_task_sensors(c->task) + i] : NAN;
}

mcp_status mcp_controller_set_goal(mcp_controller *c, const char *name, double value, mcp_error *err)
{
    const int i = mcp_task_find_goal(c->task, name);
    if (i < 0)
        return mcp_fail(err, MCP_ERR_ARG, "the controller of task %s has no goal \"%.80s\"; %s%s",
                        c->task->name, name, c->task->goals.n ? "it has " : "it has none",
                        c->task->goals.n ? c->task->goals.item[0].name : "");
    if (!isfinite(value))
        return mcp_fail(err, MCP_ERR_ARG, "goal %s: found %g, expected a finite number", name, value);
    *goal_at(c, i) = value;
    return MCP_OK;
}

void mcp_controller_reset(mcp_controller *c)
{
    mcp_runtime_reset(c->runtime);
    for (int i = 0; i < c->task->goals.n; i++) *goal_at(c, i) = mcp_goal_middle(&c->task->goals.item[i]);
}

mcp_step_result mcp_controller_step(mcp_controller *c, const double *measured, double *command,
                                    double *observed)
{
    const mcp_runtime *r = c->runtime;
    const mcp_system  *s = r->system;
    memcpy(c->y, measured, (size_t)mcp_task_sensors(s->task) * sizeof *c->y);
    const int bad = mcp_runtime_step(c->runtime, c->theta, NULL, c->y) != MCP_FAULT_NONE;
    memcpy(command, r->command, (size_t)s->nu * sizeof *command);
    if (observed) memcpy(observed, r->observed, (size_t)s->nx * sizeof *observed);
    return bad ? MCP_STEP_NOT_FINITE : MCP_STEP_OK;
}

void mcp_controller_safe(mcp_controller *c, double *command)
{
    mcp_runtime_safe(c->runtime, command);
}
