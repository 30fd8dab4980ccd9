/* Any bytes as an expression: an error with a message, or a program that runs, runs back and prints. Built
 * with -DMCP_FUZZ=ON (clang); run as fuzz_expression -max_total_time=60. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "math/arena.h"
#include "program/program.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static double *doubles(size_t n)
{
    void *p = NULL;
    if (mcp_block_alloc(&p, n * sizeof(double), NULL) != MCP_OK) abort();
    return p;
}

static void run(const mcp_program *p)
{
    size_t ni = (size_t)mcp_program_inputs(p), ns = (size_t)mcp_program_memory(p),
           np = (size_t)mcp_program_params(p);
    if (mcp_program_tape(p, MCP_LANES) > 1000000) return;
    double *theta = doubles(np), *in = doubles(ni * MCP_LANES), *mem = doubles(ns * MCP_LANES),
           *next = doubles(ns * MCP_LANES);
    double *out = doubles(MCP_LANES), *tape = doubles(mcp_program_tape(p, MCP_LANES)),
           *in_bar = doubles(ni * MCP_LANES);
    double *scratch = doubles(mcp_program_scratch(p, MCP_LANES)), *sums = doubles(mcp_program_sums(p)),
           *work = doubles(mcp_program_work(p));
    char   *text = NULL;
    for (int first = 1; first >= 0; first--) {
        mcp_batch_call c = {.program = p, .level = mcp_isa_level(), .theta = theta, .first = first,
                            .n = MCP_LANES, .ld = MCP_LANES, .in = in, .mem = mem, .tape = tape, .out = out,
                            .next = next};
        mcp_batch_forward(&c);
        c.out_bar = out;
        c.next_bar = next;
        c.scratch = scratch;
        c.in_bar = in_bar;
        c.mem_bar = mem;
        c.sums = sums;
        c.sums_stride = mcp_program_sums(p);
        mcp_batch_backward(&c);
        mcp_program_step(p, theta, first, in, mem, out, work);
    }
    if (mcp_program_print_c(p, theta, &(mcp_print_settings){.prefix = "f"}, &text, NULL) != MCP_OK) abort();
    mcp_free(text);
    mcp_free(mcp_program_listing(p));
    double *all[] = {theta, in, mem, next, out, tape, in_bar, scratch, sums, work};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) mcp_block_free(all[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mcp_builder *b = NULL;
    mcp_program *p = NULL;
    mcp_error    e = {MCP_OK, ""};
    char        *text = malloc(size + 1);
    if (!text || mcp_builder_create(&b, &e) != MCP_OK) abort();
    memcpy(text, data, size);
    text[size] = 0;
    if (mcp_builder_input(b, "x", &e) != MCP_OK || mcp_builder_constant(b, "g", 9.81, &e) != MCP_OK) abort();
    mcp_status st = mcp_builder_output(b, "y", text, (mcp_where){"f", 1, 1}, &e);
    if (st == MCP_OK) st = mcp_builder_finish(b, &p, &e);
    if (st != MCP_OK && !e.text[0]) abort();
    if (p) run(p);
    mcp_program_free(p);
    mcp_builder_free(b);
    free(text);
    return 0;
}
