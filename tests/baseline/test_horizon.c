/* test_horizon.c - the whole objective of PILCO: its gradient against central differences, its value against
 * sampling. */
#include "baseline/pilco/horizon.h"
#include "baseline/pilco/targets.h"

#include "math/arena.h"
#include "math/rng.h"
#include "test.h"

/* A pendulum-like problem: states (p, v, angle, rate), one or two inputs, every feature scaled, two angles
 * when asked. */
enum { NX = 4, N = 30, B = 5, T = 6, MAXF = 8, MAXU = 2 };
typedef struct {
    mcp_horizon_problem p;
    mcp_bank           *bank;
    mcp_horizon        *h;
    int                 angle[2], input[10], feature[MAXF];
    double A[NX * NX], Bm[NX * NX], input_scale[10], feature_scale[MAXF], limit[MAXU], noise[NX], m0[NX],
        S0[NX * NX], z[8], W[64];
} world;

static mcp_rand gen;

static void make(world *w, int angles, int nu, int velocities, mcp_pool *pool)
{
    int na = NX + 2 * angles, D = 0, f = 0, E = velocities ? 2 : NX;
    memset(w, 0, sizeof *w);
    gen = mcp_rand_make(9, 0, 0, MCP_RNG_OTHER);
    w->angle[0] = 2;
    w->angle[1] = 0;
    for (int i = 0; i < na + nu; i++) {
        if (i == 2) continue; /* the angle itself is no feature */
        w->input_scale[D] = 0.5 + mcp_rand_uniform(&gen);
        w->input[D++] = i;
        if (i < na) {
            w->feature_scale[f] = 0.5 + mcp_rand_uniform(&gen);
            w->feature[f++] = i;
        }
    }
    for (int i = 0; i < NX; i++) {
        w->A[i * NX + i] = 1;
        w->noise[i] = 1e-4 * (i + 1);
        w->m0[i] = 0.3 * mcp_rand_normal(&gen);
        for (int j = 0; j < NX; j++) w->S0[i * NX + j] = 0.004 + (i == j ? 0.02 : 0);
    }
    if (velocities) { /* p += h v + h/2 D1, v += D1; angle likewise */
        w->A[1] = w->A[2 * NX + 3] = 0.1;
        w->Bm[0] = 0.05;
        w->Bm[2] = 1;
        w->Bm[2 * 2 + 1] = 0.05;
        w->Bm[3 * 2 + 1] = 1;
    } else
        for (int i = 0; i < NX; i++) w->Bm[i * NX + i] = 1;
    for (int k = 0; k < nu; k++) w->limit[k] = 2 - k;
    for (int i = 0; i < na; i++)
        for (int j = 0; j < na; j++) w->W[i * na + j] = i == j ? 0.8 : 0.1;
    w->z[0] = 0.4;

    double X[N * 10], Y[NX * N], hyper[NX * 12];
    for (int i = 0; i < N * D; i++) X[i] = mcp_rand_normal(&gen);
    for (int e = 0; e < E; e++) {
        for (int i = 0; i < N; i++) Y[e * N + i] = 0.2 * sin(X[i * D + e] + X[i * D + D - 1]);
        for (int d = 0; d < D; d++) hyper[e * (D + 2) + d] = 0.4 + 0.3 * mcp_rand_uniform(&gen);
        hyper[e * (D + 2) + D] = log(0.3);
        hyper[e * (D + 2) + D + 1] = log(0.02);
    }
    w->p = (mcp_horizon_problem){.nx = NX,
                                 .nu = nu,
                                 .angles = angles,
                                 .T = T,
                                 .angle = w->angle,
                                 .A = w->A,
                                 .B = w->Bm,
                                 .inputs = D,
                                 .input = w->input,
                                 .input_scale = w->input_scale,
                                 .features = f,
                                 .basis = B,
                                 .feature = w->feature,
                                 .feature_scale = w->feature_scale,
                                 .limit = w->limit,
                                 .noise = w->noise,
                                 .m0 = w->m0,
                                 .S0 = w->S0,
                                 .z = w->z,
                                 .W = w->W};
    CHECK_OK(mcp_bank_create(&w->bank, &(mcp_bank_data){N, D, E, X, Y, hyper}, mcp_isa_level(), err));
    CHECK_OK(mcp_horizon_create(&w->h, &w->p, w->bank, pool, err));
}

static void drop(world *w)
{
    mcp_horizon_free(w->h);
    mcp_bank_free(w->bank);
}

static int params(const world *w) { return w->p.nu * B + B * w->p.features + w->p.features; }

