/* bench_precision.c - mcpilco bench precision: single precision against the particles' own noise
 * (bench_margin.h) on the models of a run's first and last trial, for the fresh policy that an optimisation
 * begins from and for the one that went to the plant, with the task's own settings. Gradients are in the
 * units of the parameters. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench_margin.h"
#include "commands.h"
#include "learn/run_folder.h"
#include "math/arena.h"
#include "model/posteriors.h"
#include "optim/policy_init.h"
#include "options.h"
#include "rollout/rollout.h"
#include "run_args.h"
#include "term.h"

typedef struct {
    int    draws, mixed, json;
    double least;
} choices;

/* One model of the run, ready for rollouts in both precisions. */
typedef struct {
    const mcp_run      *r;
    const mcp_run_item *it;
    mcp_fit            *fit;
    mcp_posteriors      models;
    mcp_policy_units    units;
    mcp_rollout        *rollout[2]; /* double, single */
    double              adjoint_unit[MCP_MAX_STATE];
    const double       *theta; /* the policy at hand */
    int                 params;
} bench;

static mcp_status draw(void *context, int single, int k, double *J, double *g, mcp_error *err)
{
    bench                       *b = context;
    const mcp_optimise_settings *set = &b->r->task->optimise;
    mcp_stream_noise             stream = {.system = b->r->system,
                                           .seed = b->r->seed,
                                           .trial = (uint32_t)b->it->info.number,
                                           .step = 1000000u + (uint32_t)k,
                                           .dropout = set->dropout,
                                           .antithetic = set->antithetic};
    mcp_noise                    noise = mcp_noise_from_stream(&stream);
    mcp_rollout_result           result = {.gradient = g};
    mcp_status st = mcp_rollout_run(b->rollout[single], b->theta, set->dropout, &noise, &result, err);
    *J = result.J;
    for (int i = 0; i < b->params; i++) g[i] *= b->units.param[i];
    return st;
}

static void bench_close(bench *b)
{
    for (int k = 0; k < 2; k++) mcp_rollout_free(b->rollout[k]);
    mcp_policy_units_free(&b->units);
    mcp_posteriors_free(&b->models);
    mcp_fit_free(b->fit);
}

/* Units, posteriors and rollouts as an optimisation has them (optim/optimise.c). */
static mcp_status bench_open(bench *b, const mcp_run *r, const mcp_run_item *it, int mixed, mcp_error *err)
{
    const mcp_system            *s = r->system;
    const mcp_optimise_settings *set = &r->task->optimise;
    mcp_status                   st;
    *b = (bench){.r = r, .it = it, .params = mcp_program_params(s->controller)};
    if ((st = mcp_run_model(&b->fit, r, it->info.number, NULL, err)) != MCP_OK) return st;
    const mcp_policy_request unit = {.system = s,
                                     .visited = b->fit->visited,
                                     .visits = b->fit->visits,
                                     .seed = r->seed,
                                     .draw = UINT32_MAX};
    if ((st = mcp_policy_measure(&unit, &b->units, err)) != MCP_OK) return st;
    double trial_cost = b->units.cost * (s->steps + 1);
    if (!(trial_cost > 0.0) || isinf(trial_cost)) trial_cost = 1.0;
    for (int i = 0; i < s->nx; i++) b->adjoint_unit[i] = b->units.state[i] / trial_cost;
    mcp_posteriors_request q = {.ngp = s->ngp, .gp = b->fit->gp, .set = r->task->model.posterior};
    q.set.single = !mixed;
    if ((st = mcp_posteriors_create(&b->models, &q, err)) != MCP_OK) return st;
    for (int k = 0; k < 2 && st == MCP_OK; k++) {
        const mcp_rollout_settings how = {.particles = set->particles,
                                          .steps = s->steps,
                                          .true_state = r->algorithm->true_state,
                                          .noisy = r->task->model.noisy,
                                          .single = k,
                                          .adjoint_clip = set->adjoint_clip,
                                          .adjoint_unit = b->adjoint_unit};
        st = mcp_rollout_create(&b->rollout[k], s, b->models.of, &how, NULL, err);
    }
    return st;
}

static int report(const bench *b, const char *policy, const margin_figures *f, const choices *c, json_t *list)
{
    const int enough = f->J_ratio >= c->least && f->usual_ratio >= c->least;
    if (c->json)
        json_array_append_new(
            list, json_pack("{s:i,s:s,s:i,s:i,s:i,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:b}", "trial",
                            b->it->info.number,
                            "policy", policy, "gps", b->models.ngp, "single_gps", b->models.single, "points",
                            b->models.points, "J", mcp_json_number(f->J), "J_noise",
                            mcp_json_number(f->J_noise), "J_error", mcp_json_number(f->J_error),
                            "gradient_noise", mcp_json_number(f->gradient_noise), "gradient_error",
                            mcp_json_number(f->gradient_error), "gradient_usual",
                            mcp_json_number(f->gradient_usual), "gradient_largest",
                            mcp_json_number(f->gradient_largest), "enough", enough));
    else
        printf("  trial %-3d %-8s %d of %d   %10.4g %8.2g %8.2g %12.2g %9.2g %9.2g %9.2g%s\n",
               b->it->info.number, policy, b->models.single, b->models.ngp, f->J, f->J_noise, f->J_ratio,
               f->gradient_noise, f->usual_ratio, f->gradient_ratio, f->gradient_noise / f->gradient_largest,
               enough ? "" : "  TOO LITTLE");
    return enough;
}

