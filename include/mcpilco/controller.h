/* controller.h - a learned controller in your own control loop.
 *
 *   mcp_controller_load(&c, "runs/cartpole-1", 0, &err);      or _load_json, from what mcpilco export wrote
 *   mcp_controller_reset(c);
 *   mcp_controller_set_goal(c, "r", 0.3, &err);               where the task has goals
 *   every 1/rate s:  mcp_controller_step(c, measured, command, observed);
 *
 * step allocates nothing, takes no lock and does no I/O; its time does not depend on the numbers. */
#ifndef MCPILCO_CONTROLLER_H
#define MCPILCO_CONTROLLER_H

#include "mcpilco/error.h"
#include "mcpilco/learn.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mcp_controller mcp_controller;

typedef struct {
    double rate;     /* Hz: call step exactly this often; another rate is another controller */
    int    measured; /* values that step reads: what sensors show */
    int    commands; /* values that it writes   */
    int    states;   /* values of the observed state */
} mcp_controller_info;

/* What a step did. */
typedef enum { MCP_STEP_OK = 0, MCP_STEP_NOT_FINITE = 1 } mcp_step_result;

/* The policy of one trial of a run folder (0: the recommended one). On failure *out is NULL. */
MCP_API mcp_status mcp_controller_load(mcp_controller **out, const char *run_folder, int trial,
                                       mcp_error *err) MCP_ANY_THREAD;
/* The same of a run that is open, or that a learner has in memory; it need not outlive the controller. */
MCP_API mcp_status mcp_controller_create(mcp_controller **out, const mcp_run *run, int trial,
                                         mcp_error *err) MCP_READS;
/* From the PREFIX.json that mcpilco export wrote, alone: it has the task and the parameters. The second takes
 * the JSON text itself. */
MCP_API mcp_status mcp_controller_load_json(mcp_controller **out, const char *file,
                                            mcp_error *err) MCP_ANY_THREAD;
MCP_API mcp_status mcp_controller_parse_json(mcp_controller **out, const char *text,
                                             mcp_error *err) MCP_ANY_THREAD;
MCP_API void       mcp_controller_free(mcp_controller *c) MCP_ONE_THREAD;
MCP_API void       mcp_controller_describe(const mcp_controller *c, mcp_controller_info *info) MCP_READS;
/* Names in the order of the arrays; NULL past the last. */
MCP_API const char *mcp_controller_measured_name(const mcp_controller *c, int i) MCP_READS;
MCP_API const char *mcp_controller_command_name(const mcp_controller *c, int i) MCP_READS;
MCP_API double      mcp_controller_command_limit(const mcp_controller *c, int i) MCP_READS;
/* Command i lies between these; 0, with both 0, past the last. */
MCP_API int mcp_controller_command_range(const mcp_controller *c, int i, double *low,
                                         double *high) MCP_READS;

/* Goals of the task, set-points that the policy knows by name. NULL past the last. */
MCP_API const char *mcp_controller_goal_name(const mcp_controller *c, int i) MCP_READS;
MCP_API double      mcp_controller_goal(const mcp_controller *c, int i) MCP_READS; /* NaN past the last */
/* From the next step on; in learning a goal stayed the same through a trial. Until it is set, and after a
 * reset, a goal is the middle of what the task draws it from. */
MCP_API mcp_status mcp_controller_set_goal(mcp_controller *c, const char *name, double value,
                                           mcp_error *err) MCP_ONE_THREAD;

/* Before the first sample of every run. */
MCP_API void mcp_controller_reset(mcp_controller *c) MCP_ONE_THREAD;
/* One sample: measurements in, commands out, clamped to their limits and slew limits; angles of sensors that
 * wrap are unwrapped. observed (may be NULL) receives the observer's state estimate. MCP_STEP_NOT_FINITE: a
 * measurement was not a finite number or would have made a command, the estimate or the memory so: the
 * commands are then the task's safe input, and nothing is remembered but that it was sent. */
MCP_API mcp_step_result mcp_controller_step(mcp_controller *c, const double *measured, double *command,
                                            double *observed) MCP_ONE_THREAD;
/* The task's safe input after the last step: send it when the loop ends, whatever the reason. */
MCP_API void mcp_controller_safe(mcp_controller *c, double *command) MCP_ONE_THREAD;

#ifdef __cplusplus
}
#endif
#endif
