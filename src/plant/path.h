/* path.h - a path written in a task file is relative to that file's folder. */
#ifndef MCP_PATH_H
#define MCP_PATH_H

/* Returned text: mcp_free it; NULL = no memory. */
char *mcp_path_beside(const char *task_file, const char *path);

#endif
