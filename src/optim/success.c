/* success.c - the success test over particles. */
#include "optim/success.h"

#include <math.h>
#include <string.h>

size_t mcp_success_work(const mcp_system *s)
{
    return mcp_program_work(s->events) +
           (size_t)(mcp_program_inputs(s->events) + mcp_program_outputs(s->events) +
                    mcp_program_memory(s->events)) +
           1;
}

static int succeeds(const mcp_system *s, int window, int particles, int j, const double *states,
                    const double *inputs, double *in, double *out, double *memory, double *work)
{
    const size_t nx = (size_t)s->nx, nu = (size_t)s->nu;
    for (int t = 0; t <= s->steps; t++) {
        size_t row = (size_t)t * (size_t)particles + (size_t)j;
        memcpy(in, states + row * nx, nx * sizeof *in);
        if (t < s->steps) memcpy(in + nx, inputs + row * nu, nu * sizeof *in);
        mcp_program_step(s->events, NULL, t == 0, in, memory, out, work);
        if (t >= s->steps - window && out[0] == 0.0) return 0;
        for (int i = 0; i < s->task->limits; i++)
            if (out[1 + i] != 0.0) return 0;
    }
    return 1;
}

double mcp_success_rate(const mcp_system *s, double margin, int particles, const double *states,
                        const double *inputs, double *work)
{
    double *in = work, *out = in + mcp_program_inputs(s->events),
           *memory = out + mcp_program_outputs(s->events);
    double  last = s->task->success_last / s->ts;
    int     window = (int)lround(last + fmax(0.0, fmin(margin * last, 0.5 * (s->steps - last)))), good = 0;
    if (!s->task->success.text) return NAN;
    for (int j = 0; j < particles; j++)
        good += succeeds(s, window, particles, j, states, inputs, in, out, memory,
                         memory + mcp_program_memory(s->events));
    return (double)good / particles;
}
