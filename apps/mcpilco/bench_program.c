/* bench_program.c - mcpilco bench program: time of the controller program in the particles, one thread. The
 * cart-pole controller (difference and low-pass, rbf of five features, tanh), dropout on, a block of
 * particles forward over the whole horizon and back. The batch run is compared with the one-sample run before
 * it is timed. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "math/arena.h"
#include "math/clock.h"
#include "program/program.h"

/* A time is the best of at least so many runs and of half a second: other programs can only make one slower.
 */
enum { REPEATS = 30 };

typedef struct {
    int          particles, steps, basis, block, json, twice; /* twice: double precision */
    mcp_program *p;
    mcp_isa      level;
    double *theta, *in, *mem, *tape, *out, *out_bar, *mem_bar, *in_bar, *scratch, *sums, *work,
        *table;
    uint8_t *keep;
    void    *memory;
} work;

static mcp_status controller(mcp_program **out, int basis, mcp_error *err)
{
    mcp_where    w = {NULL, 0, 0};
    mcp_builder *b = NULL;
    char         policy[160];
    mcp_status   st = mcp_builder_create(&b, err);
    snprintf(policy, sizeof policy, "10*tanh(rbf(%d, p, dp, dtheta, cos(theta), sin(theta))/10)", basis);
    if (st == MCP_OK) st = mcp_builder_input(b, "p", err);
    if (st == MCP_OK) st = mcp_builder_input(b, "theta", err);
    if (st == MCP_OK) st = mcp_builder_define(b, "vp", "(p - prev(p))*30", w, err);
    if (st == MCP_OK) st = mcp_builder_define(b, "vtheta", "(theta - prev(theta))*30", w, err);
    if (st == MCP_OK) st = mcp_builder_define(b, "dp", "0.5*vp + 0.5*prev(vp)", w, err);
    if (st == MCP_OK) st = mcp_builder_define(b, "dtheta", "0.5*vtheta + 0.5*prev(vtheta)", w, err);
    if (st == MCP_OK) st = mcp_builder_output(b, "u", policy, w, err);
    if (st == MCP_OK) st = mcp_builder_finish(b, out, err);
    mcp_builder_free(b);
    return st;
}

static size_t layout(work *w, char *mem)
{
    mcp_arena a = {.base = mem};
    size_t    ld = (size_t)w->block, T = (size_t)w->steps, ns = (size_t)mcp_program_memory(w->p);
    w->theta   = mcp_arena_doubles(&a, (size_t)mcp_program_params(w->p));
    w->in      = mcp_arena_doubles(&a, T * 2 * ld);
    w->mem     = mcp_arena_doubles(&a, (T + 1) * ns * ld);
    w->tape    = mcp_arena_doubles(&a, T * mcp_program_tape(w->p, w->block));
    w->out     = mcp_arena_doubles(&a, T * ld);
    w->out_bar = mcp_arena_doubles(&a, ld);
    w->mem_bar = mcp_arena_doubles(&a, 2 * ns * ld);
    w->in_bar  = mcp_arena_doubles(&a, T * 2 * ld);
    w->scratch = mcp_arena_doubles(&a, mcp_program_scratch(w->p, w->block));
    w->sums    = mcp_arena_doubles(&a, mcp_program_sums(w->p) * ld / MCP_LANES);
    w->work    = mcp_arena_doubles(&a, mcp_program_work(w->p));
    w->table   = mcp_arena_doubles(&a, mcp_program_table(w->p));
    w->keep    = mcp_arena_u8(&a, T * (size_t)mcp_program_activations(w->p) * ld);
    return a.used;
}

static void fill(work *w)
{
    unsigned s  = 1;
    size_t   ld = (size_t)w->block, T = (size_t)w->steps;
    for (size_t t = 0; t < T; t++) /* smooth motions of a few rad/s, another one in every lane */
        for (size_t i = 0; i < 2 * ld; i++)
            w->in[t * 2 * ld + i] = 2.0 * sin(0.05 * (double)t + 0.7 * (double)i);
    for (int i = 0; i < mcp_program_params(w->p); i++) w->theta[i] = sin(1.3 * i);
    for (size_t i = 0; i < ld; i++) w->out_bar[i] = cos(0.3 * (double)i);
    mcp_program_tabulate(w->p, w->theta, w->table);
    for (size_t i = 0; i < T * (size_t)mcp_program_activations(w->p) * ld; i++) {
        s          = s * 1664525u + 1013904223u;
        w->keep[i] = (s >> 30) != 0 ? 255 : 0;
    }
}

static mcp_batch_call call_at(const work *w, const uint8_t *keep, int t)
{
    size_t ld = (size_t)w->block, ns = (size_t)mcp_program_memory(w->p), at = (size_t)t;
    return (mcp_batch_call){.program = w->p,
                            .level = w->level,
                            .theta = w->theta,
                            .table = w->twice ? NULL : w->table,
                            .first = !t,
                            .n = w->block,
                            .ld = w->block,
                            .in = w->in + at * 2 * ld,
                            .mem = w->mem + at * ns * ld,
                            .keep = keep ? keep + at * (size_t)mcp_program_activations(w->p) * ld : NULL,
                            .keep_scale = 4.0 / 3.0,
                            .tape = w->tape + at * mcp_program_tape(w->p, w->block),
                            .out = w->out + at * ld,
                            .next = w->mem + (at + 1) * ns * ld};
}

