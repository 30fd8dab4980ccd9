/* csv.c - read and write tables of numbers. */
#include "io/csv.h"

#include <math.h>
#include <string.h>

#include "io/file.h"
#include "math/arena.h"
#include "math/number.h"
#include "math/text.h"

enum { MOST_COLUMNS = 10000 }; /* names are compared with each other */

mcp_status mcp_csv_write_in(const mcp_lock *own, const char *path, int columns, const char *const *name,
                            int rows, const double *value, mcp_error *err)
{
    mcp_text t = {0};
    for (int c = 0; c < columns; c++) mcp_text_add(&t, "%s%s", c ? "," : "", name[c]);
    mcp_text_add(&t, "\n");
    for (int r = 0; r < rows; r++) {
        for (int c = 0; c < columns; c++) {
            double v = value[(size_t)r * (size_t)columns + (size_t)c];
            if (c) mcp_text_add(&t, ",");
            if (!isnan(v)) mcp_text_add(&t, "%.17g", v);
        }
        mcp_text_add(&t, "\n");
    }
    mcp_status st = t.failed ? mcp_fail(err, MCP_ERR_MEMORY, "%s: out of memory while writing it", path)
                             : mcp_file_write_in(own, path, t.data, t.length, err);
    mcp_text_free(&t);
    return st;
}

mcp_status mcp_csv_write(const char *path, int columns, const char *const *name, int rows,
                         const double *value, mcp_error *err)
{
    return mcp_csv_write_in(NULL, path, columns, name, rows, value, err);
}

typedef struct {
    const char *path;
    int         line;
    char        separator;
} place;

/* Cuts the next field off *rest (NULL after the last one of the line). */
static char *next_field(const place *w, char **rest)
{
    char *s = *rest;
    char *end = strchr(s, w->separator);
    *rest = end ? end + 1 : NULL;
    if (!end) end = s + strlen(s);
    *end = '\0';
    while (*s == ' ' || *s == '\t') s++;
    while (end > s && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r')) *--end = '\0';
    if (*s == '"' && end - s >= 2 && end[-1] == '"') {
        s++;
        end[-1] = '\0';
    }
    return s;
}

static int count_fields(const char *line, char separator)
{
    int n = 1;
    for (; *line; line++) n += *line == separator;
    return n;
}

static mcp_status read_header(mcp_csv *c, place *w, char *line, mcp_error *err)
{
    w->separator = strchr(line, ',') ? ',' : strchr(line, ';') ? ';' : strchr(line, '\t') ? '\t' : ',';
    int fields = count_fields(line, w->separator);
    if (fields > MOST_COLUMNS)
        return mcp_fail(err, MCP_ERR_IO, "%s:%d: the header has %d columns; at most %d can be read", w->path,
                        w->line, fields, MOST_COLUMNS);
    c->name = mcp_calloc((size_t)fields, sizeof *c->name);
    if (!c->name) return mcp_fail(err, MCP_ERR_MEMORY, "%s: out of memory while reading it", w->path);
    for (char *rest = line; rest;) {
        char *field = next_field(w, &rest);
        if (!*field)
            return mcp_fail(err, MCP_ERR_IO, "%s:%d: column %d of the header has no name", w->path, w->line,
                            c->columns + 1);
        if (mcp_csv_find(c, field) >= 0)
            return mcp_fail(err, MCP_ERR_IO, "%s:%d: the header names \"%.60s\" twice", w->path, w->line,
                            field);
        c->name[c->columns] = mcp_strdup(field);
        if (!c->name[c->columns++])
            return mcp_fail(err, MCP_ERR_MEMORY, "%s: out of memory while reading it", w->path);
    }
    return MCP_OK;
}

static mcp_status read_row(mcp_csv *c, const place *w, char *line, mcp_error *err)
{
    int fields = count_fields(line, w->separator);
    if (fields != c->columns)
        return mcp_fail(err, MCP_ERR_IO, "%s:%d: %d fields where the header has %d", w->path, w->line, fields,
                        c->columns);
    double *row = c->value + (size_t)c->rows * (size_t)c->columns;
    int     column = 0;
    for (char *rest = line; rest; column++) {
        char *field = next_field(w, &rest), *end = field;
        row[column] = *field ? mcp_number_read(field, &end) : NAN;
        if (*end)
            return mcp_fail(err, MCP_ERR_IO, "%s:%d: \"%.60s\" in column %s is not a number", w->path,
                            w->line, field, c->name[column]);
    }
    c->rows++;
    return MCP_OK;
}

static mcp_status read_lines(mcp_csv *c, const char *path, char *text, mcp_error *err)
{
    place      w = {.path = path};
    mcp_status st;
    int        lines = 1;
    for (const char *p = text; *p; p++) lines += *p == '\n';
    for (char *line = text, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next) *next++ = '\0';
        w.line++;
        if (line[strspn(line, " \t\r")] == '\0' || *line == '#') continue;
        if (!c->name) {
            if ((st = read_header(c, &w, line, err)) != MCP_OK) return st;
            c->value = mcp_calloc((size_t)lines * (size_t)c->columns, sizeof *c->value);
            if (!c->value) return mcp_fail(err, MCP_ERR_MEMORY, "%s: out of memory while reading it", path);
        } else if ((st = read_row(c, &w, line, err)) != MCP_OK) {
            return st;
        }
    }
    return c->name ? MCP_OK
                   : mcp_fail(err, MCP_ERR_IO,
                              "%s: it is empty; expected a header line with the column names", path);
}

mcp_status mcp_csv_parse(mcp_csv **out, const char *path, const char *text, mcp_error *err)
{
    mcp_csv *c = mcp_calloc(1, sizeof *c);
    char *copy =
        mcp_strdup(strncmp(text, "\xef\xbb\xbf", 3) ? text : text + 3); /* spreadsheets put a mark in front */
    *out = NULL;
    mcp_status st = MCP_ERR_MEMORY;
    if (!c || !copy) mcp_fail(err, st, "%s: out of memory while reading it", path);
    else st = read_lines(c, path, copy, err);
    mcp_free(copy);
    if (st == MCP_OK) *out = c;
    else mcp_csv_free(c);
    return st;
}

mcp_status mcp_csv_read(mcp_csv **out, const char *path, mcp_error *err)
{
    char  *text;
    size_t size;
    *out = NULL;
    mcp_status st = mcp_file_read(path, &text, &size, err);
    if (st != MCP_OK) return st;
    st = strlen(text) == size
             ? mcp_csv_parse(out, path, text, err)
             : mcp_fail(err, MCP_ERR_IO, "%s: it holds a zero byte; this is not a CSV file", path);
    mcp_free(text);
    return st;
}

void mcp_csv_free(mcp_csv *c)
{
    if (!c) return;
    for (int i = 0; i < c->columns; i++) mcp_free(c->name[i]);
    mcp_free(c->name);
    mcp_free(c->value);
    mcp_free(c);
}

int mcp_csv_find(const mcp_csv *c, const char *name)
{
    for (int i = 0; i < c->columns; i++)
        if (!strcmp(c->name[i], name)) return i;
    return -1;
}
