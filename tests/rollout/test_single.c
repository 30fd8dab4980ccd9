/* test_single.c - basis functions in single precision: the same J and gradient but for rounding, for any
 * number of bases, features and outputs; the adjoint of what is computed; and the same bits for any threads
 * and blocks. */
#include "fixture.h"

enum { STEPS = 9 };

typedef struct {
    int    particles, single, threads, block;
    double dropout;
} way;

static mcp_status run(const fixture *f, way w, double *J, double *gradient, mcp_error *err)
{
    mcp_rollout_settings set = {.particles = w.particles,
                                .steps = STEPS,
                                .single = w.single,
                                .block = w.block};
    mcp_stream_noise stream = {.system = f->system, .seed = 3, .trial = 1, .step = 2, .dropout = w.dropout};
    mcp_noise            noise = mcp_noise_from_stream(&stream);
    mcp_rollout_result   result = {.gradient = gradient};
    mcp_rollout         *r = NULL;
    mcp_pool            *pool = NULL;
    mcp_status           st = w.threads > 1 ? mcp_pool_create(&pool, w.threads, err) : MCP_OK;
    if (st == MCP_OK) st = mcp_rollout_create(&r, f->system, f->posterior, &set, pool, err);
    if (st == MCP_OK) st = mcp_rollout_run(r, f->theta, w.dropout, &noise, &result, err);
    *J = result.J;
    mcp_rollout_free(r);
    mcp_pool_free(pool);
    return st;
}

static double largest(const double *g, const double *without, int n)
{
    double most = 0.0;
    for (int i = 0; i < n; i++) most = fmax(most, fabs(g[i] - (without ? without[i] : 0.0)));
    return most;
}

/* One basis, one feature; bases that do not fill a vector; as many as the tape's row; more features than
 * registers; two outputs. */
static const char *const policies[] = {
    "3*tanh(rbf(1, p, dp)/3)",
    "3*tanh(rbf(5, p, dp, dtheta, cos(theta), sin(theta))/3)",
    "3*tanh(rbf(16, p, dp, theta)/3)",
    "3*tanh(rbf(267, p, dp, dtheta, cos(theta), sin(theta))/3)",
    ("3*tanh(rbf(21, p, dp, dtheta, cos(theta), sin(theta), p*theta, sin(2*theta), p*dp, cos(2*theta), "
     "dp*dtheta)/3)"),
    "3*tanh((rbf(11, p, theta)[1] + 0.5*p*rbf(11, p, theta)[2])/3)",
};

CASE(single_gives_the_double_numbers_but_for_rounding)
{
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++)
        for (int drop = 0; drop < 2; drop++) {
            const parts p = {.policy = policies[i]};
            fixture     f = {0};
            double      J[2];
            REQUIRE_OK(fixture_make(&f, &p, STEPS, 30, err));
            double *g = mcp_calloc(2 * (size_t)f.params, sizeof *g), *h = g + f.params;
            REQUIRE(g);
            REQUIRE_OK(run(&f, (way){29, 0, 1, 0, 0.25 * drop}, &J[0], g, err));
            REQUIRE_OK(run(&f, (way){29, 1, 1, 0, 0.25 * drop}, &J[1], h, err));
            CHECK(memcmp(g, h, (size_t)f.params * sizeof *g) != 0); /* it was single precision */
            CHECK_CLOSE(J[1], J[0], 1e-6, 0.0);
            if (!(largest(g, h, f.params) <= 1e-5 * largest(g, NULL, f.params)))
                FAIL_("%s: off by %g, largest entry %g", policies[i], largest(g, h, f.params),
                      largest(g, NULL, f.params));
            mcp_free(g);
            fixture_free(&f);
        }
}

/* J carries about 1e-7 of rounding: over differences of 1e-2 that is 1e-5 of slope. So wide a step needs the
 * rule of four points, whose own error is of the fourth power. */
CASE(single_adjoint_matches_central_differences)
{
    const double step = 1e-2;
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        if (i == 3) continue; /* many bases: slow, and the same code */
        const parts p = {.policy = policies[i]};
        fixture     f = {0};
        double      J[4], worst = 0.0;
        REQUIRE_OK(fixture_make(&f, &p, STEPS, 30, err));
        double *g = mcp_calloc((size_t)f.params, sizeof *g);
        REQUIRE(g);
        REQUIRE_OK(run(&f, (way){13, 1, 1, 0, 0.0}, J, g, err));
        for (int k = 0; k < f.params; k++) {
            double keep = f.theta[k];
            for (int side = 0; side < 4; side++) {
                f.theta[k] = keep + (side < 2 ? side - 2 : side - 1) * step;
                REQUIRE_OK(run(&f, (way){13, 1, 1, 0, 0.0}, &J[side], NULL, err));
            }
            f.theta[k] = keep;
            worst = fmax(worst, fabs((8.0 * (J[2] - J[1]) - (J[3] - J[0])) / (12.0 * step) - g[k]));
        }
        CHECK(largest(g, NULL, f.params) > 1e-5);
        if (!(worst <= 1e-4 * fmax(1.0, largest(g, NULL, f.params))))
            FAIL_("%s: off by %g", policies[i], worst);
        mcp_free(g);
        fixture_free(&f);
    }
}

CASE(threads_and_blocks_do_not_change_a_bit_of_single_either)
{
    static const struct {
        int threads, block;
    } ways[] = {{1, 16}, {1, 40}, {1, 400}, {2, 16}, {2, 40}, {3, 0}};
    const parts p = {.policy = policies[1]};
    fixture     f = {0};
    double      J, other;
    REQUIRE_OK(fixture_make(&f, &p, STEPS, 30, err));
    double *g = mcp_calloc(2 * (size_t)f.params, sizeof *g), *h = g + f.params;
    REQUIRE(g);
    REQUIRE_OK(run(&f, (way){403, 1, 1, 0, 0.25}, &J, g, err));
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        REQUIRE_OK(run(&f, (way){403, 1, ways[i].threads, ways[i].block, 0.25}, &other, h, err));
        CHECK(J == other && !memcmp(g, h, (size_t)f.params * sizeof *g));
    }
    mcp_free(g);
    fixture_free(&f);
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(single_gives_the_double_numbers_but_for_rounding);
    RUN(single_adjoint_matches_central_differences);
    RUN(threads_and_blocks_do_not_change_a_bit_of_single_either);
    return DONE();
}
