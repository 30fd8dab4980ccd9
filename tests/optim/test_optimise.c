/* test_optimise.c - whole policy optimisations on a small system. */
#include "optim/mc_pilco.h"
#include "small_system.h"

CASE(every_rule_lowers_the_cost_on_the_fixed_noise)
{
    for (int rule = 0; rule < 3; rule++) {
        fixture           f = {0};
        mcp_optimise_info info;
        if (!make(&f, &usual)) return;
        f.task->optimise.stop_rule = rule;
        mcp_optimise_request q = request_of(&f);
        REQUIRE_OK(mcp_policy_optimise(&q, 0, f.theta, &info, err));
        if (!(info.cost_last < 0.97 * info.cost_first))
            FAIL_("rule %d: %g -> %g", rule, info.cost_first, info.cost_last);
        CHECK(info.steps > 0 && info.steps <= 60 && info.history && info.restarts == 0);
        CHECK(rule == 0 || info.steps == 60);
        CHECK(info.outcome == MCP_CONVERGED || (info.outcome == MCP_STEPS_MAX && info.steps == 60));
        for (int i = 0; i < info.steps; i++) CHECK(isfinite(info.history[i]) && info.rate_history[i] > 0.0);
        CHECK(rule != 2 || info.rate_history[info.steps - 1] < 0.004);
        release(&info);
        fixture_free(&f);
    }
}

CASE(plateau_halves_the_rate_to_its_least_and_ends_on_the_best)
{
    fixture           f = {0};
    mcp_optimise_info info;
    if (!make(&f, &usual)) return;
    f.task->optimise.gain = 0.9; /* nothing counts as a gain: lowered at 20, stop at 40 */
    mcp_optimise_request q = request_of(&f);
    REQUIRE_OK(mcp_policy_optimise(&q, 0, f.theta, &info, err));
    CHECK(info.outcome == MCP_CONVERGED && info.steps == 40);
    CHECK(info.rate_history[19] == 0.03 && info.rate_history[20] == 0.015);
    CHECK(info.cost_last < info.cost_first);
    release(&info);
    fixture_free(&f);
}

CASE(threads_do_not_change_the_policy_found)
{
    fixture  f = {0};
    double  *other;
    mcp_pool *pool = NULL;
    if (!make(&f, &usual)) return;
    other = mcp_calloc((size_t)f.params, sizeof *other);
    mcp_optimise_request q = request_of(&f);
    f.task->optimise.candidates = 1;
    CHECK_OK(mcp_policy_optimise(&q, 0, f.theta, NULL, err));
    CHECK_OK(mcp_pool_create(&pool, 3, err));
    q.pool = pool;
    CHECK_OK(mcp_policy_optimise(&q, 0, other, NULL, err));
    CHECK(!memcmp(other, f.theta, (size_t)f.params * sizeof *other));
    mcp_pool_free(pool);
    mcp_free(other);
    fixture_free(&f);
}

CASE(a_policy_that_works_stays_unless_much_is_promised)
{
    fixture           f = {0};
    mcp_optimise_info info;
    if (!make(&f, &usual)) return;
    double *start = mcp_calloc((size_t)f.params, sizeof *start);
    memcpy(start, f.theta, (size_t)f.params * sizeof *start);
    mcp_optimise_request q = request_of(&f);
    q.incumbent_works = 1;
    f.task->optimise.incumbent_gain = 0.95;
    CHECK_OK(mcp_policy_optimise(&q, 1, f.theta, &info, err));
    CHECK(info.outcome == MCP_KEPT_INCUMBENT && info.cost_last == info.cost_first);
    CHECK(!memcmp(start, f.theta, (size_t)f.params * sizeof *start));
    release(&info);
    f.task->optimise.incumbent_gain = 0.02;
    CHECK_OK(mcp_policy_optimise(&q, 1, f.theta, &info, err));
    CHECK(info.outcome != MCP_KEPT_INCUMBENT && info.cost_last < 0.98 * info.cost_first);
    CHECK(memcmp(start, f.theta, (size_t)f.params * sizeof *start));
    release(&info);
    mcp_free(start);
    fixture_free(&f);
}

/* Cost and rate of the first step. */
static void first_step(const char *success, int works, double stress, double *cost, double *rate)
{
    fixture           f = {0};
    mcp_optimise_info info = {0};
    parts             p = usual;
    char             *more = mcp_sprintf("state: [p, dp, theta, dtheta]\n"
                                         "plant: {ode: {dp: u, dtheta: -sin(theta) - u}}\n"
                                         "success: {when: %s, last: 0.2}", success);
    p.more = more;
    *cost = *rate = NAN;
    if (make(&f, &p)) {
        mcp_optimise_request q = request_of(&f);
        q.incumbent_works = works;
        f.task->optimise.stress = stress;
        f.task->optimise.start_particles = 1.0;
        f.task->optimise.dropout = 0.0;
        f.task->optimise.steps = 2;
        CHECK_OK(mcp_policy_optimise(&q, 1, f.theta, &info, err));
        *cost = info.history[0];
        *rate = info.rate_history[0];
        release(&info);
    }
    fixture_free(&f);
    mcp_free(more);
}

