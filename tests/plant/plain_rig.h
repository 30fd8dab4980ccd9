/* plain_rig.h - a rig that a test opens with a sentence when it fails, and explores. */
#ifndef PLAIN_RIG_H
#define PLAIN_RIG_H

#include "rig.h"

static inline int rig_open(rig *r, mcp_task *task, const mcp_plant_ops *ops, void *context)
{
    mcp_error why = {MCP_OK, ""};
    if (rig_create(r, task, ops, context, &why) == MCP_OK) return 1;
    FAIL_("%s", why.text);
    return 0;
}

static inline mcp_status explore(rig *r, uint32_t trial, uint32_t run, mcp_error *why)
{
    return mcp_plant_run(r->plant, NULL, (mcp_trial_key){11, trial, run}, NULL, NULL, r->trial, why);
}

#endif
