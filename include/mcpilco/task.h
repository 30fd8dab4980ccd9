/* task.h - load a task file: a robot, what is measured, how it is observed, what is wanted. */
#ifndef MCPILCO_TASK_H
#define MCPILCO_TASK_H

#include "mcpilco/error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mcp_task mcp_task;

/* overrides: "key=value" texts, e.g. "optimise.particles=100"; may be NULL. On failure *out is NULL. */
MCP_API mcp_status mcp_task_load(mcp_task **out, const char *file, const char *const *overrides, int count,
                                 mcp_error *err) MCP_ANY_THREAD;
/* The same from memory; name stands for the file in messages and as base of relative paths. */
MCP_API mcp_status mcp_task_parse(mcp_task **out, const char *name, const char *text,
                                  const char *const *overrides, int count, mcp_error *err) MCP_ANY_THREAD;
MCP_API void       mcp_task_free(mcp_task *task) MCP_ONE_THREAD;

/* Every setting with its value, defaults included, as JSON text; free it with mcp_task_text_free. */
MCP_API mcp_status mcp_task_dump(const mcp_task *task, char **json, mcp_error *err) MCP_READS;
/* The reference of all keys as Markdown: what docs/task-file.md holds. */
MCP_API mcp_status mcp_task_help(char **markdown, mcp_error *err) MCP_ANY_THREAD;
/* The same keys as a JSON schema: for editors that complete and check YAML files. */
MCP_API mcp_status mcp_task_schema(char **json, mcp_error *err) MCP_ANY_THREAD;
MCP_API void       mcp_task_text_free(char *text) MCP_ANY_THREAD;

#ifdef __cplusplus
}
#endif
#endif