static void forward(work *w, const uint8_t *keep)
{
    for (int t = 0; t < w->steps; t++) {
        mcp_batch_call c = call_at(w, keep, t);
        mcp_batch_forward(&c);
    }
}

static void backward(work *w)
{
    size_t ld = (size_t)w->block, ns = (size_t)mcp_program_memory(w->p);
    memset(w->mem_bar, 0, sizeof(double) * 2 * ns * ld);
    for (int t = w->steps - 1; t >= 0; t--) {
        size_t  at = (size_t)t;
        double *now_bar = w->mem_bar + (at & 1) * ns * ld, *next_bar = w->mem_bar + (~at & 1) * ns * ld;
        memset(now_bar, 0, sizeof(double) * ns * ld);
        mcp_batch_call c = call_at(w, w->keep, t);
        c.out_bar = w->out_bar;
        c.next_bar = next_bar;
        c.scratch = w->scratch;
        c.in_bar = w->in_bar + at * 2 * ld;
        c.mem_bar = now_bar;
        c.sums = w->sums;
        c.sums_stride = mcp_program_sums(w->p);
        mcp_batch_backward(&c);
    }
}

/* Largest difference between the batch's first lane and the one-sample run, without dropout. */
static double check(work *w)
{
    size_t ld = (size_t)w->block;
    double mem[16] = {0}, worst = 0.0, u, in[2];
    forward(w, NULL);
    for (int t = 0; t < w->steps; t++) {
        for (int i = 0; i < 2; i++) in[i] = w->in[((size_t)t * 2 + (size_t)i) * ld];
        mcp_program_step(w->p, w->theta, !t, in, mem, &u, w->work);
        worst = fmax(worst, fabs(u - w->out[(size_t)t * ld]));
    }
    return worst;
}

static void measure(work *w)
{
    double best[2] = {INFINITY, INFINITY}, blocks = ceil((double)w->particles / w->block);
    double units = (double)w->steps * w->block * w->basis;
    double begin = mcp_clock();
    for (int r = 0; r < REPEATS || mcp_clock() - begin < 0.5; r++) {
        double t0 = mcp_clock();
        forward(w, w->keep);
        double t1 = mcp_clock();
        backward(w);
        best[0] = fmin(best[0], t1 - t0);
        best[1] = fmin(best[1], mcp_clock() - t1);
    }
    const char *form = w->json ? "{\"level\": \"%s\", \"particles\": %d, \"steps\": %d, \"basis\": %d, "
                                 "\"block\": %d, \"forward_ms\": %.3f, \"backward_ms\": %.3f, "
                                 "\"forward_ns\": %.3f, \"backward_ns\": %.3f}\n"
                               : "level %s, %d particles, %d steps, %d basis functions, blocks of "
                                 "%d\nforward  %8.3f ms\nbackward %8.3f ms\n"
                                 "%.3f and %.3f ns per basis function and particle\n";
    printf(form, mcp_isa_name(w->level), w->particles, w->steps, w->basis, w->block, best[0] * blocks * 1e3,
           best[1] * blocks * 1e3, best[0] / units * 1e9, best[1] / units * 1e9);
}

int bench_program(int argc, char **argv)
{
    work w = {.particles = 400, .steps = 90, .basis = 200, .block = 40, .level = mcp_isa_level()};
    struct {
        const char *name;
        int        *value, most;
    } const keys[] = {{"--particles", &w.particles, 100000},
                      {"--horizon", &w.steps, 10000},
                      {"--basis", &w.basis, 10000},
                      {"--block", &w.block, 4096}};
    for (int i = 1; i < argc; i++) {
        int known = !strcmp(argv[i], "--json") || !strcmp(argv[i], "--double");
        if (!strcmp(argv[i], "--json")) w.json = 1;
        if (!strcmp(argv[i], "--double")) w.twice = 1;
        for (size_t k = 0; !known && i + 1 < argc && k < sizeof keys / sizeof *keys; k++)
            if (!strcmp(argv[i], keys[k].name)) {
                *keys[k].value = atoi(argv[++i]);
                known          = *keys[k].value >= 1 && *keys[k].value <= keys[k].most;
                break;
            }
        if (!known) {
            fprintf(stderr, "usage: mcpilco bench program [--particles N] [--horizon N] [--basis N] [--block "
                            "N] [--double] [--json]\n");
            return 2;
        }
    }
    w.block       = mcp_round_lanes(w.block);
    mcp_error err = {MCP_OK, ""};
    int       code = 1;
    if (controller(&w.p, w.basis, &err) == MCP_OK &&
        mcp_block_alloc(&w.memory, layout(&w, NULL), &err) == MCP_OK) {
        layout(&w, w.memory);
        fill(&w);
        double worst = check(&w);
        if (worst < (w.twice ? 1e-11 : 1e-4)) {
            measure(&w);
            code = 0;
        } else {
            snprintf(err.text, sizeof err.text, "the batch run and the one-sample run differ by %g", worst);
        }
    }
    if (code) fprintf(stderr, "mcpilco bench program: %s\n", err.text);
    mcp_program_free(w.p);
    mcp_block_free(w.memory);
    return code;
}
