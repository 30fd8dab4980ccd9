/* policy_init.c - a fresh policy, scaled to the system, and the units that learning measures by.
 *
 * States are drawn uniformly in the box the plant has visited (robust range, widened), but not where the cost
 * cannot tell them apart any more: an exploration that drifted seven metres away is no reason to spread the
 * centres over seven metres. A state that the policy sees only through functions of period 2 pi is drawn on
 * the whole circle. Centres are the features of such states, length-scales a part of each feature's range,
 * and weights such that one full basis function asks for up to half of the input limit: the gain from a
 * network's output to the input is measured, so `10*tanh(rbf(...)/10)` and `10*tanh(rbf(...))` start alike.
 *
 * Nothing here knows a unit: every number comes from the data, the start, the cost or the limits of inputs,
 * and every comparison is relative. The same scales are the units of the parameters that Adam moves. */
#include "optim/policy_init.h"

#include <math.h>
#include <string.h>

#include "math/angle.h"
#include "math/arena.h"
#include "math/rng.h"
#include "math/stats.h"

enum { PROBES = 256, FEW = PROBES / 4, TRIED = 8, FEATURES_MAX = 256 };

static const double widen = 1.5;         /* of the visited range                              */
static const double length_part = 0.35;  /* length-scale as a part of a feature's range       */
static const double circle_part = 0.5;   /* the same for features that live on a circle       */
static const double cost_part = 0.8;     /* of its whole rise: beyond, the cost tells nothing */
static const double nothing = 1e-9;      /* relative: rounding, not a change                   */
static const double start_part = 0.5;    /* of an input's limit: what one parameter asks for   */

typedef struct {
    const mcp_system  *s;
    const mcp_program *p; /* policy on the true state: features of a state without observer memory */
    mcp_rand           random;
    double            *low, *high; /* [nx] box           */
    double            *turn;       /* [nx] after which the features repeat; 0: never */
    double            *x, *probe;  /* [nx], [PROBES][nx] */
    double            *memory, *out, *work;
    double            *cost_memory, *cost_work;
    double            *theta;
    double            *scale; /* [params] units of theta */
    double             rise;  /* of the cost of a step over the box */
    double            *room;  /* what all but theta and scale are part of */
} drawing;

static int same(double a, double b)
{
    return fabs(a - b) <= nothing * (fabs(a) + fabs(b));
}

/* How far state i may be moved to see what depends on it. */
static double width(const drawing *d, int i)
{
    return d->turn[i] > 0.0 ? d->turn[i] : d->high[i] - d->low[i];
}

/* Of a state that never moved: what its sensor cannot tell from rest, or its own size. */
static double least_half(const drawing *d, int i, double middle)
{
    const mcp_task *t = d->s->task;
    for (int k = 0; k < t->ny; k++)
        if (t->measured[k].state == i && mcp_channel_noise(&t->measured[k]) > 0.0)
            return 3.0 * mcp_channel_noise(&t->measured[k]);
    return middle != 0.0 ? fabs(middle) : 1.0;
}

/* Box of state i: 2 % to 98 % of what was visited, and three deviations of the start. */
static mcp_status box(drawing *d, const double *visited, int visits, int i, mcp_error *err)
{
    const mcp_task_start *start = &d->s->task->start;
    const int             nx = d->s->nx;
    double                low = INFINITY, high = -INFINITY;
    for (int k = 0; k < (start->type == MCP_START_UNIFORM ? 1 : start->parts); k++) {
        int    uniform = start->type == MCP_START_UNIFORM;
        double m = uniform ? 0.0 : start->mean[k * nx + i], w = uniform ? 0.0 : 3.0 * start->std[k * nx + i];
        low  = fmin(low, uniform ? start->low[i] : m - w);
        high = fmax(high, uniform ? start->high[i] : m + w);
    }
    if (visited && visits > 0) {
        double *sorted = mcp_calloc((size_t)visits, sizeof *sorted);
        int     n = 0;
        if (!sorted) return mcp_fail(err, MCP_ERR_MEMORY, "out of memory for a fresh policy");
        for (int k = 0; k < visits; k++)
            if (isfinite(visited[(size_t)k * (size_t)nx + (size_t)i]))
                sorted[n++] = visited[(size_t)k * (size_t)nx + (size_t)i];
        mcp_sort(sorted, n);
        if (n > 0) {
            low  = fmin(low, sorted[(int)(0.02 * (n - 1))]);
            high = fmax(high, sorted[(int)ceil(0.98 * (n - 1))]);
        }
        mcp_free(sorted);
    }
    double middle = 0.5 * (low + high), half = 0.5 * (high - low) * widen;
    if (!isfinite(middle)) middle = 0.0;
    if (!(half > nothing * fabs(middle)) || isinf(half)) half = least_half(d, i, middle);
    if (!visited && half < 1.0) half = 1.0;
    d->low[i]  = middle - half;
    d->high[i] = middle + half;
    return MCP_OK;
}

