/* text.h - a text that grows: append formatted pieces, check once at the end whether memory ran out. */
#ifndef MCP_TEXT_H
#define MCP_TEXT_H

#include <stddef.h>

#include "mcpilco/error.h"

typedef struct {
    char  *data; /* NUL-terminated, or NULL while empty */
    size_t length, capacity;
    int    failed; /* out of memory: later appends do nothing */
} mcp_text;

void mcp_text_add(mcp_text *t, const char *fmt, ...) MCP_PRINTF(2, 3);
void mcp_text_bytes(mcp_text *t, const char *bytes, size_t n);
void mcp_text_quoted(mcp_text *t, const char *s); /* as a JSON string, quotes included */
void mcp_text_free(mcp_text *t);
/* In place: control characters, bytes that are not UTF-8 and marks that turn the direction of text become
 * '?'. For texts from outside, before a terminal, a page or a file sees them. */
void mcp_text_plain(char *s);
/* The first character of the n bytes that mcp_text_plain would replace, lines aside; 0: there is none. */
unsigned mcp_text_odd(const char *s, size_t n);
/* Hands the text over (mcp_free it) and empties t; MCP_ERR_MEMORY if an append failed. */
mcp_status mcp_text_take(mcp_text *t, char **out, mcp_error *err);

#endif
