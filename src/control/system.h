/* system.h - a task compiled: the six stages of a step as programs, each used wherever that stage runs.
 *
 *   sensor(x, e) -> y    controller(y; theta) -> u, z    features(x, u) -> f    [gp: f -> d]
 *   integrate(x, u, d) -> x'    cost(x, u) -> c, metric    events(x, u) -> success, limit_1 ..
 *
 * The controller runs inside every particle, on the plant, and is what is exported: one program.
 *
 * Names an expression may use: the task's constants and Ts everywhere; states and inputs in features, known
 * transitions, prior means, cost, events; in the policy and its helpers a state's name is the observer's
 * estimate of it. A state that the observer cannot know (not measured, no measured position it is the
 * velocity of, no known transition, no output of the user's recurrence) is not a name there. In the user's
 * own observer: y_NAME is the measurement of state NAME (angles unwrapped) and last_NAME the command of input
 * NAME one sample ago (0 at first).
 *
 * A known state (th+ = th + u) is carried in the controller from its own commands, delayed as the actuator
 * delays them, from the centre of the start distribution. */
#ifndef MCP_SYSTEM_H
#define MCP_SYSTEM_H

#include "mcpilco/plant.h"
#include "program/program.h"
#include "task/task_data.h"

/* observer: auto. What its filter of one channel with an unmeasured velocity is made from. */
typedef struct {
    double change; /* deviation of the velocity's change from sample to sample that it expects */
    double seen;   /* of which the exploration showed this */
    double gain[2]; /* of position and velocity */
} mcp_observer_choice;

typedef struct {
    const mcp_task *task;      /* borrowed */
    double ts;
    int    steps;              /* T */
    int    nx, nu, ny, nz, nf, ngp;
    /* smoother: auto with velocities that are differences: nu inputs of the sample before, after the task's
     * own features as u(t) - u(t-1); in all features, u is then (u(t) + u(t-1))/2 if every GP is of such a
     * velocity. 0: none. They are memory of the features program, 0 at the first sample. */
    int    before;
    /* Order of outputs is the order of the task's lists. In the controller z is the observed state (nz = nx;
     * a state the observer does not know is 0), outputs are u[nu] then z[nx]. Sensor: inputs x[nx], e[ny]
     * (standard normals times nothing: the program scales by the noise), outputs y[ny]; quantisation appears
     * in particles as noise of std quantum/sqrt(12) added to the sensor's, in the plant as rounding. */
    mcp_program *sensor;       /* in x[nx], e[ny]       out y[ny]      memory: delay lines            */
    mcp_program *view; /* in y[ny]  out the states that sensors tell, task->seen; NULL: they are y itself */
    mcp_program *controller;   /* in y[ny]              out u[nu], z[nx]                              */
    /* in x[nx]              out u[nu], z[nx] = x: MC-PILCO's particles; same theta */
    mcp_program *policy_true;
    /* in y[ny], u[nu]       out u[nu] limited, z[nx]: commands that are not the policy's */
    mcp_program *given;
    mcp_program *safe;         /* in z[nx], last u[nu]  out u[nu]: the safe input, within its limits  */
    mcp_program *actuator;     /* in u[nu]              out u applied[nu]; memory: delay lines        */
    /* in x[nx], u[nu]       out f[nf] (features, then pi basis functions), prior mean[ngp] */
    mcp_program *features;
    mcp_program *integrate;    /* in x[nx], u[nu], d[ngp]  out x'[nx]                                 */
    mcp_program *cost;         /* in x[nx], u[nu]       out c, metric (= c when the task has none)    */
    mcp_program *events;       /* in x[nx], u[nu]       out success, limit_1 .. limit_n (0 or 1)      */
    mcp_kernel **kernel;       /* per GP, over the nf features                                        */
    char       **kernel_text;  /* per GP, in feature indices, as mcp_kernel_parse got it              */
    char       **feature_text; /* nf expressions                                                      */
    int white_noise; /* 1: the GPs' noise is white, whatever the task says (an algorithm's own models)  */
    const mcp_watch *watch;    /* whoever opens a plant of this system; borrowed, NULL: nobody        */
    char        *observed;     /* [nx] 1: the controller has an estimate of this state                */
    mcp_observer_choice *choice; /* [nseen] of observer: auto; NULL before the exploration: differences */
    unsigned observers; /* how often the observer was chosen: who has copied its programs looks here */
} mcp_system;

mcp_status mcp_system_create(mcp_system **out, const mcp_task *task, mcp_error *err);
void       mcp_system_free(mcp_system *s);
/* 1: this velocity is a difference of two positions in the model, (q(t) - q(t-1))/Ts: the smoother says so,
 * and no sensor gives it. */
int mcp_is_difference(const mcp_task *t, int velocity);
/* observer: auto. Its programs again, with these gains: [nseen], copied. The policy's parameters stay. */
mcp_status mcp_system_observe(mcp_system *s, const mcp_observer_choice *choice, mcp_error *err);

#endif
