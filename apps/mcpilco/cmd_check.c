/* cmd_check.c - mcpilco check: is the task right, what was it compiled to, is its gradient right, how long
 * will it take. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "learn/evaluate.h"
#include "math/arena.h"
#include "math/clock.h"
#include "math/rng.h"
#include "model/posteriors.h"
#include "optim/optimise.h"
#include "optim/policy_init.h"
#include "options.h"
#include "plant/warnings.h"
#include "rollout/rollout.h"
#include "standin_plant.h"
#include "term.h"

typedef struct {
    const mcp_task *task;
    mcp_system     *system;
    mcp_pool       *pool;
    mcp_trial      *trial;
    mcp_states     *states;
    mcp_fit        *fit;
    mcp_posteriors  model;
    double         *theta;
    mcp_policy_units units;
    int             params, json;
    json_t         *report;
} check;

/* What the task says. */

static void describe(const check *c)
{
    const mcp_task   *t = c->task;
    const mcp_system *s = c->system;
    printf("%s: task %s is sound\n", t->file, t->name);
    printf("  %d states, %d inputs, %d measured; %g Hz, %g s: %d steps a trial\n", s->nx, s->nu, s->ny,
           t->rate, t->trial, s->steps);
    for (int i = 0; i < mcp_task_seen(t); i++)
        if (t->seen[i].sensor < 0)
            printf("  %s = %s%s, good to %.3g\n", t->seen[i].name, t->seen[i].from.text,
                   t->seen[i].angle ? ", unwrapped" : "", t->seen[i].noise);
    for (int g = 0; g < s->ngp; g++)
        printf("  GP of the change of %s on %d features: %s (%d parameters)\n", t->state[t->gp[g].state],
               s->nf, s->kernel_text[g], mcp_kernel_params(s->kernel[g]));
    printf("  policy: %d parameters in %d groups\n", c->params, mcp_program_groups(s->controller));
    for (int i = 0; i < mcp_program_groups(s->controller); i++) {
        const mcp_param_group *g = mcp_program_group(s->controller, i);
        printf("    %-20s %d x %d\n", g->name, g->rows, g->cols);
    }
}

/* After an exploration; of a real plant, before it. */
static void describe_observer(const check *c)
{
    char why[400];
    for (int i = 0; i < mcp_task_seen(c->task); i++)
        if (mcp_observer_explain(c->system, i, why, sizeof why)) printf("  observer of %s\n", why);
}

static void list_programs(const mcp_system *s)
{
    const struct { const char *name; const mcp_program *p;
    } stage[] = {{"sensor: state, noise -> measurement", s->sensor},
                 {"controller: measurement -> input, observed state", s->controller},
                 {"actuator: commanded -> applied input", s->actuator},
                 {"features: state, input -> GP features, prior mean", s->features},
                 {"integrate: state, input, change -> next state", s->integrate},
                 {"cost: state, input -> cost, metric", s->cost},
                 {"events: state, input -> success, limits", s->events}};
    for (size_t i = 0; i < sizeof stage / sizeof *stage; i++) {
        char *text = mcp_program_listing(stage[i].p);
        printf("\n%s\n%s", stage[i].name, text ? text : "(out of memory)\n");
        mcp_free(text);
    }
}

/* What is not wrong and hardly meant. */
static mcp_status warn(const check *c, int real, mcp_error *err)
{
    mcp_warning_list *w = mcp_calloc(1, sizeof *w);
    json_t           *list = json_array();
    mcp_status        st = w ? mcp_task_warnings(c->system, real ? NULL : c->trial, w, err)
                             : mcp_fail(err, MCP_ERR_MEMORY, "out of memory for the check");
    for (int i = 0; st == MCP_OK && i < w->n; i++) {
        if (!c->json) printf("  warning: %s\n", w->text[i]);
        json_array_append_new(list, mcp_json_text(w->text[i]));
    }
    json_object_set_new(c->report, "warnings", list);
    mcp_free(w);
    return st;
}

/* A model from one exploration of the simulated plant, and a policy to try on it. A real plant does not move
 * for this: a stand-in gives data of the same size, enough for the gradient and for time and memory. */

