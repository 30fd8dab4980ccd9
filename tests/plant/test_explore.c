/* test_explore.c - exploration inputs, start states and simulated sensors: statistics, keys, clamps. */
#include "bench.h"
#include "control/runtime.h"
#include "plant/plant_handle.h"
#include "plant/sensor.h"

enum { T = 100 };

static void inputs(const mcp_task *task, uint64_t seed, uint32_t trial, double *u)
{
    CHECK_OK(mcp_explore_inputs(task, seed, trial, 0.0, u, err));
}

static double largest(int n, const double *u)
{
    double m = 0.0;
    for (int i = 0; i < n; i++) m = fmax(m, fabs(u[i]));
    return m;
}

CASE(uniform_inputs_fill_their_range_and_are_held)
{
    mcp_task *task = bench_task((bench_parts){.explore = "{type: uniform, hold: 4}"});
    REQUIRE(task);
    double u[T], sum2 = 0.0;
    for (uint32_t trial = 0; trial < 50; trial++) {
        inputs(task, 3, trial, u);
        for (int k = 0; k < T; k++) CHECK(u[k] == u[k / 4 * 4]);
        CHECK(u[0] != u[4]);
        CHECK(largest(T, u) <= 2.0);
        for (int k = 0; k < T; k++) sum2 += u[k] * u[k];
    }
    CHECK_CLOSE(sum2 / (50 * T), 4.0 / 3.0, 0.08, 0); /* variance of a uniform number in +-2 */
    mcp_task_free(task);
}

CASE(inputs_depend_on_seed_and_trial_and_on_nothing_else)
{
    mcp_task *task = bench_task((bench_parts){.explore = "{type: sines, amplitude: 0.1}"});
    REQUIRE(task);
    double a[T], b[T], c[T], d[T];
    inputs(task, 3, 1, a);
    inputs(task, 3, 1, b);
    inputs(task, 3, 2, c);
    inputs(task, 4, 1, d);
    CHECK(!memcmp(a, b, sizeof a));
    CHECK(memcmp(a, c, sizeof a));
    CHECK(memcmp(a, d, sizeof a));
    mcp_task_free(task);
}

/* Of a robot that falls within eight samples: what the second exploration does till then. */
CASE(after_a_fall_the_band_follows_how_long_it_lasted)
{
    enum { FALL = 8 };
    mcp_task *task = bench_task((bench_parts){0}), *named = bench_task((bench_parts){
                                                        .explore = "{type: sines, frequency: [0.5, 2]}"});
    double    u[T], first[T], least = INFINITY;
    REQUIRE(task && named);
    for (uint32_t trial = 1; trial < 20; trial++) {
        double low = INFINITY, high = -INFINITY, change = 0.0;
        CHECK_OK(mcp_explore_inputs(task, 3, trial, FALL / 50.0, u, err));
        for (int k = 0; k < FALL; k++) {
            low = fmin(low, u[k]);
            high = fmax(high, u[k]);
            if (k) change = fmax(change, fabs(u[k] - u[k - 1]));
        }
        least = fmin(least, high - low);
        CHECK(change <= 0.5 + 1e-12); /* a quarter of the limit 2 */
    }
    CHECK(least > 0.2); /* a tenth of the limit */
    CHECK_OK(mcp_explore_inputs(named, 3, 1, FALL / 50.0, u, err));
    inputs(named, 3, 1, first);
    CHECK(!memcmp(u, first, sizeof u)); /* a band that is asked for stays */
    mcp_task_free(task);
    mcp_task_free(named);
}

/* Power of u at frequency f, by correlation. */
static double power(const double *u, double f)
{
    double re = 0.0, im = 0.0;
    for (int k = 0; k < T; k++) {
        re += u[k] * cos(6.283185307179586 * f * k / 50);
        im += u[k] * sin(6.283185307179586 * f * k / 50);
    }
    return (re * re + im * im) / (T * T);
}

