/* test_plant.c - plants behind one interface and the loop that runs a trial on them. */
#include "bench.h"
#include "io/csv.h"
#include "plant/plant_parts.h"
#include "plain_rig.h"

/* The functions of another plant, without its measurements. */
static mcp_status bare_reset(void *inner, const double *x0, uint64_t seed, uint32_t trial, uint32_t run,
                             mcp_sample *first, mcp_error *why)
{
    mcp_plant *p = inner;
    mcp_status st = p->ops.reset(p->context, x0, seed, trial, run, first, why);
    for (int i = 0; i < MCP_SAMPLE_STATES; i++) first->measured[i] = NAN;
    return st;
}

static mcp_status bare_step(void *inner, const double *u, mcp_sample *next, mcp_error *why)
{
    mcp_plant *p = inner;
    mcp_status st = p->ops.step(p->context, u, next, why);
    for (int i = 0; i < MCP_SAMPLE_STATES; i++) next->measured[i] = NAN;
    return st;
}

static mcp_status bare_stop(void *inner, const double *u, mcp_error *why)
{
    mcp_plant *p = inner;
    return p->ops.stop(p->context, u, why);
}

CASE(a_callback_plant_that_tells_its_state_gets_the_sensors_of_the_task)
{
    const mcp_plant_ops bare = {.reset = bare_reset, .step = bare_step, .stop = bare_stop};
    const bench_parts   parts = {.measured = "{q: {noise: 0.01, resolution: 1e-3, delay: 2}}",
                                 .start = "{std: 0.1}",
                                 .plant = "{ode: {v: 'u - 4*q'}}"};
    rig                 inner, outer;
    REQUIRE(rig_open(&inner, bench_task(parts), NULL, NULL));
    REQUIRE(rig_open(&outer, bench_task(parts), &bare, inner.plant));
    CHECK_OK(explore(&inner, 1, 3, err));
    CHECK_OK(explore(&outer, 1, 3, err));
    CHECK(outer.trial->samples == inner.trial->samples);
    for (int k = 0; k < inner.trial->samples; k++)
        CHECK(outer.trial->measured[k] == inner.trial->measured[k]);
    rig_close(&outer);
    rig_close(&inner);
}

CASE(a_trial_depends_on_seed_trial_and_run_only)
{
    rig    r;
    double first[101 * 2];
    REQUIRE(rig_open(&r, bench_task((bench_parts){.explore = "{type: uniform}"}), NULL, NULL));
    CHECK_OK(explore(&r, 2, 0, err));
    memcpy(first, r.trial->truth, sizeof first);
    CHECK_OK(explore(&r, 3, 0, err));
    CHECK(memcmp(first, r.trial->truth, sizeof first));
    CHECK_OK(explore(&r, 2, 1, err));
    CHECK(first[0] != r.trial->truth[0]);
    CHECK_OK(explore(&r, 2, 0, err));
    CHECK(!memcmp(first, r.trial->truth, sizeof first));
    rig_close(&r);
}

CASE(actuator_delay_shows_in_applied_and_in_the_motion)
{
    rig r;
    REQUIRE(rig_open(&r,
                     bench_task((bench_parts){.inputs = "{u: {limit: 2, delay: 3}}",
                                              .explore = "{type: uniform}",
                                              .start = "{std: 0}"}),
                     NULL, NULL));
    CHECK_OK(explore(&r, 0, 0, err));
    for (int k = 0; k + 1 < r.trial->samples; k++)
        CHECK(r.trial->applied[k] == (k < 3 ? 0.0 : r.trial->input[k - 3]));
    CHECK(r.trial->truth[2 * 3 + 1] == 0.0 && r.trial->truth[2 * 4 + 1] != 0.0);
    rig_close(&r);
}

CASE(slew_limit_holds_while_exploring)
{
    rig r;
    REQUIRE(rig_open(
        &r, bench_task((bench_parts){.inputs = "{u: {limit: 2, slew: 10}}", .explore = "{type: uniform}"}),
        NULL, NULL));
    CHECK_OK(explore(&r, 0, 0, err));
    double last = 0.0, most = 0.0;
    for (int k = 0; k + 1 < r.trial->samples; k++) {
        most = fmax(most, fabs(r.trial->input[k] - last));
        last = r.trial->input[k];
    }
    CHECK_CLOSE(most, 10 * 0.02, 1e-12, 0);
    rig_close(&r);
}

