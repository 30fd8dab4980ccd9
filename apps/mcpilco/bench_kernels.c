/* bench_kernels.c - mcpilco bench kernels: what this core can do and what our kernels make of it. One thread.
 * Every result is checked before it is timed; a time is the best of several runs, since other programs can
 * only make one slower. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "math/arena.h"
#include "math/clock.h"
#include "math/gemm.h"
#include "math/linalg.h"
#include "math/peak.h"
#include "math/rng.h"
#include "math/vecmath.h"

enum { POINTS_MAX = 440, COLUMNS_MAX = 80, LENGTH = 2048, ACTIVATIONS = 200, MASK_LANES = 80 };

typedef struct {
    double  *A, *B, *C, *packed, *x, *y;
    uint8_t *keep;
    mcp_isa  level;
    int      columns;
    mcp_packed        product;
    mcp_vec_fn       *fn;
    const mcp_stream *stream;
} work;

/* Seconds of one call: the best of 200 batches of half a millisecond, or of one call if that is longer. */
static double best_time(void (*call)(work *), work *w)
{
    double start = mcp_clock(), best = INFINITY;
    int    calls = 0;
    do {
        call(w);
        calls++;
    } while (mcp_clock() - start < 5e-4);
    for (int batch = 0; batch < 200; batch++) {
        start = mcp_clock();
        for (int i = 0; i < calls; i++) call(w);
        best = fmin(best, (mcp_clock() - start) / calls);
    }
    return best;
}

static size_t layout(work *w, char *mem)
{
    mcp_arena a = {.base = mem};
    w->A        = mcp_arena_doubles(&a, (size_t)POINTS_MAX * POINTS_MAX);
    w->B        = mcp_arena_doubles(&a, (size_t)POINTS_MAX * COLUMNS_MAX);
    w->C        = mcp_arena_doubles(&a, (size_t)POINTS_MAX * COLUMNS_MAX);
    w->packed   = mcp_arena_doubles(&a, mcp_gemm_packed_doubles(POINTS_MAX, POINTS_MAX));
    w->x        = mcp_arena_doubles(&a, LENGTH);
    w->y        = mcp_arena_doubles(&a, LENGTH);
    w->keep     = mcp_arena_u8(&a, (size_t)ACTIVATIONS * MASK_LANES);
    return a.used;
}

static double peak_gflops(mcp_isa level)
{
    double best = 0, sink = 0;
    for (int i = 0; i < 100; i++) {
        double start = mcp_clock(), flops = mcp_peak_run(level, 1000000, &sink);
        best = fmax(best, 1e-9 * flops / (mcp_clock() - start));
    }
    return isfinite(sink) ? best : NAN;
}

static void run_gemm(work *w)
{
    mcp_gemm(&w->product, w->columns, w->B, w->columns, w->C, w->columns, 0);
}

/* Largest error of C = A B in units of rounding of its sum of magnitudes, over a sample of rows. */
static double gemm_error(const work *w, int points)
{
    double worst = 0;
    for (int i = 0; i < points; i += 7)
        for (int j = 0; j < w->columns; j++) {
            double sum = 0, size = 0;
            for (int k = 0; k < points; k++) {
                double p = w->A[i * points + k] * w->B[k * w->columns + j];
                sum += p;
                size += fabs(p);
            }
            worst = fmax(worst, fabs(w->C[i * w->columns + j] - sum) / (1.1e-16 * size));
        }
    return worst;
}

static double gemm_gflops(work *w, int points, int columns)
{
    w->columns = columns;
    mcp_gemm_pack(&w->product, w->level, points, points, w->A, points, w->packed);
    run_gemm(w);
    if (!(gemm_error(w, points) < 2 * points)) return NAN;
    return 2e-9 * points * points * columns / best_time(run_gemm, w);
}

static void run_fn(work *w)
{
    w->fn(LENGTH, w->x, w->y);
}

static double fn_ns(work *w, mcp_vec_fn *fn, double (*exact)(double), double lo, double hi)
{
    w->fn = fn;
    for (int i = 0; i < LENGTH; i++) w->x[i] = lo + (hi - lo) * (i + 0.5) / LENGTH;
    run_fn(w);
    for (int i = 0; i < LENGTH; i++)
        if (!(fabs(w->y[i] - exact(w->x[i])) <= 1e-15 * (1 + fabs(exact(w->x[i]))))) return NAN;
    return 1e9 * best_time(run_fn, w) / LENGTH;
}

static void run_normals(work *w)
{
    mcp_rng_normals_at(w->level, w->stream, 1, 0, 0, LENGTH, w->y);
}

