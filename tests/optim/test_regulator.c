/* test_regulator.c - the regulator of a model at the goal against scipy's (regulator_reference.py), and
 * policies that are made to hold a goal by it. */
#include "../rollout/fixture.h"
#include "optim/mc_pilco.h"
#include "optim/regulator.h"

/* The model is its prior mean: the GPs' own part is made as good as nothing. */
static const parts falling = {
    .model_more = "  velocities: {p: dp, theta: dtheta}\n"
                  "  prior_mean: {dp: Ts*(6*u - 0.5*dp + 3), dtheta: Ts*(20*(theta - 0.3) - 9*u - 4.5)}\n"
                  "  features: [p, dp, theta, dtheta, u]",
    .policy = "3*tanh((rbf(20, p, dp, theta, dtheta) + rbf(1, p, dp, theta, dtheta)*"
              "linear(p, dp, theta, dtheta))/3)",
    .cost = "1 - exp(-((theta - 0.3)/0.8)^2 - (p - 1)^2)",
};
static const double goal[4] = {1.0, 0.0, 0.3, 0.0}, unit[4] = {2.0, 4.0, 1.5, 8.0};

static int make(fixture *f, const parts *p)
{
    mcp_error                    err = {MCP_OK, ""};
    const mcp_posterior_settings exact = {.type = MCP_POSTERIOR_EXACT};
    mcp_status                   st = fixture_make(f, p, 30, 12, &err);
    for (int g = 0; st == MCP_OK && g < f->system->ngp; g++) {
        double hyper[16];
        int    count = mcp_gp_hyper_count(f->gp[g]);
        memcpy(hyper, mcp_gp_hyper(f->gp[g]), (size_t)count * sizeof *hyper);
        hyper[0] = log(1e-7);
        mcp_posterior_free(f->posterior[g]);
        f->posterior[g] = NULL;
        if ((st = mcp_gp_set(f->gp[g], hyper, &err)) == MCP_OK)
            st = mcp_posterior_create(&f->posterior[g], f->gp[g], &exact, mcp_isa_level(), NULL, &err);
    }
    if (st != MCP_OK) FAIL_("%s", err.text);
    return st == MCP_OK;
}

static mcp_regulator_request request_of(const fixture *f)
{
    return (mcp_regulator_request){.system = f->system, .model = f->posterior, .goal = goal, .unit = unit};
}

CASE(gains_are_those_of_the_riccati_equation)
{
    static const double expected[2][4] = {{-8.11706163601, -4.88790352041, -27.3487755277, -5.3392396228},
                                          {-1.09639069109, -0.852500312103, -8.48925531315, -1.77140707066}};
    fixture        f = {0};
    mcp_regulator *r = NULL;
    double         u, K[4];
    if (!make(&f, &falling)) return;
    mcp_regulator_request q = request_of(&f);
    REQUIRE_OK(mcp_regulator_create(&r, &q, err));
    REQUIRE(r);
    for (int k = 0; k < 2; k++) {
        CHECK_OK(mcp_regulator_gains(r, k ? 1.0 : 0.01, &u, K, err));
        CHECK_CLOSE(u, -0.5, 1e-9, 0.0);
        for (int i = 0; i < 4; i++) CHECK_CLOSE(K[i], expected[k][i], 1e-6 * fabs(expected[k][i]), 0.0);
    }
    mcp_regulator_free(r);
    fixture_free(&f);
}

/* Of a command that takes effect two samples later: the gains on the state that will be met. */
CASE(what_the_model_remembers_is_part_of_its_state)
{
    static const double expected[] = {-8.11706163601, -5.43810362269, -40.9127063013, -8.37526512612};
    const parts    late = {.model_more = falling.model_more,
                           .policy = falling.policy,
                           .cost = falling.cost,
                           .inputs = "{u: {limit: 3, delay: 2}}"};
    fixture        f = {0};
    mcp_regulator *r = NULL;
    double         u, K[4];
    if (!make(&f, &late)) return;
    mcp_regulator_request q = request_of(&f);
    REQUIRE_OK(mcp_regulator_create(&r, &q, err));
    REQUIRE_OK(mcp_regulator_gains(r, 0.01, &u, K, err));
    CHECK_CLOSE(u, -0.5, 1e-9, 0.0);
    for (int i = 0; i < 4; i++) CHECK_CLOSE(K[i], expected[i], 1e-6 * fabs(expected[i]), 0.0);
    mcp_regulator_free(r);
    fixture_free(&f);
}

