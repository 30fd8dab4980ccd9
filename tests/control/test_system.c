/* test_system.c - a task compiled: what sensor, observer, limits, delays and known states do, sample by
 * sample. */
#include "../rollout/fixture.h"
#include "control/filter.h"

enum { SAMPLES = 60 };

/* Runs one program over SAMPLES inputs. in: [SAMPLES][inputs], out: [SAMPLES][outputs]. */
static void play(const mcp_program *p, const double *theta, const double *in, double *out)
{
    int     ni = mcp_program_inputs(p), no = mcp_program_outputs(p);
    double *memory = mcp_calloc((size_t)mcp_program_memory(p) + mcp_program_work(p) + 1, sizeof *memory);
    for (int t = 0; t < SAMPLES; t++)
        mcp_program_step(p, theta, t == 0, in + t * ni, memory, out + t * no, memory + mcp_program_memory(p));
    mcp_free(memory);
}

static void make(fixture *f, const parts *p)
{
    REQUIRE_OK(fixture_make(f, p, 20, 10, err));
}

static double signal_(int t)
{
    return sin(0.37 * t) + 0.4 * cos(1.9 * t + 1.0) + 0.02 * t;
}

/* Both measured positions follow the same signal; returns z of the first velocity. */
static void observe(const char *observer, double *position, double *velocity)
{
    const parts p = {.observer = observer, .policy = "0*param(k, 1)*p"};
    fixture     f = {0};
    double      y[SAMPLES][2], out[SAMPLES][5];
    make(&f, &p);
    if (!f.system) return;
    for (int t = 0; t < SAMPLES; t++) {
        y[t][0] = signal_(t);
        y[t][1] = -signal_(t);
    }
    play(f.system->controller, f.theta, y[0], out[0]);
    for (int t = 0; t < SAMPLES; t++) {
        position[t] = out[t][1];
        velocity[t] = out[t][2];
        CHECK_CLOSE(out[t][4], -out[t][2], 1e-12, 1e-12);
    }
    fixture_free(&f);
}

CASE(difference_and_low_pass_equal_the_filter_written_out)
{
    /* scipy.signal.butter(3, 0.3) */
    static const double b[4] = {0.04953299635725319, 0.14859898907175956, 0.14859898907175956,
                                0.04953299635725319};
    static const double a[4] = {1.0, -1.1619174836717323, 0.6959427557896507, -0.13776130125989283};
    double p[SAMPLES], v[SAMPLES], d[SAMPLES], o[SAMPLES];
    observe("{type: difference, lowpass: 0.3, order: 3}", p, v);
    for (int t = 0; t < SAMPLES; t++) {
        d[t] = t ? (signal_(t) - signal_(t - 1)) * 20.0 : 0.0;
        o[t] = 0.0;
        for (int k = 0; k < 4 && k <= t; k++) o[t] += b[k] * d[t - k] - (k ? a[k] * o[t - k] : 0.0);
        CHECK_CLOSE(v[t], o[t], 1e-10, 1e-12);
        CHECK(p[t] == signal_(t));
    }
}

CASE(first_order_at_half_of_nyquist_averages_two_differences)
{
    double p[SAMPLES], v[SAMPLES];
    observe("{type: difference, lowpass: 0.5}", p, v);
    CHECK(v[0] == 0.0);
    for (int t = 2; t < SAMPLES; t++) CHECK_CLOSE(v[t], (signal_(t) - signal_(t - 2)) * 10.0, 1e-12, 1e-12);
}

/* The covariance recursion written with matrices; the controller's is written out term by term. */
static void kalman_reference(int n, double drive, double noise, const double *start, double *position,
                             double *velocity)
{
    double F[9], Q[9], P[9] = {0}, C[9], A[9], x[3] = {signal_(0), 0, 0}, ts = 0.05, R = noise * noise;
    mcp_kalman_model(n, ts, drive, F, Q);
    for (int i = 0; i < n; i++) P[i * n + i] = start[i];
    for (int t = 0; t < SAMPLES; t++) {
        double K[3], r = signal_(t) - x[0], next[3] = {0};
        for (int i = 0; i < n; i++) K[i] = P[i * n] / (P[0] + R);
        for (int i = 0; i < n; i++) x[i] += K[i] * r;
        position[t] = x[0];
        velocity[t] = x[1];
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) C[i * n + j] = P[i * n + j] - K[i] * P[j];
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                A[i * n + j] = 0.0;
                for (int k = 0; k < n; k++) A[i * n + j] += F[i * n + k] * C[k * n + j];
            }
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) {
                P[i * n + j] = Q[i * n + j];
                for (int k = 0; k < n; k++) P[i * n + j] += A[i * n + k] * F[j * n + k];
                next[i] += F[i * n + j] * x[j];
            }
        }
        memcpy(x, next, sizeof next);
    }
}

