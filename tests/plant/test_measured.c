/* test_measured.c - sensors that show an expression of the state, and states computed from what they show: on
 * the plant, in the record, in the estimates, and what cannot be. */
#include "estimate/estimate.h"
#include "math/angle.h"
#include "math/arena.h"
#include "plant/warnings.h"
#include "rig.h"

static const char usual[] = "tip_x: {of: l*sin(q), noise: 2e-3, unit: m}, "
                            "tip_y: {of: -l*cos(q), noise: 2e-3}, "
                            "q: {from: 'atan2(y_tip_x, -y_tip_y)', wraps: yes}";

static mcp_status parse(mcp_task **task, const char *measured, const char *more, mcp_error *why)
{
    char text[1500];
    snprintf(text, sizeof text,
             "name: tip\nrate: 50\ntrial: 2\nconstants: {l: 0.5}\nstate: {q: rad, v: rad/s}\ninputs: {u: 2}\n"
             "measured: {%s}\nmodel: {velocities: {q: v}}\ncost: (q - 1)^2\n%s",
             measured, more);
    return mcp_task_parse(task, "tip.yaml", text, NULL, 0, why);
}

static const char spins[] = "start: {mean: {q: 3, v: 8}, std: 0}\nplant: {ode: {v: u - 0.1*sin(q)}}\n";

static rig spinning(const char *measured, const char *more)
{
    rig       r = {0};
    mcp_task *task = NULL;
    mcp_error why = {MCP_OK, ""};
    if (parse(&task, measured, more, &why) != MCP_OK ||
        rig_create(&r, task, NULL, NULL, &why) != MCP_OK)
        FAIL_("%s", why.text);
    CHECK_OK(mcp_plant_run(r.plant, NULL, (mcp_trial_key){5, 1, 0}, NULL, NULL, r.trial, err));
    return r;
}

CASE(channels_are_sensors_and_what_they_tell)
{
    mcp_task *t = NULL;
    REQUIRE_OK(parse(&t, usual, spins, err));
    CHECK(t->ny == 2 && t->nseen == 1 && t->measured[0].state == -1 && t->seen[0].state == 0);
    CHECK(t->observer.type == MCP_OBSERVER_AUTO && t->smoother.type == MCP_SMOOTHER_AUTO);
    CHECK_CLOSE(t->seen[0].noise, 2e-3 / 0.5, 1e-4, 0.0); /* what the camera's noise does to the angle */
    CHECK(!strcmp(mcp_channel_unit(t, &t->measured[0]), "m") && !mcp_channel_unit(t, &t->measured[1]));
    mcp_task_free(t);
}

/* Three turns: the plant shows the tip, observer and record go on counting from the start's turn. */
CASE(the_plant_shows_the_expression_and_the_angle_goes_on)
{
    rig     r = spinning(usual, spins);
    double *seen = NULL;
    REQUIRE(r.plant);
    CHECK_OK(mcp_trial_seen(r.system, r.trial, &seen, err));
    CHECK(r.trial->truth[(r.trial->samples - 1) * 2] > 18.0);
    for (int k = 0; k < r.trial->samples && seen; k++) {
        double q = r.trial->truth[2 * k];
        CHECK(fabs(r.trial->measured[2 * k] - 0.5 * sin(q)) < 0.012);
        CHECK(fabs(r.trial->measured[2 * k + 1] + 0.5 * cos(q)) < 0.012);
        CHECK(fabs(seen[k] - q) < 0.024);
        CHECK(fabs(r.trial->observed[2 * k] - q) < 0.024);
    }
    mcp_free(seen);
    rig_close(&r);
}

CASE(every_smoother_estimates_from_what_is_computed)
{
    static const char *const smoothers[] = {"auto", "central-difference", "{type: kalman, drive: 2}",
                                            "butterworth", "savitzky-golay", "difference"};
    for (size_t c = 0; c < sizeof smoothers / sizeof *smoothers; c++) {
        char        more[400];
        mcp_states *x = NULL;
        snprintf(more, sizeof more, "smoother: %s\n%s", smoothers[c], spins);
        rig r = spinning(usual, more);
        REQUIRE(r.plant);
        CHECK_OK(mcp_estimate_states(&x, r.system, r.trial, err));
        CHECK(x && x->count > 90);
        for (int k = 0; x && k < x->count; k++)
            CHECK(fabs(x->state[2 * k] - r.trial->truth[2 * (k + x->first)]) < 0.03);
        mcp_states_free(x);
        rig_close(&r);
    }
}

/* The delay of the sensors is that of the state, and undone in the estimate. */
CASE(late_sensors_make_a_late_state)
{
    rig r = spinning("q: {from: y_s/2}, s: {of: 2*q, noise: 1e-6, delay: 3}", spins);
    mcp_states *x = NULL;
    REQUIRE(r.plant);
    CHECK(r.task->seen[0].delay == 3);
    CHECK_OK(mcp_estimate_states(&x, r.system, r.trial, err));
    for (int k = 0; x && k < x->count; k++)
        CHECK_CLOSE(x->state[2 * k], r.trial->truth[2 * (k + x->first)], 0.0, 1e-4);
    CHECK(x && x->first + x->count == r.trial->samples - 3);
    mcp_states_free(x);
    rig_close(&r);
}

