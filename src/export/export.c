/* export.c - the files of an exported controller, from src/export/templates. They print what
 * control/runtime.c does. */
#include "export/export.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "control/compose.h"
#include "control/runtime.h"
#include "embedded.h"
#include "io/file.h"
#include "io/json.h"
#include "math/angle.h"
#include "math/arena.h"
#include "math/template.h"
#include "mcpilco/version.h"
#include "plant/plant_handle.h"
#include "program/print_parts.h"

typedef struct {
    const mcp_run             *r;
    const mcp_run_item        *it;
    const mcp_export_settings *s;
    const mcp_runtime         *runtime; /* which slots hold what */
    mcp_export_info           *info;
    const char                *folder;
    mcp_error                 *err;
} job;

int mcp_export_prefix_taken(const char *prefix)
{
    static const char words[] =
        " alignas alignof and and_eq as asm assert async auto await bitand bitor bool break case catch "
        "char char16_t char32_t char8_t class co_await co_return co_yield compl concept const "
        "const_cast consteval constexpr constinit continue decltype def default defined del delete do "
        "double dynamic_cast elif else enum except explicit export extern false False finally float "
        "for friend from global goto if import in inline int is lambda long main mutable namespace "
        "new noexcept None nonlocal not not_eq nullptr operator or or_eq pass printf private "
        "protected public raise register reinterpret_cast requires restrict return short signed "
        "sizeof static static_assert static_cast struct switch template this thread_local throw true "
        "True try typedef typeid typename union unsigned using virtual void volatile wchar_t while "
        "with xor xor_eq yield acos asin atan atan2 ceil cos cosh exp exp2 expm1 erf erfc fabs fdim "
        "floor fma fmax fmin fmod frexp gamma hypot j0 j1 jn ldexp lgamma log log10 log1p log2 logb "
        "lrint lround math modf nan pow remainder rint round signgam sin sinh sqrt tan tanh tgamma "
        "trunc y0 y1 yn acosf asinf atanf atan2f cosf coshf expf fabsf floorf fmodf logf powf sinf "
        "sinhf sqrtf tanf tanhf ";
    char word[64];
    int  n = snprintf(word, sizeof word, " %s ", prefix);
    return n < (int)sizeof word && strstr(words, word) != NULL;
}

