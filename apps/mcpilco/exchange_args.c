/* exchange_args.c - go on with a run folder: same task, seed, algorithm and overrides. */
#include "exchange_args.h"

#include <stdio.h>

mcp_status exchange_open_run(exchange *x, const char *folder, int threads, learn_view *v, mcp_error *err)
{
    mcp_learn_settings s;
    mcp_status         st = mcp_run_open(&x->run, folder, NULL, err);
    if (st != MCP_OK) return st;
    mcp_learn_settings_default(&s);
    s.folder = folder;
    s.resume = 1;
    s.seed = x->run->seed;
    s.algorithm = x->run->algorithm->name;
    s.trials = x->run->wanted;
    s.threads = threads;
    s.progress = view_progress;
    s.progress_context = v;
    snprintf(x->folder, sizeof x->folder, "%s", folder);
    return mcp_learner_create(&x->learner, x->run->task, &s, err);
}

void exchange_close(exchange *x)
{
    mcp_learner_free(x->learner);
    mcp_run_free(x->run);
    mcp_task_free(x->task);
    *x = (exchange){0};
}
