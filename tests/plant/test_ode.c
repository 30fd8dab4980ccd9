/* test_ode.c - plants given by differential equations: their motion, what they hide, where they end. */
#include "bench.h"
#include "plant/plant_parts.h"
#include "plain_rig.h"

CASE(ode_plant_follows_the_closed_form)
{
    rig r;
    REQUIRE(rig_open(&r,
                     bench_task((bench_parts){.measured = "{q: 0}",
                                              .start = "{mean: [0.3, 0], std: 0}",
                                              .plant = "{ode: {v: '-4*q + 0*u'}, tolerance: 1e-11}"}),
                     NULL, NULL));
    CHECK_OK(explore(&r, 0, 0, err));
    CHECK(r.trial->samples == 101 && !r.trial->ended && r.trial->explored);
    for (int k = 0; k < r.trial->samples; k++) {
        CHECK_CLOSE(r.trial->t[k], 0.02 * k, 1e-14, 0);
        CHECK_CLOSE(r.trial->truth[2 * k], 0.3 * cos(2 * 0.02 * k), 0, 1e-9);
        CHECK_CLOSE(r.trial->truth[2 * k + 1], -0.6 * sin(2 * 0.02 * k), 0, 1e-9);
        CHECK(r.trial->measured[k] == r.trial->truth[2 * k]);
    }
    rig_close(&r);
}

CASE(input_is_held_over_a_sample)
{
    rig r;
    REQUIRE(rig_open(&r,
                     bench_task((bench_parts){
                         .start = "{std: 0}", .explore = "{type: uniform}", .plant = "{ode: {v: u}}"}),
                     NULL, NULL));
    CHECK_OK(explore(&r, 0, 0, err));
    double q = 0, v = 0;
    for (int k = 0; k + 1 < r.trial->samples; k++) {
        double u = r.trial->input[k];
        q += 0.02 * v + 0.5 * 0.02 * 0.02 * u;
        v += 0.02 * u;
        CHECK_CLOSE(r.trial->truth[2 * k + 2], q, 0, 1e-12);
        CHECK_CLOSE(r.trial->truth[2 * k + 3], v, 0, 1e-12);
        CHECK(r.trial->applied[k] == u);
    }
    CHECK(isnan(r.trial->input[r.trial->samples - 1]));
    rig_close(&r);
}

/* Frequencies found in the motion: k of the trial, through a constant that is made of it. */
static double stiffness(rig *r, uint32_t trial, uint32_t run)
{
    mcp_error why = {MCP_OK, ""};
    if (explore(r, trial, run, &why) != MCP_OK) FAIL_("%s", why.text);
    double q = r->trial->truth[2 * 20] / r->trial->truth[0]; /* cos(w t), t = 0.4 s */
    return pow(acos(q) / 0.4, 2) / 2.0;
}

CASE(a_random_parameter_is_drawn_for_each_trial_and_seen_by_nobody)
{
    rig    r;
    double sum = 0.0, least = 1e9, most = 0.0;
    REQUIRE(rig_open(&r,
                     bench_task((bench_parts){
                         .start = "{mean: [0.3, 0], std: 0}",
                         .plant = "{random: {k: [1.5, 2.5]}, ode: {v: '-twice*q + 0*u'}}",
                         .more = "constants: {k: 2, twice: 2*k}\nlimits: {far: q > k}\n"}),
                     NULL, NULL));
    double first = stiffness(&r, 0, 0), second = stiffness(&r, 1, 0), other = stiffness(&r, 0, 1);
    CHECK(fabs(first - second) > 1e-3 && fabs(first - other) > 1e-3);
    CHECK(stiffness(&r, 0, 0) == first && stiffness(&r, 0, 1) == other);
    for (uint32_t run = 1; run <= 200; run++) {
        double k = stiffness(&r, 3, run);
        sum += k / 200;
        least = fmin(least, k);
        most  = fmax(most, k);
    }
    CHECK(least >= 1.5 - 1e-5 && least < 1.55 && most <= 2.5 + 1e-5 && most > 2.45);
    CHECK_CLOSE(sum, 2.0, 0.05, 0.0);
    /* the rest of the task keeps the number of the file */
    double in[3] = {1.9, 0, 0}, out[2], none = 0.0, work[512];
    REQUIRE(mcp_program_work(r.system->events) <= 512);
    mcp_program_step(r.system->events, &none, 1, in, &none, out, work);
    CHECK(out[1] == 0.0);
    in[0] = 2.1;
    mcp_program_step(r.system->events, &none, 1, in, &none, out, work);
    CHECK(out[1] == 1.0);
    rig_close(&r);
}

CASE(a_hidden_state_starts_at_random)
{
    rig    r;
    double sum = 0.0, squares = 0.0;
    REQUIRE(rig_open(&r,
                     bench_task((bench_parts){
                         .start = "{std: 0}",
                         .plant = "{random: {push: {mean: 1, std: 0.5}}, hidden: {w: push + q}, "
                                  "ode: {v: '0*u + w', w: 0}}"}),
                     NULL, NULL));
    for (uint32_t run = 1; run <= 400; run++) {
        CHECK_OK(explore(&r, 0, run, err));
        double w = r.trial->truth[2 * 50 + 1]; /* velocity after 1 s */
        sum += w / 400;
        squares += w * w / 400;
    }
    CHECK_CLOSE(sum, 1.0, 0.0, 0.08);
    CHECK_CLOSE(sqrt(squares - sum * sum), 0.5, 0.0, 0.06);
    rig_close(&r);
}

