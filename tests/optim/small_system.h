/* small_system.h - the fixture's system with settings for an optimisation of a second. */
#ifndef SMALL_SYSTEM_H
#define SMALL_SYSTEM_H

#include "../rollout/fixture.h"

static void settings(fixture *f)
{
    mcp_optimise_settings *o = &f->task->optimise;
    o->particles = 32;
    o->steps_first = o->steps = 60;
    o->evaluate_every = 10;
    o->patience = 20;
    o->step_size = 0.03;
    o->step_size_min = 0.01;
    o->stop_rule = 0;
    o->candidates = 0;
    o->draws = 1;
    f->task->model.posterior.type = MCP_POSTERIOR_EXACT;
}

static int make(fixture *f, const parts *p)
{
    mcp_error err = {MCP_OK, ""};
    if (fixture_make(f, p, 8, 24, &err) != MCP_OK) {
        FAIL_("%s", err.text);
        return 0;
    }
    settings(f);
    return 1;
}

static inline mcp_optimise_request request_of(const fixture *f)
{
    return (mcp_optimise_request){.system = f->system, .gp = f->gp, .seed = 4, .trial = 2};
}

static inline void release(mcp_optimise_info *info)
{
    mcp_free(info->history);
    mcp_free(info->rate_history);
}

/* Inputs act strongly, and the cost is on a velocity: a few samples are enough to see a policy improve. */
static const parts usual = {
    .model_more = "  velocities: {p: dp, theta: dtheta}\n  prior_mean: {dp: 6*Ts*u, dtheta: -2*Ts*u}\n"
                  "  features: [p, dp, dtheta, sin(theta), cos(theta), u]",
    .policy = "3*tanh(param(a, 0.1) - param(b, 0.1)*dp + rbf(5, p, dp, dtheta, cos(theta), sin(theta))/3)",
    .cost = "1 - exp(-(dp - 1)^2)",
};

static inline const mcp_param_group *group(const fixture *f, mcp_param_kind kind)
{
    for (int i = 0; i < mcp_program_groups(f->system->controller); i++)
        if (mcp_program_group(f->system->controller, i)->kind == kind)
            return mcp_program_group(f->system->controller, i);
    return NULL;
}

#endif
