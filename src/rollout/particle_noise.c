/* particle_noise.c - noise of the particles from counter-based streams: a number depends on (seed, trial,
 * step, particle, time, channel, purpose) and on nothing else. */
#include "math/rng.h"
#include "rollout/rollout.h"

static mcp_stream stream(const mcp_stream_noise *c, mcp_rng_purpose purpose)
{
    return (mcp_stream){c->seed, c->trial, c->step, purpose};
}

/* Odd particles mirror the even one before them: x -> about - x. */
static void mirror(int antithetic, int n, double about, double *x)
{
    for (int j = 0; antithetic && j + 1 < n; j += 2) x[j + 1] = about - x[j];
}

static void normals(const mcp_stream_noise *c, mcp_rng_purpose purpose, int time, int channel, int first,
                    int n, double *out)
{
    mcp_stream s = stream(c, purpose);
    mcp_rng_normals(&s, (uint32_t)time, (uint32_t)channel, (uint32_t)first, n, out);
    mirror(c->antithetic, n, 0.0, out);
    for (int j = 0; c->stress > 0.0 && c->stress != 1.0 && j < n; j++) out[j] *= c->stress;
}

static void starts(const mcp_stream_noise *c, int first, int n, int ld, double *x0)
{
    const mcp_task_start *d = &c->system->task->start;
    const int             nx = c->system->nx;
    mcp_stream            s = stream(c, MCP_RNG_START);
    for (int i = 0; i < nx; i++) {
        double *x = x0 + (size_t)i * (size_t)ld;
        if (d->type == MCP_START_UNIFORM) {
            mcp_rng_uniforms(&s, 0, (uint32_t)i, (uint32_t)first, n, x);
            mirror(c->antithetic, n, 1.0, x);
            for (int j = 0; j < n; j++) x[j] = d->low[i] + (d->high[i] - d->low[i]) * x[j];
        } else {
            normals(c, MCP_RNG_START, 0, i, first, n, x);
            if (d->type == MCP_START_GAUSSIAN)
                for (int j = 0; j < n; j++) x[j] = d->mean[i] + d->std[i] * x[j];
        }
    }
    if (d->type != MCP_START_MIXTURE) return;
    /* Which component: by one uniform a particle; pairs of mirrored particles share it. */
    double total = 0.0;
    for (int k = 0; k < d->parts; k++) total += d->weight[k];
    for (int j = 0; j < n; j++) {
        double   u, sum = 0.0;
        uint32_t particle = (uint32_t)(first + (c->antithetic ? j & ~1 : j));
        int      k = 0;
        mcp_rng_uniforms(&s, 1, 0, particle, 1, &u);
        while (k + 1 < d->parts && (sum += d->weight[k]) <= u * total) k++;
        for (int i = 0; i < nx; i++) {
            double *x = &x0[(size_t)i * (size_t)ld + (size_t)j];
            *x = d->mean[k * nx + i] + d->std[k * nx + i] * *x;
        }
    }
}

/* The last particles, about a state of their own. */
static void near_starts(const mcp_stream_noise *c, const mcp_noise_block *to)
{
    const int  from = c->near_from > to->first ? c->near_from - to->first : 0;
    mcp_stream s = stream(c, MCP_RNG_START);
    for (int i = 0; c->near && from < to->n && i < c->system->nx; i++) {
        double *x = to->x0 + (size_t)i * (size_t)to->ld;
        mcp_rng_normals(&s, 2, (uint32_t)i, (uint32_t)(to->first + from), to->n - from, x + from);
        for (int j = from; j < to->n; j++) x[j] = c->near[i] + c->near_std[i] * x[j];
    }
}

/* Goals are drawn by their own rule, whatever the start's. */
static void goals(const mcp_stream_noise *c, int first, int n, int ld, double *x0)
{
    const mcp_task *t = c->system->task;
    mcp_stream      s = stream(c, MCP_RNG_START);
    for (int i = 0; i < t->goals.n; i++) {
        const mcp_task_random *d = &t->goals.item[i];
        const int              state = mcp_task_moving(t) + i;
        double                *x = x0 + (size_t)state * (size_t)ld;
        if (d->uniform) {
            mcp_rng_uniforms(&s, 0, (uint32_t)state, (uint32_t)first, n, x);
            mirror(c->antithetic, n, 1.0, x);
            for (int j = 0; j < n; j++) x[j] = d->low + (d->high - d->low) * x[j];
        } else {
            normals(c, MCP_RNG_START, 0, state, first, n, x);
            for (int j = 0; j < n; j++) x[j] = d->mean + d->std * x[j];
        }
    }
}

static void fill(void *context, const mcp_noise_block *to)
{
    const mcp_stream_noise *c = context;
    const mcp_system       *s = c->system;
    const size_t            ld = (size_t)to->ld;
    const int               activations = mcp_program_activations(s->controller);
    mcp_stream              drop = stream(c, MCP_RNG_DROPOUT);
    starts(c, to->first, to->n, to->ld, to->x0);
    near_starts(c, to);
    goals(c, to->first, to->n, to->ld, to->x0);
    for (int t = 0; t <= to->steps; t++) {
        double *e = to->e + (size_t)(t * s->ny) * ld, *eps = to->eps + (size_t)(t * s->ngp) * ld;
        for (int i = 0; i < s->ny; i++, e += ld) normals(c, MCP_RNG_SENSOR, t, i, to->first, to->n, e);
        for (int g = 0; g < s->ngp && t < to->steps; g++, eps += ld)
            normals(c, MCP_RNG_MODEL, t, g, to->first, to->n, eps);
        if (!to->keep || activations == 0) continue;
        mcp_rng_mask m = {.time = (uint32_t)t,
                          .first = (uint32_t)to->first,
                          .n = to->n,
                          .activations = activations,
                          .p = c->dropout};
        mcp_rng_keep(mcp_isa_level(), &drop, &m, to->keep + (size_t)t * (size_t)activations * ld);
    }
}

mcp_noise mcp_noise_from_stream(mcp_stream_noise *context)
{
    return (mcp_noise){fill, context};
}