/* A C name that may stand before all others. */
static mcp_status check_prefix(const char *prefix, mcp_error *err)
{
    const char *c = prefix;
    while ((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || *c == '_' ||
           (c > prefix && *c >= '0' && *c <= '9'))
        c++;
    if (*c || c == prefix || c - prefix > 40)
        return mcp_fail(err, MCP_ERR_ARG, "the prefix '%.60s' is not a C name of 1 to 40 characters", prefix);
    if (mcp_export_prefix_taken(prefix))
        return mcp_fail(err, MCP_ERR_ARG,
                        "the prefix '%s' is a word of C, C++ or Python, or a function of libm; choose "
                        "another one",
                        prefix);
    return MCP_OK;
}

static mcp_status write_template(const char *folder, const char *name, const char *text, const mcp_fields *f,
                                 mcp_error *err)
{
    mcp_text   t = {0};
    char      *path = mcp_sprintf("%s/%s", folder, name);
    mcp_status st = mcp_template_expand(&t, text, f, err);
    if (st == MCP_OK && !path) st = mcp_fail(err, MCP_ERR_MEMORY, "out of memory for %s", name);
    if (st == MCP_OK) st = mcp_file_write(path, t.data, t.length, err);
    mcp_text_free(&t);
    mcp_free(path);
    return st;
}

static const char *unit_of(const char *unit) { return unit && *unit ? unit : "-"; }

/* A text of the task as part of a comment or a docstring: nothing in it may end either. Backslashes and
 * double quotes become / and ', comment signs and trigraphs are pulled apart. */
static void add_note(mcp_text *t, const char *s)
{
    char *copy = mcp_strdup(s);
    if (!copy) {
        t->failed = 1;
        return;
    }
    mcp_text_plain(copy);
    for (const char *c = copy; *c; c++) {
        const char now = *c == '\\' ? '/' : *c == '"' ? '\'' : *c == '\t' ? ' ' : *c;
        const char before = t->length ? t->data[t->length - 1] : ' ';
        if ((before == '*' && now == '/') || (before == '/' && now == '*') || (before == '?' && now == '?') ||
            (before == '/' && now == '/'))
            mcp_text_bytes(t, " ", 1);
        mcp_text_bytes(t, &now, 1);
    }
    mcp_free(copy);
}

static void add_fact(mcp_fields *f, mcp_text *t)
{
    mcp_fields_take(mcp_fields_row(f, "fact"), "text", t);
}

/* What both ends must agree on. */
static void facts(const job *j, mcp_fields *f)
{
    const mcp_task *k = j->r->task;
    mcp_text        t = {0};
    mcp_text_add(&t, "Controller of task '");
    add_note(&t, k->name);
    mcp_text_add(&t, "', trial %d, seed %llu. Made by mcpilco " MCP_VERSION ".", j->it->info.number,
                 (unsigned long long)j->r->seed);
    add_fact(f, &t);
    mcp_text_add(&t,
                 "Rate: call it every %.9g s (%g Hz), no other. At another rate it is another controller.",
                 j->r->system->ts, k->rate);
    add_fact(f, &t);
    for (int i = 0; i < mcp_task_sensors(k); i++) {
        const mcp_task_channel *c = &k->measured[i];
        mcp_text_add(&t, "measured[%d]  %s [", i, c->name);
        add_note(&t, unit_of(mcp_channel_unit(k, c)));
        mcp_text_add(&t, "], noise %g%s", c->noise, c->angle ? ", within +-pi: turns are counted here" : "");
        add_fact(f, &t);
    }
    for (int i = 0; i < k->goals.n; i++) {
        mcp_text_add(&t, "goal[%d]      %s, %g until it is set", i, k->goals.item[i].name,
                     mcp_goal_middle(&k->goals.item[i]));
        add_fact(f, &t);
    }
    for (int i = 0; i < k->nu; i++) {
        const mcp_task_input *u = &k->input[i];
        mcp_text_add(&t, "command[%d]   %s [", i, u->name);
        add_note(&t, unit_of(u->unit));
        if (u->low == -u->high) mcp_text_add(&t, "], within +-%g", u->high);
        else mcp_text_add(&t, "], within %g .. %g", u->low, u->high);
        if (u->slew > 0) mcp_text_add(&t, ", at most %g per second", u->slew);
        add_fact(f, &t);
    }
}

static void set_number(mcp_fields *f, const char *name, double v, int single)
{
    mcp_text t = {0};
    mcp_print_number(&t, v, single);
    mcp_fields_take(f, name, &t);
}

/* Angles, and what turns with them: control/runtime.c's tables. */
static void add_angles(const job *j, mcp_fields *f, int single)
{
    const mcp_system       *m = j->r->system;
    const mcp_runtime_part *p = &j->runtime->policy;
    const int               outputs = m->nu + m->nx;
    for (int i = 0; i < m->ny; i++) {
        if (!m->task->measured[i].angle) continue;
        mcp_fields *angle = mcp_fields_row(f, "angle");
        mcp_fields_set(angle, "i", "%d", i);
        mcp_fields_set(angle, "counts", "%s", p->reduced[i] ? "" : "yes");
        for (int s = 0; p->reduced[i] && s < p->slots; s++) {
            if (p->slot_turns[i * p->slots + s] == 0.0) continue;
            mcp_fields *row = mcp_fields_row(angle, "slot");
            mcp_fields_set(row, "m", "%d", s);
            set_number(row, "k", p->slot_turns[i * p->slots + s], single);
        }
        for (int o = m->nu; p->reduced[i] && o < outputs; o++) {
            if (p->output_turns[i * outputs + o] == 0.0) continue;
            mcp_fields *row = mcp_fields_row(angle, "output");
            mcp_fields_set(row, "j", "%d", o);
            set_number(row, "k", p->output_turns[i * outputs + o], single);
        }
    }
    for (int i = 0; i < m->nu; i++) {
        if (p->last[i] < 0) continue;
        mcp_fields *row = mcp_fields_row(f, "last");
        mcp_fields_set(row, "i", "%d", i);
        mcp_fields_set(row, "m", "%d", p->last[i]);
    }
}

static void set_row(mcp_fields *f, const char *name, const double *v, int n, int single)
{
    mcp_text t = {0};
    for (int k = 0; k < n; k++) {
        mcp_text_add(&t, k ? ", " : "");
        mcp_print_number(&t, v[k], single);
    }
    mcp_fields_take(f, name, &t);
}

/* The trial itself is the test: its measurements in, as the sensors gave them, its commands out. */
static void add_trial(const job *j, mcp_fields *f, int single)
{
    const mcp_trial *t = j->it->trial;
    const mcp_task  *k = j->r->task;
    double           reach[MCP_MAX_INPUT];
    for (int n = 0; n < j->info->samples; n++) {
        mcp_fields *row = mcp_fields_row(f, "sample");
        double      y[MCP_MAX_STATE];
        for (int i = 0; i < t->ny; i++) {
            const double first = t->measured[i];
            y[i] = t->measured[n * t->ny + i];
            if (k->measured[i].angle && first == mcp_angle_wrap(first)) y[i] = mcp_angle_wrap(y[i]);
        }
        set_row(row, "measured", y, t->ny, single);
        set_row(row, "command", t->input + n * t->nu, t->nu, single);
    }
    for (int i = 0; i < t->nu; i++) reach[i] = mcp_input_reach(&k->input[i]);
    set_row(f, "limits", reach, t->nu, single);
}

/* The fields that every template may use. */
static mcp_fields *describe(const job *j, int single)
{
    const mcp_system *m = j->r->system;
    mcp_fields       *f = mcp_fields_create();
    double            variance, mean;
    mcp_fields_set(f, "P", "%s", j->s->prefix);
    mcp_fields_set(f, "real", "%s", single ? "float" : "double");
    mcp_fields_set(f, "f", "%s", single ? "f" : "");
    mcp_fields_set(f, "nx", "%d", m->nx);
    mcp_fields_set(f, "ny", "%d", m->ny);
    mcp_fields_set(f, "sensors", "%d", mcp_task_sensors(m->task));
    mcp_fields_set(f, "goals", "%d", m->task->goals.n);
    mcp_fields_set(f, "nu", "%d", m->nu);
    mcp_fields_set(f, "nz", "%d", m->nu + m->nx);
    mcp_fields_set(f, "slots", "%d", mcp_program_memory(m->controller));
    mcp_fields_set(f, "samples", "%d", j->info->samples);
    mcp_fields_set(f, "tolerance", "%s", single ? "1e-3" : "1e-9");
    set_number(f, "rate", m->task->rate, 0);
    set_number(f, "turn", MCP_TURN, single);
    set_number(f, "half", 0.5, single);
    for (int i = 0; i < m->nx; i++) {
        mcp_fields *row = mcp_fields_row(f, "start");
        mcp_start_moments(&m->task->start, m->nx, i, &mean, &variance);
        mcp_fields_set(row, "i", "%d", i);
        set_number(row, "value", mean, single);
    }
    for (int i = 0; i < m->nu; i++) {
        mcp_fields *row = mcp_fields_row(f, "rest");
        mcp_fields_set(row, "i", "%d", i);
        set_number(row, "value", mcp_input_rest(&m->task->input[i]), single);
    }
    for (int i = 0; i < m->task->goals.n; i++) {
        mcp_fields *row = mcp_fields_row(f, "goal");
        mcp_fields_set(row, "i", "%d", i);
        mcp_fields_set(row, "name", "%s", m->task->goals.item[i].name);
        set_number(row, "value", mcp_goal_middle(&m->task->goals.item[i]), single);
    }
    facts(j, f);
    add_angles(j, f, single);
    add_trial(j, f, single);
    return f;
}

static void hand_over(mcp_fields *f, const char *name, char *text)
{
    mcp_text t = {.data = text, .length = text ? strlen(text) : 0, .capacity = text ? strlen(text) + 1 : 0};
    mcp_fields_take(f, name, &t);
}

/* Observer and policy, and the safe input, as texts for the templates. */
static mcp_status c_programs(const job *j, mcp_fields *f)
{
    const mcp_system  *m = j->r->system;
    char               include[80], safe[80], *text = NULL;
    mcp_print_settings q = {.prefix = j->s->prefix, .single = j->s->single, .include = include};
    mcp_print_settings local = {.prefix = safe, .single = j->s->single, .local = 1};
    mcp_status         st;
    snprintf(include, sizeof include, "%.60s.h", j->s->prefix);
    snprintf(safe, sizeof safe, "%.60s_safe", j->s->prefix);
    if ((st = mcp_program_print_declarations(m->controller, &q, &text, j->err)) != MCP_OK) return st;
    hand_over(f, "declarations", text);
    if ((st = mcp_program_print_c(m->controller, j->it->theta, &q, &text, j->err)) != MCP_OK) return st;
    hand_over(f, "program", text);
    if ((st = mcp_program_print_c(m->safe, NULL, &local, &text, j->err)) != MCP_OK) return st;
    hand_over(f, "safe", text);
    return MCP_OK;
}

static mcp_status write_c(const job *j)
{
    const struct { const char *end, *text; } file[] = {{".h", mcp_embed_controller_h},
                                                       {".c", mcp_embed_controller_c},
                                                       {"_selftest.c", mcp_embed_selftest_c},
                                                       {NULL, mcp_embed_controller_mk}};
    mcp_fields *f = describe(j, j->s->single);
    mcp_status  st = c_programs(j, f);
    for (size_t i = 0; i < sizeof file / sizeof *file && st == MCP_OK; i++) {
        char name[96] = "Makefile";
        if (file[i].end) snprintf(name, sizeof name, "%.60s%s", j->s->prefix, file[i].end);
        st = write_template(j->folder, name, file[i].text, f, j->err);
    }
    mcp_fields_free(f);
    return st;
}

static mcp_status write_python(const job *j)
{
    const mcp_system        *m = j->r->system;
    const mcp_print_settings program = {.prefix = "Program"}, safe = {.prefix = "_Safe", .local = 1};
    mcp_fields              *f = describe(j, 0);
    char                    *text = NULL, name[96];
    snprintf(name, sizeof name, "%.60s.py", j->s->prefix);
    mcp_status st = mcp_program_print_python(m->controller, j->it->theta, &program, &text, j->err);
    if (st == MCP_OK) {
        hand_over(f, "program", text);
        st = mcp_program_print_python(m->safe, NULL, &safe, &text, j->err);
    }
    if (st == MCP_OK) {
        hand_over(f, "safe", text);
        st = write_template(j->folder, name, mcp_embed_controller_py, f, j->err);
    }
    mcp_fields_free(f);
    return st;
}

static json_t *measured_json(const mcp_task *k)
{
    json_t *list = json_array();
    for (int i = 0; i < mcp_task_sensors(k); i++) {
        const mcp_task_channel *c = &k->measured[i];
        const char             *unit = mcp_channel_unit(k, c);
        mcp_json_append(&list, json_pack("{s:s,s:o,s:o,s:b}", "name", c->name, "unit",
                                              mcp_json_text(unit_of(unit)), "noise",
                                              mcp_json_number(c->noise), "wraps", c->angle));
    }
    return list;
}

static json_t *goals_json(const mcp_task *k)
{
    json_t *list = json_array();
    for (int i = 0; i < k->goals.n; i++)
        mcp_json_append(&list, json_pack("{s:s,s:o}", "name", k->goals.item[i].name, "middle",
                                         mcp_json_number(mcp_goal_middle(&k->goals.item[i]))));
    return list;
}

static json_t *commands_json(const mcp_task *k)
{
    json_t *list = json_array();
    for (int i = 0; i < k->nu; i++) {
        const mcp_task_input *u = &k->input[i];
        mcp_json_append(&list, json_pack("{s:s,s:o,s:o,s:o,s:o,s:o}", "name", u->name, "unit",
                                         mcp_json_text(unit_of(u->unit)), "limit",
                                         mcp_json_number(fmax(fabs(u->low), fabs(u->high))), "low",
                                         mcp_json_number(u->low), "high", mcp_json_number(u->high), "slew",
                                         mcp_json_number(u->slew)));
    }
    return list;
}

/* What mcp_controller_load_json builds the same controller from: the task as it was loaded. */
static void task_json(const job *j, json_t *root)
{
    mcp_task_source s = mcp_run_source(j->r);
    json_t         *overrides = json_array();
    for (int i = 0; i < s.override_count; i++)
        json_array_append_new(overrides, mcp_json_text(s.overrides[i]));
    json_object_set_new(root, "format", json_integer(MCP_CONTROLLER_FORMAT));
    json_object_set_new(root, "task_text", mcp_json_text(s.text));
    json_object_set_new(root, "overrides", overrides);
}

static mcp_status data(const job *j)
{
    const mcp_program *p = j->r->system->controller;
    const mcp_task    *task = j->r->task;
    json_t            *groups = json_array(), *policy = json_object(), *safe = json_object();
    char *path = mcp_sprintf("%s/%s.json", j->folder, j->s->prefix), *listing = mcp_program_listing(p);
    for (int i = 0; i < mcp_program_groups(p); i++) {
        const mcp_param_group *g = mcp_program_group(p, i);
        mcp_json_append(&groups, json_pack("{s:s,s:i,s:i,s:o}", "name", g->name, "rows", g->rows, "cols",
                                                g->cols, "values",
                                                mcp_json_numbers(g->count, j->it->theta + g->offset)));
    }
    for (int i = 0; i < task->policy.n; i++)
        mcp_json_set(&policy, task->policy.item[i].name, mcp_json_text(task->policy.item[i].expr.text));
    for (int i = 0; i < task->nu; i++)
        mcp_json_set(&safe, task->input[i].name,
                            mcp_json_text(task->safe.n ? task->safe.item[i].expr.text : "zero"));
    json_t *root = json_pack("{s:o,s:i,s:I,s:o,s:o,s:o,s:o,s:o,s:o,s:s}", "task", mcp_json_text(task->name),
                             "trial", j->it->info.number, "seed", (json_int_t)j->r->seed, "rate",
                             mcp_json_number(task->rate), "measured", measured_json(task), "commands",
                             commands_json(task), "policy", policy, "safe", safe, "parameters", groups,
                             "program", listing ? listing : "");
    if (root) json_object_set_new(root, "goals", goals_json(task));
    if (root) task_json(j, root);
    mcp_status st = path && listing && root
                        ? mcp_json_write(path, root, j->err)
                        : mcp_fail(j->err, MCP_ERR_MEMORY, "out of memory for %s.json", j->s->prefix);
    json_decref(root);
    mcp_free(listing);
    mcp_free(path);
    return st;
}

/* The commands of the trial that can be compared: all that were given. */
static int comparable(const mcp_trial *t)
{
    int n = 0;
    while (n < t->samples && isfinite(t->input[(size_t)n * (size_t)t->nu])) n++;
    return n;
}

mcp_status mcp_export_controller(const mcp_run *r, const mcp_run_item *it, const char *folder,
                                 const mcp_export_settings *s, mcp_export_info *info, mcp_error *err)
{
    const mcp_system *m = r->system;
    mcp_runtime      *runtime = NULL;
    size_t            word = s->single ? sizeof(float) : sizeof(double);
    mcp_status        st;
    *info = (mcp_export_info){.operations = mcp_program_cost_of(m->controller)};
    info->table_bytes = (size_t)info->operations.constants * word;
    info->state_bytes =
        ((size_t)info->operations.state + (size_t)(2 * m->ny + m->nu + m->nx)) * word + 2 * sizeof(int);
    info->samples   = comparable(it->trial);
    info->tolerance = s->single ? 1e-3 : 1e-9;
    if ((st = check_prefix(s->prefix, err)) != MCP_OK) return st;
    if ((st = mcp_folder_make(folder, err)) != MCP_OK) return st;
    if ((st = mcp_runtime_create(&runtime, m, err)) != MCP_OK) return st;
    job j = {r, it, s, runtime, info, folder, err};
    st = write_c(&j);
    if (st == MCP_OK) st = write_python(&j);
    if (st == MCP_OK) st = data(&j);
    mcp_runtime_free(runtime);
    return st;
}

mcp_status mcp_export_inputs(const mcp_run *r, const double *u, const char *folder, const char *prefix,
                             mcp_error *err)
{
    const int   nu = r->system->nu;
    char        name[96];
    mcp_text    t = {0};
    mcp_status  st = check_prefix(prefix, err);
    mcp_fields *f = mcp_fields_create();
    for (int i = 0; i < nu; i++) {
        mcp_text_add(&t, "%s%s [", i ? ", " : "", r->task->input[i].name);
        add_note(&t, unit_of(r->task->input[i].unit));
        mcp_text_add(&t, "]");
    }
    mcp_fields_take(f, "columns", &t);
    mcp_fields_set(f, "P", "%s", prefix);
    mcp_fields_set(f, "steps", "%d", r->system->steps);
    mcp_fields_set(f, "nu", "%d", nu);
    set_number(f, "ts", r->system->ts, 0);
    set_number(f, "rate", r->task->rate, 0);
    for (int k = 0; k < r->system->steps; k++)
        set_row(mcp_fields_row(f, "row"), "numbers", u + k * nu, nu, 1);
    snprintf(name, sizeof name, "%.60s_inputs.h", prefix);
    if (st == MCP_OK) st = write_template(folder, name, mcp_embed_inputs_h, f, err);
    mcp_fields_free(f);
    return st;
}
