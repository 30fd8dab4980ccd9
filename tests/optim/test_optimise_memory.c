/* test_optimise_memory.c - every allocation of compiling, simulating and optimising fails once: each time a
 * sentence, nothing leaks (AddressSanitizer builds look), and the next try works. */
#include "../rollout/fixture.h"

static fixture f;

static mcp_status compile(mcp_error *err)
{
    mcp_system *s = (void *)&f;
    mcp_status  st = mcp_system_create(&s, f.task, err);
    if (st != MCP_OK) CHECK(s == NULL);
    else mcp_system_free(s);
    return st;
}

static mcp_status simulate(mcp_error *err)
{
    mcp_rollout_settings set = {.particles = 16, .steps = 3};
    mcp_rollout         *r = (void *)&f;
    mcp_status           st = mcp_rollout_create(&r, f.system, f.posterior, &set, NULL, err);
    if (st != MCP_OK) CHECK(r == NULL);
    else mcp_rollout_free(r);
    return st;
}

static mcp_status optimise(mcp_error *err)
{
    mcp_optimise_request q = {.system = f.system, .gp = f.gp, .seed = 1, .trial = 2};
    mcp_optimise_info    info;
    mcp_status           st = mcp_policy_optimise(&q, 0, f.theta, &info, err);
    if (st != MCP_OK) CHECK(info.history == NULL && info.rate_history == NULL);
    else {
        mcp_free(info.history);
        mcp_free(info.rate_history);
    }
    return st;
}

static void fail_each(const char *what, mcp_status (*call)(mcp_error *))
{
    mcp_error err = {MCP_OK, ""};
    mcp_alloc_fail_at(0);
    if (call(&err) != MCP_OK) {
        FAIL_("%s: %s", what, err.text);
        return;
    }
    long count = mcp_alloc_count();
    CHECK(count > 1);
    for (long k = 1; k <= count; k++) {
        mcp_alloc_fail_at(k);
        err = (mcp_error){MCP_OK, ""};
        mcp_status st = call(&err);
        if (st != MCP_ERR_MEMORY || err.status != MCP_ERR_MEMORY || !err.text[0])
            FAIL_("%s: allocation %ld of %ld failed, but the status is %d: %s", what, k, count, st, err.text);
    }
    mcp_alloc_fail_at(0);
    CHECK(call(&err) == MCP_OK);
}

CASE(every_failed_allocation_is_a_memory_error)
{
    const parts p = {.kernel = "\"pi(sin(theta), u*cos(theta)) + se\"",
                     .policy = "3*tanh(rbf(3, p, dp) + mlp(2, theta))"};
    REQUIRE_OK(fixture_make(&f, &p, 3, 8, err));
    f.task->optimise.particles = 8;
    f.task->optimise.steps = 2;
    f.task->optimise.candidates = 0;
    f.task->model.posterior.type = MCP_POSTERIOR_SPARSE;
    f.task->model.posterior.tolerance = 0.01;
    f.task->model.self_check = 1;
    fail_each("compile", compile);
    fail_each("simulate", simulate);
    fail_each("optimise", optimise);
    fixture_free(&f);
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(every_failed_allocation_is_a_memory_error);
    return DONE();
}
