/* regulator_impose.c - a policy's linear nets made a regulator at the goal. See regulator.h. */
#include <math.h>
#include <string.h>

#include "math/arena.h"
#include "math/linalg.h"
#include "optim/regulator.h"

enum { IMPOSE_MOST = 30 };
static const double slope_step = 1e-3; /* of a state's unit */
static const double param_step = 1e-4; /* of a parameter's */
static const double reached = 1e-6, near_enough = 1e-3;

/* Index of the linear net's parameters, weights and biases; -1 past the last. */
static int linear_param(const mcp_program *p, int index)
{
    for (int i = 0; i < mcp_program_groups(p); i++) {
        const mcp_param_group *g = mcp_program_group(p, i);
        int                    hidden = 0;
        if (g->kind != MCP_MLP_WEIGHTS && g->kind != MCP_MLP_BIASES) continue;
        for (int k = 0; k < mcp_program_groups(p); k++) {
            const mcp_param_group *o = mcp_program_group(p, k);
            hidden |= o->kind == MCP_MLP_WEIGHTS && o->node == g->node && o->layer > 0;
        }
        if (hidden) continue;
        if (index < g->count) return g->offset + index;
        index -= g->count;
    }
    return -1;
}

int mcp_regulator_fits(const mcp_program *policy)
{
    return linear_param(policy, 0) >= 0;
}

typedef struct {
    const mcp_regulator_request *q;
    const mcp_program           *p;
    const double                *u, *K;
    int                          equations, params;
    double                      *x, *out, *far, *memory, *work;
} match;

/* How far command and slopes at the goal are from what is asked, in half ranges over a tenth of a unit. */
static void residual(match *m, const double *theta, double *r)
{
    const mcp_system *s = m->q->system;
    int               e = 0;
    memcpy(m->x, m->q->goal, (size_t)s->nx * sizeof *m->x);
    mcp_program_step(m->p, theta, 1, m->x, m->memory, m->out, m->work);
    for (int k = 0; k < s->nu; k++)
        r[e++] = (m->out[k] - m->u[k]) / mcp_input_reach(&s->task->input[k]);
    for (int i = 0; i < s->nx; i++) {
        const double h = slope_step * m->q->unit[i];
        if (!s->observed[i]) continue;
        m->x[i] = m->q->goal[i] + h;
        mcp_program_step(m->p, theta, 1, m->x, m->memory, m->out, m->work);
        m->x[i] = m->q->goal[i] - h;
        mcp_program_step(m->p, theta, 1, m->x, m->memory, m->far, m->work);
        m->x[i] = m->q->goal[i];
        for (int k = 0; k < s->nu; k++)
            r[e++] = ((m->out[k] - m->far[k]) / (2.0 * h) + m->K[k * s->nx + i]) * 0.1 * m->q->unit[i] /
                     mcp_input_reach(&s->task->input[k]);
    }
}

static double size_of(int n, const double *v)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += v[i] * v[i];
    return sqrt(sum);
}

/* One Gauss-Newton step of least change; *size is the residual's. 0 in it when no step makes it smaller. */
static mcp_status approach(match *m, const double *unit, double *theta, double *size, double *room,
                           mcp_error *err)
{
    const int e = m->equations, n = m->params;
    double   *r = room, *J = r + e, *M = J + e * n, *step = M + e * e, *kept = step + n, *y = kept + n,
           *to = y + e;
    residual(m, theta, r);
    *size = size_of(e, r);
    for (int i = 0; i < n; i++) {
        const int    at = linear_param(m->p, i);
        const double own = theta[at], h = param_step * unit[at];
        theta[at] = own + h;
        residual(m, theta, y);
        theta[at] = own - h;
        residual(m, theta, to);
        theta[at] = own;
        for (int k = 0; k < e; k++) J[k * n + i] = (y[k] - to[k]) / (2.0 * param_step);
        kept[i] = own;
    }
    for (int k = 0; k < e; k++)
        for (int l = 0; l < e; l++) {
            M[k * e + l] = 0.0;
            for (int i = 0; i < n; i++) M[k * e + l] += J[k * n + i] * J[l * n + i];
        }
    memcpy(y, r, (size_t)e * sizeof *y);
    mcp_status st = mcp_solve_semidefinite(e, M, y, err);
    if (st != MCP_OK) return st;
    for (int i = 0; i < n; i++) {
        step[i] = 0.0;
        for (int k = 0; k < e; k++) step[i] -= J[k * n + i] * y[k];
    }
    for (double part = 1.0; part > 1e-3; part *= 0.5) {
        for (int i = 0; i < n; i++) {
            const int at = linear_param(m->p, i);
            theta[at] = kept[i] + part * step[i] * unit[at];
        }
        residual(m, theta, to);
        double now = size_of(e, to);
        if (now < *size) {
            *size = now;
            return MCP_OK;
        }
    }
    return mcp_fail(err, MCP_ERR_NUMERIC, "the policy's linear part cannot hold the goal");
}

mcp_status mcp_regulator_impose(const mcp_regulator_request *q, const double *param_unit, const double *u,
                                const double *K, double *theta, mcp_error *err)
{
    const mcp_system  *s = q->system;
    const mcp_program *p = s->policy_true;
    match              m = {.q = q, .p = p, .u = u, .K = K};
    double             size = INFINITY;
    mcp_status         st = MCP_OK;
    while (linear_param(p, m.params) >= 0) m.params++;
    for (int i = 0; i < s->nx; i++) m.equations += s->observed[i] ? s->nu : 0;
    m.equations += s->nu;
    const size_t e = (size_t)m.equations, n = (size_t)m.params, outputs = (size_t)mcp_program_outputs(p),
                 all = (size_t)mcp_program_params(p);
    double *block = mcp_calloc(all + (size_t)s->nx + 2 * outputs + (size_t)mcp_program_memory(p) +
                                   mcp_program_work(p) + e * n + e * e + 3 * e + 2 * n + 8,
                               sizeof *block);
    if (!block) return mcp_fail(err, MCP_ERR_MEMORY, "out of memory for a regulator");
    double *kept = block;
    m.x      = kept + all;
    m.out    = m.x + s->nx;
    m.far    = m.out + outputs;
    m.memory = m.far + outputs;
    m.work   = m.memory + mcp_program_memory(p);
    memcpy(kept, theta, all * sizeof *kept);
    for (int k = 0; k < IMPOSE_MOST && st == MCP_OK && !(size < reached); k++)
        st = approach(&m, param_unit, theta, &size, m.work + mcp_program_work(p), err);
    if (st == MCP_ERR_NUMERIC && size < near_enough) st = MCP_OK; /* as near as rounding lets it */
    if (st == MCP_OK && !(size < near_enough))
        st = mcp_fail(err, MCP_ERR_NUMERIC, "the policy's linear part cannot hold the goal");
    if (st != MCP_OK) memcpy(theta, kept, all * sizeof *kept);
    mcp_free(block);
    return st;
}
