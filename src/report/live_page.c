/* live_page.c - the page of a run as it goes; templates/live.js lists the messages that feed it. */
#include "report/live_page.h"

#include "embedded.h"
#include "report/page.h"

void mcp_live_page(mcp_text *out, const char *title)
{
    mcp_slots s = {0};
    mcp_page_begin(out, title);
    mcp_slot_text(&s, "title", title);
    mcp_html(out, mcp_embed_live_html, "page", &s);
    mcp_page_end(out, mcp_embed_live_js);
}
