/* live_page.h - the page that `learn --live` serves. */
#ifndef MCP_LIVE_PAGE_H
#define MCP_LIVE_PAGE_H

#include "math/text.h"

void mcp_live_page(mcp_text *out, const char *title);

#endif
