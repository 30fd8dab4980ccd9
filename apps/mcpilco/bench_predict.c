/* bench_predict.c - mcpilco bench predict: how well the models of a recorded run foresee its next trial,
 * against the true states of a simulated plant. For k = 0, 1, ..: trained on the explorations and k policy
 * trials, asked about trial k + 1. From every sample of it the model's mean is carried on, with the inputs
 * that were applied, from the true state; a velocity that the model means as a difference of positions is
 * that of the true positions. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "learn/run_folder.h"
#include "math/arena.h"
#include "options.h"
#include "plant/plant_parts.h"
#include "term.h"

typedef struct {
    const mcp_system *s;
    const mcp_fit    *fit;
    mcp_runner        features, integrate;
    const mcp_trial  *t;    /* the one foreseen */
    double           *real; /* [samples][nx] its true states, as the model means them */
    int               steps;
} forecaster;

/* Sums over the starts: one-step changes of each GP's state, and positions (or that state) later on. */
typedef struct {
    double change[MCP_MAX_STATE], later[MCP_MAX_STATE];
    int    starts, far; /* far: starts that have all steps ahead of them */
} errors;

/* x at sample k, and the input from there on -> x a sample later. */
static mcp_status advance(forecaster *f, int first, int k, double *x, double *change, mcp_error *err)
{
    const mcp_system *s = f->s;
    size_t            nx = (size_t)s->nx, nu = (size_t)s->nu;
    mcp_status        st = MCP_OK;
    memcpy(f->features.in, x, nx * sizeof *x);
    memcpy(f->features.in + nx, f->t->applied + (size_t)k * nu, nu * sizeof *x);
    mcp_runner_step(&f->features, NULL, first);
    for (int g = 0; g < s->ngp && st == MCP_OK; g++) {
        double mean;
        st = mcp_gp_predict(f->fit->gp[g], 1, f->features.out, &mean, NULL, err);
        change[g] = mean + f->features.out[s->nf + g];
    }
    memcpy(f->integrate.in, f->features.in, (nx + nu) * sizeof *x);
    memcpy(f->integrate.in + nx + nu, change, (size_t)s->ngp * sizeof *x);
    mcp_runner_step(&f->integrate, NULL, first);
    memcpy(x, f->integrate.out, nx * sizeof *x);
    return st;
}

/* From sample `start`; the sample before it shows the programs with memory what they remember. */
static mcp_status foresee(forecaster *f, int start, errors *e, mcp_error *err)
{
    size_t     nx = (size_t)f->s->nx;
    double     x[MCP_MAX_STATE], change[MCP_MAX_STATE] = {0};
    mcp_status st;
    memcpy(x, f->real + (size_t)(start - 1) * nx, nx * sizeof *x);
    if ((st = advance(f, 1, start - 1, x, change, err)) != MCP_OK) return st;
    memcpy(x, f->real + (size_t)start * nx, nx * sizeof *x);
    int far = start + f->steps < f->t->samples, last = far ? f->steps : 1;
    for (int k = 0; k < last && st == MCP_OK; k++) {
        st = advance(f, 0, start + k, x, change, err);
        for (int g = 0; k == 0 && g < f->s->ngp; g++) {
            const double *real = f->real + (size_t)start * nx + (size_t)f->s->task->gp[g].state;
            e->change[g] += pow(change[g] - (real[nx] - real[0]), 2.0);
        }
    }
    e->starts++;
    for (int g = 0; far && g < f->s->ngp; g++) {
        const mcp_task_gp *gp = &f->s->task->gp[g];
        size_t             at = (size_t)(gp->kind == MCP_GP_VELOCITY ? gp->position : gp->state);
        e->later[g] += pow(x[at] - f->real[(size_t)(start + f->steps) * nx + at], 2.0);
    }
    e->far += far;
    return st;
}

static void print_row(const forecaster *f, int trials, const errors *e, double likelihood)
{
    const mcp_task *t = f->s->task;
    printf("%d policy trials:", trials);
    for (int g = 0; g < f->s->ngp; g++)
        printf("  %s %.3g", t->state[t->gp[g].state], sqrt(e->change[g] / e->starts));
    printf("  |");
    for (int g = 0; g < f->s->ngp; g++)
        printf("  %s %.3g", t->state[t->gp[g].kind == MCP_GP_VELOCITY ? t->gp[g].position : t->gp[g].state],
               e->far ? sqrt(e->later[g] / e->far) : NAN);
    printf("  |  log likelihood %.4g\n", likelihood);
    fflush(stdout);
}

/* Log marginal likelihood of a datum, added up over the GPs. */
static mcp_status likelihood_of(const mcp_fit *fit, int ngp, double *sum, mcp_error *err)
{
    mcp_status st = MCP_OK;
    *sum = 0.0;
    for (int g = 0; g < ngp && st == MCP_OK; g++) {
        double nlml;
        st = mcp_gp_nlml(fit->gp[g], &nlml, NULL, err);
        *sum -= nlml / mcp_gp_count(fit->gp[g]);
    }
    return st;
}

