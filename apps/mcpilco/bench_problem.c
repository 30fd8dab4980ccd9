/* bench_problem.c - simulated trials of the cart-pole (positions with noise, central differences), GPs
 * trained on them, and a policy. Trials are like those of a learning run: sines, failed swing-ups, then
 * swing-ups that hold. */
#include "bench_problem.h"

#include <math.h>
#include <string.h>

#include "math/arena.h"
#include "math/rng.h"

enum { TRAIN_MOST = 264, SAMPLES = 91, PAIRS = 88 };

static mcp_status make_system(bench_problem *b, const bench_request *q, mcp_error *err)
{
    char *text = mcp_sprintf(
        "name: bench\nrate: 30\ntrial: %.17g\nstate: [p, dp, theta, dtheta]\n"
        "inputs: {u: 10}\nmeasured: {p: 3e-3, theta: 3e-3}\nobserver: {type: difference, lowpass: 0.5}\n"
        "smoother: central-difference\n"
        "model:\n  velocities: {p: dp, theta: dtheta}\n"
        "  features: [p, dp, dtheta, sin(theta), cos(theta), u]\n  kernel: se\n"
        "policy: 10*tanh(rbf(%d, p, dp, dtheta, sin(theta), cos(theta))/10)\n"
        "cost: 1 - exp(-((abs(theta) - pi)/3)^2 - p^2)\nstart: {std: 0.01}\nplant: {ode: {dp: 0, dtheta: "
        "0}}\n",
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

/* A swing-up found by shooting, then a linear hold of the upright pole: what trials look like once a policy
 * works. */
static double swing_and_hold(int t, const double *x)
{
    static const double swing[] = {-5.71, -3.8,  -0.31, 3.1,   4.75,  5.65,  6.15,  6.35,  6.27,
                                   5.87,  4.99,  3.47,  1.16,  -1.26, -2.77, -3.69, -4.5,  -5.37,
                                   -6.25, -7.03, -7.64, -8.01, -8.1,  -7.87, -7.33, -5.97, -2.46,
                                   3.22,  4.74,  5.21,  5.5,   5.59,  5.51,  5.28,  4.89,  4.28,
                                   3.33,  1.84,  -0.36, -2.5,  -4.19, -5.74};
    const int    steps = (int)(sizeof swing / sizeof *swing);
    const double away = remainder(x[2] - M_PI, 2.0 * M_PI);
    if (t < steps && (t < 30 || fabs(away) > 0.4)) return swing[t];
    return 2.63 * x[0] + 3.46 * x[1] - 27.6 * away - 4.57 * x[3];
}

/* One trial: exploring sines, a poor policy (larger ones), two swing-ups that often fail, then such that
 * mostly work. */
static void trial(int number, double q[SAMPLES][2], double u[SAMPLES])
{
    mcp_rand r = mcp_rand_make(1, (uint32_t)number, 0, MCP_RNG_OTHER);
    double   x[4], f[10], phase[10], size = number == 0 ? 1.0 : number == 1 ? 2.0 : number < 4 ? 0.1 : 0.05;
    double   part = 1.0 + (number < 4 ? 0.1 : 0.03) * mcp_rand_normal(&r);
    for (int i = 0; i < 4; i++) x[i] = 0.01 * mcp_rand_normal(&r);
    for (int i = 0; i < 10; i++) {
        f[i] = 0.1 + 1.9 * mcp_rand_uniform(&r);
        phase[i] = number ? 2.0 * M_PI * mcp_rand_uniform(&r) : 0.0;
    }
    for (int t = 0; t < SAMPLES; t++) {
        q[t][0] = x[0] + 3e-3 * mcp_rand_normal(&r);
        q[t][1] = x[2] + 3e-3 * mcp_rand_normal(&r);
        u[t] = number < 2 ? 0.0 : part * swing_and_hold(t, x);
        for (int i = 0; i < 10; i++) u[t] += size * sin(2.0 * M_PI * f[i] * t / 30.0 + phase[i]);
        u[t] = fmax(-10.0, fmin(10.0, u[t]));
        for (int k = 0; k < 33; k++) runge_kutta(x, u[t], 1.0 / 990.0);
    }
}

/* Central differences: velocity at t from t-1 and t+1; pairs 1 .. PAIRS of every trial until there are
 * enough. */
static int pairs(const bench_request *q, double *X, double *y0, double *y1, double *visited)
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
            x[0] = m[t][0];
            x[1] = v[0][0];
            x[2] = v[0][1];
            x[3] = sin(m[t][1]);
            x[4] = cos(m[t][1]);
            x[5] = u[t];
            visited[n * 4] = m[t][0];
            visited[n * 4 + 1] = v[0][0];
            visited[n * 4 + 2] = m[t][1];
            visited[n * 4 + 3] = v[0][1];
            y0[n] = v[1][0] - v[0][0];
            y1[n] = v[1][1] - v[0][1];
        }
    }
    return n;
}

