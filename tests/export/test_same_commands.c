/* test_same_commands.c - library, plant loop, exported C and exported Python give the same commands, sample
 * by sample, whatever they measure. */
#include "exported.h"
#include "mcpilco/controller.h"
#include "mcpilco/learn.h"
#include "plant/plant_handle.h"

enum { EPISODES = 30, LENGTH = STEPS + 1 };

/* Equal, but for what a compiler may do to the last bits on other machines. */
static int same(double a, double b, double limit)
{
    return fabs(a - b) <= 1e-12 * limit;
}

/* A plant that measures one episode of the hostile sequence. */
typedef struct {
    int    episode, at, ny, stops;
    double safe;
} frightful;

static void frighten(frightful *p, mcp_sample *s)
{
    s->time = 0.05 * p->at;
    hostile_sample((uint64_t)p->episode, p->at++, p->ny, 1, s->measured);
}

static mcp_status fright_reset(void *c, const double *x0, uint64_t seed, uint32_t trial, uint32_t run,
                               mcp_sample *first, mcp_error *err)
{
    (void)x0, (void)seed, (void)trial, (void)run, (void)err;
    ((frightful *)c)->at = 0;
    frighten(c, first);
    return MCP_OK;
}

static mcp_status fright_step(void *c, const double *u, mcp_sample *next, mcp_error *err)
{
    (void)u, (void)err;
    frighten(c, next);
    return MCP_OK;
}

static mcp_status fright_stop(void *c, const double *safe, mcp_error *err)
{
    frightful *p = c;
    (void)err;
    p->safe = safe[0];
    p->stops++;
    return MCP_OK;
}

/* The plant loop against the library, until the loop ends: at a sample that cannot be used, or that no plant
 * would measure. Returns the number of commands compared. */
static int compare_loop(exported *x, mcp_plant *plant, frightful *p, mcp_trial *t, const double *u,
                        const int *bad)
{
    const double limit = x->f.task->input[0].high;
    double       y[MCP_MAX_STATE], safe;
    int          first = 0, compared = 0;
    p->stops = 0;
    mcp_plant_run(plant, x->f.theta, (mcp_trial_key){1, 0, 0}, NULL, NULL, t, NULL);
    while (first < LENGTH && !bad[first]) first++;
    CHECK(t->samples <= first && p->stops == 1);
    mcp_runtime_reset(x->runtime);
    for (int i = 0; i < t->samples; i++) {
        hostile_sample((uint64_t)p->episode, i, p->ny, 1, y);
        mcp_runtime_step(x->runtime, x->f.theta, NULL, y);
        if (isnan(t->input[i])) continue; /* no command after the last sample */
        CHECK(same(t->input[i], u[i], limit));
        compared++;
    }
    mcp_runtime_safe(x->runtime, &safe);
    CHECK(same(p->safe, safe, limit));
    return compared;
}

/* Every sample of every episode through the exported Python; the answers as text, read back here. */
static int run_python(const exported *x, double *u, int *bad)
{
    char  path[200], command[400];
    FILE *f;
    snprintf(path, sizeof path, "%s/drive.py", x->folder);
    if (!(f = fopen(path, "w"))) return 0;
    fprintf(f, "import ctl\nc = ctl.Controller()\nfor line in open('in.txt'):\n    words = line.split()\n"
               "    if not words:\n        c.start()\n        continue\n"
               "    u = c.control([float.fromhex(w) for w in words])\n    print(int(c.good), u[0].hex())\n");
    fclose(f);
    snprintf(path, sizeof path, "%s/in.txt", x->folder);
    if (!(f = fopen(path, "w"))) return 0;
    for (int e = 0; e < EPISODES; e++) {
        fprintf(f, "\n");
        for (int t = 0; t < LENGTH; t++) {
            double y[MCP_MAX_STATE];
            hostile_sample((uint64_t)e, t, x->f.system->ny, 1, y);
            for (int i = 0; i < x->f.system->ny; i++) fprintf(f, "%a ", y[i]);
            fprintf(f, "\n");
        }
    }
    fclose(f);
    snprintf(command, sizeof command, "cd %s && python3 ctl.py > selftest.txt && python3 drive.py > out.txt",
             x->folder);
    if (system(command)) return 0;
    snprintf(path, sizeof path, "%s/out.txt", x->folder);
    if (!(f = fopen(path, "r"))) return 0;
    int n = 0, good;
    while (n < EPISODES * LENGTH && fscanf(f, "%d %la", &good, &u[n]) == 2) bad[n++] = !good;
    fclose(f);
    return n == EPISODES * LENGTH;
}

