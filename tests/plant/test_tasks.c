/* test_tasks.c - the plants of the shipped tasks against SciPy (ode_reference.py) and against each other. */
#include "io/csv.h"
#include "plant/inside.h"
#include "rig.h"

static int rig_open(rig *r, const char *file, const char *const *set, int sets)
{
    char      path[256];
    mcp_task *task = NULL;
    mcp_error why  = {MCP_OK, ""};
    snprintf(path, sizeof path, TEST_SOURCE_DIR "/tasks/%s.yaml", file);
    (void)mcp_task_load(&task, path, set, sets, &why);
    if (rig_create(r, task, NULL, NULL, &why) == MCP_OK) return 1;
    FAIL_("%s", why.text);
    return 0;
}

/* Drives the plant with the inputs of a reference file and compares its true states; returns the largest difference. */
static double follow(rig *r, const char *name)
{
    char         path[256];
    mcp_csv     *c = NULL;
    mcp_sample   s;
    mcp_error    why = {MCP_OK, ""};
    double       worst = 0.0;
    int          nx = r->system->nx, nu = r->system->nu;
    snprintf(path, sizeof path, TEST_SOURCE_DIR "/tests/plant/ode_%s.csv", name);
    if (mcp_csv_read(&c, path, &why) != MCP_OK ||
        r->plant->ops.reset(r->plant->context, c->value + 1 + nu, 1, 0, 0, &s, &why) != MCP_OK) {
        FAIL_("%s", why.text);
        return INFINITY;
    }
    for (int k = 0; k + 1 < c->rows; k++) {
        const double *row = c->value + k * c->columns, *next = row + c->columns + 1 + nu;
        if (r->plant->ops.step(r->plant->context, row + 1, &s, &why) != MCP_OK) FAIL_("%s", why.text);
        for (int i = 0; i < nx; i++) worst = fmax(worst, fabs(s.truth[i] - next[i]));
    }
    mcp_csv_free(c);
    return worst;
}

static const char *const tight[] = {"plant.tolerance=1e-12"};

CASE(cartpole_task_agrees_with_scipy)
{
    rig r;
    REQUIRE(rig_open(&r, "cartpole", tight, 1));
    CHECK(follow(&r, "cartpole") < 1e-8);
    rig_close(&r);
    REQUIRE(rig_open(&r, "cartpole", NULL, 0));
    CHECK(follow(&r, "cartpole") < 1e-4); /* at the task's own tolerance */
    rig_close(&r);
}

CASE(furuta_task_agrees_with_scipy)
{
    rig r;
    REQUIRE(rig_open(&r, "furuta", tight, 1));
    CHECK(follow(&r, "furuta") < 1e-8);
    rig_close(&r);
}

CASE(ballplate_task_agrees_with_scipy)
{
    rig r;
    REQUIRE(rig_open(&r, "ballplate", tight, 1));
    CHECK(follow(&r, "ballplate") < 1e-9);
    rig_close(&r);
}

#ifdef MCP_HAVE_MUJOCO
CASE(mujoco_cartpole_moves_as_its_equations)
{
    rig r;
    REQUIRE(rig_open(&r, "mujoco-cartpole", NULL, 0));
    CHECK(follow(&r, "cartpole") < 1e-4); /* fixed-step RK4 at a tenth of a sample */
    rig_close(&r);
}

CASE(mujoco_trial_is_reproducible_and_noisy)
{
    rig        r;
    mcp_trial *a = NULL, *b = NULL;
    REQUIRE(rig_open(&r, "mujoco-cartpole", NULL, 0));
    REQUIRE_OK(mcp_trial_create(&a, r.task, err));
    REQUIRE_OK(mcp_trial_create(&b, r.task, err));
    CHECK_OK(mcp_plant_run(r.plant, NULL, 5, 0, 0, NULL, NULL, a, err));
    CHECK_OK(mcp_plant_run(r.plant, NULL, 5, 0, 0, NULL, NULL, b, err));
    CHECK(a->samples == 91 && !memcmp(a->truth, b->truth, 91 * 4 * sizeof(double)));
    CHECK(!memcmp(a->measured, b->measured, 91 * 2 * sizeof(double)));
    CHECK(a->measured[10] != a->truth[20]);
    mcp_trial_free(a);
    mcp_trial_free(b);
    rig_close(&r);
}

static void refused(const char *set, const char *part)
{
    mcp_error   why = {MCP_OK, ""};
    mcp_task   *task = NULL;
    mcp_system *s = NULL;
    mcp_plant  *p = NULL;
    REQUIRE_OK(mcp_task_load(&task, TEST_SOURCE_DIR "/tasks/mujoco-cartpole.yaml", &set, 1, err));
    REQUIRE_OK(mcp_system_create(&s, task, err));
    CHECK(mcp_plant_open(&p, s, &why) != MCP_OK && !p);
    CHECK_HAS(why.text, part);
    mcp_system_free(s);
    mcp_task_free(task);
}

CASE(mujoco_mistakes_are_named)
{
    refused("plant.mujoco=models/nothing.xml", "nothing.xml");
    refused("plant.mujoco=cartpole.yaml", "cartpole.yaml: MuJoCo cannot load the model");
    refused("plant.map.p=joint slide position", "the model has no joint named \"slide\"");
    refused("plant.map.p=joint slider speed", "joint slider position");
    refused("plant.map.u=actuator pull", "the model has no actuator named \"pull\"");
    refused("plant.map.u=motor push", "is not \"actuator NAME\"");
    refused("rate=31", "does not divide the sample time");
}
#endif

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(cartpole_task_agrees_with_scipy);
    RUN(furuta_task_agrees_with_scipy);
    RUN(ballplate_task_agrees_with_scipy);
#ifdef MCP_HAVE_MUJOCO
    RUN(mujoco_cartpole_moves_as_its_equations);
    RUN(mujoco_trial_is_reproducible_and_noisy);
    RUN(mujoco_mistakes_are_named);
#endif
    return DONE();
}