/* A policy that works is polished on the robot's noise; one that fails for some of the particles is optimised
 * like any other, on the judges'. */
CASE(what_fails_now_and_then_is_met_more_often)
{
    double usual_cost, usual_rate, cost, rate;
    first_step("dp < 1e3", 0, 1.4, &usual_cost, &usual_rate);
    first_step("dp < 1e3", 1, 1.4, &cost, &rate);
    CHECK(cost == usual_cost && rate < usual_rate);
    first_step("dp > 1e3", 1, 1.4, &cost, &rate);
    CHECK(fabs(cost - usual_cost) > 1e-6 * fabs(usual_cost) && rate == usual_rate);
    first_step("dp > 1e3", 1, 1.0, &cost, &rate);
    CHECK(cost == usual_cost && rate == usual_rate);
}

/* Of a cost that was a hundred times as high the last bit is not worth a risk. */
CASE(a_gain_is_measured_by_what_a_trial_can_cost)
{
    fixture           f = {0};
    mcp_optimise_info info;
    if (!make(&f, &usual)) return;
    mcp_optimise_request q = request_of(&f);
    q.incumbent_works = 1;
    f.task->optimise.incumbent_gain = 0.02;
    CHECK(mcp_incumbent_yields(&q, 5.0, 0.101, 0.0) && !mcp_incumbent_yields(&q, 5.0, 0.099, 0.0));
    q.cost_scale = NAN;
    CHECK(mcp_incumbent_yields(&q, 5.0, 0.101, 0.0) && !mcp_incumbent_yields(&q, 5.0, 0.099, 0.0));
    q.cost_scale = 1e4;
    CHECK(mcp_incumbent_yields(&q, 5.0, 200.1, 0.0) && !mcp_incumbent_yields(&q, 5.0, 199.9, 0.0));
    /* fewer failures are worth it, unless they cost more than they are */
    CHECK(mcp_incumbent_yields(&q, 5.0, 0.01, 0.02) && !mcp_incumbent_yields(&q, 5.0, -0.01, 0.02));
    CHECK(!mcp_incumbent_yields(&q, 5.0, 0.01, 0.01));
    CHECK_OK(mcp_policy_optimise(&q, 1, f.theta, &info, err));
    CHECK(info.outcome == MCP_KEPT_INCUMBENT && info.cost_last == info.cost_first);
    release(&info);
    fixture_free(&f);
}

CASE(a_policy_of_nan_is_replaced_and_that_is_said)
{
    fixture           f = {0};
    mcp_optimise_info info;
    if (!make(&f, &usual)) return;
    mcp_optimise_request q = request_of(&f);
    for (int i = 0; i < f.params; i++) f.theta[i] = NAN;
    REQUIRE_OK(mcp_policy_optimise(&q, 1, f.theta, &info, err));
    CHECK(info.restarts == 1 && info.resampled == 10);
    CHECK(isfinite(info.cost_last));
    for (int i = 0; i < f.params; i++) CHECK(isfinite(f.theta[i]));
    release(&info);
    fixture_free(&f);
}

CASE(a_policy_that_can_only_give_nan_is_an_error)
{
    fixture           f = {0};
    mcp_optimise_info info;
    mcp_error         err = {MCP_OK, ""};
    if (!make(&f, &(const parts){.policy = "3*tanh(log(param(a, -4) + p))"})) return;
    mcp_optimise_request q = request_of(&f);
    CHECK(mcp_policy_optimise(&q, 0, f.theta, &info, &err) == MCP_ERR_NUMERIC);
    CHECK(info.restarts == 5 && info.history == NULL);
    CHECK_HAS(err.text, "particles");
    fixture_free(&f);
}

static int stop_at_7(void *context, const mcp_progress *p)
{
    int *calls = context;
    CHECK(p->step == ++*calls && p->steps_max == 60 && isfinite(p->cost) && p->gradient_norm > 0.0);
    return p->step == 7;
}

