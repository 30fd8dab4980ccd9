/* test_states.c - trials -> states -> GP pairs: alignment, what the ends lose, expected errors, known states,
 * memory. */
#include "../plant/bench.h"
#include "math/arena.h"
#include "estimate/estimate.h"
#include "math/arena.h"
#include "plant/plant_handle.h"

typedef struct {
    mcp_task   *task;
    mcp_system *system;
    mcp_plant  *plant;
    mcp_trial  *trial;
    mcp_states *states;
} rig;

static int rig_open(rig *r, mcp_task *task)
{
    mcp_error why = {MCP_OK, ""};
    *r = (rig){.task = task};
    if (!task) return 0;
    if (mcp_system_create(&r->system, task, &why) == MCP_OK &&
        mcp_plant_open(&r->plant, r->system, &why) == MCP_OK &&
        mcp_trial_create(&r->trial, task, &why) == MCP_OK &&
        mcp_plant_run(r->plant, NULL, (mcp_trial_key){3, 0, 0}, NULL, NULL, r->trial, &why) == MCP_OK &&
        mcp_estimate_states(&r->states, r->system, r->trial, &why) == MCP_OK)
        return 1;
    FAIL_("%s", why.text);
    return 0;
}

static void rig_close(rig *r)
{
    mcp_states_free(r->states);
    mcp_trial_free(r->trial);
    mcp_plant_close(r->plant);
    mcp_system_free(r->system);
    mcp_task_free(r->task);
}

CASE(measured_states_are_used_as_they_are)
{
    rig r;
    REQUIRE(rig_open(&r, bench_task((bench_parts){.measured = "{q: 1e-3, v: 0.02}", .smoother = "none"})));
    CHECK(r.states->first == 0 && r.states->count == 101);
    CHECK(!memcmp(r.states->state, r.trial->measured, 202 * sizeof(double)));
    CHECK_CLOSE(r.states->change_std[0], sqrt(2.0) * 0.02, 1e-12, 0);
    rig_close(&r);
}

CASE(central_difference_drops_the_ends_and_keeps_the_positions)
{
    rig r;
    REQUIRE(rig_open(&r, bench_task((bench_parts){.smoother = "central-difference"})));
    CHECK(r.states->first == 1 && r.states->count == 99);
    for (int k = 0; k < 99; k++) {
        CHECK(r.states->state[2 * k] == r.trial->measured[k + 1]);
        CHECK_CLOSE(r.states->state[2 * k + 1], (r.trial->measured[k + 2] - r.trial->measured[k]) / 0.04,
                    1e-12, 1e-14);
    }
    CHECK_CLOSE(r.states->change_std[0], 1e-3 / 0.02, 1e-9, 0);
    rig_close(&r);
}

/* Trials of the same motion with and without sensor noise: the difference of the estimated changes is what
 * the noise did. */
static double measured_change_error(const char *smoother, const char *noise, double *promised)
{
    rig       quiet, loud;
    char      with[64];
    double    sum = 0.0;
    int       n = 0;
    mcp_error why = {MCP_OK, ""};
    snprintf(with, sizeof with, "{q: %s}", noise);
    bench_parts parts = {.measured = "{q: 1e-12}", .smoother = smoother, .explore = "sines"};
    if (!rig_open(&quiet, bench_task(parts))) return NAN;
    parts.measured = with;
    if (!rig_open(&loud, bench_task(parts))) return NAN;
    *promised = loud.states->change_std[0];
    for (uint32_t trial = 0; trial < 150; trial++) {
        mcp_states *a = NULL, *b = NULL;
        mcp_trial_key key = {3, trial, 0};
        if (mcp_plant_run(quiet.plant, NULL, key, NULL, NULL, quiet.trial, &why) != MCP_OK ||
            mcp_plant_run(loud.plant, NULL, key, NULL, NULL, loud.trial, &why) != MCP_OK ||
            mcp_estimate_states(&a, quiet.system, quiet.trial, &why) != MCP_OK ||
            mcp_estimate_states(&b, loud.system, loud.trial, &why) != MCP_OK)
            FAIL_("%s", why.text);
        for (int k = 10; a && b && k + 11 < a->count; k++, n++) {
            double e =
                (b->state[2 * k + 3] - b->state[2 * k + 1]) - (a->state[2 * k + 3] - a->state[2 * k + 1]);
            sum += e * e;
        }
        mcp_states_free(a);
        mcp_states_free(b);
    }
    rig_close(&quiet);
    rig_close(&loud);
    return sqrt(sum / n);
}

