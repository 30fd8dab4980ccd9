/* model_read.c - the learned model for those who ask it: the public functions mcp_model_* of run.h. */
#include <math.h>
#include <string.h>

#include "learn/run_folder.h"
#include "math/arena.h"

struct mcp_model {
    const mcp_run *run;
    mcp_fit       *fit;
};

mcp_status mcp_model_open(mcp_model **out, const mcp_run *r, int trial, int threads, mcp_error *err)
{
    mcp_pool  *pool = NULL;
    mcp_model *m = mcp_calloc(1, sizeof *m);
    *out = NULL;
    if (!m) return mcp_fail(err, MCP_ERR_MEMORY, "out of memory for the model");
    m->run = r;
    mcp_status st = mcp_pool_create(&pool, threads, err);
    if (st == MCP_OK) st = mcp_run_model(&m->fit, r, trial ? trial : mcp_run_trials(r), pool, err);
    mcp_pool_free(pool);
    if (st == MCP_OK) *out = m;
    else mcp_model_free(m);
    return st;
}

void mcp_model_free(mcp_model *m)
{
    if (!m) return;
    mcp_fit_free(m->fit);
    mcp_free(m);
}

int     mcp_model_targets(const mcp_model *m) { return m->run->system->ngp; }
int     mcp_model_features(const mcp_model *m) { return m->run->system->nf; }
mcp_gp *mcp_model_gp(mcp_model *m, int i)
{
    return i >= 0 && i < m->run->system->ngp ? m->fit->gp[i] : NULL;
}

/* The features program at one state and input after the other; each call is the first of its sequence. */
typedef struct {
    const mcp_program *program;
    double            *in, *out, *memory, *work;
} runner;

static mcp_status runner_create(runner *w, const mcp_program *p, mcp_error *err)
{
    size_t in = (size_t)mcp_program_inputs(p), out = (size_t)mcp_program_outputs(p),
           memory = (size_t)mcp_program_memory(p);
    size_t all = in + out + memory + mcp_program_work(p);
    *w = (runner){.program = p, .in = mcp_calloc(all + 1, sizeof(double))};
    if (!w->in) return mcp_fail(err, MCP_ERR_MEMORY, "out of memory for a program's numbers");
    w->out = w->in + in;
    w->memory = w->out + out;
    w->work = w->memory + memory;
    return MCP_OK;
}

static void runner_step(runner *w)
{
    mcp_program_step(w->program, NULL, 1, w->in, w->memory, w->out, w->work);
}

static mcp_status check(int n, const double *x, const double *u, mcp_error *err)
{
    if (n >= 0 && x && u) return MCP_OK;
    return mcp_fail(err, MCP_ERR_ARG, "model: %d points to predict at; states and inputs are needed", n);
}

/* features: n x nf; prior (may be NULL): n x ngp. */
static mcp_status describe(const mcp_model *m, int n, const double *x, const double *u, double *features,
                           double *prior, mcp_error *err)
{
    const mcp_system *s = m->run->system;
    size_t            nx = (size_t)s->nx, nu = (size_t)s->nu, nf = (size_t)s->nf, ngp = (size_t)s->ngp;
    runner            w;
    mcp_status        st = runner_create(&w, s->features, err);
    for (size_t i = 0; st == MCP_OK && i < (size_t)n; i++) {
        memcpy(w.in, x + i * nx, nx * sizeof *x);
        memcpy(w.in + nx, u + i * nu, nu * sizeof *u);
        runner_step(&w);
        if (s->before) /* the input has been held */
            mcp_program_step(w.program, NULL, 0, w.in, w.memory, w.out, w.work);
        memcpy(features + i * nf, w.out, nf * sizeof *features);
        if (prior) memcpy(prior + i * ngp, w.out + nf, ngp * sizeof *prior);
    }
    mcp_free(w.in);
    return st;
}

mcp_status mcp_model_describe(mcp_model *m, int n, const double *x, const double *u, double *features,
                              mcp_error *err)
{
    mcp_status st = check(n, x, u, err);
    return st == MCP_OK ? describe(m, n, x, u, features, NULL, err) : st;
}

mcp_status mcp_model_predict_features(mcp_model *m, int n, const double *features, double *mean, double *std,
                                      mcp_error *err)
{
    size_t     ngp = (size_t)m->run->system->ngp, count = (size_t)(n > 0 ? n : 0);
    mcp_status st = check(n, features, features, err);
    if (st != MCP_OK) return st;
    double *one = mcp_calloc(2 * count + 1, sizeof *one), *var = one ? one + count : NULL;
    if (!one) return mcp_fail(err, MCP_ERR_MEMORY, "out of memory for %d predictions", n);
    for (size_t g = 0; st == MCP_OK && g < ngp; g++) {
        st = mcp_gp_predict(m->fit->gp[g], n, features, one, var, err);
        for (size_t i = 0; st == MCP_OK && i < count; i++) {
            if (mean) mean[i * ngp + g] = one[i];
            if (std) std[i * ngp + g] = sqrt(var[i]);
        }
    }
    mcp_free(one);
    return st;
}

mcp_status mcp_model_predict(mcp_model *m, int n, const double *x, const double *u, double *mean, double *std,
                             mcp_error *err)
{
    const mcp_system *s = m->run->system;
    size_t            count = (size_t)(n > 0 ? n : 0), ngp = (size_t)s->ngp;
    mcp_status        st = check(n, x, u, err);
    if (st != MCP_OK) return st;
    double *f = mcp_calloc(count * ((size_t)s->nf + ngp) + 1, sizeof *f);
    if (!f) return mcp_fail(err, MCP_ERR_MEMORY, "out of memory for %d predictions", n);
    double *prior = f + count * (size_t)s->nf;
    st = describe(m, n, x, u, f, prior, err);
    if (st == MCP_OK) st = mcp_model_predict_features(m, n, f, mean, std, err);
    for (size_t i = 0; st == MCP_OK && mean && i < count * ngp; i++) mean[i] += prior[i];
    mcp_free(f);
    return st;
}

mcp_status mcp_model_step(mcp_model *m, int n, const double *x, const double *u, double *next, mcp_error *err)
{
    const mcp_system *s = m->run->system;
    size_t            count = (size_t)(n > 0 ? n : 0), nx = (size_t)s->nx, nu = (size_t)s->nu;
    size_t            ngp = (size_t)s->ngp;
    runner            w = {0};
    double           *mean = mcp_calloc(count * ngp + 1, sizeof *mean);
    mcp_status st = mean ? mcp_model_predict(m, n, x, u, mean, NULL, err)
                         : mcp_fail(err, MCP_ERR_MEMORY, "out of memory for %d predictions", n);
    if (st == MCP_OK) st = runner_create(&w, s->integrate, err);
    for (size_t i = 0; st == MCP_OK && i < count; i++) {
        memcpy(w.in, x + i * nx, nx * sizeof *x);
        memcpy(w.in + nx, u + i * nu, nu * sizeof *u);
        memcpy(w.in + nx + nu, mean + i * ngp, ngp * sizeof *mean);
        runner_step(&w);
        memcpy(next + i * nx, w.out, nx * sizeof *next);
    }
    mcp_free(w.in);
    mcp_free(mean);
    return st;
}
