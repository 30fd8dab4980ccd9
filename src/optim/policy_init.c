/* policy_init.c - a fresh policy, scaled to the system, and the units that learning measures by.
 *
 * States are drawn where the plant has been and the cost can tell them apart (policy_region.c). Centres are
 * the features of such states, length-scales a part of each feature's range, and weights such that one full
 * basis function asks for up to half of the input limit: the gain from a network's output to the input is
 * measured, so `10*tanh(rbf(...)/10)` and `10*tanh(rbf(...))` start alike.
 *
 * Nothing here knows a unit: every number comes from the data, the start, the cost or the limits of inputs,
 * and every comparison is relative. The same scales are the units of the parameters that Adam moves. */
#include "optim/policy_init.h"

#include <math.h>
#include <string.h>

#include "control/compose.h"
#include "math/angle.h"
#include "math/arena.h"
#include "optim/policy_region.h"

static const double length_part = 0.35;  /* length-scale as a part of a feature's range       */
static const double circle_part = 0.5;   /* the same for features that live on a circle       */
static const double start_part = 0.5;    /* of an input's limit: what one parameter asks for   */
static const double near_part = 0.25;    /* of a feature's range: how far "near the goal" is     */

static int same(double a, double b)
{
    return fabs(a - b) <= MCP_ROUNDING * (fabs(a) + fabs(b));
}

/* Does feature j of a node repeat in every state it depends on? It lives on a circle then. */
static int on_circle(mcp_drawing *d, int node, int j)
{
    double at[MCP_NET_FEATURES_MAX], to[MCP_NET_FEATURES_MAX];
    int    depends = 0;
    for (int i = 0; i < d->s->nx; i++) {
        memcpy(d->x, d->probe, (size_t)d->s->nx * sizeof *d->x);
        mcp_drawing_features(d, node, d->x, at);
        d->x[i] += 0.16 * mcp_drawing_width(d, i);
        mcp_drawing_features(d, node, d->x, to);
        if (same(at[j], to[j])) continue;
        if (!(d->turn[i] > 0.0)) return 0;
        depends = 1;
    }
    return depends;
}

static const mcp_param_group *group_of(const mcp_program *p, int node, mcp_param_kind kind, int layer)
{
    for (int i = 0; i < mcp_program_groups(p); i++) {
        const mcp_param_group *g = mcp_program_group(p, i);
        if (g->node == node && g->kind == kind && (layer < 0 || g->layer == layer)) return g;
    }
    return NULL;
}

/* Mean over probes of |command - middle| in units of half its range, summed over inputs. base: commands
 * before, or NULL. */
static double commands(mcp_drawing *d, const double *base, double *keep)
{
    double sum = 0.0;
    for (int k = 0; k < MCP_PROBES_FEW; k++) {
        mcp_program_step(d->p, d->theta, 1, d->probe + (size_t)k * (size_t)d->s->nx, d->memory, d->out,
                         d->work);
        for (int i = 0; i < d->s->nu; i++) {
            if (keep) keep[k * d->s->nu + i] = d->out[i];
            const mcp_task_input *u = &d->s->task->input[i];
            sum += fabs(d->out[i] - (base ? base[k * d->s->nu + i] : mcp_input_centre(u))) /
                   mcp_input_reach(u);
        }
    }
    return sum / MCP_PROBES_FEW;
}

static double moved_by(mcp_drawing *d, int offset, int count, double step, const double *base)
{
    const double own = d->theta[offset];
    for (int i = 0; i < count; i++) d->theta[offset + i] = own + step;
    double by = commands(d, base, NULL);
    for (int i = 0; i < count; i++) d->theta[offset + i] = own;
    return by;
}

/* |d command/d theta| in units of the limits, all `count` parameters, which are equal, moved alike. Nobody
 * knows what a small step is: it is the one that moves the commands by a hundred-thousandth of their limits.
 * 0: none does. */
