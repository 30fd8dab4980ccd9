/* bench_step.c - mcpilco bench step: one complete policy-gradient step on the cart-pole: noise, particles
 * forward, adjoint back, Adam. The result is checked before it is timed: finite, and the same bits twice. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "bench_problem.h"
#include "commands.h"
#include "math/arena.h"
#include "math/clock.h"
#include "math/gemm.h"
#include "math/number.h"
#include "math/stats.h"
#include "optim/adam.h"

typedef struct {
    double median, best, cpu, cpu_best, J; /* ms a step; ms of processor time a step */
} figures;

/* The product V = Q k alone, at the block's width: seconds per call. */
static double product_time(int points, int lanes)
{
    void      *memory;
    size_t     n = (size_t)points, packed = mcp_gemm_packed_doubles(points, points);
    mcp_packed p;
    if (mcp_block_alloc(&memory, (packed + n * n + 2 * n * (size_t)lanes) * sizeof(double), NULL) != MCP_OK)
        return NAN;
    double *A = memory, *B = A + packed, *C = B + n * (size_t)lanes, *Q = C + n * (size_t)lanes,
           best = INFINITY;
    for (size_t i = 0; i < n * n; i++) Q[i] = 1.0 / (1.0 + (double)(i % 97));
    for (size_t i = 0; i < n * (size_t)lanes; i++) B[i] = 1.0 / (1.0 + (double)(i % 89));
    mcp_gemm_pack(&p, mcp_isa_level(), points, points, Q, points, A);
    for (int batch = 0; batch < 20; batch++) {
        int    calls = 0;
        double start = mcp_clock();
        do {
            mcp_gemm(&p, lanes, B, lanes, C, lanes, 0);
            calls++;
        } while (mcp_clock() - start < 2e-3);
        best = fmin(best, (mcp_clock() - start) / calls);
    }
    mcp_block_free(memory);
    return best;
}

static mcp_status measure(bench_problem *b, const bench_request *q, figures *out, mcp_error *err)
{
    size_t     n = (size_t)q->repeats;
    double J0 = NAN, J1 = NAN, *ms = mcp_calloc(2 * n + (size_t)b->params, sizeof *ms), *used = ms + n,
           *first = used + n;
    mcp_adam   adam = {.n = b->params, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8, .m = b->m, .v = b->v};
    mcp_status st = ms ? bench_gradient(b, b->rollout, q, 0, &J0, b->gradient, err)
                       : mcp_fail(err, MCP_ERR_MEMORY, "out of memory");
    if (st == MCP_OK) {
        memcpy(first, b->gradient, (size_t)b->params * sizeof *first);
        st = bench_gradient(b, b->rollout, q, 0, &J1, b->gradient, err);
    }
    if (st == MCP_OK && (J0 != J1 || memcmp(first, b->gradient, (size_t)b->params * sizeof *first)))
        st = mcp_fail(err, MCP_ERR_NUMERIC, "the same step gave different numbers twice");
    mcp_adam_reset(&adam);
    for (size_t k = 0; k < n && st == MCP_OK; k++) {
        double start = mcp_clock(), before = mcp_clock_cpu();
        st = bench_gradient(b, b->rollout, q, (uint32_t)k + 1, &J1, b->gradient, err);
        mcp_clip_norm(b->params, 1.0, b->gradient);
        mcp_adam_step(&adam, 1e-4, b->gradient, b->theta);
        used[k] = 1e3 * (mcp_clock_cpu() - before);
        ms[k] = 1e3 * (mcp_clock() - start);
    }
    if (st == MCP_OK) {
        mcp_sort(ms, (int)n);
        mcp_sort(used, (int)n);
        *out = (figures){ms[n / 2], ms[0], used[n / 2], used[0], J0};
    }
    mcp_free(ms);
    return st;
}