static mcp_status prepare(check *c, mcp_error *err)
{
    mcp_plant *plant = NULL;
    standin    memory;
    mcp_status st = mcp_plant_is_simulated(c->task) ? mcp_plant_open(&plant, c->system, err)
                                                    : standin_open(&plant, c->system, &memory, err);
    if (st != MCP_OK) goto done;
    if ((st = mcp_trial_create(&c->trial, c->task, err)) != MCP_OK) goto done;
    st = mcp_plant_run(plant, NULL, (mcp_trial_key){1, 0, 0}, NULL, NULL, c->trial, err);
    if (st != MCP_OK) goto done;
    if ((st = mcp_observer_settle(c->system, 1, &c->trial, err)) != MCP_OK) goto done;
    if ((st = mcp_estimate_states(&c->states, c->system, c->trial, err)) != MCP_OK) goto done;
    mcp_fit_data data = {1, &c->trial, &c->states, NULL, 1, 1, NULL};
    if ((st = mcp_fit_create(&c->fit, c->system, &data, c->pool, err)) != MCP_OK) goto done;
    c->theta = mcp_calloc((size_t)c->params + 1, sizeof *c->theta);
    if (!c->theta) {
        st = mcp_fail(err, MCP_ERR_MEMORY, "out of memory for the check");
        goto done;
    }
    mcp_posteriors_request q = {.ngp = c->system->ngp, .gp = c->fit->gp, .use = MCP_FOR_CHECK};
    st = mcp_posteriors_create(&c->model, &q, err);
    const mcp_policy_request start = {.system = c->system,
                                      .visited = c->fit->visited,
                                      .visits = c->fit->visits,
                                      .seed = 1,
                                      .trial = 1};
    if (st == MCP_OK) st = mcp_policy_draw(&start, c->theta, err);
    if (st == MCP_OK) st = mcp_policy_measure(&start, &c->units, err);
done:
    mcp_plant_close(plant);
    return st;
}

typedef enum { RIGHT = 0, ROUGH, WRONG } verdict; /* rough: the differences cannot tell */
static const char *const verdict_word[] = {"right", "rough", "wrong"};

typedef struct {
    double slope, numeric; /* from the gradient, by differences          */
    double error, doubt;   /* of the first against the second, of these */
    double apart;          /* two differences from each other, relative to themselves */
} slope;

/* A gradient is wrong only if it is further from the differences than these are from each other, and these
 * have settled on a value of their own. */
static verdict judge(const slope *k)
{
    if (k->error < 1e-5 || (k->error < 1e-2 && k->error < 3 * k->doubt)) return RIGHT;
    return k->error < 3 * k->doubt || !(k->apart < 0.01) ? ROUGH : WRONG;
}

/* Slope of J along one random direction of a group of parameters, each in its unit: from the gradient, and by
 * central differences. The best of a few step sizes counts: kinks in the cost spoil large ones, rounding
 * small ones. How far neighbouring step sizes agree says what the differences are worth: where J is rough on
 * a small scale (a kink, a clamped variance, a motion that amplifies everything), that is little. */
static mcp_status slope_of(check *c, mcp_rollout *r, const mcp_noise *noise, const mcp_param_group *p,
                           const double *g, double *moved, slope *out, mcp_error *err)
{
    mcp_rollout_result side[2] = {{.J = 0.0}, {.J = 0.0}};
    double             scale = 0.0, before = NAN, least = 0.0;
    mcp_status         st = MCP_OK;
    *out = (slope){.error = INFINITY, .doubt = INFINITY, .apart = INFINITY};
    memcpy(moved, c->theta, (size_t)c->params * sizeof *moved);
    for (double h = 1e-4; h > 1e-8 && st == MCP_OK; h /= 10.0) {
        for (int k = 0; k < 2 && st == MCP_OK; k++) {
            mcp_rand random = mcp_rand_make(1, 1, (uint32_t)p->offset, MCP_RNG_OTHER);
            out->slope = scale = 0.0;
            for (int i = p->offset; i < p->offset + p->count; i++) {
                double d = mcp_rand_normal(&random) * c->units.param[i];
                moved[i] = c->theta[i] + (k ? -h : h) * d;
                out->slope += g[i] * d;
                scale += g[i] * d * g[i] * d;
            }
            st = mcp_rollout_run(r, moved, 0.0, noise, &side[k], err);
        }
        double found = (side[0].J - side[1].J) / (2 * h);
        least = fmax(least, 1e-9 * fmax(fabs(side[0].J), fabs(side[1].J)));
        double unit = fmax(fmax(fabs(out->slope), sqrt(scale)), fmax(least, DBL_MIN));
        /* of a part that nothing reaches yet the slope is below the rounding of J: no difference shows it */
        double J = fmax(fabs(side[0].J), fabs(side[1].J)), off = fabs(out->slope - found);
        if (fabs(out->slope) < 1e-6 * J && fabs(found) < 1e-6 * J) off = fmax(0.0, off - 1e-14 * J / h);
        double wrong = off / unit;
        if (wrong < out->error) {
            out->error = wrong;
            out->numeric = found;
        }
        if (fabs(found - before) / unit < out->doubt) out->doubt = fabs(found - before) / unit;
        double size = fmax(fmax(fabs(found), fabs(before)), fmax(least, DBL_MIN));
        if (fabs(found - before) / size < out->apart) out->apart = fabs(found - before) / size;
        before = found;
    }
    return st;
}