CASE(random_numbers_that_cannot_be_get_a_sentence)
{
    static const struct { const char *plant, *says; } wrong[] = {
        {"{random: {q: [1, 2]}, ode: {v: u}}", "means nothing else"},
        {"{random: {sin: [1, 2]}, ode: {v: u}}", "means nothing else"},
        {"{random: {w: [1, 2]}, hidden: {w: 0}, ode: {v: u, w: 0}}", "name of its own"},
        {"{random: {k: [2, 1]}, ode: {v: k*u}}", "low <= high"},
        {"{random: {k: {std: 1}}, ode: {v: k*u}}", "mean and std"},
        {"{random: {k: {range: [1, 2], std: 1}}, ode: {v: k*u}}", "mean and std"},
        {"{random: {k: 3}, ode: {v: k*u}}", "[low, high]"},
        {"{random: {k: [1, 2]}, exec: ./rig}", "random"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char      text[600];
        mcp_task *task = NULL;
        mcp_error why = {MCP_OK, ""};
        snprintf(text, sizeof text,
                 "name: r\nrate: 50\ntrial: 2\nstate: [q, v]\ninputs: {u: 2}\nmeasured: [q]\n"
                 "model: {velocities: {q: v}}\ncost: q^2\nstart: {std: 0.1}\nplant: %s\n",
                 wrong[i].plant);
        CHECK(mcp_task_parse(&task, "r.yaml", text, NULL, 0, &why) == MCP_ERR_TASK);
        if (!strstr(why.text, wrong[i].says)) FAIL_("%s: %s", wrong[i].plant, why.text);
        mcp_task_free(task);
    }
}

CASE(hidden_states_and_after_belong_to_the_plant)
{
    rig r;
    REQUIRE(rig_open(
        &r,
        bench_task((bench_parts){.start = "{mean: [0, 1], std: 0}",
                                 .plant = "{ode: {q: v, v: '-lag', lag: 10*(1 - lag) + 0*u}, hidden: {lag: "
                                          "'0.5*v'}, after: {q: 'min(q, 0.3)'}, tolerance: 1e-10}"}),
        NULL, NULL));
    CHECK_OK(explore(&r, 0, 0, err));
    double t = 0.1; /* lag = 1 - 0.5 exp(-10 t), v = 1 - integral of lag */
    CHECK_CLOSE(r.trial->truth[2 * 5 + 1], 1 - (t - 0.05 * (1 - exp(-10 * t))), 0, 1e-8);
    int clamped = 0;
    for (int k = 0; k < r.trial->samples; k++) clamped += r.trial->truth[2 * k] == 0.3;
    CHECK(clamped > 0);
    for (int k = 0; k < r.trial->samples; k++) CHECK(r.trial->truth[2 * k] <= 0.3);
    rig_close(&r);
}

/* A ball falls onto a magnet between two samples: the trial is over, the run is not. */
CASE(an_equation_that_explodes_ends_the_trial_and_keeps_the_data)
{
    rig r;
    REQUIRE(rig_open(&r,
                     bench_task((bench_parts){.start = "{mean: [1.01, 1], std: 0}",
                                              .plant = "{ode: {q: q^2, v: 0*u}}"}),
                     NULL, NULL));
    CHECK_OK(explore(&r, 0, 0, err));
    CHECK(r.trial->samples == 50 && r.trial->ended);
    CHECK_HAS(r.trial->reason, "cannot be integrated beyond 0.98 s: write a limit");
    rig_close(&r);
}

/* The integrator may step over a pole without noticing, and find the ball on the magnet's other side, a
 * million times as fast. */
CASE(a_leap_over_a_pole_ends_the_trial_too)
{
    int ended = 0;
    for (int k = 0; k < 400; k++) {
        rig  r;
        char start[64];
        snprintf(start, sizeof start, "{mean: [%.17g, 0], std: 0}", 0.3 + 2e-4 * k);
        REQUIRE(rig_open(&r,
                         bench_task((bench_parts){.start = start, .plant = "{ode: {q: v, v: 0*u - 3/q^2}}"}),
                         NULL, NULL));
        CHECK_OK(explore(&r, 0, 0, err));
        ended += r.trial->ended;
        rig_close(&r);
    }
    CHECK(ended > 0);
}

CASE(an_equation_that_explodes_at_once_is_an_error)
{
    rig       r;
    mcp_error why = {MCP_OK, ""};
    REQUIRE(rig_open(&r,
                     bench_task((bench_parts){.start = "{mean: [60, 1], std: 0}",
                                              .plant = "{ode: {q: q^2, v: 0*u}}"}),
                     NULL, NULL));
    CHECK(explore(&r, 0, 0, &why) == MCP_ERR_PLANT);
    CHECK_HAS(why.text, "simulated plant, sample 1: the differential equation cannot be integrated further");
    CHECK(r.trial->samples == 1 && r.trial->ended);
    rig_close(&r);
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(ode_plant_follows_the_closed_form);
    RUN(input_is_held_over_a_sample);
    RUN(a_random_parameter_is_drawn_for_each_trial_and_seen_by_nobody);
    RUN(a_hidden_state_starts_at_random);
    RUN(random_numbers_that_cannot_be_get_a_sentence);
    RUN(hidden_states_and_after_belong_to_the_plant);
    RUN(an_equation_that_explodes_ends_the_trial_and_keeps_the_data);
    RUN(a_leap_over_a_pole_ends_the_trial_too);
    RUN(an_equation_that_explodes_at_once_is_an_error);
    return DONE();
}