CASE(a_budget_ends_the_optimisation_and_counts_the_same_everywhere)
{
    fixture           f = {0};
    mcp_optimise_info info, whole;
    if (!make(&f, &usual)) return;
    f.task->optimise.patience = 1000;
    mcp_optimise_request q = request_of(&f);
    REQUIRE_OK(mcp_policy_optimise(&q, 0, f.theta, &whole, err));
    CHECK(whole.outcome == MCP_STEPS_MAX && whole.steps == 60 && whole.work > 0.0);
    q.work_max = 0.5 * whole.work;
    mcp_pool *pool = NULL;
    CHECK_OK(mcp_pool_create(&pool, 2, err));
    q.pool = pool;
    REQUIRE_OK(mcp_policy_optimise(&q, 0, f.theta, &info, err));
    CHECK(info.outcome == MCP_BUDGET_SPENT && info.steps > 20 && info.steps < 40);
    CHECK(info.work > q.work_max && info.work < 1.3 * q.work_max && isfinite(info.cost_last));
    /* the same steps until its last quarter, which has a lower rate */
    CHECK(!memcmp(info.history, whole.history, (size_t)(info.steps / 2) * sizeof *info.history));
    CHECK(info.rate_history[info.steps - 1] < info.rate_history[info.steps / 2]);
    mcp_pool_free(pool);
    release(&info);
    release(&whole);
    fixture_free(&f);
}

CASE(the_budget_doubles_while_policies_fail_as_forecast)
{
    fixture             f = {0};
    mcp_optimise_info   info;
    double              work[6];
    static const double expected[6] = {1.0, 2.0, 4.0, 8.0, 8.0, 8.0};
    if (!make(&f, &usual)) return;
    f.task->optimise.patience = 10000;
    f.task->optimise.steps = 10000;
    f.task->optimise.budget = 20.0;
    mcp_optimise_request q = request_of(&f);
    for (int k = 0; k < 6; k++) {
        mcp_algorithm_input in = {.system = q.system,
                                  .gp = q.gp,
                                  .pool = q.pool,
                                  .seed = q.seed,
                                  .number = 2,
                                  .cost_scale = q.cost_scale,
                                  .foreseen = k};
        REQUIRE_OK(mcp_mc_pilco4pms_improve(&in, f.theta, &info, err));
        CHECK(info.outcome == MCP_BUDGET_SPENT);
        work[k] = info.work;
        release(&info);
        CHECK(work[k] >= 20.0 * expected[k] && work[k] < 20.0 * expected[k] + 10.0);
    }
    fixture_free(&f);
}

/* A warm start that leans against a wall of the cost: only a fresh policy can leave it. */
CASE(a_warm_start_that_gains_nothing_gets_a_rival)
{
    const parts wall = {.model_more = usual.model_more,
                        .policy = "3*tanh(param(a, 0) + rbf(5, p, dp, dtheta, cos(theta), sin(theta))/3)",
                        .cost = usual.cost};
    fixture             f = {0};
    mcp_optimise_info   info[3];
    if (!make(&f, &wall)) return;
    mcp_optimise_request q = request_of(&f);
    for (int tries = 0; tries < 3; tries++) {
        f.task->optimise.second_try = tries ? 3 : 0;
        mcp_algorithm_input in = {.system = q.system,
                                  .gp = q.gp,
                                  .seed = q.seed,
                                  .number = 2,
                                  .cost_scale = tries == 2 ? 100.0 : 9.0,
                                  .warm = 1};
        for (int i = 0; i < f.params; i++) f.theta[i] = 0.0;
        f.theta[group(&f, MCP_PARAM_SCALAR)->offset] = -9.0; /* full speed backwards, where tanh is flat */
        REQUIRE_OK(mcp_mc_pilco4pms_improve(&in, f.theta, &info[tries], err));
    }
    CHECK(info[1].steps > info[0].steps);
    CHECK(info[0].cost_last > 0.99 * info[0].cost_first);
    CHECK(info[1].cost_last < 0.97 * info[0].cost_last);
    CHECK(info[2].steps == info[0].steps); /* of what trials have cost that is little: nothing is missing */
    for (int i = 0; i < 3; i++) release(&info[i]);
    fixture_free(&f);
}

CASE(a_start_without_any_slope_is_called_stuck)
{
    fixture           f = {0};
    mcp_optimise_info info;
    if (!make(&f, &(const parts){.policy = usual.policy, .cost = "1 + 0*dp"})) return;
    mcp_optimise_request q = request_of(&f);
    REQUIRE_OK(mcp_policy_optimise(&q, 0, f.theta, &info, err));
    CHECK(info.outcome == MCP_STUCK && info.cost_last == info.cost_first);
    release(&info);
    fixture_free(&f);
}

CASE(a_start_far_behind_its_rival_is_dropped)
{
    fixture           f = {0};
    mcp_optimise_info info;
    if (!make(&f, &usual)) return;
    f.task->optimise.steps = 1000;
    f.task->optimise.patience = 1000;
    mcp_optimise_request q = request_of(&f);
    q.rival = 1e-6;
    REQUIRE_OK(mcp_policy_optimise(&q, 0, f.theta, &info, err));
    CHECK(info.steps == 200);
    release(&info);
    fixture_free(&f);
}

