/* dump.c - every setting with its value as JSON: the tree the tables have read, defaults included. */
#include <stdio.h>
#include <string.h>

#include "math/arena.h"
#include "math/text.h"
#include "task/keys.h"

static void value(mcp_text *out, const mcp_yaml *n, int indent)
{
    if (n->kind == MCP_YAML_SCALAR) {
        if (n->known == 1)
            mcp_text_add(out, "%.17g", n->number);
        else if (n->known == 2)
            mcp_text_add(out, n->number != 0.0 ? "true" : "false");
        else
            mcp_text_quoted(out, n->text);
        return;
    }
    const char *brackets = n->kind == MCP_YAML_LIST ? "[]" : "{}";
    mcp_text_add(out, "%c", brackets[0]);
    for (const mcp_yaml *c = n->first; c; c = c->next) {
        mcp_text_add(out, "%s\n%*s", c == n->first ? "" : ",", indent + 2, "");
        if (c->key) {
            mcp_text_quoted(out, c->key);
            mcp_text_add(out, ": ");
        }
        value(out, c, indent + 2);
    }
    if (n->first) mcp_text_add(out, "\n%*s", indent, "");
    mcp_text_add(out, "%c", brackets[1]);
}

mcp_status mcp_task_dump(const mcp_task *task, char **json, mcp_error *err)
{
    mcp_text out = {0};
    *json        = NULL;
    if (!task->tree)
        return mcp_fail(err, MCP_ERR_ARG, "this task was not read from a file and cannot be dumped");
    value(&out, task->tree, 0);
    mcp_text_add(&out, "\n");
    return mcp_text_take(&out, json, err);
}

void mcp_task_text_free(char *text)
{
    mcp_free(text);
}
