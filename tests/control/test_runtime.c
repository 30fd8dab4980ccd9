/* test_runtime.c - the controller at run time: turns, limits, what the observer is told, bad numbers, safe
 * input. */
#include "../rollout/fixture.h"
#include "control/runtime.h"
#include "math/angle.h"

enum { SAMPLES = 60 };

static mcp_runtime *start(fixture *f, const parts *p)
{
    mcp_runtime *r = NULL;
    mcp_error    err;
    if (fixture_make(f, p, 20, 10, &err) != MCP_OK || mcp_runtime_create(&r, f->system, &err) != MCP_OK)
        FAIL_("%s", err.text);
    return r;
}

static void stop(fixture *f, mcp_runtime *r)
{
    mcp_runtime_free(r);
    fixture_free(f);
}

static const char wrapping[] = "{p: 0.01, theta: {noise: 0.01, wraps: yes}}";

CASE(a_wrapping_sensor_is_unwrapped)
{
    const parts  p = {.measured = wrapping, .observer = "difference", .policy = "0*param(k, 1)*p"};
    fixture      f = {0};
    mcp_runtime *r = start(&f, &p);
    if (!r) return;
    for (int t = 0; t < SAMPLES; t++) {
        double y[2] = {0.0, remainder(0.3 * t, 2.0 * M_PI)};
        CHECK(mcp_runtime_step(r, f.theta, NULL, y) == MCP_FAULT_NONE);
        CHECK_CLOSE(r->measured[1], 0.3 * t, 1e-12, 1e-12);
        CHECK_CLOSE(r->observed[2], 0.3 * t, 1e-12, 1e-12);
        if (t) CHECK_CLOSE(r->observed[3], 6.0, 1e-9, 0.0);
    }
    stop(&f, r);
}

/* The same motion seen by a sensor that wraps and by one that does not, far from zero: same commands. */
static void same_commands(const char *what, const char *observer, const char *policy, int counts)
{
    const parts  wrap = {.measured = wrapping, .observer = observer, .policy = policy};
    const parts  flat = {.observer = observer, .measured = "{p: 0.01, theta: 0.01}", .policy = policy};
    fixture      f = {0}, g = {0};
    mcp_runtime *a = start(&f, &wrap), *b = start(&g, &flat);
    double       worst = 0.0, angle = 0.3, speed = 0.0;
    if (!a || !b) return;
    CHECK(mcp_runtime_counts(a, 1) == counts);
    for (int t = 0; t < 2000; t++) {
        speed += 0.3 * sin(0.01 * t);
        speed = fmax(-2.5, fmin(2.5, speed));
        angle += speed;
        double y[2] = {0.3 * sin(0.3 * t), mcp_angle_wrap(angle)}, z[2] = {y[0], angle};
        CHECK(mcp_runtime_step(a, f.theta, NULL, y) == MCP_FAULT_NONE);
        CHECK(mcp_runtime_step(b, f.theta, NULL, z) == MCP_FAULT_NONE);
        worst = fmax(worst, fabs(a->command[0] - b->command[0]));
        for (int i = 0; i < 4; i++)
            CHECK_CLOSE(a->observed[i], b->observed[i], 1e-9, 1e-9);
    }
    CHECK(fabs(angle) > 100.0);
    if (!(worst <= 1e-9)) FAIL_("%s: commands differ by %g", what, worst);
    stop(&f, a);
    stop(&g, b);
}

CASE(turns_do_not_change_a_command)
{
    static const char *observer[] = {
        "difference",
        "{type: difference, lowpass: 0.3, order: 4}",
        "{type: kalman, drive: 50}",
        "{type: kalman, drive: 50, acceleration: yes, steady: yes}",
        ("{type: custom, memory: {a: {start: y_theta, next: a + 0.5*(y_theta - a) + 0.01*last_u}}, "
         "output: {p: y_p, dp: (y_p - prev(y_p))/Ts, theta: a, dtheta: (y_theta - prev(y_theta))/Ts}}"),
    };
    for (size_t i = 0; i < sizeof observer / sizeof *observer; i++)
        same_commands(observer[i], observer[i],
                      "3*tanh(rbf(5, p, dp, dtheta/9, cos(theta), sin(2*theta))/3)", 0);
    /* policies and observers that tell turns apart see the unwrapped angle */
    same_commands("rbf of the angle", "difference", "3*tanh(rbf(5, p, dp, dtheta/9, theta/50))", 1);
    same_commands("half the angle", "difference", "3*tanh(rbf(5, p, dp, dtheta/9, sin(theta/2)))", 1);
    same_commands("memory from zero",
                  "{type: custom, memory: {a: {start: 0, next: a + 0.5*(y_theta - a)}}, "
                  "output: {p: y_p, dp: (y_p - prev(y_p))/Ts, theta: a, "
                  "dtheta: (y_theta - prev(y_theta))/Ts}}",
                  "3*tanh(rbf(5, p, dp, dtheta/9, sin(theta)))", 1);
}

