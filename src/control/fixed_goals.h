/* fixed_goals.h - a task's system with goals that are given instead of drawn. */
#ifndef MCP_FIXED_GOALS_H
#define MCP_FIXED_GOALS_H

#include "control/system.h"

typedef struct {
    mcp_system      system; /* use this one; it borrows what the other one has */
    mcp_task        task;
    mcp_task_random goal[MCP_MAX_RANDOM];
} mcp_fixed_goals;

/* texts: "name=value", one for each goal that is to stay; the others are drawn as ever. */
mcp_status mcp_fix_goals(mcp_fixed_goals *out, const mcp_system *s, int count, const char *const *texts,
                         mcp_error *err);

#endif
