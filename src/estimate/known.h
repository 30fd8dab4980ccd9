/* known.h - states that no sensor shows but whose transition is known (a motor that follows its command). */
#ifndef MCP_KNOWN_H
#define MCP_KNOWN_H

#include "estimate/estimate.h"

/* Runs the known transitions from the mean of the start distribution through the trial's applied inputs;
 * states that are estimated otherwise are read from s->state (samples before s->first take its first row).
 * Fills the known, unmeasured states of s->state, and of the rows before it in head [s->first][nx] (complete
 * rows; NULL = not wanted). */
mcp_status mcp_estimate_known(const mcp_system *system, const mcp_trial *t, mcp_states *s, double *head,
                              mcp_error *err);

#endif
