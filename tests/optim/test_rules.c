/* test_rules.c - Adam and the stop rules on numbers worked out apart from the library, by rules_reference.py
 * beside this file. */
#include "optim/adam.h"
#include "optim/rules.h"
#include "test.h"

CASE(adam_follows_the_reference_trace)
{
    static const double ref[5][2] = {{0.0999999995, -0.099999999975},
                                     {0.19958777130820785, -0.1998335143391521},
                                     {0.29841372705397046, -0.2993766086426194},
                                     {0.39606093942625514, -0.39849510563768115},
                                     {0.4920363407356593, -0.4970442198731658}};
    double   m[2], v[2], theta[2] = {0.0, 0.0};
    mcp_adam a = {.n = 2, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8, .m = m, .v = v};
    mcp_adam_reset(&a);
    for (int k = 0; k < 5; k++) {
        double g[2] = {2.0 * (theta[0] - 1.0), 20.0 * (theta[1] + 2.0)};
        mcp_adam_step(&a, 0.1, g, theta);
        for (int i = 0; i < 2; i++) CHECK_CLOSE(theta[i], ref[k][i], 1e-13, 0.0);
    }
}

CASE(adam_finds_the_minimum_of_a_valley)
{
    double   m[2], v[2], theta[2] = {-1.2, 1.0}, factor[2] = {1.0, 2.0};
    mcp_adam a = {.n = 2, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8, .factor = factor, .m = m, .v = v};
    mcp_adam_reset(&a);
    for (int k = 0; k < 20000; k++) {
        double x = theta[0], y = theta[1];
        double g[2] = {-400.0 * x * (y - x * x) - 2.0 * (1.0 - x), 200.0 * (y - x * x)};
        mcp_adam_step(&a, 0.01 / (1.0 + 0.002 * k), g, theta);
    }
    CHECK_CLOSE(theta[0], 1.0, 0.0, 1e-3);
    CHECK_CLOSE(theta[1], 1.0, 0.0, 2e-3);
}

CASE(clip_shortens_only_long_gradients_and_keeps_their_direction)
{
    double g[2] = {3.0, 4.0};
    CHECK_CLOSE(mcp_clip_norm(2, 0.0, g), 5.0, 1e-15, 0.0);
    CHECK(g[0] == 3.0);
    CHECK_CLOSE(mcp_clip_norm(2, 10.0, g), 5.0, 1e-15, 0.0);
    CHECK(g[0] == 3.0);
    CHECK_CLOSE(mcp_clip_norm(2, 1.0, g), 5.0, 1e-15, 0.0);
    CHECK_CLOSE(g[0], 0.6, 1e-15, 0.0);
    CHECK_CLOSE(g[1], 0.8, 1e-15, 0.0);
}

static double cost(int j)
{
    return 10.0 * exp(-j / 40.0) + 0.05 * sin(1.7 * j) + 0.03 * cos(0.9 * j * 1.01);
}

CASE(monitor_lowers_and_stops_at_the_hand_computed_steps)
{
    mcp_monitor m = mcp_monitor_make(0.0025);
    mcp_pace    p = {0.01, 0.25};
    for (int j = 1; j <= 1093; j++) {
        mcp_verdict v = mcp_monitor_step(&m, cost(j), &p);
        if (j == 2) CHECK_CLOSE(m.s, -0.001005037815259212, 1e-12, 0.0);
        if (j == 3) {
            CHECK_CLOSE(m.E, -0.006141432742268736, 1e-12, 0.0);
            CHECK_CLOSE(m.V, 0.001865759741979598, 1e-12, 0.0);
        }
        if (j == 400) CHECK_CLOSE(m.s, -0.15268551144169853, 1e-10, 0.0);
        CHECK(v == (j == 691 || j == 892 ? MCP_RULE_LOWERED : j == 1093 ? MCP_RULE_STOP : MCP_RULE_GO));
        if (j == 691) CHECK(p.step_size == 0.005 && p.dropout == 0.125 && m.sigma == 0.04);
        if (j == 892) CHECK(p.step_size == 0.0025 && p.dropout == 0.0 && m.sigma == 0.02);
    }
}

