/* cmd_next.c - mcpilco next: what to run on a rig that cannot be driven live. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "exchange_args.h"
#include "export/export.h"
#include "io/csv.h"
#include "io/file.h"
#include "io/json.h"
#include "math/arena.h"
#include "math/text.h"
#include "options.h"
#include "run_args.h"
#include "term.h"

typedef struct {
    const char *what, *out, *folder, *algorithm, *prefix;
    uint64_t    seed;
    int         threads, trials, single, json, quiet;
    double      risk;
    option_list set;
} choices;

static mcp_status save(const char *folder, const char *name, mcp_text *t, mcp_error *err)
{
    char      *path = mcp_sprintf("%s/%s", folder, name);
    mcp_status st = !path || t->failed ? mcp_fail(err, MCP_ERR_MEMORY, "out of memory for %s", name)
                                       : mcp_file_write(path, t->data, t->length, err);
    mcp_free(path);
    mcp_text_free(t);
    return st;
}

/* A new run of a task, or the one that was begun. */
static mcp_status open_task(exchange *x, const choices *c, learn_view *v, mcp_error *err)
{
    mcp_learn_settings s;
    mcp_status         st = mcp_task_load(&x->task, c->what, c->set.item, c->set.count, err);
    if (st != MCP_OK) return st;
    mcp_learn_settings_default(&s);
    s.seed = c->seed == UINT64_MAX ? x->task->seed : c->seed;
    if (c->folder) snprintf(x->folder, sizeof x->folder, "%s", c->folder);
    else { /* as mcpilco learn calls it */
        snprintf(x->folder, sizeof x->folder, "runs/%s-%llu", x->task->name, (unsigned long long)s.seed);
        for (char *p = x->folder + 5; *p; p++)
            if (!isalnum((unsigned char)*p) && !strchr("-_.", *p)) *p = '_';
    }
    s.folder = x->folder;
    s.resume = 1;
    s.algorithm = c->algorithm;
    s.threads = c->threads;
    s.trials = c->trials ? c->trials : x->task->trials;
    s.progress = view_progress;
    s.progress_context = v;
    return mcp_learner_create(&x->learner, x->task, &s, err);
}

/* exploration: a table of inputs */

static mcp_status write_inputs_csv(const mcp_run *r, const char *folder, const double *u, mcp_error *err)
{
    const char *name[1 + MCP_MAX_INPUT] = {"t"};
    int         nu = r->system->nu, n = r->system->steps;
    char       *path = mcp_sprintf("%s/inputs.csv", folder);
    double     *table = mcp_calloc((size_t)n * (size_t)(nu + 1), sizeof *table);
    mcp_status  st = MCP_ERR_MEMORY;
    for (int j = 0; j < nu; j++) name[1 + j] = r->task->input[j].name;
    if (!path || !table) mcp_fail(err, MCP_ERR_MEMORY, "out of memory for the inputs");
    else {
        for (int k = 0; k < n; k++) {
            table[k * (nu + 1)] = k * r->system->ts;
            memcpy(table + k * (nu + 1) + 1, u + k * nu, (size_t)nu * sizeof *u);
        }
        st = mcp_csv_write(path, nu + 1, name, n, table, err);
    }
    mcp_free(path);
    mcp_free(table);
    return st;
}

static mcp_status write_exploration(const mcp_learner *l, const char *folder, const char *prefix,
                                    mcp_error *err)
{
    const mcp_run *r = l->run;
    double        *u = mcp_calloc((size_t)r->system->steps * (size_t)r->system->nu + 1, sizeof *u);
    mcp_status st =
        u ? mcp_exchange_inputs(l, u, err) : mcp_fail(err, MCP_ERR_MEMORY, "out of memory for the inputs");
    if (st == MCP_OK) st = write_inputs_csv(r, folder, u, err);
    if (st == MCP_OK) st = mcp_export_inputs(r, u, folder, prefix, err);
    mcp_free(u);
    return st;
}

/* policy: the controller and its forecast */

static mcp_status write_forecast(const mcp_learner *l, const char *folder, mcp_error *err)
{
    const mcp_run      *r = l->run;
    const mcp_forecast *f = l->next->forecast;
    mcp_text            t = {0};
    mcp_text_add(&t, "t");
    for (int i = 0; i < f->nx; i++)
        mcp_text_add(&t, ",low.%s,median.%s,high.%s", r->task->state[i], r->task->state[i],
                     r->task->state[i]);
    for (int k = 0; k < f->samples; k++) {
        mcp_text_add(&t, "\n%.9g", k * r->system->ts);
        for (int i = 0, at = k * f->nx; i < f->nx; i++, at++)
            mcp_text_add(&t, ",%.9g,%.9g,%.9g", f->low[at], f->median[at], f->high[at]);
    }
    mcp_text_add(&t, "\n");
    return save(folder, "forecast.csv", &t, err);
}