static double value(world *w, const double *theta, double *grad)
{
    double lambda[MAXF], J = NAN;
    int    f = w->p.features, c = w->p.nu * B, l = c + B * f;
    for (int d = 0; d < f; d++) lambda[d] = exp(theta[l + d]);
    const mcp_network     policy = {f, B, w->p.nu, theta, theta + c, lambda};
    const mcp_network_bar bar = {grad, grad + c, grad + l};
    CHECK_OK(mcp_horizon_run(w->h, &policy, &J, NULL, grad ? &bar : NULL, err));
    for (int d = 0; grad && d < f; d++) grad[l + d] *= lambda[d];
    return J;
}

static double value_alone(void *w, const double *theta) { return value(w, theta, NULL); }

static double largest(int n, const double *x)
{
    double top = 0;
    for (int i = 0; i < n; i++) top = fmax(top, fabs(x[i]));
    return top;
}

static void check_gradient(int angles, int nu, int velocities)
{
    world  w;
    double theta[80], grad[80];
    make(&w, angles, nu, velocities, NULL);
    for (int i = 0; i < params(&w); i++) theta[i] = 0.6 * mcp_rand_normal(&gen);
    value(&w, theta, grad);
    double top = largest(params(&w), grad);
    CHECK(top > 1e-3);
    difference_check differences = {value_alone, &w, params(&w), 1, 1e-5, 1e-7, 1e-7 * top};
    check_differences(&differences, theta, grad);
    drop(&w);
}

CASE(gradient_matches_central_difference_with_one_angle) { check_gradient(1, 1, 0); }
CASE(gradient_matches_central_difference_with_two_angles_and_two_inputs) { check_gradient(2, 2, 0); }
CASE(gradient_matches_central_difference_with_integrated_velocities) { check_gradient(1, 1, 1); }
CASE(gradient_matches_central_difference_without_angles) { check_gradient(0, 1, 0); }

/* An eased problem is a problem like any other: fewer steps and another W. */
CASE(an_eased_horizon_is_its_first_steps_with_a_wider_cost)
{
    world  w;
    double theta[80], grad[80], lambda[MAXF], step[T + 1], J, eased, sum = 0;
    make(&w, 1, 1, 0, NULL);
    for (int i = 0; i < params(&w); i++) theta[i] = 0.6 * mcp_rand_normal(&gen);
    for (int d = 0; d < w.p.features; d++) lambda[d] = exp(theta[w.p.nu * B + B * w.p.features + d]);
    for (int i = 0; i < 36; i++) w.W[i] *= 0.25;
    mcp_horizon_ease(w.h, T, 1);
    const mcp_network policy = {w.p.features, B, w.p.nu, theta, theta + w.p.nu * B, lambda};
    CHECK_OK(mcp_horizon_run(w.h, &policy, &J, step, NULL, err));
    for (int t = 0; t <= 2; t++) sum += step[t];
    for (int i = 0; i < 36; i++) w.W[i] *= 4;
    mcp_horizon_ease(w.h, 2, 0.25);
    eased = value(&w, theta, grad);
    CHECK_CLOSE(eased, sum, 1e-14, 0);
    difference_check differences = {value_alone, &w, params(&w), 3, 1e-5, 1e-6, 1e-8};
    check_differences(&differences, theta, grad);
    drop(&w);
}

/* The search's own parameters: pseudo-targets, centres, log lengths. */
static double value_of_targets(world *w, const double *x, double *grad)
{
    int    f = w->p.features, nu = w->p.nu;
    double weights[MAXU * B], lambda[MAXF], K[B * B], L[B * B], wb[MAXU * B], lb[MAXF], J = NAN;
    const mcp_targets     t = {nu, B, f, weights, lambda, K, L};
    const mcp_network     policy = {f, B, nu, weights, x + nu * B, lambda};
    const mcp_network_bar bar = {wb, grad + nu * B, lb};
    CHECK_OK(mcp_targets_forward(&t, x));
    CHECK_OK(mcp_horizon_run(w->h, &policy, &J, NULL, &bar, err));
    mcp_targets_backward(&t, x, wb, lb, grad);
    return J;
}

static double value_of_targets_alone(void *w, const double *x)
{
    double none[80];
    return value_of_targets(w, x, none);
}