CASE(sines_start_at_zero_and_stay_in_their_band)
{
    mcp_task *task =
        bench_task((bench_parts){
            .explore = "{type: sines, sines: 10, amplitude: 0.1, frequency: [1, 4], phase: zero}"});
    REQUIRE(task);
    double u[T], inside = 0.0, outside = 0.0;
    for (uint32_t trial = 0; trial < 20; trial++) {
        inputs(task, 5, trial, u);
        CHECK(u[0] == 0.0);
        CHECK(largest(T, u) <= 2.0);
        for (double f = 1.0; f <= 4.0; f += 0.5) inside += power(u, f) / 7;
        for (double f = 8.0; f <= 20.0; f += 1.0) outside += power(u, f) / 13;
    }
    CHECK(outside < 0.02 * inside);
    mcp_task_free(task);
}

/* Where a mass pushed by u would be at the end, root mean square over trials. (Held inputs: half a sample of
 * the first one remains.) */
static double drift(const char *explore)
{
    mcp_task *task = bench_task((bench_parts){.explore = explore});
    double    u[T], sum = 0.0;
    for (uint32_t trial = 0; task && trial < 40; trial++) {
        double q = 0.0, v = 0.0;
        inputs(task, 5, trial, u);
        for (int k = 0; k < T; k++) {
            q += 0.02 * v;
            v += 0.02 * u[k];
        }
        sum += q * q / 40;
    }
    mcp_task_free(task);
    return sqrt(sum);
}

CASE(sines_that_start_at_their_crest_do_not_drift)
{
    mcp_task *task = bench_task(
        (bench_parts){.explore = "{type: sines, sines: 4, amplitude: 0.1, frequency: [1, 4], phase: crest}"});
    REQUIRE(task);
    double u[T];
    inputs(task, 5, 0, u);
    CHECK_CLOSE(u[0] / 0.4, rint(u[0] / 0.4), 0, 1e-12); /* four of +-0.2 */
    CHECK(fabs(u[0]) <= 0.8 + 1e-12);
    mcp_task_free(task);
    double crest = drift("{type: sines, amplitude: 0.1, frequency: [1, 4], phase: crest}");
    CHECK(crest > 0 &&
          crest < 0.33 * drift("{type: sines, amplitude: 0.1, frequency: [1, 4], phase: random}"));
    CHECK(crest < 0.1 * drift("{type: sines, amplitude: 0.1, frequency: [1, 4], phase: zero}"));
}

static mcp_task *at_rate(const char *rate, double seconds, const char *limit)
{
    char        text[600], trial[40];
    const char *overrides[] = {rate, trial};
    mcp_task   *task = NULL;
    mcp_error   why = {MCP_OK, ""};
    snprintf(trial, sizeof trial, "trial=%g", seconds);
    snprintf(text, sizeof text,
             "name: any\nrate: 1\ntrial: 1\nstate: [q, v]\ninputs: {u: %s}\nmeasured: [q, v]\n"
             "model: {velocities: {q: v}}\ncost: q^2\nstart: {std: 0}\nplant: {ode: {v: u}}\n",
             limit);
    if (mcp_task_parse(&task, "any.yaml", text, overrides, 2, &why) != MCP_OK) FAIL_("%s", why.text);
    return task;
}

/* Whatever the rate, without a word about exploration: within the range, no jump, not one push from the
 * start, several periods and none that the samples cannot show. */