static void compare(const char *what, const parts *p)
{
    static exported x;
    static double   u[EPISODES * LENGTH], v[EPISODES * LENGTH];
    static int      bad[EPISODES * LENGTH], worse[EPISODES * LENGTH];
    frightful       fright = {0};
    mcp_plant      *plant = NULL;
    mcp_trial      *trial = NULL;
    mcp_plant_ops   ops = {fright_reset, fright_step, fright_stop, NULL};
    int             faults = 0, differ = 0, alive = 0, looped = 0;
    if (exported_make(&x, p, 0)) {
        const double limit = x.f.task->input[0].high;
        fright.ny = x.f.system->ny;
        CHECK_OK(mcp_plant_from_ops(&plant, x.f.system, &ops, &fright, err));
        CHECK_OK(mcp_trial_create(&trial, x.f.task, err));
        for (int e = 0; e < EPISODES; e++) {
            mcp_runtime_reset(x.runtime);
            x.start(x.state);
            for (int t = 0; t < LENGTH; t++) {
                double y[MCP_MAX_STATE], c = NAN;
                int    n = e * LENGTH + t;
                hostile_sample((uint64_t)e, t, fright.ny, 1, y);
                bad[n] = mcp_runtime_step(x.runtime, x.f.theta, NULL, y) != MCP_FAULT_NONE;
                u[n] = x.runtime->command[0];
                faults += bad[n];
                alive += n && fabs(u[n] - u[n - 1]) > 1e-3;
                differ += exported_step(&x, y, &c) != bad[n] || !same(c, u[n], limit);
                CHECK(isfinite(u[n]) && fabs(u[n]) <= limit);
            }
            fright.episode = e;
            looped += compare_loop(&x, plant, &fright, trial, u + e * LENGTH, bad + e * LENGTH);
        }
        if (differ) FAIL_("%s: exported C differs in %d of %d samples", what, differ, EPISODES * LENGTH);
        if (faults < 20 || alive < EPISODES * LENGTH / 8 || looped < EPISODES)
            FAIL_("%s: %d faults, %d changes, %d in the loop are too few", what, faults, alive, looped);
        if (!run_python(&x, v, worse)) FAIL_("%s: the exported Python does not run", what);
        for (int n = differ = 0; n < EPISODES * LENGTH; n++)
            differ += worse[n] != bad[n] || !same(u[n], v[n], limit);
        if (differ) FAIL_("%s: exported Python differs in %d of %d samples", what, differ, EPISODES * LENGTH);
    }
    mcp_trial_free(trial);
    mcp_plant_close(plant);
    exported_free(&x);
}

CASE(library_plant_loop_c_and_python_agree)
{
    for (int i = 0; i < CONTROLLERS; i++) compare(controllers[i].what, &controllers[i].p);
}

