/* learn_finish.h - the end of `learn`: the recommended policy from many starts, the page, what to do next. */
#ifndef MCP_LEARN_FINISH_H
#define MCP_LEARN_FINISH_H

#include "learn/finish.h"
#include "learn/learner.h"
#include "learn_live.h"

typedef struct {
    int  evaluate;        /* 0: --no-finish */
    int  quiet;           /* no progress on the terminal */
    char page[4200];      /* report.html, "" when it could not be written */
    mcp_finish finish;    /* known = 0: not evaluated (a real plant, no policy, stopped) */
} learn_finish;

/* Never fails the run: what could not be done is said on standard error. */
void finish_make(learn_finish *f, const mcp_learner *l, const char *folder, learn_live *live);
/* "export it: ...", "go on: ...", or the diagnosis' remedy. */
void finish_next(const learn_finish *f, const mcp_run *r, const char *folder, char *text, size_t size);
void finish_print(const learn_finish *f, const mcp_run *r, const char *folder);
/* A trial with its diagnosis. */
json_t *finish_item_json(const mcp_run_item *it);

#endif