CASE(a_trial_is_scored_by_the_input_that_reached_the_plant)
{
    rig       r;
    mcp_score s;
    REQUIRE(rig_open(&r,
                     bench_task((bench_parts){.inputs = "{u: {limit: 2, delay: 3}}", .more = "metric: u\n"}),
                     NULL, NULL));
    CHECK_OK(explore(&r, 0, 0, err));
    mcp_trial_score(r.system, r.trial, r.trial->truth, &s);
    double applied = 0.0, commanded = 0.0;
    for (int k = 0; k < 100; k++) {
        applied += r.trial->applied[k];
        commanded += r.trial->input[k];
    }
    CHECK_CLOSE(s.metric, applied + r.trial->applied[99], 1e-9, 1e-9);
    CHECK(fabs(applied - commanded) > 1e-3);
    rig_close(&r);
}

CASE(a_limit_ends_the_trial_and_its_data_is_kept)
{
    rig r;
    REQUIRE(rig_open(&r,
                     bench_task((bench_parts){.start = "{mean: [0, 1], std: 0}",
                                              .plant = "{ode: {v: 0*u}}",
                                              .more = "limits: {wall: q > 0.51}\n"}),
                     NULL, NULL));
    CHECK_OK(explore(&r, 0, 0, err));
    CHECK(r.trial->ended);
    CHECK_HAS(r.trial->reason, "limit wall");
    CHECK(r.trial->samples == 27); /* q = 0.52 at sample 26 */
    CHECK(isnan(r.trial->input[26]) && !isnan(r.trial->input[25]));
    mcp_score s;
    mcp_trial_score(r.system, r.trial, r.trial->truth, &s);
    CHECK(s.limit == 1 && !s.success);
    rig_close(&r);
}

/* The user's own plant: counts calls, fails or ends where told. */
typedef struct {
    int    k, lose_at, end_at, nan_at, stops, wrapped;
    double safe, last_u;
} toy;

static mcp_status toy_sample(toy *t, mcp_sample *s, mcp_error *err)
{
    if (t->lose_at && t->k >= t->lose_at) return mcp_fail(err, MCP_ERR_PLANT, "the toy broke");
    s->time        = 0.02 * t->k;
    s->measured[0] = t->nan_at && t->k >= t->nan_at ? NAN : 0.1 * t->k;
    if (t->wrapped) s->measured[0] = remainder(0.1 * t->k, 6.283185307179586);
    if (t->end_at && t->k >= t->end_at) {
        s->ended = 1;
        snprintf(s->reason, sizeof s->reason, "hit the rail");
    }
    t->k++;
    return MCP_OK;
}

static mcp_status toy_reset(void *c, const double *x0, uint64_t seed, uint32_t trial, uint32_t run,
                            mcp_sample *first, mcp_error *err)
{
    toy *t = c;
    (void)x0, (void)seed, (void)trial, (void)run;
    t->k = 0;
    return toy_sample(t, first, err);
}

static mcp_status toy_step(void *c, const double *u, mcp_sample *next, mcp_error *err)
{
    ((toy *)c)->last_u = u[0];
    return toy_sample(c, next, err);
}

static mcp_status toy_stop(void *c, const double *safe, mcp_error *err)
{
    toy *t = c;
    (void)err;
    t->stops++;
    t->safe = safe[0];
    return MCP_OK;
}

static const mcp_plant_ops toy_ops = {toy_reset, toy_step, toy_stop, NULL};

static mcp_task *toy_task(const char *more)
{
    return bench_task((bench_parts){.plant = "{callback: yes}",
                                    .explore = "{type: uniform}",
                                    .measured = "{q: {noise: 1e-3, wraps: yes}}",
                                    .more = more});
}

CASE(callback_plant_is_run_and_stopped_with_zero)
{
    rig r;
    toy t = {.safe = 9};
    REQUIRE(rig_open(&r, toy_task(NULL), &toy_ops, &t));
    CHECK_OK(explore(&r, 0, 0, err));
    CHECK(t.k == 101 && t.stops == 1 && t.safe == 0.0);
    CHECK(isnan(r.trial->truth[0]));
    CHECK_CLOSE(r.trial->observed[2 * 10], 1.0, 1e-12, 0);
    CHECK_CLOSE(r.trial->observed[2 * 10 + 1], 5.0, 1e-9, 0); /* 0.1 per 0.02 s */
    rig_close(&r);
}

CASE(a_plant_may_end_a_trial)
{
    rig r;
    toy t = {.end_at = 40};
    REQUIRE(rig_open(&r, toy_task(NULL), &toy_ops, &t));
    CHECK_OK(explore(&r, 0, 0, err));
    CHECK(r.trial->samples == 41 && r.trial->ended && t.stops == 1);
    CHECK_HAS(r.trial->reason, "hit the rail");
    rig_close(&r);
}

CASE(a_lost_plant_is_an_error_with_the_data_kept_and_stop_sent)
{
    rig       r;
    toy       t = {.lose_at = 30};
    mcp_error why = {MCP_OK, ""};
    REQUIRE(rig_open(&r, toy_task("safe: hold\n"), &toy_ops, &t));
    CHECK(explore(&r, 0, 0, &why) == MCP_ERR_PLANT);
    CHECK_HAS(why.text, "the toy broke");
    CHECK(r.trial->samples == 30 && r.trial->ended && t.stops == 1 && t.safe == t.last_u);
    rig_close(&r);
}

