/* starts.c - where an optimisation begins.
 *   fresh      a policy drawn at random, gentle
 *   cast       of a second attempt: the cheapest of many draws, from gentle to bold
 *   regulated  any of them, with the linear part that holds the goal on the present model */
#include <math.h>
#include <string.h>

#include "math/arena.h"
#include "math/rng.h"
#include "optim/optimise_parts.h"
#include "optim/regulator.h"

enum { BOLDNESSES = 4 };
static const double draws_part = 0.1; /* of the budget */
/* Prices of the regulator's inputs that are tried: from all of the range near the goal to hardly any. */
static const double prices[] = {0.01, 0.1, 1.0, 10.0}, gentlest = 10.0;
static const double half_range = 0.5;

mcp_status mcp_start_fresh(mcp_search *s, double boldness)
{
    mcp_adam_reset(&s->adam);
    const mcp_policy_request q = {.system = s->q->system,
                                  .visited = s->q->visited,
                                  .visits = s->q->visits,
                                  .seed = s->q->seed,
                                  .trial = s->q->trial,
                                  .draw = s->policies++,
                                  .boldness = boldness};
    return mcp_policy_draw(&q, s->theta, s->err);
}

/* Other weights for the basis functions in theta; a policy without any is drawn whole. */
static mcp_status redraw(mcp_search *s, double boldness)
{
    const mcp_program *p = s->q->system->controller;
    mcp_rand           r = mcp_rand_make(s->q->seed, s->q->trial, s->policies, MCP_RNG_POLICY);
    int                any = 0;
    for (int k = 0; k < mcp_program_groups(p); k++) {
        const mcp_param_group *g = mcp_program_group(p, k);
        if (g->kind != MCP_RBF_WEIGHTS || g->cols < 2) continue;
        any = 1;
        for (int i = g->offset; i < g->offset + g->count; i++)
            s->theta[i] = boldness * s->units.param[i] * (2.0 * mcp_rand_uniform(&r) - 1.0);
    }
    if (!any) return mcp_start_fresh(s, boldness);
    s->policies++;
    return MCP_OK;
}

/* The cheapest of many fresh policies, the one in theta among them: of a swing that must be pumped up, or a
 * hill that must be run at, a gentle policy's gradient knows nothing, and a bold one's does. */
mcp_status mcp_start_cast(mcp_search *s)
{
    mcp_rollout *r = s->few ? s->few : s->rollout;
    mcp_status   st = MCP_OK;
    double       least = INFINITY;
    for (int k = 0; k < s->set->draws && st == MCP_OK; k++) {
        mcp_rollout_result result = {.J = 0.0};
        if (s->q->work_max > 0.0 && s->info->work > draws_part * s->q->work_max) break;
        if (k > 0 && (st = redraw(s, (double)(1 << k % BOLDNESSES))) != MCP_OK) break;
        s->info->work += 0.5 * (s->few ? s->few_work : s->work);
        if (mcp_search_particles(s, r, MCP_DRAW_NOISE, 0.0, 1.0, &result, NULL) != MCP_OK ||
            !(result.J < least))
            continue;
        least = result.J;
        memcpy(s->best, s->theta, (size_t)s->params * sizeof *s->best);
    }
    if (isfinite(least)) memcpy(s->theta, s->best, (size_t)s->params * sizeof *s->theta);
    return st;
}

/* Cost of particles that start near the goal; infinite when it is no number. */
static double held(mcp_search *s)
{
    mcp_rollout_result result = {.J = 0.0};
    mcp_rollout       *r = s->few ? s->few : s->rollout;
    s->info->work += 0.5 * (s->few ? s->few_work : s->work);
    mcp_status st = mcp_search_particles(s, r, MCP_HOLD_NOISE, 0.0, 1.0, &result, NULL);
    return st == MCP_OK ? result.J : INFINITY;
}

/* Tries the regulator at each price; leaves the policy that holds best in theta. */
static mcp_status try_prices(mcp_search *s, const mcp_regulator_request *q, const mcp_regulator *r,
                             double *room)
{
    const size_t n = (size_t)s->params;
    double      *start = room, *best = start + n, *u = best + n, *K = u + q->system->nu;
    double       least = held(s);
    memcpy(start, s->theta, n * sizeof *start);
    memcpy(best, s->theta, n * sizeof *best);
    for (size_t k = 0; k < sizeof prices / sizeof *prices; k++) {
        mcp_status st = mcp_regulator_gains(r, prices[k], u, K, NULL);
        memcpy(s->theta, start, n * sizeof *start);
        if (st == MCP_OK) st = mcp_regulator_impose(q, s->units.param, u, K, s->theta, NULL);
        if (st == MCP_ERR_MEMORY) return mcp_fail(s->err, st, "out of memory for a regulator");
        if (st != MCP_OK) continue;
        double now = held(s);
        if (!(now < least)) continue;
        least = now;
        memcpy(best, s->theta, n * sizeof *best);
        s->info->regulated = 1;
    }
    memcpy(s->theta, best, n * sizeof *best);
    return MCP_OK;
}

/* Near the goal is where the gentlest regulator asks for half of an input's range, one deviation, or less:
 * from farther away some systems cannot be brought back at all, and particles there would tell nothing. */
static void come_nearer(mcp_search *s, const mcp_regulator *r, double *room)
{
    const mcp_system *system = s->q->system;
    double           *u = room, *K = u + system->nu, part = 1.0;
    if (mcp_regulator_gains(r, gentlest, u, K, NULL) != MCP_OK) return;
    for (int k = 0; k < system->nu; k++) {
        double asked = 0.0;
        for (int i = 0; i < system->nx; i++) asked = hypot(asked, K[k * system->nx + i] * s->near_std[i]);
        part = fmin(part, half_range * mcp_input_reach(&system->task->input[k]) / asked);
    }
    for (int i = 0; i < system->nx && part > 0.0; i++) s->near_std[i] *= part;
}

mcp_status mcp_start_regulated(mcp_search *s, mcp_posterior *const *model, int keep)
{
    const mcp_system           *system = s->q->system;
    const mcp_regulator_request q = {.system = system,
                                     .model = model,
                                     .goal = s->units.goal,
                                     .unit = s->units.state};
    mcp_regulator *r = NULL;
    if (!isfinite(s->units.goal[0]) || !mcp_regulator_fits(system->policy_true)) return MCP_OK;
    size_t     doubles = 2 * (size_t)s->params + (size_t)(system->nu * (system->nx + 1));
    double    *room = mcp_calloc(doubles, sizeof *room);
    mcp_status st = room ? mcp_regulator_create(&r, &q, s->err)
                         : mcp_fail(s->err, MCP_ERR_MEMORY, "out of memory for a regulator");
    if (st == MCP_OK && r) come_nearer(s, r, room);
    if (st == MCP_OK && r && !keep) st = try_prices(s, &q, r, room);
    mcp_regulator_free(r);
    mcp_free(room);
    return st == MCP_ERR_NUMERIC ? MCP_OK : st; /* a model that cannot be linearised there holds nothing */
}
