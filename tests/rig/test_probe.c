/* Tests of src/plant/probe.h: noise, resolution, wraps and responses are found in data whose truth is known.
 */
#include "plant/probe.h"

#include "math/rng.h"
#include "plant/bench.h"

enum { N = 400 };

static void normals(uint64_t seed, int n, double *e)
{
    mcp_stream s = {.seed = seed, .purpose = MCP_RNG_EVALUATE};
    for (int k = 0; k < n; k++) mcp_rng_normals(&s, (uint32_t)k, 0, 0, 1, &e[k]);
}

CASE(noise_is_found_on_top_of_a_slow_motion)
{
    double e[N], y[N], error;
    int    inside = 0;
    for (int seed = 0; seed < 50; seed++) {
        normals((uint64_t)seed, N, e);
        for (int k = 0; k < N; k++)
            y[k] = 1e-3 * e[k] + 0.05 * sin(0.15 * k) + 2e-4 * k; /* 50 times the noise */
        double s = mcp_noise_deviation(N, y, &error);
        CHECK(error < 0.08);
        CHECK_CLOSE(s, 1e-3, 0.25, 0);
        inside += fabs(s / 1e-3 - 1.0) < 2.0 * error;
    }
    CHECK(inside >= 40); /* the stated error is honest: about 47 expected */
    CHECK(isnan(mcp_noise_deviation(10, y, &error)));
}

CASE(noise_of_a_still_channel_is_zero)
{
    double y[N], error;
    for (int k = 0; k < N; k++) y[k] = 0.7;
    CHECK(mcp_noise_deviation(N, y, &error) == 0.0);
}

CASE(resolution_is_found_and_not_invented)
{
    double e[N], y[N], step;
    normals(3, N, e);
    for (int k = 0; k < N; k++) y[k] = 3e-3 * e[k];
    REQUIRE_OK(mcp_resolution(&step, N, y, err));
    CHECK(step == 0.0);
    const double steps[] = {5e-3, 1e-3, 2e-5, 6.283185307179586 / 4096};
    for (int s = 0; s < 4; s++) {
        for (int k = 0; k < N; k++) y[k] = floor((0.3 + 3e-3 * e[k]) / steps[s] + 0.5) * steps[s];
        REQUIRE_OK(mcp_resolution(&step, N, y, err));
        CHECK_CLOSE(step, steps[s], 1e-6, 0);
    }
    for (int k = 0; k < N; k++) {
        y[k] = floor((0.3 + 0.02 * e[k]) / steps[3] + 0.5) * steps[3];
        y[k] = round(y[k] * 1e4) / 1e4;
    }
    REQUIRE_OK(mcp_resolution(&step, N, y, err)); /* an encoder printed with four digits */
    CHECK_CLOSE(step, steps[3], 0.02, 0);
    for (int k = 0; k < N; k++) y[k] = 1.25;
    REQUIRE_OK(mcp_resolution(&step, N, y, err));
    CHECK(isnan(step));
    for (int k = 0; k < N; k++) y[k] = k % 7 ? 1.25 : 1.5;
    REQUIRE_OK(mcp_resolution(&step, N, y, err));
    CHECK_CLOSE(step, 0.25, 1e-12, 0);
}

CASE(turns_are_counted_and_taken_out)
{
    double y[N], pi = acos(-1.0);
    for (int k = 0; k < N; k++) y[k] = remainder(3.0 + 0.05 * k, 2 * pi);
    CHECK(mcp_unwrap(N, y) == 4);
    for (int k = 0; k < N; k++) CHECK_CLOSE(y[k], 3.0 + 0.05 * k, 0, 1e-12);
    for (int k = 0; k < N; k++) y[k] = 5.0 * sin(0.1 * k);
    CHECK(mcp_unwrap(N, y) == 0);
}

static mcp_task *sprung(const char *measured, const char *inputs, const char *plant)
{
    return bench_task(
        (bench_parts){.measured = measured, .inputs = inputs, .plant = plant, .start = "{std: 0.02}"});
}

static void run_probe(mcp_probe *p, mcp_task *task, double seconds, uint64_t seed)
{
    mcp_system        *system = NULL;
    mcp_probe_settings s;
    mcp_error          why = {MCP_OK, ""};
    mcp_probe_settings_default(&s);
    s.seed = seed;
    task->trial = seconds;
    if (mcp_system_create(&system, task, &why) != MCP_OK ||
        mcp_probe_run(p, system, &s, NULL, NULL, &why) != MCP_OK)
        FAIL_("%s", why.text);
    mcp_system_free(system);
    mcp_task_free(task);
}

