/* policy_region.c - see policy_region.h.
 *
 * States are drawn uniformly in the box the plant has visited (robust range, widened), but not where the cost
 * cannot tell them apart any more: an exploration that drifted seven metres away is no reason to spread the
 * centres over seven metres. A state that the policy sees only through functions of period 2 pi is drawn on
 * the whole circle. */
#include "optim/policy_region.h"

#include <math.h>
#include <string.h>

#include "math/angle.h"
#include "math/arena.h"
#include "math/stats.h"

enum { TRIED = 8 };

static const double widen = 1.5;     /* of the visited range                              */
static const double cost_part = 0.8; /* of its whole rise: beyond, the cost tells nothing */

double mcp_drawing_width(const mcp_drawing *d, int i)
{
    return d->turn[i] > 0.0 ? d->turn[i] : d->high[i] - d->low[i];
}

/* Of a state that never moved: what its sensor cannot tell from rest, or its own size. */
static double least_half(const mcp_drawing *d, int i, double middle)
{
    const mcp_task *t = d->s->task;
    for (int k = 0; k < t->nseen; k++)
        if (t->seen[k].state == i && mcp_channel_noise(&t->seen[k]) > 0.0)
            return 3.0 * mcp_channel_noise(&t->seen[k]);
    return middle != 0.0 ? fabs(middle) : 1.0;
}

/* Box of state i: 2 % to 98 % of what was visited, and three deviations of the start. */
static mcp_status box(mcp_drawing *d, const double *visited, int visits, int i, mcp_error *err)
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
    if (!(half > MCP_ROUNDING * fabs(middle)) || isinf(half)) half = least_half(d, i, middle);
    if (!visited && half < 1.0) half = 1.0;
    d->low[i]  = middle - half;
    d->high[i] = middle + half;
    return MCP_OK;
}

void mcp_drawing_state(mcp_drawing *d, double *x)
{
    for (int i = 0; i < d->s->nx; i++) {
        double u = mcp_rand_uniform(&d->random);
        x[i] = d->turn[i] > 0.0 ? d->turn[i] * (u - 0.5) : d->low[i] + (d->high[i] - d->low[i]) * u;
    }
}

void mcp_drawing_features(mcp_drawing *d, int node, const double *x, double *f)
{
    mcp_program_net_inputs(d->p, node, d->theta, 1, x, d->memory, f, d->work);
}

/* Do all network features repeat when state i moves by `turn`, and change on the way? */
static int repeats(mcp_drawing *d, int i, double turn)
{
    double at[MCP_NET_FEATURES_MAX], on[MCP_NET_FEATURES_MAX], round[MCP_NET_FEATURES_MAX];
    int    moved = 0;
    for (int node = 0; node < mcp_program_net_count(d->p); node++) {
        int n = mcp_program_net_features(d->p, node);
        for (int k = 0; k < TRIED; k++) {
            mcp_drawing_state(d, d->x);
            mcp_drawing_features(d, node, d->x, at);
            d->x[i] += 0.16 * turn;
            mcp_drawing_features(d, node, d->x, on);
            d->x[i] += 0.84 * turn;
            mcp_drawing_features(d, node, d->x, round);
            for (int j = 0; j < n; j++) {
                moved |= fabs(on[j] - at[j]) > 1e-6 * (fabs(on[j]) + fabs(at[j]));
                double size = fabs(at[j]) + fabs(on[j]) + fabs(round[j]);
                if (fabs(round[j] - at[j]) > MCP_ROUNDING * size) return 0;
            }
        }
    }
    return moved;
}

/* The turn of state i: in rad, degrees or whole turns, or a decimal part or multiple of one of them; 0: none.
 */
static double turn_of(mcp_drawing *d, int i)
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
    for (int k = 0; k < TRIED * mcp_program_net_count(d->p); k++) mcp_drawing_state(d, d->x);
    return found;
}

/* Cost of a state at rest of the inputs. */
static double cost_at(mcp_drawing *d, const double *x)
{
    double in[MCP_MAX_STATE + MCP_MAX_INPUT] = {0}, out[2] = {0};
    memcpy(in, x, (size_t)d->s->nx * sizeof *in);
    mcp_program_step(d->s->cost, NULL, 1, in, d->cost_memory, out, d->cost_work);
    return isfinite(out[0]) ? out[0] : INFINITY;
}

/* The cheapest state: the best probe, then ever smaller steps along each state. */
static double cheapest(mcp_drawing *d, double *x)
{
    const int nx = d->s->nx;
    double    best = INFINITY, part = 0.25;
    for (int k = 0; k < MCP_PROBES; k++) {
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
static double reach(mcp_drawing *d, double *x, int i, double end, double enough)
{
    double goal = x[i], at = end;
    for (int k = 1; k <= 200 && at == end; k++) {
        x[i] = goal + (end - goal) * k / 200.0;
        if (cost_at(d, x) >= enough && k < 200) at = x[i];
    }
    x[i] = goal;
    return at;
}

/* States that the cost does not see, velocities mostly, are at rest at the goal. */
static void rest_at_goal(mcp_drawing *d, double *goal, double enough)
{
    for (int i = 0; i < d->s->nx; i++) {
        double found = goal[i];
        goal[i] = 0.0;
        if (!(cost_at(d, goal) <= enough)) goal[i] = found;
    }
}

static void narrow_to_cost(mcp_drawing *d)
{
    const mcp_task_start *start = &d->s->task->start;
    const int             nx = d->s->nx;
    double                goal[MCP_MAX_STATE], cost[MCP_PROBES], dearest = -INFINITY;
    double                best = cheapest(d, goal);
    for (int i = 0; i < nx; i++) d->goal[i] = NAN;
    int                   n = 0;
    for (int k = 0; k < MCP_PROBES; k++) {
        double c = cost_at(d, d->probe + (size_t)k * (size_t)nx);
        if (isfinite(c)) cost[n++] = c;
    }
    if (!isfinite(best) || n == 0) return;
    mcp_sort(cost, n);
    dearest = cost[n - 1];
    d->rise = cost[(3 * n) / 4] - best;
    if (!(dearest > best)) return;
    rest_at_goal(d, goal, best + 1e-6 * (dearest - best));
    memcpy(d->goal, goal, (size_t)nx * sizeof *goal);
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

mcp_status mcp_region_find(mcp_drawing *d, const double *visited, int visits, mcp_error *err)
{
    const int nx = d->s->nx;
    for (int i = 0; i < nx; i++) {
        mcp_status st = box(d, visited, visits, i, err);
        if (st != MCP_OK) return st;
    }
    /* All decided from the box before any of it is used, so that the order of states does not matter. */
    double turn[MCP_MAX_STATE] = {0};
    for (int i = 0; i < nx; i++) turn[i] = turn_of(d, i);
    memcpy(d->turn, turn, (size_t)nx * sizeof *turn);
    for (int k = 0; k < MCP_PROBES; k++) mcp_drawing_state(d, d->probe + (size_t)k * (size_t)nx);
    narrow_to_cost(d);
    for (int k = 0; k < MCP_PROBES; k++) mcp_drawing_state(d, d->probe + (size_t)k * (size_t)nx);
    return MCP_OK;
}
