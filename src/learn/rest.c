/* rest.c - a goal that can be held tells the model something before any trial has been there.
 *
 * A success that must last asks the plant to stay at the goal, the cheapest state at rest. Then some input
 * keeps it there, and every change that a GP predicts is zero under it. That input is not known, and no more
 * are states that the cost does not tell apart: together the unknowns w. But what the other GPs say of them
 * bounds them for GP g:
 *
 *   w = argmin sum_{h != g} change_h(w)^2 / var_h + sum_i ((w_i - middle_i)/half_i)^2,   covariance S
 *
 * GP g gets the datum "no change" at w, with its own noise and slope' S slope. Where the others bound nothing
 * that datum says nothing. All changes together must be possible by what the GPs know, else the goal is no
 * place to rest and nobody is told anything. */
#include "learn/rest.h"

#include <math.h>
#include <string.h>

#include "control/standstill.h"
#include "math/arena.h"
#include "math/linalg.h"
#include "optim/policy_init.h"

enum { ROUNDS = 8, MOST = MCP_MAX_STATE + MCP_MAX_INPUT };
static const double slope_part = 1e-3; /* of an unknown's half range  */
static const double still_part = 1e-3; /* of a state's unit: no drift */
static const double flat_part = 1e-6;  /* of the cost's rise          */
static const double doubtful = 3.0;    /* deviations                  */

typedef struct {
    const mcp_fit    *f;
    const mcp_system *s;
    mcp_policy_units  units;
    int               unknowns, state[MCP_MAX_STATE]; /* inputs first, then these states */
    double            middle[MOST], half[MOST];
    int               equations, still[MCP_MAX_STATE]; /* GPs first, then states that no GP moves */
    mcp_still         settled;
    double           *x, *in, *out, *memory, *work; /* at the goal; of the programs */
    double *change, *var;         /* [equations] at w */
    double *w, *J, *M, *step;     /* [unknowns], [equations][unknowns], [unknowns]^2, [unknowns] */
    double *plus, *minus, *spare; /* [equations] */
} rest;

/* Sizes depend on unknowns and equations, which come first. */
static size_t layout(rest *r, char *base)
{
    const mcp_system *s = r->s;
    mcp_arena         a = {.base = base};
    const size_t      nx = (size_t)s->nx, nu = (size_t)s->nu, n = (size_t)r->equations,
                 nw = (size_t)r->unknowns;
    size_t work = mcp_program_work(s->integrate), memory = (size_t)mcp_program_memory(s->integrate);
    if (mcp_program_work(s->cost) > work) work = mcp_program_work(s->cost);
    if (mcp_program_work(s->events) > work) work = mcp_program_work(s->events);
    if ((size_t)mcp_program_memory(s->cost) > memory) memory = (size_t)mcp_program_memory(s->cost);
    if ((size_t)mcp_program_memory(s->events) > memory) memory = (size_t)mcp_program_memory(s->events);
    r->settled.memory = mcp_arena_doubles(
        &a, (size_t)(mcp_program_memory(s->actuator) + mcp_program_memory(s->features)) + 1);
    r->settled.applied = mcp_arena_doubles(&a, nu);
    r->settled.f       = mcp_arena_doubles(&a, (size_t)(s->nf + s->ngp));
    r->settled.in      = mcp_arena_doubles(&a, nx + nu);
    r->settled.work    = mcp_arena_doubles(&a, mcp_standstill_work(s));
    r->x      = mcp_arena_doubles(&a, nx);
    r->in     = mcp_arena_doubles(&a, nx + nu + (size_t)s->ngp);
    r->out    = mcp_arena_doubles(&a, nx + (size_t)s->task->limits + 2);
    r->memory = mcp_arena_doubles(&a, memory + 1);
    r->work   = mcp_arena_doubles(&a, work + 1);
    r->change = mcp_arena_doubles(&a, n);
    r->var    = mcp_arena_doubles(&a, n);
    r->plus   = mcp_arena_doubles(&a, n);
    r->minus  = mcp_arena_doubles(&a, n);
    r->spare  = mcp_arena_doubles(&a, n);
    r->w      = mcp_arena_doubles(&a, nw);
    r->step   = mcp_arena_doubles(&a, nw);
    r->J      = mcp_arena_doubles(&a, n * nw);
    r->M      = mcp_arena_doubles(&a, nw * nw);
    return a.used;
}

/* First output of a program of state and inputs, the inputs in the middle of their ranges. */
static double first_output(rest *r, const mcp_program *p, const double *x)
{
    memcpy(r->in, x, (size_t)r->s->nx * sizeof *x);
    for (int i = 0; i < r->s->nu; i++) r->in[r->s->nx + i] = r->middle[i];
    mcp_program_step(p, NULL, 1, r->in, r->memory, r->out, r->work);
    return r->out[0];
}