CASE(default_exploration_is_gentle_from_1_hz_to_1_khz)
{
    static const struct { const char *rate; double hz, seconds; } at[] = {
        {"rate=1", 1, 300}, {"rate=10", 10, 10}, {"rate=50", 50, 4}, {"rate=200", 200, 3},
        {"rate=1000", 1000, 1}, {"rate=1", 1, 3}, {"rate=1000", 1000, 60},
    };
    static double u[60000];
    for (size_t c = 0; c < sizeof at / sizeof *at; c++)
        for (int wide = 0; wide < 2; wide++) {
            mcp_task *task = at_rate(at[c].rate, at[c].seconds, wide ? "[0, 12]" : "2");
            REQUIRE(task);
            const double centre = wide ? 6.0 : 0.0, reach = wide ? 6.0 : 2.0;
            const int    n = mcp_task_steps(task);
            CHECK(task->explore.type == MCP_EXPLORE_SINES);
            CHECK(task->explore.high <= 0.5 * at[c].hz && task->explore.low <= task->explore.high);
            for (uint32_t trial = 0; trial < 20; trial++) {
                double least = 1e9, most = -1e9, jump = 0.0, squares = 0.0;
                int    crossings = 0;
                inputs(task, 7, trial, u);
                CHECK_CLOSE(u[0], centre, 0, 1e-9 * reach);
                for (int k = 0; k < n; k++) {
                    least = fmin(least, u[k]);
                    most  = fmax(most, u[k]);
                    squares += (u[k] - centre) * (u[k] - centre) / n;
                    if (k) jump = fmax(jump, fabs(u[k] - u[k - 1]));
                    if (k) crossings += (u[k] - centre) * (u[k - 1] - centre) < 0.0;
                }
                CHECK(least >= centre - reach && most <= centre + reach);
                CHECK(jump <= 0.25 * reach * (1 + 1e-12));
                CHECK(sqrt(squares) < 0.5 * reach);
                if (n < 10) continue;
                CHECK(sqrt(squares) > 0.05 * reach);
                CHECK(crossings >= 2 && crossings <= 16);
            }
            mcp_task_free(task);
        }
}

CASE(default_exploration_keeps_the_slew_limit)
{
    mcp_task *task = at_rate("rate=100", 4, "{limit: 2, slew: 3}");
    REQUIRE(task);
    double u[400];
    for (uint32_t trial = 0; trial < 20; trial++) {
        inputs(task, 7, trial, u);
        for (int k = 1; k < 400; k++) CHECK(fabs(u[k] - u[k - 1]) <= 0.03 * (1 + 1e-12));
    }
    CHECK(largest(400, u) > 0.1);
    mcp_task_free(task);
}

CASE(sines_are_clamped_to_the_limit)
{
    mcp_task *task =
        bench_task((bench_parts){
            .explore = "{type: sines, sines: 10, amplitude: 1, frequency: [1, 4], phase: zero}"});
    REQUIRE(task);
    double       u[T];
    mcp_system  *system = NULL;
    mcp_runtime *control = NULL;
    inputs(task, 5, 0, u);
    CHECK_OK(mcp_system_create(&system, task, err));
    CHECK_OK(mcp_runtime_create(&control, system, err));
    mcp_runtime_limit(control, T, u);
    CHECK(largest(T, u) == 2.0);
    mcp_runtime_free(control);
    mcp_system_free(system);
    mcp_task_free(task);
}

CASE(triangle_has_its_period_and_noise)
{
    mcp_task *task =
        bench_task((bench_parts){.explore = "{type: triangle, amplitude: 0.5, period: [1, 1], noise: 0}"});
    REQUIRE(task);
    double u[T], sum = 0.0;
    inputs(task, 5, 0, u);
    CHECK_CLOSE(fabs(u[0]), 1.0, 1e-12, 0);
    CHECK_CLOSE(u[25], -u[0], 1e-12, 0);
    for (int k = 0; k + 50 < T; k++) CHECK_CLOSE(u[k], u[k + 50], 0, 1e-12);
    for (int k = 0; k < 50; k++) sum += u[k];
    CHECK_CLOSE(sum, 0.0, 0, 1e-12);
    mcp_task_free(task);
    task =
        bench_task((bench_parts){.explore = "{type: triangle, amplitude: 1e-6, period: [1, 1], noise: 0.1}"});
    REQUIRE(task);
    double sum2 = 0.0;
    for (uint32_t trial = 0; trial < 20; trial++) {
        inputs(task, 5, trial, u);
        for (int k = 0; k < T; k++) sum2 += u[k] * u[k];
    }
    CHECK_CLOSE(sqrt(sum2 / (20 * T)), 0.2, 0.05, 0);
    mcp_task_free(task);
}