/* Hyper-parameters from at most TRAIN_MOST of the data (every k-th), then all of it. */
static mcp_status make_gp(bench_problem *b, int g, int n, const double *X, const double *y, mcp_error *err)
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
    s.noise_floor = 0.3 * 3e-3 * 2.0 *
                    15.0; /* as the learning loop takes it from the sensor, through central differences */
    s.lengthscale_floor = 0.3;
    if (st == MCP_OK) st = mcp_gp_create(&small, b->system->kernel[g], few, 6, Xf, yf, err);
    if (st == MCP_OK) st = mcp_gp_train(small, &s, err);
    if (st == MCP_OK) st = mcp_gp_create(&b->gp[g], b->system->kernel[g], n, 6, X, y, err);
    if (st == MCP_OK) st = mcp_gp_set(b->gp[g], mcp_gp_hyper(small), err);
    mcp_gp_free(small);
    mcp_free(Xf);
    return st;
}

static mcp_status make_models(bench_problem *b, const bench_request *q, mcp_error *err)
{
    size_t                 n = (size_t)q->data;
    double                *X = mcp_calloc(n * 8, sizeof *X), *y = X ? X + n * 6 : NULL;
    mcp_posterior_settings set = {.type = q->sparse ? MCP_POSTERIOR_SPARSE : MCP_POSTERIOR_EXACT,
                                  .tolerance = q->tolerance,
                                  .single = q->single && !q->mixed};
    b->visited = mcp_calloc(n * 4, sizeof *b->visited);
    mcp_status st = X && b->visited ? MCP_OK : mcp_fail(err, MCP_ERR_MEMORY, "out of memory");
    if (st == MCP_OK) b->visits = pairs(q, X, y, y + n, b->visited);
    for (int g = 0; g < 2 && st == MCP_OK; g++) {
        st = make_gp(b, g, q->data, X, y + (size_t)g * n, err);
        if (st == MCP_OK)
            st = mcp_posterior_create(&b->posterior[g], b->gp[g], &set, mcp_isa_level(), NULL, err);
        if (st != MCP_OK) break;
        b->points[g] = mcp_posterior_points(b->posterior[g]);
        b->rows[g]   = mcp_posterior_variance_points(b->posterior[g]);
    }
    mcp_free(X);
    return st;
}

mcp_status bench_rollout(mcp_rollout **out, const bench_problem *b, const bench_request *q, int single,
                         mcp_pool *pool, mcp_error *err)
{
    mcp_rollout_settings set = {.particles = q->particles,
                                .steps = q->horizon,
                                .block = q->block,
                                .single = single,
                                .adjoint_clip = 30.0};
    return mcp_rollout_create(out, b->system, b->posterior, &set, pool, err);
}

mcp_status bench_make(bench_problem *b, const bench_request *q, mcp_error *err)
{
    mcp_status st = make_system(b, q, err);
    if (st == MCP_OK) st = make_models(b, q, err);
    if (st == MCP_OK && q->threads != 1) st = mcp_pool_create(&b->pool, q->threads, err);
    if (st == MCP_OK) st = bench_rollout(&b->rollout, b, q, q->single, b->pool, err);
    if (st != MCP_OK) return st;
    b->params = mcp_program_params(b->system->controller);
    b->theta = mcp_calloc((size_t)b->params * 4, sizeof *b->theta);
    if (!b->theta) return mcp_fail(err, MCP_ERR_MEMORY, "out of memory");
    b->gradient = b->theta + b->params;
    b->m = b->gradient + b->params;
    b->v = b->m + b->params;
    const mcp_policy_request start = {
        .system = b->system, .visited = b->visited, .visits = b->visits, .seed = 1, .trial = 1};
    return mcp_policy_draw(&start, b->theta, err);
}

void bench_unmake(bench_problem *b)
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

mcp_status bench_gradient(const bench_problem *b, mcp_rollout *r, const bench_request *q, uint32_t number,
                          double *J, double *gradient, mcp_error *err)
{
    mcp_stream_noise stream = {
        .system = b->system, .seed = 1, .trial = 1, .step = number, .dropout = q->dropout};
    mcp_noise          noise = mcp_noise_from_stream(&stream);
    mcp_rollout_result result = {.gradient = gradient};
    mcp_status         st = mcp_rollout_run(r, b->theta, q->dropout, &noise, &result, err);
    *J = result.J;
    return st;
}
