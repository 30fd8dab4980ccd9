/* from_run.h - begin a run with another run's trials: the same robot, another goal, policy, model or setting.
 */
#ifndef MCP_FROM_RUN_H
#define MCP_FROM_RUN_H

#include "learn/run_folder.h"

/* How many trials a run holds, explorations included: the new task needs as many explore.trials. */
mcp_status mcp_from_count(const char *from, int *trials, mcp_error *err);
/* Makes the run folder s->folder, which must hold no run, and puts every trial of `from` there as an
 * exploration, cut to the new task's length. A learner created there with resume = 1 goes on from them.
 * `said` (may be NULL) gets a sentence on what was reused and what changed. */
mcp_status mcp_from_run(const mcp_task *task, const mcp_learn_settings *s, const char *from, char said[256],
                        mcp_error *err);

#endif
