/* trial.c - one block of memory for everything a trial records. */
#include "plant/trial.h"

#include <math.h>

#include "math/arena.h"

static size_t layout(mcp_trial *t, char *mem)
{
    mcp_arena a = {.base = mem, .used = 0};
    size_t    n = (size_t)t->capacity;
    mcp_arena_bytes(&a, sizeof *t);
    t->t        = mcp_arena_doubles(&a, n);
    t->truth    = mcp_arena_doubles(&a, n * (size_t)t->nx);
    t->measured = mcp_arena_doubles(&a, n * (size_t)t->ny);
    t->observed = mcp_arena_doubles(&a, n * (size_t)t->nx);
    t->input    = mcp_arena_doubles(&a, n * (size_t)t->nu);
    t->applied  = mcp_arena_doubles(&a, n * (size_t)t->nu);
    t->wall     = mcp_arena_doubles(&a, n);
    return a.used;
}

mcp_status mcp_trial_create(mcp_trial **out, const mcp_task *task, mcp_error *err)
{
    mcp_trial  size = {.capacity = mcp_task_steps(task) + 1, .nx = task->nx, .ny = task->ny, .nu = task->nu};
    void      *block;
    mcp_status st = mcp_block_alloc(&block, layout(&size, NULL), err);
    *out = NULL;
    if (st != MCP_OK) return st;
    layout(&size, block);
    for (int i = 0; i < size.capacity; i++) size.wall[i] = NAN;
    *out = block;
    **out = size;
    return MCP_OK;
}

void mcp_trial_free(mcp_trial *t)
{
    mcp_block_free(t);
}
