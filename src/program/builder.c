/* builder.c - collect names and expressions. */
#include "program/builder.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "math/arena.h"

mcp_status mcp_builder_create(mcp_builder **out, mcp_error *err)
{
    mcp_builder *b = mcp_calloc(1, sizeof *b);
    *out           = NULL;
    if (!b || mcp_graph_init(&b->graph) != MCP_OK) {
        mcp_builder_free(b);
        return mcp_fail(err, MCP_ERR_MEMORY, "out of memory for a program");
    }
    *out = b;
    return MCP_OK;
}

void mcp_builder_free(mcp_builder *b)
{
    if (!b) return;
    mcp_graph_free(&b->graph);
    mcp_free(b->symbol);
    mcp_free(b->input);
    mcp_free(b->output);
    mcp_free(b);
}

const mcp_symbol *mcp_builder_find(const mcp_builder *b, const char *name, size_t length)
{
    for (int i = 0; i < b->symbols; i++)
        if (strlen(b->symbol[i].name) == length && !memcmp(b->symbol[i].name, name, length))
            return &b->symbol[i];
    return NULL;
}

static mcp_status out_of_memory(const char *name, mcp_error *err)
{
    return mcp_fail(err, MCP_ERR_MEMORY, "out of memory for the name '%s'", name);
}

/* "file:line: " for messages and " (file:line)" for the name table; empty when unknown. */
static const char *where_text(mcp_where w, const char *before, const char *after, char *out, size_t size)
{
    out[0] = 0;
    if (w.file && w.line > 0) snprintf(out, size, "%s%.90s:%d%s", before, w.file, w.line, after);
    return out;
}

static mcp_status check_name(const mcp_builder *b, const char *name, mcp_where w, int in_table,
                             mcp_error *err)
{
    static const char *const kinds[] = {"a constant", "an input", "a definition", "a memory slot"};
    char                     at[128];
    size_t                   n = strnlen(name, MCP_NAME_LENGTH + 1);
    size_t                   own = name[0] == '@' && !w.file, i = own;
    where_text(w, "", ": ", at, sizeof at);
    while (i < n && ((name[i] >= 'a' && name[i] <= 'z') || (name[i] >= 'A' && name[i] <= 'Z') ||
                     name[i] == '_' || (i > own && name[i] >= '0' && name[i] <= '9')))
        i++;
    if (n > MCP_NAME_LENGTH)
        return mcp_fail(err, MCP_ERR_TASK, "%sthe name '%.40s..' has more than %d characters", at, name,
                        MCP_NAME_LENGTH);
    if (n == own || i < n)
        return mcp_fail(err, MCP_ERR_TASK,
                        "%s'%s' is not a name: use letters, digits and _, and start with a letter", at, name);
    if (!in_table) return MCP_OK;
    if (mcp_word_reserved(name))
        return mcp_fail(err, MCP_ERR_TASK, "%s'%s' is a word of the expression language: choose another name",
                        at, name);
    const mcp_symbol *s = mcp_builder_find(b, name, n);
    if (s)
        return mcp_fail(err, MCP_ERR_TASK, "%sthe name '%s' is taken: it is already %s%s", at, name,
                        kinds[s->kind], s->place);
    return MCP_OK;
}

static mcp_status add_symbol(mcp_builder *b, const char *name, mcp_symbol_kind kind, int node, int index,
                             mcp_where w, mcp_error *err)
{
    if (b->graph.failed || !mcp_grow((void **)&b->symbol, b->symbols, &b->symbol_room, sizeof *b->symbol))
        return out_of_memory(name, err);
    mcp_symbol *s = &b->symbol[b->symbols++];
    memset(s, 0, sizeof *s);
    strncpy(s->name, name, MCP_NAME_LENGTH);
    s->kind  = kind;
    s->node  = node;
    s->index = index;
    where_text(w, " (", ")", s->place, sizeof s->place);
    return MCP_OK;
}

