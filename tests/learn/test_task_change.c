/* What differs between two versions of a task, and what it means for recorded trials. */
#include <stdio.h>
#include <string.h>

#include "learn/task_change.h"
#include "math/arena.h"
#include "test.h"

static const char *const pendulum = "name: p\n"
                                    "rate: 20\n"
                                    "trial: 1.0\n"
                                    "state: {theta: {unit: rad, angle: yes}, dtheta: rad/s}\n"
                                    "inputs: {u: {limit: 2.5, unit: N m}}\n"
                                    "measured: {theta: 1e-4}\n"
                                    "model: {velocities: {theta: dtheta}}\n"
                                    "policy: 2.5*tanh(rbf(20, dtheta, sin(theta), cos(theta))/2.5)\n"
                                    "cost: 1 - exp(-((abs(theta) - pi)/2)^2)\n"
                                    "start: {std: 0.01}\n"
                                    "plant: {tcp: 127.0.0.1:7000}\n";

/* The pendulum with one text replaced. */
static mcp_task *changed(const char *from, const char *to)
{
    char        text[1024];
    const char *at = strstr(pendulum, from);
    mcp_task   *t = NULL;
    if (!at) {
        CHECK(!"the text is there");
        return NULL;
    }
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - pendulum), pendulum, to, at + strlen(from));
    CHECK_OK(mcp_task_parse(&t, "p.yaml", text, NULL, 0, err));
    return t;
}

static mcp_task_change between(const char *from, const char *to)
{
    mcp_task_change c = {.kind = MCP_CHANGE_NONE};
    mcp_task       *a = changed("name: p", "name: p"), *b = changed(from, to);
    if (a && b) CHECK_OK(mcp_task_change_find(a, b, &c, err));
    mcp_task_free(a);
    mcp_task_free(b);
    return c;
}

CASE(comments_titles_and_wires_do_not_matter)
{
    CHECK(between("rate: 20", "rate: 20.0 # Hz").kind == MCP_CHANGE_NONE);
    CHECK(between("rate: 20", "title: a pendulum\nrate: 20").kind == MCP_CHANGE_NONE);
    CHECK(between("127.0.0.1:7000", "127.0.0.1:9999").kind == MCP_CHANGE_NONE);
    CHECK(between("{tcp: 127.0.0.1:7000}", "{tcp: 127.0.0.1:7000, timeout: 5}").kind == MCP_CHANGE_NONE);
    CHECK(between("{std: 0.01}", "{std: 1e-2}").kind == MCP_CHANGE_NONE);
}

CASE(a_default_written_out_is_no_change)
{
    CHECK(between("start:", "optimise: {dropout: 0.25}\nstart:").kind == MCP_CHANGE_NONE);
}

CASE(a_change_of_learning_names_its_key_and_both_values)
{
    mcp_task_change c = between("{std: 0.01}", "{std: 0.02}");
    CHECK(c.kind == MCP_CHANGE_LEARNING && !strcmp(c.key, "start.std"));
    CHECK_HAS(c.was, "0.01");
    CHECK_HAS(c.is, "0.02");
    CHECK(between("trial: 1.0", "trial: 2.0").kind == MCP_CHANGE_LEARNING);
    CHECK(between("pi)/2)", "pi)/3)").kind == MCP_CHANGE_LEARNING);
    c = between("{theta: 1e-4}", "{theta: 2e-4}");
    CHECK(c.kind == MCP_CHANGE_LEARNING && !strncmp(c.key, "measured.theta", 14));
    c = between("start:", "optimise: {particles: 33}\nstart:");
    CHECK(c.kind == MCP_CHANGE_LEARNING && !strcmp(c.key, "optimise.particles"));
}

CASE(another_rate_plant_or_channel_is_another_robot)
{
    mcp_task_change c = between("rate: 20", "rate: 25");
    CHECK(c.kind == MCP_CHANGE_ROBOT && !strcmp(c.key, "rate"));
    c = between("plant: {tcp: 127.0.0.1:7000}", "plant: {ode: {dtheta: u - 9.81*sin(theta)}}");
    CHECK(c.kind == MCP_CHANGE_ROBOT && !strncmp(c.key, "plant", 5));
    c = between("{theta: 1e-4}", "{theta: 1e-4, dtheta: 1e-2}");
    CHECK(c.kind == MCP_CHANGE_ROBOT && !strncmp(c.key, "measured", 8));
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(comments_titles_and_wires_do_not_matter);
    RUN(a_default_written_out_is_no_change);
    RUN(a_change_of_learning_names_its_key_and_both_values);
    RUN(another_rate_plant_or_channel_is_another_robot);
    return DONE();
}
