/* recognise.c - a compiled task to the problem moment matching solves, by probing its programs at random
 * points. */
#include "baseline/pilco/recognise.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "math/arena.h"
#include "math/rng.h"
#include "model/kernel.h"

enum { PROBES = 16 };

typedef struct {
    const mcp_system *s;
    int               nx, nu, angles, na;
    int              *angle;
    double           *in, *out, *work, *mem, *theta, *values; /* of the program under the probe */
    mcp_rand          rand;
    int               metric;
} prober;

static size_t most(size_t a, size_t b) { return a > b ? a : b; }

static size_t layout(prober *q, char *mem)
{
    mcp_arena                a = {.base = mem};
    const mcp_system        *s = q->s;
    const mcp_program *const all[] = {s->policy_true, s->features, s->integrate, s->cost, s->actuator};
    size_t                   in = 0, out = 0, work = 0, slots = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        in = most(in, (size_t)mcp_program_inputs(all[i]));
        out = most(out, (size_t)mcp_program_outputs(all[i]));
        work = most(work, mcp_program_work(all[i]));
        slots = most(slots, (size_t)mcp_program_memory(all[i]));
    }
    q->in = mcp_arena_doubles(&a, in + 1);
    q->out = mcp_arena_doubles(&a, out + 1);
    q->work = mcp_arena_doubles(&a, work + 1);
    q->mem = mcp_arena_doubles(&a, slots + 1);
    q->theta = mcp_arena_doubles(&a, (size_t)mcp_program_params(s->policy_true) + 1);
    q->values = mcp_arena_doubles(&a, (size_t)PROBES * MCP_MAX_FEATURE);
    q->angle = mcp_arena_ints(&a, (size_t)s->nx);
    return a.used;
}

static double wide(prober *q) { return 2 * (2 * mcp_rand_uniform(&q->rand) - 1); }

/* Entry i of (x, sin, cos, u): x by index, then sin and cos of each angle, then inputs. */
static double variable(const prober *q, const double *x, const double *u, int i)
{
    if (i < q->nx) return x[i];
    if (i < q->na)
        return (i - q->nx) % 2 ? cos(x[q->angle[(i - q->nx) / 2]]) : sin(x[q->angle[(i - q->nx) / 2]]);
    return u[i - q->na];
}

/* States that some feature takes the sine or cosine of are found by offering all of them at first. */
static void offer_all_angles(prober *q)
{
    q->angles = q->nx;
    q->na = 3 * q->nx;
    for (int i = 0; i < q->nx; i++) q->angle[i] = i;
}

/* value[p] = k variable at every probe point? Points are [nx+nu] a probe. */
static int match(const prober *q, const double *point, const double *value, int variables, double *scale)
{
    for (int v = 0; v < variables; v++) {
        double vf = 0, vv = 0, ff = 0, worst = 0;
        for (int p = 0; p < PROBES; p++) {
            const double *x = point + p * (q->nx + q->nu);
            double        c = variable(q, x, x + q->nx, v);
            vf += c * value[p];
            vv += c * c;
            ff += value[p] * value[p];
        }
        if (!(vv > 0) || !(ff > 0)) continue;
        for (int p = 0; p < PROBES; p++) {
            const double *x = point + p * (q->nx + q->nu);
            worst = fmax(worst, fabs(value[p] - vf / vv * variable(q, x, x + q->nx, v)));
        }
        if (worst > 1e-10 * sqrt(ff)) continue;
        *scale = vf / vv;
        return v;
    }
    return -1;
}

/* Which variable each of n quantities is; evaluate fills out[n] at (x, u). Returns the first that is none, or
 * -1. */
