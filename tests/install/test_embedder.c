/* test_embedder.c - a host program that knows the public headers alone; valid C11 and C++11. In the tree it
 * is a test like any other; test_embedding.sh builds it outside against an installed prefix.
 *
 *   test_embedder [FOLDER]        learns on its own plant with its own kernel, stops, goes on, reads all
 *   test_embedder json FILE RUN   the exported controller against the run it was exported from */
#include <math.h>
#include <mcpilco/mcpilco.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failed;
#define CHECK(condition) check((condition) != 0, #condition, __LINE__)
#define OK(call) check((call) == MCP_OK, err.text, __LINE__)
static mcp_error err;

static void check(int good, const char *what, int line)
{
    if (good) return;
    failed++;
    printf("FAIL line %d: %s\n", line, what);
    fflush(stdout);
}

static const char task_text[] =
    "name: own-pendulum\n"
    "rate: 20\n"
    "trial: 2.0\n"
    "state: {theta: {unit: rad, angle: yes}, dtheta: rad/s}\n"
    "inputs: {u: {limit: 2.5, unit: N m}}\n"
    "measured: {theta: 3e-3}\nobserver: difference\nsmoother: central-difference\n"
    "model: {velocities: {theta: dtheta}, features: [dtheta, sin(theta), u], kernel: 'se + drag(dtheta)'}\n"
    "policy: 2.5*tanh(rbf(20, dtheta, sin(theta), cos(theta))/2.5)\n"
    "cost: 1 - exp(-((abs(theta) - pi)/2)^2)\n"
    "start: {std: 0.01}\n"
    "explore: {type: sines, frequency: [0.2, 2], amplitude: 0.2, trials: 2}\n"
    "success: {when: abs(abs(theta) - pi) < 0.3, last: 0.5}\n"
    "plant: {callback: yes}\n"
    "optimise: {particles: 96, steps_first: 25}\n";

/* A kernel of our own, on one feature: s^2 x z. */
static double drag_value(void *user, const double *p, const double *x, const double *z)
{
    (void)user;
    return exp(2 * p[0]) * x[0] * z[0];
}

static double drag_gradient(void *user, const double *p, const double *x, const double *z, double scale,
                            double *dx, double *dp)
{
    double k = drag_value(user, p, x, z);
    if (dx) dx[0] += scale * exp(2 * p[0]) * z[0];
    if (dp) dp[0] += scale * 2 * k;
    return k;
}

static mcp_registry *make_registry(void)
{
    mcp_registry   *r = NULL;
    mcp_user_kernel k;
    mcp_user_kernel_default(&k);
    k.params = 1;
    k.value = drag_value;
    k.gradient = drag_gradient;
    OK(mcp_registry_create(&r, &err));
    OK(mcp_registry_add_kernel(r, "drag", &k, &err));
    return r;
}

/* A plant of our own. */
typedef struct {
    double theta, omega;
    int    sample;
} pendulum;

static void measure(const pendulum *p, mcp_sample *s)
{
    s->time = p->sample / 20.0;
    s->measured[0] = p->theta;
}

static mcp_status reset(void *context, const double *x0, uint64_t seed, uint32_t trial, uint32_t run,
                        mcp_sample *first, mcp_error *e)
{
    pendulum *p = (pendulum *)context;
    (void)seed, (void)e;
    p->theta = x0[0] + 1e-3 * (run + trial);
    p->omega = x0[1];
    p->sample = 0;
    measure(p, first);
    return MCP_OK;
}

static mcp_status step(void *context, const double *u, mcp_sample *next, mcp_error *e)
{
    pendulum *p = (pendulum *)context;
    for (int i = 0; i < 50; i++) {
        p->omega += 1e-3 * (u[0] - 0.02 * p->omega - 4.905 * sin(p->theta)) / 0.25;
        p->theta += 1e-3 * p->omega;
    }
    if (!isfinite(p->theta)) return mcp_fail(e, MCP_ERR_PLANT, "the pendulum flew away");
    p->sample++;
    measure(p, next);
    return MCP_OK;
}

static mcp_status stop(void *context, const double *safe_u, mcp_error *e)
{
    (void)context, (void)safe_u, (void)e;
    return MCP_OK;
}

