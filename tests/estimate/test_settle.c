/* test_settle.c - observer: auto. Gains from recorded motions whose changes and noise are known. */
#include "../plant/rig.h"
#include "control/filter.h"
#include "control/runtime.h"
#include "estimate/estimate.h"
#include "math/rng.h"

static const char text[] = "name: walk\nrate: 40\ntrial: 20\nstate: {q: m, v: m/s, h: m}\n"
                           "inputs: {u: {limit: 2}}\nmeasured: {q: %g, h: 1e-3}\nobserver: auto\n"
                           "model:\n  velocities: {q: v}\n  changes: [h]\n  features: [q, v, h, u]\n"
                           "cost: q^2\nstart: {std: 0.1}\npolicy: 2*tanh(rbf(3, q, v)/2)\n"
                           "plant: {ode: {v: u, h: u}}\n";

static mcp_system *walk(rig *r, double noise)
{
    char      yaml[1024];
    mcp_task *task = NULL;
    snprintf(yaml, sizeof yaml, text, noise);
    CHECK_OK(mcp_task_parse(&task, "walk.yaml", yaml, NULL, 0, err));
    CHECK_OK(rig_create(r, task, NULL, NULL, err));
    return r->system;
}

/* q+ = q + Ts v+, v+ = v + change e, measured with noise; inputs of this root mean square. */
static void record(mcp_trial *t, double ts, double change, double noise, double input)
{
    mcp_rand r = mcp_rand_make(4, 0, 0, MCP_RNG_OTHER);
    double   q = 0, v = 0;
    t->samples = t->capacity;
    for (int k = 0; k < t->samples; k++) {
        v += change * mcp_rand_normal(&r);
        q += ts * v;
        t->measured[2 * k] = q + noise * mcp_rand_normal(&r);
        t->measured[2 * k + 1] = 0.0;
        t->applied[k] = k % 2 ? input : -input;
    }
}

CASE(the_likeliest_change_is_the_true_one)
{
    for (int k = 0; k < 4; k++) {
        const double noise = 2e-3, change = (const double[]){0.02, 0.05, 0.3, 4}[k];
        rig          r;
        mcp_system  *s = walk(&r, noise);
        double       gain[2];
        REQUIRE(s);
        record(r.trial, s->ts, change, noise, 2.0 / sqrt(3.0)); /* inputs spread over their range */
        REQUIRE_OK(mcp_observer_settle(s, 1, &r.trial, err));
        CHECK_CLOSE(s->choice[0].seen, change, 0.25, 0);
        CHECK(s->choice[0].change == s->choice[0].seen);
        REQUIRE(mcp_backward_steady(s->ts, s->choice[0].change, noise, gain));
        CHECK(gain[0] == s->choice[0].gain[0] && gain[1] == s->choice[0].gain[1]);
        rig_close(&r);
    }
}

CASE(gentle_inputs_leave_room_for_bolder_ones)
{
    rig         r;
    mcp_system *s = walk(&r, 2e-3);
    REQUIRE(s);
    record(r.trial, s->ts, 0.05, 2e-3, 2.0 / sqrt(3.0) / 4);
    REQUIRE_OK(mcp_observer_settle(s, 1, &r.trial, err));
    CHECK_CLOSE(s->choice[0].change, 2 * s->choice[0].seen, 1e-9, 0);
    rig_close(&r);
}

CASE(a_sensor_without_noise_is_differenced)
{
    rig         r;
    mcp_system *s = walk(&r, 0.0);
    char        why[400];
    double      y[] = {0.1, 0.3, 0.2, 0.25};
    REQUIRE(s);
    CHECK(mcp_observer_explain(s, 0, why, sizeof why) && strstr(why, "until the exploration"));
    record(r.trial, s->ts, 0.05, 0.0, 1.0);
    REQUIRE_OK(mcp_observer_settle(s, 1, &r.trial, err));
    CHECK(s->choice[0].gain[0] == 1.0 && s->choice[0].gain[1] == 1.0 / s->ts);
    CHECK(mcp_observer_explain(s, 0, why, sizeof why) && strstr(why, "no noise"));
    CHECK(!mcp_observer_explain(s, 1, why, sizeof why)); /* h is measured: the policy sees it */
    mcp_runtime *run = NULL;
    double      *theta = calloc((size_t)mcp_program_params(s->controller), sizeof *theta);
    REQUIRE_OK(mcp_runtime_create(&run, s, err));
    for (int k = 0; k < 4; k++) {
        CHECK(mcp_runtime_step(run, theta, NULL, (const double[]){y[k], 7.0}) == MCP_FAULT_NONE);
        CHECK_CLOSE(run->observed[1], k ? (y[k] - y[k - 1]) / s->ts : 0.0, 1e-12, 1e-12);
        CHECK(run->observed[2] == 7.0);
    }
    mcp_runtime_free(run);
    free(theta);
    rig_close(&r);
}

/* Fixed point of the Riccati recursion: P = F (P - g P_1) F' + Q, g = P_1/(P_11 + r^2), in samples and r. */
CASE(steady_gains_solve_the_riccati_equation)
{
    for (double c = 0.05; c < 100; c *= 3) {
        double g[2], p11 = 1, p12 = 1, p22 = 2;
        REQUIRE(mcp_backward_steady(0.02, c / 0.02, 1.0, g)); /* a change of c noise deviations a sample */
        for (int k = 0; k < 5000; k++) {
            double a11 = p11 + 2 * p12 + p22 + c * c, a12 = p12 + p22 + c * c, a22 = p22 + c * c;
            p11 = a11 / (a11 + 1);
            p12 = a12 / (a11 + 1);
            p22 = a22 - a12 * a12 / (a11 + 1);
            if (k < 4999) continue;
            CHECK_CLOSE(g[0], a11 / (a11 + 1), 1e-9, 0);
            CHECK_CLOSE(g[1] * 0.02, a12 / (a11 + 1), 1e-9, 0);
        }
    }
}

/* A plant that was opened before takes the new observer with its next trial. */
CASE(an_open_plant_follows)
{
    rig         r;
    mcp_system *s = walk(&r, 0.05);
    REQUIRE(s);
    double *theta = calloc((size_t)mcp_program_params(s->controller), sizeof *theta);
    for (int settled = 0; settled < 2; settled++) {
        REQUIRE_OK(mcp_plant_run(r.plant, theta, (mcp_trial_key){1, 0, 0}, NULL, NULL, r.trial, err));
        double sum = 0;
        for (int k = 1; k < r.trial->samples; k++) {
            double d = (r.trial->measured[2 * k] - r.trial->measured[2 * k - 2]) / s->ts;
            sum += fabs(r.trial->observed[3 * k + 1] - d);
        }
        if (!settled) CHECK(sum < 1e-6);
        else CHECK(sum > 1.0);
        if (settled) break;
        record(r.trial, s->ts, 0.05, 0.05, 1.0);
        REQUIRE_OK(mcp_observer_settle(s, 1, &r.trial, err));
    }
    free(theta);
    rig_close(&r);
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(the_likeliest_change_is_the_true_one);
    RUN(gentle_inputs_leave_room_for_bolder_ones);
    RUN(a_sensor_without_noise_is_differenced);
    RUN(steady_gains_solve_the_riccati_equation);
    RUN(an_open_plant_follows);
    return DONE();
}
