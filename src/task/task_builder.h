/* task_builder.h - where every program of a task begins. */
#ifndef MCP_TASK_BUILDER_H
#define MCP_TASK_BUILDER_H

#include "program/program.h"
#include "task/task_data.h"

/* A builder that knows Ts (once the rate is read) and the task's constants; *out = NULL on failure. */
mcp_status mcp_task_builder(mcp_builder **out, const mcp_task *task, mcp_error *err);
/* Then, as inputs in the task's order: */
/* The names of the simulated plant, inputs in this order: plant.random, states, inputs, hidden states; then
 * its helper definitions. A constant that is random is an input, and constants made of it follow. */
mcp_status mcp_task_builder_plant(mcp_builder **out, const mcp_task *task, mcp_error *err);
mcp_status mcp_task_builder_states(mcp_builder *b, const mcp_task *task, mcp_error *err);
mcp_status mcp_task_builder_inputs(mcp_builder *b, const mcp_task *task, mcp_error *err);
mcp_status mcp_task_builder_measured(mcp_builder *b, const mcp_task *task, mcp_error *err); /* y_NAME */

/* What every sensor shows, without noise and delay: states -> measured. */
mcp_status mcp_task_sensor_program(mcp_program **out, const mcp_task *task, mcp_error *err);

#endif
