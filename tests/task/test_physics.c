/* test_physics.c - the equations of motion in the shipped tasks: along the motion the energy changes by
 * exactly the power that motors bring in and friction takes out. A wrong sign, factor or missing term breaks
 * the balance. Energies are written here from the bodies, not from the tasks' equations. */
#include "test.h"

#include "math/arena.h"
#include "task/task_builder.h"
#include "task/task_data.h"

typedef struct {
    mcp_task    *task;
    mcp_program *slope;
    double      *work;
} plant;

static void close_plant(plant *p)
{
    mcp_program_free(p->slope);
    mcp_free(p->work);
    mcp_task_free(p->task);
}

/* x' = f(x, u) as the task file says it. */
static mcp_status open_plant(plant *p, const char *file, mcp_error *err)
{
    char         path[512];
    mcp_builder *b = NULL;
    *p             = (plant){NULL, NULL, NULL};
    snprintf(path, sizeof path, "%s/%s", TEST_SOURCE_DIR, file);
    mcp_status st = mcp_task_load(&p->task, path, NULL, 0, err);
    if (st != MCP_OK || (st = mcp_task_builder(&b, p->task, err)) != MCP_OK) return st;
    const mcp_task *t = p->task;
    st                = mcp_task_builder_states(b, t, err);
    if (st == MCP_OK) st = mcp_task_builder_inputs(b, t, err);
    for (int i = 0; i < t->plant.let.n && st == MCP_OK; i++)
        st = mcp_builder_define(b, t->plant.let.item[i].name, t->plant.let.item[i].expr.text,
                                t->plant.let.item[i].expr.at, err);
    for (int i = 0; i < t->nx && st == MCP_OK; i++)
        for (int k = 0; k < t->plant.ode.n && st == MCP_OK; k++)
            if (!strcmp(t->plant.ode.item[k].name, t->state[i])) {
                char name[48];
                snprintf(name, sizeof name, "slope_%d", i);
                st = mcp_builder_output(b, name, t->plant.ode.item[k].expr.text, t->plant.ode.item[k].expr.at,
                                        err);
            }
    if (st == MCP_OK) st = mcp_builder_finish(b, &p->slope, err);
    mcp_builder_free(b);
    if (st == MCP_OK && !(p->work = mcp_calloc(mcp_program_work(p->slope) + 1, sizeof(double))))
        st = MCP_ERR_MEMORY;
    return st;
}

typedef double energy_fn(const double *x);
typedef double power_fn(const double *x, double u);

/* dE/dt along the vector field, by central difference, against the power. */
static void check_balance(const char *file, energy_fn *energy, power_fn *power, const double *range)
{
    plant p;
    REQUIRE_OK(open_plant(&p, file, err));
    srand(1);
    for (int k = 0; k < 50; k++) {
        double in[8], dx[8], up[8], down[8], none = 0.0, h = 1e-6;
        int    nx = p.task->nx;
        for (int i = 0; i <= nx; i++) in[i] = range[i] * (2.0 * rand() / RAND_MAX - 1.0);
        mcp_program_step(p.slope, &none, 1, in, &none, dx, p.work);
        for (int i = 0; i < nx; i++) {
            up[i] = in[i] + h * dx[i];
            down[i] = in[i] - h * dx[i];
        }
        CHECK_CLOSE((energy(up) - energy(down)) / (2.0 * h), power(in, in[nx]), 1e-6, 1e-8);
    }
    close_plant(&p);
}

/* A bob of 1 kg on 0.5 m. */
static double pendulum_energy(const double *x)
{
    return 0.5 * 0.25 * x[1] * x[1] - 9.81 * 0.5 * cos(x[0]);
}
static double pendulum_power(const double *x, double u)
{
    return u * x[1] - 0.02 * x[1] * x[1];
}

/* A cart of 0.5 kg and a uniform rod of 0.5 kg, 0.5 m: velocity of the rod's middle, spin about it. */
static double cartpole_energy(const double *x)
{
    double vx = x[1] + 0.25 * x[3] * cos(x[2]), vy = 0.25 * x[3] * sin(x[2]), spin = 0.5 * 0.25 / 12.0;
    return 0.5 * 0.5 * x[1] * x[1] + 0.5 * 0.5 * (vx * vx + vy * vy) + 0.5 * spin * x[3] * x[3] -
           0.5 * 9.81 * 0.25 * cos(x[2]);
}
static double cartpole_power(const double *x, double u)
{
    return (u - 0.1 * x[1]) * x[1];
}

/* Arm and rotor turn about the vertical; the rod is summed over its points at r: along the arm's tangent, and
 * up. */
static double furuta_energy(const double *x)
{
    double th = x[1], al = x[2], w = x[3], m = 0.024, L = 0.129, Lr = 0.085, rod = 0.0;
    /* Gauss points: exact for a quadratic in r */
    for (int k = -1; k <= 1; k += 2) {
        double r       = 0.5 * L * (1.0 + k / sqrt(3.0));
        double tangent = Lr * th + r * w * cos(al), radial = r * sin(al) * th, rise = r * w * sin(al);
        rod += 0.5 * 0.5 * m * (tangent * tangent + radial * radial + rise * rise);
    }
    return 0.5 * (0.095 * Lr * Lr / 3.0 + 4.6e-6) * th * th + rod - m * 9.81 * 0.5 * L * cos(al);
}
static double furuta_power(const double *x, double u)
{
    double torque = 0.042 * (u - 0.042 * x[1]) / 8.4 - 2.7e-4 * x[1];
    return torque * x[1] - 5e-5 * x[3] * x[3];
}

static double wheel_energy(const double *x)
{
    double spin = x[1] + x[3], rod = 0.2 * 0.04 / 3.0, wheel = 0.3 * 0.04;
    return 0.5 * (rod + wheel) * x[1] * x[1] + 0.5 * 1.5e-3 * spin * spin -
           9.81 * (0.2 * 0.1 + 0.3 * 0.2) * cos(x[0]);
}
static double wheel_power(const double *x, double u)
{
    return (u - 1e-4 * x[3]) * x[3] - 1e-3 * x[1] * x[1];
}

CASE(pendulum_conserves_energy)
{
    check_balance("tasks/pendulum.yaml", pendulum_energy, pendulum_power, (double[]){4, 6, 2.5});
}
CASE(cartpole_conserves_energy)
{
    check_balance("tasks/cartpole.yaml", cartpole_energy, cartpole_power, (double[]){1, 3, 4, 8, 10});
}
CASE(full_cartpole_is_the_same_cartpole)
{
    check_balance("tasks/cartpole-full.yaml", cartpole_energy, cartpole_power, (double[]){1, 3, 4, 8, 10});
}
CASE(furuta_conserves_energy)
{
    check_balance("tasks/furuta.yaml", furuta_energy, furuta_power,
                  (double[]){2, 10, 4, 15, 6, 6}); /* the fifth state is the input before */
}
CASE(reaction_wheel_conserves_energy)
{
    check_balance("examples/reaction-wheel.yaml", wheel_energy, wheel_power, (double[]){4, 6, 9, 80, 0.25});
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(pendulum_conserves_energy);
    RUN(cartpole_conserves_energy);
    RUN(full_cartpole_is_the_same_cartpole);
    RUN(furuta_conserves_energy);
    RUN(reaction_wheel_conserves_energy);
    return DONE();
}