static mcp_status write_policy(const mcp_learner *l, const choices *c, const char *folder, const char *prefix,
                               mcp_error *err)
{
    mcp_run_item        with = *l->next; /* beside it, a trial for the self-test */
    mcp_export_settings s = {.prefix = prefix, .single = c->single};
    mcp_export_info     info = {0};
    mcp_status          st = mcp_exchange_rehearse(l, &with.trial, err);
    if (st == MCP_OK) st = mcp_export_controller(l->run, &with, folder, &s, &info, err);
    if (st == MCP_OK) st = write_forecast(l, folder, err);
    mcp_trial_free(with.trial);
    return st;
}

/* for people */

static void header(mcp_text *t, const mcp_task *task)
{
    mcp_text_add(t, "t");
    for (int i = 0; i < task->ny; i++) mcp_text_add(t, ",%s", task->measured[i].name);
    for (int j = 0; j < task->nu; j++) mcp_text_add(t, ",%s", task->input[j].name);
}

static mcp_status write_notes(const mcp_learner *l, const exchange *x, const char *folder, const char *prefix,
                              mcp_error *err)
{
    const mcp_run        *r = l->run;
    const mcp_learn_info *i = &l->next->info;
    mcp_text              t = {0};
    if (i->explored)
        mcp_text_add(&t,
                     "Exploration %d of %d: play the rows of inputs.csv (the same as a C table: "
                     "%s_inputs.h), one every %.9g s, and\n"
                     "record.\n",
                     i->number, r->task->explore.trials, prefix, r->system->ts);
    else
        mcp_text_add(&t,
                     "Trial %d: run the controller in %s.c every %.9g s for %g s and record. %s.h says how "
                     "to call it; make check\n"
                     "tests it (on the last trial's measurements). forecast.csv is what should happen: cost "
                     "%.3g +- %.2g, success %.0f %%,\n"
                     "a limit reached %.0f %%.\n",
                     i->number, prefix, r->system->ts, r->task->trial, prefix, i->forecast_cost,
                     i->forecast_std, 100 * i->forecast_success, 100 * i->forecast_limit);
    mcp_text_add(&t, "\nWhat to record: a CSV file with the header\n    ");
    header(&t, r->task);
    mcp_text_add(&t,
                 "\nand %d rows: time in s, what was measured then, what was commanded from then on (nothing "
                 "in the last row).\n\nThen:\n"
                 "    mcpilco add %s data.csv\n    mcpilco next %s\n",
                 r->system->steps + 1, x->folder, x->folder);
    return save(folder, "README.txt", &t, err);
}

static mcp_status write_files(const mcp_learner *l, const exchange *x, const choices *c, const char *folder,
                              mcp_error *err)
{
    char       prefix[41];
    mcp_status st = mcp_folder_make(folder, err);
    if (c->prefix) snprintf(prefix, sizeof prefix, "%s", c->prefix);
    else c_name(prefix, sizeof prefix, l->run->task->name);
    if (st == MCP_OK)
        st = l->next->info.explored ? write_exploration(l, folder, prefix, err)
                                    : write_policy(l, c, folder, prefix, err);
    return st == MCP_OK ? write_notes(l, x, folder, prefix, err) : st;
}

static int tell(const mcp_learner *l, const exchange *x, const choices *c, const char *folder)
{
    const mcp_learn_info *i = &l->next->info;
    if (c->json)
        return term_json(json_pack("{s:s, s:s, s:s, s:i, s:o}", "run", x->folder, "folder", folder, "kind",
                                   i->explored ? "exploration" : "policy", "number", i->number, "info",
                                   view_info_json(i)));
    if (c->quiet) return 0;
    if (i->explored)
        printf("exploration %d of %d: play %s/inputs.csv\n", i->number, l->run->task->explore.trials, folder);
    else
        printf("trial %d: run the controller in %s\nforecast: cost %.3g +- %.2g, success %.0f %%, a limit "
               "%.0f %%\n",
               i->number, folder, i->forecast_cost, i->forecast_std, 100 * i->forecast_success,
               100 * i->forecast_limit);
    printf("%s/README.txt says what to record; then: mcpilco add %s data.csv\n", folder, x->folder);
    return 0;
}