static void draw_state(drawing *d, double *x)
{
    for (int i = 0; i < d->s->nx; i++) {
        double u = mcp_rand_uniform(&d->random);
        x[i] = d->turn[i] > 0.0 ? d->turn[i] * (u - 0.5) : d->low[i] + (d->high[i] - d->low[i]) * u;
    }
}

static void features(drawing *d, int node, const double *x, double *f)
{
    mcp_program_net_inputs(d->p, node, d->theta, 1, x, d->memory, f, d->work);
}

/* Do all network features repeat when state i moves by `turn`, and change on the way? */
static int repeats(drawing *d, int i, double turn)
{
    double at[FEATURES_MAX], on[FEATURES_MAX], round[FEATURES_MAX];
    int    moved = 0;
    for (int node = 0; node < mcp_program_net_count(d->p); node++) {
        int n = mcp_program_net_features(d->p, node);
        for (int k = 0; k < TRIED; k++) {
            draw_state(d, d->x);
            features(d, node, d->x, at);
            d->x[i] += 0.16 * turn;
            features(d, node, d->x, on);
            d->x[i] += 0.84 * turn;
            features(d, node, d->x, round);
            for (int j = 0; j < n; j++) {
                moved |= fabs(on[j] - at[j]) > 1e-6 * (fabs(on[j]) + fabs(at[j]));
                if (fabs(round[j] - at[j]) > nothing * (fabs(at[j]) + fabs(on[j]) + fabs(round[j]))) return 0;
            }
        }
    }
    return moved;
}

/* The turn of state i: in rad, degrees or whole turns, or a decimal part or multiple of one of them; 0: none.
 */
static double turn_of(drawing *d, int i)
{
    static const double whole[] = {1.0, MCP_TURN, 360.0};
    const mcp_rand      random = d->random; /* the same states for all: how many are tried depends on units */
    double              found = 0.0;
    for (int k = 0; k < 45 && found == 0.0; k++) {
        double turn = whole[k % 3] * pow(10.0, k / 3 - 7);
        d->random = random;
        if (repeats(d, i, turn)) found = turn;
    }
    d->random = random;
    for (int k = 0; k < TRIED * mcp_program_net_count(d->p); k++) draw_state(d, d->x);
    return found;
}