static double normals_ns(work *w)
{
    double mean = 0, square = 0;
    run_normals(w);
    for (int i = 0; i < LENGTH; i++) {
        mean += w->y[i] / LENGTH;
        square += w->y[i] * w->y[i] / LENGTH;
    }
    if (!(fabs(mean) < 5 / sqrt(LENGTH) && fabs(square - 1) < 5 * sqrt(2.0 / LENGTH))) return NAN;
    return 1e9 * best_time(run_normals, w) / LENGTH;
}

static void run_masks(work *w)
{
    mcp_rng_mask m = {.time = 1, .n = MASK_LANES, .activations = ACTIVATIONS, .p = 0.25};
    mcp_rng_keep(w->level, w->stream, &m, w->keep);
}

static double masks_ns(work *w)
{
    double kept = 0, n = ACTIVATIONS * MASK_LANES;
    run_masks(w);
    for (int i = 0; i < ACTIVATIONS * MASK_LANES; i++) kept += w->keep[i] == 255;
    if (!(fabs(kept / n - 0.75) < 5 * sqrt(0.1875 / n))) return NAN;
    return 1e9 * best_time(run_masks, w) / n;
}

/* One line of the result, in either form. A NaN is a kernel that computed something wrong. */
static int row(int json, const char *name, double value, const char *unit, double peak)
{
    if (json) {
        printf(", \"%s\": %.4g", name, isnan(value) ? -1.0 : value);
        if (peak > 0) printf(", \"%s_of_peak\": %.3f", name, value / peak);
    } else {
        printf("  %-24s %9.3f %s", name, value, unit);
        if (peak > 0) printf("   %3.0f %% of peak", 100 * value / peak);
        printf("\n");
    }
    return isnan(value);
}

static int measure(work *w, int json)
{
    static const mcp_stream stream = {.seed = 1, .purpose = MCP_RNG_OTHER};
    const mcp_vecmath      *vec    = mcp_vecmath_get(w->level);
    char                    blas[80], name[40];
    int                     slow, wrong = 0;
    w->stream = &stream;
    mcp_rng_normals(&stream, 0, 0, 0, POINTS_MAX * POINTS_MAX, w->A);
    mcp_rng_normals(&stream, 0, 1, 0, POINTS_MAX * COLUMNS_MAX, w->B);

    double peak = peak_gflops(w->level);
    mcp_blas_info(blas, sizeof blas, &slow);
    if (json) printf("{\"isa\": \"%s\", \"blas\": \"%s\"", mcp_isa_name(w->level), blas);
    else printf("instruction set %s, %s%s\n", mcp_isa_name(w->level), blas, slow ? " (slow kernels)" : "");
    wrong += row(json, "fma_peak_gflops", peak, "GF/s", 0);
    static const int points[] = {88, 264, 440}, columns[] = {64, 80};
    for (int c = 0; c < 2; c++)
        for (int p = 0; p < 3; p++) {
            snprintf(name, sizeof name, "gemm_%d_%d_gflops", points[p], columns[c]);
            wrong += row(json, name, gemm_gflops(w, points[p], columns[c]), "GF/s", peak);
        }
    wrong += row(json, "exp_ns", fn_ns(w, vec->exp, exp, -30, 0), "ns", 0);
    wrong += row(json, "log_ns", fn_ns(w, vec->log, log, 1e-3, 1), "ns", 0);
    wrong += row(json, "sin_ns", fn_ns(w, vec->sin, sin, -4, 4), "ns", 0);
    wrong += row(json, "cos_ns", fn_ns(w, vec->cos, cos, -4, 4), "ns", 0);
    wrong += row(json, "tanh_ns", fn_ns(w, vec->tanh, tanh, -4, 4), "ns", 0);
    wrong += row(json, "normal_ns", normals_ns(w), "ns", 0);
    wrong += row(json, "mask_ns", masks_ns(w), "ns", 0);
    if (json) printf("}\n");
    if (wrong) fprintf(stderr, "mcpilco bench kernels: %d kernels gave wrong results\n", wrong);
    return wrong != 0;
}

int bench_kernels(int argc, char **argv)
{
    int       json = 0;
    mcp_error err;
    void     *block;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--json")) json = 1;
        else {
            fprintf(stderr, "usage: mcpilco bench kernels [--json]\n"
                            "Measures, on one thread: the multiply-add peak, products of packed matrices "
                            "(points_columns),\n"
                            "vector functions, random normals and dropout masks. MCPILCO_ISA=base|v2|v3|v4 "
                            "forces a level.\n");
            return strcmp(argv[i], "--help") ? 2 : 0;
        }
    }
    work w = {.level = mcp_isa_level()};
    if (mcp_block_alloc(&block, layout(&w, NULL), &err) != MCP_OK) {
        fprintf(stderr, "mcpilco bench kernels: %s\n", err.text);
        return 1;
    }
    layout(&w, block);
    int code = measure(&w, json);
    mcp_block_free(block);
    return code;
}
