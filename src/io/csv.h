/* csv.h - tables of numbers with a header of names. Written with 17 digits: reading gives the same bits back.
 */
#ifndef MCP_CSV_H
#define MCP_CSV_H

#include "io/file.h"
#include "mcpilco/error.h"

typedef struct {
    int     columns, rows;
    char  **name;  /* [columns] */
    double *value; /* [row][column]; an empty field or "nan" is NaN */
} mcp_csv;

/* Header line, then numbers; separator comma, semicolon or tab (as the header has it); lines that start with
 * # and empty lines are skipped. Mistakes are reported as file:line. */
mcp_status mcp_csv_read(mcp_csv **out, const char *path, mcp_error *err);
mcp_status mcp_csv_parse(mcp_csv **out, const char *path, const char *text,
                         mcp_error *err); /* path: for messages */
void       mcp_csv_free(mcp_csv *c);
int        mcp_csv_find(const mcp_csv *c, const char *name); /* -1: no such column */
/* value [row][column]; NaN is written as an empty field. Whole or not at all (io/file.h). */
mcp_status mcp_csv_write(const char *path, int columns, const char *const *name, int rows,
                         const double *value, mcp_error *err);
mcp_status mcp_csv_write_in(const mcp_lock *own, const char *path, int columns, const char *const *name,
                            int rows, const double *value, mcp_error *err);

#endif
