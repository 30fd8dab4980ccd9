/* exported.h - a fixture's controller exported, compiled and loaded; hostile measurements. */
#ifndef EXPORTED_H
#define EXPORTED_H

#include <dlfcn.h>
#include <unistd.h>

#include "../rollout/fixture.h"
#include "control/runtime.h"
#include "export/export.h"
#include "math/angle.h"

enum { STEPS = 40 };

typedef void start_fn(void *);
typedef int  control_fn(void *, const void *, void *);
typedef void safe_fn(const void *, void *);

typedef struct {
    fixture      f;
    mcp_runtime *runtime;
    char         folder[64];
    int          single;
    void        *library;
    start_fn    *start;
    control_fn  *control;
    safe_fn     *safe;
    _Alignas(64) char state[1 << 16]; /* any PREFIX struct fits */
} exported;

/* A policy that does something wherever the motion goes. */
static void exported_theta(const mcp_program *p, double *theta)
{
    mcp_rand r = mcp_rand_make(11, 0, 0, MCP_RNG_OTHER);
    for (int i = 0; i < mcp_program_groups(p); i++) {
        const mcp_param_group *g = mcp_program_group(p, i);
        for (int k = 0; k < g->count; k++) {
            double *v = &theta[g->offset + k], z = mcp_rand_normal(&r);
            if (g->kind == MCP_RBF_LOG_LENGTHS) *v = 0.5 + 0.1 * z;
            else if (g->kind == MCP_RBF_WEIGHTS) *v = 6.0 * z;
            else if (g->kind != MCP_PARAM_SCALAR) *v = 0.7 * z;
        }
    }
}

/* The trial of the self-test: a quiet motion. */
static void exported_trial(mcp_runtime *r, const double *theta, mcp_trial *t)
{
    mcp_runtime_reset(r);
    for (t->samples = 0; t->samples < STEPS; t->samples++) {
        double y[MCP_MAX_STATE];
        for (int i = 0; i < t->ny; i++)
            y[i] = i % 2 ? mcp_angle_wrap(0.4 * t->samples) : 1.2 + 0.1 * sin(t->samples);
        mcp_runtime_step(r, theta, NULL, y);
        memcpy(t->measured + t->samples * t->ny, r->measured, (size_t)t->ny * sizeof(double));
        memcpy(t->input + t->samples * t->nu, r->command, (size_t)t->nu * sizeof(double));
    }
    mcp_runtime_reset(r);
}

static int exported_load(exported *x)
{
    char command[400];
    snprintf(command, sizeof command,
             "cd %s && cc -std=c99 -O2 -ffp-contract=off -Wall -Wextra -Wpedantic -Werror -shared -fPIC "
             "-o libctl.so ctl.c -lm && make -s check CFLAGS=-ffp-contract=off > check.txt",
             x->folder);
    if (system(command)) return 0;
    snprintf(command, sizeof command, "./%s/libctl.so", x->folder);
    if (!(x->library = dlopen(command, RTLD_NOW | RTLD_LOCAL))) return 0;
    *(void **)&x->start = dlsym(x->library, "ctl_start");
    *(void **)&x->control = dlsym(x->library, "ctl_control");
    *(void **)&x->safe = dlsym(x->library, "ctl_safe");
    return x->start && x->control && x->safe;
}

/* 1: exported, compiled without a warning, its self-test passed, loaded. */
static int exported_make(exported *x, const parts *p, int single)
{
    static int number;
    mcp_error  err = {MCP_OK, ""};
    mcp_trial *trial = NULL;
    *x = (exported){.single = single};
    snprintf(x->folder, sizeof x->folder, "exported-%ld-%d", (long)getpid(), number++);
    mcp_status st = fixture_make(&x->f, p, STEPS, 10, &err);
    if (st == MCP_OK) st = mcp_runtime_create(&x->runtime, x->f.system, &err);
    if (st == MCP_OK) exported_theta(x->f.system->controller, x->f.theta);
    if (st == MCP_OK) st = mcp_trial_create(&trial, x->f.task, &err);
    if (st == MCP_OK) {
        mcp_run             run = {.task = x->f.task, .system = x->f.system, .seed = 1};
        mcp_run_item        it = {.trial = trial, .theta = x->f.theta, .info = {.number = 1}};
        mcp_export_settings s = {.prefix = "ctl", .single = single};
        mcp_export_info     info;
        exported_trial(x->runtime, x->f.theta, trial);
        st = mcp_export_controller(&run, &it, x->folder, &s, &info, &err);
    }
    mcp_trial_free(trial);
    if (st != MCP_OK) FAIL_("%s", err.text);
    else if (!exported_load(x)) FAIL_("%s does not compile, or its self-test fails", x->folder);
    else return 1;
    return 0;
}

static void exported_free(exported *x)
{
    char command[120];
    if (x->library) dlclose(x->library);
    mcp_runtime_free(x->runtime);
    fixture_free(&x->f);
    snprintf(command, sizeof command, "rm -rf %s", x->folder);
    if (system(command)) FAIL_("%s stays", x->folder);
}

