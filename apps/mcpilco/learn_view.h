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
    double    ts;                    /* s, a sample                   */
    double    estimate_s;            /* s, of the trial before        */
    double    first_step;            /* when the present optimisation had done its first step */
    double    last_draw;
    mcp_phase phase;
    int       phase_trial;
    int       steps;                 /* of the present optimisation   */
    double    history[VIEW_HISTORY]; /* its cost by step              */
    void    (*also)(void *context, const mcp_learn_progress *p); /* someone else who listens; may be NULL */
    void     *also_context;
} learn_view;

void view_begin(learn_view *v, view_mode mode, int trials, double ts);
int view_progress(void *context,
                  const mcp_learn_progress *p); /* an mcp_learn_progress_fn; stops when a signal asked */
/* Before a trial: says so when the optimisation of its policy failed or ended with its budget. */
void view_policy(learn_view *v, const mcp_learn_info *i);
void view_trial(learn_view *v, const mcp_learn_info *info);     /* a trial is done */
void view_clear(learn_view *v);                                 /* takes the live line away */
/* The table of all trials; ts: s, a sample. */
void view_table(const mcp_learn_info *info, int count, double ts);
json_t *view_info_json(const mcp_learn_info *info);

#endif