typedef void evaluate_fn(prober *q, const double *x, const double *u, double *out);
static int match_all(prober *q, int n, evaluate_fn *evaluate, int variables, int *which, double *scale)
{
    double point[PROBES * (MCP_MAX_STATE + MCP_MAX_INPUT)], value[MCP_MAX_FEATURE], one[PROBES];
    int    stride = q->nx + q->nu;
    for (int p = 0; p < PROBES; p++) {
        double *x = point + p * stride;
        for (int i = 0; i < stride; i++) x[i] = wide(q);
        evaluate(q, x, x + q->nx, value);
        for (int i = 0; i < n; i++) q->values[i * PROBES + p] = value[i];
    }
    for (int i = 0; i < n; i++) {
        memcpy(one, q->values + i * PROBES, sizeof one);
        if ((which[i] = match(q, point, one, variables, &scale[i])) < 0) return i;
    }
    return -1;
}

static void run(prober *q, const mcp_program *p)
{
    mcp_program_step(p, q->theta, 1, q->in, q->mem, q->out, q->work);
}

static void eval_features(prober *q, const double *x, const double *u, double *out)
{
    memcpy(q->in, x, (size_t)q->nx * sizeof *x);
    memcpy(q->in + q->nx, u, (size_t)q->nu * sizeof *u);
    run(q, q->s->features);
    memcpy(out, q->out, (size_t)q->s->nf * sizeof *out);
}

static void eval_policy_inputs(prober *q, const double *x, const double *u, double *out)
{
    (void)u;
    memcpy(q->in, x, (size_t)q->nx * sizeof *x);
    mcp_program_net_inputs(q->s->policy_true, 0, q->theta, 1, q->in, q->mem, out, q->work);
}

/* Keeps only the angles in use and renumbers. which[] values: with all states as angles -> with the angles
 * kept. */
static void renumber(const prober *q, const int *slot, int kept, int n, int *which)
{
    int nx = q->nx;
    for (int i = 0; i < n; i++) {
        if (which[i] < nx) continue;
        if (which[i] < 3 * nx) which[i] = nx + 2 * slot[(which[i] - nx) / 2] + (which[i] - nx) % 2;
        else which[i] = nx + 2 * kept + (which[i] - 3 * nx);
    }
}

static mcp_status find_variables(prober *q, mcp_horizon_problem *p, mcp_error *err)
{
    const mcp_system *s = q->s;
    int               slot[MCP_MAX_STATE], used[MCP_MAX_STATE] = {0}, bad;
    if (mcp_program_memory(s->features))
        return mcp_fail(
            err, MCP_ERR_TASK,
            s->before ? "pilco: smoother: auto adds the input of the sample before to the features, which "
                        "moment matching cannot carry; choose another smoother"
                      : "pilco: the model's features must not use prev(); take such features out of "
                        "model.features");
    if (s->view)
        return mcp_fail(err, MCP_ERR_TASK,
                        "pilco: measured expressions (of, from) cannot be matched; use mc-pilco4pms");
    if (mcp_program_memory(s->actuator))
        return mcp_fail(err, MCP_ERR_TASK,
                        "pilco: an input's delay cannot be matched; set it to 0 or use mc-pilco4pms");
    offer_all_angles(q);
    if ((bad = match_all(q, s->nf, eval_features, q->na + q->nu, p->input, p->input_scale)) >= 0)
        return mcp_fail(
            err, MCP_ERR_TASK,
            "pilco: model feature \"%s\" is not a state, an input or the sine or cosine of a state; "
            "list only those in model.features",
            s->feature_text[bad]);
    if ((bad = match_all(q, p->features, eval_policy_inputs, q->na, p->feature, p->feature_scale)) >= 0)
        return mcp_fail(
            err, MCP_ERR_TASK,
            "pilco: argument %d of the policy's rbf is not a state or the sine or cosine of one; list only "
            "those",
            bad + 1);
    for (int i = 0; i < q->nx; i++) used[i] = s->task->state_angle && s->task->state_angle[i];
    for (int i = 0; i < s->nf; i++)
        if (p->input[i] >= q->nx && p->input[i] < q->na) used[(p->input[i] - q->nx) / 2] = 1;
    for (int i = 0; i < p->features; i++)
        if (p->feature[i] >= q->nx) used[(p->feature[i] - q->nx) / 2] = 1;
    q->angles = 0;
    for (int i = 0; i < q->nx; i++)
        if (used[i]) {
            slot[i] = q->angles;
            q->angle[q->angles++] = i;
        }
    renumber(q, slot, q->angles, s->nf, p->input);
    renumber(q, slot, q->angles, p->features, p->feature);
    q->na = q->nx + 2 * q->angles;
    p->angles = q->angles;
    memcpy(p->angle, q->angle, (size_t)q->angles * sizeof *p->angle);
    return MCP_OK;
}

