/* cmd_show.c - mcpilco show: what happened in a run, in words and numbers. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "io/file.h"
#include "learn/diagnosis.h"
#include "learn_finish.h"
#include "learn_view.h"
#include "math/arena.h"
#include "options.h"
#include "run_args.h"
#include "term.h"

static double data_seconds(const mcp_run *r)
{
    double s = 0.0;
    for (int i = 0; i < r->items; i++)
        if (r->item[i]->trial->samples > 1) s += (r->item[i]->trial->samples - 1) * r->system->ts;
    return s;
}

/* A run that says it is running, while no process holds its lock, was killed. */
static const char *status_of(const mcp_run *r)
{
    mcp_lock *lock;
    if (strcmp(r->status, "running") || mcp_lock_take(&lock, r->folder, NULL) != MCP_OK) return r->status;
    mcp_lock_free(lock);
    return "killed (mcpilco learn --resume goes on with it)";
}

static void print_head(const mcp_run *r)
{
    printf("%s: task %s, seed %llu, %s, %s\n", r->folder, r->task->name, (unsigned long long)r->seed,
           r->algorithm->name, status_of(r));
    printf("%d exploration and %d of %d policy trials, %.1f s of data at %g Hz\n", r->explored,
           mcp_run_trials(r), r->wanted, data_seconds(r), r->task->rate);
    for (int i = 0; i < r->task->overrides; i++)
        printf("%s%s%s", i ? ", " : "set: ", r->task->override[i], i + 1 == r->task->overrides ? "\n" : "");
}

/* Noise of each GP of the last model: at its floor means that the smoother, not the likelihood, decided. */
static void print_model(const mcp_run *r)
{
    double *hyper[2 * MCP_MAX_STATE] = {0};
    int     last = mcp_run_trials(r);
    if (last < 1 || mcp_load_hyper(r, last, hyper, NULL) != MCP_OK) last = 0;
    for (int g = 0; last && g < r->system->ngp; g++) {
        int n = mcp_kernel_params(r->system->kernel[g]);
        printf("model of %s: noise %.3g%s", r->task->state[r->task->gp[g].state], exp(hyper[g][n]),
               n ? "; " : "");
        for (int i = 0; i < n && i < 12; i++) {
            const char *name = mcp_kernel_param_name(r->system->kernel[g], i), *log = strstr(name, "log_");
            const char *rest = log ? log + 4 : name, *index = strrchr(rest, '[');
            int feature =
                index && (strstr(rest, "lengthscale") || strstr(rest, "diag")) ? atoi(index + 1) : -1;
            printf("%s%.*s", i ? ", " : "", log ? (int)(log - name) : 0, name);
            if (feature >= 0 && feature < r->system->nf)
                printf("%.*s of %s", (int)strcspn(rest, "["), rest, r->system->feature_text[feature]);
            else printf("%s", rest);
            printf(" %.3g", exp(hyper[g][i]));
        }
        printf("%s\n", n > 12 ? ", ..." : "");
    }
    for (int g = 0; g < 2 * MCP_MAX_STATE; g++) mcp_free(hyper[g]);
}

static void print_observer(const mcp_run *r)
{
    char why[400];
    for (int i = 0; i < mcp_task_seen(r->task); i++)
        if (mcp_observer_explain(r->system, i, why, sizeof why)) printf("observer of %s\n", why);
}

static void print_diagnosis(const mcp_run_item *it)
{
    const mcp_diagnosis *d = &it->diagnosis;
    if (!d->text[0] && !d->findings) return;
    printf("%s %d: %s\n", it->info.explored ? "exploration" : "trial", it->info.number, d->text);
    for (int i = 0; i < d->findings; i++) printf("  %s\n  -> %s\n", d->finding[i].text, d->finding[i].remedy);
}

static void print_finish(const mcp_run *r)
{
    char       what[160], more[400];
    mcp_finish f;
    mcp_finish_load(&f, r);
    if (!f.known) return;
    mcp_finish_headline(&f, what, sizeof what, more, sizeof more);
    printf("%s %s\n", what, more);
}

static int show(const mcp_run *r, int json)
{
    mcp_learn_info *info = mcp_calloc((size_t)r->items + 1, sizeof *info);
    if (!info) return 1;
    for (int i = 0; i < r->items; i++) info[i] = r->item[i]->info;
    if (json) {
        json_t *list = json_array();
        for (int i = 0; i < r->items; i++) json_array_append_new(list, finish_item_json(r->item[i]));
        json_t *o =
            json_pack("{s:s, s:s, s:s, s:s, s:I, s:i, s:f, s:o}", "run", r->folder, "task", r->task->name,
                      "algorithm", r->algorithm->name, "status", r->status, "seed", (json_int_t)r->seed,
                      "wanted", r->wanted, "data_s", data_seconds(r), "trials", list);
        mcp_finish f;
        mcp_finish_load(&f, r);
        json_object_set_new(o, "finish", f.known ? mcp_finish_to_json(&f) : json_null());
        mcp_free(info);
        return term_json(o);
    }
    print_head(r);
    view_table(info, r->items, r->system->ts);
    print_finish(r);
    for (int i = 0; i < r->items; i++) print_diagnosis(r->item[i]);
    print_model(r);
    print_observer(r);
    mcp_free(info);
    return 0;
}

int cmd_show(int argc, char **argv)
{
    int          json = 0;
    const char  *folder[1];
    const option options[] = {{"--json", OPTION_FLAG, &json, 0, 0, NULL, "one JSON object", NULL}};
    const command verb = {
        .verb = "show",
        .synopsis = "RUN [--json]",
        .options = options,
        .count = 1,
        .least = 1,
        .most = 1,
        .positional = folder,
        .about = "Says what happened in a run: the trials with forecast and outcome, which part is the weak "
                 "one, and the model.\n"
                 "\"in band\" is the share of states inside the particles' 5-95 % band; 90 % is what an "
                 "honest model reaches.",
        .examples = "  mcpilco show runs/cartpole-1\n",
    };
    int code = options_parse(&verb, argc, argv);
    if (code != OPTIONS_GO) return code;
    mcp_run *r;
    if ((code = open_run("show", folder[0], &r)) != 0) return code;
    code = show(r, json);
    mcp_run_free(r);
    return code;
}
