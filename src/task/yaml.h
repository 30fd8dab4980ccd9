/* yaml.h - YAML text as a tree in which every value knows its place, its key and its parent.
 * Scalars stay text: what they mean is decided by the table that reads them (task/keys.h). */
#ifndef MCP_YAML_H
#define MCP_YAML_H

#include "mcpilco/error.h"
#include "program/program.h"
#include "task/task_memory.h"

enum { MCP_YAML_DEPTH = 16, MCP_YAML_CHILDREN = 1024, MCP_YAML_FILE = 1 << 20 };

typedef enum { MCP_YAML_SCALAR = 0, MCP_YAML_LIST, MCP_YAML_MAP } mcp_yaml_kind;

typedef struct mcp_yaml mcp_yaml;
struct mcp_yaml {
    mcp_yaml_kind kind;
    mcp_where     at, key_at; /* of the value's first character (inside quotes), of the key */
    const char   *key;        /* NULL in a list and at the root */
    const char   *text;       /* SCALAR */
    int           quoted;
    int           filled; /* a default: not in the file */
    int           known;  /* 1: number holds what text means, 2: flag */
    double        number;
    int           index, count;
    mcp_yaml     *parent, *first, *last, *next;
    mcp_yaml     *shorthand; /* the scalar that an override turned into this mapping */
};

/* name stands for the file in messages. text need not be UTF-8 or NUL-free: that is checked. The tree lives
 * in bag. */
mcp_status mcp_yaml_parse(mcp_yaml **out, mcp_task_memory *bag, const char *name, const char *text,
                          size_t length, mcp_error *err);
/* A scalar, list or mapping made by the program; NULL = out of memory. */
mcp_yaml *mcp_yaml_make(mcp_task_memory *bag, mcp_yaml_kind kind, const char *text, mcp_where at);
/* Appends child; key == NULL in lists. */
void      mcp_yaml_append(mcp_yaml *parent, mcp_yaml *child, const char *key, mcp_where key_at);
mcp_yaml *mcp_yaml_find(const mcp_yaml *map, const char *key);
/* "optimise.particles", "limits[2].when": into buf, which is returned. */
char *mcp_yaml_path(const mcp_yaml *n, char *buf, size_t size);
/* What stands there, for messages: "\"many\"", "nothing", "a list", "a mapping". */
char *mcp_yaml_found(const mcp_yaml *n, char *buf, size_t size);
/* Fails at a place: "file:line:column: text". */
mcp_status mcp_fail_at(mcp_error *err, mcp_where at, const char *fmt, ...) MCP_PRINTF(3, 4);
/* Applies one "a.b.0.c=value": later readers see the value as if it stood in the file. */
mcp_status mcp_yaml_override(mcp_yaml *root, mcp_task_memory *bag, const char *setting, mcp_error *err);

#endif
