/* resmooth.c - positions freed of what a model takes for the sensor's noise.
 *
 * Targets are differences of measurements y with noise n of deviation r: d = D y, so that their noise is D n
 * and its covariance r^2 D D'. Beside it a change has white noise of variance w. A model that has learned
 * from d with this covariance leaves e = d - mean = N beta, N = w I + r^2 D D', and the likeliest noise is
 *   n = r^2 D' beta.
 *   velocities that no sensor gives   D = (1 -2 1)/Ts    of the position     N has two bands beside its
 * diagonal states with a sensor             D = (-1 1)         of the state        and one
 * Of a trial that the model has not seen, its own variance v(k) stands beside w. */
#include <math.h>
#include <string.h>

#include "estimate/estimate.h"
#include "estimate/origin.h"
#include "math/arena.h"

enum { MOST = 2 }; /* bands beside the diagonal */

/* One GP's changes: k = 0 .. n-1, each of samples k .. k + order. */
typedef struct {
    int    order, n;
    double weight[MOST + 1]; /* of the samples in a difference */
    double r2;
    double white;
    double *diagonal, *lower; /* [n], [n][MOST]: of N, then of its factor L D L' */
    double *beta;             /* [n]: residuals, then N^-1 of them */
    double *noise;            /* [n + order]: of the samples */
} series;

/* Entry (k, k + apart) of D D'. */
static double product(const series *s, int apart)
{
    double sum = 0.0;
    for (int i = 0; i + apart <= s->order; i++) sum += s->weight[i] * s->weight[i + apart];
    return sum;
}

/* beta = N^-1 beta; diagonal holds what is white at each place. */
static void solve(series *s)
{
    for (int k = 0; k < s->n; k++) {
        double *row = s->lower + (size_t)k * MOST; /* row[a - 1] = L(k, k - a) */
        s->diagonal[k] += s->r2 * product(s, 0);
        for (int a = s->order < k ? s->order : k; a >= 1; a--) {
            double v = s->r2 * product(s, a);
            for (int b = a + 1; b <= s->order && b <= k; b++)
                v -= row[b - 1] * s->diagonal[k - b] * s->lower[(size_t)(k - a) * MOST + (size_t)(b - a - 1)];
            row[a - 1] = v / s->diagonal[k - a];
        }
        for (int a = 1; a <= s->order && a <= k; a++) {
            s->diagonal[k] -= row[a - 1] * row[a - 1] * s->diagonal[k - a];
            s->beta[k] -= row[a - 1] * s->beta[k - a];
        }
    }
    for (int k = 0; k < s->n; k++) s->beta[k] /= s->diagonal[k];
    for (int k = s->n - 1; k >= 0; k--)
        for (int a = 1; a <= s->order && k + a < s->n; a++)
            s->beta[k] -= s->lower[(size_t)(k + a) * MOST + (size_t)(a - 1)] * s->beta[k + a];
}

static void find_noise(series *s)
{
    memset(s->noise, 0, (size_t)(s->n + s->order) * sizeof *s->noise);
    for (int k = 0; k < s->n; k++)
        for (int i = 0; i <= s->order; i++) s->noise[k + i] += s->r2 * s->weight[i] * s->beta[k];
}

static size_t layout(series *s, int count, char *mem)
{
    mcp_arena a = {.base = mem, .used = 0};
    size_t    n = (size_t)count + MOST;
    s->diagonal = mcp_arena_doubles(&a, n);
    s->lower    = mcp_arena_doubles(&a, n * MOST);
    s->beta     = mcp_arena_doubles(&a, n);
    s->noise    = mcp_arena_doubles(&a, n + MOST);
    return a.used;
}

/* The residuals of GP g, and what is white beside the sensor's noise. */
static void begin(series *s, const mcp_system *system, const mcp_states *z, const mcp_resmooth *m, int g)
{
    size_t nx = (size_t)system->nx, ngp = (size_t)system->ngp, i = (size_t)system->task->gp[g].state;
    for (size_t k = 0; k < (size_t)s->n; k++) {
        const double *x = z->state + k * nx + i;
        s->beta[k]      = x[nx] - x[0] - m->change[k * ngp + (size_t)g];
        s->diagonal[k]  = m->white[g] + (m->variance ? m->variance[k * ngp + (size_t)g] : 0.0);
    }
}

/* state k of z is sample k + 1 of the series of positions: its first is in the first velocity alone. */
static void correct_velocity(const series *s, double ts, int position, int velocity, mcp_states *z)
{
    for (int k = 0; k < z->count; k++) {
        double *x = z->state + (size_t)k * (size_t)z->nx;
        x[position] -= s->noise[k + 1];
        x[velocity] -= (s->noise[k + 1] - s->noise[k]) / ts;
    }
}

mcp_status mcp_resmooth_states(mcp_states **out, const mcp_system *s, const mcp_states *z,
                               const mcp_resmooth *m, mcp_error *err)
{
    const mcp_task *t = s->task;
    series          q = {.n = z->count - 1};
    void           *work = NULL;
    mcp_status      st = mcp_states_copy(out, z, s->ngp, err);
    if (st != MCP_OK) return st;
    if (z->count < 2) return MCP_OK;
    if ((st = mcp_block_alloc(&work, layout(&q, z->count, NULL), err)) != MCP_OK) goto done;
    layout(&q, z->count, work);
    for (int g = 0; g < s->ngp; g++) {
        const mcp_task_gp *gp = &t->gp[g];
        int    own = mcp_channel_of(t, gp->state);
        int    channel = own >= 0 || gp->kind != MCP_GP_VELOCITY ? own : mcp_channel_of(t, gp->position);
        double r = channel >= 0 ? mcp_channel_noise(&t->seen[channel]) : 0.0, f = 1.0 / s->ts;
        if (!(r > 0.0)) continue;
        series now = {.order = own >= 0 ? 1 : 2,
                      .n = q.n,
                      .weight = {own >= 0 ? -1.0 : f, own >= 0 ? 1.0 : -2.0 * f, own >= 0 ? 0.0 : f},
                      .r2 = r * r,
                      .diagonal = q.diagonal,
                      .lower = q.lower,
                      .beta = q.beta,
                      .noise = q.noise};
        begin(&now, s, z, m, g);
        solve(&now);
        find_noise(&now);
        if (own < 0) correct_velocity(&now, s->ts, gp->position, gp->state, *out);
        for (int k = 0; own >= 0 && k < z->count; k++)
            (*out)->state[(size_t)k * (size_t)z->nx + (size_t)gp->state] -= now.noise[k];
    }
done:
    mcp_block_free(work);
    if (st == MCP_OK) return MCP_OK;
    mcp_states_free(*out);
    *out = NULL;
    return st;
}
