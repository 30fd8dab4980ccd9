/* plant_parts.h - what the files of this folder share. */
#ifndef MCP_PLANT_PARTS_H
#define MCP_PLANT_PARTS_H

#include "control/runtime.h"
#include "plant/plant_handle.h"

/* Each kind of plant fills ops and context. */
mcp_status mcp_ode_plant(const mcp_system *s, mcp_plant_ops *ops, void **context, mcp_error *err);
mcp_status mcp_mujoco_plant(const mcp_system *s, mcp_plant_ops *ops, void **context, mcp_error *err);
mcp_status mcp_replay_plant(const mcp_system *s, mcp_plant_ops *ops, void **context, mcp_error *err);
mcp_status mcp_wire_plant(const mcp_system *s, mcp_plant_ops *ops, void **context, mcp_error *err);
/* Here they come filled with the caller's own. */
mcp_status mcp_callback_plant(const mcp_system *s, mcp_plant_ops *ops, void **context, mcp_error *err);

/* Numbers a program needs to run one sample after another. */
typedef struct {
    const mcp_program *program;
    double            *in, *out, *mem, *work;
} mcp_runner;
mcp_status mcp_runner_create(mcp_runner *r, const mcp_program *p, mcp_error *err);
void       mcp_runner_free(mcp_runner *r);
void       mcp_runner_step(mcp_runner *r, const double *theta, int first); /* in -> out */

struct mcp_plant {
    const mcp_system *system;
    mcp_plant_ops     ops;
    void             *context;
    mcp_runtime      *control;
    mcp_runner        actuator, events;
    double           *explore; /* [T][nu] commands while exploring */
};

#endif
