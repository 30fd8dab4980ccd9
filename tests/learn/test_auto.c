/* test_auto.c - a task that names its sensors and nothing else (smoother: auto, observer: auto): the same
 * bits for any number of threads and however often a run is stopped; robot, particles, folder and export
 * share one observer. */
#include <unistd.h>

#include "export/export.h"
#include "io/file.h"
#include "learn/learner.h"
#include "math/arena.h"
#include "mcpilco/controller.h"
#include "test.h"

enum { ROOM = 1000 };
static const char *const set[] = {"smoother=auto",          "observer=auto",
                                  "measured.theta=0.02",    "optimise.particles=24",
                                  "optimise.candidates=0",  "optimise.steps_first=20",
                                  "optimise.steps=10",      "optimise.patience=10",
                                  "optimise.evaluate_every=5"};

static mcp_task *pendulum(void)
{
    mcp_task *t = NULL;
    CHECK_OK(mcp_task_load(&t, TEST_SOURCE_DIR "/tasks/pendulum.yaml", set, (int)(sizeof set / sizeof *set),
                           err));
    return t;
}

static int stop_at(void *context, const mcp_learn_progress *p)
{
    (void)p;
    return --*(int *)context <= 0;
}

/* Two policy trials; folder NULL: in memory. */
static mcp_status learn(const char *folder, int threads, int *patience, double *theta, mcp_error *err)
{
    mcp_task          *t = pendulum();
    mcp_learner       *l = NULL;
    mcp_learn_settings s;
    int                n = 0;
    mcp_learn_settings_default(&s);
    s.folder = folder;
    s.threads = threads;
    s.resume = patience != NULL;
    s.progress = patience ? stop_at : NULL;
    s.progress_context = patience;
    mcp_status st = mcp_learner_create(&l, t, &s, err);
    while (st == MCP_OK && mcp_learner_trials(l) < 2) st = mcp_learner_trial(l, NULL, err);
    const double *p = st == MCP_OK ? mcp_learner_policy(l, &n) : NULL;
    if (p && n <= ROOM) memcpy(theta, p, (size_t)n * sizeof *theta);
    mcp_learner_free(l);
    mcp_task_free(t);
    return st;
}

CASE(threads_and_stops_do_not_change_a_bit)
{
    static double a[ROOM], b[ROOM], c[ROOM];
    int           stops = 0;
    REQUIRE(!system("rm -rf auto-run auto-cut"));
    REQUIRE_OK(learn("auto-run", 1, NULL, a, err));
    REQUIRE_OK(learn(NULL, 3, NULL, b, err));
    for (int patience = 1;; patience += 9) {
        int        left = patience;
        mcp_error  why;
        mcp_status st = learn("auto-cut", 1, &left, c, &why);
        if (st == MCP_OK) break;
        REQUIRE(st == MCP_ERR_STOPPED && ++stops < 100);
    }
    CHECK(stops > 2 && a[0] != 0.0);
    CHECK(!memcmp(a, b, sizeof a) && !memcmp(a, c, sizeof a));
}

CASE(the_run_keeps_one_observer)
{
    mcp_run *r = NULL, *again = NULL;
    char     why[400];
    REQUIRE_OK(mcp_run_open(&r, "auto-run", NULL, err));
    REQUIRE_OK(mcp_run_open(&again, "auto-cut", NULL, err));
    REQUIRE(r->system->choice && again->system->choice);
    const mcp_observer_choice *c = r->system->choice;
    CHECK(!memcmp(c, again->system->choice, sizeof *c));
    CHECK(c->gain[0] > 0.2 && c->gain[0] < 0.999 && c->gain[1] > 0 && c->gain[1] < 20);
    CHECK(mcp_observer_explain(r->system, 0, why, sizeof why));
    CHECK_HAS(why, "dtheta: filter of theta");
    CHECK(!strcmp(r->task->override[1], "observer=auto")); /* the task itself stays as it was loaded */
    mcp_run_free(r);
    mcp_run_free(again);
}

/* Commands and observed states of the plant's loop, from the folder and from the exported JSON alone. */
CASE(the_exported_controller_is_the_one_that_was_learned)
{
    mcp_run            *r = NULL;
    mcp_controller     *c[2] = {NULL, NULL};
    mcp_export_info     info;
    mcp_export_settings s = {.prefix = "pendulum"};
    REQUIRE_OK(mcp_run_open(&r, "auto-run", NULL, err));
    REQUIRE_OK(mcp_folder_make("auto-json", err));
    REQUIRE_OK(mcp_export_controller(r, mcp_run_trial(r, 2), "auto-json", &s, &info, err));
    REQUIRE_OK(mcp_controller_load(&c[0], "auto-run", 2, err));
    REQUIRE_OK(mcp_controller_load_json(&c[1], "auto-json/pendulum.json", err));
    const mcp_trial *t = mcp_run_trial(r, 2)->trial;
    int              plain = 0;
    for (int k = 0; k < 2; k++) {
        mcp_controller_reset(c[k]);
        for (int i = 0; i + 1 < t->samples; i++) {
            double u, z[2], before = i ? t->measured[i - 1] : t->measured[0];
            CHECK(mcp_controller_step(c[k], &t->measured[i], &u, z) == MCP_STEP_OK);
            CHECK_CLOSE(u, t->input[i], 1e-11, 1e-11);
            CHECK_CLOSE(z[1], t->observed[2 * i + 1], 1e-9, 1e-9);
            plain += fabs(z[1] - 20 * (t->measured[i] - before)) < 1e-6;
        }
        mcp_controller_free(c[k]);
    }
    CHECK(plain < 10); /* a filter, not the plain difference */
    mcp_run_free(r);
}

/* A model made again from its stored hyper-parameters has the same re-smoothed data. */
CASE(a_model_read_back_has_the_same_data)
{
    mcp_run  *r = NULL;
    mcp_fit  *one = NULL, *two = NULL;
    mcp_pool *pool = NULL;
    REQUIRE_OK(mcp_run_open(&r, "auto-run", NULL, err));
    REQUIRE_OK(mcp_pool_create(&pool, 1, err));
    REQUIRE_OK(mcp_run_model(&one, r, 2, pool, err));
    mcp_fit_data data = {.seed = 1, .number = 2, .trials = 2};
    mcp_trial   *trial[2] = {r->item[0]->trial, r->item[1]->trial};
    mcp_states  *states[2] = {r->item[0]->states, r->item[1]->states};
    data.trial = trial;
    data.states = states;
    double *before[2] = {NULL, NULL}; /* of the only GP and of its first model */
    REQUIRE_OK(mcp_load_hyper(r, 1, before, err));
    data.start = before;
    REQUIRE_OK(mcp_fit_create(&two, r->system, &data, pool, err));
    CHECK(one->pairs->n == two->pairs->n && one->first[0] && one->sensor_std[0] > 0);
    CHECK(!memcmp(one->pairs->X, two->pairs->X,
                  (size_t)(one->pairs->n * one->pairs->nf) * sizeof *one->pairs->X));
    mcp_fit_free(one);
    mcp_fit_free(two);
    for (int i = 0; i < 2; i++) mcp_free(before[i]);
    mcp_pool_free(pool);
    mcp_run_free(r);
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(threads_and_stops_do_not_change_a_bit);
    RUN(the_run_keeps_one_observer);
    RUN(the_exported_controller_is_the_one_that_was_learned);
    RUN(a_model_read_back_has_the_same_data);
    return DONE();
}
