/* test_policy_init.c - fresh policies: scaled to what was visited, or as the papers' authors draw them. */
#include "small_system.h"

/* Visited: p in +-1, dp in +-3, theta in +-0.5, dtheta in +-10. */
static void visit(double visited[200][4])
{
    const double half[4] = {1.0, 3.0, 0.5, 10.0};
    mcp_rand     r = mcp_rand_make(1, 1, 1, MCP_RNG_OTHER);
    for (int k = 0; k < 200; k++)
        for (int i = 0; i < 4; i++) visited[k][i] = half[i] * (2.0 * mcp_rand_uniform(&r) - 1.0);
    visited[17][1] = 1e6; /* one wild value does not count */
}

/* A linear part that a bell about the cheapest state lets through there alone. */
CASE(a_single_basis_function_starts_at_the_goal)
{
    fixture f = {0};
    double  visited[200][4];
    if (!make(&f, &(const parts){.policy = "3*tanh(rbf(20, p, dp)/3 + rbf(1, p, dp)*linear(p, dp)/3)",
                                 .cost = "1 - exp(-(p - 0.4)^2)",
                                 .start = "{std: 0.01}"}))
        return;
    visit(visited);
    const mcp_policy_request start = {
        .system = f.system, .visited = visited[0], .visits = 200, .seed = 1, .trial = 1};
    mcp_policy_units u;
    REQUIRE_OK(mcp_policy_draw(&start, f.theta, err));
    REQUIRE_OK(mcp_policy_measure(&start, &u, err));
    CHECK_CLOSE(u.goal[0], 0.4, 0.01, 0.0);
    CHECK(u.goal[1] == 0.0 && u.goal[2] == 0.0 && u.goal[3] == 0.0);
    for (int i = 0; i < mcp_program_groups(f.system->controller); i++) {
        const mcp_param_group *g = mcp_program_group(f.system->controller, i);
        const double          *at = f.theta + g->offset;
        if (!strcmp(g->name, "rbf2.centres")) CHECK(fabs(at[0] - 0.4) < 0.01 && at[1] == 0.0);
        if (!strcmp(g->name, "rbf2.weights")) CHECK(at[0] == 1.0);
        for (int k = 0; !strncmp(g->name, "linear1", 7) && k < g->count; k++) {
            CHECK(at[k] == 0.0);
            CHECK(u.param[g->offset + k] > 0.0 && isfinite(u.param[g->offset + k]));
        }
    }
    mcp_policy_units_free(&u);
    fixture_free(&f);
}

CASE(a_fresh_policy_fits_the_ranges_that_were_visited)
{
    fixture f = {0};
    double  visited[200][4], circle = 0.0, low = 0.0, high = 0.0;
    if (!make(&f, &(const parts){.policy = "3*tanh(rbf(100, p, dp, dtheta, cos(theta), sin(theta))/3)",
                                 .start = "{std: 0.01}"}))
        return;
    visit(visited);
    const mcp_policy_request start = {
        .system = f.system, .visited = visited[0], .visits = 200, .seed = 1, .trial = 1};
    REQUIRE_OK(mcp_policy_draw(&start, f.theta, err));
    const mcp_param_group *c = group(&f, MCP_RBF_CENTRES), *l = group(&f, MCP_RBF_LOG_LENGTHS),
                          *w = group(&f, MCP_RBF_WEIGHTS);
    for (int b = 0; b < c->rows; b++) {
        const double *row = f.theta + c->offset + b * 5;
        CHECK(fabs(row[0]) < 1.6 && fabs(row[1]) < 4.8 && fabs(row[2]) < 16.0);
        CHECK_CLOSE(hypot(row[3], row[4]), 1.0, 1e-12, 0.0);
        circle =
            fmin(circle,
                 row[3]); /* cos(theta): the far side of the circle is reached though theta stayed in +-0.5 */
        low = fmin(low, row[2]);
        high = fmax(high, row[2]);
    }
    CHECK(circle < -0.9 && low < -10.0 && high > 10.0);
    CHECK_CLOSE(exp(f.theta[l->offset]), 1.0, 0.2, 0.0);     /* 0.35 of the widened range 3 */
    CHECK_CLOSE(exp(f.theta[l->offset + 3]), 1.0, 0.05, 0.0); /* half of 2 */
    double most = 0.0;
    for (int i = 0; i < w->count; i++) most = fmax(most, fabs(f.theta[w->offset + i]));
    CHECK(most > 1.3 && most <= 1.51); /* half of the limit 3 */
    fixture_free(&f);
}