/* 1: the cost is the same wherever this state is about the goal. */
static int is_flat(rest *r, int i)
{
    const double cost = first_output(r, r->s->cost, r->units.goal);
    int          flat = 1;
    memcpy(r->x, r->units.goal, (size_t)r->s->nx * sizeof *r->x);
    for (int side = -1; side <= 1; side += 2) {
        r->x[i] = r->units.goal[i] + side * r->units.state[i];
        flat &= fabs(first_output(r, r->s->cost, r->x) - cost) <= flat_part * r->units.cost;
    }
    return flat;
}

/* How state i moves: 1 as a velocity whose rest is known, 2 by a GP of its own, 3 as the position of one. */
static int mover(const rest *r, int i)
{
    const mcp_task *t = r->s->task;
    for (int g = 0; g < r->s->ngp; g++) {
        if (t->gp[g].state == i) return t->gp[g].kind == MCP_GP_VELOCITY ? 1 : 2;
        if (t->gp[g].position == i) return 3;
    }
    return 0;
}

/* The box that the plant visited. */
static void range_of(const rest *r, int i, double *middle, double *half)
{
    double low = INFINITY, high = -INFINITY;
    for (int k = 0; k < r->f->visits; k++) {
        double x = r->f->visited[(size_t)k * (size_t)r->s->nx + (size_t)i];
        low = fmin(low, x);
        high = fmax(high, x);
    }
    *middle = r->f->visits ? 0.5 * (low + high) : 0.0;
    *half = fmax(r->f->visits ? high - low : 0.0, r->units.state[i]);
}

static void find_unknowns(rest *r)
{
    for (int i = 0; i < r->s->nx; i++) {
        int how = mover(r, i);
        if (how == 0) r->still[r->equations++ - r->s->ngp] = i;
        if (how != 2 || !is_flat(r, i)) continue;
        range_of(r, i, &r->middle[r->unknowns], &r->half[r->unknowns]);
        r->state[r->unknowns++ - r->s->nu] = i;
    }
}

/* Every GP's change under w, its variance with the noise, and the drift of states that no GP moves. */
static mcp_status changes(rest *r, double *change, double *var, mcp_error *err)
{
    const mcp_system *s = r->s;
    const int         nx = s->nx, nu = s->nu;
    memcpy(r->x, r->units.goal, (size_t)nx * sizeof *r->x);
    for (int i = nu; i < r->unknowns; i++) r->x[r->state[i - nu]] = r->w[i];
    mcp_standstill(s, r->x, r->w, &r->settled);
    memcpy(r->in, r->settled.in, (size_t)(nx + nu) * sizeof *r->in);
    for (int g = 0; g < s->ngp; g++) {
        mcp_status st = mcp_gp_predict(r->f->gp[g], 1, r->settled.f, &change[g], &var[g], err);
        if (st != MCP_OK) return st;
        change[g] += r->settled.f[s->nf + g];
        var[g] += mcp_gp_noise_var(r->f->gp[g]);
        r->in[nx + nu + g] = 0.0;
    }
    mcp_program_step(s->integrate, NULL, 1, r->in, r->memory, r->out, r->work);
    for (int e = s->ngp; e < r->equations; e++) {
        const int    i = r->still[e - s->ngp];
        const double small = still_part * r->units.state[i];
        change[e] = r->out[i] - r->x[i];
        var[e] = small * small;
    }
    return MCP_OK;
}

static mcp_status slopes(rest *r, mcp_error *err)
{
    mcp_status st = MCP_OK;
    for (int i = 0; i < r->unknowns && st == MCP_OK; i++) {
        const double own = r->w[i], h = slope_part * r->half[i];
        r->w[i] = own + h;
        st = changes(r, r->plus, r->spare, err);
        r->w[i] = own - h;
        if (st == MCP_OK) st = changes(r, r->minus, r->spare, err);
        r->w[i] = own;
        for (int e = 0; e < r->equations; e++)
            r->J[e * r->unknowns + i] = (r->plus[e] - r->minus[e]) / (2.0 * h);
    }
    return st == MCP_OK ? changes(r, r->change, r->var, err) : st;
}

/* Gauss-Newton on w without GP `but` (-1: with all). At the end changes, slopes and the factor in M are of
 * this w. */
