/* export.c - the files of an exported controller. */
#include "export/export.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/file.h"
#include "io/json.h"
#include "math/arena.h"
#include "math/number.h"
#include "math/text.h"
#include "mcpilco/version.h"
#include "plant/plant_handle.h"

typedef struct {
    const mcp_run             *r;
    const mcp_run_item        *it;
    const mcp_export_settings *s;
    mcp_export_info           *info;
    const char                *folder, *real, *f;
    mcp_error                 *err;
} job;

static mcp_status save(const job *j, const char *end, mcp_text *t)
{
    char *path = strchr(end, 'M') == end ? mcp_sprintf("%s/%s", j->folder, end)
                                         : mcp_sprintf("%s/%s%s", j->folder, j->s->prefix, end);
    mcp_status st = !path || t->failed
                        ? mcp_fail(j->err, MCP_ERR_MEMORY, "out of memory for %s%s", j->s->prefix, end)
                        : mcp_file_write(path, t->data, t->length, j->err);
    mcp_free(path);
    mcp_text_free(t);
    return st;
}

static const char *unit_of(const char *unit) { return unit && *unit ? unit : "-"; }

/* What both ends must agree on, as a comment: every line begins with `lead`. */
static void facts(const job *j, mcp_text *t, const char *lead)
{
    const mcp_task *k = j->r->task;
    mcp_text_add(t,
                 "%sController of task \"%s\", trial %d, seed %llu. Made by mcpilco " MCP_VERSION ".\n%s\n",
                 lead, k->name, j->it->info.number, (unsigned long long)j->r->seed, lead);
    mcp_text_add(
        t, "%sRate: call it every %.9g s (%g Hz), no other. On another rate it is another controller.\n",
        lead, j->r->system->ts, k->rate);
    for (int i = 0; i < k->ny; i++) {
        const mcp_task_channel *c = &k->measured[i];
        const char             *unit = k->state_unit ? k->state_unit[c->state] : NULL;
        mcp_text_add(t, "%smeasured[%d]  %s [%s], noise %g%s\n", lead, i, c->name, unit_of(unit), c->noise,
                     c->angle ? ", within +-pi: unwrapped here" : "");
    }
    for (int i = 0; i < k->nu; i++) {
        const mcp_task_input *u = &k->input[i];
        mcp_text_add(t, "%scommand[%d]   %s [%s], within +-%g", lead, i, u->name, unit_of(u->unit), u->limit);
        if (u->slew > 0) mcp_text_add(t, ", at most %g per second", u->slew);
        mcp_text_add(t, "\n");
    }
}

static mcp_status header(const job *j)
{
    mcp_print_settings q = {.prefix = j->s->prefix, .single = j->s->single};
    mcp_text           t = {0};
    char              *declarations = NULL, guard[64];
    mcp_status st = mcp_program_print_declarations(j->r->system->controller, &q, &declarations, j->err);
    const mcp_system  *m = j->r->system;
    if (st != MCP_OK) return st;
    snprintf(guard, sizeof guard, "%s_H", j->s->prefix);
    mcp_text_add(&t, "/* %s.h\n *\n", j->s->prefix);
    facts(j, &t, " * ");
    mcp_text_add(&t,
                 " *\n * Use: %s c; %s_start(&c); then every period %s_control(&c, measured, command).\n"
                 " * No allocation, no I/O, libm only; time per call does not depend on the numbers. "
                 "*/\n#ifndef %s\n#define %s\n\n"
                 "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n",
                 j->s->prefix, j->s->prefix, j->s->prefix, guard, guard);
    mcp_text_add(&t,
                 "#define %s_RATE %.9g%s /* Hz */\n#define %s_MEASURED %d\n#define %s_COMMANDS %d\n#define "
                 "%s_STATES %d\n\n",
                 j->s->prefix, m->task->rate,
                 floor(m->task->rate) == m->task->rate && m->task->rate < 1e9 ? ".0" : "", j->s->prefix,
                 m->ny, j->s->prefix, m->nu, j->s->prefix, m->nx);
    mcp_text_add(&t, "%s\n", declarations);
    mcp_text_add(
        &t,
        "/* The whole controller: unwraps angles, observes, decides, limits. */\ntypedef struct {\n    "
        "%s_state program;\n    %s measured[%d], command[%d], observed[%d];\n"
        "    int started;\n} %s;\n\nvoid %s_start(%s *c);\n"
        "/* Returns 0; 1 when a number was not finite: the commands are then zero and nothing is remembered. "
        "*/\n"
        "int %s_control(%s *c, const %s *measured, %s *command);\n\n#ifdef __cplusplus\n}\n#endif\n#endif\n",
        j->s->prefix, j->real, m->ny, m->nu, m->nx, j->s->prefix, j->s->prefix, j->s->prefix, j->s->prefix,
        j->s->prefix, j->real, j->real);
    mcp_free(declarations);
    return save(j, ".h", &t);
}

