/* pool.h - a few threads that take numbered tasks. Which thread runs a task is not fixed; what a task
 * computes must not depend on it. */
#ifndef MCP_POOL_H
#define MCP_POOL_H

#include "mcpilco/error.h"

typedef struct mcp_pool mcp_pool;
typedef void mcp_pool_fn(void *context, int task,
                         int worker); /* worker: 0 .. threads-1, for scratch memory */

/* threads <= 0: one per available core. The calling thread is worker 0. */
mcp_status mcp_pool_create(mcp_pool **out, int threads, mcp_error *err);
void       mcp_pool_free(mcp_pool *p);
int        mcp_pool_threads(const mcp_pool *p); /* 1 for NULL */
int        mcp_pool_cores(void);                   /* cores this process may run on */
/* Returns when all tasks are done. pool == NULL runs them here, in order. Not reentrant: a task may not call
 * run on the pool that runs it. */
void mcp_pool_run(mcp_pool *p, int tasks, mcp_pool_fn *fn, void *context);

#endif