CASE(expected_errors_of_the_linear_smoothers_are_what_noise_does)
{
    static const char *const smoothers[] = {"central-difference",
                                            "{type: butterworth, order: 2, cutoff: 0.5}",
                                            "{type: butterworth, order: 3, cutoff: 0.2}",
                                            "{type: savitzky-golay, order: 2, window: 7}"};
    for (int i = 0; i < 4; i++) {
        double promised, found = measured_change_error(smoothers[i], "2e-3", &promised);
        CHECK_CLOSE(found, promised, 0.05, 0);
    }
}

CASE(quantisation_counts_as_noise)
{
    double promised,
        found = measured_change_error("central-difference", "{noise: 0, resolution: 2e-3}", &promised);
    CHECK_CLOSE(promised, 2e-3 / sqrt(12.0) / 0.02, 1e-9, 0);
    CHECK_CLOSE(found, promised, 0.15, 0); /* rounding errors of a slow signal are not quite white */
}

/* Error of the estimated velocity against the truth. */
static double velocity_error(const char *smoother)
{
    rig    r;
    double sum = 0.0;
    if (!rig_open(&r, bench_task(
                          (bench_parts){.measured = "{q: 3e-3}", .smoother = smoother, .explore = "sines"})))
        return NAN;
    for (int k = 0; k < r.states->count; k++) {
        double e = r.states->state[2 * k + 1] - r.trial->truth[2 * (k + r.states->first) + 1];
        sum += e * e;
    }
    double rms = sqrt(sum / r.states->count);
    rig_close(&r);
    return rms;
}

CASE(smoothers_find_the_velocity_better_than_plain_differences)
{
    double plain = velocity_error("central-difference");
    CHECK_CLOSE(plain, 3e-3 / (sqrt(2.0) * 0.02), 0.2, 0);
    CHECK(velocity_error("{type: butterworth, cutoff: 0.3}") < 0.6 * plain);
    CHECK(velocity_error("{type: savitzky-golay, order: 3, window: 11}") < 0.6 * plain);
    CHECK(velocity_error("{type: kalman, drive: 2}") < 0.3 * plain);
}

CASE(kalman_smoother_keeps_all_samples_and_takes_its_own_noise)
{
    rig a, b;
    REQUIRE(rig_open(&a, bench_task((bench_parts){.smoother = "{type: kalman, drive: 2}"})));
    REQUIRE(rig_open(&b, bench_task((bench_parts){.smoother = "{type: kalman, drive: 2, noise: 1e-2}"})));
    CHECK(a.states->first == 0 && a.states->count == 101);
    CHECK(b.states->change_std[0] != a.states->change_std[0]);
    CHECK(a.states->change_std[0] > 0 && a.states->change_std[0] < 0.05);
    rig_close(&a);
    rig_close(&b);
}

CASE(sensor_delay_is_undone)
{
    rig r;
    REQUIRE(rig_open(&r, bench_task((bench_parts){.measured = "{q: {noise: 0, delay: 3}}",
                                                  .smoother = "central-difference"})));
    CHECK(r.states->first == 1 && r.states->count == 96);
    for (int k = 0; k < r.states->count; k++) CHECK(r.states->state[2 * k] == r.trial->truth[2 * (k + 1)]);
    rig_close(&r);
}