static void number(const job *j, mcp_text *t, double v)
{
    char s[40];
    mcp_print(s, sizeof s, j->s->single ? "%.9g" : "%.17g", v);
    mcp_text_add(t, "%s%s%s", s, strpbrk(s, ".e") ? "" : ".0", j->f);
}

static void unwrap_code(const job *j, mcp_text *t)
{
    for (int i = 0; i < j->r->system->ny; i++)
        if (j->r->task->measured[i].angle) {
            mcp_text_add(t, "    if (c->started) y[%d] += 2 * ", i);
            number(j, t, acos(-1));
            mcp_text_add(t, " * floor%s((c->measured[%d] - y[%d]) / (2 * ", j->f, i, i);
            number(j, t, acos(-1));
            mcp_text_add(t, ") + ");
            number(j, t, 0.5);
            mcp_text_add(t, ");\n");
        }
}

static void limit_code(const job *j, mcp_text *t)
{
    for (int i = 0; i < j->r->system->nu; i++) {
        const mcp_task_input *u = &j->r->task->input[i];
        const char           *sign[] = {">", "<"};
        for (int k = 0; k < 2; k++) {
            double v = k ? -u->limit : u->limit;
            mcp_text_add(t, "    if (out[%d] %s ", i, sign[k]);
            number(j, t, v);
            mcp_text_add(t, ") out[%d] = ", i);
            number(j, t, v);
            mcp_text_add(t, ";\n");
        }
        for (int k = 0; u->slew > 0 && k < 2; k++) {
            mcp_text_add(t, "    if (out[%d] %s c->command[%d] %c ", i, sign[k], i, k ? '-' : '+');
            number(j, t, u->slew * j->r->system->ts);
            mcp_text_add(t, ") out[%d] = c->command[%d] %c ", i, i, k ? '-' : '+');
            number(j, t, u->slew * j->r->system->ts);
            mcp_text_add(t, ";\n");
        }
    }
}

static mcp_status body(const job *j)
{
    char               include[64];
    mcp_print_settings q = {.prefix = j->s->prefix, .single = j->s->single, .include = include};
    mcp_text           t = {0};
    char              *program = NULL;
    const mcp_system  *m = j->r->system;
    const char        *P = j->s->prefix, *R = j->real;
    snprintf(include, sizeof include, "%s.h", P);
    mcp_status st = mcp_program_print_c(m->controller, j->it->theta, &q, &program, j->err);
    if (st != MCP_OK) return st;
    mcp_text_add(&t, "/* %s.c - see %s.h */\n%s\n", P, P, program);
    mcp_text_add(&t,
                 "void %s_start(%s *c)\n{\n    int i;\n    %s_reset(&c->program);\n    c->started = 0;\n    "
                 "for (i = 0; i < %d; i++) c->command[i] = 0;\n}\n\n",
                 P, P, P, m->nu);
    mcp_text_add(&t,
                 "static int %s_finite(const %s *v, int n)\n{\n    int i, good = 1;\n    for (i = 0; i < n; "
                 "i++)\n        if (!(v[i] - v[i] == 0)) good = 0;\n    return good;\n}\n\n",
                 P, R);
    mcp_text_add(&t,
                 "int %s_control(%s *c, const %s *measured, %s *command)\n{\n    %s y[%d], out[%d];\n    "
                 "%s_state next = c->program;\n    int i, good;\n"
                 "    for (i = 0; i < %d; i++) y[i] = measured[i];\n",
                 P, P, R, R, R, m->ny, m->nu + m->nx, P, m->ny);
    unwrap_code(j, &t);
    mcp_text_add(
        &t,
        "    good = %s_finite(y, %d);\n    if (good) {\n        %s_step(&next, y, out);\n        good = "
        "%s_finite(out, %d);\n    }\n"
        "    if (!good) {\n        for (i = 0; i < %d; i++) command[i] = 0;\n        return 1;\n    }\n",
        P, m->ny, P, P, m->nu, m->nu);
    limit_code(j, &t);
    mcp_text_add(&t,
                 "    c->program = next;\n    c->started = 1;\n    for (i = 0; i < %d; i++) c->measured[i] = "
                 "y[i];\n    for (i = 0; i < %d; i++) command[i] = c->command[i] = out[i];\n"
                 "    for (i = 0; i < %d; i++) c->observed[i] = out[%d + i];\n    return 0;\n}\n",
                 m->ny, m->nu, m->nx, m->nu);
    mcp_free(program);
    return save(j, ".c", &t);
}