CASE(a_custom_observer_is_told_the_commands_that_are_given)
{
    const parts  p = {.observer = "{type: custom, memory: {a: {start: 0, next: a + last_u}}, "
                                 "output: {p: y_p, dp: a, theta: y_theta, dtheta: last_u}}",
                      .inputs = "{u: {limit: 3, slew: 40}}",
                      .policy = "0*param(k, 1)*p"};
    fixture      f = {0};
    mcp_runtime *r = start(&f, &p);
    double       sum = 0.0, last = 0.0;
    if (!r) return;
    for (int t = 0; t < SAMPLES; t++) {
        double y[2] = {0.1, 0.2}, u = 5.0 * sin(1.3 * t);
        CHECK(mcp_runtime_step(r, NULL, &u, y) == MCP_FAULT_NONE);
        CHECK(fabs(r->command[0]) <= 3.0 && fabs(r->command[0] - last) <= 2.0 + 1e-12);
        CHECK_CLOSE(r->observed[3], last, 0.0, 0.0);
        CHECK_CLOSE(r->observed[1], sum, 1e-12, 1e-12);
        sum += last;
        last = r->command[0];
    }
    stop(&f, r);
}

CASE(limited_commands_are_those_of_a_run_with_given_ones)
{
    const parts  p = {.inputs = "{u: {limit: 3, slew: 40}}", .measured = wrapping};
    fixture      f = {0};
    mcp_runtime *r = start(&f, &p);
    double       u[SAMPLES], all[SAMPLES];
    if (!r) return;
    for (int t = 0; t < SAMPLES; t++) u[t] = all[t] = 5.0 * sin(1.3 * t);
    mcp_runtime_limit(r, SAMPLES, all);
    for (int t = 0; t < SAMPLES; t++) {
        double y[2] = {sin(t), remainder(2.0 * t, MCP_TURN)};
        mcp_runtime_step(r, NULL, &u[t], y);
        CHECK(r->command[0] == all[t]);
    }
    stop(&f, r);
}

CASE(a_bad_sample_gives_the_safe_input_and_is_forgotten)
{
    const double bad[] = {NAN, INFINITY, -INFINITY, 1.7e308, -1.7e308};
    const parts  p = {.measured = wrapping,
                      .observer = "{type: kalman, drive: 50}",
                      .inputs = "{u: {limit: 3}}",
                      .more = "state: [p, dp, theta, dtheta]\n"
                              "plant: {ode: {dp: u, dtheta: -sin(theta) - u}}\nsafe: -0.5*p + 0.25*u"};
    fixture      f = {0};
    mcp_runtime *a = start(&f, &p), *b = NULL;
    mcp_error    err;
    if (!a || mcp_runtime_create(&b, f.system, &err) != MCP_OK) return;
    for (int t = 0; t < SAMPLES; t++) {
        double y[2] = {sin(0.3 * t), mcp_angle_wrap(1.1 * t)};
        CHECK(mcp_runtime_step(a, f.theta, NULL, y) == MCP_FAULT_NONE);
        CHECK(mcp_runtime_step(b, f.theta, NULL, y) == MCP_FAULT_NONE);
        CHECK(a->command[0] == b->command[0] && !memcmp(a->observed, b->observed, 4 * sizeof(double)));
        for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
            double z[2] = {k & 1 ? bad[k] : y[0], k & 1 ? y[1] : bad[k]}, last = a->command[0], safe;
            mcp_fault fault = mcp_runtime_step(a, f.theta, NULL, z);
            /* a finite number may be small enough to be used: then both use it */
            if (fault == MCP_FAULT_NONE) {
                CHECK(mcp_runtime_step(b, f.theta, NULL, z) == MCP_FAULT_NONE);
                continue;
            }
            CHECK(isfinite(a->command[0]) && fabs(a->command[0]) <= 3.0);
            safe = fmax(-3.0, fmin(3.0, -0.5 * a->observed[0] + 0.25 * last));
            CHECK_CLOSE(a->command[0], safe, 1e-12, 1e-12);
        }
        b->command[0] = a->command[0];
    }
    stop(&f, a);
    mcp_runtime_free(b);
}

/* Nothing is ever sent that the actuator cannot take: not before the first command, not after the last. */
CASE(commands_stay_within_a_range_that_has_no_zero)
{
    const parts  p = {.inputs = "{u: {limit: [1, 6], slew: 20, delay: 2}}", .policy = "param(k, 100)*p"};
    fixture      f = {0};
    mcp_runtime *r = start(&f, &p);
    double       safe, y[2] = {1.0, 0.0}, bad[2] = {NAN, 0.0};
    if (!r) return;
    CHECK(r->command[0] == 1.0);
    CHECK(mcp_runtime_step(r, f.theta, NULL, y) == MCP_FAULT_NONE);
    CHECK_CLOSE(r->command[0], 2.0, 1e-12, 0.0); /* slew, from the lower end on */
    for (int t = 0; t < 9; t++) mcp_runtime_step(r, f.theta, NULL, y);
    CHECK(r->command[0] == 6.0);
    CHECK(mcp_runtime_step(r, f.theta, NULL, bad) == MCP_FAULT_MEASURED && r->command[0] == 1.0);
    mcp_runtime_safe(r, &safe);
    CHECK(safe == 1.0);
    double none = 0.0, in = 4.0, out = 0.0, memory[2] = {0}, work[4096];
    CHECK(mcp_program_memory(f.system->actuator) == 2 && mcp_program_work(f.system->actuator) <= 4096);
    for (int t = 0; t < 3; t++) {
        mcp_program_step(f.system->actuator, &none, t == 0, &in, memory, &out, work);
        CHECK(out == (t < 2 ? 1.0 : 4.0));
    }
    stop(&f, r);
}

