/* labels: slow */
/* The loop: same bits for any number of threads and however often it is stopped; what a run folder holds;
 * honest forecasts. */
#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/file.h"
#include "learn/evaluate.h"
#include "learn/learner.h"
#include "math/arena.h"
#include "test.h"

static char folder[64];
static const char *const tiny[] = {"optimise.particles=24", "optimise.steps_first=40", "optimise.steps=30",
                                   "optimise.patience=10", "optimise.evaluate_every=5"};
enum { TINY = (int)(sizeof tiny / sizeof *tiny) };

static const char *at(const char *name)
{
    static char path[4][128];
    static int  turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

static mcp_task *pendulum(void)
{
    mcp_task *t = NULL;
    CHECK_OK(mcp_task_load(&t, TEST_SOURCE_DIR "/tasks/pendulum.yaml", tiny, TINY, err));
    return t;
}

static mcp_learn_settings settings(const char *where)
{
    mcp_learn_settings s;
    mcp_learn_settings_default(&s);
    s.folder = where;
    s.threads = 1;
    return s;
}

/* Runs until `trials` policy trials are done. */
static mcp_status finish(const mcp_task *t, const mcp_learn_settings *s, int trials, double *theta, int room,
                         mcp_error *err)
{
    mcp_learner *l;
    mcp_status   st = mcp_learner_create(&l, t, s, err);
    while (st == MCP_OK && mcp_learner_trials(l) < trials) st = mcp_learner_trial(l, NULL, err);
    int           n = 0;
    const double *p = st == MCP_OK ? mcp_learner_policy(l, &n) : NULL;
    if (p && n <= room) memcpy(theta, p, (size_t)n * sizeof *theta);
    mcp_learner_free(l);
    return st;
}

enum { ROOM = 1000 };

CASE(the_policy_does_not_depend_on_threads)
{
    static double      a[ROOM], b[ROOM];
    mcp_task          *t = pendulum();
    mcp_learn_settings s = settings(NULL);
    REQUIRE(t);
    CHECK_OK(finish(t, &s, 2, a, ROOM, err));
    s.threads = 3;
    CHECK_OK(finish(t, &s, 2, b, ROOM, err));
    CHECK(a[0] != 0.0 && !memcmp(a, b, sizeof a));
    s.seed = 2;
    CHECK_OK(finish(t, &s, 2, b, ROOM, err));
    CHECK(memcmp(a, b, sizeof a));
    mcp_task_free(t);
}

static int stop_at(void *context, const mcp_learn_progress *p)
{
    (void)p;
    return --*(int *)context <= 0;
}

static int same_file(const char *a, const char *b)
{
    char  *x = NULL, *y = NULL;
    size_t n = 0, m = 1;
    int same = mcp_file_read(a, &x, &n, NULL) == MCP_OK && mcp_file_read(b, &y, &m, NULL) == MCP_OK &&
               n == m && !memcmp(x, y, n);
    mcp_free(x);
    mcp_free(y);
    return same;
}

CASE(a_run_stopped_again_and_again_ends_with_the_same_bits)
{
    static const char *const files[] = {"explore-01/trial.csv", "trial-01/model.json",
                                        "trial-01/policy.json", "trial-01/trial.csv",
                                        "trial-02/model.json",  "trial-02/history.csv",
                                        "trial-02/policy.json", "trial-02/particles.npy",
                                        "trial-02/trial.csv",   "trial-02/states.csv"};
    static double      theta[ROOM], again[ROOM];
    mcp_task          *t = pendulum();
    char               whole[128], cut[128], x[200], y[200];
    snprintf(whole, sizeof whole, "%s", at("whole"));
    snprintf(cut, sizeof cut, "%s", at("cut"));
    mcp_learn_settings s = settings(whole);
    REQUIRE(t);
    REQUIRE_OK(finish(t, &s, 2, theta, ROOM, err));
    s = settings(cut);
    int stops = 0;
    for (int patience = 1;; patience += 9) { /* each time a little further */
        int        left = patience;
        mcp_error  e;
        s.progress = stop_at;
        s.progress_context = &left;
        mcp_status st = finish(t, &s, 2, again, ROOM, &e);
        s.resume = 1;
        if (st == MCP_OK) break;
        stops++;
        if (st != MCP_ERR_STOPPED) FAIL_("%s", e.text);
        REQUIRE(st == MCP_ERR_STOPPED);
    }
    CHECK(stops >= 10);
    CHECK(!memcmp(theta, again, sizeof theta));
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(x, sizeof x, "%s/%s", whole, files[i]);
        snprintf(y, sizeof y, "%s/%s", cut, files[i]);
        if (!same_file(x, y)) FAIL_("%s and %s differ", x, y);
    }
    mcp_task_free(t);
}

