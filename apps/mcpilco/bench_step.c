/* bench_step.c - mcpilco bench step: one complete policy-gradient step on the cart-pole: noise, particles forward, adjoint
 * back, Adam. Data are simulated trials (positions with noise, central differences); the GPs are trained on them. The result
 * is checked before it is timed: finite, and the same bits twice. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "commands.h"
#include "control/system.h"
#include "math/arena.h"
#include "math/gemm.h"
#include "math/rng.h"
#include "mcpilco/task.h"
#include "optim/adam.h"
#include "optim/optimise.h"

enum { TRAIN_MOST = 264, SAMPLES = 91, PAIRS = 88 };

typedef struct {
    int    data, particles, horizon, basis, threads, sparse, repeats, block, json;
    double tolerance, dropout;
} request;

typedef struct {
    mcp_task      *task;
    mcp_system    *system;
    mcp_gp        *gp[2];
    mcp_posterior *posterior[2];
    mcp_pool      *pool;
    mcp_rollout   *rollout;
    double        *theta, *gradient, *m, *v, *visited;
    int            visits, params, points[2], rows[2]; /* points of a posterior, and those in Q */
} bench;

static double clock_of(clockid_t which)
{
    struct timespec t;
    clock_gettime(which, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double now(void)
{
    return clock_of(CLOCK_MONOTONIC);
}

/* Of all threads: on a machine that others use too, the fairer figure. */
static double cpu(void)
{
    return clock_of(CLOCK_PROCESS_CPUTIME_ID);
}

typedef struct {
    double median, best, cpu, cpu_best, J; /* ms a step; ms of processor time a step */
} figures;

static mcp_status make_system(bench *b, const request *q, mcp_error *err)
{
    char *text = mcp_sprintf("name: bench\nrate: 30\ntrial: %.17g\nstate: [p, dp, theta, dtheta]\n"
                             "inputs: {u: 10}\nmeasured: {p: 3e-3, theta: 3e-3}\nobserver: {type: difference, lowpass: 0.5}\n"
                             "model:\n  velocities: {p: dp, theta: dtheta}\n"
                             "  features: [p, dp, dtheta, sin(theta), cos(theta), u]\n  kernel: se\n"
                             "policy: 10*tanh(rbf(%d, p, dp, dtheta, sin(theta), cos(theta))/10)\n"
                             "cost: 1 - exp(-((abs(theta) - pi)/3)^2 - p^2)\nstart: {std: 0.01}\nplant: {ode: {dp: 0, dtheta: 0}}\n",
                             q->horizon / 30.0, q->basis);
    if (!text) return mcp_fail(err, MCP_ERR_MEMORY, "out of memory");
    mcp_status st = mcp_task_parse(&b->task, "bench", text, NULL, 0, err);
    mcp_free(text);
    return st == MCP_OK ? mcp_system_create(&b->system, b->task, err) : st;
}

static void cartpole(const double *x, double u, double *dx)
{
    const double s = sin(x[2]), c = cos(x[2]), v = x[1], w = x[3], den = 4.0 - 1.5 * c * c;
    dx[0] = v;
    dx[1] = (0.5 * w * w * s + 1.5 * 9.81 * s * c + 4.0 * u - 0.4 * v) / den;
    dx[2] = w;
    dx[3] = (-0.75 * w * w * s * c - 6.0 * 9.81 * s - 6.0 * (u - 0.1 * v) * c) / (0.5 * den);
}

static void runge_kutta(double *x, double u, double h)
{
    double k[4][4], y[4];
    const double part[4] = {0.0, 0.5, 0.5, 1.0};
    for (int s = 0; s < 4; s++) {
        for (int i = 0; i < 4; i++) y[i] = x[i] + (s ? part[s] * h * k[s - 1][i] : 0.0);
        cartpole(y, u, k[s]);
    }
    for (int i = 0; i < 4; i++) x[i] += h / 6.0 * (k[0][i] + 2.0 * k[1][i] + 2.0 * k[2][i] + k[3][i]);
}

/* A swing-up found by shooting, then a linear hold of the upright pole: what trials look like once a policy works. */
static double swing_and_hold(int t, const double *x)
{
    static const double swing[] = {-5.71, -3.8,  -0.31, 3.1,   4.75,  5.65,  6.15,  6.35,  6.27,  5.87,  4.99,  3.47,  1.16, -1.26,
                                   -2.77, -3.69, -4.5,  -5.37, -6.25, -7.03, -7.64, -8.01, -8.1,  -7.87, -7.33, -5.97, -2.46, 3.22,
                                   4.74,  5.21,  5.5,   5.59,  5.51,  5.28,  4.89,  4.28,  3.33,  1.84,  -0.36, -2.5,  -4.19, -5.74};
    const int    steps = (int)(sizeof swing / sizeof *swing);
    const double away = remainder(x[2] - M_PI, 2.0 * M_PI);
    if (t < steps && (t < 30 || fabs(away) > 0.4)) return swing[t];
    return 2.63 * x[0] + 3.46 * x[1] - 27.6 * away - 4.57 * x[3];
}

/* One trial: exploring sines, a poor policy (larger ones), two swing-ups that often fail, then such that mostly work. */
static void trial(int number, double q[SAMPLES][2], double u[SAMPLES])
{
    mcp_rand r = mcp_rand_make(1, (uint32_t)number, 0, MCP_RNG_OTHER);
    double   x[4], f[10], phase[10], size = number == 0 ? 1.0 : number == 1 ? 2.0 : number < 4 ? 0.1 : 0.05;
    double   part = 1.0 + (number < 4 ? 0.1 : 0.03) * mcp_rand_normal(&r);
    for (int i = 0; i < 4; i++) x[i] = 0.01 * mcp_rand_normal(&r);
    for (int i = 0; i < 10; i++) f[i] = 0.1 + 1.9 * mcp_rand_uniform(&r), phase[i] = number ? 2.0 * M_PI * mcp_rand_uniform(&r) : 0.0;
    for (int t = 0; t < SAMPLES; t++) {
        q[t][0] = x[0] + 3e-3 * mcp_rand_normal(&r);
        q[t][1] = x[2] + 3e-3 * mcp_rand_normal(&r);
        u[t] = number < 2 ? 0.0 : part * swing_and_hold(t, x);
        for (int i = 0; i < 10; i++) u[t] += size * sin(2.0 * M_PI * f[i] * t / 30.0 + phase[i]);
        u[t] = fmax(-10.0, fmin(10.0, u[t]));
        for (int k = 0; k < 33; k++) runge_kutta(x, u[t], 1.0 / 990.0);
    }
}

/* Central differences: velocity at t from t-1 and t+1; pairs 1 .. PAIRS of every trial until there are enough. */
static int pairs(const request *q, double *X, double *y0, double *y1, double *visited)
{
    double m[SAMPLES][2], u[SAMPLES];
    int    n = 0;
    for (int k = 0; n < q->data; k++) {
        trial(k, m, u);
        for (int t = 1; t <= PAIRS && n < q->data; t++, n++) {
            double v[2][2];
            for (int i = 0; i < 2; i++)
                for (int s = 0; s < 2; s++) v[s][i] = (m[t + s + 1][i] - m[t + s - 1][i]) * 15.0;
            double *x = X + (size_t)n * 6;
            x[0] = m[t][0], x[1] = v[0][0], x[2] = v[0][1], x[3] = sin(m[t][1]), x[4] = cos(m[t][1]), x[5] = u[t];
            visited[n * 4] = m[t][0], visited[n * 4 + 1] = v[0][0], visited[n * 4 + 2] = m[t][1], visited[n * 4 + 3] = v[0][1];
            y0[n] = v[1][0] - v[0][0];
            y1[n] = v[1][1] - v[0][1];
        }
    }
    return n;
}

/* Hyper-parameters from at most TRAIN_MOST of the data (every k-th), then all of it. */
static mcp_status make_gp(bench *b, int g, int n, const double *X, const double *y, mcp_error *err)
{
    int             few = n < TRAIN_MOST ? n : TRAIN_MOST;
    double         *Xf = mcp_calloc((size_t)few * 7, sizeof *Xf), *yf = Xf ? Xf + (size_t)few * 6 : NULL;
    mcp_gp         *small = NULL;
    mcp_gp_settings s;
    mcp_status      st = Xf ? MCP_OK : mcp_fail(err, MCP_ERR_MEMORY, "out of memory");
    for (int i = 0; st == MCP_OK && i < few; i++) {
        int at = (int)((long)i * n / few);
        memcpy(Xf + (size_t)i * 6, X + (size_t)at * 6, 6 * sizeof *Xf);
        yf[i] = y[at];
    }
    mcp_gp_settings_default(&s);
    s.noise_floor = 0.3 * 3e-3 * 2.0 * 15.0; /* as the learning loop takes it from the sensor, through central differences */
    s.lengthscale_floor = 0.3;
    if (st == MCP_OK) st = mcp_gp_create(&small, b->system->kernel[g], few, 6, Xf, yf, err);
    if (st == MCP_OK) st = mcp_gp_train(small, &s, NULL, err);
    if (st == MCP_OK) st = mcp_gp_create(&b->gp[g], b->system->kernel[g], n, 6, X, y, err);
    if (st == MCP_OK) st = mcp_gp_set(b->gp[g], mcp_gp_hyper(small), err);
    mcp_gp_free(small);
    mcp_free(Xf);
    return st;
}

static mcp_status make_models(bench *b, const request *q, mcp_error *err)
{
    size_t                 n = (size_t)q->data;
    double                *X = mcp_calloc(n * 8, sizeof *X), *y = X ? X + n * 6 : NULL;
    mcp_posterior_settings set = {.type = q->sparse ? MCP_POSTERIOR_SPARSE : MCP_POSTERIOR_EXACT, .tolerance = q->tolerance};
    b->visited = mcp_calloc(n * 4, sizeof *b->visited);
    mcp_status st = X && b->visited ? MCP_OK : mcp_fail(err, MCP_ERR_MEMORY, "out of memory");
    if (st == MCP_OK) b->visits = pairs(q, X, y, y + n, b->visited);
    for (int g = 0; g < 2 && st == MCP_OK; g++) {
        st = make_gp(b, g, q->data, X, y + (size_t)g * n, err);
        if (st == MCP_OK) st = mcp_posterior_create(&b->posterior[g], b->gp[g], &set, mcp_isa_level(), NULL, err);
        if (st != MCP_OK) break;
        b->points[g] = mcp_posterior_points(b->posterior[g]);
        b->rows[g]   = mcp_posterior_variance_points(b->posterior[g]);
    }
    mcp_free(X);
    return st;
}

static mcp_status make(bench *b, const request *q, mcp_error *err)
{
    mcp_rollout_settings set = {.particles = q->particles, .steps = q->horizon, .block = q->block, .adjoint_clip = 30.0};
    mcp_status           st = make_system(b, q, err);
    if (st == MCP_OK) st = make_models(b, q, err);
    if (st == MCP_OK && q->threads != 1) st = mcp_pool_create(&b->pool, q->threads, err);
    if (st == MCP_OK) st = mcp_rollout_create(&b->rollout, b->system, b->posterior, &set, b->pool, err);
    if (st != MCP_OK) return st;
    b->params = mcp_program_params(b->system->controller);
    b->theta = mcp_calloc((size_t)b->params * 4, sizeof *b->theta);
    if (!b->theta) return mcp_fail(err, MCP_ERR_MEMORY, "out of memory");
    b->gradient = b->theta + b->params;
    b->m = b->gradient + b->params;
    b->v = b->m + b->params;
    return mcp_policy_draw(b->system, b->visited, b->visits, 1, 1, 0, b->theta, err);
}

static void unmake(bench *b)
{
    mcp_rollout_free(b->rollout);
    mcp_pool_free(b->pool);
    for (int g = 0; g < 2; g++) {
        mcp_posterior_free(b->posterior[g]);
        mcp_gp_free(b->gp[g]);
    }
    mcp_system_free(b->system);
    mcp_task_free(b->task);
    mcp_free(b->theta);
    mcp_free(b->visited);
}

static mcp_status step(bench *b, const request *q, uint32_t number, double *J, mcp_error *err)
{
    mcp_stream_noise   stream = {.system = b->system, .seed = 1, .trial = 1, .step = number, .dropout = q->dropout};
    mcp_noise          noise = mcp_noise_from_stream(&stream);
    mcp_rollout_result result = {.gradient = b->gradient};
    mcp_status         st = mcp_rollout_run(b->rollout, b->theta, q->dropout, &noise, &result, err);
    *J = result.J;
    return st;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The product V = Q k alone, at the block's width: seconds per call. */
static double product_time(int points, int lanes)
{
    void      *memory;
    size_t     n = (size_t)points, packed = mcp_gemm_packed_doubles(points, points);
    mcp_packed p;
    if (mcp_block_alloc(&memory, (packed + n * n + 2 * n * (size_t)lanes) * sizeof(double), NULL) != MCP_OK) return NAN;
    double *A = memory, *B = A + packed, *C = B + n * (size_t)lanes, *Q = C + n * (size_t)lanes, best = INFINITY;
    for (size_t i = 0; i < n * n; i++) Q[i] = 1.0 / (1.0 + (double)(i % 97));
    for (size_t i = 0; i < n * (size_t)lanes; i++) B[i] = 1.0 / (1.0 + (double)(i % 89));
    mcp_gemm_pack(&p, mcp_isa_level(), points, points, Q, points, A);
    for (int batch = 0; batch < 20; batch++) {
        int    calls = 0;
        double start = now();
        do mcp_gemm(&p, lanes, B, lanes, C, lanes, 0), calls++;
        while (now() - start < 2e-3);
        best = fmin(best, (now() - start) / calls);
    }
    mcp_block_free(memory);
    return best;
}

static mcp_status measure(bench *b, const request *q, figures *out, mcp_error *err)
{
    size_t     n = (size_t)q->repeats;
    double     J0 = NAN, J1 = NAN, *ms = mcp_calloc(2 * n + (size_t)b->params, sizeof *ms), *used = ms + n, *first = used + n;
    mcp_adam   adam = {.n = b->params, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8, .m = b->m, .v = b->v};
    mcp_status st = ms ? step(b, q, 0, &J0, err) : mcp_fail(err, MCP_ERR_MEMORY, "out of memory");
    if (st == MCP_OK) {
        memcpy(first, b->gradient, (size_t)b->params * sizeof *first);
        st = step(b, q, 0, &J1, err);
    }
    if (st == MCP_OK && (J0 != J1 || memcmp(first, b->gradient, (size_t)b->params * sizeof *first)))
        st = mcp_fail(err, MCP_ERR_NUMERIC, "the same step gave different numbers twice");
    mcp_adam_reset(&adam);
    for (size_t k = 0; k < n && st == MCP_OK; k++) {
        double start = now(), before = cpu();
        st = step(b, q, (uint32_t)k + 1, &J1, err);
        mcp_clip_norm(b->params, 1.0, b->gradient);
        mcp_adam_step(&adam, 1e-4, b->gradient, b->theta);
        used[k] = 1e3 * (cpu() - before);
        ms[k] = 1e3 * (now() - start);
    }
    if (st == MCP_OK) {
        qsort(ms, n, sizeof *ms, ascending);
        qsort(used, n, sizeof *used, ascending);
        *out = (figures){ms[n / 2], ms[0], used[n / 2], used[0], J0};
    }
    mcp_free(ms);
    return st;
}

static void print(const bench *b, const request *q, const figures *f)
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
        printf("data %d, points %d and %d (variance %d and %d), %d particles, %d steps, %d basis functions, %d thread%s, %s, block %d\n", q->data, b->points[0],
               b->points[1], b->rows[0], b->rows[1], q->particles, q->horizon, q->basis, q->threads, q->threads == 1 ? "" : "s", mcp_isa_name(mcp_isa_level()), lanes);
        printf("gradient step %.2f ms (median of %d, best %.2f; processor time %.2f, best %.2f); products alone %.2f ms of one thread, %.1f GF/s\n",
               f->median, q->repeats, f->best, f->cpu, f->cpu_best, 1e3 * seconds, 1e-9 * flops / seconds);
        printf("peak memory %.0f MB, of which particles %.1f MB; J = %.6f\n", (double)use.ru_maxrss / 1024.0,
               (double)mcp_rollout_bytes(b->rollout) / 1e6, f->J);
        return;
    }
    printf("{\"data\": %d, \"posterior\": \"%s\", \"tolerance\": %g, \"points\": [%d, %d], \"variance_points\": [%d, %d], \"particles\": %d, \"horizon\": %d, \"basis\": %d, "
           "\"threads\": %d, \"block\": %d, \"isa\": \"%s\", \"ms\": %.4f, \"ms_best\": %.4f, \"cpu_ms\": %.4f, \"cpu_ms_best\": %.4f, \"repeats\": %d, \"gemm_ms\": %.4f, "
           "\"gemm_gflops\": %.2f, \"peak_memory_mb\": %.1f, \"particle_memory_mb\": %.2f, \"J\": %.12g}\n",
           q->data, q->sparse ? "sparse" : "exact", q->sparse ? q->tolerance : 0.0, b->points[0], b->points[1], b->rows[0], b->rows[1], q->particles,
           q->horizon, q->basis, q->threads, lanes, mcp_isa_name(mcp_isa_level()), f->median, f->best, f->cpu, f->cpu_best, q->repeats, 1e3 * seconds, 1e-9 * flops / seconds,
           (double)use.ru_maxrss / 1024.0, (double)mcp_rollout_bytes(b->rollout) / 1e6, f->J);
}

static int usage(FILE *to)
{
    fprintf(to, "usage: mcpilco bench step [--data N] [--particles M] [--horizon T] [--basis B] [--threads K]\n"
                "                          [--posterior exact|sparse] [--tolerance X] [--dropout P] [--block L] [--repeats R] [--json]\n\n"
                "Time of one complete policy-gradient step on the cart-pole: two SE GPs on N simulated data, 6 features, difference and\n"
                "low-pass in the particles, dropout. Median of R repeats (default: about two seconds of them).\n"
                "Defaults: 264 data, 400 particles, 90 steps, 200 basis functions, 1 thread, sparse at 0.01, dropout 0.25.\n");
    return to == stderr ? 2 : 0;
}

static int number(const char *text, double low, double high, int whole, double *out)
{
    char *end;
    *out = strtod(text, &end);
    return *text && !*end && *out >= low && *out <= high && (!whole || *out == floor(*out));
}

/* 0, or the exit code. */
static int parse(request *q, int argc, char **argv)
{
    struct { const char *name; double low, high; int *to; double *real; } option[] = {
        {"--data", 2, 20000, &q->data, NULL},       {"--particles", 1, 1e6, &q->particles, NULL}, {"--horizon", 3, 60000, &q->horizon, NULL},
        {"--basis", 1, 100000, &q->basis, NULL},    {"--threads", 1, 1024, &q->threads, NULL},    {"--repeats", 1, 100000, &q->repeats, NULL},
        {"--block", 8, 1e6, &q->block, NULL},       {"--tolerance", 0, 1e6, NULL, &q->tolerance}, {"--dropout", 0, 0.99, NULL, &q->dropout},
    };
    for (int i = 1; i < argc; i++) {
        size_t k = 0, n = sizeof option / sizeof *option;
        double v;
        if (!strcmp(argv[i], "--help")) return usage(stdout), -1;
        if (!strcmp(argv[i], "--json")) {
            q->json = 1;
            continue;
        }
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (!strcmp(argv[i], "--posterior") && (!strcmp(value, "exact") || !strcmp(value, "sparse"))) {
            q->sparse = *value == 's';
            i++;
            continue;
        }
        while (k < n && strcmp(argv[i], option[k].name)) k++;
        if (k == n) {
            fprintf(stderr, "mcpilco bench step: \"%s %s\" is not known\n", argv[i], value);
            return usage(stderr);
        }
        if (!number(value, option[k].low, option[k].high, option[k].to != NULL, &v)) {
            fprintf(stderr, "mcpilco bench step: %s \"%s\" is not a number from %g to %g\n", argv[i], value, option[k].low, option[k].high);
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
    request   q = {.data = 264, .particles = 400, .horizon = 90, .basis = 200, .threads = 1, .sparse = 1, .tolerance = 0.01, .dropout = 0.25};
    bench     b = {0};
    mcp_error err = {MCP_OK, ""};
    figures   f = {0};
    int       code = parse(&q, argc, argv);
    if (code) return code < 0 ? 0 : code;
    q.dropout = floor(q.dropout * 256.0 + 0.5) / 256.0;
    mcp_status st = make(&b, &q, &err);
    if (st == MCP_OK && q.repeats == 0) {
        double start = now();
        q.repeats = 1;
        st = measure(&b, &q, &f, &err);
        double once = (now() - start) / 3.0;
        q.repeats = (int)fmax(5.0, fmin(201.0, 2.0 / once)) | 1;
    }
    if (st == MCP_OK) st = measure(&b, &q, &f, &err);
    if (st == MCP_OK) print(&b, &q, &f);
    else fprintf(stderr, "mcpilco bench step: %s\n", err.text);
    unmake(&b);
    return st == MCP_OK ? 0 : 1;
}
