/* learn_live.h - feeds the live page of `learn --live` from the learner's progress. */
#ifndef MCP_LEARN_LIVE_H
#define MCP_LEARN_LIVE_H

#include "learn/learner.h"
#include "report/live.h"

typedef struct {
    mcp_live          *page;    /* NULL: not wanted */
    const mcp_learner *learner; /* set once it exists */
    mcp_phase          phase;
    int                trial;
} learn_live;

void live_progress(void *context, const mcp_learn_progress *p); /* context: learn_live */
void live_trial(learn_live *l);                                 /* a trial is done */
void live_done(learn_live *l, const char *text);                /* says so, and ends the page's server */

#endif