static void write_file(const char *name, int rows, const char *header)
{
    FILE *f = fopen(name, "w");
    if (!f) return;
    fprintf(f, "%s\n", header);
    for (int k = 0; k < rows; k++) fprintf(f, "%d,%g\n", k, k * 0.01);
    fclose(f);
}

CASE(recorded_inputs_are_played_by_name_trial_after_trial)
{
    mcp_task *task = bench_task((bench_parts){.explore = "{type: file, file: explore_inputs.csv}"});
    REQUIRE(task);
    double    u[T];
    mcp_error e = {MCP_OK, ""};
    write_file("explore_inputs.csv", 2 * T, "row,u");
    inputs(task, 1, 0, u);
    CHECK_CLOSE(u[7], 0.07, 1e-12, 0);
    inputs(task, 1, 1, u);
    CHECK_CLOSE(u[7], 1.07, 1e-12, 0);
    inputs(task, 1, 2, u);
    CHECK_CLOSE(u[7], 0.07, 1e-12, 0);
    write_file("explore_inputs.csv", T - 1, "row,u");
    CHECK(mcp_explore_inputs(task, 1, 0, 0.0, u, &e) == MCP_ERR_IO);
    CHECK_HAS(e.text, "99 rows");
    write_file("explore_inputs.csv", T, "row,force");
    CHECK(mcp_explore_inputs(task, 1, 0, 0.0, u, &e) == MCP_ERR_IO);
    CHECK_HAS(e.text, "no column named u");
    mcp_task_free(task);
}

CASE(starts_have_the_mean_and_deviation_of_the_task)
{
    mcp_task *task = bench_task((bench_parts){.start = "{mean: [1, -2], std: [0.5, 0.1]}"});
    REQUIRE(task);
    double x[2], sum[2] = {0}, sum2[2] = {0};
    int    n = 4000;
    for (int i = 0; i < n; i++) {
        mcp_start_draw(task, &task->start, 7, 0, (uint32_t)i, x);
        for (int d = 0; d < 2; d++) {
            sum[d] += x[d];
            sum2[d] += x[d] * x[d];
        }
    }
    CHECK_CLOSE(sum[0] / n, 1.0, 0.03, 0);
    CHECK_CLOSE(sum[1] / n, -2.0, 0.01, 0);
    CHECK_CLOSE(sqrt(sum2[0] / n - sum[0] * sum[0] / n / n), 0.5, 0.05, 0);
    CHECK_CLOSE(sqrt(sum2[1] / n - sum[1] * sum[1] / n / n), 0.1, 0.05, 0);
    mcp_start_mean(task, &task->start, x);
    CHECK(x[0] == 1.0 && x[1] == -2.0);
    mcp_task_free(task);
}

CASE(uniform_and_mixture_starts_are_drawn_where_they_should)
{
    mcp_task *task = bench_task((bench_parts){.start = "{low: [-1, 2], high: [1, 3]}"});
    REQUIRE(task);
    double x[2];
    for (uint32_t i = 0; i < 200; i++) {
        mcp_start_draw(task, &task->start, 7, 0, i, x);
        CHECK(x[0] > -1 && x[0] < 1 && x[1] > 2 && x[1] < 3);
    }
    mcp_start_mean(task, &task->start, x);
    CHECK(x[0] == 0.0 && x[1] == 2.5);
    mcp_task_free(task);

    task = bench_task((bench_parts){
        .start = "{mixture: [{weight: 1, mean: [0, 0], std: 0.01}, {weight: 3, mean: [5, 0], std: 0.01}]}"});
    REQUIRE(task);
    int right = 0;
    for (uint32_t i = 0; i < 2000; i++) {
        mcp_start_draw(task, &task->start, 7, 0, i, x);
        right += x[0] > 2.5;
        CHECK(fabs(x[0]) < 0.1 || fabs(x[0] - 5) < 0.1);
    }
    CHECK_CLOSE(right / 2000.0, 0.75, 0.05, 0);
    mcp_start_mean(task, &task->start, x);
    CHECK_CLOSE(x[0], 3.75, 1e-12, 0);
    mcp_task_free(task);
}

