/* seen.c - measurements of a trial -> the states that they tell, sample by sample. */
#include <string.h>

#include "estimate/estimate.h"
#include "math/arena.h"

mcp_status mcp_trial_seen(const mcp_system *s, const mcp_trial *t, double **seen, mcp_error *err)
{
    const mcp_program *p = s->view;
    const size_t       n = (size_t)t->samples, width = (size_t)s->task->nseen, ny = (size_t)t->ny;
    const size_t       memory = p ? (size_t)mcp_program_memory(p) : 0, work = p ? mcp_program_work(p) : 0;
    double            *to = mcp_calloc(n * width + memory + work + 1, sizeof *to);
    *seen = to;
    if (!to) return mcp_fail(err, MCP_ERR_MEMORY, "out of memory for the measurements of a trial");
    if (!p) memcpy(to, t->measured, n * width * sizeof *to);
    for (size_t k = 0; p && k < n; k++)
        mcp_program_step(p, NULL, k == 0, t->measured + k * ny, to + n * width, to + k * width,
                         to + n * width + memory);
    return MCP_OK;
}
