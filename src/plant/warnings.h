/* warnings.h - what a task file says without being wrong, and is probably not meant: one list for whoever
 * shows it. */
#ifndef MCP_WARNINGS_H
#define MCP_WARNINGS_H

#include "plant/plant_handle.h"

enum { MCP_MAX_WARNINGS = 3 * MCP_MAX_STATE };

typedef struct {
    int  n;
    char text[MCP_MAX_WARNINGS][400]; /* one sentence each: what was found, what to do */
} mcp_warning_list;

/* explored: a trial whose true state is known, to see how fast things move; NULL: none. */
mcp_status mcp_task_warnings(const mcp_system *s, const mcp_trial *explored, mcp_warning_list *out,
                             mcp_error *err);

#endif
