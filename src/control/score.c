/* score.c - cost, metric, success and limits along one motion. */
#include "control/score.h"

#include <math.h>
#include <string.h>

#include "math/arena.h"

struct mcp_scorer {
    const mcp_system *s;
    double           *in, *out, *memory, *work; /* in: state, applied input */
};

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t layout(mcp_scorer *k, const mcp_system *s, char *mem)
{
    mcp_arena   a = {.base = mem};
    mcp_scorer *at = mcp_arena_bytes(&a, sizeof *at);
    *k = (mcp_scorer){.s = s};
    k->in = mcp_arena_doubles(&a, (size_t)(s->nx + s->nu) + 1);
    k->out = mcp_arena_doubles(&a, (size_t)larger((size_t)mcp_program_outputs(s->cost),
                                                  (size_t)mcp_program_outputs(s->events)) + 1);
    k->memory = mcp_arena_doubles(&a, larger((size_t)mcp_program_memory(s->cost),
                                             (size_t)mcp_program_memory(s->events)) + 1);
    k->work = mcp_arena_doubles(&a, larger(mcp_program_work(s->cost), mcp_program_work(s->events)) + 1);
    if (mem) *at = *k;
    return a.used;
}

mcp_status mcp_scorer_create(mcp_scorer **out, const mcp_system *s, mcp_error *err)
{
    mcp_scorer measure;
    void      *block = NULL;
    mcp_status st = mcp_block_alloc(&block, layout(&measure, s, NULL), err);
    if (st == MCP_OK) layout(&measure, s, block);
    *out = block;
    return st;
}

void mcp_scorer_free(mcp_scorer *k)
{
    mcp_block_free(k);
}

static void take(mcp_scorer *k, const mcp_motion *m, int t)
{
    const int     nx = k->s->nx, nu = k->s->nu;
    const double *u = m->inputs + (size_t)t * m->input_stride;
    memcpy(k->in, m->states + (size_t)t * m->state_stride, (size_t)nx * sizeof *k->in);
    for (int i = 0; i < nu; i++) {
        if (isfinite(u[i])) k->in[nx + i] = u[i];
        else if (t == 0) k->in[nx + i] = 0.0;
    }
}

/* Whether the success test holds over the last `window` samples before the end of a trial, and the first
 * limit reached. With hurry it stops at the first sign of failure. */
static int events(mcp_scorer *k, const mcp_motion *m, int window, int hurry, int *limit)
{
    const mcp_system *s = k->s;
    int               held = s->task->success.text != NULL;
    *limit = 0;
    for (int t = 0; t < m->samples && (held || !hurry); t++) {
        take(k, m, t);
        mcp_program_step(s->events, NULL, t == 0, k->in, k->memory, k->out, k->work);
        for (int i = 0; i < s->task->limits && !*limit; i++)
            if (k->out[1 + i] != 0.0) *limit = i + 1;
        if ((t >= s->steps - window && k->out[0] == 0.0) || (hurry && *limit)) held = 0;
    }
    return held && !*limit;
}

static double last_samples(const mcp_system *s)
{
    return s->task->success_last / s->ts;
}

int mcp_scorer_success(mcp_scorer *k, const mcp_motion *m, double margin)
{
    double last = last_samples(k->s);
    int    window = (int)lround(last + fmax(0.0, fmin(margin * last, 0.5 * (k->s->steps - last)))), limit;
    return events(k, m, window, 1, &limit);
}

void mcp_scorer_run(mcp_scorer *k, const mcp_motion *m, mcp_score *out)
{
    const mcp_system *s = k->s;
    *out = (mcp_score){.cost = 0.0};
    for (int t = 0; t < m->samples; t++) {
        take(k, m, t);
        mcp_program_step(s->cost, NULL, t == 0, k->in, k->memory, k->out, k->work);
        out->cost += k->out[0];
        out->metric = s->task->metric_at ? k->out[1] : out->metric + k->out[1];
    }
    out->success = events(k, m, (int)lround(last_samples(s)), 0, &out->limit);
}
