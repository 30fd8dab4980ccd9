/* bench_pilco.c - mcpilco bench pilco: one gradient of PILCO's expected cost on a cart-pole-sized problem:
 * four states, one angle, six model inputs, four outputs. The gradient is held against a difference quotient
 * before anything is timed. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "baseline/pilco/horizon.h"
#include "commands.h"
#include "math/arena.h"
#include "math/clock.h"
#include "math/rng.h"

enum { NX = 4, NA = 6, D = 6, E = 4, BASIS = 10, F = 5, PARAMS = BASIS + BASIS * F + F };

typedef struct {
    mcp_bank    *bank;
    mcp_horizon *horizon;
    double       theta[PARAMS], gradient[PARAMS];
} work;

/* Data as a swinging pole would give them: ranges and length-scales of that order. */
static mcp_status make_bank(mcp_bank **out, int points, mcp_error *err)
{
    static const double range[D] = {0.5, 1.5, 4, 1, 1, 5};
    double             *X = mcp_calloc((size_t)points * (D + E), sizeof *X), hyper[E * (D + 2)];
    mcp_rand            r = mcp_rand_make(1, 0, 0, MCP_RNG_OTHER);
    if (!X) return mcp_fail(err, MCP_ERR_MEMORY, "out of memory for %d points", points);
    double *Y = X + points * D;
    for (int i = 0; i < points * D; i++) X[i] = range[i % D] * mcp_rand_normal(&r);
    for (int e = 0; e < E; e++) {
        for (int i = 0; i < points; i++)
            Y[e * points + i] =
                0.1 * sin(X[i * D + e] / range[e]) + 0.02 * X[i * D + 5] + 0.01 * mcp_rand_normal(&r);
        for (int d = 0; d < D; d++) hyper[e * (D + 2) + d] = log(2 * range[d]);
        hyper[e * (D + 2) + D] = log(0.3);
        hyper[e * (D + 2) + D + 1] = log(0.01);
    }
    mcp_status st = mcp_bank_create(out, &(mcp_bank_data){points, D, E, X, Y, hyper}, mcp_isa_level(), err);
    mcp_free(X);
    return st;
}

static double cost(work *w, double *gradient)
{
    double        J = NAN, *g = gradient;
    const double *t = w->theta;
    const mcp_network     policy = {F, BASIS, 1, t, t + BASIS, t + BASIS + BASIS * F};
    const mcp_network_bar bar = {g, g + BASIS, g + BASIS + BASIS * F};
    return mcp_horizon_run(w->horizon, &policy, &J, NULL, g ? &bar : NULL, NULL) == MCP_OK ? J : NAN;
}

/* Relative difference between the gradient along a direction and a difference quotient. */
static double gradient_error(work *w)
{
    double step[PARAMS], along = 0, h = 1e-4;
    mcp_rand r = mcp_rand_make(2, 0, 0, MCP_RNG_OTHER);
    cost(w, w->gradient);
    for (int i = 0; i < PARAMS; i++) {
        step[i] = mcp_rand_normal(&r);
        along += step[i] * w->gradient[i];
    }
    for (int i = 0; i < PARAMS; i++) w->theta[i] += h * step[i];
    double up = cost(w, NULL);
    for (int i = 0; i < PARAMS; i++) w->theta[i] -= 2 * h * step[i];
    double down = cost(w, NULL);
    for (int i = 0; i < PARAMS; i++) w->theta[i] += h * step[i];
    return fabs((up - down) / (2 * h) - along) / fabs(along);
}