static int next(const choices *c)
{
    static learn_view view;
    exchange          x = {0};
    mcp_error         err = {MCP_OK, ""};
    const mcp_learn_info *info = NULL;
    char              folder[4300];
    int               code = 0;
    view_begin(&view, c->quiet || c->json ? VIEW_QUIET : term_is_live(stderr) ? VIEW_LIVE : VIEW_LINES, 1,
               0.0);
    mcp_status st = mcp_folder_exists(c->what) ? exchange_open_run(&x, c->what, c->threads, &view, &err)
                                               : open_task(&x, c, &view, &err);
    if (st == MCP_OK) st = mcp_learner_prepare(x.learner, &info, &err);
    view_clear(&view);
    if (st == MCP_OK) view_policy(&view, info);
    if (st == MCP_OK && info->forecast_limit > c->risk)
        st = mcp_fail(&err, MCP_ERR_PLANT,
                      "the policy of trial %d was not written: its forecast chance of reaching a limit is "
                      "%.0f %%, above the "
                      "allowed %.0f %%; add limits to the cost, or allow more risk",
                      info->number, 100 * info->forecast_limit, 100 * c->risk);
    if (st == MCP_OK) {
        if (c->out) snprintf(folder, sizeof folder, "%s", c->out);
        else
            snprintf(folder, sizeof folder, "%s/next/%s-%02d", x.folder, info->explored ? "explore" : "trial",
                     info->number);
        st = write_files(x.learner, &x, c, folder, &err);
    }
    if (x.learner) {
        mcp_error note = {MCP_OK, ""};
        mcp_run_state now = st == MCP_OK ? MCP_RUN_IS_WAITING : mcp_run_state_after(st);
        if (mcp_learner_close(x.learner, now, &note) != MCP_OK &&
            st == MCP_OK) {
            st = note.status;
            err = note;
        }
    }
    if (st == MCP_OK && x.learner) code = tell(x.learner, &x, c, folder);
    exchange_close(&x);
    return st == MCP_OK ? code : term_error("next", &err);
}

int cmd_next(int argc, char **argv)
{
    choices      c = {.seed = UINT64_MAX, .risk = 1.0};
    const option options[] = {
        {"--out", OPTION_TEXT, &c.out, 0, 0, "DIR", "folder for the files (RUN/next/trial-NN)", "-o"},
        {"--run", OPTION_TEXT, &c.folder, 0, 0, "DIR", "with a TASK: the run folder (runs/TASK-SEED)", NULL},
        {"--seed", OPTION_SEED, &c.seed, 0, 0, "S", "with a TASK: seed of the run (the task's)", NULL},
        {"--trials", OPTION_INT, &c.trials, 1, 999, "N", "with a TASK: policy trials wanted (the task's)",
         NULL},
        {"--algorithm", OPTION_TEXT, &c.algorithm, 0, 0, "NAME", "with a TASK: the algorithm (the task's)",
         NULL},
        {"--set", OPTION_LIST, &c.set, 0, 0, "KEY=VALUE", "with a TASK: change a value of the task file",
         NULL},
        {"--risk", OPTION_NUMBER, &c.risk, 0, 1, "P",
         "write no policy whose forecast chance of a limit is above P (1)", NULL},
        {"--float", OPTION_FLAG, &c.single, 0, 0, NULL, "the controller in single precision", NULL},
        {"--prefix", OPTION_TEXT, &c.prefix, 0, 0, "NAME", "of files and functions (the task's name)", NULL},
        {"--threads", OPTION_INT, &c.threads, 0, 1024, "K", "0: one per core", NULL},
        {"--json", OPTION_FLAG, &c.json, 0, 0, NULL, "one JSON object on standard output", NULL},
        {"--quiet", OPTION_FLAG, &c.quiet, 0, 0, NULL, "say nothing but errors", NULL},
    };
    const command verb = {
        .verb = "next",
        .synopsis = "RUN|TASK [options]",
        ONE_ARGUMENT(options, &c.what),
        .about = "For rigs that cannot be driven live: writes what to run next. With a task it begins a run; "
                 "with a run it goes on. An\n"
                 "exploration is a table of inputs (CSV and C); a policy is the exported controller with its "
                 "forecast. Record the trial,\n"
                 "give it to mcpilco add, and ask for the next. Asking twice writes the same.",
        .examples =
            "  mcpilco next my-rig.yaml\n      begins runs/my-rig-1 and writes the first exploration\n"
            "  mcpilco add runs/my-rig-1 data.csv && mcpilco next runs/my-rig-1\n      and so on\n",
    };
    int code = options_parse(&verb, argc, argv);
    if (code != OPTIONS_GO) return code;
    term_catch_signals();
    if (mcp_folder_exists(c.what) &&
        (c.set.count || c.folder || c.algorithm || c.trials || c.seed != UINT64_MAX)) {
        fprintf(stderr,
                "mcpilco next: %s is a run; --run, --seed, --trials, --algorithm and --set begin one, with a "
                "task\n",
                c.what);
        return 2;
    }
    return next(&c);
}
