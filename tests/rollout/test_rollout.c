/* test_rollout.c - the particle simulation as a whole: same bits for any threads and blocks, statistics,
 * clip, bad input. */
#include "fixture.h"

enum { STEPS = 9, PARTICLES = 403 };

typedef struct {
    double  J, J_std, *gradient, step_mean[STEPS + 1], step_std[STEPS + 1];
    double *particle_cost, *states, *observed, *inputs;
} outcome;

static void outcome_free(outcome *o)
{
    mcp_free(o->gradient);
    mcp_free(o->particle_cost);
    mcp_free(o->states);
    mcp_free(o->observed);
    mcp_free(o->inputs);
}

static mcp_status simulate(const fixture *f, mcp_rollout_settings set, int threads, double dropout,
                           outcome *o, mcp_error *err)
{
    mcp_pool    *pool = NULL;
    mcp_rollout *r = NULL;
    size_t       rows = (size_t)(set.steps + 1) * (size_t)set.particles;
    mcp_status   st = threads > 1 ? mcp_pool_create(&pool, threads, err) : MCP_OK;
    *o = (outcome){.gradient = mcp_calloc((size_t)f->params, sizeof(double)),
                   .particle_cost = mcp_calloc((size_t)set.particles, sizeof(double)),
                   .states = mcp_calloc(rows * 4, sizeof(double)),
                   .observed = mcp_calloc(rows * 4, sizeof(double)),
                   .inputs = mcp_calloc(rows, sizeof(double))};
    if (st == MCP_OK) st = mcp_rollout_create(&r, f->system, f->posterior, &set, pool, err);
    if (st == MCP_OK) {
        mcp_stream_noise stream = {
            .system = f->system, .seed = 11, .trial = 1, .step = 3, .dropout = dropout};
        mcp_noise          noise = mcp_noise_from_stream(&stream);
        mcp_rollout_result result = {.gradient = o->gradient,
                                     .step_mean = o->step_mean,
                                     .step_std = o->step_std,
                                     .particle_cost = o->particle_cost,
                                     .states = o->states,
                                     .observed = o->observed,
                                     .inputs = o->inputs};
        st = mcp_rollout_run(r, f->theta, dropout, &noise, &result, err);
        o->J = result.J;
        o->J_std = result.J_std;
    }
    mcp_rollout_free(r);
    mcp_pool_free(pool);
    return st;
}

CASE(threads_and_blocks_do_not_change_a_bit)
{
    static const struct {
        int threads, block;
    } ways[] = {{1, 16}, {1, 40}, {1, 400}, {2, 16}, {2, 40}, {3, 40}, {3, 0}, {2, 400}};
    const parts          p = {.kernel = "se + linear(u)"};
    fixture              f = {0};
    outcome              first, other;
    mcp_rollout_settings set = {.particles = PARTICLES, .steps = STEPS, .adjoint_clip = 0.5};
    REQUIRE_OK(fixture_make(&f, &p, STEPS, 30, err));
    REQUIRE_OK(simulate(&f, set, 1, 0.25, &first, err));
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        set.block = ways[i].block;
        REQUIRE_OK(simulate(&f, set, ways[i].threads, 0.25, &other, err));
        CHECK(other.J == first.J && other.J_std == first.J_std);
        CHECK(!memcmp(other.gradient, first.gradient, (size_t)f.params * sizeof(double)));
        CHECK(!memcmp(other.step_mean, first.step_mean, sizeof first.step_mean));
        CHECK(!memcmp(other.states, first.states, (size_t)PARTICLES * (STEPS + 1) * 4 * sizeof(double)));
        outcome_free(&other);
    }
    outcome_free(&first);
    fixture_free(&f);
}