static mcp_status add_named(mcp_named **list, int *count, int *room, const char *name, int node,
                            mcp_error *err)
{
    if (!mcp_grow((void **)list, *count, room, sizeof **list)) return out_of_memory(name, err);
    mcp_named *n = &(*list)[(*count)++];
    memset(n, 0, sizeof *n);
    strncpy(n->name, name, MCP_NAME_LENGTH);
    n->node = node;
    return MCP_OK;
}

mcp_status mcp_builder_constant(mcp_builder *b, const char *name, double value, mcp_error *err)
{
    mcp_where  nowhere = {NULL, 0, 0};
    mcp_status st      = check_name(b, name, nowhere, 1, err);
    if (st != MCP_OK) return st;
    if (!isfinite(value))
        return mcp_fail(err, MCP_ERR_TASK, "the constant '%s' is %g: give a finite number", name, value);
    return add_symbol(b, name, SYMBOL_CONSTANT, mcp_graph_const(&b->graph, value), 0, nowhere, err);
}

mcp_status mcp_builder_input(mcp_builder *b, const char *name, mcp_error *err)
{
    mcp_where  nowhere = {NULL, 0, 0};
    mcp_status st      = check_name(b, name, nowhere, 1, err);
    if (st != MCP_OK) return st;
    int node = mcp_graph_leaf(&b->graph, OP_INPUT, b->inputs, 0);
    if ((st = add_symbol(b, name, SYMBOL_INPUT, node, b->inputs, nowhere, err)) != MCP_OK) return st;
    return add_named(&b->input, &b->inputs, &b->input_room, name, node, err);
}

mcp_status mcp_builder_define(mcp_builder *b, const char *name, const char *expr, mcp_where w, mcp_error *err)
{
    int        node;
    mcp_status st = check_name(b, name, w, 1, err);
    if (st == MCP_OK) st = mcp_parse(b, name, expr, w, &node, err);
    return st == MCP_OK ? add_symbol(b, name, SYMBOL_DEFINITION, node, 0, w, err) : st;
}

mcp_status mcp_builder_memory(mcp_builder *b, const char *name, const char *start, mcp_where w,
                              mcp_error *err)
{
    int        node;
    mcp_status st = check_name(b, name, w, 1, err);
    if (st == MCP_OK) st = mcp_parse(b, name, start, w, &node, err);
    if (st != MCP_OK) return st;
    int slot = mcp_graph_slot(&b->graph, name, node, -1);
    if (b->graph.failed == MCP_ERR_TASK)
        return mcp_fail(err, MCP_ERR_TASK, "'%s': more than %d memory slots", name, MCP_GRAPH_SLOTS);
    if (b->graph.failed) return out_of_memory(name, err);
    return add_symbol(b, name, SYMBOL_MEMORY, mcp_graph_leaf(&b->graph, OP_MEMORY, slot, 0), slot, w, err);
}

mcp_status mcp_builder_next(mcp_builder *b, const char *name, const char *expr, mcp_where w, mcp_error *err)
{
    char              at[128];
    const mcp_symbol *s = mcp_builder_find(b, name, strlen(name));
    where_text(w, "", ": ", at, sizeof at);
    if (!s || s->kind != SYMBOL_MEMORY)
        return mcp_fail(err, MCP_ERR_TASK, "%s'%s' is not a memory slot: declare its start first", at, name);
    int slot = s->index, node;
    if (b->graph.slot[slot].next >= 0)
        return mcp_fail(err, MCP_ERR_TASK, "%sthe next value of '%s' is given twice", at, name);
    mcp_status st = mcp_parse(b, name, expr, w, &node, err);
    if (st == MCP_OK) b->graph.slot[slot].next = node;
    return st;
}

mcp_status mcp_builder_output(mcp_builder *b, const char *name, const char *expr, mcp_where w, mcp_error *err)
{
    int        node;
    mcp_status st = check_name(b, name, w, 0, err);
    for (int i = 0; st == MCP_OK && i < b->outputs; i++)
        if (!strcmp(b->output[i].name, name))
            st = mcp_fail(err, MCP_ERR_TASK, "the output '%s' is given twice", name);
    if (st == MCP_OK) st = mcp_parse(b, name, expr, w, &node, err);
    return st == MCP_OK ? add_named(&b->output, &b->outputs, &b->output_room, name, node, err) : st;
}
