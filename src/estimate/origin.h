/* origin.h - where a state's estimate comes from (inside this folder only). */
#ifndef MCP_ORIGIN_H
#define MCP_ORIGIN_H

#include "estimate/estimate.h"

/* The sensor of a state, -1: none. */
int mcp_channel_of(const mcp_task *t, int state);
/* Deviation of one measurement: noise, and rounding as uniform noise. */
double mcp_channel_deviation(const mcp_task_channel *c);
/* z, its own changes kept as targets (from), its states free to be changed. */
mcp_status mcp_states_copy(mcp_states **out, const mcp_states *z, int ngp, mcp_error *err);

#endif