CASE(gradient_in_pseudo_targets_matches_central_difference)
{
    world  w;
    double x[80], grad[80];
    make(&w, 1, 2, 0, NULL);
    for (int i = 0; i < params(&w); i++) x[i] = 0.6 * mcp_rand_normal(&gen);
    value_of_targets(&w, x, grad);
    difference_check differences = {value_of_targets_alone, &w, params(&w), 1, 1e-5, 1e-6,
                                    1e-6 * largest(params(&w), grad)};
    check_differences(&differences, x, grad);
    drop(&w);
}

CASE(targets_of_weights_give_the_weights_back)
{
    int    f = 3;
    double w[2 * B], x[2 * B + B * 3 + 3], back[2 * B], lambda[3], K[B * B], L[B * B];
    gen = mcp_rand_make(4, 0, 0, MCP_RNG_OTHER);
    for (int i = 0; i < 2 * B; i++) w[i] = mcp_rand_normal(&gen);
    for (int i = 0; i < B * 3 + 3; i++) x[2 * B + i] = mcp_rand_normal(&gen);
    mcp_targets_from_weights(2, B, f, w, x, K);
    CHECK_OK(mcp_targets_forward(&(mcp_targets){2, B, f, back, lambda, K, L}, x));
    for (int i = 0; i < 2 * B; i++) CHECK_CLOSE(back[i], w[i], 1e-9, 1e-9);
}

CASE(result_is_the_same_on_1_and_3_threads)
{
    world     a, b;
    mcp_pool *pool = NULL;
    double    theta[80], ga[80], gb[80];
    REQUIRE_OK(mcp_pool_create(&pool, 3, err));
    make(&a, 1, 1, 0, NULL);
    make(&b, 1, 1, 0, pool);
    for (int i = 0; i < params(&a); i++) theta[i] = 0.5 * mcp_rand_normal(&gen);
    CHECK(value(&a, theta, ga) == value(&b, theta, gb));
    CHECK(!memcmp(ga, gb, sizeof(double) * (size_t)params(&a)));
    drop(&a);
    drop(&b);
    mcp_pool_free(pool);
}

/* The cost of the start needs no model: E[1 - exp(..)] by sampling the start itself. */
CASE(cost_of_the_start_agrees_with_sampling)
{
    enum { SAMPLES = 400000 };
    world  w;
    double theta[80] = {0}, lambda[MAXF], step[T + 1], J, L[NX * NX] = {0}, sum = 0;
    make(&w, 1, 1, 0, NULL);
    /* cost on x alone, so that the augmented vector really is Gaussian where the cost looks */
    for (int i = 0; i < 36; i++) w.W[i] = (i / 6 < NX && i % 6 < NX) ? w.W[i] : 0;
    mcp_horizon_ease(w.h, T, 1); /* it keeps a copy of W */
    for (int d = 0; d < MAXF; d++) lambda[d] = 1;
    const mcp_network policy = {w.p.features, w.p.basis, w.p.nu, theta, theta, lambda};
    CHECK_OK(mcp_horizon_run(w.h, &policy, &J, step, NULL, err));
    for (int i = 0; i < NX; i++)
        for (int j = 0; j <= i; j++) {
            double s = w.S0[i * NX + j];
            for (int k = 0; k < j; k++) s -= L[i * NX + k] * L[j * NX + k];
            L[i * NX + j] = i == j ? sqrt(s) : s / L[j * NX + j];
        }
    for (int t = 0; t < SAMPLES; t++) {
        double e[NX], d[NX], q = 0;
        for (int i = 0; i < NX; i++) e[i] = mcp_rand_normal(&gen);
        for (int i = 0; i < NX; i++) {
            d[i] = w.m0[i] - w.z[i];
            for (int k = 0; k <= i; k++) d[i] += L[i * NX + k] * e[k];
        }
        for (int i = 0; i < NX; i++)
            for (int j = 0; j < NX; j++) q += d[i] * w.W[i * 6 + j] * d[j];
        sum += 1 - exp(-0.5 * q);
    }
    CHECK_CLOSE(step[0], sum / SAMPLES, 0, 1e-3);
    drop(&w);
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(gradient_matches_central_difference_with_one_angle);
    RUN(gradient_matches_central_difference_with_two_angles_and_two_inputs);
    RUN(gradient_matches_central_difference_with_integrated_velocities);
    RUN(gradient_matches_central_difference_without_angles);
    RUN(an_eased_horizon_is_its_first_steps_with_a_wider_cost);
    RUN(gradient_in_pseudo_targets_matches_central_difference);
    RUN(targets_of_weights_give_the_weights_back);
    RUN(result_is_the_same_on_1_and_3_threads);
    RUN(cost_of_the_start_agrees_with_sampling);
    return DONE();
}