CASE(trials_too_short_for_the_smoother_give_no_states_and_no_pairs)
{
    static const char *const smoothers[] = {"central-difference", "butterworth",
                                            "{type: savitzky-golay, order: 4, window: 9}",
                                            "{type: kalman, drive: 2}"};
    for (int i = 0; i < 4; i++) {
        rig r;
        REQUIRE(rig_open(&r, bench_task((bench_parts){.smoother = smoothers[i]})));
        for (int n = 1; n < 12; n++) {
            mcp_states *s = NULL;
            mcp_pairs  *p = NULL;
            r.trial->samples = n;
            REQUIRE_OK(mcp_estimate_states(&s, r.system, r.trial, err));
            CHECK(s->count <= n);
            REQUIRE_OK(mcp_estimate_pairs(&p, r.system, 1, &r.trial, &s, err));
            CHECK(p->n == (s->count > 1 ? s->count - 1 : 0));
            for (int k = 0; k < p->n; k++) CHECK(isfinite(p->Y[k]));
            mcp_pairs_free(p);
            mcp_states_free(s);
        }
        rig_close(&r);
    }
}

/* A ball on a beam: the angle is not measured but follows the commands. */
static mcp_task *beam(const char *more)
{
    char      text[2048];
    mcp_task *task = NULL;
    mcp_error why  = {MCP_OK, ""};
    snprintf(text, sizeof text,
             "name: beam\nrate: 50\ntrial: 1\nstate: {x: m, dx: m/s, th: rad}\ninputs: {u: {limit: 0.05, "
             "delay: 1}}\nmeasured: {x: 0}\n"
             "smoother: central-difference\n"
             "model:\n  velocities: {x: dx}\n  known: {th: 'clamp(th + u, -0.2, 0.2)'}\n  features: [x, dx, "
             "sin(th), (th - prev(th))/Ts, u]\n%s"
             "cost: x^2\nstart: {mean: [0, 0, 0.1], std: 0}\nexplore: uniform\nplant: {ode: {dx: 5*sin(th), "
             "th: u/Ts}, after: {th: 'clamp(th, -0.2, 0.2)'}}\n",
             more);
    if (mcp_task_parse(&task, "beam.yaml", text, NULL, 0, &why) != MCP_OK) FAIL_("%s", why.text);
    return task;
}

CASE(known_states_follow_from_the_applied_inputs)
{
    rig r;
    REQUIRE(rig_open(&r, beam("")));
    for (int k = 0; k < r.states->count; k++)
        CHECK_CLOSE(r.states->state[3 * k + 2], r.trial->truth[3 * (k + 1) + 2], 0, 1e-9);
    for (int k = 0; k < r.trial->samples; k++)
        CHECK_CLOSE(r.trial->observed[3 * k + 2], r.trial->truth[3 * k + 2], 0, 1e-9);
    rig_close(&r);
}

CASE(pairs_hold_features_of_state_and_applied_input_with_their_memory)
{
    rig        r;
    mcp_pairs *p = NULL;
    REQUIRE(rig_open(&r, beam("")));
    REQUIRE_OK(mcp_estimate_pairs(&p, r.system, 1, &r.trial, &r.states, err));
    CHECK(p->n == r.states->count - 1 && p->nf == 5 && p->ngp == 1);
    for (int j = 0; j < p->n; j++) {
        int           k = j + r.states->first;
        const double *x = r.states->state + 3 * j, *f = p->X + 5 * j, *truth = r.trial->truth + 3 * k;
        CHECK(f[0] == x[0] && f[1] == x[1]);
        CHECK_CLOSE(f[2], sin(truth[2]), 0, 1e-9);
        CHECK_CLOSE(f[3], (truth[2] - truth[-1]) / 0.02, 0, 1e-6); /* also for the first pair */
        const double *u = r.trial->applied + k; /* the change of a central difference mixes three inputs */
        CHECK_CLOSE(f[4], 0.25 * (u[-1] + 2.0 * u[0] + u[1]), 0, 1e-15);
        CHECK_CLOSE(p->Y[j], x[4] - x[1], 0, 1e-14);
    }
    mcp_pairs_free(p);
    rig_close(&r);
}