/* Does feature j of a node repeat in every state it depends on? It lives on a circle then. */
static int on_circle(drawing *d, int node, int j)
{
    double at[FEATURES_MAX], to[FEATURES_MAX];
    int    depends = 0;
    for (int i = 0; i < d->s->nx; i++) {
        memcpy(d->x, d->probe, (size_t)d->s->nx * sizeof *d->x);
        features(d, node, d->x, at);
        d->x[i] += 0.16 * width(d, i);
        features(d, node, d->x, to);
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
static double commands(drawing *d, const double *base, double *keep)
{
    double sum = 0.0;
    for (int k = 0; k < FEW; k++) {
        mcp_program_step(d->p, d->theta, 1, d->probe + (size_t)k * (size_t)d->s->nx, d->memory, d->out,
                         d->work);
        for (int i = 0; i < d->s->nu; i++) {
            if (keep) keep[k * d->s->nu + i] = d->out[i];
            const mcp_task_input *u = &d->s->task->input[i];
            sum += fabs(d->out[i] - (base ? base[k * d->s->nu + i] : mcp_input_centre(u))) /
                   mcp_input_reach(u);
        }
    }
    return sum / FEW;
}

static double moved_by(drawing *d, int offset, int count, double step, const double *base)
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
static double gain_of(drawing *d, int offset, int count, double *base)
{
    const double small = 1e-5;
    double       step = 1.0, by = 0.0;
    commands(d, NULL, base);
    for (int k = 0; k < 40; k++) {
        by = moved_by(d, offset, count, step, base);
        if (isfinite(by) && fabs(by / small - 1.0) < nothing) break;
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

/* Cost of a state at rest of the inputs. */
static double cost_at(drawing *d, const double *x)
{
    double in[MCP_MAX_STATE + MCP_MAX_INPUT] = {0}, out[2] = {0};
    memcpy(in, x, (size_t)d->s->nx * sizeof *in);
    mcp_program_step(d->s->cost, NULL, 1, in, d->cost_memory, out, d->cost_work);
    return isfinite(out[0]) ? out[0] : INFINITY;
}

/* The cheapest state: the best probe, then ever smaller steps along each state. */
static double cheapest(drawing *d, double *x)
{
    const int nx = d->s->nx;
    double    best = INFINITY, part = 0.25;
    for (int k = 0; k < PROBES; k++) {
        double c = cost_at(d, d->probe + (size_t)k * (size_t)nx);
        if (c < best) {
            best = c;
            memcpy(x, d->probe + (size_t)k * (size_t)nx, (size_t)nx * sizeof *x);
        }
    }
    for (int pass = 0; pass < 16; pass++, part *= 0.7) /* to 1e-3 */
        for (int i = 0; i < nx; i++)
            for (int sign = -1; sign <= 1; sign += 2) {
                double before = x[i];
                x[i] += sign * part * (d->turn[i] > 0.0 ? 0.5 * d->turn[i] : d->high[i] - d->low[i]);
                double c = cost_at(d, x);
                if (c < best) best = c;
                else x[i] = before;
            }
    return best;
}

/* From the cheapest state outwards along state i: where the cost has risen by most of what it can rise. */
static double reach(drawing *d, double *x, int i, double end, double enough)
{
    double goal = x[i], at = end;
    for (int k = 1; k <= 200 && at == end; k++) {
        x[i] = goal + (end - goal) * k / 200.0;
        if (cost_at(d, x) >= enough && k < 200) at = x[i];
    }
    x[i] = goal;
    return at;
}

static void narrow_to_cost(drawing *d)
{
    const mcp_task_start *start = &d->s->task->start;
    const int             nx = d->s->nx;
    double                goal[MCP_MAX_STATE], cost[PROBES], dearest = -INFINITY;
    double                best = cheapest(d, goal);
    int                   n = 0;
    for (int k = 0; k < PROBES; k++) {
        double c = cost_at(d, d->probe + (size_t)k * (size_t)nx);
        if (isfinite(c)) cost[n++] = c;
    }
    if (!isfinite(best) || n == 0) return;
    mcp_sort(cost, n);
    dearest = cost[n - 1];
    d->rise = cost[(3 * n) / 4] - best;
    if (!(dearest > best)) return;
    for (int i = 0; i < nx; i++) {
        if (d->turn[i] > 0.0) continue;
        double low  = reach(d, goal, i, fmin(d->low[i], goal[i]), best + cost_part * (dearest - best));
        double high = reach(d, goal, i, fmax(d->high[i], goal[i]), best + cost_part * (dearest - best));
        for (int k = 0; k < (start->type == MCP_START_UNIFORM ? 1 : start->parts); k++) {
            int uniform = start->type == MCP_START_UNIFORM;
            low = fmin(low, uniform ? start->low[i] : start->mean[k * nx + i] - 3.0 * start->std[k * nx + i]);
            high =
                fmax(high, uniform ? start->high[i] : start->mean[k * nx + i] + 3.0 * start->std[k * nx + i]);
        }
        d->low[i]  = fmax(d->low[i], low);
        d->high[i] = fmin(d->high[i], high);
    }
}

static double uniform(drawing *d, double half)
{
    return half * (2.0 * mcp_rand_uniform(&d->random) - 1.0);
}

/* Mean over probes of the sum of all activations, with the centres and lengths in theta. */
static double activation(drawing *d, int node, const mcp_param_group *c, const mcp_param_group *l)
{
    double f[FEATURES_MAX], sum = 0.0;
    for (int k = 0; k < FEW; k++) {
        features(d, node, d->probe + (size_t)k * (size_t)d->s->nx, f);
        for (int b = 0; b < c->rows; b++) {
            double q = 0.0;
            for (int j = 0; j < c->cols; j++) {
                double r = (f[j] - d->theta[c->offset + b * c->cols + j]) * exp(-d->theta[l->offset + j]);
                q += r * r;
            }
            sum += exp(-q);
        }
    }
    return sum / FEW;
}

/* Least and greatest value of every feature of a node over the probes. */
static void ranges(drawing *d, int node, double *low, double *high)
{
    double f[FEATURES_MAX];
    int    n = mcp_program_net_features(d->p, node);
    for (int j = 0; j < n; j++) {
        low[j] = INFINITY;
        high[j] = -INFINITY;
    }
    for (int k = 0; k < PROBES; k++) {
        features(d, node, d->probe + (size_t)k * (size_t)d->s->nx, f);
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
    if (isfinite(high - low) && high - low > nothing * size) return high - low;
    return isfinite(size) && size > 0.0 ? 2.0 * size : 2.0;
}

static void draw_rbf(drawing *d, int node, double *base)
{
    const mcp_param_group *w = group_of(d->p, node, MCP_RBF_WEIGHTS, -1),
                          *c = group_of(d->p, node, MCP_RBF_CENTRES, -1),
                          *l = group_of(d->p, node, MCP_RBF_LOG_LENGTHS, -1);
    double f[FEATURES_MAX], low[FEATURES_MAX], high[FEATURES_MAX];
    int    n = c->cols;
    ranges(d, node, low, high);
    for (int j = 0; j < n; j++) {
        double length = (on_circle(d, node, j) ? circle_part : length_part) * extent(low[j], high[j]);
        d->theta[l->offset + j] = log(length);
        for (int b = 0; b < c->rows; b++) d->scale[c->offset + b * n + j] = length;
    }
    for (int b = 0; b < c->rows; b++) {
        draw_state(d, d->x);
        features(d, node, d->x, f);
        for (int j = 0; j < n; j++) d->theta[c->offset + b * n + j] = isfinite(f[j]) ? f[j] : 0.0;
    }
    double full = activation(d, node, c, l);
    for (int k = 0; k < w->rows; k++) {
        double gain = full > 0.0 ? gain_of(d, w->offset + k * w->cols, w->cols, base) / full : 0.0;
        double half = unit_of(gain, start_part);
        for (int b = 0; b < w->cols; b++) {
            d->theta[w->offset + k * w->cols + b] = uniform(d, half);
            d->scale[w->offset + k * w->cols + b] = half;
        }
    }
}

/* Inputs brought to about +-1 by the first layer, unit variance from layer to layer, output half of the
 * limit. */
static void draw_mlp(drawing *d, int node, double *base)
{
    double middle[FEATURES_MAX], half[FEATURES_MAX];
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
            double scale = (last ? unit : 1.5) * sqrt(3.0 / w->cols);
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
static void measure_scalars(drawing *d, double *base)
{
    for (int i = 0; i < mcp_program_groups(d->p); i++) {
        const mcp_param_group *g = mcp_program_group(d->p, i);
        for (int k = 0; g->kind == MCP_PARAM_SCALAR && k < g->count; k++)
            d->scale[g->offset + k] =
                unit_of(gain_of(d, g->offset + k, 1, base), g->start != 0.0 ? fabs(g->start) : 1.0);
    }
}

static mcp_status prepare(drawing *d, const double *visited, int visits, mcp_error *err)
{
    const int nx = d->s->nx;
    for (int i = 0; i < nx; i++) {
        mcp_status st = box(d, visited, visits, i, err);
        if (st != MCP_OK) return st;
    }
    for (int i = 0; i < mcp_program_groups(d->p); i++) {
        const mcp_param_group *g = mcp_program_group(d->p, i);
        for (int k = 0; k < g->count; k++)
            d->theta[g->offset + k] = g->kind == MCP_PARAM_SCALAR ? g->start : 0.0;
    }
    for (int i = 0; i < mcp_program_params(d->p); i++) d->scale[i] = 1.0;
    for (int node = 0; node < mcp_program_net_count(d->p); node++)
        if (mcp_program_net_features(d->p, node) > FEATURES_MAX)
            return mcp_fail(err, MCP_ERR_TASK, "a policy network has %d features; %d are possible",
                            mcp_program_net_features(d->p, node), FEATURES_MAX);
    /* All decided from the box before any of it is used, so that the order of states does not matter. */
    double turn[MCP_MAX_STATE] = {0};
    for (int i = 0; i < nx; i++) turn[i] = turn_of(d, i);
    memcpy(d->turn, turn, (size_t)nx * sizeof *turn);
    for (int k = 0; k < PROBES; k++) draw_state(d, d->probe + (size_t)k * (size_t)nx);
    narrow_to_cost(d);
    for (int k = 0; k < PROBES; k++) draw_state(d, d->probe + (size_t)k * (size_t)nx);
    return MCP_OK;
}

/* Draws a policy into d->theta and measures its units. */
static mcp_status draw(drawing *d, const mcp_policy_request *q, mcp_error *err)
{
    const mcp_system  *s = q->system;
    const mcp_program *p = s->policy_true;
    const size_t       nx = (size_t)s->nx;
    size_t doubles = 4 * nx + PROBES * nx + (size_t)mcp_program_memory(p) + (size_t)mcp_program_outputs(p) +
                     mcp_program_work(p) + (size_t)(FEW * s->nu) + (size_t)mcp_program_memory(s->cost) +
                     mcp_program_work(s->cost) + 8;
    if (!(d->room = mcp_calloc(doubles, sizeof *d->room)))
        return mcp_fail(err, MCP_ERR_MEMORY, "out of memory for a fresh policy");
    d->s       = s;
    d->p       = p;
    d->random  = mcp_rand_make(q->seed, q->trial, q->draw, MCP_RNG_POLICY);
    d->low     = d->room;
    d->high    = d->low + nx;
    d->turn    = d->high + nx;
    d->x       = d->turn + nx;
    d->probe   = d->x + nx;
    d->memory  = d->probe + PROBES * nx;
    d->out     = d->memory + mcp_program_memory(p);
    d->work    = d->out + mcp_program_outputs(p);
    double *base = d->work + mcp_program_work(p); /* [FEW][nu] */
    d->cost_memory = base + FEW * s->nu;
    d->cost_work   = d->cost_memory + mcp_program_memory(s->cost);

    mcp_status st = prepare(d, q->visited, q->visits, err);
    for (int node = 0; st == MCP_OK && node < mcp_program_net_count(p); node++) {
        if (group_of(p, node, MCP_RBF_WEIGHTS, -1)) draw_rbf(d, node, base);
        else draw_mlp(d, node, base);
    }
    if (st == MCP_OK) measure_scalars(d, base);
    return st;
}

mcp_status mcp_policy_draw(const mcp_policy_request *q, double *theta, mcp_error *err)
{
    size_t     n = (size_t)mcp_program_params(q->system->policy_true);
    drawing    d = {.theta = theta, .scale = mcp_calloc(n + 1, sizeof *d.scale)};
    mcp_status st = d.scale ? draw(&d, q, err)
                            : mcp_fail(err, MCP_ERR_MEMORY, "out of memory for a fresh policy");
    mcp_free(d.room);
    mcp_free(d.scale);
    return st;
}

mcp_status mcp_policy_measure(const mcp_policy_request *q, mcp_policy_units *units, mcp_error *err)
{
    size_t     n = (size_t)mcp_program_params(q->system->policy_true), nx = (size_t)q->system->nx;
    drawing    d = {.theta = mcp_calloc(n + 1, sizeof *d.theta)};
    mcp_status st;
    *units = (mcp_policy_units){.param = mcp_calloc(n + nx + 1, sizeof *units->param), .cost = NAN};
    units->state = units->param ? units->param + n : NULL;
    d.scale = units->param;
    if (!d.theta || !d.scale) st = mcp_fail(err, MCP_ERR_MEMORY, "out of memory for the units of a policy");
    else st = draw(&d, q, err);
    for (size_t i = 0; st == MCP_OK && i < nx; i++) units->state[i] = 0.5 * width(&d, (int)i);
    if (st == MCP_OK && d.rise > 0.0) units->cost = d.rise;
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