static double gain_of(mcp_drawing *d, int offset, int count, double *base)
{
    const double small = 1e-5;
    double       step = 1.0, by = 0.0;
    commands(d, NULL, base);
    for (int k = 0; k < 40; k++) {
        by = moved_by(d, offset, count, step, base);
        if (isfinite(by) && fabs(by / small - 1.0) < MCP_ROUNDING) break;
        if (!isfinite(by)) step *= 1e-6;
        else step *= by > 0.0 ? fmin(small / by, 1e6) : 1e6;
        if (!(step < 1e30) || step < 1e-30) return 0.0;
    }
    return by > 0.0 && isfinite(by) ? by / step : 0.0;
}

/* The unit of a parameter with this gain, or `fallback`. */
static double unit_of(double gain, double fallback)
{
    double unit = start_part / gain;
    return gain > 0.0 && isfinite(unit) ? unit : fallback;
}

static double uniform(mcp_drawing *d, double half)
{
    return half * (2.0 * mcp_rand_uniform(&d->random) - 1.0);
}

/* Mean over probes of the sum of all activations, with the centres and lengths in theta. */
static double activation(mcp_drawing *d, int node, const mcp_param_group *c, const mcp_param_group *l)
{
    double f[MCP_NET_FEATURES_MAX], sum = 0.0;
    for (int k = 0; k < MCP_PROBES_FEW; k++) {
        mcp_drawing_features(d, node, d->probe + (size_t)k * (size_t)d->s->nx, f);
        for (int b = 0; b < c->rows; b++) {
            double q = 0.0;
            for (int j = 0; j < c->cols; j++) {
                double r = (f[j] - d->theta[c->offset + b * c->cols + j]) * exp(-d->theta[l->offset + j]);
                q += r * r;
            }
            sum += exp(-q);
        }
    }
    return sum / MCP_PROBES_FEW;
}

/* Least and greatest value of every feature of a node over the probes. */
static void ranges(mcp_drawing *d, int node, double *low, double *high)
{
    double f[MCP_NET_FEATURES_MAX];
    int    n = mcp_program_net_features(d->p, node);
    for (int j = 0; j < n; j++) {
        low[j] = INFINITY;
        high[j] = -INFINITY;
    }
    for (int k = 0; k < MCP_PROBES; k++) {
        mcp_drawing_features(d, node, d->probe + (size_t)k * (size_t)d->s->nx, f);
        for (int j = 0; j < n; j++) {
            low[j]  = fmin(low[j], f[j]);
            high[j] = fmax(high[j], f[j]);
        }
    }
}

/* Of a feature that does not change: its size. */
static double extent(double low, double high)
{
    double size = fmax(fabs(low), fabs(high));
    if (isfinite(high - low) && high - low > MCP_ROUNDING * size) return high - low;
    return isfinite(size) && size > 0.0 ? 2.0 * size : 2.0;
}

/* A single basis function is a bell about the goal. */
static int at_goal(const mcp_drawing *d, const mcp_param_group *centres)
{
    return centres->rows == 1 && isfinite(d->goal[0]);
}

static int unscaled(const mcp_drawing *d)
{
    return d->s->task->optimise.scaling == MCP_SCALING_NONE;
}

static void draw_start(mcp_drawing *d, double *x)
{
    const mcp_task_start *start = &d->s->task->start;
    for (int i = 0; i < d->s->nx; i++) {
        double mean, variance;
        mcp_start_moments(start, d->s->nx, i, &mean, &variance);
        x[i] = mean + sqrt(variance) * mcp_rand_normal(&d->random);
    }
}

/* Centres and lengths as the paper's authors draw them: lengths of 1, centres within half a turn of zero,
 * but on the circle where a feature lives on one. Or as PILCO's do: centres where trials start, lengths of
 * 1, on a circle 0.7. Whoever measures in other units gets another policy. */
static void place_plainly(mcp_drawing *d, int node, const mcp_param_group *c, const mcp_param_group *l)
{
    double f[MCP_NET_FEATURES_MAX];
    int    circle[MCP_NET_FEATURES_MAX];
    for (int j = 0; j < c->cols; j++) {
        circle[j] = on_circle(d, node, j);
        d->theta[l->offset + j] = d->at_start && circle[j] ? log(0.7) : 0.0;
    }
    for (int b = 0; b < c->rows; b++) {
        if (d->at_start) draw_start(d, d->x);
        else mcp_drawing_state(d, d->x);
        mcp_drawing_features(d, node, d->x, f);
        for (int j = 0; j < c->cols; j++)
            d->theta[c->offset + b * c->cols + j] =
                circle[j] || d->at_start ? f[j] : uniform(d, 0.5 * MCP_TURN);
    }
}