/* Float exports against the double library, near the first turn and fifty thousand turns later. */
CASE(float_does_not_lose_digits_with_the_turns)
{
    static exported x;
    enum { SAMPLES = 200000, WINDOW = 2000 };
    for (int i = 0; i < 3; i++) {
        double near = 0.0, far = 0.0;
        if (exported_make(&x, &controllers[i].p, 1)) {
            mcp_runtime_reset(x.runtime);
            x.start(x.state);
            for (int t = 0; t < SAMPLES; t++) {
                double y[2] = {sin(0.3 * t), mcp_angle_wrap(1.6 * t + sin(0.05 * t))}, u;
                y[0] = (double)(float)y[0]; /* both see what a float sensor gives */
                y[1] = (double)(float)y[1];
                CHECK(mcp_runtime_step(x.runtime, x.f.theta, NULL, y) == MCP_FAULT_NONE);
                CHECK(!exported_step(&x, y, &u));
                double e = fabs(u - x.runtime->command[0]);
                if (t < WINDOW) near = fmax(near, e);
                if (t >= SAMPLES - WINDOW) far = fmax(far, e);
            }
            CHECK(x.runtime->turns[1] > 50000.0);
        }
        printf("     %s: error %.2g at first, %.2g after %.0f turns\n", controllers[i].what, near, far,
               x.runtime ? x.runtime->turns[1] : 0.0);
        CHECK(near < 1e-3 && far <= 2.0 * near + 1e-6);
        exported_free(&x);
    }
}

/* A set-point moved while the controller runs: plant loop's runtime, library, exported C and Python. */
static double goal_of(int t, int which)
{
    return which ? 2.0 : 0.1 * (double)(t / 7) - 0.4;
}

static int goals_in_python(const exported *x, double *u, int samples)
{
    char  path[200], command[300];
    FILE *f;
    int   n = 0;
    snprintf(path, sizeof path, "%s/goals.py", x->folder);
    if (!(f = fopen(path, "w"))) return 0;
    fprintf(f, "import ctl\nc = ctl.Controller()\nassert c.goal == {'r': 0.0, 's': 2.0}\n"
               "try:\n    c.set_goal('q', 1)\n    raise SystemExit(1)\nexcept ValueError:\n    pass\n");
    for (int t = 0; t < samples; t++) {
        double y[MCP_MAX_STATE];
        hostile_sample(4, t, 2, 0, y);
        fprintf(f, "c.set_goal('r', float.fromhex('%a'))\n", goal_of(t, 0));
        fprintf(f, "print(c.control([float.fromhex('%a'), float.fromhex('%a')])[0].hex())\n", y[0], y[1]);
    }
    fclose(f);
    snprintf(command, sizeof command, "cd %s && python3 ctl.py > selftest.txt && python3 goals.py > out.txt",
             x->folder);
    if (system(command)) return 0;
    snprintf(path, sizeof path, "%s/out.txt", x->folder);
    if (!(f = fopen(path, "r"))) return 0;
    while (n < samples && fscanf(f, "%la", &u[n]) == 1) n++;
    fclose(f);
    return n == samples;
}

typedef int set_goal_fn(void *, int, double);
CASE(goals_that_are_set_mean_the_same_everywhere)
{
    enum { SAMPLES = 60 };
    static const parts p = {.more = "goals: {r: [-1, 1], s: {mean: 2, std: 0.1}}\n"
                                    "state: [p, dp, theta, dtheta]\n"
                                    "plant: {ode: {dp: u, dtheta: -sin(theta) - u}}\n",
                            .policy = "3*tanh(rbf(7, p, dp/5, dtheta/30, r, s)/3)"};
    static exported    x;
    mcp_controller    *c = NULL;
    mcp_controller_info info;
    set_goal_fn       *set_goal;
    double             python[SAMPLES], last = 0.0, moved = 0.0;
    char               path[200];
    if (!exported_make(&x, &p, 0)) return;
    snprintf(path, sizeof path, "%s/ctl.json", x.folder);
    CHECK_OK(mcp_controller_load_json(&c, path, err));
    *(void **)&set_goal = dlsym(x.library, "ctl_set_goal");
    REQUIRE(c && set_goal && goals_in_python(&x, python, SAMPLES));
    mcp_controller_describe(c, &info);
    CHECK(info.measured == 2 && !mcp_controller_measured_name(c, 2));
    CHECK(!strcmp(mcp_controller_goal_name(c, 0), "r") && !mcp_controller_goal_name(c, 2));
    CHECK(mcp_controller_goal(c, 0) == 0.0 && mcp_controller_goal(c, 1) == 2.0);
    CHECK(mcp_controller_set_goal(c, "t", 1.0, NULL) == MCP_ERR_ARG);
    CHECK(mcp_controller_set_goal(c, "r", NAN, NULL) == MCP_ERR_ARG && mcp_controller_goal(c, 0) == 0.0);
    mcp_runtime_reset(x.runtime);
    x.start(x.state);
    CHECK(set_goal(x.state, 2, 0.0) == 1 && set_goal(x.state, 0, NAN) == 1);
    for (int t = 0; t < SAMPLES; t++) {
        double y[4], u = NAN, v = NAN;
        hostile_sample(4, t, 2, 0, y);
        y[2] = goal_of(t, 0);
        y[3] = goal_of(t, 1);
        CHECK(mcp_runtime_step(x.runtime, x.f.theta, NULL, y) == MCP_FAULT_NONE);
        CHECK_OK(mcp_controller_set_goal(c, "r", y[2], err));
        CHECK(set_goal(x.state, 0, y[2]) == 0);
        CHECK(mcp_controller_step(c, y, &u, NULL) == MCP_STEP_OK && !x.control(x.state, y, &v));
        CHECK(same(u, x.runtime->command[0], 3.0) && same(v, u, 3.0) && same(python[t], u, 3.0));
        moved = fmax(moved, fabs(u - last));
        last  = u;
    }
    CHECK(moved > 0.1);
    mcp_controller_reset(c);
    CHECK(mcp_controller_goal(c, 0) == 0.0);
    mcp_controller_free(c);
    exported_free(&x);
}

