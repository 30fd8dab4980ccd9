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
typedef double power_fn(const double *x, const double *u);

/* dE/dt along the vector field, by central difference, against the power. */
static void check_balance(const char *file, energy_fn *energy, power_fn *power, const double *range)
{
    plant p;
    REQUIRE_OK(open_plant(&p, file, err));
    srand(1);
    for (int k = 0; k < 50; k++) {
        double in[12], dx[12], up[12], down[12], none = 0.0, h = 1e-6;
        int    nx = p.task->nx;
        for (int i = 0; i < nx + p.task->nu; i++) in[i] = range[i] * (2.0 * rand() / RAND_MAX - 1.0);
        mcp_program_step(p.slope, &none, 1, in, &none, dx, p.work);
        for (int i = 0; i < nx; i++) {
            up[i] = in[i] + h * dx[i];
            down[i] = in[i] - h * dx[i];
        }
        CHECK_CLOSE((energy(up) - energy(down)) / (2.0 * h), power(in, in + nx), 1e-6, 1e-8);
    }
    close_plant(&p);
}

/* A bob of 1 kg on 0.5 m. */
static double pendulum_energy(const double *x)
{
    return 0.5 * 0.25 * x[1] * x[1] - 9.81 * 0.5 * cos(x[0]);
}
static double pendulum_power(const double *x, const double *u)
{
    return u[0] * x[1] - 0.02 * x[1] * x[1];
}