/* A mass pushed by white inputs: the gain that least squares finds from input to velocity change, as a part
 * of the true one. */
static double learned_gain(const char *smoother)
{
    rig        r;
    mcp_pairs *p = NULL;
    mcp_task  *task = NULL;
    char       text[512];
    double     uy = 0.0, uu = 0.0;
    snprintf(text, sizeof text,
             "name: mass\nrate: 30\ntrial: 3\nstate: {q: m, v: m/s}\ninputs: {u: {limit: 10}}\nmeasured: {q: "
             "0}\nsmoother: %s\n"
             "model:\n  velocities: {q: v}\n  features: [v, u]\ncost: q^2\nstart: {std: 0.1}\nexplore: "
             "uniform\nplant: {ode: {v: u}}\n",
             smoother);
    CHECK_OK(mcp_task_parse(&task, "mass.yaml", text, NULL, 0, err));
    if (!task || !rig_open(&r, task)) return NAN;
    CHECK_OK(mcp_estimate_pairs(&p, r.system, 1, &r.trial, &r.states, err));
    for (int j = 0; p && j < p->n; j++) {
        uy += p->X[2 * j + 1] * p->Y[j];
        uu += p->X[2 * j + 1] * p->X[2 * j + 1];
    }
    mcp_pairs_free(p);
    rig_close(&r);
    return uy / uu * 30.0;
}

CASE(white_inputs_keep_their_gain_when_matched_to_the_central_difference)
{
    CHECK_CLOSE(learned_gain("central-difference"), 1.0, 1e-6, 0);
    CHECK(learned_gain("{type: central-difference, match_inputs: no}") <
          0.7); /* what pairing with u(t) alone would learn */
}

/* A mass with friction, white inputs: its backward difference obeys
 *   d(t+1) - d(t) = Ts/2 (a(t) + a(t-1)),
 *     exactly linear in d(t), u(t), u(t-1); least squares leaves nothing over. */
CASE(backward_differences_with_the_input_before_are_a_complete_state)
{
    static const char text[] = "name: mass\nrate: 30\ntrial: 3\nstate: {q: m, v: m/s, up: N}\ninputs: {u: "
                               "{limit: 10}}\nmeasured: {q: 0}\nsmoother: difference\n"
                               "model:\n  velocities: {q: v}\n  known: {up: u}\n  features: [v, u, "
                               "up]\ncost: q^2\nstart: {std: {q: 0.1}}\nexplore: uniform\n"
                               "plant: {ode: {v: u - 3*v, up: 0}, after: {up: u}}\n";
    rig        r;
    mcp_pairs *p = NULL;
    mcp_task  *task = NULL;
    REQUIRE_OK(mcp_task_parse(&task, "mass.yaml", text, NULL, 0, err));
    REQUIRE(rig_open(&r, task));
    CHECK(r.states->first == 1 && r.states->count == 90);
    for (int k = 1; k <= 90; k++) {
        const double *x = r.states->state + 3 * (k - 1), *y = r.trial->measured + k;
        CHECK(x[0] == y[0]);
        CHECK_CLOSE(x[1], (y[0] - y[-1]) * 30.0, 1e-12, 1e-12);
        CHECK(x[2] == r.trial->applied[k - 1]);
    }
    REQUIRE_OK(mcp_estimate_pairs(&p, r.system, 1, &r.trial, &r.states, err));
    CHECK(p->n == 89);
    const double e = exp(-0.1), b = (1 - e) / 3,
                 c = (1.0 / 30 - b) / 3; /* held input over a sample: v+ = e v + b u, q+ = q + b v + c u */
    for (int j = 0; j < p->n; j++) {
        const double *f =
            p->X + 3 * j; /* v = (d - 30 c up) e/(30 b) + b up at the sample, d+ = 30 (b v + c u) */
        double v = (f[0] - 30 * c * f[2]) * e / (30 * b) + b * f[2];
        CHECK_CLOSE(p->Y[j], 30 * (b * v + c * f[1]) - f[0], 0, 1e-6);
    }
    /* and the model's positions follow: q+ = q + Ts (v + change) */
    double in[5] = {0.3, 2.0, 0.0, 1.0, 0.5}, out[3],
           *work = mcp_calloc(mcp_program_work(r.system->integrate) + 1, sizeof *work);
    REQUIRE(work);
    mcp_program_step(r.system->integrate, NULL, 1, in, NULL, out, work);
    CHECK_CLOSE(out[0], 0.3 + 2.5 / 30, 1e-14, 0);
    CHECK_CLOSE(out[1], 2.5, 1e-14, 0);
    CHECK(out[2] == 1.0);
    mcp_free(work);
    mcp_pairs_free(p);
    rig_close(&r);
}