static void table(const job *j, mcp_text *t, const char *name, const double *v, int rows, int cols)
{
    mcp_text_add(t, "static const %s %s[%d][%d] = {\n", j->real, name, rows, cols);
    for (int i = 0; i < rows; i++) {
        mcp_text_add(t, "    {");
        for (int k = 0; k < cols; k++) {
            mcp_text_add(t, k ? ", " : "");
            number(j, t, v[(size_t)i * (size_t)cols + (size_t)k]);
        }
        mcp_text_add(t, "},\n");
    }
    mcp_text_add(t, "};\n");
}

/* The trial itself is the test: its measurements in, its commands out. */
static mcp_status selftest(const job *j)
{
    const mcp_trial *t = j->it->trial;
    mcp_text         o = {0};
    const char      *P = j->s->prefix, *R = j->real;
    int              n = 0;
    while (n < t->samples && isfinite(t->input[(size_t)n * (size_t)t->nu])) n++;
    j->info->samples   = n;
    j->info->tolerance = j->s->single ? 1e-3 : 1e-9;
    mcp_text_add(&o,
                 "/* %s_selftest.c - the recorded trial through the exported controller: %d samples.\n"
                 " * Prints the largest difference in units of each command's limit; returns 0 when it is at "
                 "most %g. */\n"
                 "#include <math.h>\n#include <stdio.h>\n\n#include \"%s.h\"\n\nenum { SAMPLES = %d };\n\n",
                 P, n, j->info->tolerance, P, n);
    table(j, &o, "measured", t->measured, n, t->ny);
    table(j, &o, "expected", t->input, n, t->nu);
    mcp_text_add(&o, "static const %s limit[%d] = {", R, t->nu);
    for (int i = 0; i < t->nu; i++) {
        mcp_text_add(&o, i ? ", " : "");
        number(j, &o, j->r->task->input[i].limit);
    }
    mcp_text_add(&o,
                 "};\n\nint main(void)\n{\n    static %s c;\n    %s command[%d];\n    double worst = 0;\n    "
                 "int i, k, bad = 0;\n    %s_start(&c);\n"
                 "    for (i = 0; i < SAMPLES; i++) {\n        bad |= %s_control(&c, measured[i], "
                 "command);\n        for (k = 0; k < %d; k++) {\n"
                 "            const double e = fabs((double)command[k] - (double)expected[i][k]) / "
                 "(double)limit[k];\n            if (!(e <= worst)) worst = e;\n        }\n    }\n"
                 "    bad |= !(worst <= %g);\n    printf(\"%%s: %%d samples, largest difference %%.3g of the "
                 "limit: %%s\\n\", \"%s\", SAMPLES, worst, bad ? \"FAILED\" : \"ok\");\n"
                 "    return bad;\n}\n",
                 P, R, t->nu, P, P, t->nu, j->info->tolerance, P);
    mcp_status st = save(j, "_selftest.c", &o);
    if (st != MCP_OK) return st;
    mcp_text_add(&o,
                 "# make check: build the self-test and run it. CC and CFLAGS may be given.\nCC ?= "
                 "cc\nCFLAGS ?= -O2\nALL = $(CFLAGS) -std=c99 -Wall -Wextra -Wpedantic\n\n"
                 "%s_selftest: %s_selftest.c %s.c %s.h\n\t$(CC) $(ALL) -o $@ %s_selftest.c %s.c "
                 "-lm\n\ncheck: %s_selftest\n\t./%s_selftest\n\nsize: %s.c %s.h\n"
                 "\t$(CC) $(ALL) -c -o %s.o %s.c && size %s.o\n\nclean:\n\trm -f %s_selftest %s.o\n\n.PHONY: "
                 "check size clean\n",
                 P, P, P, P, P, P, P, P, P, P, P, P, P, P, P);
    return save(j, "Makefile", &o);
}