CASE(sensor_delays_rounds_and_wraps)
{
    mcp_task *task =
        bench_task((bench_parts){.measured = "{q: {noise: 0, resolution: 0.25, delay: 2, wraps: yes}}"});
    REQUIRE(task);
    mcp_sensor s;
    REQUIRE_OK(mcp_sensor_create(&s, task, err));
    mcp_sensor_reset(&s, 1, 0, 0);
    double expect[] = {1.0, 1.0, 1.0, 1.25, 1.5}; /* 1, 1, 1, 1.3, 1.6 rounded to quarters */
    for (int k = 0; k < 5; k++) {
        double x[2] = {1.0 + 0.3 * k, 0.0}, y;
        mcp_sensor_read(&s, x, &y);
        CHECK_CLOSE(y, expect[k], 1e-12, 0);
    }
    for (int k = 0; k < 4; k++) {
        double x[2] = {4.0, 0.0}, y;
        mcp_sensor_read(&s, x, &y);
        if (k == 3) CHECK_CLOSE(y, 4.0 - 6.283185307179586, 1e-12, 0);
    }
    mcp_sensor_free(&s);
    mcp_task_free(task);
}

CASE(sensor_noise_is_keyed_by_run_and_of_the_stated_size)
{
    mcp_task *task = bench_task((bench_parts){.measured = "{q: 0.2, v: 0.5}"});
    REQUIRE(task);
    mcp_sensor s;
    REQUIRE_OK(mcp_sensor_create(&s, task, err));
    double x[2] = {1.0, 2.0}, y[2], first[2], sum2[2] = {0};
    int    n = 0;
    for (uint32_t run = 0; run < 50; run++) {
        mcp_sensor_reset(&s, 9, 1, run);
        for (int k = 0; k < 100; k++, n++) {
            mcp_sensor_read(&s, x, y);
            if (run == 7 && k == 5) memcpy(first, y, sizeof y);
            for (int i = 0; i < 2; i++) sum2[i] += (y[i] - x[i]) * (y[i] - x[i]);
        }
    }
    CHECK_CLOSE(sqrt(sum2[0] / n), 0.2, 0.03, 0);
    CHECK_CLOSE(sqrt(sum2[1] / n), 0.5, 0.03, 0);
    mcp_sensor_reset(&s, 9, 1, 7);
    for (int k = 0; k <= 5; k++) mcp_sensor_read(&s, x, y);
    CHECK(y[0] == first[0] && y[1] == first[1]);
    mcp_sensor_free(&s);
    mcp_task_free(task);
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(uniform_inputs_fill_their_range_and_are_held);
    RUN(inputs_depend_on_seed_and_trial_and_on_nothing_else);
    RUN(after_a_fall_the_band_follows_how_long_it_lasted);
    RUN(sines_start_at_zero_and_stay_in_their_band);
    RUN(sines_that_start_at_their_crest_do_not_drift);
    RUN(default_exploration_is_gentle_from_1_hz_to_1_khz);
    RUN(default_exploration_keeps_the_slew_limit);
    RUN(sines_are_clamped_to_the_limit);
    RUN(triangle_has_its_period_and_noise);
    RUN(recorded_inputs_are_played_by_name_trial_after_trial);
    RUN(starts_have_the_mean_and_deviation_of_the_task);
    RUN(uniform_and_mixture_starts_are_drawn_where_they_should);
    RUN(sensor_delays_rounds_and_wraps);
    RUN(sensor_noise_is_keyed_by_run_and_of_the_stated_size);
    return DONE();
}