/* All groups over so many steps; *all: the worst verdict. */
static mcp_status gradient_over(check *c, int steps, double *worst, verdict *all, mcp_error *err)
{
    enum { PARTICLES = 16 };
    const mcp_system    *s = c->system;
    mcp_rollout_settings set = {.particles = PARTICLES, .steps = steps, .noisy = c->task->model.noisy};
    mcp_stream_noise     stream = {.system = s, .seed = 1, .trial = 1, .step = 1};
    mcp_noise            noise = mcp_noise_from_stream(&stream);
    mcp_rollout         *r = NULL;
    json_t              *groups = json_array();
    double *g = mcp_calloc((size_t)c->params + 1, sizeof *g),
           *moved = mcp_calloc((size_t)c->params + 1, sizeof *moved);
    mcp_status           st = mcp_rollout_create(&r, s, c->model.of, &set, c->pool, err);
    if (st == MCP_OK && (!g || !moved)) st = mcp_fail(err, MCP_ERR_MEMORY, "out of memory for the check");
    mcp_rollout_result at = {.gradient = g};
    if (st == MCP_OK) st = mcp_rollout_run(r, c->theta, 0.0, &noise, &at, err);
    *worst = 0.0;
    *all = RIGHT;
    for (int i = 0; st == MCP_OK && i < mcp_program_groups(s->controller); i++) {
        const mcp_param_group *p = mcp_program_group(s->controller, i);
        slope                  k;
        if ((st = slope_of(c, r, &noise, p, g, moved, &k, err)) != MCP_OK) break;
        *worst = fmax(*worst, k.error);
        if (judge(&k) > *all) *all = judge(&k);
        if (!c->json)
            printf("    %-20s slope %14.8g, by differences %14.8g (good to %.0e), relative error %.1e: %s\n",
                   p->name, k.slope, k.numeric, k.doubt, k.error, verdict_word[judge(&k)]);
        json_array_append_new(groups,
                              json_pack("{s:s, s:o, s:o, s:o, s:o, s:s}", "group", p->name, "slope",
                                        mcp_json_number(k.slope), "differences", mcp_json_number(k.numeric),
                                        "error", mcp_json_number(k.error), "doubt", mcp_json_number(k.doubt),
                                        "verdict", verdict_word[judge(&k)]));
    }
    json_object_set_new(c->report, "gradient", groups);
    mcp_rollout_free(r);
    mcp_free(g);
    mcp_free(moved);
    return st;
}

/* A short rollout: long ones of an unstable system amplify the error of the differences. Where they are too
 * rough to tell, a shorter one. */
static mcp_status gradient(check *c, double *worst, verdict *all, mcp_error *err)
{
    int        steps = c->system->steps < 24 ? c->system->steps : 24;
    mcp_status st = gradient_over(c, steps, worst, all, err);
    while (st == MCP_OK && *all == ROUGH && steps > 3) {
        steps /= 2;
        if (!c->json) printf("  the differences are too rough to tell; again over %d steps:\n", steps);
        st = gradient_over(c, steps, worst, all, err);
    }
    return st;
}

/* One gradient step as learn will do it. */
static mcp_status cost_of_step(check *c, mcp_error *err)
{
    const mcp_task             *t = c->task;
    const mcp_optimise_settings *o = &t->optimise;
    mcp_rollout_settings set = {.particles = o->particles,
                                .steps = c->system->steps,
                                .noisy = t->model.noisy,
                                .block = o->block,
                                .adjoint_clip = o->adjoint_clip,
                                .adjoint_unit = c->units.state};
    mcp_stream_noise stream = {.system = c->system, .seed = 1, .trial = 1, .step = 2, .dropout = o->dropout};
    mcp_noise                   noise = mcp_noise_from_stream(&stream);
    mcp_rollout                *r = NULL;
    double                     *g = mcp_calloc((size_t)c->params + 1, sizeof *g), best = INFINITY;
    mcp_rollout_result          at = {.gradient = g};
    mcp_status                  st = g ? mcp_rollout_create(&r, c->system, c->model.of, &set, c->pool, err)
                                       : mcp_fail(err, MCP_ERR_MEMORY, "out of memory for the check");
    for (int i = 0; st == MCP_OK && i < 3; i++) {
        double began = mcp_clock();
        st = mcp_rollout_run(r, c->theta, o->dropout, &noise, &at, err);
        best = fmin(best, mcp_clock() - began);
    }
    if (st == MCP_OK) {
        char   most[32];
        double mb = (double)mcp_rollout_bytes(r) / 1e6;
        json_object_set_new(c->report, "step_ms", mcp_json_number(1e3 * best));
        json_object_set_new(c->report, "rollout_mb", mcp_json_number(mb));
        if (!c->json)
            printf("  a gradient step: %d particles, %d steps, %d pairs, %d threads: %.1f ms, %.0f MB\n"
                   "  at most %d steps in the first trial, %d later; %d trials take at most %s at this speed "
                   "(they usually end far earlier)\n",
                   o->particles, c->system->steps, c->fit->pairs->n, mcp_pool_threads(c->pool), 1e3 * best,
                   mb, o->steps_first, o->steps, t->trials,
                   term_seconds(most, sizeof most, best * (o->steps_first + (t->trials - 1.0) * o->steps)));
    }
    mcp_rollout_free(r);
    mcp_free(g);
    return st;
}

