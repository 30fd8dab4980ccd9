/* cmd_evaluate.c - mcpilco evaluate: one policy, many runs, on the plant and on its model. */
#include <stdio.h>
#include <stdlib.h>

#include "commands.h"
#include "learn/evaluate.h"
#include "math/pool.h"
#include "options.h"
#include "realtime.h"
#include "run_args.h"
#include "term.h"

static int tell(void *context, int done, int runs)
{
    if (*(int *)context) {
        fprintf(stderr, "\r\033[Krun %d of %d", done, runs);
        fflush(stderr);
    }
    return term_stop();
}

static json_t *as_json(const mcp_evaluation *e)
{
    json_t *cost = json_array();
    for (int i = 0; i < e->runs; i++) json_array_append_new(cost, mcp_json_number(e->cost[i]));
    json_t *o = json_pack("{s:i, s:i, s:i, s:i}", "runs", e->runs, "successes", e->successes, "limits",
                          e->limits, "ended", e->ended);
    const struct { const char *key; double v;
    } n[] = {{"success_rate", (double)e->successes / e->runs},
             {"low", e->low},
             {"high", e->high},
             {"cost_p05", e->cost_p05},
             {"cost_median", e->cost_median},
             {"cost_p95", e->cost_p95},
             {"metric_p05", e->metric_p05},
             {"metric_median", e->metric_median},
             {"metric_p95", e->metric_p95},
             {"metric_mean", e->metric_mean},
             {"metric_max", e->metric_max}};
    for (size_t k = 0; k < sizeof n / sizeof *n; k++)
        json_object_set_new(o, n[k].key, mcp_json_number(n[k].v));
    json_object_set_new(o, "cost", cost);
    return o;
}

static void print_row(const char *where, const mcp_evaluation *e)
{
    char rate[64];
    snprintf(rate, sizeof rate, "%d of %d (%.1f %%)", e->successes, e->runs, 100.0 * e->successes / e->runs);
    printf("  %-14s %-24s %5.1f - %5.1f %%   %10.3f   %10.3f - %-10.3f %6d\n", where, rate, 100 * e->low,
           100 * e->high, e->cost_median, e->cost_p05, e->cost_p95, e->limits);
}

/* The policy's own model; a run whose model.json is gone is still worth its plant runs. */
static int on_model(const mcp_run *r, const mcp_run_item *it, const mcp_evaluate_settings *q, mcp_pool *pool,
                    mcp_evaluation *out)
{
    mcp_fit  *fit;
    mcp_error err;
    if (mcp_run_model(&fit, r, it->info.number, pool, &err) != MCP_OK ||
        mcp_evaluate_model(out, fit, it->theta, r->algorithm->true_state, q, pool, &err) != MCP_OK) {
        fprintf(stderr, "mcpilco evaluate: not on the model: %s\n", err.text);
        mcp_fit_free(fit);
        return 0;
    }
    mcp_fit_free(fit);
    return 1;
}

static int evaluate(const mcp_run *r, const mcp_run_item *it, int runs, uint64_t seed, int json,
                    const option_list *goals, mcp_pool *pool)
{
    mcp_evaluation plant, model = {0};
    mcp_error      err;
    int            live = !json && term_is_live(stderr), code = 0;
    const mcp_evaluate_settings q = {.trial = it->info.number,
                                     .runs = runs,
                                     .seed = seed,
                                     .progress = tell,
                                     .progress_context = &live,
                                     .goals = goals->item,
                                     .goal_count = goals->count};
    if (mcp_evaluate_plant(&plant, r->system, it->theta, &q, pool, &err) != MCP_OK)
        return term_error("evaluate", &err);
    if (live) fprintf(stderr, "\r\033[K");
    int have = on_model(r, it, &q, pool, &model);
    if (json) {
        json_t *o = json_pack("{s:s, s:i, s:I, s:o}", "run", r->folder, "policy", it->info.number, "seed",
                              (json_int_t)seed, "plant", as_json(&plant));
        json_object_set_new(o, "model", have ? as_json(&model) : json_null());
        code = term_json(o);
    } else {
        printf("policy of trial %d, learned from %d pairs; %d runs from fresh starts, seed %llu\n\n",
               it->info.number, it->info.data, runs, (unsigned long long)seed);
        printf("                 success                  95 %% interval      cost median       5 - 95 %%    "
               "       limits\n");
        print_row("on the plant", &plant);
        if (have) print_row("on its model", &model);
        printf("\n");
    }
    mcp_evaluation_clear(&plant);
    mcp_evaluation_clear(&model);
    return code;
}

int cmd_evaluate(int argc, char **argv)
{
    int          policy = 0, runs = 400, threads = 0, json = 0, yes = 0, realtime = 0;
    uint64_t     seed = UINT64_MAX;
    const char  *folder[1];
    option_list  goals = {0};
    const option options[] = {
        {"--policy", OPTION_INT, &policy, 1, 999, "K", "policy of trial K (the recommended one)", NULL},
        {"--runs", OPTION_INT, &runs, 1, 1000000, "N", "runs on the plant, and particles on the model (400)",
         NULL},
        {"--seed", OPTION_SEED, &seed, 0, 0, "S", "starts and noise (the run's seed)", NULL},
        {"--goal", OPTION_LIST, &goals, 0, 0, "NAME=VALUE",
         "a set-point of the task (goals) that is given instead of drawn; may be given often", NULL},
        {"--threads", OPTION_INT, &threads, 0, 1024, "K", "0: one per core; the result does not depend on it",
         NULL},
        {"--yes", OPTION_FLAG, &yes, 0, 0, NULL, "do not ask before a real plant moves", NULL},
        {"--realtime", OPTION_FLAG, &realtime, 0, 0, NULL,
         "lock memory, and a real-time scheduling class while the plant is in a trial", NULL},
        {"--json", OPTION_FLAG, &json, 0, 0, NULL, "one JSON object, with the cost of every run", NULL},
    };
    const command verb = {
        .verb = "evaluate",
        .synopsis = "RUN [options]",
        ONE_ARGUMENT(options, folder),
        .about = "Runs one policy many times from fresh starts with fresh noise: success rate with Wilson's "
                 "95 % interval, median and\n"
                 "5-95 % of the cumulative cost; then the same on the model it was learned with. Far apart: "
                 "the model is the weak part.",
        .examples = "  mcpilco evaluate runs/cartpole-1\n      the recommended policy, 400 runs\n"
                    "  mcpilco evaluate runs/cartpole-1 --policy 3 --runs 1000 --seed 5\n      an earlier "
                    "policy, more runs, other starts\n",
    };
    int code = options_parse(&verb, argc, argv);
    if (code != OPTIONS_GO) return code;

    mcp_run      *r;
    mcp_run_item *it;
    mcp_pool     *pool = NULL;
    mcp_error     err;
    if ((code = open_policy("evaluate", folder[0], policy, &r, &it)) != 0) return code;
    term_catch_signals();
    if (realtime) realtime_ask("evaluate");
    if (!mcp_plant_is_simulated(r->task) && !yes &&
             !term_confirm("The plant will move, many times. Is everybody clear of it?")) {
        fprintf(
            stderr,
            "mcpilco evaluate: the plant was not moved; answer y, or give --yes when no one can be asked\n");
        code = 2;
    } else if (mcp_pool_create(&pool, threads, &err) != MCP_OK)
        code = term_error("evaluate", &err);
    else {
        r->system->watch = term_watch();
        code = evaluate(r, it, runs, seed == UINT64_MAX ? r->seed : seed, json, &goals, pool);
    }
    mcp_pool_free(pool);
    mcp_run_free(r);
    return code;
}
