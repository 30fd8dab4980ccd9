/* cmd_simulate.c - mcpilco simulate: particles under a run's model and policy, as NPY for plotting. */
#include <stdio.h>

#include "commands.h"
#include "control/fixed_goals.h"
#include "io/npy.h"
#include "learn/forecast.h"
#include "options.h"
#include "run_args.h"
#include "term.h"

typedef struct {
    int         trial, particles, threads, json;
    uint64_t    seed;
    const char *states, *observed, *inputs;
    option_list goals;
} choices;

static mcp_status save(const mcp_particles *p, const choices *c, mcp_error *err)
{
    int        x[3] = {p->samples, p->count, p->nx}, u[3] = {p->samples, p->count, p->nu};
    mcp_status st = mcp_npy_write(c->states, 3, x, p->states, err);
    if (st == MCP_OK && c->observed) st = mcp_npy_write(c->observed, 3, x, p->observed, err);
    if (st == MCP_OK && c->inputs) st = mcp_npy_write(c->inputs, 3, u, p->inputs, err);
    return st;
}

static mcp_status simulate(const mcp_run *r, const mcp_run_item *it, const choices *c, mcp_error *err)
{
    mcp_fixed_goals fixed;
    mcp_pool      *pool = NULL;
    mcp_fit       *fit = NULL;
    mcp_particles *p = NULL;
    mcp_forecast  *f = NULL;
    mcp_status     st;
    if ((st = mcp_fix_goals(&fixed, r->system, c->goals.count, c->goals.item, err)) != MCP_OK) return st;
    if ((st = mcp_pool_create(&pool, c->threads, err)) != MCP_OK) goto done;
    if ((st = mcp_run_model(&fit, r, it->info.number, pool, err)) != MCP_OK) goto done;
    mcp_particle_settings q = {.count = c->particles,
                               .true_state = r->algorithm->true_state,
                               .seed = c->seed,
                               .trial = (uint32_t)it->info.number,
                               .set = 2};
    if ((st = mcp_particles_run(&p, &fixed.system, fit->gp, it->theta, &q, pool, err)) != MCP_OK) goto done;
    if ((st = mcp_forecast_make(&f, &fixed.system, p, 0, err)) != MCP_OK) goto done;
    if ((st = save(p, c, err)) != MCP_OK) goto done;
    if (c->json)
        (void)term_json(json_pack("{s:s, s:i, s:i, s:[i,i,i], s:f, s:f, s:f, s:f}", "file", c->states,
                                  "trial", it->info.number, "particles", p->count, "shape", p->samples,
                                  p->count, p->nx, "cost", f->cost, "cost_std", f->cost_std, "success",
                                  f->success, "limit", f->limit));
    else
        printf(
            "%s: %d particles of trial %d's policy on its model, [sample][particle][state] = %d x %d x %d\n"
            "cost %.3f +- %.3f, success %.1f %%, limit %.1f %%\n",
            c->states, p->count, it->info.number, p->samples, p->count, p->nx, f->cost, f->cost_std,
            100 * f->success, 100 * f->limit);
done:
    mcp_forecast_free(f);
    mcp_particles_free(p);
    mcp_fit_free(fit);
    mcp_pool_free(pool);
    return st;
}

int cmd_simulate(int argc, char **argv)
{
    choices      c = {.particles = 400, .seed = UINT64_MAX};
    const char  *folder[1];
    const option options[] = {
        {"--output", OPTION_TEXT, &c.states, 0, 0, "FILE.npy", "states, [sample][particle][state]", "-o"},
        {"--observed", OPTION_TEXT, &c.observed, 0, 0, "FILE.npy", "what the observer saw, same shape", NULL},
        {"--inputs", OPTION_TEXT, &c.inputs, 0, 0, "FILE.npy", "inputs, [sample][particle][input]", NULL},
        {"--trial", OPTION_INT, &c.trial, 1, 999, "K",
         "policy and model of trial K (the recommended one)", NULL},
        {"--particles", OPTION_INT, &c.particles, 1, 100000, "M", "particles (400)", NULL},
        {"--seed", OPTION_SEED, &c.seed, 0, 0, "S", "starts and noise (the run's seed)", NULL},
        {"--goal", OPTION_LIST, &c.goals, 0, 0, "NAME=VALUE",
         "a set-point of the task (goals) that is given instead of drawn; may be given often", NULL},
        {"--threads", OPTION_INT, &c.threads, 0, 1024, "K",
         "0: one per core; the result does not depend on it", NULL},
        {"--json", OPTION_FLAG, &c.json, 0, 0, NULL, "one JSON object", NULL},
    };
    const command verb = {
        .verb = "simulate",
        .synopsis = "RUN -o FILE.npy [options]",
        ONE_ARGUMENT(options, folder),
        .about = "Simulates particles under a run's model and policy, sensor and observer included, and "
                 "saves them for plotting.",
        .examples = "  mcpilco simulate runs/cartpole-1 -o fan.npy\n"
                    "      then in Python: x = numpy.load('fan.npy'); plot(x[:, :, 2])\n"
                    "  mcpilco simulate runs/cartpole-1 --trial 2 --particles 1000 -o x.npy --inputs u.npy\n",
    };
    int code = options_parse(&verb, argc, argv);
    if (code != OPTIONS_GO) return code;
    if (!c.states) {
        fprintf(stderr, "mcpilco simulate: say where to save the particles: -o FILE.npy\n");
        return 2;
    }
    mcp_run      *r;
    mcp_run_item *it;
    mcp_error     err;
    if ((code = open_policy("simulate", folder[0], c.trial, &r, &it)) != 0) return code;
    if (c.seed == UINT64_MAX) c.seed = r->seed;
    if (simulate(r, it, &c, &err) != MCP_OK) code = term_error("simulate", &err);
    mcp_run_free(r);
    return code;
}