/* Centres over the box, lengths a part of it. */
static void place_scaled(mcp_drawing *d, int node, const mcp_param_group *c, const mcp_param_group *l)
{
    double f[MCP_NET_FEATURES_MAX], low[MCP_NET_FEATURES_MAX], high[MCP_NET_FEATURES_MAX];
    int    n = c->cols;
    ranges(d, node, low, high);
    for (int j = 0; j < n; j++) {
        double part = at_goal(d, c) ? near_part : on_circle(d, node, j) ? circle_part : length_part;
        double length = part * extent(low[j], high[j]);
        d->theta[l->offset + j] = log(length);
        for (int b = 0; b < c->rows; b++) d->scale[c->offset + b * n + j] = length;
    }
    for (int b = 0; b < c->rows; b++) {
        mcp_drawing_state(d, d->x);
        mcp_drawing_features(d, node, at_goal(d, c) ? d->goal : d->x, f);
        for (int j = 0; j < n; j++) d->theta[c->offset + b * n + j] = isfinite(f[j]) ? f[j] : 0.0;
    }
}

static void draw_rbf(mcp_drawing *d, int node, double *base)
{
    const mcp_param_group *w = group_of(d->p, node, MCP_RBF_WEIGHTS, -1),
                          *c = group_of(d->p, node, MCP_RBF_CENTRES, -1),
                          *l = group_of(d->p, node, MCP_RBF_LOG_LENGTHS, -1);
    if (unscaled(d)) place_plainly(d, node, c, l);
    else place_scaled(d, node, c, l);
    double full = activation(d, node, c, l);
    for (int k = 0; k < w->rows; k++) {
        double gain = full > 0.0 ? gain_of(d, w->offset + k * w->cols, w->cols, base) / full : 0.0;
        double half = unit_of(gain, at_goal(d, c) ? 1.0 : start_part);
        for (int b = 0; b < w->cols; b++) { /* without a gain the bell is a factor of what is learned */
            d->theta[w->offset + k * w->cols + b] =
                at_goal(d, c) && !(gain > 0.0) ? 1.0 : uniform(d, half * (at_goal(d, c) ? 1.0 : d->boldness));
            d->scale[w->offset + k * w->cols + b] = half;
        }
    }
}

/* A linear net begins with gains of zero. Their unit: over the part of a feature's range that is near, at the
 * goal, where alone it may be in use, half of an input's limit. */
static void draw_linear(mcp_drawing *d, int node, double *base)
{
    const mcp_param_group *w = group_of(d->p, node, MCP_MLP_WEIGHTS, 0),
                          *o = group_of(d->p, node, MCP_MLP_BIASES, 0);
    const size_t nx = (size_t)d->s->nx, params = (size_t)mcp_program_params(d->p);
    double low[MCP_NET_FEATURES_MAX], high[MCP_NET_FEATURES_MAX];
    ranges(d, node, low, high);
    /* Other nets must not saturate the commands while this one's gain is measured. */
    memcpy(d->kept, d->theta, params * sizeof *d->kept);
    memcpy(d->kept + params, d->probe, MCP_PROBES_FEW * nx * sizeof *d->kept);
    for (int i = 0; i < mcp_program_groups(d->p); i++) {
        const mcp_param_group *g = mcp_program_group(d->p, i);
        for (int k = 0; g->kind == MCP_RBF_WEIGHTS && g->cols > 1 && k < g->count; k++)
            d->theta[g->offset + k] = 0.0;
    }
    for (int k = 0; isfinite(d->goal[0]) && k < MCP_PROBES_FEW; k++)
        memcpy(d->probe + (size_t)k * nx, d->goal, nx * sizeof *d->probe);
    for (int i = 0; i < w->rows; i++) {
        double unit = unit_of(gain_of(d, o->offset + i, 1, base), start_part);
        d->scale[o->offset + i] = unit;
        for (int j = 0; j < w->cols; j++)
            d->scale[w->offset + i * w->cols + j] = unit / (near_part * extent(low[j], high[j]));
    }
    memcpy(d->theta, d->kept, params * sizeof *d->kept);
    memcpy(d->probe, d->kept + params, MCP_PROBES_FEW * nx * sizeof *d->kept);
}

