/* task.h - load a task file: a robot, what is measured, how it is observed, what is wanted. */
#ifndef MCPILCO_TASK_H
#define MCPILCO_TASK_H

#include <stddef.h>
#include <stdint.h>

#include "mcpilco/error.h"
#include "mcpilco/registry.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mcp_task mcp_task;

/* overrides: "key=value" texts, e.g. "optimise.particles=100"; may be NULL. The task keeps them: a run folder
 * notes them, and a controller loaded from there is the one that was learned. On failure *out is NULL. */
MCP_API mcp_status mcp_task_load(mcp_task **out, const char *file, const char *const *overrides, int count,
                                 mcp_error *err) MCP_ANY_THREAD;
/* The same from memory; name stands for the file in messages and as base of relative paths. */
MCP_API mcp_status mcp_task_parse(mcp_task **out, const char *name, const char *text,
                                  const char *const *overrides, int count, mcp_error *err) MCP_ANY_THREAD;
/* All there is to say about loading. */
typedef struct {
    size_t      size; /* of this struct, written by mcp_task_source_default */
    const char *file; /* to read; with text: its name in messages and as base of relative paths */
    const char *text; /* NULL: in the file */
    const char *const  *overrides;
    int                 override_count;
    const mcp_registry *registry; /* kernels of your own that the task names; NULL: none */
} mcp_task_source;
MCP_API void mcp_task_source_init(mcp_task_source *s, size_t size) MCP_ANY_THREAD;
#define mcp_task_source_default(s) mcp_task_source_init((s), sizeof(mcp_task_source))
MCP_API mcp_status mcp_task_read(mcp_task **out, const mcp_task_source *s, mcp_error *err) MCP_ANY_THREAD;
MCP_API void       mcp_task_free(mcp_task *task) MCP_ONE_THREAD;

/* What a task says, in words and numbers. */
typedef enum {
    MCP_NAMES_STATES = 0,
    MCP_NAMES_INPUTS,
    MCP_NAMES_MEASURED,
    MCP_NAMES_TARGETS,  /* the states whose change a GP predicts */
    MCP_NAMES_FEATURES, /* of the GPs, as written */
    MCP_NAMES_LIMITS
} mcp_names;
MCP_API int mcp_task_count(const mcp_task *task, mcp_names of) MCP_READS;
/* NULL past the last. */
MCP_API const char *mcp_task_name(const mcp_task *task, mcp_names of, int i) MCP_READS;
/* "" where it has none. */
MCP_API const char *mcp_task_unit(const mcp_task *task, mcp_names of, int i) MCP_READS;
MCP_API const char *mcp_task_title(const mcp_task *task) MCP_READS; /* or its name */
MCP_API double      mcp_task_rate(const mcp_task *task) MCP_READS;  /* Hz */
MCP_API int         mcp_task_steps(const mcp_task *task) MCP_READS; /* of a trial: T; it has T + 1 samples */
MCP_API int         mcp_task_trials(const mcp_task *task) MCP_READS; /* policy trials by default */
MCP_API uint64_t    mcp_task_seed(const mcp_task *task) MCP_READS;
/* |input i| is at most this; 0 past the last. */
MCP_API double      mcp_task_input_limit(const mcp_task *task, int i) MCP_READS;
/* Input i lies between these; 0, with both 0, past the last. */
MCP_API int         mcp_task_input_range(const mcp_task *task, int i, double *low, double *high) MCP_READS;
/* The text it was read from. */
MCP_API const char *mcp_task_text(const mcp_task *task) MCP_READS;

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