CASE(kalman_filter_equals_its_matrices_and_settles_on_the_steady_gains)
{
    for (int n = 2; n <= 3; n++) {
        double p[SAMPLES], v[SAMPLES], rp[SAMPLES], rv[SAMPLES], sp[SAMPLES], sv[SAMPLES], g[3], C[9],
            start[3], drive = n == 2 ? 2.0 : 30.0;
        CHECK(mcp_kalman_steady(n, 0.05, drive, 0.05, g, C) > 0);
        start[0] = 1e6 * 0.05 * 0.05;
        start[1] = 0.01 + C[n + 1]; /* start distribution of the fixture: deviation 0.1 */
        start[2] = C[8];
        kalman_reference(n, drive, 0.05, start, rp, rv);
        observe(n == 2 ? "{type: kalman, drive: 2, noise: 0.05}"
                       : "{type: kalman, drive: 30, noise: 0.05, acceleration: yes}",
                p, v);
        observe(n == 2 ? "{type: kalman, drive: 2, noise: 0.05, steady: yes}"
                       : "{type: kalman, drive: 30, noise: 0.05, acceleration: yes, steady: yes}",
                sp, sv);
        CHECK(v[0] == 0.0 && p[0] == signal_(0) && sv[0] == 0.0 && sp[0] == signal_(0));
        for (int t = 0; t < SAMPLES; t++) {
            CHECK_CLOSE(p[t], rp[t], 1e-9, 1e-10);
            CHECK_CLOSE(v[t], rv[t], 1e-9, 1e-9);
        }
        CHECK_CLOSE(p[SAMPLES - 1], sp[SAMPLES - 1], 0.0, 1e-3);
        CHECK_CLOSE(v[SAMPLES - 1], sv[SAMPLES - 1], 0.0, 2e-2);
    }
}

CASE(sensor_delays_from_the_first_value_and_scales_its_noise)
{
    const parts p = {.measured = "{p: {noise: 0.01, delay: 2}, theta: {noise: 0.03, resolution: 0.2}}"};
    fixture     f = {0};
    double      in[SAMPLES][6] = {{0}}, out[SAMPLES][2];
    make(&f, &p);
    if (!f.system) return;
    for (int t = 0; t < SAMPLES; t++) {
        in[t][0] = 1.0 + t;
        in[t][2] = 0.5 * t;
        in[t][4] = t % 3;
        in[t][5] = -1.0;
    }
    play(f.system->sensor, NULL, in[0], out[0]);
    for (int t = 0; t < SAMPLES; t++) {
        CHECK_CLOSE(out[t][0], (t < 2 ? 1.0 : t - 1.0) + 0.01 * (t % 3), 1e-14, 0.0);
        CHECK_CLOSE(out[t][1], 0.5 * t - sqrt(0.03 * 0.03 + 0.2 * 0.2 / 12.0), 1e-13, 1e-14);
    }
    fixture_free(&f);
}

CASE(actuator_gives_zero_until_the_first_command_arrives)
{
    const parts p = {.inputs = "{u: {limit: 3, delay: 3}}"};
    fixture     f = {0};
    double      in[SAMPLES], out[SAMPLES];
    make(&f, &p);
    if (!f.system) return;
    for (int t = 0; t < SAMPLES; t++) in[t] = 1.0 + t;
    play(f.system->actuator, NULL, in, out);
    for (int t = 0; t < SAMPLES; t++) CHECK(out[t] == (t < 3 ? 0.0 : t - 2.0));
    fixture_free(&f);
}

CASE(commands_keep_to_limit_and_slew)
{
    const parts p = {.inputs = "{u: {limit: 3, slew: 4}}", .policy = "param(k, 100)*p"};
    fixture     f = {0};
    double      y[SAMPLES][2], out[SAMPLES][5], last = 0.0;
    make(&f, &p);
    if (!f.system) return;
    for (int t = 0; t < SAMPLES; t++) {
        y[t][0] = t < 30 ? 1.0 : -0.001;
        y[t][1] = 0.0;
    }
    play(f.system->controller, f.theta, y[0], out[0]);
    for (int t = 0; t < SAMPLES; t++) {
        CHECK(fabs(out[t][0]) <= 3.0 && fabs(out[t][0] - last) <= 4.0 * 0.05 + 1e-12);
        last = out[t][0];
    }
    CHECK_CLOSE(out[29][0], 3.0, 1e-12, 0.0);
    CHECK_CLOSE(last, -0.1, 1e-9, 0.0);
    fixture_free(&f);
}

static const parts plate = {
    .more = "state: [x, v, th]\nplant: {ode: {v: th, th: 0}}",
    .inputs = "{u: {limit: 0.5, delay: 1}}",
    .measured = "{x: 0.01}",
    .model_more = "  velocities: {x: v}\n  known: {th: th + u}\n  features: [x, v, th, u]",
    .policy = "param(k, 1)*x + 0*th",
    .cost = "x^2",
    .start = "{mean: [0, 0, 0.2], std: 0.01}",
};

