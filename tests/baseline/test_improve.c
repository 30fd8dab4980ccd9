/* test_improve.c - both algorithms on one small system, in process: they improve, they stop when asked, they
 * answer every failing allocation, and they are pure functions of their input. */
#include "baseline/blackdrops/blackdrops.h"
#include "baseline/pilco/pilco.h"
#include "learn/algorithm_list.h"
#include "model/posterior.h"
#include "optim/policy_init.h"
#include "rollout/rollout.h"
#include "learn/fit.h"
#include "math/arena.h"
#include "plant/plant_handle.h"
#include "test.h"

static const char slide[] =
    "name: slide\nrate: 10\ntrial: 1.0\nstate: {p: m, v: m/s}\ninputs: {u: {limit: 2}}\n"
    "measured: {p: 1e-3, v: 1e-3}\nobserver: none\nsmoother: none\n"
    "model: {changes: [p, v], features: [p, v, u], kernel: se}\nlet: {s: 'rbf(4, p, v)'}\n"
    "policy: 2*(9*sin(s) + sin(3*s))/8\ncost: 1 - exp(-((p - 0.4)^2 + 0.1*v^2)/(2*0.3^2))\nstart: {std: "
    "0.01}\n"
    "explore: uniform\nsuccess: {when: abs(p - 0.4) < 0.25, last: 0.3}\nplant: {ode: {p: v, v: u - 0.5*v}}\n"
    "optimise: {particles: 8, evaluate_particles: 8, steps: 2}\n";

static mcp_task           *task;
static mcp_system         *sys;
static mcp_plant          *plant;
static mcp_trial          *trial;
static mcp_states         *states;
static mcp_fit            *fit;
static mcp_algorithm_input in;
static int                 stop_at, params;

static int progress(void *context, const mcp_progress *p)
{
    (void)context;
    return p->step >= stop_at;
}

static int set_up(void)
{
    mcp_error e = {MCP_OK, ""};
    if (mcp_task_parse(&task, "slide.yaml", slide, NULL, 0, &e) != MCP_OK ||
        mcp_system_create(&sys, task, &e) != MCP_OK || mcp_plant_open(&plant, sys, &e) != MCP_OK ||
        mcp_trial_create(&trial, task, &e) != MCP_OK ||
        mcp_plant_run(plant, NULL, (mcp_trial_key){1, 0, 0}, NULL, NULL, trial, &e) != MCP_OK ||
        mcp_estimate_states(&states, sys, trial, &e) != MCP_OK ||
        mcp_fit_create(&fit, sys, &(mcp_fit_data){1, &trial, &states, NULL, 1, 1, NULL}, NULL, &e) !=
            MCP_OK) {
        FAIL_("%s", e.text);
        return 0;
    }
    in = (mcp_algorithm_input){.system = sys,
                               .trials = 1,
                               .trial = &trial,
                               .states = &states,
                               .pairs = fit->pairs,
                               .gp = fit->gp,
                               .visited = fit->visited,
                               .visits = fit->visits,
                               .seed = 1,
                               .number = 1,
                               .progress = progress};
    params = mcp_program_params(sys->controller);
    return 1;
}

static void tear_down(void)
{
    mcp_fit_free(fit);
    mcp_states_free(states);
    mcp_trial_free(trial);
    mcp_plant_close(plant);
    mcp_system_free(sys);
    mcp_task_free(task);
}

typedef mcp_status improve_fn(const mcp_algorithm_input *, double *, mcp_optimise_info *, mcp_error *);

static mcp_status run(improve_fn *f, int warm, int stop, double *theta, mcp_optimise_info *info,
                      mcp_error *err)
{
    stop_at = stop;
    in.warm = warm;
    mcp_status st = f(&in, theta, info, err);
    if (st == MCP_OK)
        CHECK(info->history[info->steps - 1] > 0 &&
              info->rate_history[info->steps - 1] > 0); /* as long as it says */
    mcp_free(info->history);
    mcp_free(info->rate_history);
    info->history = info->rate_history = NULL;
    return st;
}

