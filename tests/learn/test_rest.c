/* test_rest.c - a goal that can be held is a datum: what it tells, and where it must say nothing. */
#include <math.h>

#include "learn/learner.h"
#include "math/arena.h"
#include "test.h"

/* A learner that has explored and trained its model; nothing is optimised to speak of. */
static mcp_learner *modelled(const char *text, const char *extra)
{
    const char *const set[] = {"optimise.steps_first=1", "optimise.particles=8", "optimise.draws=1",
                               "optimise.regulator=no",  "optimise.second_try=0", extra};
    mcp_task          *t = NULL;
    mcp_learner       *l = NULL;
    mcp_learn_settings s;
    const int n = 5 + (extra != NULL);
    if (strchr(text, '\n')) CHECK_OK(mcp_task_parse(&t, "rest.yaml", text, set, n, err));
    else CHECK_OK(mcp_task_load(&t, text, set, n, err));
    mcp_learn_settings_default(&s);
    s.threads = 1;
    s.seed = 4;
    if (t) CHECK_OK(mcp_learner_create(&l, t, &s, err));
    for (int k = 0; l && k < 2 && !l->fit; k++) {
        CHECK_OK(mcp_learner_prepare(l, NULL, err));
        if (!l->fit) CHECK_OK(mcp_learner_trial(l, NULL, err));
    }
    mcp_task_free(t);
    return l;
}

/* Largest change at rest upright under no input, over its deviation without the noise. */
static double change_at(const mcp_learner *l, int g, const double *features, double *std)
{
    double mean = NAN, var = NAN;
    CHECK_OK(mcp_gp_predict(l->fit->gp[g], 1, features, &mean, &var, err));
    *std = sqrt(var);
    return mean;
}

/* The cart-pole's exploration has not been near the top: what is believed of it is wrong by some changes a
 * sample. That the cart does not move under no input bounds the input, and this tells the pole's GP. */
CASE(what_one_gp_knows_of_the_input_tells_the_other_about_the_goal)
{
    static const double top[] = {0, 0, 0, -1, 0, 0, 0}; /* p dp sin cos dtheta u u-before */
    double              with[2], without[2], std[2], wide[2];
    mcp_learner *a = modelled(TEST_SOURCE_DIR "/tasks/cartpole.yaml", NULL),
                *b = modelled(TEST_SOURCE_DIR "/tasks/cartpole.yaml", "model.rest=no");
    REQUIRE(a && b && a->fit && b->fit);
    CHECK(a->fit->rest == MCP_REST_USED && b->fit->rest == MCP_REST_NONE);
    CHECK(mcp_gp_count(a->fit->gp[1]) == a->fit->pairs->n + 1);
    CHECK(mcp_gp_count(b->fit->gp[1]) == b->fit->pairs->n);
    for (int g = 0; g < 2; g++) {
        with[g] = change_at(a, g, top, &std[g]);
        without[g] = change_at(b, g, top, &wide[g]);
        CHECK(std[g] < wide[g]);
    }
    CHECK(std[1] < 0.8 * wide[1]);
    CHECK(fabs(with[1]) <= fabs(without[1]) + 1e-9);
    /* and nothing else of what is known has changed */
    CHECK_CLOSE(mcp_gp_hyper(a->fit->gp[1])[0], mcp_gp_hyper(b->fit->gp[1])[0], 1e-12, 0);
    mcp_learner_free(a);
    mcp_learner_free(b);
}

/* One GP and one input: any level can be kept by some input, so the goal says nothing of the level. */
static const char lonely[] = "name: lonely\nrate: 10\ntrial: 3\nstate: {x: m}\ninputs: {u: 1}\n"
                             "measured: {x: 1e-3}\nmodel: {changes: [x]}\ncost: 1 - exp(-(x - 1)^2)\n"
                             "start: {std: 0.01}\nsuccess: {when: abs(x - 1) < 0.1, last: 1}\n"
                             "plant: {ode: {x: u - x}}\n";

CASE(an_input_that_nothing_else_bounds_leaves_the_model_as_it_was)
{
    mcp_learner *a = modelled(lonely, NULL), *b = modelled(lonely, "model.rest=no");
    REQUIRE(a && b && a->fit && b->fit);
    for (double u = -1.0; u <= 1.0; u += 0.5) {
        const double at[] = {1.0, u};
        double       std, wide, mean = change_at(a, 0, at, &std), before = change_at(b, 0, at, &wide);
        CHECK(fabs(mean - before) <= wide + 1e-6);
        CHECK(std >= 0.5 * wide);
    }
    mcp_learner_free(a);
    mcp_learner_free(b);
}

/* Nothing holds this goal: v falls by a third each second whatever u does. The exploration has shown it. */
static const char slope[] = "name: slope\nrate: 10\ntrial: 3\nstate: {x: m, v: m/s, w: m/s}\ninputs: {u: 1}\n"
                            "measured: {x: 1e-4, v: 1e-3, w: 1e-3}\n"
                            "model: {changes: [v, w], known: {x: x + Ts*u}}\n"
                            "cost: 1 - exp(-(v^2 + w^2))\nstart: {std: 0.01}\n"
                            "success: {when: abs(v) < 0.1 and abs(w) < 0.1, last: 1}\n"
                            "plant: {ode: {x: u, v: 1 + 0.3*u, w: 2 - 0.3*u}}\n";

CASE(a_goal_that_the_data_say_cannot_be_held_is_not_believed_in)
{
    mcp_learner *a = modelled(slope, NULL);
    REQUIRE(a && a->fit);
    CHECK(a->fit->rest == MCP_REST_CONTRADICTED);
    CHECK(mcp_gp_count(a->fit->gp[0]) == a->fit->pairs->n);
    mcp_learner_free(a);
}

CASE(without_a_success_that_lasts_nothing_is_assumed)
{
    mcp_learner *a = modelled(lonely, "success.last=0");
    REQUIRE(a && a->fit);
    CHECK(a->fit->rest == MCP_REST_NONE);
    mcp_learner_free(a);
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(what_one_gp_knows_of_the_input_tells_the_other_about_the_goal);
    RUN(an_input_that_nothing_else_bounds_leaves_the_model_as_it_was);
    RUN(a_goal_that_the_data_say_cannot_be_held_is_not_believed_in);
    RUN(without_a_success_that_lasts_nothing_is_assumed);
    return DONE();
}
