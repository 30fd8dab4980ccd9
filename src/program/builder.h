/* builder.h - names known while a program is being built, and the parser that turns text into nodes of its
 * graph. */
#ifndef MCP_BUILDER_H
#define MCP_BUILDER_H

#include "program/graph.h"

typedef enum { SYMBOL_CONSTANT, SYMBOL_INPUT, SYMBOL_DEFINITION, SYMBOL_MEMORY } mcp_symbol_kind;

enum { MCP_NAME_LENGTH = 63, MCP_EXPRESSION_LENGTH = 65536, MCP_EXPRESSION_DEPTH = 600 };

typedef struct {
    char            name[MCP_NAME_LENGTH + 1];
    mcp_symbol_kind kind;
    int             node;
    int             index; /* of the input or memory slot */
    char            place[128]; /* " (file:line)" or "" */
} mcp_symbol;

typedef struct {
    char name[MCP_NAME_LENGTH + 1];
    int  node;
} mcp_named;

struct mcp_builder {
    mcp_graph   graph;
    mcp_symbol *symbol;
    int         symbols, symbol_room;
    mcp_named  *input;
    int         inputs, input_room;
    mcp_named  *output;
    int         outputs, output_room;
};

const mcp_symbol *mcp_builder_find(const mcp_builder *b, const char *name, size_t length);
/* Parses text; *node is its value. what: the name the expression is for, in messages without a file. */
mcp_status mcp_parse(mcp_builder *b, const char *what, const char *text, mcp_where w, int *node,
                     mcp_error *err);
/* 1 if the word is a function, an operator word or pi. */
int mcp_word_reserved(const char *name);

#endif