static mcp_status check_model(prober *q, mcp_error *err)
{
    const mcp_system *s = q->s;
    double            x[MCP_MAX_FEATURE], z[MCP_MAX_FEATURE], hyper[MCP_MAX_FEATURE + 1];
    for (int t = 0; t < PROBES; t++) {
        for (int i = 0; i < s->nx + s->nu; i++) q->in[i] = wide(q);
        run(q, s->features);
        for (int g = 0; g < s->ngp; g++)
            if (q->out[s->nf + g] != 0)
                return mcp_fail(
                    err, MCP_ERR_TASK,
                    "pilco: the model of %s has a prior mean; take it out, moment matching needs a zero mean",
                    s->task->state[s->task->gp[g].state]);
    }
    for (int g = 0; g < s->ngp; g++) {
        int ok = mcp_kernel_params(s->kernel[g]) == 1 + s->nf;
        for (int t = 0; t < PROBES && ok; t++) {
            double d = 0;
            for (int i = 0; i <= s->nf; i++) hyper[i] = 0.3 * wide(q);
            for (int i = 0; i < s->nf; i++) {
                x[i] = wide(q);
                z[i] = wide(q);
                d += pow((x[i] - z[i]) / exp(hyper[1 + i]), 2);
            }
            double want = exp(2 * hyper[0] - d), have = mcp_kernel_value(s->kernel[g], hyper, x, z);
            ok = fabs(want - have) <= 1e-10 * exp(2 * hyper[0]);
        }
        if (!ok)
            return mcp_fail(err, MCP_ERR_TASK,
                            "pilco: the kernel of %s is %s; moment matching needs kernel: se on all features",
                            s->task->state[s->task->gp[g].state], s->kernel_text[g]);
    }
    return MCP_OK;
}

/* x' = A x + B d: columns by unit vectors, then a test that nothing else is there. */
static mcp_status find_transition(prober *q, mcp_horizon_problem *p, mcp_error *err)
{
    const mcp_system *s = q->s;
    int               nx = q->nx, nu = q->nu, E = s->ngp, n = nx + nu + E;
    for (int c = 0; c < n; c++) {
        if (c >= nx && c < nx + nu) continue;
        memset(q->in, 0, (size_t)n * sizeof *q->in);
        q->in[c] = 1;
        run(q, s->integrate);
        for (int i = 0; i < nx; i++)
            if (c < nx) p->A[i * nx + c] = q->out[i];
            else p->B[i * E + c - nx - nu] = q->out[i];
    }
    for (int t = 0; t < PROBES; t++) {
        for (int i = 0; i < n; i++) q->in[i] = wide(q);
        run(q, s->integrate);
        for (int i = 0; i < nx; i++) {
            double v = 0;
            for (int j = 0; j < nx; j++) v += p->A[i * nx + j] * q->in[j];
            for (int e = 0; e < E; e++) v += p->B[i * E + e] * q->in[nx + nu + e];
            if (!(fabs(v - q->out[i]) < 1e-9))
                return mcp_fail(err, MCP_ERR_TASK,
                                "pilco: the next %s is not linear in the states and the learned changes; "
                                "learn it (model.changes) instead of giving it a known transition",
                                s->task->state[i]);
        }
    }
    return MCP_OK;
}

/* The three groups of a single rbf, and u = limit (9 sin s + sin 3s)/8 of its outputs at random parameters;
 * so the limits lie alike on both sides. */