static pendulum            body;
static const mcp_plant_ops plant = {reset, step, stop, NULL};

static mcp_task *make_task(const mcp_registry *registry)
{
    static const char *const set[] = {"optimise.particles=32", "optimise.steps=25"};
    mcp_task                *task = NULL;
    mcp_task_source          s;
    mcp_task_source_default(&s);
    s.text = task_text;
    s.overrides = set;
    s.override_count = 2;
    CHECK(mcp_task_read(&task, &s, &err) == MCP_ERR_TASK && !task && strstr(err.text, "\"drag\""));
    s.registry = registry;
    OK(mcp_task_read(&task, &s, &err));
    return task;
}

static mcp_learn_settings settings(void)
{
    mcp_learn_settings s;
    mcp_learn_settings_default(&s);
    s.seed = 2;
    s.threads = 1;
    s.plant = &plant;
    s.plant_context = &body;
    return s;
}

enum { TRIALS = 2 };

static const double *policy(const mcp_run *r, int number, int *count)
{
    mcp_array a;
    *count = 0;
    if (!mcp_run_array(r, mcp_run_explored(r) + number - 1, MCP_ARRAY_POLICY, &a)) return NULL;
    *count = a.shape[0];
    return a.data;
}

static int same(const mcp_run *a, const mcp_run *b, int i, mcp_array_kind kind)
{
    mcp_array x, y;
    if (!mcp_run_array(a, i, kind, &x) || !mcp_run_array(b, i, kind, &y)) return 0;
    if (memcmp(x.shape, y.shape, sizeof x.shape) || x.first != y.first) return 0;
    return !memcmp(x.data, y.data, sizeof(double) * (size_t)(x.shape[0] * x.shape[1] * x.shape[2]));
}

static mcp_learner *learn(const mcp_task *task, const char *folder)
{
    mcp_learner          *l = NULL;
    mcp_learn_settings    s = settings();
    const mcp_learn_info *info = NULL;
    s.folder = folder;
    OK(mcp_learner_create(&l, task, &s, &err));
    while (l && mcp_learner_trials(l) < TRIALS) {
        if (mcp_learner_trial(l, &info, &err) != MCP_OK) {
            check(0, err.text, __LINE__);
            break;
        }
        CHECK(info->samples == 41 && isfinite(info->cost));
    }
    if (l) OK(mcp_learner_close(l, MCP_RUN_IS_FINISHED, &err));
    return l;
}

/* Says stop now and then; everything must still come out the same. */
static int calls;
static int now_and_then(void *context, const mcp_learn_progress *p)
{
    (void)context, (void)p;
    return ++calls % 97 == 0;
}

static void a_stopped_learner_goes_on(const mcp_task *task, const mcp_run *whole)
{
    mcp_learner       *l = NULL;
    mcp_learn_settings s = settings();
    int                stops = 0;
    s.progress = now_and_then;
    OK(mcp_learner_create(&l, task, &s, &err));
    if (!l) return;
    mcp_learner_stop(l); /* before anything is under way: the first call is stopped, once */
    while (mcp_learner_trials(l) < TRIALS && stops < 200) {
        mcp_status st = mcp_learner_trial(l, NULL, &err);
        stops += st == MCP_ERR_STOPPED;
        if (st != MCP_OK && st != MCP_ERR_STOPPED) {
            check(0, err.text, __LINE__);
            break;
        }
    }
    CHECK(stops > 2 && stops < 200);
    const mcp_run *r = mcp_learner_run(l);
    CHECK(mcp_run_count(r) == mcp_run_count(whole));
    for (int i = 0; i < mcp_run_count(whole); i++) CHECK(same(r, whole, i, MCP_ARRAY_MEASURED));
    CHECK(same(r, whole, mcp_run_count(whole) - 1, MCP_ARRAY_POLICY));
    mcp_learner_free(l);
}

