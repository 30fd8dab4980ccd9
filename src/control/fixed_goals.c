/* fixed_goals.c - "r=0.3": a goal without spread. */
#include "control/fixed_goals.h"

#include <math.h>
#include <string.h>

#include "math/number.h"

int mcp_task_find_goal(const mcp_task *t, const char *name)
{
    for (int i = 0; i < t->goals.n; i++)
        if (!strcmp(t->goals.item[i].name, name)) return i;
    return -1;
}

static mcp_status fix(mcp_fixed_goals *out, const char *text, mcp_error *err)
{
    const char  *equals = strchr(text, '=');
    char        *end = NULL;
    const double value = equals ? mcp_number_read(equals + 1, &end) : NAN;
    if (!equals || end == equals + 1 || *end || !isfinite(value))
        return mcp_fail(err, MCP_ERR_ARG, "goal: found \"%.80s\", expected NAME=NUMBER", text);
    for (int i = 0; i < out->task.goals.n; i++) {
        const size_t n = strlen(out->goal[i].name);
        if (strncmp(out->goal[i].name, text, n) || text + n != equals) continue;
        out->goal[i].uniform = 0;
        out->goal[i].mean = value;
        out->goal[i].std = 0.0;
        return MCP_OK;
    }
    return mcp_fail(err, MCP_ERR_ARG, "goal: found \"%.*s\", expected %s%s", (int)(equals - text), text,
                    out->task.goals.n ? "a goal of the task, such as " : "a task with goals",
                    out->task.goals.n ? out->goal[0].name : "");
}

mcp_status mcp_fix_goals(mcp_fixed_goals *out, const mcp_system *s, int count, const char *const *texts,
                         mcp_error *err)
{
    mcp_status st = MCP_OK;
    out->system = *s;
    out->task   = *s->task;
    out->system.task = &out->task;
    if (out->task.goals.n)
        memcpy(out->goal, s->task->goals.item, (size_t)out->task.goals.n * sizeof *out->goal);
    out->task.goals.item = out->goal;
    for (int i = 0; i < count && st == MCP_OK; i++) st = fix(out, texts[i], err);
    return st;
}