/* scaling: none, whatever was visited. */
CASE(an_unscaled_policy_starts_as_the_authors_draw_it)
{
    fixture          f = {0};
    mcp_policy_units units;
    double           visited[200][4], low[3] = {0}, high[3] = {0}, most = 0.0;
    if (!make(&f, &(const parts){.policy = "3*tanh(rbf(100, p, dp, dtheta, cos(theta), sin(theta))/3)",
                                 .start = "{std: 0.01}"}))
        return;
    visit(visited);
    f.task->optimise.scaling = MCP_SCALING_NONE;
    const mcp_policy_request start = {
        .system = f.system, .visited = visited[0], .visits = 200, .seed = 1, .trial = 1};
    REQUIRE_OK(mcp_policy_draw(&start, f.theta, err));
    const mcp_param_group *c = group(&f, MCP_RBF_CENTRES), *l = group(&f, MCP_RBF_LOG_LENGTHS),
                          *w = group(&f, MCP_RBF_WEIGHTS);
    for (int b = 0; b < c->rows; b++) {
        const double *row = f.theta + c->offset + b * 5;
        CHECK_CLOSE(hypot(row[3], row[4]), 1.0, 1e-12, 0.0);
        for (int j = 0; j < 3; j++) {
            low[j] = fmin(low[j], row[j]);
            high[j] = fmax(high[j], row[j]);
        }
    }
    for (int j = 0; j < 3; j++) {
        CHECK(low[j] >= -3.1416 && low[j] < -2.8);
        CHECK(high[j] <= 3.1416 && high[j] > 2.8);
    }
    for (int j = 0; j < 5; j++) CHECK(f.theta[l->offset + j] == 0.0);
    for (int i = 0; i < w->count; i++) most = fmax(most, fabs(f.theta[w->offset + i]));
    CHECK(most > 1.3 && most <= 1.51); /* half of the limit 3 */

    REQUIRE_OK(mcp_policy_measure(&start, &units, err));
    for (int i = 0; i < f.params; i++) CHECK(units.param[i] == 1.0);
    for (int i = 0; i < 4; i++) CHECK(units.state[i] == 1.0);
    CHECK_CLOSE(units.cost * (f.system->steps + 1), 1.0, 1e-15, 0.0);
    mcp_policy_units_free(&units);
    fixture_free(&f);
}

/* The start is the hanging rest, to a hundredth: so are all centres, by chance and not alike. */
CASE(an_unscaled_policy_may_begin_where_trials_start)
{
    fixture f = {0};
    double  visited[200][4], far = 0.0;
    if (!make(&f, &(const parts){.policy = "3*tanh(rbf(100, p, dp, dtheta, cos(theta), sin(theta))/3)",
                                 .start = "{std: 0.01}"}))
        return;
    visit(visited);
    f.task->optimise.scaling = MCP_SCALING_NONE;
    const mcp_policy_request start = {
        .system = f.system, .visited = visited[0], .visits = 200, .seed = 1, .trial = 1, .at_start = 1};
    REQUIRE_OK(mcp_policy_draw(&start, f.theta, err));
    const mcp_param_group *c = group(&f, MCP_RBF_CENTRES), *l = group(&f, MCP_RBF_LOG_LENGTHS);
    for (int b = 0; b < c->rows; b++) {
        const double *row = f.theta + c->offset + b * 5;
        for (int j = 0; j < 5; j++) CHECK(fabs(row[j] - (j == 3 ? 1.0 : 0.0)) < 0.06);
        far = fmax(far, fabs(row[0]));
    }
    CHECK(far > 0.015);
    for (int j = 0; j < 5; j++) CHECK_CLOSE(exp(f.theta[l->offset + j]), j < 3 ? 1.0 : 0.7, 1e-12, 0.0);
    fixture_free(&f);
}