/* Every trial of the run as somebody else would have recorded it: the same policies come out. */
static void recorded_trials_can_be_added(const mcp_task *task, const mcp_run *whole)
{
    mcp_learner       *l = NULL;
    mcp_learn_settings s = settings();
    s.plant = NULL; /* nothing may move */
    OK(mcp_learner_create(&l, task, &s, &err));
    for (int i = 0; l && i < mcp_run_count(whole); i++) {
        mcp_array             y, u;
        mcp_recorded_trial    t;
        const mcp_learn_info *info = NULL;
        CHECK(mcp_run_array(whole, i, MCP_ARRAY_MEASURED, &y));
        CHECK(mcp_run_array(whole, i, MCP_ARRAY_INPUT, &u));
        mcp_recorded_trial_default(&t);
        t.samples = y.shape[0];
        t.measured = y.data;
        t.input = u.data;
        if (i == mcp_run_explored(whole)) {
            CHECK(mcp_learner_add_trial(l, &t, &info, &err) == MCP_ERR_ARG && strstr(err.text, "prepare"));
            OK(mcp_learner_prepare(l, NULL, &err));
        } else if (i > mcp_run_explored(whole)) {
            OK(mcp_learner_prepare(l, NULL, &err));
        }
        OK(mcp_learner_add_trial(l, &t, &info, &err));
        CHECK(info && info->samples == t.samples && info->cost == mcp_run_info(whole, i)->cost);
        CHECK(same(mcp_learner_run(l), whole, i, MCP_ARRAY_STATES));
    }
    if (l) CHECK(same(mcp_learner_run(l), whole, mcp_run_count(whole) - 1, MCP_ARRAY_POLICY));

    double             y[3] = {0, NAN, 0}, u[3] = {0, 0, 0};
    mcp_recorded_trial bad;
    mcp_recorded_trial_default(&bad);
    bad.samples = 3;
    bad.measured = y;
    bad.input = u;
    if (l) CHECK(mcp_learner_add_trial(l, &bad, NULL, &err) == MCP_ERR_ARG && strstr(err.text, "theta"));
    mcp_learner_free(l);
}

static void a_run_shows_its_numbers(const mcp_run *r)
{
    const mcp_task *task = mcp_run_task(r);
    mcp_array       a;
    int             last = mcp_run_count(r) - 1;
    CHECK(mcp_run_explored(r) == 2 && mcp_run_trials(r) == TRIALS && last == 3);
    CHECK(mcp_task_count(task, MCP_NAMES_STATES) == 2 && !mcp_task_name(task, MCP_NAMES_INPUTS, 1));
    CHECK(!strcmp(mcp_task_name(task, MCP_NAMES_STATES, 1), "dtheta"));
    CHECK(!strcmp(mcp_task_name(task, MCP_NAMES_TARGETS, 0), "dtheta"));
    CHECK(!strcmp(mcp_task_unit(task, MCP_NAMES_INPUTS, 0), "N m") && mcp_task_input_limit(task, 0) == 2.5);
    CHECK(mcp_task_rate(task) == 20 && mcp_task_steps(task) == 40 && !strcmp(mcp_task_text(task), task_text));
    CHECK(!strcmp(mcp_run_algorithm(r), "mc-pilco4pms") && mcp_run_seed(r) == 2);
    CHECK(mcp_run_recommended(r) >= 1 && mcp_run_recommended(r) <= TRIALS);

    CHECK(mcp_run_array(r, last, MCP_ARRAY_TIME, &a) && a.shape[0] == 41 && a.data[40] == 2.0);
    CHECK(mcp_run_array(r, last, MCP_ARRAY_OBSERVED, &a) && a.shape[1] == 2);
    CHECK(mcp_run_array(r, last, MCP_ARRAY_TRUTH, &a) && isnan(a.data[0]));
    CHECK(mcp_run_array(r, last, MCP_ARRAY_INPUT, &a) && a.shape[1] == 1 && isnan(a.data[40]));
    CHECK(mcp_run_array(r, last, MCP_ARRAY_STATES, &a) && a.shape[0] + a.first <= 41 && a.shape[0] > 30);
    CHECK(mcp_run_array(r, last, MCP_ARRAY_PARTICLES, &a) && a.shape[1] == 100 && a.shape[2] == 2);
    mcp_array low, high;
    CHECK(mcp_run_array(r, last, MCP_ARRAY_FORECAST_LOW, &low));
    CHECK(mcp_run_array(r, last, MCP_ARRAY_FORECAST_HIGH, &high));
    for (int i = 0; i < low.shape[0] * low.shape[1]; i++) CHECK(low.data[i] <= high.data[i]);
    CHECK(!mcp_run_array(r, 0, MCP_ARRAY_POLICY, &a) && !mcp_run_array(r, 0, MCP_ARRAY_FORECAST_LOW, &a));
    CHECK(!mcp_run_array(r, last + 1, MCP_ARRAY_TIME, &a) && !a.data && !mcp_run_info(r, last + 1));
}

