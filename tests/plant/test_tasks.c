/* test_tasks.c - the plants of the shipped tasks against SciPy (ode_reference.py) and against each other. */
#include "io/csv.h"
#include "plant/plant_parts.h"
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

/* Drives the plant with the inputs of a reference file and compares its true states; returns the largest
 * difference. States behind those of the file are memory (the input before), and start at zero. */
static double follow(rig *r, const char *name)
{
    char         path[256];
    mcp_csv     *c = NULL;
    mcp_sample   s;
    mcp_error    why = {MCP_OK, ""};
    double       worst = 0.0, start[MCP_MAX_STATE] = {0};
    int          nx = 0, nu = r->system->nu;
    snprintf(path, sizeof path, TEST_SOURCE_DIR "/tests/plant/ode_%s.csv", name);
    if (mcp_csv_read(&c, path, &why) == MCP_OK) {
        nx = c->columns - 1 - nu < r->system->nx ? c->columns - 1 - nu
                                                 : r->system->nx; /* the file may hold more, too */
        CHECK(nx >= 4);
        memcpy(start, c->value + 1 + nu, (size_t)nx * sizeof *start);
    }
    if (!c || r->plant->ops.reset(r->plant->context, start, 1, 0, 0, &s, &why) != MCP_OK) {
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
#include <mujoco/mujoco.h>

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
    CHECK_OK(mcp_plant_run(r.plant, NULL, (mcp_trial_key){5, 0, 0}, NULL, NULL, a, err));
    CHECK_OK(mcp_plant_run(r.plant, NULL, (mcp_trial_key){5, 0, 0}, NULL, NULL, b, err));
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

/* A box that falls on the floor. As long as nothing touches, a stack of 60 numbers is enough. */
static int drop(rig *r)
{
    static const char model[] =
        "<mujoco><size nstack='60' njmax='100' nconmax='20'/><option timestep='0.01'/><worldbody>"
        "<geom type='plane' size='1 1 1'/><body pos='0 0 0.5'><joint name='z' type='slide' axis='0 0 1'/>"
        "<geom type='box' size='0.1 0.1 0.1' mass='1'/></body></worldbody>"
        "<actuator><motor name='lift' joint='z'/></actuator></mujoco>";
    static const char text[] =
        "name: drop\nrate: 50\ntrial: 2\nstate: {z: m, v: m/s}\ninputs: {u: 1}\nmeasured: {z: 1e-3}\n"
        "model: {velocities: {z: v}}\ncost: z^2\nstart: {std: 0}\nexplore: {type: uniform}\n"
        "plant: {mujoco: drop.xml, map: {z: joint z position, v: joint z velocity, u: actuator lift}}\n";
    mcp_task *task = NULL;
    mcp_error why  = {MCP_OK, ""};
    FILE     *f    = fopen("drop.xml", "w");
    if (f) {
        fputs(model, f);
        fclose(f);
    }
    (void)mcp_task_parse(&task, "drop.yaml", text, NULL, 0, &why);
    if (rig_create(r, task, NULL, NULL, &why) == MCP_OK) return 1;
    FAIL_("%s", why.text);
    return 0;
}

CASE(mujoco_has_room_for_contacts_that_come_later)
{
    rig r;
    if (!drop(&r)) return;
    CHECK_OK(mcp_plant_run(r.plant, NULL, (mcp_trial_key){5, 0, 0}, NULL, NULL, r.trial, err));
    CHECK(r.trial->samples == 101);
    CHECK_CLOSE(r.trial->truth[2 * 100], -0.4, 0, 0.02); /* on the floor */
    rig_close(&r);
}

static int asked;

static void break_at_20(const mjModel *m, mjData *d)
{
    (void)m, (void)d;
    if (++asked == 20) mju_error("the test's own error");
}

CASE(an_error_inside_mujoco_ends_the_trial_at_once_and_names_the_model)
{
    rig       r;
    mcp_error why = {MCP_OK, ""};
    if (!drop(&r)) return;
    asked        = 0;
    mjcb_control = break_at_20; /* asked once a time step, and once for the first sample */
    CHECK(mcp_plant_run(r.plant, NULL, (mcp_trial_key){5, 0, 0}, NULL, NULL, r.trial, &why) == MCP_ERR_PLANT);
    mjcb_control = NULL;
    CHECK_HAS(why.text, "drop.xml: MuJoCo stopped before sample 10: the test's own error");
    CHECK(asked == 20);
    CHECK(r.trial->samples == 10);
    /* and the next trial is whole */
    CHECK_OK(mcp_plant_run(r.plant, NULL, (mcp_trial_key){5, 1, 0}, NULL, NULL, r.trial, err));
    CHECK(r.trial->samples == 101);
    rig_close(&r);
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
    RUN(mujoco_has_room_for_contacts_that_come_later);
    RUN(an_error_inside_mujoco_ends_the_trial_at_once_and_names_the_model);
#endif
    return DONE();
}