CASE(a_policy_takes_command_and_slopes_of_the_regulator)
{
    const double     K[4] = {-1.1, -0.9, -8.5, -1.8}, u = -0.5;
    fixture          f = {0};
    mcp_policy_units units = {0};
    if (!make(&f, &falling)) return;
    const mcp_policy_request start = {.system = f.system, .seed = 3, .trial = 1};
    REQUIRE_OK(mcp_policy_measure(&start, &units, err));
    mcp_regulator_request q = request_of(&f);
    const mcp_program    *p = f.system->policy_true;
    double *kept = mcp_calloc((size_t)f.params + mcp_program_work(p) + 64, sizeof *kept),
           *work = kept + f.params, out[8], back[8], memory[32], x[4];
    memcpy(kept, f.theta, (size_t)f.params * sizeof *kept);
    CHECK(mcp_regulator_fits(p));
    REQUIRE_OK(mcp_regulator_impose(&q, units.param, &u, K, f.theta, err));
    mcp_program_step(p, f.theta, 1, goal, memory, out, work);
    CHECK_CLOSE(out[0], u, 1e-4, 0.0);
    for (int i = 0; i < 4; i++) {
        memcpy(x, goal, sizeof x);
        x[i] += 1e-4;
        mcp_program_step(p, f.theta, 1, x, memory, out, work);
        x[i] -= 2e-4;
        mcp_program_step(p, f.theta, 1, x, memory, back, work);
        CHECK_CLOSE((out[0] - back[0]) / 2e-4, -K[i], 0.01, 0.0);
    }
    for (int i = 0; i < mcp_program_groups(p); i++) { /* the network is as it was */
        const mcp_param_group *g = mcp_program_group(p, i);
        if (g->kind == MCP_MLP_WEIGHTS || g->kind == MCP_MLP_BIASES) continue;
        CHECK(!memcmp(f.theta + g->offset, kept + g->offset, (size_t)g->count * sizeof *kept));
    }
    /* A command beyond the limits is none that the policy can give. */
    memcpy(f.theta, kept, (size_t)f.params * sizeof *kept);
    mcp_error err = {MCP_OK, ""};
    CHECK(mcp_regulator_impose(&q, units.param, &(double){3.5}, K, f.theta, &err) == MCP_ERR_NUMERIC);
    CHECK(!memcmp(f.theta, kept, (size_t)f.params * sizeof *kept));
    mcp_free(kept);
    mcp_policy_units_free(&units);
    fixture_free(&f);
}

CASE(without_a_linear_part_or_a_goal_there_is_no_regulator)
{
    fixture        f = {0};
    mcp_regulator *r = NULL;
    if (!make(&f, &(const parts){.model_more = falling.model_more, .cost = "1 + 0*p"})) return;
    mcp_regulator_request q = request_of(&f);
    CHECK(!mcp_regulator_fits(f.system->policy_true));
    CHECK_OK(mcp_regulator_create(&r, &q, err));
    CHECK(r == NULL);
    fixture_free(&f);
}

/* The pole falls before a fresh policy has learned to hold it: with the regulator an optimisation begins with
 * one that does. */
CASE(an_optimisation_begins_with_the_regulator)
{
    const parts       holding = {.model_more = falling.model_more,
                                 .policy = falling.policy,
                                 .cost = falling.cost,
                                 .measured = "{p: {noise: 1e-4}, theta: {noise: 1e-4}}",
                                 .start = "{mean: [1, 0, 0.3, 0], std: 0.02}"};
    fixture           f = {0};
    mcp_optimise_info info[2];
    if (!make(&f, &holding)) return;
    f.task->optimise.particles = 32;
    f.task->optimise.steps = 1;
    f.task->model.posterior.type = MCP_POSTERIOR_EXACT;
    for (int with = 0; with < 2; with++) {
        f.task->optimise.regulator = with;
        mcp_optimise_request q = {.system = f.system, .gp = f.gp, .seed = 4, .trial = 2};
        REQUIRE_OK(mcp_policy_optimise(&q, 0, f.theta, &info[with], err));
        CHECK(info[with].regulated == with);
        mcp_free(info[with].history);
        mcp_free(info[with].rate_history);
    }
    if (!(info[1].cost_first < 0.5 * info[0].cost_first))
        FAIL_("%g without, %g with it", info[0].cost_first, info[1].cost_first);
    fixture_free(&f);
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(gains_are_those_of_the_riccati_equation);
    RUN(what_the_model_remembers_is_part_of_its_state);
    RUN(a_policy_takes_command_and_slopes_of_the_regulator);
    RUN(without_a_linear_part_or_a_goal_there_is_no_regulator);
    RUN(an_optimisation_begins_with_the_regulator);
    return DONE();
}