CASE(a_known_state_is_carried_from_the_commands_as_the_plant_gets_them)
{
    fixture f = {0};
    double  y[SAMPLES], out[SAMPLES][4], th = 0.2;
    make(&f, &plate);
    if (!f.system) return;
    for (int t = 0; t < SAMPLES; t++) y[t] = 0.3 * sin(0.5 * t);
    play(f.system->controller, f.theta, y, out[0]);
    for (int t = 0; t < SAMPLES; t++) {
        CHECK_CLOSE(out[t][3], th, 1e-12, 1e-12);
        th += t > 0 ? 0.3 * sin(0.5 * (t - 1)) : 0.0; /* the command of t-1 arrives at t */
    }
    CHECK(f.system->observed[0] && f.system->observed[1] && f.system->observed[2]);
    fixture_free(&f);
}

CASE(kernel_words_become_feature_indices)
{
    static const struct { const char *kernel, *text; int nf; } ref[] = {
        {"se", "se", 6},
        {"se + mp(2)", "se + mp(2)", 6},
        {"pi( sin( theta ), u * cos(theta)) + se", "pi(3,6) + se", 7},
        {"se + linear(sin(theta), u)", "se + linear(3,5)", 6},
        {"se (p, 1)*matern52(atan2(p, dp)) + pi(atan2(p,dp))", "se(0, 1)*matern52(6) + pi(6)", 7},
        {"mp(2, u, dp)", "mp(2;5,1)", 6},
        {"se + mp(2; sin(theta), u)", "se + mp(2;3,5)", 6},
        {"mp(3; dp)*se(p)", "mp(3;1)*se(0)", 6},
    };
    for (size_t i = 0; i < sizeof ref / sizeof *ref; i++) {
        char    quoted[128];
        fixture f = {0};
        snprintf(quoted, sizeof quoted, "\"%s\"", ref[i].kernel);
        make(&f, &(const parts){.kernel = quoted});
        if (!f.system) continue;
        if (strcmp(f.system->kernel_text[0], ref[i].text))
            FAIL_("\"%s\" became \"%s\", not \"%s\"", ref[i].kernel, f.system->kernel_text[0], ref[i].text);
        mcp_kernel *k = NULL; /* and the library's own parser takes it */
        CHECK_OK(mcp_kernel_parse(&k, f.system->kernel_text[0], f.system->nf, 6, err));
        mcp_kernel_free(k);
        CHECK(f.system->nf == ref[i].nf && mcp_program_outputs(f.system->features) == ref[i].nf + 2);
        fixture_free(&f);
    }
}

static void refused(const parts *p, const char *says)
{
    fixture   f = {0};
    mcp_error err = {MCP_OK, ""};
    CHECK(fixture_make(&f, p, 20, 5, &err) != MCP_OK);
    CHECK(f.system == NULL);
    CHECK_HAS(err.text, says);
    fixture_free(&f);
}

CASE(mistakes_get_a_sentence)
{
    refused(&(const parts){.kernel = "nonsense(p)"}, "nonsense");
    refused(&(const parts){.kernel = "\"mp(dp)\""}, "as in mp(2) or mp(2; x, u)");
    refused(&(const parts){.kernel = "\"mp(2; dp; p)\""}, "not part of an expression");
    refused(&(const parts){.cost = "param(a, 1)*p^2"}, "param");
    refused(&(const parts){.cost = "p + thta"}, "theta");
    refused(&(const parts){.observer = "none"}, "dp");
    refused(&(const parts){.policy = "3*tanh(rbf(5, p, q))"}, "q");
}

CASE(sizes_that_cannot_be_are_refused)
{
    fixture     f = {0};
    mcp_system *s;
    mcp_error   err = {MCP_OK, ""};
    make(&f, &(const parts){.observer = NULL});
    if (!f.system) return;
    double trial = f.task->trial;
    f.task->trial = 1e9;
    CHECK(mcp_system_create(&s, f.task, &err) == MCP_ERR_TASK && s == NULL);
    CHECK_HAS(err.text, "steps");
    f.task->trial = trial;
    int state = f.task->gp[1].state;
    f.task->gp[1].state = f.task->gp[0].state;
    CHECK(mcp_system_create(&s, f.task, &err) == MCP_ERR_TASK && s == NULL);
    f.task->gp[1].state = state;
    fixture_free(&f);
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(difference_and_low_pass_equal_the_filter_written_out);
    RUN(first_order_at_half_of_nyquist_averages_two_differences);
    RUN(kalman_filter_equals_its_matrices_and_settles_on_the_steady_gains);
    RUN(sensor_delays_from_the_first_value_and_scales_its_noise);
    RUN(actuator_gives_zero_until_the_first_command_arrives);
    RUN(commands_keep_to_limit_and_slew);
    RUN(a_known_state_is_carried_from_the_commands_as_the_plant_gets_them);
    RUN(kernel_words_become_feature_indices);
    RUN(mistakes_get_a_sentence);
    RUN(sizes_that_cannot_be_are_refused);
    return DONE();
}