CASE(gain_and_delay_of_a_spring_are_found)
{
    static mcp_probe p;
    for (int delay = 0; delay < 6; delay++) {
        char inputs[64];
        snprintf(inputs, sizeof inputs, "{u: {limit: 2, delay: %d}}", delay);
        run_probe(&p,
                  sprung("{q: {noise: 2e-4, resolution: 1e-4}}", inputs,
                         "{ode: {v: '-1.5*u - 40*q - 0.5*v'}}"),
                  20.0, 5);
        CHECK(p.response[0][0].found && p.response[0][0].delay_sure);
        CHECK(p.response[0][0].order == 2);
        CHECK(p.response[0][0].delay == delay);
        CHECK_CLOSE(p.response[0][0].gain, -1.5, 0.1, 0);
        CHECK_CLOSE(p.channel[0].noise, 2e-4, 0.25, 0);
        CHECK_CLOSE(p.channel[0].resolution, 1e-4, 1e-6, 0);
        CHECK_CLOSE(p.period, 0.02, 1e-9, 0);
        CHECK(!p.real_time);
    }
}

CASE(a_measured_velocity_tells_the_gain_too)
{
    static mcp_probe p;
    run_probe(&p, sprung("{q: 1e-3, v: {noise: 5e-3, delay: 2}}", NULL, "{ode: {v: '3*u - 40*q - 0.5*v'}}"),
              20.0, 2);
    CHECK(p.response[0][1].found && p.response[0][1].order == 1);
    CHECK(p.response[0][1].delay == 2);
    CHECK_CLOSE(p.response[0][1].gain, 3.0, 0.05, 0);
}

CASE(an_input_without_effect_is_not_given_one)
{
    static mcp_probe p;
    int              found = 0;
    for (uint64_t seed = 0; seed < 30; seed++) {
        run_probe(&p, sprung("{q: 1e-3}", NULL, "{ode: {v: '0*u - 4*q - 0.1*v'}}"), 20.0, seed);
        found += p.response[0][0].found;
    }
    CHECK(found == 0);
}

CASE(a_weak_answer_has_the_right_sign_or_none)
{
    static mcp_probe p;
    int              found = 0, wrong = 0, early = 0;
    for (uint64_t seed = 0; seed < 40; seed++) {
        run_probe(&p, sprung("{q: 3e-3}", "{u: {limit: 2, delay: 1}}", "{ode: {v: '1.5*u - 4*q - 0.1*v'}}"),
                  20.0, seed);
        found += p.response[0][0].found;
        wrong += p.response[0][0].found && !(p.response[0][0].gain > 0.0);
        early += p.response[0][0].delay_sure && p.response[0][0].delay != 1;
    }
    CHECK(wrong == 0);
    CHECK(early == 0);
    printf("     %d of 40 weak answers were found\n", found);
}

CASE(limits_end_a_probe_and_what_was_seen_is_told)
{
    static mcp_probe p;
    bench_parts parts = {.measured = "{q: 1e-4}",
                         .start = "{std: 0}",
                         .plant = "{ode: {v: 'u'}}",
                         .more = "limits: {far: abs(q) > 1e-3}\n"};
    mcp_task        *task = bench_task(parts);
    run_probe(&p, task, 20.0, 1);
    CHECK(p.ended);
    CHECK_HAS(p.reason, "limit far");
    CHECK(p.samples >= p.rest && p.samples < 1001);
    CHECK_CLOSE(p.channel[0].noise, 1e-4, 0.25, 0);
    CHECK(!p.response[0][0].found);
}

CASE(too_short_a_probe_says_how_long_it_must_be)
{
    static mcp_probe   p;
    mcp_task          *task = bench_task((bench_parts){.plant = NULL});
    mcp_system        *system = NULL;
    mcp_probe_settings s;
    mcp_error          why = {MCP_OK, ""};
    mcp_probe_settings_default(&s);
    task->trial = 1.0;
    REQUIRE_OK(mcp_system_create(&system, task, err));
    CHECK(mcp_probe_run(&p, system, &s, NULL, NULL, &why) == MCP_ERR_ARG);
    CHECK_HAS(why.text, "too short");
    mcp_system_free(system);
    mcp_task_free(task);
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(noise_is_found_on_top_of_a_slow_motion);
    RUN(noise_of_a_still_channel_is_zero);
    RUN(resolution_is_found_and_not_invented);
    RUN(turns_are_counted_and_taken_out);
    RUN(gain_and_delay_of_a_spring_are_found);
    RUN(a_measured_velocity_tells_the_gain_too);
    RUN(an_input_without_effect_is_not_given_one);
    RUN(a_weak_answer_has_the_right_sign_or_none);
    RUN(limits_end_a_probe_and_what_was_seen_is_told);
    RUN(too_short_a_probe_says_how_long_it_must_be);
    return DONE();
}