static int run(check *c, int listing)
{
    mcp_error err;
    double    worst = 0.0;
    int       code = 0;
    verdict   all = RIGHT;
    if (!c->json) describe(c);
    if (!c->json && listing) list_programs(c->system);
    json_object_set_new(c->report, "task", mcp_json_text(c->task->name));
    json_object_set_new(c->report, "parameters", json_integer(c->params));
    int real = !mcp_plant_is_simulated(c->task);
    json_object_set_new(c->report, "stand_in", json_boolean(real));
    if (!c->json && real) { /* what invented data say of the observer does not count */
        describe_observer(c);
        printf("\nthe plant is not asked: it would have to move. With invented data of the same size:\n");
    }
    if (!c->json)
        printf("%sgradient of a short rollout on a model of one exploration trial:\n", real ? "" : "\n");
    if (prepare(c, &err) != MCP_OK || gradient(c, &worst, &all, &err) != MCP_OK ||
        cost_of_step(c, &err) != MCP_OK)
        return term_error("check", &err);
    json_object_set_new(c->report, "gradient_right",
                        all == ROUGH ? json_null() : json_boolean(all == RIGHT));
    if (!c->json && !real) describe_observer(c);
    if (warn(c, real, &err) != MCP_OK) return term_error("check", &err);
    if (c->json) code = term_json(json_incref(c->report));
    else if (all == ROUGH)
        printf("  the gradient cannot be checked: the cost is too rough along the parameters for differences "
               "to tell;\n  look for kinks and divisions in the task's expressions\n");
    else
        printf("  the gradient is %s (largest relative error %.1e)\n", all == RIGHT ? "right" : "WRONG",
               worst);
    return all == WRONG ? 1 : code;
}

int cmd_check(int argc, char **argv)
{
    int          threads = 0, json = 0, brief = 0;
    option_list  set = {0};
    const char  *file[1];
    const option options[] = {
        {"--set", OPTION_LIST, &set, 0, 0, "KEY=VALUE", "change a value of the task file", NULL},
        {"--brief", OPTION_FLAG, &brief, 0, 0, NULL, "leave the compiled programs out", NULL},
        {"--threads", OPTION_INT, &threads, 0, 1024, "K", "0: one per core", NULL},
        {"--json", OPTION_FLAG, &json, 0, 0, NULL, "one JSON object", NULL},
    };
    const command verb = {
        .verb = "check",
        .synopsis = "TASK [options]",
        ONE_ARGUMENT(options, file),
        .about = "Reads a task file and says all that is wrong with it, by file, line and column; if nothing "
                 "is, shows the compiled step,\n"
                 "checks its gradient against differences on a model of one exploration trial, and estimates "
                 "time and memory.",
        .examples = "  mcpilco check tasks/cartpole.yaml --brief\n  mcpilco check my_robot.yaml --set "
                    "optimise.particles=100\n",
    };
    int code = options_parse(&verb, argc, argv);
    if (code != OPTIONS_GO) return code;

    enum { MISTAKES = 64 };
    check           c = {.json = json, .report = json_object()};
    mcp_task       *task = NULL;
    mcp_error       err, mistake[MISTAKES];
    mcp_mistakes    all = {mistake, MISTAKES, 0};
    mcp_task_source source = {sizeof source, file[0], NULL, set.item, set.count, NULL};
    if (mcp_task_read_all(&task, &source, &all, &err) != MCP_OK) {
        code = term_errors("check", mistake, all.count);
    } else if (mcp_system_create(&c.system, task, &err) != MCP_OK ||
        mcp_pool_create(&c.pool, threads, &err) != MCP_OK) {
        code = term_error("check", &err);
    } else {
        c.task = task;
        c.params = mcp_program_params(c.system->controller);
        code = run(&c, !brief);
    }
    mcp_posteriors_free(&c.model);
    mcp_policy_units_free(&c.units);
    mcp_free(c.theta);
    mcp_fit_free(c.fit);
    mcp_states_free(c.states);
    mcp_trial_free(c.trial);
    mcp_pool_free(c.pool);
    mcp_system_free(c.system);
    mcp_task_free(task);
    json_decref(c.report);
    return code;
}