CASE(prior_mean_is_subtracted_from_the_targets)
{
    rig        plain, prior;
    mcp_pairs *p = NULL, *q = NULL;
    REQUIRE(rig_open(&plain, beam("")));
    REQUIRE(rig_open(&prior, beam("  prior_mean: {dx: 0.1*sin(th)}\n")));
    REQUIRE_OK(mcp_estimate_pairs(&p, plain.system, 1, &plain.trial, &plain.states, err));
    REQUIRE_OK(mcp_estimate_pairs(&q, prior.system, 1, &prior.trial, &prior.states, err));
    for (int j = 0; j < p->n; j++) CHECK_CLOSE(q->Y[j], p->Y[j] - 0.1 * p->X[5 * j + 2], 0, 1e-14);
    mcp_pairs_free(p);
    mcp_pairs_free(q);
    rig_close(&plain);
    rig_close(&prior);
}

CASE(pairs_of_several_trials_follow_each_other_and_never_cross)
{
    rig        r;
    mcp_pairs *one = NULL, *two = NULL;
    REQUIRE(rig_open(&r, beam("")));
    mcp_trial  *trials[2] = {r.trial, r.trial};
    mcp_states *states[2] = {r.states, r.states};
    REQUIRE_OK(mcp_estimate_pairs(&one, r.system, 1, trials, states, err));
    REQUIRE_OK(mcp_estimate_pairs(&two, r.system, 2, trials, states, err));
    CHECK(two->n == 2 * one->n);
    CHECK(!memcmp(two->X, one->X, (size_t)(one->n * one->nf) * sizeof(double)));
    CHECK(!memcmp(two->X + one->n * one->nf, one->X, (size_t)(one->n * one->nf) * sizeof(double)));
    CHECK(!memcmp(two->Y + one->n, one->Y, (size_t)one->n * sizeof(double)));
    mcp_pairs_free(one);
    mcp_pairs_free(two);
    rig_close(&r);
}

/* The task is spoilt after it was compiled: a loader that lets such a task through must not hurt. */
CASE(states_that_cannot_be_estimated_are_refused_with_the_way_out)
{
    rig       r;
    mcp_error why = {MCP_OK, ""};
    REQUIRE(rig_open(&r, bench_task((bench_parts){.smoother = "central-difference"})));
    mcp_states_free(r.states);
    r.task->smoother.type = MCP_SMOOTHER_NONE;
    CHECK(mcp_estimate_states(&r.states, r.system, r.trial, &why) == MCP_ERR_TASK && !r.states);
    CHECK_HAS(why.text, "smoother none cannot tell v");
    rig_close(&r);
    REQUIRE(rig_open(&r, beam("")));
    mcp_states_free(r.states);
    r.task->seen[0].state = 2; /* only the angle is measured: x is unknown */
    CHECK(mcp_estimate_states(&r.states, r.system, r.trial, &why) == MCP_ERR_TASK && !r.states);
    CHECK_HAS(why.text, "state x cannot be estimated");
    rig_close(&r);
}