static void check_improves(improve_fn *f, int steps, double most)
{
    double            theta[64] = {0}, again[64] = {0};
    mcp_optimise_info a, b;
    REQUIRE(params <= 64);
    REQUIRE_OK(run(f, 0, steps, theta, &a, err));
    CHECK(a.cost_last < most * a.cost_first);
    CHECK(a.steps > 0 && a.seconds > 0);
    /* pure */
    REQUIRE_OK(run(f, 0, steps, again, &b, err));
    CHECK(!memcmp(theta, again, sizeof(double) * (size_t)params));
    CHECK(a.cost_last == b.cost_last);
    /* a warm start begins where the last one ended, and never ends worse */
    REQUIRE_OK(run(f, 1, 20, again, &b, err));
    CHECK_CLOSE(b.cost_first, a.cost_last, 1e-6, 0);
    CHECK(b.cost_last <= b.cost_first);
    /* stopping */
    REQUIRE_OK(run(f, 0, 2, again, &b, err));
    CHECK(b.outcome == MCP_INTERRUPTED && b.steps == 2);
}

CASE(pilco_improves_a_policy) { check_improves(mcp_pilco_improve, 60, 0.8); }
/* its first policy is already the best of a hundred: 3.81, where PILCO ends with 3.41 */
CASE(black_drops_improves_a_policy) { check_improves(mcp_blackdrops_improve, 300, 0.95); }

/* Two searches that have nothing in common but the model reach the same cost; the local one from the best of
 * four starts. */
CASE(both_find_the_same_cost)
{
    double            theta[64] = {0}, low = INFINITY;
    mcp_optimise_info a, b;
    for (in.seed = 1; in.seed <= 4; in.seed++) {
        REQUIRE_OK(run(mcp_pilco_improve, 0, 1000, theta, &a, err));
        low = fmin(low, a.cost_last);
    }
    in.seed = 1;
    REQUIRE_OK(run(mcp_blackdrops_improve, 0, 400, theta, &b, err));
    CHECK_CLOSE(b.cost_last, low, 0.05, 0);
}

/* What PILCO expects is what particles on the same model show. */
CASE(pilcos_expected_cost_agrees_with_particles)
{
    double                theta[64] = {0}, spread;
    mcp_optimise_info     info;
    mcp_posterior        *post[2] = {NULL, NULL};
    mcp_rollout          *r = NULL;
    mcp_posterior_settings ps = {.type = MCP_POSTERIOR_EXACT};
    mcp_rollout_settings  rs = {.particles = 4000, .steps = sys->steps};
    mcp_stream_noise      noise = {.system = sys, .seed = 5, .trial = 1, .step = 1};
    mcp_noise             fill = mcp_noise_from_stream(&noise);
    mcp_rollout_result    result = {0};
    REQUIRE_OK(run(mcp_pilco_improve, 0, 100, theta, &info, err));
    for (int g = 0; g < 2; g++)
        REQUIRE_OK(mcp_posterior_create(&post[g], fit->gp[g], &ps, mcp_isa_level(), NULL, err));
    REQUIRE_OK(mcp_rollout_create(&r, sys, post, &rs, NULL, err));
    REQUIRE_OK(mcp_rollout_run(r, theta, 0, &fill, &result, err));
    spread = result.J_std / sqrt(4000);
    CHECK_CLOSE(info.cost_last, result.J, 0.01, 4 * spread);
    mcp_rollout_free(r);
    for (int g = 0; g < 2; g++) mcp_posterior_free(post[g]);
}

static void check_memory(improve_fn *f, int warm, int stop, long tries)
{
    double            theta[64] = {0};
    mcp_optimise_info info;
    mcp_error         e = {MCP_OK, ""};
    mcp_alloc_fail_at(0);
    CHECK(run(f, warm, stop, theta, &info, &e) == MCP_OK);
    long all = mcp_alloc_count();
    CHECK(all > 5);
    for (long k = 1; k <= all; k += 1 + all / tries) {
        memset(&info, 0, sizeof info);
        memset(theta, 0, sizeof theta); /* a policy that has improved would go another way */
        e = (mcp_error){MCP_OK, ""};
        mcp_alloc_fail_at(k);
        mcp_status st = run(f, warm, stop, theta, &info, &e);
        mcp_alloc_fail_at(0);
        if (st != MCP_ERR_MEMORY) FAIL_("allocation %ld of %ld fails, but the status is %d", k, all, st);
        CHECK_HAS(e.text, "memory");
    }
}

