/* test_recognise.c - what PILCO finds in a task by probing it, and the sentences for what it cannot take. */
#include "baseline/pilco/recognise.h"

#include "baseline/blackdrops/blackdrops.h"
#include "baseline/pilco/descent.h"
#include "math/arena.h"
#include "test.h"

static const char *const comparison = TEST_SOURCE_DIR "/experiments/cartpole-full-pilco.yaml";

typedef struct {
    mcp_task   *task;
    mcp_system *system;
} world;

static int open_world(world *w, const char *file, const char *const *set, int sets)
{
    mcp_error e = {MCP_OK, ""};
    *w = (world){NULL, NULL};
    if (mcp_task_load(&w->task, file, set, sets, &e) == MCP_OK &&
        mcp_system_create(&w->system, w->task, &e) == MCP_OK)
        return 1;
    FAIL_("%s", e.text);
    return 0;
}

static void close_world(world *w)
{
    mcp_system_free(w->system);
    mcp_task_free(w->task);
}

CASE(cartpole_is_recognised)
{
    world          w;
    mcp_pilco_plan plan;
    if (!open_world(&w, comparison, NULL, 0)) return;
    REQUIRE_OK(mcp_pilco_recognise(&plan, w.system, err));
    const mcp_horizon_problem *p = &plan.p;
    CHECK(p->nx == 4 && p->nu == 1 && p->T == 60 && p->basis == 20 && plan.metric == 0);
    CHECK(p->angles == 1 && p->angle[0] == 2);
    /* p, dp, dtheta, sin, cos, u among (p, dp, theta, dtheta, sin, cos, u) */
    static const int input[6] = {0, 1, 3, 4, 5, 6};
    for (int i = 0; i < 6; i++) CHECK(p->input[i] == input[i] && p->input_scale[i] == 1);
    for (int i = 0; i < 5; i++) CHECK(p->feature[i] == input[i] && p->feature_scale[i] == 1);
    for (int i = 0; i < 16; i++) CHECK(p->A[i] == (i % 5 == 0) && p->B[i] == (i % 5 == 0));
    CHECK(p->limit[0] == 10);
    for (int i = 0; i < 4; i++) {
        CHECK_CLOSE(p->noise[i], 1e-4, 1e-12, 0);
        CHECK_CLOSE(p->S0[5 * i], 1e-4, 1e-12, 0);
    }
    /* target upright over the origin; W of width 0.25 and pole length 0.5 */
    static const double W[36] = {16, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                                 0,  0, 0, 0, 0, 0, 8, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 4};
    for (int i = 0; i < 36; i++) CHECK_CLOSE(p->W[i], W[i], 1e-5, 1e-5);
    CHECK_CLOSE(p->z[5], -1, 1e-5, 0);
    mcp_pilco_plan_free(&plan);
    close_world(&w);
}

CASE(integrated_velocities_and_scaled_features_are_recognised)
{
    static const char *const set[] = {"model.features=[p, dp/3, dtheta/10, sin(theta), 2*cos(theta), u/10]"};
    world                    w;
    mcp_pilco_plan           plan;
    if (!open_world(&w, comparison, set, 1)) return;
    REQUIRE_OK(mcp_pilco_recognise(&plan, w.system, err));
    static const double scale[6] = {1, 1.0 / 3, 0.1, 1, 2, 0.1};
    for (int i = 0; i < 6; i++) CHECK_CLOSE(plan.p.input_scale[i], scale[i], 1e-12, 0);
    mcp_pilco_plan_free(&plan);
    close_world(&w);
}

static void check_refused(const char *set, const char *part)
{
    world          w;
    mcp_pilco_plan plan;
    mcp_error      e = {MCP_OK, ""};
    if (!open_world(&w, comparison, &set, 1)) return;
    CHECK(mcp_pilco_recognise(&plan, w.system, &e) == MCP_ERR_TASK);
    CHECK(plan.block == NULL);
    CHECK_HAS(e.text, part);
    close_world(&w);
}

CASE(what_moment_matching_cannot_take_is_said_in_one_sentence)
{
    check_refused("model.kernel=se + mp(2)", "kernel: se");
    check_refused("model.kernel=matern32", "kernel: se");
    check_refused("model.features=[p, dp, dtheta, sin(theta), cos(theta)*dp, u]", "\"cos(theta)*dp\"");
    check_refused("policy=10*tanh(rbf(10, p, dp, dtheta, sin(theta), cos(theta)))", "9*sin(s)");
    check_refused("policy=10*tanh(mlp(10, p, dp))", "9*sin(s)");
    check_refused("cost=1 - exp(-((abs(theta) - pi)/3)^2 - p^2)", "1 - exp(-Q/2)");
    check_refused("cost=1 - exp(-p^2 - 0.1*u^2)", "1 - exp(-Q/2)");
    check_refused("cost=1 - 0.5*exp(-p^2)", "1 - exp(-Q/2)");
    check_refused("cost=p^2", "1 - exp(-Q/2)");
}