/* The gains of observer: auto follow from the computed state; its programs are compiled anew. */
CASE(the_automatic_observer_settles_on_a_computed_state)
{
    rig r = spinning(usual, spins);
    char why[400];
    REQUIRE(r.plant);
    mcp_trial *trials[1] = {r.trial};
    CHECK_OK(mcp_observer_settle(r.system, 1, trials, err));
    CHECK(r.system->choice && r.system->choice[0].gain[0] > 0.0 && r.system->choice[0].gain[0] < 1.0);
    CHECK(mcp_observer_explain(r.system, 0, why, sizeof why) && strstr(why, "0.004"));
    rig_close(&r);
}

/* A plant that tells its true state alone gets the task's sensors, expressions included. */
static mcp_status still(void *c, const double *x0, uint64_t seed, uint32_t trial, uint32_t run,
                        mcp_sample *first, mcp_error *err)
{
    (void)c, (void)x0, (void)seed, (void)trial, (void)run, (void)err;
    first->truth[0] = 1.0;
    first->truth[1] = 0.0;
    return MCP_OK;
}
static mcp_status rests(void *c, const double *u, mcp_sample *next, mcp_error *err)
{
    (void)u;
    return still(c, NULL, 0, 0, 0, next, err);
}

CASE(a_plant_of_true_states_gets_the_sensors)
{
    const mcp_plant_ops ops = {.reset = still, .step = rests};
    rig                 r = {0};
    mcp_task           *task = NULL;
    REQUIRE_OK(parse(&task, usual, "start: {std: 0}\nplant: {callback: yes}\n", err));
    REQUIRE_OK(rig_create(&r, task, &ops, NULL, err));
    CHECK_OK(mcp_plant_run(r.plant, NULL, (mcp_trial_key){5, 1, 0}, NULL, NULL, r.trial, err));
    CHECK(r.trial->samples == 101 && fabs(r.trial->measured[20] - 0.5 * sin(1.0)) < 0.012);
    rig_close(&r);
}

CASE(a_sensor_that_nothing_uses_gets_a_warning)
{
    mcp_task        *t = NULL;
    mcp_system      *s = NULL;
    mcp_warning_list w;
    REQUIRE_OK(parse(&t, "q: 1e-3, far: {of: sqrt(1 + q^2)}", spins, err));
    REQUIRE_OK(mcp_system_create(&s, t, err));
    CHECK_OK(mcp_task_warnings(s, NULL, &w, err));
    CHECK(w.n == 1 && strstr(w.text[0], "y_far"));
    mcp_system_free(s);
    mcp_task_free(t);
}

CASE(what_cannot_be_measured_gets_a_sentence)
{
    static const struct { const char *measured, *more, *says; } wrong[] = {
        {"q: {of: 2*q}", "", "\"q\" with of, expected a name of its own"},
        {"s: {of: q, from: y_s}, q: 1", "", "found of and from"},
        {"s: {of: 2*qq}, q: 1", "", "unknown name 'qq'"},
        {"s: {of: q + u}, q: 1", "", "unknown name 'u'"},
        {"s: {of: q}, q: {from: y_ss}", "", "unknown name 'y_ss'"},
        {"s: {of: q}, q: {from: y_s, delay: 1}", "", "expected them at the sensors"},
        {"s: {of: q}, q: {from: 2*l}", "", "found no measurement"},
        {"s: {of: q}, r: {of: q, delay: 1}, q: {from: y_s + y_r}", "", "one delay"},
        {"q: {from: y_q}", "", "found no sensor"},
        {"s: {of: q^2, noise: 1}, q: {from: 'log(y_s)'}", "start: {std: 0}\n", "expected the noise of q"},
        {"l: {of: q}, q: 1", "", "no constant has"},
        {"s: {of: q}", "", "nothing tells the controller about any state"},
        {"s: {of: 'param(k, 1)*q'}, q: 1", "", "expected them in the policy alone"},
        {"q: 1, s: {of: q}, s: {of: q}", "", "twice"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        mcp_task *t = NULL;
        mcp_error why = {MCP_OK, ""};
        char      more[300];
        snprintf(more, sizeof more, "%splant: {ode: {v: u}}\n%s", wrong[i].more,
                 wrong[i].more[0] ? "" : "start: {std: 0.1}\n");
        if (parse(&t, wrong[i].measured, more, &why) == MCP_OK) FAIL_("%s is taken", wrong[i].measured);
        else if (!strstr(why.text, wrong[i].says)) FAIL_("%s: %s", wrong[i].measured, why.text);
        mcp_task_free(t);
    }
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(channels_are_sensors_and_what_they_tell);
    RUN(the_plant_shows_the_expression_and_the_angle_goes_on);
    RUN(every_smoother_estimates_from_what_is_computed);
    RUN(late_sensors_make_a_late_state);
    RUN(the_automatic_observer_settles_on_a_computed_state);
    RUN(a_plant_of_true_states_gets_the_sensors);
    RUN(a_sensor_that_nothing_uses_gets_a_warning);
    RUN(what_cannot_be_measured_gets_a_sentence);
    return DONE();
}