/* The reward is at a speed that gentle inputs do not reach. Of many draws a bold one feels it. */
CASE(a_fresh_policy_is_the_cheapest_of_many_draws)
{
    const parts far = {.model_more = usual.model_more,
                       .policy = "3*tanh(rbf(40, p, dp, dtheta, cos(theta), sin(theta)))",
                       .cost = "1 - exp(-((dp - 5)/1)^2)"};
    double      first[2], last[2], work[2];
    for (int many = 0; many < 2; many++) {
        fixture           f = {0};
        mcp_optimise_info info;
        if (!make(&f, &far)) return;
        f.task->optimise.draws = many ? 64 : 1;
        mcp_optimise_request q = request_of(&f);
        q.attempt = 1;
        REQUIRE_OK(mcp_policy_optimise(&q, 0, f.theta, &info, err));
        first[many] = info.cost_first;
        last[many] = info.cost_last;
        work[many] = info.work - info.steps;
        release(&info);
        fixture_free(&f);
    }
    CHECK(first[1] < first[0] - 0.1);
    CHECK(last[1] < last[0]);
    CHECK(work[1] > work[0] + 10.0); /* and that is counted */
}

CASE(boldness_multiplies_what_a_fresh_policy_asks_for)
{
    fixture f = {0};
    if (!make(&f, &(const parts){.policy = "3*tanh(rbf(100, p, dp, dtheta, cos(theta), sin(theta)))"}))
        return;
    double *bold = mcp_calloc((size_t)f.params, sizeof *bold);
    REQUIRE(bold);
    mcp_policy_request q = {.system = f.system, .seed = 1, .trial = 1};
    REQUIRE_OK(mcp_policy_draw(&q, f.theta, err));
    q.boldness = 4.0;
    REQUIRE_OK(mcp_policy_draw(&q, bold, err));
    const mcp_param_group *w = group(&f, MCP_RBF_WEIGHTS), *c = group(&f, MCP_RBF_CENTRES);
    for (int i = 0; i < w->count; i++)
        CHECK_CLOSE(bold[w->offset + i], 4.0 * f.theta[w->offset + i], 1e-14, 0);
    for (int i = 0; i < c->count; i++) CHECK(bold[c->offset + i] == f.theta[c->offset + i]);
    mcp_free(bold);
    fixture_free(&f);
}

CASE(weights_follow_the_gain_from_network_to_input)
{
    fixture f = {0};
    double  visited[200][4], most = 0.0;
    if (!make(&f, &(const parts){.policy = "3*tanh(rbf(100, p, dp, dtheta, cos(theta), sin(theta)))"}))
        return;
    visit(visited);
    const mcp_policy_request start = {
        .system = f.system, .visited = visited[0], .visits = 200, .seed = 1, .trial = 1};
    REQUIRE_OK(mcp_policy_draw(&start, f.theta, err));
    const mcp_param_group *w = group(&f, MCP_RBF_WEIGHTS);
    for (int i = 0; i < w->count; i++) most = fmax(most, fabs(f.theta[w->offset + i]));
    CHECK(most > 0.43 && most <= 0.51);
    fixture_free(&f);
}

CASE(draws_are_repeatable_and_differ)
{
    fixture f = {0};
    if (!make(&f,
              &(const parts){.policy = "3*tanh(mlp(6, 4, p, dp, dtheta, sin(theta))) + param(k, 0.25)*p"}))
        return;
    double *a = mcp_calloc(3 * (size_t)f.params, sizeof *a), *b = a + f.params, *c = b + f.params;
    const mcp_policy_request first = {.system = f.system, .seed = 1, .trial = 1},
                             other = {.system = f.system, .seed = 1, .trial = 1, .draw = 1};
    CHECK_OK(mcp_policy_draw(&first, a, err));
    CHECK_OK(mcp_policy_draw(&first, b, err));
    CHECK_OK(mcp_policy_draw(&other, c, err));
    CHECK(!memcmp(a, b, (size_t)f.params * sizeof *a));
    CHECK(memcmp(a, c, (size_t)f.params * sizeof *a));
    const mcp_param_group *k = group(&f, MCP_PARAM_SCALAR);
    CHECK(k && a[k->offset] == 0.25 && c[k->offset] == 0.25);
    mcp_free(a);
    fixture_free(&f);
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(a_single_basis_function_starts_at_the_goal);
    RUN(a_fresh_policy_fits_the_ranges_that_were_visited);
    RUN(an_unscaled_policy_starts_as_the_authors_draw_it);
    RUN(an_unscaled_policy_may_begin_where_trials_start);
    RUN(a_fresh_policy_is_the_cheapest_of_many_draws);
    RUN(boldness_multiplies_what_a_fresh_policy_asks_for);
    RUN(weights_follow_the_gain_from_network_to_input);
    RUN(draws_are_repeatable_and_differ);
    return DONE();
}