static mcp_status balance(rest *r, int but, mcp_error *err)
{
    const int  nw = r->unknowns;
    mcp_status st = MCP_OK;
    memcpy(r->w, r->middle, (size_t)nw * sizeof *r->w);
    for (int k = 0; k <= ROUNDS && st == MCP_OK; k++) {
        if ((st = slopes(r, err)) != MCP_OK) break;
        memset(r->M, 0, (size_t)(nw * nw) * sizeof *r->M);
        for (int i = 0; i < nw; i++) {
            r->M[i * nw + i] = 1.0 / (r->half[i] * r->half[i]);
            r->step[i] = (r->middle[i] - r->w[i]) * r->M[i * nw + i];
        }
        for (int e = 0; e < r->equations; e++)
            for (int i = 0; e != but && i < nw; i++) {
                const double slope = r->J[e * nw + i] / r->var[e];
                r->step[i] -= slope * r->change[e];
                for (int j = 0; j < nw; j++) r->M[i * nw + j] += slope * r->J[e * nw + j];
            }
        if ((st = mcp_cholesky(nw, r->M, nw, err)) != MCP_OK || k == ROUNDS) break;
        mcp_cholesky_solve(nw, r->M, nw, 1, r->step);
        for (int i = 0; i < nw; i++) r->w[i] += r->step[i];
    }
    return st;
}

/* Variance that an unknown w leaves in GP g's change. */
static double left_open(rest *r, int g)
{
    const int nw = r->unknowns;
    double    sum = 0.0;
    memcpy(r->step, r->J + g * nw, (size_t)nw * sizeof *r->step);
    mcp_cholesky_solve(nw, r->M, nw, 1, r->step);
    for (int i = 0; i < nw; i++) sum += r->step[i] * r->J[g * nw + i];
    return sum;
}

/* [ngp] data: features, target, variance beside the noise. possible: 0 when the GPs exclude such a rest. */
static mcp_status find(rest *r, double *data, int *possible, mcp_error *err)
{
    const mcp_system *s = r->s;
    mcp_status        st = MCP_OK;
    *possible = 1;
    for (int g = 0; g < s->ngp && st == MCP_OK && *possible; g++, data += s->nf + 2) {
        if ((st = balance(r, g, err)) != MCP_OK) break;
        const double open = left_open(r, g);
        memcpy(data, r->settled.f, (size_t)s->nf * sizeof *data);
        data[s->nf] = -r->settled.f[s->nf + g];
        data[s->nf + 1] = open;
        *possible = fabs(r->change[g]) <= doubtful * sqrt(r->var[g] + open); /* NaN: no */
    }
    return st == MCP_ERR_NUMERIC ? (*possible = 0, MCP_OK) : st;
}

static mcp_status tell(mcp_fit *f, const double *data, mcp_error *err)
{
    const int  nf = f->system->nf;
    mcp_status st = MCP_OK;
    for (int g = 0; g < f->system->ngp && st == MCP_OK; g++, data += nf + 2)
        st = mcp_gp_add(f->gp[g], data, data[nf], data[nf + 1], err);
    if (st == MCP_OK) f->rest = MCP_REST_USED;
    return st;
}

/* The goal: where the cost is least and success holds. 0: there is none. */
static int holds(rest *r)
{
    if (!isfinite(r->units.goal[0]) || !(r->units.cost > 0.0)) return 0;
    return first_output(r, r->s->events, r->units.goal) != 0.0;
}

mcp_status mcp_fit_rest(mcp_fit *f, uint64_t seed, mcp_error *err)
{
    const mcp_system        *s = f->system;
    const mcp_policy_request q = {.system = s,
                                  .visited = f->visited,
                                  .visits = f->visits,
                                  .seed = seed,
                                  .draw = UINT32_MAX};
    rest    r = {.f = f, .s = s, .unknowns = s->nu + s->nx, .equations = s->ngp + s->nx};
    void   *block = NULL;
    double *data = NULL;
    int     possible = 0;
    f->rest = MCP_REST_NONE;
    if (!s->task->success.text || !(s->task->success_last > s->ts) || !s->ngp) return MCP_OK;
    mcp_status st = mcp_block_alloc(&block, layout(&r, NULL), err);
    if (st != MCP_OK) return st;
    layout(&r, block);
    r.unknowns = s->nu;
    r.equations = s->ngp;
    for (int i = 0; i < s->nu; i++) {
        r.middle[i] = mcp_input_centre(&s->task->input[i]);
        r.half[i] = mcp_input_reach(&s->task->input[i]);
    }
    st = mcp_policy_measure(&q, &r.units, err);
    if (st == MCP_OK && holds(&r)) {
        find_unknowns(&r);
        data = mcp_calloc((size_t)s->ngp * (size_t)(s->nf + 2), sizeof *data);
        st = data ? find(&r, data, &possible, err)
                  : mcp_fail(err, MCP_ERR_MEMORY, "out of memory for the model");
        if (st == MCP_OK && possible) st = tell(f, data, err);
        else f->rest = MCP_REST_CONTRADICTED;
    }
    mcp_free(data);
    mcp_policy_units_free(&r.units);
    mcp_block_free(block);
    return st;
}
