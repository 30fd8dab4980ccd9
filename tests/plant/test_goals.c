/* test_goals.c - set-points that are drawn for a trial and told to the controller: one number in plant,
 * particles, record and policy, and nothing of it in the plant's own messages. */
#include "control/runtime.h"
#include "estimate/estimate.h"
#include "plant/hello.h"
#include "rig.h"
#include "rollout/rollout.h"

static mcp_task *with_goal(const char *more)
{
    char      text[1500];
    mcp_task *task = NULL;
    mcp_error why = {MCP_OK, ""};
    snprintf(text, sizeof text,
             "name: to\nrate: 50\ntrial: 1\ngoals: {r: [-1, 1], s: {mean: 2, std: 0.1}}\nstate: [q, v]\n"
             "inputs: {u: 2}\nmeasured: {q: 1e-3}\nmodel: {velocities: {q: v}}\ncost: (q - r)^2\n"
             "success: abs(q - r) < 0.1 and s > 0\n%s",
             more);
    if (mcp_task_parse(&task, "to.yaml", text, NULL, 0, &why) != MCP_OK) FAIL_("%s", why.text);
    return task;
}

static const char plain[] = "start: {std: 0.1}\nplant: {ode: {v: u - 4*q}}\n";

CASE(a_goal_is_a_state_that_stands_still_and_is_told)
{
    mcp_task *t = with_goal(plain);
    REQUIRE(t);
    CHECK(t->nx == 4 && t->ny == 3 && mcp_task_moving(t) == 2 && mcp_task_sensors(t) == 1);
    CHECK(!strcmp(t->state[2], "r") && !strcmp(t->measured[1].name, "r") && t->measured[2].state == 3);
    CHECK(t->features.n == 3); /* q, v, u */
    CHECK(!strcmp(t->policy.item[0].expr.text, "2*tanh((rbf(200, q, v, r, s))/2)"));
    mcp_task_free(t);
}

CASE(goals_are_drawn_for_each_trial_and_recorded)
{
    static const char *const starts[] = {plain,
                                         "start: {low: [0, 0], high: [1, 1]}\nplant: {ode: {v: u - 4*q}}\n",
                                         "start: {mixture: [{std: 0.1}, {mean: [1, 0], std: 0.2}]}\n"
                                         "plant: {ode: {v: u - 4*q}}\n"};
    for (size_t c = 0; c < sizeof starts / sizeof *starts; c++) {
        rig       r;
        mcp_error why = {MCP_OK, ""};
        double    low = 9, high = -9, sum = 0, squares = 0;
        if (rig_create(&r, with_goal(starts[c]), NULL, NULL, &why) != MCP_OK) FAIL_("%s", why.text);
        for (uint32_t run = 0; r.plant && run < 200; run++) {
            CHECK_OK(mcp_plant_run(r.plant, NULL, (mcp_trial_key){5, 1, run}, NULL, NULL, r.trial, err));
            double goal = r.trial->truth[2], other = r.trial->truth[3];
            for (int k = 0; k < r.trial->samples; k++) {
                CHECK(r.trial->truth[4 * k + 2] == goal && r.trial->measured[3 * k + 1] == goal);
                CHECK(r.trial->observed[4 * k + 2] == goal && r.trial->observed[4 * k + 3] == other);
            }
            low  = fmin(low, goal);
            high = fmax(high, goal);
            sum += other / 200;
            squares += other * other / 200;
        }
        CHECK(low >= -1 && low < -0.9 && high <= 1 && high > 0.9);
        CHECK_CLOSE(sum, 2.0, 0.0, 0.03);
        CHECK_CLOSE(sqrt(squares - sum * sum), 0.1, 0.0, 0.02);
        rig_close(&r);
    }
}

CASE(estimates_keep_the_goal_for_every_smoother)
{
    static const char *const smoothers[] = {"central-difference", "{type: kalman, drive: 2}", "butterworth",
                                            "difference"};
    for (size_t c = 0; c < sizeof smoothers / sizeof *smoothers; c++) {
        rig         r;
        char        more[400];
        mcp_states *x = NULL;
        mcp_error   why = {MCP_OK, ""};
        snprintf(more, sizeof more, "smoother: %s\n%s", smoothers[c], plain);
        if (rig_create(&r, with_goal(more), NULL, NULL, &why) != MCP_OK) FAIL_("%s", why.text);
        REQUIRE(r.plant);
        CHECK_OK(mcp_plant_run(r.plant, NULL, (mcp_trial_key){5, 1, 0}, NULL, NULL, r.trial, err));
        CHECK_OK(mcp_estimate_states(&x, r.system, r.trial, err));
        for (int k = 0; x && k < x->count; k++) CHECK(x->state[4 * k + 2] == r.trial->truth[2]);
        mcp_states_free(x);
        rig_close(&r);
    }
}