/* Inputs brought to about +-1 by the first layer, unit variance from layer to layer, output half of the
 * limit. */
static void draw_mlp(mcp_drawing *d, int node, double *base)
{
    double middle[MCP_NET_FEATURES_MAX], half[MCP_NET_FEATURES_MAX];
    int    n = mcp_program_net_features(d->p, node);
    ranges(d, node, middle, half);
    for (int j = 0; j < n; j++) {
        double low = middle[j], high = half[j];
        middle[j] = 0.5 * (low + high);
        half[j]   = 0.5 * extent(low, high);
    }
    for (int layer = 0;; layer++) {
        const mcp_param_group *w = group_of(d->p, node, MCP_MLP_WEIGHTS, layer),
                              *o = group_of(d->p, node, MCP_MLP_BIASES, layer);
        if (!w || !o) break;
        int    last = group_of(d->p, node, MCP_MLP_WEIGHTS, layer + 1) == NULL;
        for (int i = 0; i < w->rows; i++) {
            double unit = last ? unit_of(gain_of(d, o->offset + i, 1, base), start_part) : 1.0;
            double scale = (last ? d->boldness * unit : 1.5) * sqrt(3.0 / w->cols);
            double shift = last ? 0.0 : uniform(d, 1.0);
            for (int j = 0; j < w->cols; j++) {
                double v = uniform(d, scale);
                if (layer == 0) {
                    v /= half[j];
                    shift -= v * middle[j];
                }
                d->theta[w->offset + i * w->cols + j] = v;
                d->scale[w->offset + i * w->cols + j] = layer == 0 ? unit / half[j] : unit;
            }
            d->theta[o->offset + i] = shift;
            d->scale[o->offset + i] = unit;
        }
    }
}

/* A single parameter has no scale but what it does to the commands, or the size it was given. */
static void measure_scalars(mcp_drawing *d, double *base)
{
    for (int i = 0; i < mcp_program_groups(d->p); i++) {
        const mcp_param_group *g = mcp_program_group(d->p, i);
        for (int k = 0; g->kind == MCP_PARAM_SCALAR && k < g->count; k++)
            d->scale[g->offset + k] =
                unit_of(gain_of(d, g->offset + k, 1, base), g->start != 0.0 ? fabs(g->start) : 1.0);
    }
}

static mcp_status prepare(mcp_drawing *d, const double *visited, int visits, mcp_error *err)
{
    for (int i = 0; i < mcp_program_groups(d->p); i++) {
        const mcp_param_group *g = mcp_program_group(d->p, i);
        for (int k = 0; k < g->count; k++)
            d->theta[g->offset + k] = g->kind == MCP_PARAM_SCALAR ? g->start : 0.0;
    }
    for (int i = 0; i < mcp_program_params(d->p); i++) d->scale[i] = 1.0;
    for (int node = 0; node < mcp_program_net_count(d->p); node++)
        if (mcp_program_net_features(d->p, node) > MCP_NET_FEATURES_MAX)
            return mcp_fail(err, MCP_ERR_TASK, "a policy network has %d features; %d are possible",
                            mcp_program_net_features(d->p, node), MCP_NET_FEATURES_MAX);
    return mcp_region_find(d, visited, visits, err);
}

