/* controller.h - a learned controller in your own control loop.
 *
 *   mcp_controller_load(&c, "runs/cartpole-1", 0, &err);
 *   mcp_controller_reset(c);
 *   every 1/rate s:  mcp_controller_step(c, measured, command, observed);
 *
 * step allocates nothing, takes no lock and does no I/O; its time does not depend on the numbers. */
#ifndef MCPILCO_CONTROLLER_H
#define MCPILCO_CONTROLLER_H

#include "mcpilco/error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mcp_controller mcp_controller;

typedef struct {
    double rate;     /* Hz: call step exactly this often; another rate is another controller */
    int    measured; /* values that step reads  */
    int    commands; /* values that it writes   */
    int    states;   /* values of the observed state */
} mcp_controller_info;

/* The policy of one trial of a run folder (0: the recommended one). On failure *out is NULL. */
MCP_API mcp_status mcp_controller_load(mcp_controller **out, const char *run_folder, int trial,
                                       mcp_error *err) MCP_ANY_THREAD;
MCP_API void       mcp_controller_free(mcp_controller *c) MCP_ONE_THREAD; /* NULL is fine */
MCP_API void       mcp_controller_describe(const mcp_controller *c, mcp_controller_info *info) MCP_READS;
/* Names in the order of the arrays; NULL past the last. */
MCP_API const char *mcp_controller_measured_name(const mcp_controller *c, int i) MCP_READS;
MCP_API const char *mcp_controller_command_name(const mcp_controller *c, int i) MCP_READS;
MCP_API double      mcp_controller_command_limit(const mcp_controller *c, int i) MCP_READS;

/* Before the first sample of every run. */
MCP_API void mcp_controller_reset(mcp_controller *c) MCP_ONE_THREAD;
/* One sample: measurements in, commands out, clamped to their limits and slew limits; angles of sensors that
 * wrap are unwrapped. observed (may be NULL) receives the observer's state estimate. Returns 0, or 1 when a
 * measurement was not a finite number or would have made a command, the estimate or the memory so: the
 * commands are then the task's safe input, and nothing is remembered but that it was sent. */
MCP_API int mcp_controller_step(mcp_controller *c, const double *measured, double *command,
                                double *observed) MCP_ONE_THREAD;
/* The task's safe input after the last step: send it when the loop ends, whatever the reason. */
MCP_API void mcp_controller_safe(mcp_controller *c, double *command) MCP_ONE_THREAD;

#ifdef __cplusplus
}
#endif
#endif