CASE(trapezoid_brings_measured_positions_nearer_to_the_truth_and_leaves_velocities)
{
    const char *const smoother[2] = {"none", "trapezoid"};
    double            error[2] = {0}, speed[2] = {0};
    for (int c = 0; c < 2; c++) {
        rig       r;
        mcp_task *task = NULL;
        char      text[512];
        snprintf(text, sizeof text,
                 "name: mass\nrate: 20\ntrial: 20\nstate: {q: m, v: m/s}\ninputs: {u: {limit: 5}}\nmeasured: "
                 "{q: 1e-2, v: 1e-2}\n"
                 "smoother: %s\nmodel:\n  velocities: {q: v}\n  features: [v, u]\ncost: q^2\nstart: {std: "
                 "0}\nexplore: uniform\nplant: {ode: {v: u - v}}\n",
                 smoother[c]);
        REQUIRE_OK(mcp_task_parse(&task, "mass.yaml", text, NULL, 0, err));
        REQUIRE(rig_open(&r, task));
        CHECK(r.states->first == 0 && r.states->count == r.trial->samples);
        for (int j = 0; j < r.states->count; j++) {
            error[c] += pow(r.states->state[2 * j] - r.trial->truth[2 * j], 2) / r.states->count;
            speed[c] += r.states->state[2 * j + 1];
        }
        CHECK_CLOSE(r.states->change_std[0], sqrt(2.0) * 1e-2, 1e-12, 0);
        rig_close(&r);
    }
    CHECK_CLOSE(sqrt(error[0]), 1e-2, 0.1, 0);
    CHECK(sqrt(error[1]) < 4e-3);
    CHECK(speed[0] == speed[1]);
}

/* A mass with drag pushed by white inputs, no noise: what a central difference misses is known, and taken out
 * to rounding. */
CASE(refined_velocities_are_those_at_the_samples)
{
    rig         r;
    mcp_states *z = NULL;
    mcp_pairs  *p = NULL;
    mcp_task   *task = NULL;
    REQUIRE_OK(mcp_task_parse(
        &task, "mass.yaml",
        "name: mass\nrate: 30\ntrial: 3\nstate: {q: m, v: m/s}\ninputs: {u: {limit: 10}}\nmeasured: {q: 0}\n"
        "smoother: central-difference\nmodel:\n  velocities: {q: v}\n  features: [v, u]\ncost: q^2\nstart: "
        "{std: 0.1}\n"
        "explore: uniform\nplant: {ode: {v: u}}\n",
        NULL, 0, err));
    REQUIRE(rig_open(&r, task));
    CHECK(mcp_refinable(r.system));
    double *X = mcp_calloc((size_t)r.states->count * 2, sizeof *X),
           *change = mcp_calloc((size_t)r.states->count, sizeof *change), before = 0;
    REQUIRE(X && change);
    REQUIRE_OK(mcp_estimate_features(r.system, r.trial, r.states, X, change, err));
    for (int j = 0; j < r.states->count; j++) {
        CHECK(X[2 * j + 1] ==
              r.trial->applied[j + r.states->first]); /* the input itself, no mean of neighbours */
        CHECK(change[j] == 0);                                        /* no prior mean */
        change[j] = X[2 * j + 1] / 30.0;                              /* what a perfect model says */
        before =
            fmax(before, fabs(r.states->state[2 * j + 1] - r.trial->truth[2 * (j + r.states->first) + 1]));
    }
    REQUIRE_OK(mcp_refine_states(&z, r.system, r.states, change, err));
    CHECK(z->first == r.states->first + 1 && z->count == r.states->count - 1 && before > 0.05);
    for (int j = 0; j < z->count; j++)
        CHECK_CLOSE(z->state[2 * j + 1], r.trial->truth[2 * (j + z->first) + 1], 0, 1e-8);
    REQUIRE_OK(mcp_estimate_pairs(&p, r.system, 1, &r.trial, &z, err));
    CHECK(p->n == z->count - 1);
    for (int j = 0; j < p->n; j++)
        CHECK_CLOSE(p->Y[j], p->X[2 * j + 1] / 30.0, 0, 1e-8); /* gain and timing right */
    mcp_pairs_free(p);
    mcp_states_free(z);
    mcp_free(X);
    mcp_free(change);
    rig_close(&r);
}