/* Predictions at the states of a trial: near what happened next, and the same by both ways. */
static void a_model_predicts(const mcp_run *r)
{
    mcp_model *m = NULL;
    mcp_array  z, u;
    enum { N = 20 };
    double f[N * 3], mean[N], std[N], other[N], next[2 * N], worst = 0;
    OK(mcp_model_open(&m, r, 0, 1, &err));
    if (!m) return;
    CHECK(mcp_model_targets(m) == 1 && mcp_model_features(m) == 3);
    CHECK(mcp_model_gp(m, 0) && !mcp_model_gp(m, 1));
    CHECK(strstr(mcp_kernel_text(mcp_gp_kernel(mcp_model_gp(m, 0))), "drag(0)"));
    CHECK(mcp_run_array(r, 1, MCP_ARRAY_STATES, &z) && mcp_run_array(r, 1, MCP_ARRAY_APPLIED, &u));
    const double *x = z.data, *v = u.data + z.first;
    OK(mcp_model_describe(m, N, x, v, f, &err));
    CHECK(f[0] == x[1] && f[2] == v[0]);
    OK(mcp_model_predict(m, N, x, v, mean, std, &err));
    OK(mcp_model_predict_features(m, N, f, other, NULL, &err));
    CHECK(!memcmp(mean, other, sizeof mean)); /* this task has no prior mean */
    OK(mcp_model_step(m, N, x, v, next, &err));
    for (int i = 0; i < N; i++) {
        CHECK(std[i] > 0 && fabs(next[2 * i + 1] - x[2 * i + 1] - mean[i]) < 1e-12);
        worst = fmax(worst, fabs(next[2 * i] - x[2 * (i + 1)]));
    }
    CHECK(worst < 0.05);
    CHECK(mcp_model_predict(m, N, NULL, v, mean, std, &err) == MCP_ERR_ARG);
    mcp_model_free(m);
    CHECK(mcp_model_open(&m, r, 9, 1, &err) == MCP_ERR_ARG && !m);
}

static int count_runs(void *context, int done, int runs)
{
    (void)runs;
    *(int *)context = done;
    return 0;
}

static void a_policy_is_evaluated(const mcp_run *r)
{
    mcp_evaluation       *e = NULL;
    mcp_evaluate_settings s;
    int                   seen = 0;
    mcp_evaluate_settings_default(&s);
    s.runs = 6;
    s.threads = 1;
    s.plant = &plant;
    s.plant_context = &body;
    s.progress = count_runs;
    s.progress_context = &seen;
    OK(mcp_run_evaluate(&e, r, &s, &err));
    CHECK(e && e->runs == 6 && seen == 6 && e->cost[0] != e->cost[1] && e->cost_p05 <= e->cost_p95);
    mcp_evaluation_free(e);
    s.where = MCP_ON_MODEL;
    s.runs = 50;
    OK(mcp_run_evaluate(&e, r, &s, &err));
    CHECK(e && e->runs == 50 && e->cost_median > 0);
    mcp_evaluation_free(e);
    s.trial = 7;
    CHECK(mcp_run_evaluate(&e, r, &s, &err) == MCP_ERR_ARG && !e);
}

