/* page.h - the frame of a report: one self-contained HTML file, readable without JavaScript, light and dark,
 * printable. */
#ifndef MCP_PAGE_H
#define MCP_PAGE_H

#include "report/html.h"
#include "report/plot.h"

void mcp_page_begin(mcp_text *out, const char *title);
/* Opens a section with an anchor; close with mcp_page_close. */
void mcp_page_section(mcp_text *out, const char *id, const char *heading);
void mcp_page_close(mcp_text *out);
void mcp_page_paragraph(mcp_text *out, const char *text);
void mcp_page_note(mcp_text *out, const char *fmt, ...) MCP_PRINTF(2, 3);
void mcp_page_grid(mcp_text *out, int open); /* charts side by side where there is room */
/* Rendered inside <figure> with a caption (NULL: none). */
void mcp_page_figure(mcp_text *out, const mcp_plot *p, const char *caption);
void mcp_page_figure_begin(mcp_text *out); /* or around any SVG */
void mcp_page_figure_end(mcp_text *out, const char *caption);
/* Ends with the script that makes charts answer; NULL: none. */
void mcp_page_end(mcp_text *out, const char *script);

#endif