CASE(the_metric_stands_in_for_a_cost_without_the_form)
{
    static const char *const set[] = {"cost=1 - exp(-((abs(theta) - pi)/3)^2 - p^2)",
                                      "metric=1 - exp(-(p^2 + (cos(theta) + 1)^2)/2)"};
    world                    w;
    mcp_pilco_plan           plan;
    if (!open_world(&w, comparison, set, 2)) return;
    REQUIRE_OK(mcp_pilco_recognise(&plan, w.system, err));
    CHECK(plan.metric == 1);
    mcp_pilco_plan_free(&plan);
    close_world(&w);
}

/* ---- cost forms */
static double two_angles(void *context, const double *x)
{
    (void)context;
    double a = sin(x[0]) + 2 * sin(x[1]) - 0.3 * x[2], b = cos(x[0]) + 2 * cos(x[1]) - 3, c = x[2] - 0.5;
    return 1 - exp(-0.5 * (a * a + 2 * b * b + c * c));
}
static double shallow(void *context, const double *x)
{
    (void)context;
    return 1 - exp(-0.5 * (1 + x[0] * x[0] + x[1] * x[1] + x[2] * x[2]));
}
CASE(cost_of_a_double_pendulums_tip_is_recognised)
{
    static const int angle[2] = {0, 1};
    double           z[7], W[49];
    int              has = 0;
    CHECK_OK(mcp_cost_form(&(mcp_cost_question){3, 2, angle, two_angles, NULL}, z, W, &has, err));
    CHECK(has == 1);
    for (int t = 0; t < 20; t++) {
        double x[3] = {0.1 * t, sin(t), 0.2 * t - 2},
               a[7] = {x[0], x[1], x[2], sin(x[0]), cos(x[0]), sin(x[1]), cos(x[1])}, q = 0;
        for (int i = 0; i < 7; i++)
            for (int j = 0; j < 7; j++) q += (a[i] - z[i]) * W[i * 7 + j] * (a[j] - z[j]);
        CHECK_CLOSE(1 - exp(-0.5 * q), two_angles(NULL, x), 0, 1e-3);
    }
    CHECK_OK(mcp_cost_form(&(mcp_cost_question){3, 0, NULL, shallow, NULL}, z, W, &has, err));
    CHECK(has == 0);
}

/* ---- BFGS */
static double rosenbrock(void *context, const double *x, double *g)
{
    int n = *(int *)context;
    if (fabs(x[0]) > 3) return INFINITY; /* no value far out */
    double f = 0;
    memset(g, 0, (size_t)n * sizeof *g);
    for (int i = 0; i + 1 < n; i++) {
        double a = x[i + 1] - x[i] * x[i], b = 1 - x[i];
        f += 100 * a * a + b * b;
        g[i] += -400 * a * x[i] - 2 * b;
        g[i + 1] += 200 * a;
    }
    return f;
}
static int stop_at_three(void *context, int evaluation, double f, double norm, double step)
{
    (void)context, (void)f, (void)norm, (void)step;
    return evaluation == 3;
}
CASE(a_descent_finds_the_minimum_of_a_curved_valley)
{
    int                  n = 8;
    double               x[8];
    mcp_descent_settings s = {.evaluations_max = 400, .tolerance = 1e-14, .plateau = INFINITY};
    mcp_descent_info     info;
    for (int i = 0; i < n; i++) x[i] = i % 2 ? 1 : -1.2;
    REQUIRE_OK(mcp_descent(n, x, rosenbrock, NULL, &n, &s, &info, err));
    CHECK(info.f < 1e-12 || fabs(info.f - 3.98) < 0.1); /* the valley of 8 has a second, local minimum */
    CHECK(info.evaluations <= 200);
    x[0] = 9;
    mcp_error e;
    CHECK(mcp_descent(n, x, rosenbrock, NULL, &n, &s, &info, &e) == MCP_ERR_NUMERIC);
    for (int i = 0; i < n; i++) x[i] = 0;
    REQUIRE_OK(mcp_descent(n, x, rosenbrock, stop_at_three, &n, &s, &info, err));
    CHECK(info.stopped && info.evaluations == 3);
}

CASE(black_drops_refuses_policies_it_cannot_search)
{
    static const char *const big[] = {"policy=10*tanh(rbf(300, p, dp, dtheta, sin(theta), cos(theta)))"};
    static const char *const none[] = {"policy=-p"};
    world                    w;
    mcp_error                e = {MCP_OK, ""};
    if (!open_world(&w, comparison, big, 1)) return;
    CHECK(mcp_blackdrops_check(w.system, &e) == MCP_ERR_TASK);
    CHECK_HAS(e.text, "too many");
    close_world(&w);
    if (!open_world(&w, comparison, none, 1)) return;
    CHECK(mcp_blackdrops_check(w.system, &e) == MCP_ERR_TASK);
    CHECK_HAS(e.text, "no parameters");
    close_world(&w);
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(cartpole_is_recognised);
    RUN(integrated_velocities_and_scaled_features_are_recognised);
    RUN(what_moment_matching_cannot_take_is_said_in_one_sentence);
    RUN(the_metric_stands_in_for_a_cost_without_the_form);
    RUN(cost_of_a_double_pendulums_tip_is_recognised);
    RUN(a_descent_finds_the_minimum_of_a_curved_valley);
    RUN(black_drops_refuses_policies_it_cannot_search);
    return DONE();
}