CASE(statistics_follow_from_the_particles)
{
    const parts          p = {.observer = NULL};
    fixture              f = {0};
    outcome              o;
    mcp_rollout_settings set = {.particles = 37, .steps = STEPS};
    REQUIRE_OK(fixture_make(&f, &p, STEPS, 20, err));
    REQUIRE_OK(simulate(&f, set, 1, 0.0, &o, err));
    double J = 0.0, total = 0.0, square = 0.0;
    for (int t = 0; t <= STEPS; t++) {
        double mean = 0.0, var = 0.0;
        for (int m = 0; m < 37; m++) {
            const double *x = o.states + (t * 37 + m) * 4;
            mean += (1.0 - exp(-pow((fabs(x[2]) - M_PI) / 3.0, 2.0) - x[0] * x[0])) / 37.0;
        }
        for (int m = 0; m < 37; m++) {
            const double *x = o.states + (t * 37 + m) * 4;
            var += pow(1.0 - exp(-pow((fabs(x[2]) - M_PI) / 3.0, 2.0) - x[0] * x[0]) - mean, 2.0) / 36.0;
        }
        CHECK_CLOSE(o.step_mean[t], mean, 1e-13, 0.0);
        CHECK_CLOSE(o.step_std[t], sqrt(var), 1e-10, 0.0);
        J += mean;
    }
    for (int m = 0; m < 37; m++) total += o.particle_cost[m] / 37.0;
    for (int m = 0; m < 37; m++) square += pow(o.particle_cost[m] - total, 2.0) / 36.0;
    CHECK_CLOSE(o.J, J, 1e-13, 0.0);
    CHECK_CLOSE(o.J, total, 1e-13, 0.0);
    CHECK_CLOSE(o.J_std, sqrt(square), 1e-10, 0.0);
    CHECK(isnan(o.inputs[STEPS * 37]) && isfinite(o.inputs[STEPS * 37 - 1]));
    outcome_free(&o);
    fixture_free(&f);
}

CASE(observer_starts_with_zero_velocity_and_follows_the_noisy_position)
{
    const parts          p = {.observer = "difference"};
    fixture              f = {0};
    outcome              o;
    mcp_rollout_settings set = {.particles = 24, .steps = STEPS};
    REQUIRE_OK(fixture_make(&f, &p, STEPS, 20, err));
    REQUIRE_OK(simulate(&f, set, 1, 0.0, &o, err));
    for (int m = 0; m < 24; m++) {
        CHECK(o.observed[m * 4 + 1] == 0.0 && o.observed[m * 4 + 3] == 0.0);
        double away = o.observed[m * 4] - o.states[m * 4];
        CHECK(away != 0.0 && fabs(away) < 0.06); /* deviation 0.01 */
        for (int t = 1; t <= STEPS; t++) {
            const double *z = o.observed + (t * 24 + m) * 4, *before = o.observed + ((t - 1) * 24 + m) * 4;
            CHECK_CLOSE(z[1], (z[0] - before[0]) * 20.0, 1e-9, 1e-12);
        }
    }
    outcome_free(&o);
    fixture_free(&f);
}

CASE(true_state_equals_noiseless_full_measurement)
{
    const parts          p = {.observer = "none", .measured = "{p: 0, dp: 0, theta: 0, dtheta: 0}"};
    fixture              f = {0};
    outcome              a, b;
    mcp_rollout_settings set = {.particles = 16, .steps = STEPS};
    REQUIRE_OK(fixture_make(&f, &p, STEPS, 20, err));
    REQUIRE_OK(simulate(&f, set, 1, 0.25, &a, err));
    set.true_state = 1;
    REQUIRE_OK(simulate(&f, set, 1, 0.25, &b, err));
    CHECK_CLOSE(a.J, b.J, 1e-14, 0.0);
    for (int i = 0; i < f.params; i++) CHECK_CLOSE(a.gradient[i], b.gradient[i], 1e-10, 1e-14);
    outcome_free(&a);
    outcome_free(&b);
    fixture_free(&f);
}

/* Variance of every fourth number. */
static void spread(int n, const double *x, double *variance)
{
    double mean = 0;
    *variance = 0;
    for (int i = 0; i < n; i++) mean += x[4 * i] / n;
    for (int i = 0; i < n; i++) *variance += (x[4 * i] - mean) * (x[4 * i] - mean) / (n - 1);
}

