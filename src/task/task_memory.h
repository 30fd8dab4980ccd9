/* task_memory.h - memory of one task: many small pieces, freed together. */
#ifndef MCP_TASK_MEMORY_H
#define MCP_TASK_MEMORY_H

#include <stddef.h>

typedef struct mcp_task_memory mcp_task_memory;

mcp_task_memory *mcp_task_memory_create(void); /* NULL = out of memory */
void     mcp_task_memory_free(mcp_task_memory *b);
void *mcp_task_memory_get(mcp_task_memory *b, size_t n, size_t size); /* zeroed; NULL = out of memory */
char    *mcp_task_memory_text(mcp_task_memory *b, const char *s, size_t length); /* copy, NUL added */

#endif