/* Draws a policy into d->theta and measures its units. */
static mcp_status draw(mcp_drawing *d, const mcp_policy_request *q, mcp_error *err)
{
    const mcp_system  *s = q->system;
    const mcp_program *p = s->policy_true;
    const size_t       nx = (size_t)s->nx;
    size_t doubles = 5 * nx + (MCP_PROBES + MCP_PROBES_FEW) * nx + (size_t)mcp_program_params(p) +
                     (size_t)mcp_program_memory(p) + (size_t)mcp_program_outputs(p) + mcp_program_work(p) +
                     (size_t)(MCP_PROBES_FEW * s->nu) + (size_t)mcp_program_memory(s->cost) +
                     mcp_program_work(s->cost) + 8;
    if (!(d->room = mcp_calloc(doubles, sizeof *d->room)))
        return mcp_fail(err, MCP_ERR_MEMORY, "out of memory for a fresh policy");
    d->s       = s;
    d->p       = p;
    d->at_start = q->at_start;
    d->boldness = q->boldness > 0.0 ? q->boldness : 1.0;
    d->random  = mcp_rand_make(q->seed, q->trial, q->draw, MCP_RNG_POLICY);
    d->low     = d->room;
    d->high    = d->low + nx;
    d->turn    = d->high + nx;
    d->x       = d->turn + nx;
    d->goal    = d->x + nx;
    d->probe   = d->goal + nx;
    d->memory  = d->probe + MCP_PROBES * nx;
    d->out     = d->memory + mcp_program_memory(p);
    d->work    = d->out + mcp_program_outputs(p);
    double *base = d->work + mcp_program_work(p); /* [MCP_PROBES_FEW][nu] */
    d->cost_memory = base + MCP_PROBES_FEW * s->nu;
    d->cost_work   = d->cost_memory + mcp_program_memory(s->cost);
    d->kept        = d->cost_work + mcp_program_work(s->cost);

    mcp_status st = prepare(d, q->visited, q->visits, err);
    for (int node = 0; st == MCP_OK && node < mcp_program_net_count(p); node++) {
        if (group_of(p, node, MCP_RBF_WEIGHTS, -1)) draw_rbf(d, node, base);
        else if (group_of(p, node, MCP_MLP_WEIGHTS, 1)) draw_mlp(d, node, base);
        else draw_linear(d, node, base);
    }
    if (st == MCP_OK) measure_scalars(d, base);
    return st;
}

mcp_status mcp_policy_draw(const mcp_policy_request *q, double *theta, mcp_error *err)
{
    size_t     n = (size_t)mcp_program_params(q->system->policy_true);
    mcp_drawing    d = {.theta = theta, .scale = mcp_calloc(n + 1, sizeof *d.scale)};
    mcp_status st = d.scale ? draw(&d, q, err)
                            : mcp_fail(err, MCP_ERR_MEMORY, "out of memory for a fresh policy");
    mcp_free(d.room);
    mcp_free(d.scale);
    return st;
}

mcp_status mcp_policy_measure(const mcp_policy_request *q, mcp_policy_units *units, mcp_error *err)
{
    size_t     n = (size_t)mcp_program_params(q->system->policy_true), nx = (size_t)q->system->nx;
    mcp_drawing    d = {.theta = mcp_calloc(n + 1, sizeof *d.theta)};
    mcp_status st;
    *units = (mcp_policy_units){.param = mcp_calloc(n + 2 * nx + 1, sizeof *units->param), .cost = NAN};
    units->state = units->param ? units->param + n : NULL;
    units->goal = units->param ? units->state + nx : NULL;
    d.scale = units->param;
    if (!d.theta || !d.scale) st = mcp_fail(err, MCP_ERR_MEMORY, "out of memory for the units of a policy");
    else st = draw(&d, q, err);
    for (size_t i = 0; st == MCP_OK && i < nx; i++) {
        units->state[i] = 0.5 * mcp_drawing_width(&d, (int)i);
        units->goal[i] = d.goal[i];
    }
    if (st == MCP_OK && d.rise > 0.0) units->cost = d.rise;
    if (st == MCP_OK && unscaled(&d)) {
        for (size_t i = 0; i < n + nx; i++) units->param[i] = 1.0; /* and state, which follows it */
        units->cost = 1.0 / (q->system->steps + 1);                /* J as it is */
    }
    mcp_free(d.room);
    mcp_free(d.theta);
    if (st != MCP_OK) mcp_policy_units_free(units);
    return st;
}

void mcp_policy_units_free(mcp_policy_units *units)
{
    mcp_free(units->param);
    *units = (mcp_policy_units){.cost = NAN};
}