/* By the variance of the GP's noise, and not only in another direction. */
CASE(noisy_sampling_spreads_the_particles_more)
{
    const parts          p = {.observer = NULL};
    fixture              f = {0};
    outcome              a, b;
    enum { M = 4000 };
    mcp_rollout_settings set = {.particles = M, .steps = 1};
    REQUIRE_OK(fixture_make(&f, &p, 3, 60, err));
    REQUIRE_OK(simulate(&f, set, 1, 0.0, &a, err));
    set.noisy = 1;
    REQUIRE_OK(simulate(&f, set, 1, 0.0, &b, err));
    /* What the noise adds to a particle: its random number times sqrt(v + s^2) instead of sqrt(v). */
    int    params = mcp_kernel_params(f.system->kernel[0]);
    double s = exp(mcp_gp_hyper(f.gp[0])[params]), before = 0, after = 0;
    spread(M, a.states + M * 4 + 1, &before);
    spread(M, b.states + M * 4 + 1, &after);
    CHECK_CLOSE(after - before, s * s, 0.1, 0);
    outcome_free(&a);
    outcome_free(&b);
    fixture_free(&f);
}

/* With a clip that is never reached nothing changes; with a tight one the gradient gets shorter, J stays. */
CASE(adjoint_clip_acts_only_on_long_adjoints)
{
    const parts          p = {.observer = NULL};
    fixture              f = {0};
    outcome              none, far_, tight;
    mcp_rollout_settings set = {.particles = 40, .steps = STEPS};
    REQUIRE_OK(fixture_make(&f, &p, STEPS, 20, err));
    REQUIRE_OK(simulate(&f, set, 1, 0.0, &none, err));
    set.adjoint_clip = 1e6;
    REQUIRE_OK(simulate(&f, set, 1, 0.0, &far_, err));
    set.adjoint_clip = 0.05;
    REQUIRE_OK(simulate(&f, set, 1, 0.0, &tight, err));
    double a = 0.0, b = 0.0;
    for (int i = 0; i < f.params; i++) {
        CHECK(none.gradient[i] == far_.gradient[i]);
        a += none.gradient[i] * none.gradient[i];
        b += tight.gradient[i] * tight.gradient[i];
    }
    CHECK(b > 0.0 && b < 0.25 * a);
    CHECK(tight.J == none.J);
    outcome_free(&none);
    outcome_free(&far_);
    outcome_free(&tight);
    fixture_free(&f);
}

CASE(impossible_sizes_are_refused_with_a_sentence)
{
    static const mcp_rollout_settings bad[] = {
        {.particles = 0, .steps = 5},
        {.particles = -3, .steps = 5},
        {.particles = 2000000000, .steps = 5},
        {.particles = 10, .steps = 0},
        {.particles = 10, .steps = 100000000},
        {.particles = 10, .steps = 5, .block = -1},
        {.particles = 10, .steps = 5, .adjoint_clip = NAN},
    };
    const parts p = {.observer = NULL};
    fixture     f = {0};
    REQUIRE_OK(fixture_make(&f, &p, STEPS, 20, err));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        mcp_rollout *r;
        mcp_error    err = {MCP_OK, ""};
        CHECK(mcp_rollout_create(&r, f.system, f.posterior, &bad[i], NULL, &err) == MCP_ERR_ARG);
        CHECK(r == NULL && strlen(err.text) > 10);
    }
    fixture_free(&f);
}

CASE(a_policy_that_gives_nan_is_an_error_with_a_count)
{
    const parts          p = {.policy = "3*tanh(log(param(a, -1) + p))"};
    fixture              f = {0};
    outcome              o;
    mcp_error            err = {MCP_OK, ""};
    mcp_rollout_settings set = {.particles = 20, .steps = STEPS};
    REQUIRE(fixture_make(&f, &p, STEPS, 20, &err) == MCP_OK);
    CHECK(simulate(&f, set, 1, 0.0, &o, &err) == MCP_ERR_NUMERIC);
    CHECK_HAS(err.text, "20 of 20 particles");
    outcome_free(&o);
    fixture_free(&f);
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(threads_and_blocks_do_not_change_a_bit);
    RUN(statistics_follow_from_the_particles);
    RUN(observer_starts_with_zero_velocity_and_follows_the_noisy_position);
    RUN(true_state_equals_noiseless_full_measurement);
    RUN(noisy_sampling_spreads_the_particles_more);
    RUN(adjoint_clip_acts_only_on_long_adjoints);
    RUN(impossible_sizes_are_refused_with_a_sentence);
    RUN(a_policy_that_gives_nan_is_an_error_with_a_count);
    return DONE();
}
