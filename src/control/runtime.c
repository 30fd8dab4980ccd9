/* runtime.c - one sample of the controller, whoever runs it. */
#include "control/runtime.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "control/compose.h"
#include "math/angle.h"
#include "math/arena.h"

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static void part_layout(mcp_runtime_part *p, mcp_arena *a, const mcp_program *program, const mcp_system *s)
{
    const size_t slots = (size_t)mcp_program_memory(program), ny = (size_t)s->ny;
    p->program      = program;
    p->slots        = (int)slots;
    p->memory       = mcp_arena_doubles(a, slots);
    p->trying       = mcp_arena_doubles(a, slots);
    p->slot_turns   = mcp_arena_doubles(a, ny * slots);
    p->output_turns = mcp_arena_doubles(a, ny * (size_t)(s->nu + s->nx));
    p->reduced      = mcp_arena_u8(a, ny);
}

static size_t layout(mcp_runtime *r, char *mem)
{
    const mcp_system *s = r->system;
    const size_t      nx = (size_t)s->nx, ny = (size_t)s->ny, nu = (size_t)s->nu;
    mcp_arena         a = {.base = mem};
    size_t            work = larger(mcp_program_work(s->controller), mcp_program_work(s->given));
    work = larger(work, mcp_program_work(s->safe) + (size_t)mcp_program_memory(s->safe));
    r->measured = mcp_arena_doubles(&a, ny);
    r->observed = mcp_arena_doubles(&a, nx);
    r->command  = mcp_arena_doubles(&a, nu);
    r->raw      = mcp_arena_doubles(&a, ny);
    r->turns    = mcp_arena_doubles(&a, ny);
    r->shift    = mcp_arena_doubles(&a, ny);
    r->in       = mcp_arena_doubles(&a, nx + ny + nu);
    r->out      = mcp_arena_doubles(&a, nu + nx);
    r->work     = mcp_arena_doubles(&a, work);
    part_layout(&r->policy, &a, s->controller, s);
    part_layout(&r->given, &a, s->given, s);
    return a.used;
}

/* The program may see raw angles where it gives the same commands for them. */
static mcp_status find_turns(mcp_runtime_part *p, const mcp_system *s, mcp_error *err)
{
    char       name[MCP_NAME_SIZE];
    const int  outputs = s->nu + s->nx;
    mcp_status st = MCP_OK;
    for (int i = 0; i < s->nu; i++)
        p->last[i] = mcp_program_slot(p->program, mcp_compose_name(name, "last_%s", s->task->input[i].name));
    for (int i = 0; i < s->ny && st == MCP_OK; i++) {
        double *slot = p->slot_turns + i * p->slots, *output = p->output_turns + i * outputs;
        if (!s->task->measured[i].angle) continue;
        st = mcp_program_turns(p->program, i, slot, output, err);
        int fine = 1;
        for (int m = 0; m < p->slots; m++) fine &= isfinite(slot[m]) != 0;
        for (int j = 0; j < outputs; j++) fine &= j < s->nu ? output[j] == 0.0 : isfinite(output[j]) != 0;
        p->reduced[i] = (uint8_t)fine;
    }
    return st;
}

mcp_status mcp_runtime_create(mcp_runtime **out, const mcp_system *s, mcp_error *err)
{
    mcp_runtime *r = mcp_calloc(1, sizeof *r);
    *out = NULL;
    if (!r) return mcp_fail(err, MCP_ERR_MEMORY, "out of memory for a controller");
    r->system = s;
    r->observers = s->observers;
    mcp_status st = mcp_block_alloc(&r->block, layout(r, NULL), err);
    if (st == MCP_OK) {
        layout(r, r->block);
        st = find_turns(&r->policy, s, err);
    }
    if (st == MCP_OK) st = find_turns(&r->given, s, err);
    if (st != MCP_OK) {
        mcp_runtime_free(r);
        return st;
    }
    mcp_runtime_reset(r);
    *out = r;
    return MCP_OK;
}

void mcp_runtime_free(mcp_runtime *r)
{
    if (!r) return;
    mcp_block_free(r->block);
    mcp_free(r);
}

mcp_status mcp_runtime_renew(mcp_runtime **r, mcp_error *err)
{
    mcp_runtime *next = NULL;
    if ((*r)->observers == (*r)->system->observers) {
        mcp_runtime_reset(*r);
        return MCP_OK;
    }
    mcp_status st = mcp_runtime_create(&next, (*r)->system, err);
    if (st != MCP_OK) return st;
    mcp_runtime_free(*r);
    *r = next;
    return MCP_OK;
}

void mcp_runtime_reset(mcp_runtime *r)
{
    const mcp_system *s = r->system;
    double            variance;
    r->started = 0;
    r->fault   = MCP_FAULT_NONE;
    memset(r->turns, 0, (size_t)s->ny * sizeof *r->turns);
    for (int i = 0; i < s->nu; i++) r->command[i] = mcp_input_rest(&s->task->input[i]);
    for (int i = 0; i < s->nx; i++)
        mcp_start_moments(&s->task->start, s->nx, i, &r->observed[i], &variance);
}