/* A cart of 0.5 kg and a uniform rod of 0.5 kg, 0.5 m: velocity of the rod's middle, spin about it. */
static double cartpole_energy(const double *x)
{
    double vx = x[1] + 0.25 * x[3] * cos(x[2]), vy = 0.25 * x[3] * sin(x[2]), spin = 0.5 * 0.25 / 12.0;
    return 0.5 * 0.5 * x[1] * x[1] + 0.5 * 0.5 * (vx * vx + vy * vy) + 0.5 * spin * x[3] * x[3] -
           0.5 * 9.81 * 0.25 * cos(x[2]);
}
static double cartpole_power(const double *x, const double *u)
{
    return (u[0] - 0.1 * x[1]) * x[1];
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
static double furuta_power(const double *x, const double *u)
{
    double torque = 0.042 * (u[0] - 0.042 * x[1]) / 8.4 - 2.7e-4 * x[1];
    return torque * x[1] - 5e-5 * x[3] * x[3];
}

static double wheel_energy(const double *x)
{
    double spin = x[1] + x[3], rod = 0.2 * 0.04 / 3.0, wheel = 0.3 * 0.04;
    return 0.5 * (rod + wheel) * x[1] * x[1] + 0.5 * 1.5e-3 * spin * spin -
           9.81 * (0.2 * 0.1 + 0.3 * 0.2) * cos(x[0]);
}
static double wheel_power(const double *x, const double *u)
{
    return (u[0] - 1e-4 * x[3]) * x[3] - 1e-3 * x[1] * x[1];
}

/* Trolley of 1 kg, load of 0.5 kg on 0.6 m. */
static double crane_energy(const double *x)
{
    double vx = x[1] + 0.6 * x[3] * cos(x[2]), vy = 0.6 * x[3] * sin(x[2]);
    return 0.5 * x[1] * x[1] + 0.25 * (vx * vx + vy * vy) - 0.5 * 9.81 * 0.6 * cos(x[2]);
}
static double crane_power(const double *x, const double *u)
{
    return (u[0] - 2.0 * x[1]) * x[1] - 2e-3 * x[3] * x[3];
}

static double quadrotor_energy(const double *x)
{
    return 0.25 * (x[1] * x[1] + x[3] * x[3]) + 2.5e-3 * x[5] * x[5] + 0.5 * 9.81 * x[2];
}
static double quadrotor_power(const double *x, const double *u)
{
    return u[0] * (x[3] * cos(x[4]) - x[1] * sin(x[4])) - 0.1 * (x[1] * x[1] + x[3] * x[3]) +
           (u[1] - 2e-3 * x[5]) * x[5];
}

static double servo_energy(const double *x)
{
    return 0.5 * (4.6e-6 + 0.5 * 0.053 * 0.0248 * 0.0248) * x[1] * x[1];
}
static double servo_power(const double *x, const double *u)
{
    double friction = 5e-6 * x[1] + 3e-3 * tanh(x[1] / 0.1);
    return (0.042 * (u[0] - 0.042 * x[1]) / 8.4 - friction) * x[1];
}

/* A uniform pole of 0.5 kg, 1 m, upright at 0, on a cart of 0.5 kg. */
static double balanced_energy(const double *x)
{
    double vx = x[1] - 0.5 * x[3] * cos(x[2]), vy = -0.5 * x[3] * sin(x[2]);
    return 0.25 * x[1] * x[1] + 0.25 * (vx * vx + vy * vy) + 0.5 * 0.5 / 12.0 * x[3] * x[3] +
           0.5 * 9.81 * 0.5 * cos(x[2]);
}

static double stage_energy(const double *x)
{
    return 0.5 * x[1] * x[1] + 200.0 * x[0] * x[0];
}
static double stage_power(const double *x, const double *u)
{
    return (u[0] - 0.4 * x[1]) * x[1];
}

/* Centres of mass with their velocities, and spins about them; inertias are given about the joints. */
static double links_energy(const double *x)
{
    double m1 = 0.523, m2 = 0.626, l = 0.2, r1 = 0.2, r2 = 0.256, w = x[1] + x[3], a = x[0] + x[2];
    double c1 = 0.0319 - m1 * r1 * r1, c2 = 0.0509 - m2 * r2 * r2;
    double vx = l * x[1] * cos(x[0]) + r2 * w * cos(a), vy = l * x[1] * sin(x[0]) + r2 * w * sin(a);
    return 0.5 * (m1 * r1 * r1 + c1) * x[1] * x[1] + 0.5 * m2 * (vx * vx + vy * vy) + 0.5 * c2 * w * w -
           9.81 * (m1 * r1 * cos(x[0]) + m2 * (l * cos(x[0]) + r2 * cos(a)));
}
static double pendubot_power(const double *x, const double *u)
{
    return u[0] * x[1] - 1e-3 * (x[1] * x[1] + x[3] * x[3]);
}
static double acrobot_power(const double *x, const double *u)
{
    return u[0] * x[3] - 1e-3 * (x[1] * x[1] + x[3] * x[3]);
}

/* What flows in or is heated stays or leaves: 15.5 cm^2, Torricelli; J and W. */
static double water(const double *x)
{
    return 15.5 * (x[0] + x[1]);
}
static double flow(const double *x, const double *u)
{
    return 3.3 * u[0] - 0.178 * sqrt(2 * 981 * fmax(x[1], 0.0));
}
static double heat(const double *x)
{
    return 2.0 * x[0];
}
static double heating(const double *x, const double *u)
{
    double radiated = 0.9 * 5.67e-8 * 12e-4 * (pow(x[0] + 273.15, 4) - pow(296.15, 4));
    return 0.01 * u[0] - 0.012 * (x[0] - 23.0) - radiated;
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

CASE(gallery_conserves_energy)
{
    check_balance("tasks/reaction-wheel.yaml", wheel_energy, wheel_power, (double[]){4, 6, 9, 80, 0.25});
    check_balance("tasks/crane.yaml", crane_energy, crane_power, (double[]){1, 2, 4, 6, 6});
    check_balance("tasks/quadrotor.yaml", quadrotor_energy, quadrotor_power,
                  (double[]){1, 2, 1, 2, 4, 8, 10, 0.1});
    check_balance("tasks/servo.yaml", servo_energy, servo_power, (double[]){3, 90, 6});
    check_balance("tasks/delayed-pole.yaml", balanced_energy, cartpole_power, (double[]){1, 3, 4, 8, 10});
    check_balance("tasks/stage.yaml", stage_energy, stage_power, (double[]){0.02, 0.5, 10});
    check_balance("tasks/pendubot.yaml", links_energy, pendubot_power, (double[]){4, 9, 4, 9, 3});
    check_balance("tasks/acrobot.yaml", links_energy, acrobot_power, (double[]){4, 9, 4, 9, 3});
    check_balance("tasks/tanks.yaml", water, flow, (double[]){20, 20, 12});
    check_balance("tasks/heater.yaml", heat, heating, (double[]){90, 100});
}

/* x' of a task at a state and input. */
static void slope_at(const char *file, const double *state_and_input, double *dx)
{
    plant  p;
    double none = 0.0;
    REQUIRE_OK(open_plant(&p, file, err));
    mcp_program_step(p.slope, &none, 1, state_and_input, &none, dx, p.work);
    close_plant(&p);
}

/* What a laboratory would find: where things rest, and how fast they begin to move. */
CASE(gallery_plants_are_plausible)
{
    double dx[8];
    slope_at("tasks/ball-beam.yaml", (double[]){0.2, 0.0, 0.1, 0.1}, dx); /* a solid ball on a fixed slope */
    CHECK_CLOSE(dx[1], -5.0 / 7.0 * 9.81 * sin(0.1), 1e-12, 0.0);
    CHECK(dx[2] == 0.0);
    slope_at("tasks/ball-beam.yaml", (double[]){0.2, 0.0, 0.0, 0.08}, dx); /* 1 rad/s: pushed outwards */
    CHECK_CLOSE(dx[2], 1.0, 1e-12, 0.0);
    CHECK_CLOSE(dx[1], 5.0 / 7.0 * 0.2, 1e-12, 0.0);
    double volts = 0.178 * sqrt(2 * 981 * 15.0) / 3.3; /* 15 cm in both tanks */
    CHECK(volts > 8 && volts < 12);
    slope_at("tasks/tanks.yaml", (double[]){15, 15, volts}, dx);
    CHECK_CLOSE(dx[0], 0.0, 0.0, 1e-9);
    CHECK_CLOSE(dx[1], 0.0, 0.0, 1e-9);
    slope_at("tasks/heater.yaml", (double[]){23, 0}, dx); /* cold: as the room */
    CHECK_CLOSE(dx[0], 0.0, 0.0, 1e-12);
    slope_at("tasks/heater.yaml", (double[]){45, 30}, dx);
    CHECK(dx[0] < 0.0);
    slope_at("tasks/heater.yaml", (double[]){45, 60}, dx);
    CHECK(dx[0] > 0.0);
    slope_at("tasks/quadrotor.yaml", (double[]){0, 0, 0, 0, 0, 0, 0.5 * 9.81, 0}, dx); /* hovers */
    for (int i = 0; i < 6; i++) CHECK_CLOSE(dx[i], 0.0, 0.0, 1e-12);
    slope_at("tasks/delayed-pole.yaml", (double[]){0, 0, 0.01, 0, 0}, dx); /* falls with 1/0.206 s */
    CHECK_CLOSE(dx[3] / 0.01, 1.0 / (0.206 * 0.206), 0.01, 0.0);
    slope_at("tasks/stage.yaml", (double[]){0.01, 0, 4}, dx); /* 4 N hold 10 mm */
    CHECK_CLOSE(dx[1], 0.0, 0.0, 1e-12);
    slope_at("tasks/pendubot.yaml", (double[]){acos(-1.0) / 2, 0, -acos(-1.0) / 2, 0, 2}, dx);
    CHECK(dx[1] < 0.0); /* cannot be lifted */
    slope_at("tasks/maglev.yaml", (double[]){0.01, 0, 0.01 * sqrt(0.05 * 9.81 / 2.2e-5)}, dx); /* floats */
    CHECK_CLOSE(dx[1], 0.0, 0.0, 1e-12);
    slope_at("tasks/maglev.yaml", (double[]){0.011, 0, 0.01 * sqrt(0.05 * 9.81 / 2.2e-5)}, dx);
    CHECK(dx[1] > 1.0); /* further away it falls */
    slope_at("tasks/mountain-car.yaml", (double[]){-acos(-1.0) / 6, 0, 0}, dx); /* the valley's floor */
    CHECK_CLOSE(dx[1], 0.0, 0.0, 1e-8);
    slope_at("tasks/mountain-car.yaml", (double[]){0, 0, 1}, dx); /* full drive does not climb */
    CHECK(dx[1] < -1.0);
    slope_at("tasks/mountain-car.yaml", (double[]){1, 0, 0.31}, dx); /* but moves it on the plain */
    CHECK(dx[1] > 0.3);
    slope_at("tasks/servo.yaml", (double[]){0, 0.5, 0.5}, dx); /* 0.5 V do not move it */
    CHECK(dx[1] < 0.0);
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(pendulum_conserves_energy);
    RUN(cartpole_conserves_energy);
    RUN(full_cartpole_is_the_same_cartpole);
    RUN(furuta_conserves_energy);
    RUN(reaction_wheel_conserves_energy);
    RUN(gallery_conserves_energy);
    RUN(gallery_plants_are_plausible);
    return DONE();
}
