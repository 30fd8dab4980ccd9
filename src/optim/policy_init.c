/* policy_init.c - a fresh policy, scaled to the system.
 *
 * States are drawn uniformly in the box the plant has visited (robust range, widened), but not where the cost
 * cannot tell them apart any more: an exploration that drifted seven metres away is no reason to spread the
 * centres over seven metres. A state that the policy sees only through functions of period 2 pi is drawn on
 * the whole circle. Centres are the features of such states, length-scales a part of each feature's range,
 * and weights such that one full basis function asks for up to half of the input limit: the gain from a
 * network's output to the input is measured, so `10*tanh(rbf(...)/10)` and `10*tanh(rbf(...))` start alike.
 */
#include "optim/policy_init.h"

#include <math.h>
#include <string.h>

#include "math/arena.h"
#include "math/rng.h"
#include "math/stats.h"

enum { PROBES = 256, FEW = PROBES / 4, FEATURES_MAX = 256 };

static const double widen = 1.5;         /* of the visited range                              */
static const double length_part = 0.35;  /* length-scale as a part of a feature's range       */
static const double circle_part = 0.5;   /* the same for features that live on a circle       */
static const double cost_part = 0.8;     /* of its whole rise: beyond, the cost tells nothing */

typedef struct {
    const mcp_system  *s;
    const mcp_program *p; /* policy on the true state: features of a state without observer memory */
    mcp_rand           random;
    double            *low, *high; /* [nx] box           */
    char              *circular;   /* [nx] whole circle  */
    double            *x, *probe;  /* [nx], [PROBES][nx] */
    double            *memory, *out, *work;
    double            *cost_memory, *cost_work;
    double            *theta;
} drawing;

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
    if (!(half > 1e-9) || (!visited && half < 1.0)) half = 1.0;
    d->low[i]  = middle - half;
    d->high[i] = middle + half;
    return MCP_OK;
}

static void draw_state(drawing *d, double *x)
{
    for (int i = 0; i < d->s->nx; i++) {
        double u = mcp_rand_uniform(&d->random);
        x[i] = d->circular[i] ? M_PI * (2.0 * u - 1.0) : d->low[i] + (d->high[i] - d->low[i]) * u;
    }
}

static void features(drawing *d, int node, const double *x, double *f)
{
    mcp_program_net_inputs(d->p, node, d->theta, 1, x, d->memory, f, d->work);
}

/* Do all network features repeat when state i turns once, and change on the way? */
static int is_circular(drawing *d, int i)
{
    double at[FEATURES_MAX], on[FEATURES_MAX], round[FEATURES_MAX], moved = 0.0, left = 0.0;
    for (int node = 0; node < mcp_program_net_count(d->p); node++) {
        int n = mcp_program_net_features(d->p, node);
        for (int k = 0; k < 8; k++) {
            draw_state(d, d->x);
            features(d, node, d->x, at);
            d->x[i] += 1.0;
            features(d, node, d->x, on);
            d->x[i] += 2.0 * M_PI - 1.0;
            features(d, node, d->x, round);
            for (int j = 0; j < n; j++) {
                moved = fmax(moved, fabs(on[j] - at[j]));
                left  = fmax(left, fabs(round[j] - at[j]) / (1.0 + fabs(at[j])));
            }
        }
    }
    return moved > 1e-6 && left < 1e-9;
}

