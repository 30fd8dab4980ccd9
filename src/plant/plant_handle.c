/* plant_handle.c - open the plant a task names, or wrap the user's own. */
#include "plant/plant_handle.h"

#include <string.h>

#include "math/arena.h"
#include "plant/plant_parts.h"

mcp_status mcp_runner_create(mcp_runner *r, const mcp_program *p, mcp_error *err)
{
    size_t in = (size_t)mcp_program_inputs(p), out = (size_t)mcp_program_outputs(p),
           mem = (size_t)mcp_program_memory(p);
    size_t n = in + out + mem + mcp_program_work(p) + 1;
    *r = (mcp_runner){.program = p, .in = mcp_calloc(n, sizeof(double))};
    if (!r->in) return mcp_fail(err, MCP_ERR_MEMORY, "out of memory for a program's numbers");
    r->out  = r->in + in;
    r->mem  = r->out + out;
    r->work = r->mem + mem;
    return MCP_OK;
}

void mcp_runner_free(mcp_runner *r)
{
    mcp_free(r->in);
    *r = (mcp_runner){0};
}

void mcp_runner_step(mcp_runner *r, const double *theta, int first)
{
    mcp_program_step(r->program, theta, first, r->in, r->mem, r->out, r->work);
}

static mcp_status prepare(mcp_plant *p, mcp_error *err)
{
    const mcp_system *s = p->system;
    mcp_status        st;
    if ((st = mcp_runtime_create(&p->control, s, err)) != MCP_OK) return st;
    if ((st = mcp_runner_create(&p->actuator, s->actuator, err)) != MCP_OK) return st;
    if ((st = mcp_runner_create(&p->events, s->events, err)) != MCP_OK) return st;
    p->explore = mcp_calloc((size_t)s->steps * (size_t)s->nu + 1, sizeof(double));
    return p->explore ? MCP_OK : mcp_fail(err, MCP_ERR_MEMORY, "out of memory for a plant");
}

static mcp_status open_kind(mcp_plant *p, mcp_error *err)
{
    const mcp_task *task = p->system->task;
    switch (task->plant.type) {
    case MCP_PLANT_ODE: return mcp_ode_plant(p->system, &p->ops, &p->context, err);
    case MCP_PLANT_MUJOCO: return mcp_mujoco_plant(p->system, &p->ops, &p->context, err);
    case MCP_PLANT_FILE: return mcp_replay_plant(p->system, &p->ops, &p->context, err);
    case MCP_PLANT_EXEC:
    case MCP_PLANT_UDP:
    case MCP_PLANT_TCP:
    case MCP_PLANT_SERIAL: return mcp_wire_plant(p->system, &p->ops, &p->context, err);
    case MCP_PLANT_CALLBACK: break;
    }
    return mcp_fail(err, MCP_ERR_ARG,
                    "%s: the task names no plant that can be opened; give it plant: {ode: ...} or another "
                    "kind, or pass your own functions to mcp_plant_from_ops",
                    task->file ? task->file : "task");
}

static mcp_status create(mcp_plant **out, const mcp_system *system, const mcp_plant_ops *ops, void *context,
                         mcp_error *err)
{
    mcp_plant *p = mcp_calloc(1, sizeof *p);
    *out = NULL;
    if (!p) return mcp_fail(err, MCP_ERR_MEMORY, "out of memory for a plant");
    p->system = system;
    mcp_status st = prepare(p, err);
    if (st == MCP_OK && !ops) st = open_kind(p, err);
    if (st == MCP_OK && ops) {
        mcp_plant_ops own = *ops;
        st = mcp_callback_plant(system, &own, &context, err);
        if (st == MCP_OK) {
            p->ops     = own;
            p->context = context;
        }
    }
    if (st != MCP_OK) {
        mcp_plant_close(p);
        return st;
    }
    *out = p;
    return MCP_OK;
}

mcp_status mcp_plant_open(mcp_plant **out, const mcp_system *system, mcp_error *err)
{
    return create(out, system, NULL, NULL, err);
}

mcp_status mcp_plant_from_ops(mcp_plant **out, const mcp_system *system, const mcp_plant_ops *ops,
                              void *context, mcp_error *err)
{
    return create(out, system, ops, context, err);
}

void mcp_plant_close(mcp_plant *p)
{
    if (!p) return;
    if (p->ops.destroy) p->ops.destroy(p->context);
    mcp_runtime_free(p->control);
    mcp_runner_free(&p->actuator);
    mcp_runner_free(&p->events);
    mcp_free(p->explore);
    mcp_free(p);
}