CASE(what_a_kill_may_leave_out_is_made_again)
{
    static const char *const last[] = {"trial-02/result.json",   "trial-02/states.csv",
                                       "trial-02/trial.csv",     "trial-02/forecast.json",
                                       "trial-02/particles.npy", "trial-02/policy.json",
                                       "trial-02/model.json"};
    static double      theta[ROOM], again[ROOM];
    mcp_task          *t = pendulum();
    mcp_learn_settings s = settings(at("whole"));
    char               path[256], kept[128];
    REQUIRE(t);
    snprintf(kept, sizeof kept, "%s", at("whole"));
    s.folder = kept;
    s.resume = 1;
    REQUIRE_OK(finish(t, &s, 2, theta, ROOM, err)); /* reads only */
    for (size_t i = 0; i < sizeof last / sizeof *last; i++) {
        for (size_t k = 0; k <= i; k++) { /* newest first, as a kill would leave them out */
            snprintf(path, sizeof path, "%s/%s", kept, last[k]);
            unlink(path);
        }
        REQUIRE_OK(finish(t, &s, 2, again, ROOM, err));
        CHECK(!memcmp(theta, again, sizeof theta));
        for (size_t k = 0; k <= i; k++) {
            snprintf(path, sizeof path, "%s/%s", kept, last[k]);
            if (!mcp_file_exists(path)) FAIL_("%s was not made again", path);
        }
    }
    mcp_task_free(t);
}

CASE(resuming_means_the_same_run)
{
    static double      theta[ROOM];
    mcp_task          *t = pendulum(), *other = NULL;
    mcp_learn_settings s = settings(at("whole"));
    mcp_error          e;
    REQUIRE(t);
    CHECK(finish(t, &s, 2, theta, ROOM, &e) == MCP_ERR_ARG);
    CHECK_HAS(e.text, "--resume");
    s = settings(at("whole"));
    s.resume = 1;
    s.seed = 9;
    CHECK(finish(t, &s, 2, theta, ROOM, &e) == MCP_ERR_ARG);
    CHECK_HAS(e.text, "seed 1, not 9");
    s.seed = 1;
    s.algorithm = "mc-pilco";
    CHECK(finish(t, &s, 2, theta, ROOM, &e) == MCP_ERR_ARG);
    CHECK_HAS(e.text, "algorithm mc-pilco4pms, not mc-pilco");
    s.algorithm = NULL;
    REQUIRE_OK(mcp_task_load(&other, TEST_SOURCE_DIR "/tasks/pendulum.yaml", tiny, TINY - 1, err));
    CHECK(finish(other, &s, 2, theta, ROOM, &e) == MCP_ERR_ARG);
    CHECK_HAS(e.text, "optimise.evaluate_every = 5");
    CHECK_HAS(e.text, "--from");
    mcp_task_free(other);
    REQUIRE_OK(mcp_task_load(&other, TEST_SOURCE_DIR "/tasks/cartpole.yaml", tiny, TINY, err));
    CHECK(finish(other, &s, 2, theta, ROOM, &e) == MCP_ERR_ARG);
    CHECK_HAS(e.text, "rate = 20, the task has 30");
    CHECK_HAS(e.text, "--out");
    s.algorithm = "mc-pilko";
    CHECK(finish(t, &s, 2, theta, ROOM, &e) == MCP_ERR_ARG);
    CHECK_HAS(e.text, "mc-pilco4pms");
    mcp_task_free(t);
    mcp_task_free(other);
}

CASE(a_run_folder_keeps_every_setting)
{
    enum { MANY = 70 };
    const char        *set[MANY];
    mcp_task          *t = NULL;
    mcp_learner       *l = NULL;
    mcp_run           *r = NULL;
    mcp_learn_settings s = settings(at("many"));
    for (int i = 0; i < MANY; i++) set[i] = i < MANY - 1 ? tiny[i % TINY] : "inputs.u.slew=20";
    REQUIRE_OK(mcp_task_load(&t, TEST_SOURCE_DIR "/tasks/pendulum.yaml", set, MANY, err));
    REQUIRE_OK(mcp_learner_create(&l, t, &s, err));
    mcp_learner_free(l);
    mcp_task_free(t);
    REQUIRE_OK(mcp_run_open(&r, at("many"), NULL, err));
    CHECK(r->task->overrides == MANY && !strcmp(r->task->override[MANY - 1], set[MANY - 1]));
    CHECK(r->task->input[0].slew == 20);
    mcp_run_free(r);
}

