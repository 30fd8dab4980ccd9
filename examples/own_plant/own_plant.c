/* own_plant.c - learn on a plant of your own that is a few C functions: here a pendulum, integrated by hand.
 *
 *   cc own_plant.c $(pkg-config --cflags --libs mcpilco) -lm -o own_plant && ./own_plant [TRIALS] */
#include <math.h>
#include <mcpilco/mcpilco.h>
#include <stdio.h>
#include <stdlib.h>

static const char task_text[] =
    "name: own-pendulum\n"
    "rate: 20\n"
    "trial: 2.5\n"
    "state: {theta: {unit: rad, angle: yes}, dtheta: rad/s}\n"
    "inputs: {u: {limit: 2.5, unit: N m}}\n"
    "measured: {theta: 3e-3}\n"
    "model: {velocities: {theta: dtheta}}\n"
    "policy: 2.5*tanh(rbf(50, dtheta, sin(theta), cos(theta))/2.5)\n"
    "cost: 1 - exp(-((abs(theta) - pi)/2)^2)\n"
    "start: {std: 0.01}\n"
    "explore: {type: sines, frequency: [0.2, 2], amplitude: 0.2}\n"
    "success: {when: abs(abs(theta) - pi) < 0.3, last: 0.5}\n"
    "plant: {callback: yes}\n"
    "optimise: {particles: 96}\n";

typedef struct {
    double theta, omega;
    int    sample;
} pendulum;

static void measure(const pendulum *p, mcp_sample *s)
{
    s->time        = p->sample / 20.0;
    s->measured[0] = p->theta;
}

static mcp_status reset(void *context, const double *x0, uint64_t seed, uint32_t trial, uint32_t run,
                        mcp_sample *first, mcp_error *err)
{
    pendulum *p = context;
    (void)seed, (void)trial, (void)run, (void)err;
    *p = (pendulum){x0[0], x0[1], 0};
    measure(p, first);
    return MCP_OK;
}

static mcp_status step(void *context, const double *u, mcp_sample *next, mcp_error *err)
{
    pendulum *p = context;
    for (int i = 0; i < 50; i++) {
        p->omega += 1e-3 * (u[0] - 0.02 * p->omega - 4.905 * sin(p->theta)) / 0.25;
        p->theta += 1e-3 * p->omega;
    }
    if (!isfinite(p->theta)) return mcp_fail(err, MCP_ERR_PLANT, "the pendulum flew away");
    p->sample++;
    measure(p, next);
    return MCP_OK;
}

static mcp_status stop(void *context, const double *safe_u, mcp_error *err)
{
    (void)context, (void)safe_u, (void)err; /* a rig would apply safe_u here */
    return MCP_OK;
}

int main(int argc, char **argv)
{
    int                 trials = argc > 1 ? atoi(argv[1]) : 4;
    pendulum            p;
    const mcp_plant_ops ops = {reset, step, stop, NULL};
    mcp_task           *task = NULL;
    mcp_learner        *learner = NULL;
    mcp_learn_settings  settings;
    mcp_error           err = {MCP_OK, ""};
    const mcp_learn_info *info;
    mcp_status          st = mcp_task_parse(&task, "own-pendulum.yaml", task_text, NULL, 0, &err);

    mcp_learn_settings_default(&settings);
    settings.seed          = 2;
    settings.plant         = &ops;
    settings.plant_context = &p;
    if (st == MCP_OK) st = mcp_learner_create(&learner, task, &settings, &err);
    while (st == MCP_OK && mcp_learner_trials(learner) < trials) {
        st = mcp_learner_trial(learner, &info, &err);
        if (st == MCP_OK && info->explored)
            printf("exploration %d: %d samples\n", info->number, info->samples);
        if (st == MCP_OK && !info->explored)
            printf("trial %d: cost %.2f (forecast %.2f)%s\n", info->number, info->cost, info->forecast_cost,
                   info->success ? ", success" : "");
    }
    mcp_learner_free(learner);
    mcp_task_free(task);
    if (st != MCP_OK) fprintf(stderr, "%s\n", err.text);
    return st != MCP_OK;
}