CASE(plateau_waits_for_its_patience_and_ignores_gains_of_no_worth)
{
    mcp_plateau r = mcp_plateau_make(100, 0.0025, 20.0);
    mcp_pace    p = {0.02, 0.25};
    CHECK(mcp_plateau_step(&r, 50, 15.0, 0.1, &p) == MCP_RULE_GO);
    CHECK(mcp_plateau_step(&r, 100, 14.91, 0.1, &p) == MCP_RULE_GO); /* too little, but 50 steps only */
    /* the same gain, when it is worth more */
    CHECK(mcp_plateau_step(&r, 125, 14.91, 0.05, &p) == MCP_RULE_GO);
    CHECK(r.reference == 14.91 && r.since == 125);
    CHECK(mcp_plateau_step(&r, 200, 14.0, 1.0, &p) == MCP_RULE_GO);
    CHECK(mcp_plateau_step(&r, 225, 14.0, 1.0, &p) == MCP_RULE_LOWERED); /* 100 steps since the last one */
    CHECK(p.step_size == 0.005 && p.dropout == 0.0);                     /* two notches */
    CHECK(mcp_plateau_step(&r, 275, 15.5, 0.1, &p) == MCP_RULE_GO);
    CHECK(mcp_plateau_step(&r, 325, INFINITY, 0.0, &p) == MCP_RULE_LOWERED);
    CHECK(p.step_size == 0.0025); /* the second notch would be below the least */
    CHECK(mcp_plateau_step(&r, 375, 10.0, 0.1, &p) == MCP_RULE_GO);
    CHECK(mcp_plateau_step(&r, 475, 10.0, 0.1, &p) == MCP_RULE_STOP);
    CHECK(p.step_size == 0.0025);
}

CASE(plateau_takes_any_number_after_none)
{
    mcp_plateau r = mcp_plateau_make(100, 0.0025, INFINITY);
    mcp_pace    p = {0.02, 0.25};
    CHECK(mcp_plateau_step(&r, 50, 90.0, 0.0, &p) == MCP_RULE_GO && r.reference == 90.0 && r.since == 50);
}

CASE(gain_error_is_that_of_paired_differences)
{
    /* differences 1, 2, 3, 4 after a large common part: deviation sqrt(5/3), error half of it */
    const double before[] = {101, 202, 303, 404}, after[] = {100, 200, 300, 400},
                 same[] = {100, 201, 302, 403};
    CHECK_CLOSE(mcp_gain_error(4, before, after), 0.5 * sqrt(5.0 / 3.0), 1e-12, 0);
    CHECK_CLOSE(mcp_gain_error(4, before, same), 0.0, 0, 1e-12); /* every particle gains one */
    CHECK(mcp_gain_error(1, before, after) == 0.0);
}

CASE(schedule_ends_at_a_tenth_without_dropout)
{
    const mcp_pace start = {0.03, 0.25};
    mcp_pace       p;
    mcp_schedule_pace(&start, 0, 800, &p);
    CHECK(p.step_size == 0.03 && p.dropout == 0.25);
    mcp_schedule_pace(&start, 400, 800, &p);
    CHECK(p.step_size == 0.03 && p.dropout == 0.125);
    mcp_schedule_pace(&start, 600, 800, &p);
    CHECK_CLOSE(p.step_size, 0.03 * 0.55, 1e-12, 0.0);
    CHECK(p.dropout == 0.0);
    mcp_schedule_pace(&start, 800, 800, &p);
    CHECK_CLOSE(p.step_size, 0.003, 1e-12, 0.0);
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(adam_follows_the_reference_trace);
    RUN(adam_finds_the_minimum_of_a_valley);
    RUN(clip_shortens_only_long_gradients_and_keeps_their_direction);
    RUN(monitor_lowers_and_stops_at_the_hand_computed_steps);
    RUN(plateau_waits_for_its_patience_and_ignores_gains_of_no_worth);
    RUN(plateau_takes_any_number_after_none);
    RUN(gain_error_is_that_of_paired_differences);
    RUN(schedule_ends_at_a_tenth_without_dropout);
    return DONE();
}