static void python_list(mcp_text *t, const char *name, const double *v, int rows, int cols)
{
    mcp_text_add(t, "    %s = [", name);
    for (int i = 0; i < rows; i++) {
        mcp_text_add(t, "\n        (");
        for (int k = 0; k < cols; k++) mcp_text_add(t, "%.17g, ", v[(size_t)i * (size_t)cols + (size_t)k]);
        mcp_text_add(t, "),");
    }
    mcp_text_add(t, "\n    ]\n");
}

static mcp_status python(const job *j)
{
    const mcp_trial  *q = j->it->trial;
    const mcp_system *m = j->r->system;
    mcp_text          t = {0};
    char             *program = NULL;
    mcp_status        st = mcp_program_print_python(m->controller, j->it->theta, &program, j->err);
    if (st != MCP_OK) return st;
    mcp_text_add(&t, "\"\"\"");
    facts(j, &t, "");
    mcp_text_add(&t,
                 "\nUse: c = Controller(); every period command = c.control(measured). Run this file to "
                 "self-test.\n\"\"\"\n%s\n\n",
                 program);
    mcp_text_add(&t,
                 "class Controller:\n    RATE = %.17g\n\n    def __init__(self):\n        self._program = "
                 "Program()\n        self.start()\n\n"
                 "    def start(self):\n        self._program.reset()\n        self._measured = None\n       "
                 " self._command = [0.0] * %d\n        self.observed = [0.0] * %d\n\n"
                 "    def control(self, measured):\n        y = [float(v) for v in measured]\n",
                 m->task->rate, m->nu, m->nx);
    for (int i = 0; i < m->ny; i++)
        if (m->task->measured[i].angle)
            mcp_text_add(&t,
                         "        if self._measured:\n            y[%d] += 2 * math.pi * "
                         "math.floor((self._measured[%d] - y[%d]) / (2 * math.pi) + 0.5)\n",
                         i, i, i);
    mcp_text_add(&t,
                 "        out = self._program.step(y)\n        self._measured = y\n        self.observed = "
                 "out[%d:]\n        command = out[:%d]\n",
                 m->nu, m->nu);
    for (int i = 0; i < m->nu; i++) {
        const mcp_task_input *u = &m->task->input[i];
        mcp_text_add(&t, "        command[%d] = min(max(command[%d], -%.17g), %.17g)\n", i, i, u->limit,
                     u->limit);
        if (u->slew > 0)
            mcp_text_add(&t,
                         "        command[%d] = min(max(command[%d], self._command[%d] - %.17g), "
                         "self._command[%d] + %.17g)\n",
                         i, i, i, u->slew * m->ts, i, u->slew * m->ts);
    }
    mcp_text_add(&t, "        self._command = command\n        return list(command)\n\n\ndef selftest():\n");
    python_list(&t, "measured", q->measured, j->info->samples, q->ny);
    python_list(&t, "expected", q->input, j->info->samples, q->nu);
    mcp_text_add(&t, "    limit = (");
    for (int i = 0; i < m->nu; i++) mcp_text_add(&t, "%.17g, ", m->task->input[i].limit);
    mcp_text_add(&t, ")\n    c = Controller()\n    worst = max(abs(a - b) / s for y, e in zip(measured, "
                     "expected) for a, b, s in zip(c.control(y), e, limit))\n"
                     "    print(f\"{len(measured)} samples, largest difference {worst:.3g} of the limit: "
                     "{'ok' if worst <= 1e-9 else 'FAILED'}\")\n"
                     "    return 0 if worst <= 1e-9 else 1\n\n\nif __name__ == \"__main__\":\n    raise "
                     "SystemExit(selftest())\n");
    mcp_free(program);
    return save(j, ".py", &t);
}

