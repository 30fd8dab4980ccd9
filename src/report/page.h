/* page.h - the frame of a report: one self-contained HTML file, readable without JavaScript, light and dark,
 * printable. */
#ifndef MCP_PAGE_H
#define MCP_PAGE_H

#include "math/text.h"

void mcp_page_begin(mcp_text *out, const char *title);
/* Opens a section with an anchor; close with mcp_page_close. */
void mcp_page_section(mcp_text *out, const char *id, const char *heading);
void mcp_page_close(mcp_text *out);
/* The player for the animation whose data is in <script type="application/json" id="animation-data">. */
void mcp_page_player(mcp_text *out);
void mcp_page_end(mcp_text *out);

#endif