/* What the set-up test of the posteriors found. */
static void tell_test(const bench *b)
{
    printf("  trial %-3d", b->it->info.number);
    for (int g = 0; g < b->models.ngp; g++) {
        const mcp_single_info i = mcp_posterior_single(b->models.of[g]);
        const char           *state = b->r->task->state[b->r->task->gp[g].state];
        if (!i.tried) printf(" %s: double, by its kernel;", state);
        else
            printf(" %s: %s, moments off by %.2g of the noise, rows by %.2g;", state,
                   i.used ? "single" : "double", i.moment_error, i.row_error);
    }
    printf("\n");
}

/* Both policies on the model of one trial. */
static mcp_status try_trial(const mcp_run *r, int trial, const choices *c, json_t *list, int *enough,
                            mcp_error *err)
{
    static const char *const name[] = {"fresh", "learned"};
    const mcp_run_item      *it = mcp_run_trial(r, trial);
    bench                    b;
    mcp_status               st = bench_open(&b, r, it, c->mixed, err);
    double                  *theta = mcp_calloc((size_t)b.params + 1, sizeof *theta);
    if (st == MCP_OK && !theta) st = mcp_fail(err, MCP_ERR_MEMORY, "out of memory for a policy");
    const mcp_policy_request fresh = {.system = r->system,
                                      .visited = b.fit ? b.fit->visited : NULL,
                                      .visits = b.fit ? b.fit->visits : 0,
                                      .seed = r->seed,
                                      .trial = (uint32_t)trial};
    if (st == MCP_OK) st = mcp_policy_draw(&fresh, theta, err);
    if (st == MCP_OK && !c->json) tell_test(&b);
    for (int k = 0; k < 2 && st == MCP_OK; k++) {
        margin_figures f;
        b.theta = k ? it->theta : theta;
        mcp_status done = margin_compare(&f, c->draws, b.params, draw, &b, err);
        if (done == MCP_ERR_NUMERIC) { /* a policy whose particles run away is not optimised from either */
            if (!c->json) printf("  trial %-3d %-8s costs are not finite\n", trial, name[k]);
            continue;
        }
        st = done;
        if (st == MCP_OK && !report(&b, name[k], &f, c, list)) *enough = 0;
    }
    mcp_free(theta);
    bench_close(&b);
    return st;
}

int bench_precision(int argc, char **argv)
{
    choices       c = {.draws = 16, .least = 30.0};
    const char   *folder[1];
    const option  options[] = {
        {"--draws", OPTION_INT, &c.draws, 2, 1000, "N", "draws of the particles' noise (16)", NULL},
        {"--least", OPTION_NUMBER, &c.least, 0, 1e9, "F",
         "exit with 1 where noise is less than F times the error of J, or of a usual draw's gradient (30)",
         NULL},
        {"--mixed", OPTION_FLAG, &c.mixed, 0, 0, NULL, "basis functions alone in single precision", NULL},
        {"--json", OPTION_FLAG, &c.json, 0, 0, NULL, "one JSON object", NULL}};
    const command verb = {.verb = "bench precision",
                          .synopsis = "RUN [options]",
                          ONE_ARGUMENT(options, folder),
                          .about = "J and its gradient in single and in double precision on the models of a "
                                   "run's first and last trial, against what\nanother draw of the particles' "
                                   "noise changes: for a fresh policy and for the trial's own.",
                          .examples = "  mcpilco bench precision runs/cartpole-1\n"};
    mcp_run      *r;
    mcp_run_item *it;
    mcp_error     err;
    int           enough = 1, code = options_parse(&verb, argc, argv);
    if (code != OPTIONS_GO) return code;
    if ((code = open_policy("bench precision", folder[0], 0, &r, &it)) != 0) return code;
    json_t   *list = json_array();
    const int last = mcp_run_trials(r);
    if (!c.json)
        printf("%s, %s: %d particles, %d draws of their noise\n"
               "  model     policy   single GPs     J  J noise  / error  gradient noise  / usual    / rms  / "
               "largest error\n",
               r->folder, r->task->name, r->task->optimise.particles, c.draws);
    mcp_status st = try_trial(r, 1, &c, list, &enough, &err);
    if (st == MCP_OK && last > 1) st = try_trial(r, last, &c, list, &enough, &err);
    if (st == MCP_OK && c.json)
        (void)term_json(json_pack("{s:s,s:s,s:i,s:O,s:b}", "run", r->folder, "task", r->task->name,
                                  "particles", r->task->optimise.particles, "rows", list, "enough", enough));
    json_decref(list);
    mcp_run_free(r);
    if (st != MCP_OK) return term_error("bench precision", &err);
    return enough ? 0 : 1;
}