static void print(const bench_problem *b, const bench_request *q, const figures *f)
{
    int           lanes = mcp_rollout_block(b->rollout), blocks = (q->particles + lanes - 1) / lanes;
    double        seconds = 0.0, flops = 0.0;
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    for (int g = 0; g < 2; g++) {
        double calls = (double)blocks * q->horizon;
        seconds += calls * product_time(b->rows[g], lanes);
        flops += calls * 2.0 * b->rows[g] * b->rows[g] * lanes;
    }
    if (!q->json) {
        printf("data %d, points %d and %d (variance %d and %d), %d particles, %d steps, %d basis functions, "
               "%d thread%s, %s, block %d\n",
               q->data, b->points[0], b->points[1], b->rows[0], b->rows[1], q->particles, q->horizon,
               q->basis, q->threads, q->threads == 1 ? "" : "s", mcp_isa_name(mcp_isa_level()), lanes);
        printf("gradient step %.2f ms (median of %d, best %.2f; processor time %.2f, best %.2f); products "
               "alone %.2f ms of one thread, %.1f GF/s\n",
               f->median, q->repeats, f->best, f->cpu, f->cpu_best, 1e3 * seconds, 1e-9 * flops / seconds);
        for (int g = 0; q->single && !q->mixed && g < 2; g++) {
            mcp_single_info i = mcp_posterior_single(b->posterior[g]);
            printf("GP %d in %s precision (errors of single: moments %.1e of the noise, slopes %.1e)\n",
                   g + 1, i.used ? "single" : "double", i.moment_error, i.row_error);
        }
        printf("peak memory %.0f MB, of which particles %.1f MB; J = %.6f\n", (double)use.ru_maxrss / 1024.0,
               (double)mcp_rollout_bytes(b->rollout) / 1e6, f->J);
        return;
    }
    printf("{\"data\": %d, \"posterior\": \"%s\", \"tolerance\": %g, \"points\": [%d, %d], "
           "\"variance_points\": [%d, %d], \"particles\": %d, \"horizon\": %d, \"basis\": %d, "
           "\"threads\": %d, \"block\": %d, \"isa\": \"%s\", \"ms\": %.4f, \"ms_best\": %.4f, \"cpu_ms\": "
           "%.4f, \"cpu_ms_best\": %.4f, \"repeats\": %d, \"gemm_ms\": %.4f, "
           "\"gemm_gflops\": %.2f, \"peak_memory_mb\": %.1f, \"particle_memory_mb\": %.2f, \"J\": %.12g}\n",
           q->data, q->sparse ? "sparse" : "exact", q->sparse ? q->tolerance : 0.0, b->points[0],
           b->points[1], b->rows[0], b->rows[1], q->particles, q->horizon, q->basis, q->threads, lanes,
           mcp_isa_name(mcp_isa_level()), f->median, f->best, f->cpu, f->cpu_best, q->repeats, 1e3 * seconds,
           1e-9 * flops / seconds, (double)use.ru_maxrss / 1024.0,
           (double)mcp_rollout_bytes(b->rollout) / 1e6, f->J);
}

static int usage(FILE *to)
{
    fprintf(
        to,
        "usage: mcpilco bench step [--data N] [--particles M] [--horizon T] [--basis B] [--threads K]\n"
        "                          [--posterior exact|sparse] [--tolerance X]\n"
        "                          [--precision auto|mixed|double]\n"
        "                          [--dropout P] [--block L] [--repeats R] [--json] [--scaling | --seeds "
        "S]\n\n"
        "Time of one complete policy-gradient step on the cart-pole: two SE GPs on N simulated data, 6 "
        "features, difference and\n"
        "low-pass in the particles, dropout. Median of R repeats (default: about two seconds of them).\n"
        "Defaults: 264 data, 400 particles, 90 steps, 200 basis functions, 1 thread, sparse at 0.01, dropout "
        "0.25.\n"
        "--scaling: one thread against K, in turns. --seeds: how far single precision is from double, over S "
        "draws of the noise.\n");
    return to == stderr ? 2 : 0;
}

static int number(const char *text, double low, double high, int whole, double *out)
{
    char *end;
    *out = mcp_number_read(text, &end);
    return *text && !*end && *out >= low && *out <= high && (!whole || *out == floor(*out));
}