static json_t *names_json(const job *j, int measured)
{
    const mcp_task *k = j->r->task;
    json_t         *list = json_array();
    for (int i = 0; i < (measured ? k->ny : k->nu); i++) {
        const char *unit =
            measured ? (k->state_unit ? k->state_unit[k->measured[i].state] : NULL) : k->input[i].unit;
        if (measured)
            mcp_json_append(&list, json_pack("{s:s,s:s,s:o,s:b}", "name", k->measured[i].name, "unit",
                                             unit_of(unit), "noise", mcp_json_number(k->measured[i].noise),
                                             "wraps", k->measured[i].angle));
        else
            mcp_json_append(&list, json_pack("{s:s,s:s,s:o,s:o}", "name", k->input[i].name, "unit",
                                             unit_of(unit), "limit", mcp_json_number(k->input[i].limit),
                                             "slew", mcp_json_number(k->input[i].slew)));
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
    json_t            *groups = json_array(), *policy = json_object();
    char *path = mcp_sprintf("%s/%s.json", j->folder, j->s->prefix), *listing = mcp_program_listing(p);
    for (int i = 0; i < mcp_program_groups(p); i++) {
        const mcp_param_group *g = mcp_program_group(p, i);
        mcp_json_append(&groups, json_pack("{s:s,s:i,s:i,s:o}", "name", g->name, "rows", g->rows, "cols",
                                           g->cols, "values",
                                           mcp_json_numbers(g->count, j->it->theta + g->offset)));
    }
    for (int i = 0; i < j->r->task->policy.n; i++)
        mcp_json_set(&policy, j->r->task->policy.item[i].name,
                     json_string(j->r->task->policy.item[i].expr.text));
    json_t *root = json_pack("{s:s,s:i,s:I,s:o,s:o,s:o,s:o,s:o,s:s}", "task", j->r->task->name, "trial",
                             j->it->info.number, "seed", (json_int_t)j->r->seed, "rate",
                             mcp_json_number(j->r->task->rate), "measured", names_json(j, 1), "commands",
                             names_json(j, 0), "policy", policy, "parameters", groups, "program",
                             listing ? listing : "");
    if (root) task_json(j, root);
    mcp_status st = path && listing
                        ? mcp_json_write(path, root, j->err)
                        : mcp_fail(j->err, MCP_ERR_MEMORY, "out of memory for %s.json", j->s->prefix);
    json_decref(root);
    mcp_free(listing);
    mcp_free(path);
    return st;
}

mcp_status mcp_export_controller(const mcp_run *r, const mcp_run_item *it, const char *folder,
                                 const mcp_export_settings *s, mcp_export_info *info, mcp_error *err)
{
    job        j = {r, it, s, info, folder, s->single ? "float" : "double", s->single ? "f" : "", err};
    size_t     word = s->single ? sizeof(float) : sizeof(double);
    mcp_status st;
    memset(info, 0, sizeof *info);
    info->operations  = mcp_program_cost_of(r->system->controller);
    info->table_bytes = (size_t)info->operations.constants * word;
    info->state_bytes =
        ((size_t)info->operations.state + (size_t)(r->system->ny + r->system->nu + r->system->nx)) * word +
        2 * sizeof(int);
    if ((st = mcp_folder_make(folder, err)) != MCP_OK) return st;
    if ((st = header(&j)) != MCP_OK || (st = body(&j)) != MCP_OK || (st = selftest(&j)) != MCP_OK) return st;
    if ((st = python(&j)) != MCP_OK) return st;
    return data(&j);
}