/* The public controller of a learned run against its export. */
CASE(the_public_controller_agrees_with_its_export)
{
    static const char *const set[] = {"optimise.particles=24", "optimise.steps_first=10",
                                      "measured.theta.wraps=yes", "inputs.u.slew=20",
                                      "observer={type: kalman, drive: 50}", "safe=-0.5*dtheta"};
    mcp_task                *task = NULL;
    mcp_learner             *l = NULL;
    mcp_controller          *c = NULL;
    mcp_run                 *r = NULL;
    mcp_learn_settings       s;
    mcp_export_info          sizes;
    static exported          x;
    REQUIRE(!system("rm -rf same-run same-export"));
    REQUIRE_OK(mcp_task_load(&task, TEST_SOURCE_DIR "/tasks/pendulum.yaml", set, 6, err));
    mcp_learn_settings_default(&s);
    s.folder = "same-run";
    s.threads = 1;
    REQUIRE_OK(mcp_learner_create(&l, task, &s, err));
    while (mcp_learner_trials(l) < 1) REQUIRE_OK(mcp_learner_trial(l, NULL, err));
    mcp_learner_close(l, MCP_RUN_IS_FINISHED, NULL);
    mcp_learner_free(l);
    mcp_task_free(task);
    REQUIRE_OK(mcp_controller_load(&c, "same-run", 1, err));
    REQUIRE_OK(mcp_run_open(&r, "same-run", NULL, err));
    mcp_export_settings how = {.prefix = "ctl"};
    REQUIRE_OK(mcp_export_controller(r, mcp_run_trial(r, 1), "same-export", &how, &sizes, err));
    snprintf(x.folder, sizeof x.folder, "same-export");
    REQUIRE(exported_load(&x));
    mcp_controller_reset(c);
    x.start(x.state);
    for (int t = 0; t < 20000; t++) {
        double y[2], u = NAN, v = NAN;
        hostile_sample(99, t, 2, 1, y);
        int bad = mcp_controller_step(c, y + 1, &u, NULL);
        CHECK(x.control(x.state, y + 1, &v) == bad && same(u, v, 2.5) && fabs(u) <= 2.5);
        mcp_controller_safe(c, &u);
        x.safe(x.state, &v);
        CHECK(same(u, v, 2.5));
    }
    mcp_controller_free(c);
    mcp_run_free(r);
    exported_free(&x);
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(library_plant_loop_c_and_python_agree);
    RUN(float_does_not_lose_digits_with_the_turns);
    RUN(goals_that_are_set_mean_the_same_everywhere);
    RUN(the_public_controller_agrees_with_its_export);
    return DONE();
}
