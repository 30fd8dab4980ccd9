/* known.c - x+ = integrate(x, u, 0), of which only the known, unmeasured components are kept. */
#include "estimate/known.h"

#include <math.h>
#include <string.h>

#include "math/arena.h"
#include "plant/plant_handle.h"

static int find_known(const mcp_task *t, int *known)
{
    int n = 0;
    for (int i = 0; i < t->known.n; i++) {
        int state = mcp_task_find_state(t, t->known.item[i].name), measured = 0;
        for (int c = 0; c < t->nseen; c++) measured |= t->seen[c].state == state;
        if (state >= 0 && !measured) known[n++] = state;
    }
    return n;
}

mcp_status mcp_estimate_known(const mcp_system *system, const mcp_trial *t, mcp_states *s, double *head,
                              mcp_error *err)
{
    const mcp_task    *task = system->task;
    const mcp_program *p = system->integrate;
    int                nx = s->nx, nu = system->nu, known[MCP_MAX_LIST], n = find_known(task, known);
    double             value[MCP_MAX_STATE];

    if (!s->count || (!n && !head)) return MCP_OK;
    size_t in = (size_t)mcp_program_inputs(p), mem = (size_t)mcp_program_memory(p),
           out = (size_t)mcp_program_outputs(p);
    double *block = mcp_calloc(in + mem + out + mcp_program_work(p) + 1, sizeof *block);
    if (!block) return mcp_fail(err, MCP_ERR_MEMORY, "out of memory estimating the states of a trial");
    double *memory = block + in, *next = memory + mem, *work = next + out;

    mcp_start_mean(task, t->explored && task->explore.start.parts ? &task->explore.start : &task->start,
                   value);
    for (int k = 0; k < s->first + s->count; k++) {
        double *x = block; /* rows before the first estimate are scratch when nobody wants them */
        if (k >= s->first) x = s->state + (size_t)(k - s->first) * (size_t)nx;
        else if (head) x = head + (size_t)k * (size_t)nx;
        if (k < s->first) memcpy(x, s->state, (size_t)nx * sizeof *x);
        for (int i = 0; i < n; i++) x[known[i]] = value[known[i]];
        if (x != block) memcpy(block, x, (size_t)nx * sizeof *x);
        memcpy(block + nx, t->applied + k * nu, (size_t)nu * sizeof *block);
        memset(block + nx + nu, 0, (size_t)system->ngp * sizeof *block);
        mcp_program_step(p, NULL, k == 0, block, memory, next, work);
        for (int i = 0; i < n; i++) value[known[i]] = next[known[i]];
    }
    mcp_free(block);
    return MCP_OK;
}
