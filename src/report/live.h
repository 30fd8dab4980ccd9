/* live.h - a page that shows a run as it goes, by server-sent events, on a thread of its own. Pushing only
 * appends to a list under a lock: no browser, slow or gone, holds the learning up. */
#ifndef MCP_LIVE_H
#define MCP_LIVE_H

#include "mcpilco/error.h"

typedef struct mcp_live mcp_live;

/* address: "PORT" or "HOST:PORT"; port 0 takes a free one. Anything but the loopback is refused unless
 * anywhere != 0. */
mcp_status mcp_live_start(mcp_live **out, const char *address, int anywhere, const char *title,
                          mcp_error *err);
/* "http://127.0.0.1:8080/" */
const char *mcp_live_url(const mcp_live *l);
/* One message, a JSON text on one line (without newline); a browser that comes later gets all messages so
 * far. */
void mcp_live_push(mcp_live *l, const char *json);
/* 1: somebody on this machine pressed the page's stop button. */
int mcp_live_stop_asked(const mcp_live *l);
/* The finished run's page, served at /report; copied. */
void mcp_live_report(mcp_live *l, const char *html);
int  mcp_live_has_report(mcp_live *l);
/* Gives browsers that keep up the last messages and the report (at most two seconds), then ends the thread.
 * NULL is fine. */
void mcp_live_stop(mcp_live *l);

#endif
