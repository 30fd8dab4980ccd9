/* fixture.h - a small two-coordinate system with made-up GP data, in which tests exchange one part at a time.
 */
#ifndef FIXTURE_H
#define FIXTURE_H

#include "control/system.h"
#include "math/arena.h"
#include "math/rng.h"
#include "optim/optimise.h"
#include "optim/policy_init.h"
#include "rollout/rollout.h"
#include "test.h"

/* NULL = the default part. */
typedef struct {
    const char *observer, *measured, *inputs, *kernel, *model_more, *policy, *start, *cost, *more;
} parts;

typedef struct {
    mcp_task       *task;
    mcp_system     *system;
    mcp_gp        **gp;
    mcp_posterior **posterior;
    double         *theta;
    int             params;
} fixture;

static const char *part(const char *given, const char *usual)
{
    return given ? given : usual;
}

static char *fixture_text(const parts *p, int steps)
{
    return mcp_sprintf(
        "name: fixture\nrate: 20\ntrial: %.17g\n%s\n"
        "inputs: %s\nmeasured: %s\nobserver: %s\n%s"
        "model:\n%s\n  kernel: %s\n"
        "policy: %s\ncost: %s\nstart: %s\n",
        steps / 20.0,
        part(p->more, "state: [p, dp, theta, dtheta]\nplant: {ode: {dp: u, dtheta: -sin(theta) - u}}"),
        part(p->inputs, "{u: {limit: 3}}"), part(p->measured, "{p: {noise: 0.01}, theta: {noise: 0.02}}"),
        part(p->observer, "{type: difference, lowpass: 0.5}"),
        p->observer && (strstr(p->observer, "smoother:") || !strcmp(p->observer, "none"))
            ? ""
            : "smoother: central-difference\n",
        part(p->model_more,
             "  velocities: {p: dp, theta: dtheta}\n  features: [p, dp, dtheta, sin(theta), cos(theta), u]"),
        part(p->kernel, "se"), part(p->policy, "3*tanh(rbf(5, p, dp, dtheta, cos(theta), sin(theta))/3)"),
        part(p->cost, "1 - exp(-((abs(theta) - pi)/3)^2 - p^2)"),
        part(p->start, "{mean: [0.1, 0, 0.4, -0.2], std: 0.1}"));
}

/* Random states and inputs, their features, and smooth targets of them. */
static mcp_status fixture_gp(fixture *f, int g, int n, mcp_error *err)
{
    const mcp_system *s = f->system;
    mcp_rand          r = mcp_rand_make(7, (uint32_t)g, 0, MCP_RNG_OTHER);
    size_t nf = (size_t)s->nf, work = mcp_program_work(s->features),
           mem = (size_t)mcp_program_memory(s->features);
    int               K = mcp_kernel_params(s->kernel[g]);
    double *X = mcp_calloc((size_t)n * (nf + 1) + work + mem + nf + (size_t)(s->ngp + K) + 2 * MCP_MAX_STATE,
                           sizeof *X);
    double *y = X + (size_t)n * nf, *w = y + n, *m = w + work, *out = m + mem, *hyper = out + nf + s->ngp,
           *in = hyper + K + 1;
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < s->nx; k++) in[k] = 3.0 * mcp_rand_uniform(&r) - 1.5;
        for (int k = 0; k < s->nu; k++)
            in[s->nx + k] = s->task->input[k].high * (2.0 * mcp_rand_uniform(&r) - 1.0);
        mcp_program_step(s->features, NULL, 1, in, m, out, w);
        memcpy(X + (size_t)i * nf, out, nf * sizeof *X);
        double sum = 0.3 * g;
        for (size_t k = 0; k < nf; k++) sum += (0.4 + 0.1 * (double)k) * out[k];
        y[i] = 0.4 * sin(sum) + 0.02 * mcp_rand_normal(&r);
    }
    for (int k = 0; k < K; k++) hyper[k] = 0.4 + 0.1 * sin(1.0 + k);
    hyper[K] = log(0.1);
    mcp_status st = mcp_gp_create(&f->gp[g], s->kernel[g], n, s->nf, X, y, err);
    if (st == MCP_OK) st = mcp_gp_set(f->gp[g], hyper, err);
    mcp_free(X);
    return st;
}

static mcp_status fixture_make(fixture *f, const parts *p, int steps, int data, mcp_error *err)
{
    char      *text = fixture_text(p, steps);
    mcp_status st = text ? mcp_task_parse(&f->task, "fixture", text, NULL, 0, err) : MCP_ERR_MEMORY;
    mcp_free(text);
    if (st == MCP_OK) st = mcp_system_create(&f->system, f->task, err);
    if (st != MCP_OK) return st;
    const mcp_posterior_settings exact = {.type = MCP_POSTERIOR_EXACT, .single = 1};
    f->gp = mcp_calloc((size_t)f->system->ngp + 1, sizeof *f->gp);
    f->posterior = mcp_calloc((size_t)f->system->ngp + 1, sizeof *f->posterior);
    f->params = mcp_program_params(f->system->controller);
    f->theta = mcp_calloc((size_t)f->params + 1, sizeof *f->theta);
    for (int g = 0; g < f->system->ngp && st == MCP_OK; g++) {
        st = fixture_gp(f, g, data, err);
        if (st == MCP_OK)
            st = mcp_posterior_create(&f->posterior[g], f->gp[g], &exact, mcp_isa_level(), NULL, err);
    }
    const mcp_policy_request start = {.system = f->system, .seed = 3, .trial = 1};
    if (st == MCP_OK) st = mcp_policy_draw(&start, f->theta, err);
    return st;
}

static void fixture_free(fixture *f)
{
    for (int g = 0; f->system && f->gp && g < f->system->ngp; g++) {
        mcp_posterior_free(f->posterior[g]);
        mcp_gp_free(f->gp[g]);
    }
    mcp_free(f->gp);
    mcp_free(f->posterior);
    mcp_free(f->theta);
    mcp_system_free(f->system);
    mcp_task_free(f->task);
    *f = (fixture){0};
}

#endif