CASE(slew_counts_from_the_safe_input_that_was_sent)
{
    const parts  p = {.inputs = "{u: {limit: 3, slew: 4}}", .policy = "param(k, 100)*p"};
    fixture      f = {0};
    mcp_runtime *r = start(&f, &p);
    double       y[2] = {1.0, 0.0}, bad[2] = {NAN, 0.0};
    if (!r) return;
    for (int t = 0; t < 20; t++) mcp_runtime_step(r, f.theta, NULL, y);
    CHECK_CLOSE(r->command[0], 3.0, 1e-12, 0.0);
    CHECK(mcp_runtime_step(r, f.theta, NULL, bad) == MCP_FAULT_MEASURED && r->at == 0);
    CHECK(r->command[0] == 0.0);
    CHECK(mcp_runtime_step(r, f.theta, NULL, y) == MCP_FAULT_NONE);
    CHECK_CLOSE(r->command[0], 0.2, 1e-12, 0.0);
    stop(&f, r);
}

static void safe_of(const char *line, double *safe)
{
    char more[400];
    snprintf(more, sizeof more,
             "state: [p, dp, theta, dtheta]\nplant: {ode: {dp: u, dtheta: -sin(theta) - w}}\n%s", line);
    const parts p = {.more = more,
                     .inputs = "{u: {limit: 3, unit: N}, w: {limit: 0.5, unit: V}}",
                     .policy = "{u: '2*tanh(param(k, 1)*p)', w: 0.3*p}",
                     .model_more = "  velocities: {p: dp, theta: dtheta}\n  features: [p, dtheta, u, w]"};
    fixture      f = {0};
    mcp_runtime *r = start(&f, &p);
    double       y[2] = {0.4, 0.2};
    if (!r) return;
    mcp_runtime_safe(r, safe); /* before the first sample: at the centre of the start, p = 0.1 */
    mcp_runtime_step(r, f.theta, NULL, y);
    mcp_runtime_safe(r, safe + 2);
    stop(&f, r);
}

CASE(each_input_has_its_own_safe_value)
{
    double s[4];
    safe_of("safe: {w: 0.25, u: -20*p}", s);
    CHECK_CLOSE(s[0], -2.0, 1e-12, 0.0);
    CHECK(s[1] == 0.25 && s[2] == -3.0 && s[3] == 0.25);
    safe_of("safe: {u: zero, w: hold}", s);
    CHECK(s[0] == 0.0 && s[1] == 0.0 && s[2] == 0.0);
    CHECK_CLOSE(s[3], 0.12, 1e-12, 0.0);
    safe_of("safe: hold", s);
    CHECK_CLOSE(s[2], 2.0 * tanh(0.4), 1e-12, 0.0);
    CHECK_CLOSE(s[3], 0.12, 1e-12, 0.0);
    safe_of("", s);
    CHECK(s[2] == 0.0 && s[3] == 0.0);
}

CASE(one_expression_for_inputs_of_several_units_is_refused)
{
    static const char *line[] = {"safe: -p", "safe: {u: 0}", "safe: {u: 0, v: 1}", "safe: {u: 0, w: none}"};
    static const char *says[] = {"units of their own", "\"w\" is missing", "found \"v\" in safe", "none"};
    for (size_t i = 0; i < sizeof line / sizeof *line; i++) {
        mcp_task *task = NULL;
        mcp_error err = {MCP_OK, ""};
        char     *text = mcp_sprintf(
            "name: two\nrate: 20\ntrial: 1\nstate: [p, dp]\ninputs: {u: 3, w: 0.5}\nmeasured: {p: 0.01}\n"
                "model: {velocities: {p: dp}, features: [p, dp, u, w]}\ncost: p^2\nstart: {std: 0.1}\n"
                "plant: {ode: {dp: u + w}}\n%s\n",
            line[i]);
        CHECK(mcp_task_parse(&task, "two.yaml", text, NULL, 0, &err) == MCP_ERR_TASK);
        CHECK_HAS(err.text, says[i]);
        mcp_task_free(task);
        mcp_free(text);
    }
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(a_wrapping_sensor_is_unwrapped);
    RUN(turns_do_not_change_a_command);
    RUN(a_custom_observer_is_told_the_commands_that_are_given);
    RUN(limited_commands_are_those_of_a_run_with_given_ones);
    RUN(a_bad_sample_gives_the_safe_input_and_is_forgotten);
    RUN(commands_stay_within_a_range_that_has_no_zero);
    RUN(slew_counts_from_the_safe_input_that_was_sent);
    RUN(each_input_has_its_own_safe_value);
    RUN(one_expression_for_inputs_of_several_units_is_refused);
    return DONE();
}
