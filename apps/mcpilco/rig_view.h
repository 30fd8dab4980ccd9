/* rig_view.h - what a probe found, beside what the task file says, and the lines to change. */
#ifndef MCP_RIG_VIEW_H
#define MCP_RIG_VIEW_H

#include "plant/probe.h"

typedef struct {
    double rate;                 /* Hz, NaN: keep                              */
    char   noise[MCP_MAX_STATE]; /* 1: the value found is another one          */
    char   resolution[MCP_MAX_STATE], wraps[MCP_MAX_STATE];
    int    sensor_delay[MCP_MAX_STATE], input_delay[MCP_MAX_INPUT]; /* as they should be */
    char gain[MCP_MAX_INPUT][MCP_MAX_STATE]; /* beside the reference: 0 nothing to compare, 1 agrees, 2 other
                                                size, 3 other sign */
    int    changes;              /* lines to change                            */
} rig_verdict;

/* reference: the same probe on the equations; NULL = none. */
void rig_judge(rig_verdict *v, const mcp_task *task, const mcp_probe *p, const mcp_probe *reference);
void rig_print(const rig_verdict *v, const mcp_task *task, const mcp_probe *p, const mcp_probe *reference);
int rig_json(const rig_verdict *v, const mcp_task *task, const mcp_probe *p,
             const mcp_probe *reference); /* exit code */

#endif