CASE(pilco_answers_every_failing_allocation) { check_memory(mcp_pilco_improve, 0, 1, 60); }
CASE(black_drops_answers_every_failing_allocation) { check_memory(mcp_blackdrops_improve, 0, 1, 60); }

/* Before the third trial a warm start that is expected to fail gets company: its history is as long as both
 * together. */
CASE(particles_and_their_second_try_answer_every_failing_allocation)
{
    mcp_error            e = {MCP_OK, ""};
    const mcp_algorithm *a = mcp_algorithm_find("mc-pilco", &e);
    double               theta[64] = {0};
    mcp_optimise_info    info;
    REQUIRE(a);
    in.number = 3;
    REQUIRE_OK(run(a->improve, 1, 100, theta, &info, err));
    CHECK(info.steps == 4); /* two and two */
    check_memory(a->improve, 1, 100, 1000);
    in.number = 1;
}

/* A policy that succeeded by luck gets company too; one that succeeds with all particles does not. */
CASE(a_policy_that_worked_gets_a_rival_when_it_is_expected_to_fail)
{
    mcp_error            e = {MCP_OK, ""};
    const mcp_algorithm *a = mcp_algorithm_find("mc-pilco", &e);
    double               lucky[64] = {0}, good[64] = {0};
    mcp_optimise_info    info;
    REQUIRE(a);
    REQUIRE_OK(run(mcp_pilco_improve, 0, 1000, good, &info, err));
    in.number = 3;
    in.incumbent_works = 1;
    REQUIRE_OK(run(a->improve, 1, 100, lucky, &info, err));
    CHECK(info.steps == 4); /* two and two */
    REQUIRE_OK(run(a->improve, 1, 100, good, &info, err));
    CHECK(info.steps == 2);
    in.incumbent_works = 0;
    in.number = 1;
}

/* incumbent: no. Nothing is promised that would replace it, and yet it is given up. */
CASE(a_policy_that_worked_is_like_any_other_when_the_task_says_so)
{
    mcp_error            e = {MCP_OK, ""};
    const mcp_algorithm *a = mcp_algorithm_find("mc-pilco", &e);
    double               good[64] = {0}, theta[64];
    mcp_optimise_info    info;
    REQUIRE(a);
    REQUIRE_OK(run(mcp_pilco_improve, 0, 1000, good, &info, err));
    const mcp_optimise_settings before = task->optimise;
    in.incumbent_works = 1;
    task->optimise.incumbent_gain = 1.0;
    task->optimise.stop_rule = 1; /* the monitor ends where it is */
    for (int incumbent = 0; incumbent < 2; incumbent++) {
        task->optimise.incumbent = incumbent;
        memcpy(theta, good, sizeof theta);
        REQUIRE_OK(run(a->improve, 1, 100, theta, &info, err));
        CHECK((memcmp(theta, good, sizeof theta) == 0) == incumbent);
    }
    task->optimise = before;
    in.incumbent_works = 0;
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    if (!set_up()) return 1;
    RUN(pilco_improves_a_policy);
    RUN(black_drops_improves_a_policy);
    RUN(both_find_the_same_cost);
    RUN(pilcos_expected_cost_agrees_with_particles);
    RUN(pilco_answers_every_failing_allocation);
    RUN(black_drops_answers_every_failing_allocation);
    RUN(particles_and_their_second_try_answer_every_failing_allocation);
    RUN(a_policy_that_worked_gets_a_rival_when_it_is_expected_to_fail);
    RUN(a_policy_that_worked_is_like_any_other_when_the_task_says_so);
    tear_down();
    return DONE();
}