static mcp_status check_policy(prober *q, mcp_pilco_plan *plan, mcp_error *err)
{
    const mcp_program     *c = q->s->policy_true;
    const mcp_task        *t = q->s->task;
    const mcp_param_group *g[3] = {NULL, NULL, NULL};
    mcp_horizon_problem   *p = &plan->p;
    for (int i = 0; i < mcp_program_groups(c); i++) {
        const mcp_param_group *m = mcp_program_group(c, i);
        if (m->kind == MCP_RBF_WEIGHTS) g[0] = m;
        if (m->kind == MCP_RBF_CENTRES) g[1] = m;
        if (m->kind == MCP_RBF_LOG_LENGTHS) g[2] = m;
    }
    int ok = !mcp_program_memory(c) && mcp_program_net_count(c) == 1 && mcp_program_groups(c) == 3 && g[0] &&
             g[1] && g[2] && g[0]->rows == q->nu;
    for (int k = 0; k < q->nu; k++) ok = ok && t->input[k].low == -t->input[k].high;
    if (ok) {
        plan->weights = g[0]->offset;
        plan->centres = g[1]->offset;
        plan->lengths = g[2]->offset;
        p->basis = g[0]->cols;
        p->features = mcp_program_net_features(c, 0);
    }
    for (int probe = 0; probe < PROBES && ok; probe++) {
        double f[MCP_MAX_FEATURE], x[MCP_MAX_STATE];
        for (int i = 0; i < mcp_program_params(c); i++) q->theta[i] = 0.5 * wide(q);
        for (int i = 0; i < q->nx; i++) x[i] = 0.3 * wide(q);
        eval_policy_inputs(q, x, NULL, f);
        memcpy(q->in, x, (size_t)q->nx * sizeof *x);
        run(q, c);
        for (int k = 0; k < q->nu && ok; k++) {
            double s = 0;
            for (int b = 0; b < p->basis; b++) {
                double d = 0;
                for (int i = 0; i < p->features; i++) {
                    double r = (f[i] - q->theta[plan->centres + b * p->features + i]) /
                               exp(q->theta[plan->lengths + i]);
                    d += r * r;
                }
                s += q->theta[plan->weights + k * p->basis + b] * exp(-d);
            }
            ok = fabs(q->out[k] - t->input[k].high * (9 * sin(s) + sin(3 * s)) / 8) <=
                 1e-9 * t->input[k].high;
        }
    }
    if (!ok)
        return mcp_fail(
            err, MCP_ERR_TASK,
            "pilco: the policy of %s must be LIMIT*(9*sin(s) + sin(3*s))/8 with s = rbf(N, ...) of states "
            "and "
            "their sines and cosines, one output of the same rbf per input; e.g. let: {s: 'rbf(10, ...)'}",
            t->input[0].name);
    return MCP_OK;
}

static double probe_cost(void *context, const double *x)
{
    prober *q = context;
    memcpy(q->in, x, (size_t)q->nx * sizeof *x);
    for (int i = 0; i < q->nu; i++)
        q->in[q->nx + i] = wide(q); /* a cost of u shows as noise and has not the form */
    run(q, q->s->cost);
    return q->out[q->metric];
}

static mcp_status find_cost(prober *q, mcp_pilco_plan *plan, mcp_error *err)
{
    int        has = 0;
    mcp_status st;
    for (q->metric = 0; q->metric < 2 && !has; q->metric++) {
        st = mcp_cost_form(&(mcp_cost_question){q->nx, q->angles, q->angle, probe_cost, q}, plan->p.z,
                           plan->p.W, &has, err);
        if (st != MCP_OK) return st;
        plan->metric = q->metric;
    }
    if (!has)
        return mcp_fail(err, MCP_ERR_TASK,
                        "pilco: neither cost nor metric is 1 - exp(-Q/2) with Q a positive quadratic form in "
                        "the states and the "
                        "sines and cosines of angles whose least value is 0; write the cost so, e.g. 1 - "
                        "exp(-(p^2 + (cos(theta) + 1)^2)/2)");
    return MCP_OK;
}

