/* bench_more.c - bench step --scaling and --seeds: what threads give, and what single precision costs in
 * accuracy. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench_margin.h"
#include "bench_problem.h"
#include "math/arena.h"
#include "math/clock.h"
#include "math/peak.h"
#include "math/stats.h"

typedef struct {
    double rate[64]; /* multiply-adds of each thread, per second */
} spins;

static void spin(void *context, int task, int worker)
{
    spins *s = context;
    double sink, start = mcp_clock(), work = 0.0;
    (void)worker;
    do work += mcp_peak_run(mcp_isa_level(), 20000, &sink);
    while (mcp_clock() - start < 4e-3);
    s->rate[task] = work / (mcp_clock() - start);
}

/* How many times one core the threads are, by a loop that never leaves the registers: less than their number
 * where virtual cores share real ones, or others work too. No program can gain more. */
static double whole_cores(mcp_pool *pool, int threads)
{
    spins  alone, all;
    double sum = 0.0;
    spin(&alone, 0, 0);
    mcp_pool_run(pool, threads, spin, &all);
    for (int i = 0; i < threads; i++) sum += all.rate[i];
    return sum / alone.rate[0];
}

static double median(double *x, size_t n)
{
    mcp_sort(x, (int)n);
    return x[n / 2];
}

/* Time of a step, in ms, after one that brings its memory back into the caches: in a learning run steps
 * follow each other. */
static mcp_status warm_step(bench_problem *b, mcp_rollout *r, const bench_request *q, uint32_t k, double *ms,
                            mcp_error *err)
{
    double     J, begun = 0.0;
    mcp_status st = MCP_OK;
    for (int i = 0; i < 2 && st == MCP_OK; i++) {
        begun = mcp_clock();
        st = bench_gradient(b, r, q, 2 * k + (uint32_t)i, &J, b->gradient, err);
    }
    *ms = 1e3 * (mcp_clock() - begun);
    return st;
}

/* In turns, so that what else happens on the machine meets both alike; ratios of neighbours, and their
 * median. */
mcp_status bench_scaling(bench_problem *b, const bench_request *q, mcp_error *err)
{
    if (q->threads < 2 || q->threads > 64)
        return mcp_fail(err, MCP_ERR_ARG, "--scaling compares one thread with 2 to 64: give --threads");
    size_t       n = (size_t)(q->repeats ? q->repeats : 31);
    double      *one = mcp_calloc(4 * n, sizeof *one), *many = one + n, *ratio = many + n, *cores = ratio + n;
    mcp_rollout *single = NULL;
    mcp_status st = one ? bench_rollout(&single, b, q, q->single, NULL, err)
                        : mcp_fail(err, MCP_ERR_MEMORY, "out of memory");
    for (size_t k = 0; k < n && st == MCP_OK; k++) {
        st = warm_step(b, single, q, (uint32_t)k, &one[k], err);
        if (st == MCP_OK) st = warm_step(b, b->rollout, q, (uint32_t)k, &many[k], err);
        ratio[k] = one[k] / many[k];
        cores[k] = whole_cores(b->pool, q->threads);
    }
    if (st == MCP_OK) {
        double r = median(ratio, n), c = median(cores, n), t = median(one, n), m = median(many, n),
               best = one[0] / many[0]; /* sorted */
        if (q->json)
            printf("{\"data\": %d, \"threads\": %d, \"ms_one\": %.4f, \"ms_threads\": %.4f, \"speedup\": "
                   "%.4f, \"speedup_best\": %.4f, "
                   "\"whole_cores\": %.4f, \"turns\": %zu}\n",
                   q->data, q->threads, t, m, r, best, c, n);
        else
            printf("%d threads: %.2f times faster than one (%.2f and %.2f ms, medians of %zu turns; fastest "
                   "steps %.2f times); "
                   "multiply-adds alone: %.2f times\n",
                   q->threads, r, m, t, n, best, c);
    }
    mcp_rollout_free(single);
    mcp_free(one);
    return st;
}

typedef struct {
    bench_problem       *b;
    const bench_request *q;
    mcp_rollout         *rollout[2];
} both;

static mcp_status draw(void *context, int single, int k, double *J, double *gradient, mcp_error *err)
{
    both *t = context;
    return bench_gradient(t->b, t->rollout[single], t->q, (uint32_t)k, J, gradient, err);
}

mcp_status bench_margins(bench_problem *b, const bench_request *q, mcp_error *err)
{
    both           t = {.b = b, .q = q};
    margin_figures f = {0};
    mcp_status     st = MCP_OK;
    for (int single = 0; single < 2 && st == MCP_OK; single++)
        st = bench_rollout(&t.rollout[single], b, q, single, b->pool, err);
    if (st == MCP_OK) st = margin_compare(&f, q->seeds, b->params, draw, &t, err);
    if (st == MCP_OK && q->json)
        printf("{\"data\": %d, \"particles\": %d, \"seeds\": %d, \"J\": %.9g, \"J_noise\": %.6g, "
               "\"J_error\": %.6g, \"J_ratio\": %.6g, "
               "\"gradient_noise\": %.6g, \"gradient_error\": %.6g, \"gradient_ratio\": %.6g}\n",
               q->data, q->particles, q->seeds, f.J, f.J_noise, f.J_largest, f.J_noise / f.J_largest,
               f.gradient_noise, f.gradient_largest, f.gradient_noise / f.gradient_largest);
    else if (st == MCP_OK)
        printf(
            "%d data, %d particles, %d draws of noise: J %.6f, standard deviation %.2g, single precision "
            "off by at most %.2g (%.0f times less)\n"
            "gradient: standard deviation of the noise %.3g, single precision off by at most %.2g (%.0f "
            "times less)\n",
            q->data, q->particles, q->seeds, f.J, f.J_noise, f.J_largest, f.J_noise / f.J_largest,
            f.gradient_noise, f.gradient_largest, f.gradient_noise / f.gradient_largest);
    for (int k = 0; k < 2; k++) mcp_rollout_free(t.rollout[k]);
    return st;
}
