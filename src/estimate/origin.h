/* origin.h - where a state's estimate comes from (inside this folder only). */
#ifndef MCP_ORIGIN_H
#define MCP_ORIGIN_H

#include "estimate/estimate.h"

/* What tells a state (task->seen), -1: nothing. */
int mcp_channel_of(const mcp_task *t, int state);
/* z, its own changes kept as targets (from), its states free to be changed. */
mcp_status mcp_states_copy(mcp_states **out, const mcp_states *z, int ngp, mcp_error *err);

#endif