/* The model of the first n trials, asked about the next one. */
static mcp_status try_trial(forecaster *f, mcp_fit_data *data, mcp_trial *next, mcp_pool *pool,
                            mcp_error *err)
{
    mcp_fit   *fit = NULL;
    errors     e = {.starts = 0};
    double     likelihood = 0.0;
    mcp_status st = mcp_fit_create(&fit, f->s, data, pool, err);
    f->fit = fit;
    f->t = next;
    f->real = mcp_run_modelled(f->s, &(mcp_run_item){.trial = next});
    if (st == MCP_OK && !f->real) st = mcp_fail(err, MCP_ERR_MEMORY, "out of memory for a trial");
    for (int k = 1; st == MCP_OK && k + 1 < next->samples; k++) st = foresee(f, k, &e, err);
    if (st == MCP_OK) st = likelihood_of(fit, f->s->ngp, &likelihood, err);
    if (st == MCP_OK && e.starts) print_row(f, (int)data->number - 1, &e, likelihood);
    mcp_free(f->real);
    mcp_fit_free(fit);
    return st;
}

static mcp_status run_all(mcp_run *r, const mcp_task *task, int steps, mcp_error *err)
{
    mcp_system  *s = NULL;
    mcp_pool    *pool = NULL;
    forecaster   f = {.steps = steps};
    mcp_trial  **trial = mcp_calloc((size_t)r->items + 1, sizeof(mcp_trial *));
    mcp_states **states = mcp_calloc((size_t)r->items + 1, sizeof(mcp_states *));
    mcp_status   st = trial && states ? MCP_OK : mcp_fail(err, MCP_ERR_MEMORY, "out of memory");
    if (st == MCP_OK) st = mcp_system_create(&s, task, err);
    if (st == MCP_OK) st = mcp_pool_create(&pool, 1, err);
    f.s = s;
    if (st == MCP_OK) st = mcp_runner_create(&f.features, s->features, err);
    if (st == MCP_OK) st = mcp_runner_create(&f.integrate, s->integrate, err);
    for (int i = 0; i < r->items && st == MCP_OK; i++) {
        trial[i] = r->item[i]->trial;
        if (isnan(trial[i]->truth[0]))
            st = mcp_fail(err, MCP_ERR_ARG, "%s: its plant does not tell the true state", r->folder);
        else st = mcp_estimate_states(&states[i], s, trial[i], err);
    }
    if (st == MCP_OK)
        printf("%s, %s: root mean square error of one-step changes | after %d steps | log likelihood of a "
               "datum\n",
               r->folder, task->name, steps);
    for (int n = r->explored; n < r->items && st == MCP_OK; n++) {
        mcp_fit_data data = {n, trial, states, NULL, r->seed, (uint32_t)(n - r->explored + 1), NULL};
        st = try_trial(&f, &data, trial[n], pool, err);
    }
    for (int i = 0; states && i < r->items; i++) mcp_states_free(states[i]);
    mcp_free(states);
    mcp_free(trial);
    mcp_runner_free(&f.features);
    mcp_runner_free(&f.integrate);
    mcp_pool_free(pool);
    mcp_system_free(s);
    return st;
}

int bench_predict(int argc, char **argv)
{
    option_list    set = {0};
    int            steps = 20;
    const char    *folder[1];
    const option   options[] = {{"--set", OPTION_LIST, &set, 0, 0, "KEY=VALUE",
                                 "a setting of the task to try on the same trials", NULL},
                                {"--steps", OPTION_INT, &steps, 1, 10000, "N", "how far ahead", NULL}};
    const command  verb = {.verb = "bench predict",
                           .synopsis = "RUN [options]",
                           ONE_ARGUMENT(options, folder),
                           .about = "Trains the model of each trial of a run again and asks it about the "
                                    "next trial, which it has not seen,\nagainst the true states of the "
                                    "simulated plant.",
                           .examples = "  mcpilco bench predict runs/cartpole-1 --set smoother=auto\n"};
    mcp_run_origin origin = {.task = NULL};
    mcp_run       *r = NULL;
    mcp_error      err;
    int            code = options_parse(&verb, argc, argv);
    if (code != OPTIONS_GO) return code;
    mcp_texts  more = {set.item, set.count};
    mcp_status st = mcp_run_origin_read(&origin, folder[0], &more, &err);
    if (st == MCP_OK) st = mcp_run_open(&r, folder[0], NULL, &err);
    if (st == MCP_OK) st = run_all(r, origin.task, steps, &err);
    mcp_run_free(r);
    mcp_task_free(origin.task);
    return st == MCP_OK ? 0 : term_error("bench predict", &err);
}
