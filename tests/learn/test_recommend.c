/* Which policy a run recommends. */
#include <math.h>
#include <stdlib.h>

#include "learn/learner.h"
#include "learn/recommend.h"
#include "math/arena.h"
#include "test.h"

static mcp_policy_evidence seen(int trials, int successes, double cost)
{
    return (mcp_policy_evidence){.trials = trials, .successes = successes, .plant_cost = cost,
                                 .model_success = NAN, .model_cost = NAN};
}

static mcp_policy_evidence judged(int trials, int successes, double cost, double share, double model_cost)
{
    mcp_policy_evidence p = seen(trials, successes, cost);
    p.model_success = share;
    p.model_cost = model_cost;
    return p;
}

CASE(no_policy_no_recommendation)
{
    CHECK(mcp_evidence_weigh(NULL, 0, 1) == -1);
}

CASE(a_success_beats_a_cheaper_failure)
{
    mcp_policy_evidence p[] = {seen(1, 1, 20.0), seen(1, 0, 15.0)};
    CHECK(mcp_evidence_weigh(p, 2, 1) == 0);
    CHECK(p[0].success == 1.0 && p[1].success == 0.0);
}

CASE(without_a_success_test_the_cost_decides)
{
    mcp_policy_evidence p[] = {seen(1, 0, 20.0), seen(1, 0, 15.0)};
    CHECK(mcp_evidence_weigh(p, 2, 0) == 1);
}

CASE(a_lucky_success_yields_to_what_the_model_says_of_a_steady_one)
{
    mcp_policy_evidence p[] = {judged(2, 2, 20.0, 1.0, 20.0), judged(1, 1, 10.0, 0.6, 12.0)};
    CHECK(mcp_evidence_weigh(p, 2, 1) == 0);
    CHECK_CLOSE(p[1].success, (1 + 4 * 0.6) / 5, 1e-15, 0);
    CHECK_CLOSE(p[0].cost, 20.0, 1e-12, 0);
}

CASE(equal_successes_are_told_apart_by_the_cost)
{
    mcp_policy_evidence p[] = {judged(1, 1, 20.0, 1.0, 20.0), judged(1, 1, 19.0, 0.995, 18.0)};
    CHECK(mcp_evidence_weigh(p, 2, 1) == 1);
}

CASE(a_policy_the_model_was_not_asked_about_is_not_recommended)
{
    mcp_policy_evidence p[] = {seen(1, 0, 5.0), judged(1, 1, 20.0, 0.9, 20.0)};
    CHECK(mcp_evidence_weigh(p, 2, 1) == 1);
}

CASE(particles_that_run_away_count_against_a_policy)
{
    mcp_policy_evidence p[] = {judged(1, 1, 9.0, 0.0, INFINITY), judged(1, 1, 20.0, 0.7, 20.0)};
    CHECK(mcp_evidence_weigh(p, 2, 1) == 1);
}

/* A run: the answer is kept, grows old with the next trial, and a damaged file is no reason to fail. */
CASE(a_run_keeps_its_recommendation)
{
    const char *const tiny[] = {"optimise.particles=24", "optimise.steps_first=20", "optimise.steps=20",
                                "optimise.patience=10", "optimise.evaluate_every=5"};
    char              folder[] = "recommend-XXXXXX", path[64];
    mcp_task         *t = NULL;
    mcp_learner      *l = NULL;
    mcp_run          *r = NULL;
    mcp_recommendation *m = NULL;
    mcp_learn_settings  s;
    int                 trial = -1, again = -1;
    REQUIRE(mkdtemp(folder));
    CHECK_OK(mcp_task_load(&t, TEST_SOURCE_DIR "/tasks/pendulum.yaml", tiny, 5, err));
    REQUIRE(t);
    mcp_learn_settings_default(&s);
    s.folder = folder;
    s.threads = 1;
    CHECK_OK(mcp_learner_create(&l, t, &s, err));
    REQUIRE(l);
    CHECK_OK(mcp_learner_recommend(l, &trial, err));
    CHECK(trial == 0);
    while (mcp_learner_trials(l) < 2) REQUIRE(mcp_learner_trial(l, NULL, NULL) == MCP_OK);
    CHECK_OK(mcp_learner_recommend(l, &trial, err));
    CHECK(trial == 1 || trial == 2);
    CHECK_OK(mcp_run_open(&r, folder, NULL, err));
    REQUIRE(r);
    CHECK_OK(mcp_recommendation_load(&m, r, err));
    REQUIRE(m);
    CHECK(m->number == trial && m->trials == 2 && m->data > 0 && m->count == 2);
    CHECK(mcp_recommended(r) == trial);
    mcp_recommendation_free(m);
    mcp_run_free(r);
    /* a third trial: the old answer is not taken */
    REQUIRE(mcp_learner_trial(l, NULL, NULL) == MCP_OK);
    CHECK_OK(mcp_run_open(&r, folder, NULL, err));
    CHECK_OK(mcp_recommendation_load(&m, r, err));
    REQUIRE(m);
    CHECK(m->trials == 3);
    mcp_recommendation_free(m);
    CHECK_OK(mcp_learner_recommend(l, &trial, err));
    snprintf(path, sizeof path, "%s/recommend.json", folder);
    FILE *f = fopen(path, "w");
    REQUIRE(f);
    fputs("{\"policy\": 99, \"trials\": 3, \"policies\": [{\"policy\": 99, \"trials\": 3}]}", f);
    fclose(f);
    again = mcp_recommended(r);
    CHECK(again >= 1 && again <= 3);
    mcp_run_free(r);
    mcp_learner_free(l);
    mcp_task_free(t);
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(no_policy_no_recommendation);
    RUN(a_success_beats_a_cheaper_failure);
    RUN(without_a_success_test_the_cost_decides);
    RUN(a_lucky_success_yields_to_what_the_model_says_of_a_steady_one);
    RUN(equal_successes_are_told_apart_by_the_cost);
    RUN(a_policy_the_model_was_not_asked_about_is_not_recommended);
    RUN(particles_that_run_away_count_against_a_policy);
    RUN(a_run_keeps_its_recommendation);
    return DONE();
}