/* 0, or the exit code. */
static int parse(bench_request *q, int argc, char **argv)
{
    struct { const char *name; double low, high; int *to; double *real;
    } option[] = {
        {"--data", 2, 20000, &q->data, NULL},       {"--particles", 1, 1e6, &q->particles, NULL},
        {"--horizon", 3, 60000, &q->horizon, NULL}, {"--basis", 1, 100000, &q->basis, NULL},
        {"--threads", 1, 1024, &q->threads, NULL},  {"--repeats", 1, 100000, &q->repeats, NULL},
        {"--block", 8, 1e6, &q->block, NULL},       {"--tolerance", 0, 1e6, NULL, &q->tolerance},
        {"--dropout", 0, 0.99, NULL, &q->dropout},  {"--seeds", 2, 10000, &q->seeds, NULL},
    };
    for (int i = 1; i < argc; i++) {
        size_t k = 0, n = sizeof option / sizeof *option;
        double v;
        if (!strcmp(argv[i], "--help")) return usage(stdout), -1;
        if (!strcmp(argv[i], "--json")) {
            q->json = 1;
            continue;
        }
        if (!strcmp(argv[i], "--scaling")) {
            q->scaling = 1;
            continue;
        }
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (!strcmp(argv[i], "--posterior") && (!strcmp(value, "exact") || !strcmp(value, "sparse"))) {
            q->sparse = *value == 's';
            i++;
            continue;
        }
        if (!strcmp(argv[i], "--precision") &&
            (!strcmp(value, "auto") || !strcmp(value, "mixed") || !strcmp(value, "double"))) {
            q->single = *value != 'd';
            q->mixed = *value == 'm';
            i++;
            continue;
        }
        while (k < n && strcmp(argv[i], option[k].name)) k++;
        if (k == n) {
            fprintf(stderr, "mcpilco bench step: \"%s %s\" is not known\n", argv[i], value);
            return usage(stderr);
        }
        if (!number(value, option[k].low, option[k].high, option[k].to != NULL, &v)) {
            fprintf(stderr, "mcpilco bench step: %s \"%s\" is not a number from %g to %g\n", argv[i], value,
                    option[k].low, option[k].high);
            return 2;
        }
        if (option[k].to) *option[k].to = (int)v;
        else *option[k].real = v;
        i++;
    }
    return 0;
}

int bench_step(int argc, char **argv)
{
    bench_request q = {.data = 264,
                       .particles = 400,
                       .horizon = 90,
                       .basis = 200,
                       .threads = 1,
                       .sparse = 1,
                       .tolerance = 0.01,
                       .dropout = 0.25,
                       .single = 1};
    bench_problem b = {0};
    mcp_error err = {MCP_OK, ""};
    figures   f = {0};
    int       code = parse(&q, argc, argv);
    if (code) return code < 0 ? 0 : code;
    q.dropout = floor(q.dropout * 256.0 + 0.5) / 256.0;
    mcp_status st = bench_make(&b, &q, &err);
    if (st == MCP_OK && (q.scaling || q.seeds)) {
        st = q.scaling ? bench_scaling(&b, &q, &err) : bench_margins(&b, &q, &err);
        if (st != MCP_OK) fprintf(stderr, "mcpilco bench step: %s\n", err.text);
        bench_unmake(&b);
        return st == MCP_OK ? 0 : 1;
    }
    if (st == MCP_OK && q.repeats == 0) {
        double start = mcp_clock();
        q.repeats = 1;
        st = measure(&b, &q, &f, &err);
        double once = (mcp_clock() - start) / 3.0;
        q.repeats = (int)fmax(5.0, fmin(201.0, 2.0 / once)) | 1;
    }
    if (st == MCP_OK) st = measure(&b, &q, &f, &err);
    if (st == MCP_OK) print(&b, &q, &f);
    else fprintf(stderr, "mcpilco bench step: %s\n", err.text);
    bench_unmake(&b);
    return st == MCP_OK ? 0 : 1;
}
