/* learn_live.h - feeds the live page of `learn --live` from the learner's progress. */
#ifndef MCP_LEARN_LIVE_H
#define MCP_LEARN_LIVE_H

#include "learn/finish.h"
#include "learn/learner.h"
#include "report/live.h"
#include "report/scene.h"

typedef struct {
    mcp_live          *page;    /* NULL: not wanted */
    const mcp_learner *learner; /* set once it exists */
    mcp_phase          phase;
    int                trial, candidate, samples;
    mcp_scene         *scene;   /* NULL: the task draws nothing */
} learn_live;

void live_progress(void *context, const mcp_learn_progress *p); /* context: learn_live */
void live_trial(learn_live *l);                                 /* a trial is done */
/* Says so, and ends the page's server. f: the evaluation, known or not. */
void live_done(learn_live *l, const char *text, const mcp_finish *f);

#endif