CASE(a_measurement_that_is_not_a_number_ends_the_trial)
{
    rig       r;
    toy       t = {.nan_at = 10};
    mcp_error why = {MCP_OK, ""};
    REQUIRE(rig_open(&r, toy_task("safe: '-0.5*q'\n"), &toy_ops, &t));
    CHECK(explore(&r, 0, 0, &why) == MCP_ERR_PLANT);
    CHECK_HAS(why.text, "q = nan at sample 10");
    CHECK(r.trial->samples == 10 && t.stops == 1);
    CHECK_CLOSE(t.safe, -0.5 * 0.9, 1e-12, 0); /* the expression, at the last observed state */
    rig_close(&r);
}

CASE(limits_act_on_what_is_observed_when_the_truth_is_unknown)
{
    rig r;
    toy t = {0};
    REQUIRE(rig_open(&r, toy_task("limits: {far: q > 2.05}\n"), &toy_ops, &t));
    CHECK_OK(explore(&r, 0, 0, err));
    CHECK(r.trial->ended && r.trial->samples == 22);
    rig_close(&r);
}

CASE(angles_that_wrap_are_unwrapped_on_arrival)
{
    rig r;
    toy t = {.wrapped = 1};
    REQUIRE(rig_open(&r, toy_task(NULL), &toy_ops, &t));
    CHECK_OK(explore(&r, 0, 0, err));
    for (int k = 0; k < r.trial->samples; k++) CHECK_CLOSE(r.trial->measured[k], 0.1 * k, 0, 1e-9);
    CHECK_CLOSE(r.trial->observed[2 * 100], 10.0, 1e-9, 0);
    rig_close(&r);
}

static int stop_at_20(void *context, const mcp_trial *so_far)
{
    (void)context;
    return so_far->samples == 20;
}

CASE(a_stop_from_the_caller_keeps_the_data_and_sends_the_safe_input)
{
    rig       r;
    toy       t = {.safe = 9};
    mcp_error why = {MCP_OK, ""};
    REQUIRE(rig_open(&r, toy_task(NULL), &toy_ops, &t));
    CHECK(mcp_plant_run(r.plant, NULL, (mcp_trial_key){1, 0, 0}, stop_at_20, NULL, r.trial, &why) ==
          MCP_ERR_STOPPED);
    CHECK(r.trial->samples == 20 && t.stops == 1 && t.safe == 0.0);
    CHECK_HAS(r.trial->reason, "stopped");
    rig_close(&r);
}

CASE(a_policy_gets_the_observed_state_and_is_clamped)
{
    rig r;
    REQUIRE(rig_open(&r,
                     bench_task((bench_parts){.start = "{mean: [0.5, 0], std: 0}",
                                              .measured = "{q: 0}",
                                              .more = "policy: param(gain, -30)*q + param(damping, -1)*v\n"}),
                     NULL, NULL));
    double theta[2] = {-30, -1};
    CHECK_OK(mcp_plant_run(r.plant, theta, (mcp_trial_key){1, 1, 0}, NULL, NULL, r.trial, err));
    CHECK(!r.trial->explored && r.trial->samples == 101);
    for (int k = 0; k < 100; k++) {
        double q = r.trial->measured[k], v = k ? (q - r.trial->measured[k - 1]) / 0.02 : 0.0;
        CHECK_CLOSE(r.trial->observed[2 * k + 1], v, 0, 1e-9);
        CHECK_CLOSE(r.trial->input[k], fmax(-2, fmin(2, -30 * q - v)), 0, 1e-9);
    }
    CHECK(r.trial->input[0] == -2.0);
    rig_close(&r);
}

