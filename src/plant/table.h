/* table.h - a CSV file of numbers with names in its first line. Empty cells and "nan" are NaN; # starts a comment line. */
#ifndef MCP_TABLE_H
#define MCP_TABLE_H

#include "mcpilco/error.h"

typedef struct {
    int     rows, cols;
    char  **name;
    double *data; /* [row][col] */
} mcp_table;

mcp_status mcp_table_read(mcp_table *out, const char *file, mcp_error *err);
void       mcp_table_free(mcp_table *t);
/* Column of that name, or -1. */
int mcp_table_find(const mcp_table *t, const char *name);

/* A path written in a task file is relative to that file's folder. Returned text: mcp_free it; NULL = no memory. */
char *mcp_path_beside(const char *task_file, const char *path);

#endif