int mcp_runtime_counts(const mcp_runtime *r, int i)
{
    return r->system->task->measured[i].angle && !r->policy.reduced[i];
}

static int first_bad(int n, const double *v)
{
    for (int i = 0; i < n; i++)
        if (!isfinite(v[i])) return i;
    return -1;
}

/* The program's inputs, and its memory turned to the frame they are in. */
static void turn(mcp_runtime *r, mcp_runtime_part *p, const double *measured)
{
    const mcp_system *s = r->system;
    memcpy(p->trying, p->memory, (size_t)p->slots * sizeof *p->memory);
    for (int i = 0; i < s->ny; i++) {
        const int angle = s->task->measured[i].angle;
        r->shift[i]    = angle && r->started ? mcp_turns_to(r->raw[i], measured[i]) : 0.0;
        r->measured[i] = angle ? measured[i] + MCP_TURN * (r->turns[i] + r->shift[i]) : measured[i];
        r->in[i]       = angle && !p->reduced[i] ? r->measured[i] : measured[i];
        if (!p->reduced[i] || r->shift[i] == 0.0) continue;
        for (int m = 0; m < p->slots; m++)
            if (p->slot_turns[i * p->slots + m] != 0.0)
                p->trying[m] -= p->slot_turns[i * p->slots + m] * (MCP_TURN * r->shift[i]);
    }
}

/* The observed state back in unwrapped angles. */
static void turn_back(mcp_runtime *r, const mcp_runtime_part *p)
{
    const mcp_system *s = r->system;
    for (int i = 0; i < s->ny; i++)
        for (int j = s->nu; p->reduced[i] && j < s->nu + s->nx; j++) {
            double k = p->output_turns[i * (s->nu + s->nx) + j];
            if (k != 0.0) r->out[j] += k * (MCP_TURN * (r->turns[i] + r->shift[i]));
        }
}

static mcp_fault fail(mcp_runtime *r, mcp_runtime_part *p, mcp_fault fault, int at)
{
    mcp_runtime_safe(r, r->command);
    for (int i = 0; i < r->system->nu; i++)
        if (p->last[i] >= 0) p->memory[p->last[i]] = r->command[i];
    r->at = at;
    return r->fault = fault;
}

mcp_fault mcp_runtime_step(mcp_runtime *r, const double *theta, const double *given, const double *measured)
{
    const mcp_system *s = r->system;
    mcp_runtime_part *p = theta || !given ? &r->policy : &r->given;
    int               bad;
    turn(r, p, measured);
    if ((bad = first_bad(s->ny, r->measured)) >= 0) return fail(r, p, MCP_FAULT_MEASURED, bad);
    if (p == &r->given) memcpy(r->in + s->ny, given, (size_t)s->nu * sizeof *given);
    mcp_program_step(p->program, theta, !r->started, r->in, p->trying, r->out, r->work);
    turn_back(r, p);
    if ((bad = first_bad(s->nx, r->out + s->nu)) >= 0) return fail(r, p, MCP_FAULT_OBSERVED, bad);
    if ((bad = first_bad(s->nu, r->out)) >= 0) return fail(r, p, MCP_FAULT_COMMAND, bad);
    if (first_bad(p->slots, p->trying) >= 0) return fail(r, p, MCP_FAULT_MEMORY, 0);

    memcpy(p->memory, p->trying, (size_t)p->slots * sizeof *p->memory);
    memcpy(r->raw, measured, (size_t)s->ny * sizeof *measured);
    memcpy(r->command, r->out, (size_t)s->nu * sizeof *r->out);
    memcpy(r->observed, r->out + s->nu, (size_t)s->nx * sizeof *r->out);
    for (int i = 0; i < s->ny; i++) r->turns[i] += r->shift[i];
    r->started = 1;
    return r->fault = MCP_FAULT_NONE;
}

void mcp_runtime_safe(mcp_runtime *r, double *safe)
{
    const mcp_system *s = r->system;
    memcpy(r->in, r->observed, (size_t)s->nx * sizeof *r->in);
    memcpy(r->in + s->nx, r->command, (size_t)s->nu * sizeof *r->in);
    mcp_program_step(s->safe, NULL, 1, r->in, r->work + mcp_program_work(s->safe), r->out, r->work);
    for (int i = 0; i < s->nu; i++)
        safe[i] = isfinite(r->out[i]) ? r->out[i] : mcp_input_rest(&s->task->input[i]);
}

void mcp_runtime_limit(mcp_runtime *r, int samples, double *u)
{
    const int    nu = r->system->nu;
    const double measured[MCP_MAX_STATE] = {0}; /* what is measured does not reach commands that are given */
    mcp_runtime_reset(r);
    for (int k = 0; k < samples; k++) {
        mcp_runtime_step(r, NULL, u + k * nu, measured);
        memcpy(u + k * nu, r->command, (size_t)nu * sizeof *u);
    }
    mcp_runtime_reset(r);
}