CASE(horizon_and_starts_near_the_goal_change_the_way_and_not_the_judgement)
{
    fixture           f = {0};
    mcp_optimise_info plain, other;
    if (!make(&f, &usual)) return;
    mcp_optimise_request q = request_of(&f);
    REQUIRE_OK(mcp_policy_optimise(&q, 0, f.theta, &plain, err));
    for (int k = 0; k < 2; k++) {
        f.task->optimise.horizon = k == 0 ? 5.0 / f.task->rate : 0.0;
        f.task->optimise.near_goal = k == 1 ? 0.25 : 0.0;
        REQUIRE_OK(mcp_policy_optimise(&q, 0, f.theta, &other, err));
        CHECK(other.cost_first == plain.cost_first && other.cost_last < other.cost_first);
        CHECK(other.history[0] != plain.history[0]);
        if (k == 0) CHECK(other.history[0] < plain.history[0] && other.work < plain.work);
        release(&other);
    }
    release(&plain);
    fixture_free(&f);
}

CASE(the_callback_sees_every_step_and_can_stop)
{
    fixture           f = {0};
    mcp_optimise_info info;
    int               calls = 0;
    if (!make(&f, &usual)) return;
    mcp_optimise_request q = request_of(&f);
    q.progress = stop_at_7;
    q.progress_context = &calls;
    REQUIRE_OK(mcp_policy_optimise(&q, 0, f.theta, &info, err));
    CHECK(info.outcome == MCP_INTERRUPTED && info.steps == 7 && calls == 7);
    release(&info);
    fixture_free(&f);
}

CASE(a_poor_sparse_posterior_is_tightened_until_gradients_agree)
{
    fixture           f = {0};
    mcp_optimise_info info;
    if (!make(&f, &usual)) return;
    mcp_optimise_request q = request_of(&f);
    f.task->optimise.steps = 2;
    f.task->model.posterior.type = MCP_POSTERIOR_SPARSE;
    f.task->model.posterior.tolerance = 0.1;
    f.task->model.posterior.points_max = 3; /* far too few */
    f.task->model.self_check = 0;
    REQUIRE_OK(mcp_policy_optimise(&q, 0, f.theta, &info, err));
    CHECK(isnan(info.check_cosine) && info.tolerance == 0.1 && info.points == 3);
    int few = info.points;
    release(&info);
    f.task->model.self_check = 1;
    REQUIRE_OK(mcp_policy_optimise(&q, 0, f.theta, &info, err));
    if (!(info.check_cosine >= 0.99 && info.tolerance < 0.1 && info.points > few))
        FAIL_("cosine %g, tolerance %g, %d -> %d points", info.check_cosine, info.tolerance, few,
              info.points);
    release(&info);
    fixture_free(&f);
}

CASE(bad_settings_are_refused)
{
    fixture              f = {0};
    mcp_error            err = {MCP_OK, ""};
    if (!make(&f, &usual)) return;
    mcp_optimise_request q = request_of(&f);
    f.task->optimise.particles = 0;
    CHECK(mcp_policy_optimise(&q, 0, f.theta, NULL, &err) == MCP_ERR_ARG);
    CHECK_HAS(err.text, "particles");
    f.task->optimise.particles = 16;
    f.task->optimise.step_size = NAN;
    CHECK(mcp_policy_optimise(&q, 0, f.theta, NULL, &err) == MCP_ERR_ARG);
    f.task->optimise.step_size = 0.01;
    f.task->optimise.dropout = 1.0;
    CHECK(mcp_policy_optimise(&q, 0, f.theta, NULL, &err) == MCP_ERR_ARG);
    fixture_free(&f);
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(every_rule_lowers_the_cost_on_the_fixed_noise);
    RUN(plateau_halves_the_rate_to_its_least_and_ends_on_the_best);
    RUN(threads_do_not_change_the_policy_found);
    RUN(a_budget_ends_the_optimisation_and_counts_the_same_everywhere);
    RUN(the_budget_doubles_while_policies_fail_as_forecast);
    RUN(a_warm_start_that_gains_nothing_gets_a_rival);
    RUN(a_start_without_any_slope_is_called_stuck);
    RUN(a_start_far_behind_its_rival_is_dropped);
    RUN(horizon_and_starts_near_the_goal_change_the_way_and_not_the_judgement);
    RUN(a_policy_that_works_stays_unless_much_is_promised);
    RUN(what_fails_now_and_then_is_met_more_often);
    RUN(a_gain_is_measured_by_what_a_trial_can_cost);
    RUN(a_policy_of_nan_is_replaced_and_that_is_said);
    RUN(a_policy_that_can_only_give_nan_is_an_error);
    RUN(the_callback_sees_every_step_and_can_stop);
    RUN(a_poor_sparse_posterior_is_tightened_until_gradients_agree);
    RUN(bad_settings_are_refused);
    return DONE();
}
