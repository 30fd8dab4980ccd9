/* pairs.c - smoothed states -> GP data: f(x(t), u(t)), the input as the smoother mixes it, and x_g(t+1) -
 * x_g(t) minus the prior mean, for every pair of neighbouring samples of every trial. Features with memory
 * run through the trial from its first sample. */
#include <math.h>
#include <string.h>

#include "estimate/estimate.h"
#include "estimate/known.h"
#include "math/arena.h"

static size_t layout(mcp_pairs *p, char *mem)
{
    mcp_arena a = {.base = mem, .used = 0};
    size_t    n = (size_t)p->n;
    mcp_arena_bytes(&a, sizeof *p);
    p->X = mcp_arena_doubles(&a, n * (size_t)p->nf);
    p->Y = mcp_arena_doubles(&a, n * (size_t)p->ngp);
    return a.used;
}

typedef struct {
    double *in, *mem, *out, *work,
        *head; /* of the features program; head: states before the first estimate */
} scratch;

static mcp_status scratch_create(scratch *w, const mcp_system *s, int head, mcp_error *err)
{
    const mcp_program *p = s->features;
    size_t in = (size_t)mcp_program_inputs(p), mem = (size_t)mcp_program_memory(p),
           out = (size_t)mcp_program_outputs(p);
    size_t work = mcp_program_work(p);
    w->in = mcp_calloc(in + mem + out + work + (size_t)head * (size_t)s->nx + 1, sizeof(double));
    if (!w->in) return mcp_fail(err, MCP_ERR_MEMORY, "out of memory for the model's data");
    w->mem  = w->in + in;
    w->out  = w->mem + mem;
    w->work = w->out + out;
    w->head = w->work + work;
    return MCP_OK;
}

/* Which linear mean of neighbouring inputs belongs to a smoothed change. Central differences of positions
 * give v(t+1) - v(t) = Ts (a(t-1) + 2 a(t) + a(t+1))/4        with a the acceleration over each sample, so
 * the change answers to the same mean of the inputs. Paired with u(t) alone, a switching input would seem to
 * have half of its gain (or, seen from the policy, to act a sample early). */
static void matched_input(const mcp_system *s, const mcp_trial *t, int k, int matched, double *u)
{
    size_t nu = (size_t)s->nu;
    for (size_t i = 0; i < nu; i++) {
        const double *at = t->applied + (size_t)k * nu + i;
        u[i] = *at;
        if (matched && k > 0 && isfinite(at[nu])) u[i] = 0.25 * (*(at - nu) + 2.0 * *at + at[nu]);
    }
}

static mcp_status add_trial(mcp_pairs *p, int at, const mcp_system *s, const mcp_trial *t, mcp_states *z,
                            scratch *w, mcp_error *err)
{
    size_t     nx = (size_t)s->nx;
    int matched = s->task->smoother.type == MCP_SMOOTHER_CENTRAL && s->task->smoother.match_inputs &&
                  z->first > 0 && !z->refined;
    mcp_status st = mcp_estimate_known(s, t, z, w->head, err);
    if (st != MCP_OK) return st;
    for (int k = 0; k < z->first + z->count - 1; k++) {
        int           j = k - z->first;
        const double *x = j < 0 ? w->head + (size_t)k * nx : z->state + (size_t)j * nx;
        memcpy(w->in, x, nx * sizeof *x);
        matched_input(s, t, k, matched, w->in + nx);
        mcp_program_step(s->features, NULL, k == 0, w->in, w->mem, w->out, w->work);
        if (j < 0) continue;
        memcpy(p->X + (size_t)(at + j) * (size_t)p->nf, w->out, (size_t)p->nf * sizeof *x);
        for (int g = 0; g < p->ngp; g++) {
            int           i = s->task->gp[g].state;
            const double *from = (z->target ? z->target + (size_t)j * nx : x) + i;
            double        change = from[nx] - from[0] - w->out[p->nf + g];
            if (!isfinite(change))
                return mcp_fail(
                    err, MCP_ERR_NUMERIC,
                    "the change of %s at sample %d is not finite; look at the trial's measurements "
                    "and at the prior mean",
                    s->task->state[i], k);
            p->Y[(size_t)g * (size_t)p->n + (size_t)(at + j)] = change;
        }
    }
    return MCP_OK;
}

mcp_status mcp_estimate_features(const mcp_system *s, const mcp_trial *t, mcp_states *z, double *X,
                                 double *prior, mcp_error *err)
{
    size_t     nx = (size_t)s->nx, nf = (size_t)s->nf, ngp = (size_t)s->ngp;
    scratch    w = {0};
    mcp_status st = scratch_create(&w, s, z->first, err);
    if (st == MCP_OK) st = mcp_estimate_known(s, t, z, w.head, err);
    for (int k = 0; k < z->first + z->count && st == MCP_OK; k++) {
        int           j = k - z->first;
        const double *x = j < 0 ? w.head + (size_t)k * nx : z->state + (size_t)j * nx;
        memcpy(w.in, x, nx * sizeof *x);
        matched_input(s, t, k, 0, w.in + nx);
        mcp_program_step(s->features, NULL, k == 0, w.in, w.mem, w.out, w.work);
        if (j < 0) continue;
        memcpy(X + (size_t)j * nf, w.out, nf * sizeof *X);
        memcpy(prior + (size_t)j * ngp, w.out + nf, ngp * sizeof *prior);
    }
    mcp_free(w.in);
    return st;
}

mcp_status mcp_estimate_pairs(mcp_pairs **out, const mcp_system *s, int trials, mcp_trial *const *trial,
                              mcp_states *const *states, mcp_error *err)
{
    mcp_pairs  size = {.nf = s->nf, .ngp = s->ngp};
    scratch    w = {0};
    void      *block = NULL;
    int        head = 0, at = 0;
    mcp_status st;

    *out = NULL;
    for (int i = 0; i < trials; i++) {
        if (states[i]->count > 1) size.n += states[i]->count - 1;
        head = states[i]->first > head ? states[i]->first : head;
    }
    if ((st = mcp_block_alloc(&block, layout(&size, NULL), err)) != MCP_OK) return st;
    layout(&size, block);
    if ((st = scratch_create(&w, s, head, err)) != MCP_OK) goto done;
    for (int i = 0; i < trials; i++) {
        if (states[i]->count < 2) continue;
        if ((st = add_trial(&size, at, s, trial[i], states[i], &w, err)) != MCP_OK) goto done;
        at += states[i]->count - 1;
    }
    *out  = block;
    **out = size;
    block = NULL;
done:
    mcp_free(w.in);
    mcp_block_free(block);
    return st;
}

void mcp_pairs_free(mcp_pairs *p)
{
    mcp_block_free(p);
}