/* The recorded measurements give the recorded commands. */
static void controls_as_recorded(mcp_controller *c, const mcp_run *r, int trial)
{
    mcp_array y, u;
    int       i = mcp_run_explored(r) + trial - 1;
    CHECK(mcp_run_array(r, i, MCP_ARRAY_MEASURED, &y) && mcp_run_array(r, i, MCP_ARRAY_INPUT, &u));
    mcp_controller_reset(c);
    for (int k = 0; k + 1 < y.shape[0]; k++) {
        double command[MCP_SAMPLE_INPUTS];
        CHECK(mcp_controller_step(c, y.data + k * y.shape[1], command, NULL) == MCP_STEP_OK);
        for (int j = 0; j < u.shape[1]; j++) CHECK(fabs(command[j] - u.data[k * u.shape[1] + j]) < 1e-9);
    }
}

static void a_folder_holds_the_same(const char *folder, const mcp_registry *registry, const mcp_run *r)
{
    mcp_run *from_folder = NULL;
    CHECK(mcp_run_open(&from_folder, folder, NULL, &err) != MCP_OK && !from_folder);
    CHECK(strstr(err.text, "drag"));
    OK(mcp_run_open_with(&from_folder, folder, registry, NULL, &err));
    if (!from_folder) return;
    CHECK(mcp_run_status(from_folder) == MCP_RUN_IS_FINISHED);
    for (int i = 0; i < mcp_run_count(r); i++)
        for (int kind = MCP_ARRAY_TIME; kind <= MCP_ARRAY_POLICY; kind++) {
            mcp_array a;
            if (kind == MCP_ARRAY_WALL || !mcp_run_array(r, i, (mcp_array_kind)kind, &a)) continue;
            CHECK(same(r, from_folder, i, (mcp_array_kind)kind) || kind == MCP_ARRAY_INPUT ||
                  kind == MCP_ARRAY_TRUTH); /* NaN has many bits */
        }
    a_model_predicts(from_folder);
    mcp_run_free(from_folder);
}

static int against_json(const char *file, const char *folder)
{
    mcp_run            *r = NULL;
    mcp_controller     *c = NULL;
    mcp_controller_info info;
    OK(mcp_run_open(&r, folder, NULL, &err));
    OK(mcp_controller_load_json(&c, file, &err));
    if (c && r) {
        mcp_controller_describe(c, &info);
        CHECK(info.rate == mcp_task_rate(mcp_run_task(r)));
        controls_as_recorded(c, r, mcp_run_recommended(r));
    }
    mcp_controller_free(c);
    mcp_run_free(r);
    return failed != 0;
}

int main(int argc, char **argv)
{
    const char *folder = argc == 2 ? argv[1] : "embedder-run";
    if (argc == 4 && !strcmp(argv[1], "json")) return against_json(argv[2], argv[3]);
    CHECK(mcp_version_number() == MCP_VERSION_NUMBER && !strcmp(mcp_version(), MCP_VERSION));
    mcp_machine machine;
    mcp_machine_info(&machine, sizeof machine);
    mcp_machine_one_blas_thread();
    CHECK(machine.cores >= 1 && machine.isa[0]);

    char remove[600];
    snprintf(remove, sizeof remove, "rm -rf '%s'", folder);
    if (system(remove)) return 1;
    mcp_registry *registry = make_registry();
    mcp_task     *task = make_task(registry);
    mcp_learner  *l = task ? learn(task, NULL) : NULL;
    if (l && !failed) {
        const mcp_run  *r = mcp_learner_run(l);
        mcp_controller *c = NULL;
        a_run_shows_its_numbers(r);
        a_model_predicts(r);
        a_policy_is_evaluated(r);
        a_stopped_learner_goes_on(task, r);
        recorded_trials_can_be_added(task, r);
        OK(mcp_controller_create(&c, r, TRIALS, &err));
        if (c) controls_as_recorded(c, r, TRIALS);
        mcp_controller_free(c);
        mcp_learner *stored = learn(task, folder);
        mcp_learner_free(stored);
        a_folder_holds_the_same(folder, registry, r);
        int           n = 0;
        const double *theta = policy(r, TRIALS, &n);
        double        sum = 0;
        for (int i = 0; i < n; i++) sum += theta[i];
        printf("policy of %d numbers, sum %.17g\n", n, sum);
    }
    mcp_learner_free(l);
    mcp_task_free(task);
    mcp_registry_free(registry);
    printf("%s\n", failed ? "FAILED" : "ok");
    return failed != 0;
}