/* One sample through the exported C, in its own precision. */
static int exported_step(exported *x, const double *y, double *u)
{
    float in[MCP_MAX_STATE], out[MCP_MAX_INPUT];
    if (!x->single) return x->control(x->state, y, u);
    for (int i = 0; i < x->f.system->ny; i++) in[i] = (float)y[i];
    int bad = x->control(x->state, in, out);
    for (int i = 0; i < x->f.system->nu; i++) u[i] = (double)out[i];
    return bad;
}

/* Measurements no robot should give: a lively motion through many turns, and every so often a number that is
 * none, too large, too small or exactly at an edge. Sample t of the sequence `seed`; fright 0: motion
 * alone. */
static void hostile_sample(uint64_t seed, int t, int ny, int fright, double *y)
{
    static const double worst[] = {NAN,  INFINITY, -INFINITY, 1.7e308,  -1.7e308, 1e17,   -1e17, 5e-324,
                                   -0.0, M_PI,     -M_PI,     3 * M_PI, 1e-310,   -40.25, 1e6,   0.0};
    mcp_rand r = mcp_rand_make(seed, (uint32_t)t, 0, MCP_RNG_OTHER);
    for (int i = 0; i < ny; i++) {
        double q = 0.9 * t + 1.4 * sin(0.37 * t + i) + 0.1 * mcp_rand_normal(&r);
        y[i] = i % 2 ? mcp_angle_wrap(q) : sin(0.3 * q);
        if (fright && mcp_rand_uniform(&r) < 0.06) y[i] = worst[(int)(mcp_rand_uniform(&r) * 16.0) % 16];
    }
}

/* Observers, policies, limits and safe inputs that together reach every line of the controller. */
static const struct { const char *what; parts p; } controllers[] = {
#define WRAPS "{p: 0.01, theta: {noise: 0.01, wraps: yes}}"
#define STATES "state: [p, dp, theta, dtheta]\nplant: {ode: {dp: u, dtheta: -sin(theta) - u}}\n"
#define NET "3*tanh(rbf(7, p, dp/5, dtheta/30, cos(theta), sin(theta))/3)"
    {"difference, slew",
     {.measured = WRAPS, .observer = "difference", .inputs = "{u: {limit: 3, slew: 25}}", .policy = NET}},
    {"kalman, safe input by expression",
     {.measured = WRAPS,
      .observer = "{type: kalman, drive: 50}",
      .policy = NET,
      .more = STATES "safe: -0.5*p + 0.25*u"}},
    {"low-pass, network, hold",
     {.measured = WRAPS,
      .observer = "{type: difference, lowpass: 0.3, order: 4}",
      .policy = "3*tanh(mlp(6, 4, p, dp/5, dtheta/30, sin(theta), cos(theta)))",
      .more = STATES "safe: hold"}},
    {"the policy counts turns",
     {.measured = WRAPS,
      .observer = "{type: kalman, drive: 50, acceleration: yes, steady: yes}",
      .policy = "3*tanh(rbf(7, p, dp/5, dtheta/30, theta/20)/3)"}},
    {"custom observer",
     {.measured = WRAPS,
      .policy = NET,
      .inputs = "{u: {limit: 3, slew: 40, delay: 1}}",
      .observer = "{type: custom, memory: {a: {start: y_theta, next: a + 0.5*(y_theta - a) + 0.01*last_u}}, "
                  "output: {p: y_p, dp: (y_p - prev(y_p))/Ts, theta: a, "
                  "dtheta: (y_theta - prev(y_theta))/Ts}}"}},
    {"a range without zero",
     {.measured = WRAPS,
      .observer = "difference",
      .inputs = "{u: {limit: [1, 6], slew: 60, delay: 1}}",
      .policy = "3.5 + 2.5*tanh(rbf(7, p, dp/5, dtheta/30, cos(theta), sin(theta)))",
      .more = STATES "safe: 2 + log(p)"}},
    {"a camera that shows the tip",
     {.measured = "{p: 0.01, tx: {of: p + 0.5*sin(theta), noise: 0.01}, ty: {of: -0.5*cos(theta)}, "
                  "theta: {from: 'atan2(y_tx - y_p, -y_ty)', wraps: yes}}",
      .observer = "{type: kalman, drive: 50}",
      .policy = NET}},
    {"a sum of angles, within a turn",
     {.measured = "{p: 0.01, s: {of: p + theta, noise: 0.01, wraps: yes}, theta: {from: y_s - y_p}}",
      .observer = "{type: custom, memory: {a: {start: y_s, next: a + 0.5*(y_s - a) + 0.01*last_u}}, "
                  "output: {dp: (y_p - prev(y_p))/Ts, dtheta: (y_theta - prev(y_theta))/Ts, theta: a - y_p}}",
      .policy = NET}},
    {"edges of the language",
     {.measured = WRAPS,
      .observer = "difference",
      .policy = "clamp(param(k, 1)*log(abs(p))^3 + sinh(dp) + p^-3 + exp(dp)/p + sqrt(0.9 + p), -2, 2)",
      .more = STATES "safe: log(p)"}},
#undef NET
#undef WRAPS
#undef STATES
};
enum { CONTROLLERS = (int)(sizeof controllers / sizeof *controllers) };

#endif