/* Particles: drawn by the goals' own rule, then constant along the way by the known transition. */
CASE(particles_have_goals_of_their_own)
{
    enum { N = 64, NX = 4, NY = 3, STEPS = 5 };
    mcp_task   *t = with_goal(plain);
    mcp_system *s = NULL;
    REQUIRE(t);
    REQUIRE_OK(mcp_system_create(&s, t, err));
    static double    x0[NX * N], e[(STEPS + 1) * NY * N], eps[STEPS * N];
    mcp_stream_noise from = {.system = s, .seed = 3, .trial = 1, .step = 1};
    mcp_noise        noise = mcp_noise_from_stream(&from);
    mcp_noise_block  block = {.first = 0, .n = N, .ld = N, .steps = STEPS, .x0 = x0, .e = e, .eps = eps};
    noise.fill(noise.context, &block);
    double low = 9, high = -9, in[NX + 2] = {0.1, 0.2, 0, 0, 1.0, 0.3}, out[NX], none = 0, work[1024];
    for (int j = 0; j < N; j++) {
        low  = fmin(low, x0[2 * N + j]);
        high = fmax(high, x0[2 * N + j]);
        CHECK(fabs(x0[3 * N + j] - 2.0) < 0.6);
    }
    CHECK(low >= -1 && low < -0.8 && high <= 1 && high > 0.8);
    in[2] = low;
    in[3] = 2.5;
    REQUIRE(mcp_program_work(s->integrate) <= 1024);
    mcp_program_step(s->integrate, &none, 1, in, &none, out, work);
    CHECK(out[2] == low && out[3] == 2.5);
    mcp_system_free(s);
    mcp_task_free(t);
}

CASE(goals_that_cannot_be_get_a_sentence)
{
    static const struct { const char *from, *to, *says; } wrong[] = {
        {"goals: {r: [-1, 1]}", "goals: {q: [-1, 1]}", "twice"},
        {"goals: {r: [-1, 1]}", "goals: {sin: [-1, 1]}", "word of the expression language"},
        {"goals: {r: [-1, 1]}", "goals: {r: 1}", "[low, high]"},
        {"measured: [q]", "measured: [q, r]", "goals are told, not measured"},
        {"{velocities: {q: v}}", "{velocities: {q: v}, changes: [r]}", "goals stand still"},
    };
    const char *sound = "name: g\nrate: 50\ntrial: 1\ngoals: {r: [-1, 1]}\nstate: [q, v]\ninputs: {u: 2}\n"
                        "measured: [q]\nmodel: {velocities: {q: v}}\ncost: (q - r)^2\n"
                        "start: {std: 0.1}\nplant: {ode: {v: u}}\n";
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char        text[800];
        mcp_task   *t = NULL;
        mcp_error   why = {MCP_OK, ""};
        const char *at = strstr(sound, wrong[i].from);
        REQUIRE(at);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - sound), sound, wrong[i].to,
                 at + strlen(wrong[i].from));
        CHECK(mcp_task_parse(&t, "g.yaml", text, NULL, 0, &why) == MCP_ERR_TASK);
        if (!strstr(why.text, wrong[i].says)) FAIL_("%s: %s", wrong[i].to, why.text);
        mcp_task_free(t);
    }
}

CASE(a_dump_with_goals_can_be_read_again)
{
    mcp_task *first = with_goal(plain), *second = NULL;
    char     *one = NULL, *two = NULL;
    REQUIRE(first);
    REQUIRE_OK(mcp_task_dump(first, &one, err));
    REQUIRE_OK(mcp_task_parse(&second, "dump.json", one, NULL, 0, err));
    REQUIRE_OK(mcp_task_dump(second, &two, err));
    CHECK(!strcmp(one, two) && second->nx == 4 && second->goals.n == 2);
    mcp_task_text_free(one);
    mcp_task_text_free(two);
    mcp_task_free(first);
    mcp_task_free(second);
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(a_goal_is_a_state_that_stands_still_and_is_told);
    RUN(goals_are_drawn_for_each_trial_and_recorded);
    RUN(estimates_keep_the_goal_for_every_smoother);
    RUN(particles_have_goals_of_their_own);
    RUN(goals_that_cannot_be_get_a_sentence);
    RUN(a_dump_with_goals_can_be_read_again);
    return DONE();
}