static void fill_start(prober *q, mcp_horizon_problem *p)
{
    const mcp_task       *t = q->s->task;
    const mcp_task_start *d = &t->start;
    int                   nx = q->nx;
    for (int i = 0; i < nx; i++) {
        double mean = 0, second = 0, total = 0;
        if (d->type == MCP_START_UNIFORM) {
            mean = 0.5 * (d->low[i] + d->high[i]);
            second = mean * mean + pow(d->high[i] - d->low[i], 2) / 12;
        } else {
            for (int k = 0; k < d->parts; k++) {
                double w = d->parts > 1 ? d->weight[k] : 1, m = d->mean[k * nx + i], s = d->std[k * nx + i];
                total += w;
                mean += w * m;
                second += w * (m * m + s * s);
            }
            mean /= total;
            second /= total;
        }
        p->m0[i] = mean;
        /* a start without any spread still has a direction: S must not be exactly singular */
        p->S0[i * nx + i] = fmax(second - mean * mean, 1e-12);
    }
    for (int i = 0; i < t->ny; i++)
        p->noise[t->measured[i].state] = pow(t->measured[i].noise, 2) + pow(t->measured[i].quantum, 2) / 12;
    for (int k = 0; k < q->nu; k++) p->limit[k] = t->input[k].high;
}

static size_t layout_plan(mcp_horizon_problem *p, int E, int policy_features, char *mem)
{
    mcp_arena a = {.base = mem};
    size_t    nx = (size_t)p->nx, most_na = 3 * nx, f = (size_t)policy_features + 1, D = (size_t)p->inputs;
    p->angle = mcp_arena_ints(&a, nx);
    p->input = mcp_arena_ints(&a, D);
    p->feature = mcp_arena_ints(&a, f);
    p->A = mcp_arena_doubles(&a, nx * nx);
    p->B = mcp_arena_doubles(&a, nx * (size_t)E);
    p->input_scale = mcp_arena_doubles(&a, D);
    p->feature_scale = mcp_arena_doubles(&a, f);
    p->limit = mcp_arena_doubles(&a, (size_t)p->nu);
    p->noise = mcp_arena_doubles(&a, nx);
    p->m0 = mcp_arena_doubles(&a, nx);
    p->S0 = mcp_arena_doubles(&a, nx * nx);
    p->z = mcp_arena_doubles(&a, most_na);
    p->W = mcp_arena_doubles(&a, most_na * most_na);
    return a.used;
}

mcp_status mcp_pilco_recognise(mcp_pilco_plan *out, const mcp_system *s, mcp_error *err)
{
    prober     q = {.s = s, .nx = s->nx, .nu = s->nu, .rand = mcp_rand_make(22, 0, 0, MCP_RNG_OTHER)};
    void      *mem = NULL;
    int features = mcp_program_net_count(s->policy_true) ? mcp_program_net_features(s->policy_true, 0) : 0;
    mcp_status st;
    memset(out, 0, sizeof *out);
    out->p.nx = s->nx;
    out->p.nu = s->nu;
    out->p.T = s->steps;
    out->p.inputs = s->nf;
    if ((st = mcp_block_alloc(&mem, layout(&q, NULL), err)) != MCP_OK) return st;
    layout(&q, mem);
    if ((st = mcp_block_alloc(&out->block, layout_plan(&out->p, s->ngp, features, NULL), err)) == MCP_OK) {
        layout_plan(&out->p, s->ngp, features, out->block);
        if ((st = check_policy(&q, out, err)) == MCP_OK &&
            (st = find_variables(&q, &out->p, err)) == MCP_OK && (st = check_model(&q, err)) == MCP_OK &&
            (st = find_transition(&q, &out->p, err)) == MCP_OK)
            st = find_cost(&q, out, err);
        if (st == MCP_OK) fill_start(&q, &out->p);
    }
    mcp_block_free(mem);
    if (st != MCP_OK) mcp_pilco_plan_free(out);
    return st;
}

void mcp_pilco_plan_free(mcp_pilco_plan *p)
{
    mcp_block_free(p->block);
    p->block = NULL;
}
