/* html.h - pages from template files. A template (src/report/templates/NAME.html, embedded at build time) is
 * a list of blocks, each opened by a line `<!-- block NAME -->`; {{slot}} is replaced by text, escaped here
 * and nowhere else, {{{slot}}} by HTML as it is. */
#ifndef MCP_HTML_H
#define MCP_HTML_H

#include "math/text.h"

enum { MCP_SLOTS = 24 };

typedef struct {
    const char *name, *text; /* borrowed until the block is written */
    char        number[40];
} mcp_html_slot;
typedef struct {
    int      n;
    mcp_html_slot slot[MCP_SLOTS];
} mcp_slots;

void mcp_slot_text(mcp_slots *s, const char *name, const char *text); /* NULL is "" */
void mcp_slot_int(mcp_slots *s, const char *name, long v);
/* fmt takes one double; a number that is not finite becomes "". */
void mcp_slot_number(mcp_slots *s, const char *name, const char *fmt, double v);
/* Appends a block with its slots filled; slots may be NULL. A block or slot that is not there is a mistake of
 * ours: it marks out as failed. */
void mcp_html(mcp_text *out, const char *file, const char *block, const mcp_slots *slots);
/* &, <, >, " and ' replaced, so that any text is safe in a page. */
void mcp_html_escaped(mcp_text *out, const char *text);

#endif
