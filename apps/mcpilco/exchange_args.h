/* exchange_args.h - a learner for verbs that go on with a run folder by themselves. */
#ifndef MCP_EXCHANGE_ARGS_H
#define MCP_EXCHANGE_ARGS_H

#include "learn/exchange.h"
#include "learn_view.h"

typedef struct {
    mcp_run     *run;  /* the folder as it was; NULL when a task was given */
    mcp_task    *task; /* NULL when a run was given */
    mcp_learner *learner;
    char         folder[4096];
} exchange;

/* Of a run folder, with everything as it was begun. */
mcp_status exchange_open_run(exchange *x, const char *folder, int threads, learn_view *v, mcp_error *err);
void       exchange_close(exchange *x);

#endif
