/* node.h - YAML text as a tree in which every value knows its place, its key and its parent.
 * Scalars stay text: what they mean is decided by the table that reads them (task/keys.h). */
#ifndef MCP_NODE_H
#define MCP_NODE_H

#include "mcpilco/error.h"
#include "program/program.h"
#include "task/bag.h"

enum { MCP_NODE_DEPTH = 16, MCP_NODE_CHILDREN = 1024, MCP_NODE_FILE = 1 << 20 };

typedef enum { MCP_NODE_SCALAR = 0, MCP_NODE_LIST, MCP_NODE_MAP } mcp_node_kind;

typedef struct mcp_node mcp_node;
struct mcp_node {
    mcp_node_kind kind;
    mcp_where     at, key_at; /* of the value's first character (inside quotes), of the key */
    const char   *key;        /* NULL in a list and at the root */
    const char   *text;       /* SCALAR */
    int           quoted;
    int           filled;     /* a default: not in the file */
    int           known;      /* 1: number holds what text means, 2: flag */
    double        number;
    int           index, count;
    mcp_node     *parent, *first, *last, *next;
    mcp_node     *shorthand;  /* the scalar that an override turned into this mapping */
};

/* name stands for the file in messages. text need not be UTF-8 or NUL-free: that is checked. The tree lives in bag. */
mcp_status mcp_node_parse(mcp_node **out, mcp_bag *bag, const char *name, const char *text, size_t length, mcp_error *err);
/* A scalar, list or mapping made by the program; NULL = out of memory. */
mcp_node *mcp_node_make(mcp_bag *bag, mcp_node_kind kind, const char *text, mcp_where at);
/* Appends child; key == NULL in lists. */
void mcp_node_append(mcp_node *parent, mcp_node *child, const char *key, mcp_where key_at);
mcp_node *mcp_node_find(const mcp_node *map, const char *key);
/* "optimise.particles", "limits[2].when": into buf, which is returned. */
char *mcp_node_path(const mcp_node *n, char *buf, size_t size);
/* What stands there, for messages: "\"many\"", "nothing", "a list", "a mapping". */
char *mcp_node_found(const mcp_node *n, char *buf, size_t size);
/* Fails at a place: "file:line:column: text". */
mcp_status mcp_fail_at(mcp_error *err, mcp_where at, const char *fmt, ...) MCP_PRINTF(3, 4);
/* Applies one "a.b.0.c=value": later readers see the value as if it stood in the file. */
mcp_status mcp_node_override(mcp_node *root, mcp_bag *bag, const char *setting, mcp_error *err);

#endif