CASE(score_sums_the_cost_and_tests_the_last_seconds)
{
    rig       r;
    mcp_score s;
    REQUIRE(rig_open(&r,
                     bench_task((bench_parts){.start = "{mean: [1, -1], std: 0}",
                                              .plant = "{ode: {q: v, v: 0*u}}",
                                              .more = "success: {when: q < 0.01, last: 1.0}\nmetric: q\n"}),
                     NULL, NULL));
    CHECK_OK(explore(&r, 0, 0, err));
    mcp_trial_score(r.system, r.trial, r.trial->truth, &s);
    double cost = 0.0, metric = 0.0;
    for (int k = 0; k <= 100; k++) {
        cost += 1 - exp(-(1 - 0.02 * k) * (1 - 0.02 * k));
        metric += 1 - 0.02 * k;
    }
    CHECK_CLOSE(s.cost, cost, 1e-9, 0);
    CHECK_CLOSE(s.metric, metric, 1e-9, 1e-9);
    CHECK(s.success && !s.limit); /* q reaches 0 after exactly 1 s */
    r.task->metric_at = 1;
    mcp_trial_score(r.system, r.trial, r.trial->truth, &s);
    CHECK_CLOSE(s.metric, -1.0, 1e-9, 0);
    CHECK_CLOSE(s.cost, cost, 1e-9, 0);
    r.task->metric_at = 0;
    r.trial->truth[2 * 60] = 0.5;
    mcp_trial_score(r.system, r.trial, r.trial->truth, &s);
    CHECK(!s.success);
    r.trial->truth[2 * 60]  = 0.0;
    r.trial->truth[2 * 100] = NAN; /* ends without an estimate take their neighbour's */
    mcp_trial_score(r.system, r.trial, r.trial->truth, &s);
    CHECK(s.success && isfinite(s.cost));
    r.trial->samples = 100;
    mcp_trial_score(r.system, r.trial, r.trial->truth, &s);
    CHECK(!s.success);
    rig_close(&r);
}

CASE(recorded_trials_play_back_one_after_another)
{
    rig       r;
    mcp_error why = {MCP_OK, ""};
    FILE     *f = fopen("replay.csv", "w");
    REQUIRE(f);
    fprintf(f, "t,measured.q,applied.u\n");
    for (int k = 0; k < 101; k++) fprintf(f, "%.17g,%.17g,%.17g\n", 0.02 * k, 0.01 * k, 0.5);
    for (int k = 0; k < 40; k++) fprintf(f, "%.17g,%.17g,%.17g\n", 0.02 * k, 7.0 + k, -0.25);
    fclose(f);
    REQUIRE(rig_open(&r, bench_task((bench_parts){.plant = "{file: replay.csv}"}), NULL, NULL));
    CHECK_OK(explore(&r, 0, 0, err));
    CHECK(r.trial->samples == 101 && !r.trial->ended && r.trial->applied[50] == 0.5 &&
          r.trial->measured[50] == 0.5);
    CHECK_OK(explore(&r, 1, 0, err));
    CHECK(r.trial->samples == 40 && r.trial->ended && r.trial->measured[3] == 10.0 &&
          r.trial->applied[3] == -0.25);
    CHECK_HAS(r.trial->reason, "recording ends");
    CHECK(explore(&r, 2, 0, &why) == MCP_ERR_PLANT);
    CHECK_HAS(why.text, "all recorded trials have been played");
    rig_close(&r);
}

static void check_refused(const char *csv, const char *part)
{
    mcp_error   why = {MCP_OK, ""};
    mcp_system *s = NULL;
    mcp_plant  *p = NULL;
    mcp_task   *task = bench_task((bench_parts){.plant = "{file: refused.csv}"});
    FILE       *f = fopen("refused.csv", "w");
    REQUIRE(f && task);
    fputs(csv, f);
    fclose(f);
    REQUIRE_OK(mcp_system_create(&s, task, err));
    CHECK(mcp_plant_open(&p, s, &why) != MCP_OK && !p);
    CHECK_HAS(why.text, part);
    mcp_system_free(s);
    mcp_task_free(task);
}

CASE(recordings_that_do_not_fit_are_refused_with_a_reason)
{
    check_refused("t,q\n0,1\n0.02,1\n", "no column u");
    check_refused("t,u\n0,1\n0.02,1\n", "no column q");
    check_refused("t,q,u\n0,1,1\n0.05,1,1\n", "0.05 s after");
    check_refused("t,q,u\n0,1,x\n", "refused.csv");
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(a_callback_plant_that_tells_its_state_gets_the_sensors_of_the_task);
    RUN(a_trial_depends_on_seed_trial_and_run_only);
    RUN(actuator_delay_shows_in_applied_and_in_the_motion);
    RUN(slew_limit_holds_while_exploring);
    RUN(a_trial_is_scored_by_the_input_that_reached_the_plant);
    RUN(a_limit_ends_the_trial_and_its_data_is_kept);
    RUN(callback_plant_is_run_and_stopped_with_zero);
    RUN(a_plant_may_end_a_trial);
    RUN(a_lost_plant_is_an_error_with_the_data_kept_and_stop_sent);
    RUN(a_measurement_that_is_not_a_number_ends_the_trial);
    RUN(limits_act_on_what_is_observed_when_the_truth_is_unknown);
    RUN(angles_that_wrap_are_unwrapped_on_arrival);
    RUN(a_stop_from_the_caller_keeps_the_data_and_sends_the_safe_input);
    RUN(a_policy_gets_the_observed_state_and_is_clamped);
    RUN(score_sums_the_cost_and_tests_the_last_seconds);
    RUN(recorded_trials_play_back_one_after_another);
    RUN(recordings_that_do_not_fit_are_refused_with_a_reason);
    return DONE();
}
