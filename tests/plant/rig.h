/* rig.h - what a test of plants opens and closes: a task, what was compiled from it, its plant and room for a
 * trial. */
#ifndef RIG_H
#define RIG_H

#include "control/system.h"
#include "plant/plant_handle.h"
#include "test.h"

typedef struct {
    mcp_task   *task;
    mcp_system *system;
    mcp_plant  *plant;
    mcp_trial  *trial;
} rig;

/* Takes the task; ops NULL: the plant that the task names. Close it on failure too. */
static inline mcp_status rig_create(rig *r, mcp_task *task, const mcp_plant_ops *ops, void *context,
                                    mcp_error *why)
{
    mcp_status st;
    *r = (rig){.task = task};
    if (!task) return MCP_ERR_TASK;
    if ((st = mcp_system_create(&r->system, task, why)) != MCP_OK) return st;
    if ((st = mcp_trial_create(&r->trial, task, why)) != MCP_OK) return st;
    return ops ? mcp_plant_from_ops(&r->plant, r->system, ops, context, why)
               : mcp_plant_open(&r->plant, r->system, why);
}

static inline void rig_close(rig *r)
{
    mcp_plant_close(r->plant);
    mcp_trial_free(r->trial);
    mcp_system_free(r->system);
    mcp_task_free(r->task);
}

#endif
