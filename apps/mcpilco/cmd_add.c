/* cmd_add.c - mcpilco add: a trial recorded elsewhere becomes the run's next one. */
#include <math.h>
#include <stdio.h>

#include "commands.h"
#include "exchange_args.h"
#include "options.h"
#include "term.h"

static void tell(const mcp_learner *l, const char *run, const mcp_add_info *a, const mcp_learn_info *i)
{
    char cost[32], coverage[32];
    if (a->resampled)
        printf("samples were up to %.3g ms from their time at %g Hz: %d rows were resampled to %d "
               "(measurements on straight lines, inputs "
               "held)\n",
               1e3 * a->off, l->run->task->rate, a->file_rows, a->samples);
    if (a->surplus) printf("%d rows after the end of the trial were left out\n", a->surplus);
    if (i->ended) printf("the trial ended at sample %d: %s\n", a->samples - 1, i->reason);
    if (a->difference > 0.0)
        printf("commands differ from those asked by up to %.2g %% of the limit\n", 100 * a->difference);
    printf("%s %d: %d samples, cost %s", i->explored ? "exploration" : "trial", i->number, a->samples,
           term_number(cost, sizeof cost, "%.4g", i->cost));
    if (!i->explored)
        printf(" (forecast %.4g +- %.2g), %s, %s of it inside the forecast's bands", i->forecast_cost,
               i->forecast_std, i->success ? "success" : "no success",
               term_number(coverage, sizeof coverage, "%.0f %%", 100 * i->coverage));
    printf("\ngo on with: mcpilco next %s\n", run);
}

static int add(const char *run, const char *file, const mcp_add_settings *s, int json)
{
    static learn_view view;
    exchange          x = {0};
    mcp_error         err = {MCP_OK, ""};
    mcp_add_info      what = {0};
    const mcp_learn_info *info;
    int               code = 0;
    view_begin(&view, VIEW_QUIET, 1, 0.0);
    mcp_status st = exchange_open_run(&x, run, 1, &view, &err);
    if (st == MCP_OK) st = mcp_learner_add(x.learner, file, s, &what, &info, &err);
    if (x.learner) {
        int       done = mcp_learner_trials(x.learner) >= x.run->wanted;
        mcp_error note = {MCP_OK, ""};
        mcp_run_state state = done ? MCP_RUN_IS_FINISHED : MCP_RUN_IS_WAITING;
        if (mcp_learner_close(x.learner, state, &note) != MCP_OK && st == MCP_OK) {
            st = note.status;
            err = note;
        }
    }
    if (st == MCP_OK && json) {
        code = term_json(json_pack("{s:s, s:i, s:i, s:b, s:i, s:f, s:f, s:f, s:o}", "run", run, "samples",
                                   what.samples, "file_rows", what.file_rows, "resampled", what.resampled,
                                   "surplus", what.surplus, "rate", what.rate, "off", what.off, "difference",
                                   what.difference, "info", view_info_json(info)));
    } else if (st == MCP_OK && x.learner) tell(x.learner, run, &what, info);
    exchange_close(&x);
    return st == MCP_OK ? code : term_error("add", &err);
}

int cmd_add(int argc, char **argv)
{
    const char      *files[2];
    int              json = 0;
    option_list      map = {0}, scale = {0};
    mcp_add_settings s;
    mcp_add_settings_default(&s);
    const option options[] = {
        {"--map", OPTION_LIST, &map, 0, 0, "THEIRS=OURS",
         "the file's column THEIRS is our OURS (t, a measured state or an input)", NULL},
        {"--scale", OPTION_LIST, &scale, 0, 0, "NAME=FACTOR",
         "our NAME is FACTOR times the file's, e.g. t=1e-3 for milliseconds", NULL},
        {"--rate-tolerance", OPTION_NUMBER, &s.rate_tolerance, 0, 0.5, "SHARE",
         "of a period: samples further off are resampled (0.05)", NULL},
        {"--resample", OPTION_FLAG, &s.resample, 0, 0, NULL,
         "the log has another rate than the controller had", NULL},
        {"--input-tolerance", OPTION_NUMBER, &s.input_tolerance, 0, 1e9, "SHARE",
         "of the limit: how far off commands may be (0.02)", NULL},
        {"--ended", OPTION_TEXT, &s.ended, 0, 0, "REASON", "the trial really ended before its time, and why",
         NULL},
        {"--json", OPTION_FLAG, &json, 0, 0, NULL, "one JSON object on standard output", NULL},
    };
    const command verb = {
        .verb = "add",
        .synopsis = "RUN DATA.csv [options]",
        .options = options,
        .count = sizeof options / sizeof *options,
        .least = 2,
        .most = 2,
        .positional = files,
        .about = "Takes a trial that was recorded elsewhere, as mcpilco next asked for it. Columns: t, every "
                 "measured channel, every input;\n"
                 "names are mapped, units scaled, the rate checked, uneven samples resampled. What the "
                 "controller observed is computed\n"
                 "again from the measurements, and its commands are compared with the recorded ones.",
        .examples = "  mcpilco add runs/my-rig-1 data.csv\n"
                    "  mcpilco add runs/my-rig-1 log.csv --map time_ms=t --scale t=1e-3 --map enc1=theta "
                    "--scale theta=0.0015339807878856412\n"
                    "      time in milliseconds, an angle in counts of an encoder of 4096\n",
    };
    int code = options_parse(&verb, argc, argv);
    if (code != OPTIONS_GO) return code;
    s.map = map.item;
    s.maps = map.count;
    s.scale = scale.item;
    s.scales = scale.count;
    term_catch_signals();
    return add(files[0], files[1], &s, json);
}