CASE(a_model_read_back_forecasts_to_the_same_bits)
{
    mcp_run       *r;
    mcp_fit       *fit = NULL;
    mcp_particles *p = NULL;
    mcp_forecast  *f = NULL;
    mcp_error      trouble;
    REQUIRE_OK(mcp_run_open(&r, at("whole"), &trouble, err));
    CHECK(trouble.status == MCP_OK && r->items == 3 && r->explored == 1);
    mcp_run_item *it = mcp_run_trial(r, 2);
    REQUIRE(it && it->forecast && it->forecast->kept == 100);
    REQUIRE_OK(mcp_run_model(&fit, r, 2, NULL, err));
    mcp_particle_settings q = {.count = 200, .seed = r->seed, .trial = 2};
    REQUIRE_OK(mcp_particles_run(&p, r->system, fit->gp, it->theta, &q, NULL, err));
    REQUIRE_OK(mcp_forecast_make(&f, r->system, p, 100, err));
    size_t n = (size_t)f->samples * (size_t)f->nx;
    CHECK(f->cost == it->forecast->cost && f->success == it->forecast->success);
    CHECK(!memcmp(f->low, it->forecast->low, n * sizeof *f->low) &&
          !memcmp(f->states, it->forecast->states, n * 100 * sizeof(double)));
    /* The data count: a forecast with the first trial's model is another one. */
    mcp_fit_free(fit);
    mcp_particles_free(p);
    REQUIRE_OK(mcp_run_model(&fit, r, 1, NULL, err));
    REQUIRE_OK(mcp_particles_run(&p, r->system, fit->gp, it->theta, &q, NULL, err));
    CHECK(p->cost_mean != f->cost);
    mcp_particles_free(p);
    mcp_forecast_free(f);
    mcp_fit_free(fit);
    mcp_run_free(r);
}

CASE(a_damaged_trial_is_left_out_and_named)
{
    mcp_run  *r;
    mcp_error trouble;
    REQUIRE_OK(mcp_file_write(at("whole/trial-02/policy.json"), "{", 1, err));
    REQUIRE_OK(mcp_run_open(&r, at("whole"), &trouble, err));
    CHECK(r->items == 2 && trouble.status == MCP_ERR_IO);
    CHECK_HAS(trouble.text, "trial-02/policy.json");
    mcp_run_free(r);
    mcp_error e;
    CHECK(mcp_run_open(&r, at("nowhere"), NULL, &e) == MCP_ERR_IO && !r);
    CHECK_HAS(e.text, "not a run folder");
}

CASE(a_disk_that_fills_up_is_named_and_the_run_goes_on_later)
{
    static double      theta[ROOM], again[ROOM];
    mcp_task          *t = pendulum();
    char               full[128];
    mcp_learn_settings s = settings(NULL);
    REQUIRE(t);
    REQUIRE_OK(finish(t, &s, 1, theta, ROOM, err));
    snprintf(full, sizeof full, "%s", at("full"));
    s = settings(full);
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        struct rlimit small = {9000, RLIM_INFINITY};
        mcp_error     e;
        signal(SIGXFSZ, SIG_IGN);
        getrlimit(RLIMIT_FSIZE, &small);
        small.rlim_cur = 9000; /* room for the exploration, not for the policy */
        setrlimit(RLIMIT_FSIZE, &small);
        int ok = finish(t, &s, 1, again, ROOM, &e) == MCP_ERR_IO && strstr(e.text, full) &&
                 strstr(e.text, "cannot write");
        if (!ok) fprintf(stderr, "%s\n", e.text);
        _exit(ok ? 0 : 1);
    }
    int status;
    REQUIRE(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
    s.resume = 1;
    CHECK_OK(finish(t, &s, 1, again, ROOM, err));
    CHECK(!memcmp(theta, again, sizeof theta));
    mcp_task_free(t);
}

CASE(coverage_counts_by_state_and_quarter)
{
    mcp_forecast *f;
    double        states[16], by_state[2 * MCP_WINDOWS], all;
    REQUIRE_OK(mcp_forecast_alloc(&f, 8, 2, 0, err));
    for (int i = 0; i < 16; i++) {
        f->low[i] = -1.0;
        f->high[i] = 1.0;
        states[i] = 0.0;
    }
    states[0] = 2.0;              /* first quarter, first state: one of two outside  */
    states[14] = -2.0;            /* last quarter, first state                       */
    states[15] = NAN;             /* last quarter, second state: one of one inside   */
    mcp_forecast_coverage(f, 8, states, by_state, &all);
    CHECK(by_state[0] == 0.5 && by_state[1] == 1.0 && by_state[3] == 0.5 && by_state[MCP_WINDOWS + 3] == 1.0);
    CHECK_CLOSE(all, 13.0 / 15.0, 1e-15, 0);
    mcp_forecast_coverage(f, 4, states, by_state, &all); /* ended half-way: later quarters say nothing */
    CHECK(isnan(by_state[2]) && isnan(by_state[3]) && by_state[1] == 1.0);
    mcp_forecast_free(f);
}

