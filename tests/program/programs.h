/* programs.h - programs for tests, written as lines:
 *   "input x"   "const g 9.81"   "define a = .."   "memory m = .."   "next m = .."   "output y = .."      */
#ifndef PROGRAMS_H
#define PROGRAMS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "math/arena.h"
#include "program/program.h"

static inline mcp_status program_build(mcp_program **out, const char *const *line, mcp_error *err)
{
    mcp_builder *b  = NULL;
    mcp_status   st = mcp_builder_create(&b, err);
    mcp_where    w  = {NULL, 0, 0};
    *out            = NULL;
    for (; st == MCP_OK && *line; line++) {
        char   kind[16], name[80];
        int    at = 0;
        double v  = 0.0;
        sscanf(*line, "%15s %79s%n", kind, name, &at);
        const char *expr = strchr(*line + at, '=');
        expr             = expr ? expr + 1 : "";
        if (!strcmp(kind, "input")) st = mcp_builder_input(b, name, err);
        else if (!strcmp(kind, "const") && sscanf(*line + at, "%lf", &v) == 1)
            st = mcp_builder_constant(b, name, v, err);
        else if (!strcmp(kind, "define")) st = mcp_builder_define(b, name, expr, w, err);
        else if (!strcmp(kind, "memory")) st = mcp_builder_memory(b, name, expr, w, err);
        else if (!strcmp(kind, "next")) st = mcp_builder_next(b, name, expr, w, err);
        else if (!strcmp(kind, "output")) st = mcp_builder_output(b, name, expr, w, err);
        else abort();
    }
    if (st == MCP_OK) st = mcp_builder_finish(b, out, err);
    mcp_builder_free(b);
    return st;
}

/* y = expr of x1, x2, x3: a program of one output */
static inline mcp_status program_of(mcp_program **out, const char *expr, mcp_error *err)
{
    char        line[4096];
    const char *lines[] = {"input x1", "input x2", "input x3", line, NULL};
    snprintf(line, sizeof line, "output y =%s", expr);
    return program_build(out, lines, err);
}

/* Small reproducible numbers in (-1, 1). */
static inline double pseudo(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (double)(*state >> 8) / 8388608.0 - 1.0;
}

static inline double *block(size_t n)
{
    void *p = NULL;
    if (mcp_block_alloc(&p, n * sizeof(double), NULL) != MCP_OK) abort();
    return p;
}

static inline double *random_block(size_t n, double scale, unsigned *state)
{
    double *x = block(n);
    for (size_t i = 0; i < n; i++) x[i] = scale * pseudo(state);
    return x;
}

/* theta as a start would have it: params at their start, the rest random. */
static inline double *random_theta(const mcp_program *p, unsigned *state)
{
    double *theta = random_block((size_t)mcp_program_params(p) + 1, 1.0, state);
    for (int i = 0; i < mcp_program_groups(p); i++) {
        const mcp_param_group *g = mcp_program_group(p, i);
        if (g->kind == MCP_PARAM_SCALAR) theta[g->offset] = g->start;
        for (int k = 0; g->kind == MCP_RBF_LOG_LENGTHS && k < g->count; k++)
            theta[g->offset + k] = 0.3 * theta[g->offset + k];
    }
    return theta;
}

/* A sequence of T samples for n lanes, forward and (optionally) back. J = sum over t, outputs, lanes of c *
 * out, with weights c given; last memory counts too. */
typedef struct {
    const mcp_program *p;
    mcp_isa            level;
    int                T, n, ld;
    double             keep_scale;
    double            *theta, *in, *c, *c_mem; /* in [T][inputs][ld], c [T][outputs][ld], c_mem [slots][ld] */
    uint8_t           *keep; /* [T], activations x ld bytes each, or NULL */
    double            *out, *mem;              /* [T][outputs][ld], [T+1][slots][ld] */
    double            *tape;                   /* [T][..] */
    double            *in_bar, *sums, *theta_bar;
} sequence;

