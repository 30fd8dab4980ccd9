/* test_noise_margin.c - what single precision changes in J and in its gradient is far below what another draw
 * of the particles' noise changes, for a fresh policy and for one that has been optimised. */
#include "fixture.h"
#include "optim/adam.h"

enum { STEPS = 25, PARTICLES = 100, DRAWS = 6, LATE = 120 };
static const double margin = 30.0;

static mcp_status run(const fixture *f, int single, uint32_t step, double *J, double *g, mcp_error *err)
{
    mcp_rollout_settings set = {.particles = PARTICLES,
                                .steps = STEPS,
                                .single = single,
                                .adjoint_clip = 30.0};
    mcp_stream_noise     stream = {.system = f->system, .seed = 5, .trial = 1, .step = step, .dropout = 0.25};
    mcp_noise            noise = mcp_noise_from_stream(&stream);
    mcp_rollout_result   result = {.gradient = g};
    mcp_rollout         *r = NULL;
    mcp_status           st = mcp_rollout_create(&r, f->system, f->posterior, &set, NULL, err);
    if (st == MCP_OK) st = mcp_rollout_run(r, f->theta, 0.25, &noise, &result, err);
    *J = result.J;
    mcp_rollout_free(r);
    return st;
}

static double distance(int n, const double *a, const double *b)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum);
}

static void check_margin(const fixture *f, const char *what)
{
    size_t  n = (size_t)f->params;
    double *g = mcp_calloc((DRAWS + 2) * n, sizeof *g), *mean = g ? g + DRAWS * n : NULL, *h = mean + n;
    double  J[DRAWS], Js, J_mean = 0.0, J_off = 0.0, g_off = 0.0, J_var = 0.0, g_var = 0.0;
    REQUIRE(g);
    for (uint32_t k = 0; k < DRAWS; k++) {
        REQUIRE_OK(run(f, 0, k, &J[k], g + k * n, err));
        REQUIRE_OK(run(f, 1, k, &Js, h, err));
        J_mean += J[k] / DRAWS;
        J_off = fmax(J_off, fabs(J[k] - Js));
        g_off = fmax(g_off, distance(f->params, g + k * n, h));
        for (size_t i = 0; i < n; i++) mean[i] += g[k * n + i] / DRAWS;
    }
    for (size_t k = 0; k < DRAWS; k++) {
        J_var += pow(J[k] - J_mean, 2) / (DRAWS - 1);
        g_var += pow(distance(f->params, g + k * n, mean), 2) / (DRAWS - 1);
    }
    printf("     %s: J %.4g, noise / error %.0f of J, %.0f of the gradient\n", what, J_mean,
           sqrt(J_var) / J_off, sqrt(g_var) / g_off);
    CHECK(J_off > 0.0 && g_off > 0.0); /* it was single precision */
    CHECK(margin * J_off <= sqrt(J_var));
    CHECK(margin * g_off <= sqrt(g_var));
    mcp_free(g);
}

CASE(single_precision_is_far_below_the_noise_early_and_late)
{
    const parts p = {.policy = "3*tanh(rbf(40, p, dp, dtheta, cos(theta), sin(theta))/3)"};
    fixture     f = {0};
    double      first, last;
    REQUIRE_OK(fixture_make(&f, &p, STEPS, 60, err));
    size_t  n = (size_t)f.params;
    double *g = mcp_calloc(4 * n, sizeof *g);
    REQUIRE(g);
    for (int k = 0; k < 2; k++) CHECK(mcp_posterior_single(f.posterior[k]).used);
    check_margin(&f, "fresh");
    mcp_adam adam = {.n = f.params, .m = g + n, .v = g + 2 * n};
    adam.beta1 = 0.9;
    adam.beta2 = 0.999;
    adam.epsilon = 1e-8;
    mcp_adam_reset(&adam);
    for (uint32_t step = 0; step < LATE; step++) {
        REQUIRE_OK(run(&f, 1, 100 + step, step ? &last : &first, g, err));
        mcp_adam_step(&adam, 0.02, g, f.theta);
    }
    CHECK(last < first);
    check_margin(&f, "optimised");
    mcp_free(g);
    fixture_free(&f);
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(single_precision_is_far_below_the_noise_early_and_late);
    return DONE();
}
