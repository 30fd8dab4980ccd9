/* learn_view.h - how a run is told while it goes: a live line on a terminal, plain lines elsewhere, JSON for
 * machines. */
#ifndef MCP_LEARN_VIEW_H
#define MCP_LEARN_VIEW_H

#include <jansson.h>

#include "mcpilco/learn.h"

typedef enum { VIEW_LIVE, VIEW_LINES, VIEW_JSON, VIEW_QUIET } view_mode;

enum { VIEW_HISTORY = 8192 };
typedef struct {
    view_mode mode;
    int       trials;                /* policy trials wanted          */
    int       done;                  /* policy trials timed so far    */
    double    spent;                 /* s, on those                   */
    double    trial_began, last_draw;
    mcp_phase phase;
    int       phase_trial;
    int       steps;                 /* of the present optimisation   */
    double    history[VIEW_HISTORY]; /* its cost by step              */
    void    (*also)(void *context, const mcp_learn_progress *p); /* someone else who listens; may be NULL */
    void     *also_context;
} learn_view;

void view_begin(learn_view *v, view_mode mode, int trials);
int view_progress(void *context,
                  const mcp_learn_progress *p); /* an mcp_learn_progress_fn; stops when a signal asked */
void view_trial(learn_view *v, const mcp_learn_info *info);     /* a trial is done */
void view_clear(learn_view *v);                                 /* takes the live line away */
/* The table of all trials. */
void view_table(const mcp_learn_info *info, int count);
json_t *view_info_json(const mcp_learn_info *info);

#endif
