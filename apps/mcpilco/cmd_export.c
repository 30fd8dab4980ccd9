/* cmd_export.c - mcpilco export: observer and policy of a run as C, Python and JSON. */
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "export/export.h"
#include "options.h"
#include "run_args.h"
#include "term.h"

int cmd_export(int argc, char **argv)
{
    const char  *folder[1], *out = NULL, *prefix = NULL;
    int          trial = 0, single = 0, full = 0, json = 0;
    const option options[] = {
        {"--out", OPTION_TEXT, &out, 0, 0, "DIR", "folder for the files (controller)", "-o"},
        {"--trial", OPTION_INT, &trial, 1, 999, "K", "policy of this trial (the last)", NULL},
        {"--prefix", OPTION_TEXT, &prefix, 0, 0, "NAME", "of files and functions (the task's name)", NULL},
        {"--float", OPTION_FLAG, &single, 0, 0, NULL,
         "single precision: for microcontrollers whose FPU has no double", NULL},
        {"--double", OPTION_FLAG, &full, 0, 0, NULL, "double precision (the usual)", NULL},
        {"--json", OPTION_FLAG, &json, 0, 0, NULL, "size and operation counts as JSON", NULL},
    };
    const command verb = {
        .verb = "export",
        .synopsis = "RUN [options]",
        ONE_ARGUMENT(options, folder),
        .about = "Writes the controller of a run, observer and policy together, as C99 without allocation "
                 "and with libm only, with a\n"
                 "header that says rate, units, order of signals and limits, a self-test made of the "
                 "recorded trial and a Makefile; the\n"
                 "same as a Python module and as JSON.",
        .examples = "  mcpilco export runs/cartpole-1 -o controller && make -C controller check\n"
                    "  mcpilco export runs/cartpole-1 --float --prefix swingup -o firmware/swingup\n",
    };
    mcp_run        *r;
    mcp_error       err;
    mcp_export_info info = {0};
    char            name[64];
    int             code = options_parse(&verb, argc, argv);
    if (code != OPTIONS_GO) return code;
    if (single && full) {
        fprintf(stderr, "mcpilco export: --float and --double exclude each other\n");
        return 2;
    }
    if (!out) out = "controller";
    mcp_run_item *it;
    if ((code = open_policy("export", folder[0], trial, &r, &it))) return code;
    c_name(name, sizeof name, r->task->name);
    mcp_export_settings s = {.prefix = prefix ? prefix : name, .single = single};
    if (mcp_export_controller(r, it, out, &s, &info, &err) != MCP_OK) code = term_error("export", &err);
    else {
        const mcp_program_cost *o = &info.operations;
        if (json)
            code =
                term_json(json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:i, s:f}", "folder",
                                    out, "prefix", s.prefix, "precision", single ? "float" : "double",
                                    "table_bytes", (json_int_t)info.table_bytes, "state_bytes",
                                    (json_int_t)info.state_bytes, "add", (json_int_t)o->add, "multiply",
                                    (json_int_t)o->multiply, "divide", (json_int_t)o->divide, "compare",
                                    (json_int_t)o->compare, "libm_calls", (json_int_t)o->call,
                                    "selftest_samples", info.samples, "selftest_tolerance", info.tolerance));
        else
            printf("%s/%s.h, %s.c, %s_selftest.c, Makefile, %s.py, %s.json\ntrial %d's controller in %s "
                   "precision at %g Hz: tables %zu bytes, memory %zu bytes\n"
                   "per sample: %ld additions, %ld multiplications, %ld divisions, %ld comparisons, %ld "
                   "calls of libm\ncheck it: make -C %s check\n",
                   out, s.prefix, s.prefix, s.prefix, s.prefix, s.prefix, it->info.number,
                   single ? "single" : "double", r->task->rate, info.table_bytes, info.state_bytes, o->add,
                   o->multiply, o->divide, o->compare, o->call, out);
    }
    mcp_run_free(r);
    return code;
}
