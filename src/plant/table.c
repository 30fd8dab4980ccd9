/* table.c - read a CSV file of numbers: every mistake names file, line and column. */
#include "plant/table.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "math/arena.h"

enum { MAX_COLS = 1024 };

char *mcp_path_beside(const char *task_file, const char *path)
{
    const char *slash = task_file ? strrchr(task_file, '/') : NULL;
    if (path[0] == '/' || !slash) return mcp_strdup(path);
    return mcp_sprintf("%.*s/%s", (int)(slash - task_file), task_file, path);
}

int mcp_table_find(const mcp_table *t, const char *name)
{
    for (int i = 0; i < t->cols; i++)
        if (!strcmp(t->name[i], name)) return i;
    return -1;
}

void mcp_table_free(mcp_table *t)
{
    for (int i = 0; t->name && i < t->cols; i++) mcp_free(t->name[i]);
    mcp_free(t->name);
    mcp_free(t->data);
    *t = (mcp_table){0};
}

/* Cuts the line at its commas, in place; blanks and quotes around a cell go. */
static int cut(char *line, char **cell)
{
    int n = 0;
    for (char *p = line; p && n < MAX_COLS;) {
        char *end = strchr(p, ',');
        if (end) *end = 0;
        while (isspace((unsigned char)*p) || *p == '"') p++;
        char *tail = p + strlen(p);
        while (tail > p && (isspace((unsigned char)tail[-1]) || tail[-1] == '"')) *--tail = 0;
        cell[n++] = p;
        p = end ? end + 1 : NULL;
    }
    return n;
}

static mcp_status take_names(mcp_table *t, char **cell, int n, mcp_error *err)
{
    t->name = mcp_calloc((size_t)n, sizeof *t->name);
    if (!t->name) return mcp_fail(err, MCP_ERR_MEMORY, "out of memory reading a table");
    t->cols = n;
    for (int i = 0; i < n; i++)
        if (!(t->name[i] = mcp_strdup(cell[i]))) return mcp_fail(err, MCP_ERR_MEMORY, "out of memory reading a table");
    return MCP_OK;
}

static mcp_status take_row(mcp_table *t, int *room, char **cell, int n, const char *file, int line, mcp_error *err)
{
    if (n != t->cols)
        return mcp_fail(err, MCP_ERR_IO, "%s:%d: %d values under %d names; every row needs one value per column", file, line, n,
                        t->cols);
    if (t->rows == *room) {
        int     more = *room ? 2 * *room : 256;
        double *data = mcp_realloc(t->data, (size_t)more * (size_t)t->cols * sizeof *data);
        if (!data) return mcp_fail(err, MCP_ERR_MEMORY, "out of memory reading %s", file);
        t->data = data;
        *room   = more;
    }
    double *row = t->data + (size_t)t->rows * (size_t)t->cols;
    for (int i = 0; i < n; i++) {
        char *end;
        row[i] = *cell[i] ? strtod(cell[i], &end) : NAN;
        if (*cell[i] && *end)
            return mcp_fail(err, MCP_ERR_IO, "%s:%d: column %s: \"%.40s\" is not a number", file, line, t->name[i], cell[i]);
    }
    t->rows++;
    return MCP_OK;
}

mcp_status mcp_table_read(mcp_table *out, const char *file, mcp_error *err)
{
    char      *text = NULL, *cell[MAX_COLS];
    size_t     size = 0;
    int        line = 0, room = 0;
    mcp_status st   = MCP_OK;
    FILE      *f    = fopen(file, "r");

    *out = (mcp_table){0};
    if (!f) return mcp_fail(err, MCP_ERR_IO, "%s: %s", file, strerror(errno));
    while (st == MCP_OK && getline(&text, &size, f) >= 0) {
        const char *p = text;
        line++;
        while (isspace((unsigned char)*p)) p++;
        if (!*p || *p == '#') continue;
        int n = cut(text, cell);
        st = out->name ? take_row(out, &room, cell, n, file, line, err) : take_names(out, cell, n, err);
    }
    if (st == MCP_OK && ferror(f)) st = mcp_fail(err, MCP_ERR_IO, "%s: %s", file, strerror(errno));
    if (st == MCP_OK && !out->rows) st = mcp_fail(err, MCP_ERR_IO, "%s: no rows; the first line holds the names, then one row a sample", file);
    free(text);
    fclose(f);
    if (st != MCP_OK) mcp_table_free(out);
    return st;
}