/* Errors of neighbouring changes, from many samples of noise alone, against the correlation the estimate
 * names. */
CASE(errors_of_neighbouring_changes_hang_together_as_stated)
{
    const char *const how[2] = {"measured: {q: 1e-3}\nsmoother: central-difference",
                                "measured: {q: 1e-3, v: 1e-3}\nsmoother: none"};
    for (int measured = 0; measured < 2; measured++) {
        rig       r;
        mcp_task *task = NULL;
        char      text[512];
        double    sum[MCP_NOISE_BAND + 1] = {0};
        snprintf(text, sizeof text,
                 "name: still\nrate: 30\ntrial: 600\nstate: {q: m, v: m/s}\ninputs: {u: {limit: "
                 "1}}\n%s\nmodel:\n  velocities: {q: v}\n"
                 "  features: [v, u]\ncost: q^2\nstart: {std: 0}\nexplore: uniform\nplant: {ode: {v: 0*u}}\n",
                 how[measured]);
        REQUIRE_OK(mcp_task_parse(&task, "still.yaml", text, NULL, 0, err));
        REQUIRE(rig_open(&r, task));
        const double *v = r.states->state + 1;
        int           n = r.states->count - 1;
        for (int j = 0; j < n; j++)
            for (int k = 0; k <= MCP_NOISE_BAND && j + k < n; k++)
                sum[k] += (v[2 * j + 2] - v[2 * j]) * (v[2 * (j + k) + 2] - v[2 * (j + k)]);
        /* 18000 samples: a correlation is known to 0.01 */
        for (int k = 1; k <= MCP_NOISE_BAND && !measured; k++)
            CHECK_CLOSE(sum[k] / sum[0], r.states->lag[k], 0, 0.03);
        /* of a measured velocity the estimate says nothing: noise in the features, which is white, as a rule
         * does more to a change */
        for (int k = 1; k <= MCP_NOISE_BAND && measured; k++) CHECK(r.states->lag[k] == 0.0);
        rig_close(&r);
    }
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(measured_states_are_used_as_they_are);
    RUN(central_difference_drops_the_ends_and_keeps_the_positions);
    RUN(expected_errors_of_the_linear_smoothers_are_what_noise_does);
    RUN(quantisation_counts_as_noise);
    RUN(smoothers_find_the_velocity_better_than_plain_differences);
    RUN(kalman_smoother_keeps_all_samples_and_takes_its_own_noise);
    RUN(sensor_delay_is_undone);
    RUN(trials_too_short_for_the_smoother_give_no_states_and_no_pairs);
    RUN(known_states_follow_from_the_applied_inputs);
    RUN(pairs_hold_features_of_state_and_applied_input_with_their_memory);
    RUN(white_inputs_keep_their_gain_when_matched_to_the_central_difference);
    RUN(backward_differences_with_the_input_before_are_a_complete_state);
    RUN(prior_mean_is_subtracted_from_the_targets);
    RUN(pairs_of_several_trials_follow_each_other_and_never_cross);
    RUN(states_that_cannot_be_estimated_are_refused_with_the_way_out);
    RUN(trapezoid_brings_measured_positions_nearer_to_the_truth_and_leaves_velocities);
    RUN(refined_velocities_are_those_at_the_samples);
    RUN(errors_of_neighbouring_changes_hang_together_as_stated);
    return DONE();
}