CASE(evaluation_is_the_same_for_any_number_of_threads)
{
    static double      theta[ROOM];
    mcp_task          *t = pendulum();
    mcp_learn_settings s = settings(NULL);
    mcp_system        *system = NULL;
    mcp_pool          *pool = NULL;
    mcp_evaluation     a, b;
    const mcp_evaluate_settings q = {.trial = 1, .runs = 20, .seed = 1};
    REQUIRE(t);
    REQUIRE_OK(finish(t, &s, 1, theta, ROOM, err));
    REQUIRE_OK(mcp_system_create(&system, t, err));
    REQUIRE_OK(mcp_pool_create(&pool, 3, err));
    REQUIRE_OK(mcp_evaluate_plant(&a, system, theta, &q, NULL, err));
    REQUIRE_OK(mcp_evaluate_plant(&b, system, theta, &q, pool, err));
    CHECK(!memcmp(a.cost, b.cost, 20 * sizeof *a.cost) && a.cost[0] != a.cost[1]);
    CHECK(a.successes == b.successes && a.cost_p05 <= a.cost_median && a.cost_median <= a.cost_p95);
    mcp_evaluation_clear(&a);
    mcp_evaluation_clear(&b);
    mcp_pool_free(pool);
    mcp_system_free(system);
    mcp_task_free(t);
}

CASE(a_risky_policy_is_not_run)
{
    mcp_task          *t = NULL;
    mcp_learn_settings s = settings(NULL);
    mcp_learner       *l = NULL;
    const mcp_learn_info *info;
    mcp_error          e;
    const char        *set[TINY + 1];
    memcpy(set, tiny, sizeof tiny);
    set[TINY] = "limits={far: abs(theta) > 0.5}";
    REQUIRE_OK(mcp_task_load(&t, TEST_SOURCE_DIR "/tasks/pendulum.yaml", set, TINY + 1, err));
    s.risk = 0.0;
    REQUIRE_OK(mcp_learner_create(&l, t, &s, err));
    REQUIRE_OK(mcp_learner_trial(l, &info, err));
    CHECK(info->explored);
    CHECK(mcp_learner_trial(l, &info, &e) == MCP_ERR_PLANT);
    CHECK_HAS(e.text, "was not run");
    CHECK(info->forecast_limit > 0.0 && mcp_learner_trials(l) == 0);
    mcp_learner_free(l);
    mcp_task_free(t);
}

/* Second policy trial of the tiny pendulum, whose first one has hardly been optimised and fails. */
static int second_trial(const char *setting, mcp_learn_info *out)
{
    mcp_task          *t = NULL;
    mcp_learn_settings s = settings(NULL);
    mcp_learner       *l = NULL;
    const char        *set[TINY + 3];
    int                failed = 0;
    memcpy(set, tiny, sizeof tiny);
    set[TINY] = setting;
    set[TINY + 1] = "optimise.steps_first=6";
    set[TINY + 2] = "inputs.u.limit=1.2";
    CHECK_OK(mcp_task_load(&t, TEST_SOURCE_DIR "/tasks/pendulum.yaml", set, TINY + 3, err));
    if (t) CHECK_OK(mcp_learner_create(&l, t, &s, err));
    for (int i = 0; l && i < 3; i++) {
        const mcp_learn_info *info = NULL;
        CHECK_OK(mcp_learner_trial(l, &info, err));
        if (info) *out = *info;
        if (i == 1) failed = !out->success;
    }
    mcp_learner_free(l);
    mcp_task_free(t);
    return failed;
}

CASE(a_fresh_policy_is_tried_when_the_warm_start_leads_nowhere)
{
    mcp_learn_info without, with;
    REQUIRE(second_trial("optimise.second_try=0", &without));
    REQUIRE(second_trial("optimise.second_try=2", &with));
    CHECK(with.steps > without.steps);
    CHECK(with.cost_last <= without.cost_last && with.cost_first == without.cost_first);
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    snprintf(folder, sizeof folder, "learn-test-%ld", (long)getpid());
    if (mkdir(folder, 0777)) return 1;
    RUN(the_policy_does_not_depend_on_threads);
    RUN(a_run_stopped_again_and_again_ends_with_the_same_bits);
    RUN(what_a_kill_may_leave_out_is_made_again);
    RUN(resuming_means_the_same_run);
    RUN(a_run_folder_keeps_every_setting);
    RUN(a_model_read_back_forecasts_to_the_same_bits);
    RUN(a_damaged_trial_is_left_out_and_named);
    RUN(a_disk_that_fills_up_is_named_and_the_run_goes_on_later);
    RUN(coverage_counts_by_state_and_quarter);
    RUN(evaluation_is_the_same_for_any_number_of_threads);
    RUN(a_risky_policy_is_not_run);
    RUN(a_fresh_policy_is_tried_when_the_warm_start_leads_nowhere);
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (system(command)) return 1;
    return DONE();
}
