/* standstill.c - see standstill.h. */
#include "control/standstill.h"

#include <string.h>

enum { LONG = 64 }; /* samples: beyond any delay */

size_t mcp_standstill_work(const mcp_system *s)
{
    size_t a = mcp_program_work(s->actuator), f = mcp_program_work(s->features);
    return (a > f ? a : f) + 1;
}

void mcp_standstill(const mcp_system *s, const double *x, const double *u, const mcp_still *to)
{
    double *features = to->memory + mcp_program_memory(s->actuator);
    memcpy(to->in, x, (size_t)s->nx * sizeof *x);
    for (int k = 0; k < LONG; k++) {
        mcp_program_step(s->actuator, NULL, k == 0, u, to->memory, to->applied, to->work);
        memcpy(to->in + s->nx, to->applied, (size_t)s->nu * sizeof *x);
        mcp_program_step(s->features, NULL, k == 0, to->in, features, to->f, to->work);
    }
}
