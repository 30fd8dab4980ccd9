/* task_builder.c - the names that every program of a task may use. */
#include "task/task_builder.h"

#include <string.h>

static int is_random(const mcp_random_list *random, const char *name)
{
    for (int i = 0; random && i < random->n; i++)
        if (!strcmp(random->item[i].name, name)) return 1;
    return 0;
}

/* Ts, what is random as inputs, the other constants. */
static mcp_status begin(mcp_builder **out, const mcp_task *task, const mcp_random_list *random,
                        mcp_error *err)
{
    *out          = NULL;
    mcp_status st = mcp_builder_create(out, err);
    if (st == MCP_OK && task->rate > 0.0) st = mcp_builder_constant(*out, "Ts", 1.0 / task->rate, err);
    for (int i = 0; random && i < random->n && st == MCP_OK; i++)
        st = mcp_builder_input(*out, random->item[i].name, err);
    for (int i = 0; i < task->constants.n && st == MCP_OK; i++) {
        const mcp_named_expr *c = &task->constants.item[i];
        if (!is_random(random, c->name))
            st = mcp_builder_define(*out, c->name, c->expr.text, c->expr.at, err);
    }
    if (st != MCP_OK) {
        mcp_builder_free(*out);
        *out = NULL;
    }
    return st;
}

mcp_status mcp_task_builder(mcp_builder **out, const mcp_task *task, mcp_error *err)
{
    return begin(out, task, NULL, err);
}

mcp_status mcp_task_builder_plant(mcp_builder **out, const mcp_task *task, mcp_error *err)
{
    const mcp_task_plant *p  = &task->plant;
    mcp_status            st = begin(out, task, &p->random, err);
    if (st == MCP_OK) st = mcp_task_builder_states(*out, task, err);
    if (st == MCP_OK) st = mcp_task_builder_inputs(*out, task, err);
    for (int i = 0; st == MCP_OK && i < p->hidden.n; i++)
        st = mcp_builder_input(*out, p->hidden.item[i].name, err);
    for (int i = 0; st == MCP_OK && i < p->let.n; i++)
        st = mcp_builder_define(*out, p->let.item[i].name, p->let.item[i].expr.text, p->let.item[i].expr.at,
                                err);
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
