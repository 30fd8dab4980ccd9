/* plausible.h - measurements that cannot be: finite numbers so large that no sensor gave them. They would be
 * stored, strand the model's training, and become nothing where an angle is unwrapped. */
#ifndef MCP_PLAUSIBLE_H
#define MCP_PLAUSIBLE_H

#include "task/task_data.h"
#include "plant/trial.h"

/* What a trial has shown so far. */
typedef struct {
    const mcp_task *task;
    /* largest magnitude, at least 1 and what the start allows: tiny units are judged mildly at first */
    double measured[MCP_MAX_STATE], truth[MCP_MAX_STATE];
    int    samples;
} mcp_plausible;

void mcp_plausible_begin(mcp_plausible *p, const mcp_task *task);
/* MCP_OK, or MCP_ERR_PLANT and a sentence: a channel is above its `most`, or, where the task names none, a
 * million times larger than anything before it. truth may hold NaN where it is unknown. Values that are not
 * finite are another's business. */
mcp_status mcp_plausible_take(mcp_plausible *p, const double *measured, const double *truth, mcp_error *err);
/* The same of the true state alone: the first that cannot be, -1: none, and they are taken. */
int mcp_plausible_state(mcp_plausible *p, const double *truth);
/* Samples before the first one that cannot be or is not finite; err, if not NULL, says which. */
int mcp_plausible_count(const mcp_task *task, const mcp_trial *t, mcp_error *err);

#endif