/* Does feature j of a node repeat in every state it depends on? It lives on a circle then. */
static int on_circle(drawing *d, int node, int j)
{
    double at[FEATURES_MAX], to[FEATURES_MAX];
    int    depends = 0;
    for (int i = 0; i < d->s->nx; i++) {
        memcpy(d->x, d->probe, (size_t)d->s->nx * sizeof *d->x);
        features(d, node, d->x, at);
        d->x[i] += 1.0;
        features(d, node, d->x, to);
        if (fabs(at[j] - to[j]) < 1e-9) continue;
        if (!d->circular[i]) return 0;
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

/* Mean over probes of |command| in units of its limit, summed over inputs. base: commands before, or NULL. */
static double commands(drawing *d, const double *base, double *keep)
{
    double sum = 0.0;
    for (int k = 0; k < FEW; k++) {
        mcp_program_step(d->p, d->theta, 1, d->probe + (size_t)k * (size_t)d->s->nx, d->memory, d->out,
                         d->work);
        for (int i = 0; i < d->s->nu; i++) {
            if (keep) keep[k * d->s->nu + i] = d->out[i];
            sum += fabs(d->out[i] - (base ? base[k * d->s->nu + i] : 0.0)) / d->s->task->input[i].limit;
        }
    }
    return sum / FEW;
}

/* |d command/d theta[i]| in units of the limits, around theta with that group at 0. */
static double gain_of(drawing *d, int offset, int count, double *base)
{
    const double tiny = 1e-4;
    commands(d, NULL, base);
    for (int i = 0; i < count; i++) d->theta[offset + i] += tiny;
    double gain = commands(d, base, NULL) / tiny;
    for (int i = 0; i < count; i++) d->theta[offset + i] -= tiny;
    return gain;
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
                x[i] += sign * part * (d->circular[i] ? M_PI : d->high[i] - d->low[i]);
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
    double                goal[MCP_MAX_STATE], dearest = -INFINITY;
    double                best = cheapest(d, goal);
    for (int k = 0; k < PROBES; k++) {
        double c = cost_at(d, d->probe + (size_t)k * (size_t)nx);
        if (isfinite(c)) dearest = fmax(dearest, c);
    }
    if (!isfinite(best) || !(dearest > best)) return;
    for (int i = 0; i < nx; i++) {
        if (d->circular[i]) continue;
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

static void draw_rbf(drawing *d, int node, double *base)
{
    const mcp_param_group *w = group_of(d->p, node, MCP_RBF_WEIGHTS, -1),
                          *c = group_of(d->p, node, MCP_RBF_CENTRES, -1),
                          *l = group_of(d->p, node, MCP_RBF_LOG_LENGTHS, -1);
    double f[FEATURES_MAX];
    int    n = c->cols;
    for (int j = 0; j < n; j++) {
        double low = INFINITY, high = -INFINITY;
        for (int k = 0; k < PROBES; k++) {
            features(d, node, d->probe + (size_t)k * (size_t)d->s->nx, f);
            low  = fmin(low, f[j]);
            high = fmax(high, f[j]);
        }
        double length = (on_circle(d, node, j) ? circle_part : length_part) * (high - low);
        d->theta[l->offset + j] = log(isfinite(length) && length > 1e-9 ? length : 1.0);
    }
    for (int b = 0; b < c->rows; b++) {
        draw_state(d, d->x);
        features(d, node, d->x, f);
        for (int j = 0; j < n; j++) d->theta[c->offset + b * n + j] = isfinite(f[j]) ? f[j] : 0.0;
    }
    double full = activation(d, node, c, l);
    for (int k = 0; k < w->rows; k++) {
        double gain = full > 0.0 ? gain_of(d, w->offset + k * w->cols, w->cols, base) / full : 0.0;
        double half = isfinite(gain) && gain > 1e-9 ? 0.5 / gain : 0.5;
        for (int b = 0; b < w->cols; b++) d->theta[w->offset + k * w->cols + b] = uniform(d, half);
    }
}

/* Inputs brought to about +-1 by the first layer, unit variance from layer to layer, output half of the
 * limit. */
static void draw_mlp(drawing *d, int node, double *base)
{
    double f[FEATURES_MAX], middle[FEATURES_MAX], half[FEATURES_MAX];
    int    n = mcp_program_net_features(d->p, node);
    for (int j = 0; j < n; j++) {
        middle[j] = INFINITY;
        half[j] = -INFINITY;
    }
    for (int k = 0; k < PROBES; k++) {
        features(d, node, d->probe + (size_t)k * (size_t)d->s->nx, f);
        for (int j = 0; j < n; j++) {
            middle[j] = fmin(middle[j], f[j]);
            half[j]   = fmax(half[j], f[j]);
        }
    }
    for (int j = 0; j < n; j++) {
        double low = middle[j], high = half[j];
        middle[j] = 0.5 * (low + high);
        half[j]   = high - low > 1e-9 ? 0.5 * (high - low) : 1.0;
    }
    for (int layer = 0;; layer++) {
        const mcp_param_group *w = group_of(d->p, node, MCP_MLP_WEIGHTS, layer),
                              *o = group_of(d->p, node, MCP_MLP_BIASES, layer);
        if (!w || !o) break;
        int    last = group_of(d->p, node, MCP_MLP_WEIGHTS, layer + 1) == NULL;
        double gain = 1.0;
        for (int i = 0; i < w->rows; i++) {
            if (last) gain = gain_of(d, o->offset + i, 1, base);
            double scale =
                (last ? (isfinite(gain) && gain > 1e-9 ? 0.5 / gain : 0.5) : 1.5) * sqrt(3.0 / w->cols);
            double shift = last ? 0.0 : uniform(d, 1.0);
            for (int j = 0; j < w->cols; j++) {
                double v = uniform(d, scale);
                if (layer == 0) {
                    v /= half[j];
                    shift -= v * middle[j];
                }
                d->theta[w->offset + i * w->cols + j] = v;
            }
            d->theta[o->offset + i] = shift;
        }
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
    for (int node = 0; node < mcp_program_net_count(d->p); node++)
        if (mcp_program_net_features(d->p, node) > FEATURES_MAX)
            return mcp_fail(err, MCP_ERR_TASK, "a policy network has %d features; %d are possible",
                            mcp_program_net_features(d->p, node), FEATURES_MAX);
    /* All decided from the box before any of it is used, so that the order of states does not matter. */
    char circular[MCP_MAX_STATE] = {0};
    for (int i = 0; i < nx; i++) circular[i] = (char)is_circular(d, i);
    memcpy(d->circular, circular, (size_t)nx);
    for (int k = 0; k < PROBES; k++) draw_state(d, d->probe + (size_t)k * (size_t)nx);
    narrow_to_cost(d);
    for (int k = 0; k < PROBES; k++) draw_state(d, d->probe + (size_t)k * (size_t)nx);
    return MCP_OK;
}

mcp_status mcp_policy_draw(const mcp_system *s, const double *visited, int visits, uint64_t seed,
                           uint32_t trial, uint32_t draw, double *theta, mcp_error *err)
{
    const mcp_program *p = s->policy_true;
    const size_t       nx = (size_t)s->nx;
    drawing d = {.s = s, .p = p, .random = mcp_rand_make(seed, trial, draw, MCP_RNG_POLICY), .theta = theta};
    size_t doubles = 3 * nx + PROBES * nx + (size_t)mcp_program_memory(p) + (size_t)mcp_program_outputs(p) +
                     mcp_program_work(p) + (size_t)(FEW * s->nu) + (size_t)mcp_program_memory(s->cost) +
                     mcp_program_work(s->cost) + 8;
    double *memory = mcp_calloc(doubles, sizeof *memory);
    char   *circular = mcp_calloc(nx, 1);
    if (!memory || !circular) {
        mcp_free(memory);
        mcp_free(circular);
        return mcp_fail(err, MCP_ERR_MEMORY, "out of memory for a fresh policy");
    }
    d.low      = memory;
    d.high     = d.low + nx;
    d.x        = d.high + nx;
    d.probe    = d.x + nx;
    d.memory   = d.probe + PROBES * nx;
    d.out      = d.memory + mcp_program_memory(p);
    d.work     = d.out + mcp_program_outputs(p);
    double *base = d.work + mcp_program_work(p); /* [FEW][nu] */
    d.cost_memory = base + FEW * s->nu;
    d.cost_work   = d.cost_memory + mcp_program_memory(s->cost);
    d.circular    = circular;

    mcp_status st = prepare(&d, visited, visits, err);
    for (int node = 0; st == MCP_OK && node < mcp_program_net_count(p); node++) {
        if (group_of(p, node, MCP_RBF_WEIGHTS, -1)) draw_rbf(&d, node, base);
        else draw_mlp(&d, node, base);
    }
    mcp_free(memory);
    mcp_free(circular);
    return st;
}
