/* test_warnings.c - what check warns of: each warning where it belongs, and silence elsewhere. */
#include "plant/warnings.h"

#include "bench.h"
#include "rig.h"

/* Warnings of a task with these lines in place of the plain ones; explored with its plant. */
static int warnings(bench_parts p, mcp_warning_list *w)
{
    rig       r;
    mcp_error why = {MCP_OK, ""};
    int       n = -1;
    w->n = 0;
    if (rig_create(&r, bench_task(p), NULL, NULL, &why) == MCP_OK &&
        mcp_plant_run(r.plant, NULL, (mcp_trial_key){1, 0, 0}, NULL, NULL, r.trial, &why) == MCP_OK &&
        mcp_task_warnings(r.system, r.trial, w, &why) == MCP_OK)
        n = w->n;
    else FAIL_("%s", why.text);
    rig_close(&r);
    return n;
}

static mcp_warning_list w;

CASE(a_sound_task_gets_none)
{
    static const char *const goals[] = {
        "success: abs(q) < 0.1\n", "success: abs(q) < 0.1 and abs(v) < 0.1\n", "success: q^2 + v^2 < 0.01\n",
        "success: abs(u) < 1 and abs(q) < 0.1\n", "",
    };
    for (size_t i = 0; i < sizeof goals / sizeof *goals; i++)
        CHECK(warnings((bench_parts){.more = goals[i]}, &w) == 0);
}

CASE(a_success_test_that_the_cheapest_state_fails_is_named)
{
    CHECK(warnings((bench_parts){.more = "success: abs(q - 1) < 0.1\n"}, &w) == 1);
    CHECK(strstr(w.text[0], "abs(q - 1) < 0.1") && strstr(w.text[0], "least cost"));
    CHECK(strstr(w.text[0], "q = ") != NULL);
    CHECK(warnings((bench_parts){.more = "success: abs(q) > 0.5\n"}, &w) == 1);
}

static int of_cost(const char *cost, const char *success)
{
    char      text[700];
    mcp_task *task = NULL;
    rig       r = {0};
    mcp_error why = {MCP_OK, ""};
    int       n = -1;
    snprintf(text, sizeof text,
             "name: c\nrate: 50\ntrial: 2\nstate: [q, v, th, w]\ninputs: {u: [0, 4]}\nmeasured: [q, th]\n"
             "model: {velocities: {q: v, th: w}}\ncost: '%s'\nsuccess: '%s'\nstart: {mean: [3, 0, 0, 0], "
             "std: 0.1}\nplant: {ode: {v: u, w: 0*u}}\n",
             cost, success);
    if (mcp_task_parse(&task, "c.yaml", text, NULL, 0, &why) == MCP_OK &&
        rig_create(&r, task, NULL, NULL, &why) == MCP_OK &&
        mcp_task_warnings(r.system, NULL, &w, &why) == MCP_OK)
        n = w.n;
    else FAIL_("%s", why.text);
    rig_close(&r);
    return n;
}

CASE(least_cost_is_found_for_common_shapes)
{
    CHECK(of_cost("1 - exp(-((abs(th) - pi)/3)^2 - q^2)", "abs(q) < 0.1 and abs(abs(th) - pi) < 0.2") == 0);
    CHECK(of_cost("1 - exp(-((abs(th) - pi)/3)^2 - q^2)", "abs(q) < 0.1 and abs(th) < 0.2") == 1);
    CHECK(of_cost("(q - 40)^2 + 1e-3*v^2", "abs(q - 40) < 0.5") == 0);
    CHECK(of_cost("1 - exp(-((q - 0.01)/0.005)^2)", "abs(q - 0.01) < 5e-4") == 0);
    CHECK(of_cost("1 - exp(-((q - 0.01)/0.005)^2)", "abs(q) < 5e-4") == 1);
    CHECK(of_cost("abs(q - 1) + 0.01*u^2", "abs(q - 1) < 0.05 and u < 1") == 0);
    CHECK(of_cost("q", "q < 0") == 0); /* no least cost at all: nothing is said */
    CHECK(of_cost("1 - exp(-(sin(th) + 0)^2 - (1 + cos(th))^2 - q^2)", "cos(th) < -0.9") == 0);
}

CASE(a_state_that_nothing_tells_is_named)
{
    CHECK(warnings((bench_parts){.observer = "none"}, &w) == 1);
    CHECK(strstr(w.text[0], "tells the controller about v") != NULL);
}

CASE(a_velocity_that_drowns_in_noise_is_named)
{
    CHECK(warnings((bench_parts){.measured = "{q: 0.2}"}, &w) == 1);
    CHECK(strstr(w.text[0], "one sample of q is good to 0.2") && strstr(w.text[0], "to 10;"));
    CHECK(warnings((bench_parts){.measured = "{q: {resolution: 1}}"}, &w) == 1);
    CHECK(warnings((bench_parts){.measured = "{q: 0.2, v: 0.1}"}, &w) == 0);
}

CASE(a_policy_of_an_unseen_state_gets_a_sentence)
{
    mcp_task *task = NULL;
    mcp_error why = {MCP_OK, ""};
    CHECK(mcp_task_parse(&task, "p.yaml",
                         "name: p\nrate: 50\ntrial: 2\nstate: [a, b]\ninputs: {u: 1}\nmeasured: [a]\n"
                         "model: {changes: [a, b]}\npolicy: tanh(rbf(5, a, 2*b))\ncost: a^2\n"
                         "start: {std: 0.1}\nplant: {ode: {a: b, b: u}}\n",
                         NULL, 0, &why) == MCP_ERR_TASK);
    CHECK(strstr(why.text, "p.yaml:8:26: policy: found \"b\", which nothing tells the controller") != NULL);
    mcp_task_free(task);
    /* left to itself, the policy uses what there is */
    CHECK(mcp_task_parse(&task, "p.yaml",
                         "name: p\nrate: 50\ntrial: 2\nstate: [b, a]\ninputs: {u: 1}\nmeasured: [a]\n"
                         "model: {changes: [a, b]}\ncost: a^2\nstart: {std: 0.1}\n"
                         "plant: {ode: {a: b, b: u}}\n",
                         NULL, 0, &why) == MCP_OK);
    CHECK(task && !strcmp(task->policy.item[0].expr.text, "1*tanh((rbf(200, a) + rbf(1, a)*linear(a))/1)"));
    mcp_task_free(task);
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(a_sound_task_gets_none);
    RUN(a_success_test_that_the_cheapest_state_fails_is_named);
    RUN(least_cost_is_found_for_common_shapes);
    RUN(a_state_that_nothing_tells_is_named);
    RUN(a_velocity_that_drowns_in_noise_is_named);
    RUN(a_policy_of_an_unseen_state_gets_a_sentence);
    return DONE();
}
