/* task_change.h - what differs between two versions of a task, and what that means for recorded trials. */
#ifndef MCP_TASK_CHANGE_H
#define MCP_TASK_CHANGE_H

#include "task/task_data.h"

typedef enum {
    MCP_CHANGE_NONE = 0, /* learning goes on as if nothing had changed: comments, titles, pictures, wires */
    MCP_CHANGE_LEARNING, /* another goal, policy, model or setting: recorded trials keep their worth      */
    MCP_CHANGE_ROBOT     /* another plant, rate, state, input or sensor: recorded trials are of another   */
} mcp_change_kind;

typedef struct {
    mcp_change_kind kind;            /* the gravest */
    char            key[96];         /* where, e.g. model.kernel */
    char            was[64], is[64]; /* its two values, shortened; "nothing" where the key is not there */
} mcp_task_change;

mcp_status mcp_task_change_find(const mcp_task *was, const mcp_task *is, mcp_task_change *out,
                                mcp_error *err);

#endif