static inline void sequence_create(sequence *s, const mcp_program *p, int T, int n, double scale, int dropout,
                                   unsigned seed)
{
    unsigned state = seed;
    size_t ni = (size_t)mcp_program_inputs(p), no = (size_t)mcp_program_outputs(p),
           ns = (size_t)mcp_program_memory(p);
    size_t   ld = (size_t)n, t = (size_t)T, na = (size_t)mcp_program_activations(p);
    *s       = (sequence){.p = p, .level = mcp_isa_level(), .T = T, .n = n, .ld = n, .keep_scale = 1.0};
    s->theta = random_theta(p, &state);
    s->in    = random_block(t * ni * ld, scale, &state);
    s->c     = random_block(t * no * ld, 1.0, &state);
    s->c_mem = random_block(ns * ld, 1.0, &state);
    s->out   = block(t * no * ld);
    s->mem   = block((t + 1) * ns * ld);
    s->tape  = block(t * mcp_program_tape(p, n));
    s->in_bar    = block(t * ni * ld);
    s->sums      = block(mcp_program_sums(p) * ld / MCP_LANES);
    s->theta_bar = block((size_t)mcp_program_params(p) + 1);
    if (dropout && na) {
        s->keep       = calloc(t * na * ld, 1);
        s->keep_scale = 1.0 / 0.75;
        for (size_t i = 0; i < t * na * ld; i++) s->keep[i] = pseudo(&state) < 0.5 ? 255 : 0;
    }
}

static inline void sequence_free(sequence *s)
{
    double *all[] = {s->theta, s->in,   s->c,      s->c_mem, s->out,
                     s->mem,   s->tape, s->in_bar, s->sums,  s->theta_bar};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) mcp_block_free(all[i]);
    free(s->keep);
}

/* Step t of the sequence, either way. */
static inline mcp_batch_call sequence_call(const sequence *s, int t)
{
    const mcp_program *p = s->p;
    size_t ni = (size_t)mcp_program_inputs(p), no = (size_t)mcp_program_outputs(p),
           ns = (size_t)mcp_program_memory(p);
    size_t ld = (size_t)s->ld, na = (size_t)mcp_program_activations(p), at = (size_t)t;
    return (mcp_batch_call){.program = p,
                            .level = s->level,
                            .theta = s->theta,
                            .first = t == 0,
                            .n = s->n,
                            .ld = s->ld,
                            .in = s->in + at * ni * ld,
                            .mem = s->mem + at * ns * ld,
                            .keep = s->keep ? s->keep + at * na * ld : NULL,
                            .keep_scale = s->keep_scale,
                            .tape = s->tape + at * mcp_program_tape(p, s->ld),
                            .out = s->out + at * no * ld,
                            .next = s->mem + (at + 1) * ns * ld,
                            .out_bar = s->c + at * no * ld,
                            .in_bar = s->in_bar + at * ni * ld};
}

static inline double sequence_forward(sequence *s)
{
    const mcp_program *p = s->p;
    size_t no = (size_t)mcp_program_outputs(p), ns = (size_t)mcp_program_memory(p), ld = (size_t)s->ld;
    double J = 0.0;
    for (int t = 0; t < s->T; t++) {
        size_t at = (size_t)t;
        mcp_batch_call c = sequence_call(s, t);
        mcp_batch_forward(&c);
        for (size_t i = 0; i < no * ld; i++) J += s->c[at * no * ld + i] * s->out[at * no * ld + i];
    }
    for (size_t i = 0; i < ns * ld; i++) J += s->c_mem[i] * s->mem[(size_t)s->T * ns * ld + i];
    return J;
}

static inline void sequence_backward(sequence *s)
{
    const mcp_program *p = s->p;
    size_t ni = (size_t)mcp_program_inputs(p), ns = (size_t)mcp_program_memory(p);
    size_t ld = (size_t)s->ld, nsum = mcp_program_sums(p);
    double *scratch = block(mcp_program_scratch(p, s->ld)), *next_bar = block(ns * ld),
           *mem_bar = block(ns * ld);
    memset(s->sums, 0, sizeof(double) * nsum * ld / MCP_LANES);
    memset(s->in_bar, 0, sizeof(double) * (size_t)s->T * ni * ld);
    memset(s->theta_bar, 0, sizeof(double) * (size_t)mcp_program_params(p));
    memcpy(next_bar, s->c_mem, sizeof(double) * ns * ld);
    for (int t = s->T - 1; t >= 0; t--) {
        mcp_batch_call c = sequence_call(s, t);
        memset(mem_bar, 0, sizeof(double) * ns * ld);
        c.next_bar = next_bar;
        c.scratch = scratch;
        c.mem_bar = mem_bar;
        c.sums = s->sums;
        c.sums_stride = nsum;
        mcp_batch_backward(&c);
        memcpy(next_bar, mem_bar, sizeof(double) * ns * ld);
    }
    double *total = block(nsum);
    for (size_t g = 0; g < ld / MCP_LANES; g++)
        mcp_program_sums_add(p, s->theta, 0, s->sums + g * nsum, total);
    mcp_program_gradient(p, s->theta, total, s->theta_bar);
    mcp_block_free(scratch);
    mcp_block_free(next_bar);
    mcp_block_free(mem_bar);
    mcp_block_free(total);
}

#endif