static int measure(work *w, int points, int steps, int threads, int json)
{
    double error = gradient_error(w), with = INFINITY, without = INFINITY, busy = INFINITY;
    if (!(error < 1e-4)) {
        fprintf(stderr, "mcpilco bench pilco: the gradient is wrong (relative error %g)\n", error);
        return 1;
    }
    for (int i = 0; i < 10; i++) {
        double a = mcp_clock();
        cost(w, NULL);
        double b = mcp_clock(), c = mcp_clock_cpu();
        cost(w, w->gradient);
        without = fmin(without, b - a);
        with = fmin(with, mcp_clock() - b);
        busy = fmin(busy, mcp_clock_cpu() - c);
    }
    if (json)
        printf("{\"points\": %d, \"steps\": %d, \"outputs\": %d, \"threads\": %d, \"isa\": \"%s\", "
               "\"gradient_error\": %.2g, "
               "\"cost_s\": %.4g, \"gradient_s\": %.4g, \"gradient_cpu_s\": %.4g}\n",
               points, steps, E, threads, mcp_isa_name(mcp_isa_level()), error, without, with, busy);
    else
        printf("%d points, %d steps, %d outputs, %d thread(s), %s: cost alone %.1f ms, with its gradient "
               "%.1f ms (%.1f ms of CPU)\n",
               points, steps, E, threads, mcp_isa_name(mcp_isa_level()), 1e3 * without, 1e3 * with,
               1e3 * busy);
    return 0;
}

static int number(int argc, char **argv, int *i, int least, int most)
{
    int v = *i + 1 < argc ? atoi(argv[++*i]) : 0;
    if (v >= least && v <= most) return v;
    fprintf(stderr, "mcpilco bench pilco: %s needs a number from %d to %d\n", argv[*i > 1 ? *i - 1 : 1],
            least, most);
    exit(2);
}

int bench_pilco(int argc, char **argv)
{
    int  points = 300, steps = 60, threads = 1, json = 0, failed;
    work w = {0};
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--json")) json = 1;
        else if (!strcmp(argv[i], "--points")) points = number(argc, argv, &i, 10, 5000);
        else if (!strcmp(argv[i], "--steps")) steps = number(argc, argv, &i, 1, 10000);
        else if (!strcmp(argv[i], "--threads")) threads = number(argc, argv, &i, 1, 1024);
        else {
            fprintf(stderr, "usage: mcpilco bench pilco [--points N] [--steps T] [--threads K] [--json]\n");
            return strcmp(argv[i], "--help") ? 2 : 0;
        }
    }
    int    angle[1] = {2}, input[D] = {0, 1, 3, 4, 5, 6}, feature[F] = {0, 1, 3, 4, 5};
    double A[NX * NX] = {0}, B[NX * E] = {0}, scale[D] = {1, 1, 1, 1, 1, 1}, limit[1] = {10},
                  noise[NX] = {1e-4, 1e-4, 1e-4, 1e-4}, m0[NX] = {0}, S0[NX * NX] = {0},
                  z[NA] = {0, 0, 0, 0, 0, -1}, W[NA * NA] = {0};
    for (int i = 0; i < NX; i++) {
        A[i * NX + i] = B[i * E + i] = 1;
        S0[i * NX + i] = 1e-4;
    }
    W[0] = 16;
    W[4] = W[4 * NA] = 8;
    W[4 * NA + 4] = W[5 * NA + 5] = 4;
    mcp_horizon_problem p = {.nx = NX,
                             .nu = 1,
                             .angles = 1,
                             .T = steps,
                             .angle = angle,
                             .A = A,
                             .B = B,
                             .inputs = D,
                             .input = input,
                             .input_scale = scale,
                             .features = F,
                             .basis = BASIS,
                             .feature = feature,
                             .feature_scale = scale,
                             .limit = limit,
                             .noise = noise,
                             .m0 = m0,
                             .S0 = S0,
                             .z = z,
                             .W = W};
    mcp_rand  r = mcp_rand_make(3, 0, 0, MCP_RNG_OTHER);
    mcp_error err = {MCP_OK, ""};
    mcp_pool *pool = NULL;
    for (int i = 0; i < PARAMS; i++) w.theta[i] = i < BASIS + BASIS * F ? 0.5 * mcp_rand_normal(&r) : 1;
    if (mcp_pool_create(&pool, threads, &err) != MCP_OK || make_bank(&w.bank, points, &err) != MCP_OK ||
        mcp_horizon_create(&w.horizon, &p, w.bank, pool, &err) != MCP_OK) {
        fprintf(stderr, "mcpilco bench pilco: %s\n", err.text);
        failed = 1;
    } else failed = measure(&w, points, steps, threads, json);
    mcp_horizon_free(w.horizon);
    mcp_bank_free(w.bank);
    mcp_pool_free(pool);
    return failed;
}
