/* task_builder.c - the names that every program of a task may use. */
#include "task/task_builder.h"

mcp_status mcp_task_builder(mcp_builder **out, const mcp_task *task, mcp_error *err)
{
    *out          = NULL;
    mcp_status st = mcp_builder_create(out, err);
    if (st == MCP_OK && task->rate > 0.0) st = mcp_builder_constant(*out, "Ts", 1.0 / task->rate, err);
    for (int i = 0; i < task->constants.n && st == MCP_OK; i++) {
        const mcp_named_expr *c = &task->constants.item[i];
        st                      = mcp_builder_define(*out, c->name, c->expr.text, c->expr.at, err);
    }
    if (st != MCP_OK) {
        mcp_builder_free(*out);
        *out = NULL;
    }
    return st;
}

mcp_status mcp_task_builder_states(mcp_builder *b, const mcp_task *task, mcp_error *err)
{
    mcp_status st = MCP_OK;
    for (int i = 0; i < task->nx && st == MCP_OK; i++) st = mcp_builder_input(b, task->state[i], err);
    return st;
}

mcp_status mcp_task_builder_inputs(mcp_builder *b, const mcp_task *task, mcp_error *err)
{
    mcp_status st = MCP_OK;
    for (int i = 0; i < task->nu && st == MCP_OK; i++) st = mcp_builder_input(b, task->input[i].name, err);
    return st;
}
