/* regulator.c - see regulator.h.
 *
 * The state of the regulator is the model's whole state: x, and what actuator and features remember (delays,
 * inputs of the sample before). A policy knows x alone, so of the gains those of x are kept; particles judge
 * what that is worth (starts.c). Slopes are central differences: the model's mean, the programs and the cost
 * are smooth there, and a thousandth of a unit is small for all of them. */
#include "optim/regulator.h"

#include <math.h>
#include <string.h>

#include "control/standstill.h"
#include "math/arena.h"
#include "math/linalg.h"

enum { BALANCE = 8, RICCATI_MOST = 5000 };
static const double slope_step = 1e-3, curve_step = 0.05; /* of a unit */
static const double settled = 1e-10, settled_least = 1e-4;
static const double within = 0.95; /* of half an input's range: what may keep the goal */

struct mcp_regulator {
    const mcp_system *s;
    int               n, nx, nu; /* n: nx and what is remembered */
    double           *unit;      /* [n] */
    double           *A, *B, *Q; /* [n][n], [n][nu], [n][n], in units */
    double           *u;         /* [nu] that keeps the goal */
    double            most;      /* largest curvature of the cost */
};

/* One step of the model's mean. */
typedef struct {
    const mcp_regulator_request *q;
    int                          nx, nu, nf, ngp, remembered[2];
    double                      *in, *applied, *command, *f, *F, *mean, *var, *tape, *out, *work, *memory;
} stepper;

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t layout_stepper(stepper *m, const mcp_regulator_request *q, char *base)
{
    const mcp_system *s = q->system;
    mcp_arena         a = {.base = base};
    size_t            tape = 1, work = larger(mcp_program_work(s->features), mcp_program_work(s->integrate));
    work = larger(larger(work, mcp_program_work(s->actuator)), mcp_program_work(s->cost));
    *m = (stepper){.q = q, .nx = s->nx, .nu = s->nu, .nf = s->nf, .ngp = s->ngp};
    m->remembered[0] = mcp_program_memory(s->actuator);
    m->remembered[1] = mcp_program_memory(s->features);
    for (int g = 0; g < s->ngp; g++) tape = larger(tape, mcp_posterior_tape(q->model[g], MCP_LANES));
    m->in      = mcp_arena_doubles(&a, (size_t)(s->nx + s->nu + s->ngp));
    m->applied = mcp_arena_doubles(&a, (size_t)s->nu);
    m->command = mcp_arena_doubles(&a, (size_t)(s->nu + s->nx));
    m->f       = mcp_arena_doubles(&a, (size_t)(s->nf + s->ngp));
    m->F       = mcp_arena_doubles(&a, (size_t)s->nf * MCP_LANES + 1);
    m->mean    = mcp_arena_doubles(&a, MCP_LANES);
    m->var     = mcp_arena_doubles(&a, MCP_LANES);
    m->tape    = mcp_arena_doubles(&a, tape);
    m->out     = mcp_arena_doubles(&a, (size_t)(s->nx + 8));
    m->work    = mcp_arena_doubles(&a, work + 1);
    m->memory  = mcp_arena_doubles(&a, (size_t)mcp_program_memory(s->integrate) + 1);
    return a.used;
}

/* z: x, then what actuator and features remember; first: nothing is remembered yet. next may be z. */
static void advance(stepper *m, int first, const double *z, const double *u, double *next)
{
    const mcp_system *s = m->q->system;
    const int         nx = m->nx;
    memmove(next, z, (size_t)(nx + m->remembered[0] + m->remembered[1]) * sizeof *next);
    memcpy(m->in, z, (size_t)nx * sizeof *z);
    memcpy(m->command, u, (size_t)m->nu * sizeof *u);
    mcp_program_step(s->actuator, NULL, first, m->command, next + nx, m->applied, m->work);
    memcpy(m->in + nx, m->applied, (size_t)m->nu * sizeof *m->in);
    mcp_program_step(s->features, NULL, first, m->in, next + nx + m->remembered[0], m->f, m->work);
    for (int i = 0; i < m->nf; i++)
        for (int j = 0; j < MCP_LANES; j++) m->F[i * MCP_LANES + j] = m->f[i];
    for (int g = 0; g < m->ngp; g++) {
        mcp_posterior_predict(m->q->model[g], MCP_LANES, MCP_LANES, m->F, m->mean, m->var, m->tape);
        m->in[nx + m->nu + g] = m->f[m->nf + g] + m->mean[0];
    }
    mcp_program_step(s->integrate, NULL, first, m->in, m->memory, m->out, m->work);
    memcpy(next, m->out, (size_t)nx * sizeof *next);
}

/* What is remembered after a long time at the goal under u. z [n] */
static void dwell(stepper *m, const double *u, double *z)
{
    memcpy(z, m->q->goal, (size_t)m->nx * sizeof *z);
    mcp_standstill(m->q->system, z, u, &(mcp_still){z + m->nx, m->applied, m->f, m->in, m->work});
}

static double reach(const stepper *m, int input)
{
    return mcp_input_reach(&m->q->system->task->input[input]);
}

/* Slopes of the state after a step with respect to inputs (of = 0 .. nu-1) or to z (of - nu), in units:
 * column `of` into rows of stride ld. */
static void column(stepper *m, const mcp_regulator *r, const double *z, int of, double *to, int ld,
                   double *room)
{
    double *at = room, *u = at + r->n, *plus = u + r->nu, *minus = plus + r->n;
    for (int side = 0; side < 2; side++) {
        double by = side ? -slope_step : slope_step;
        memcpy(at, z, (size_t)r->n * sizeof *at);
        memcpy(u, r->u, (size_t)r->nu * sizeof *u);
        if (of < r->nu) u[of] += by * reach(m, of);
        else at[of - r->nu] += by * r->unit[of - r->nu];
        advance(m, 0, at, u, side ? minus : plus);
    }
    for (int i = 0; i < r->n; i++) to[i * ld] = (plus[i] - minus[i]) / (2.0 * slope_step * r->unit[i]);
}


/* How far a step leads away from the goal under u, [nx] in units, once all that is remembered has
 * followed. */
static void drift(stepper *m, const mcp_regulator *r, const double *u, double *z, double *by)
{
    dwell(m, u, z);
    advance(m, 0, z, u, z);
    for (int i = 0; i < r->nx; i++) by[i] = (z[i] - m->q->goal[i]) / r->unit[i];
}

/* The input that keeps the goal where it is, as far as one does: Gauss-Newton on the drift. */
static mcp_status balance(stepper *m, mcp_regulator *r, double *z, double *room, mcp_error *err)
{
    const int nx = r->nx, nu = r->nu;
    double   *now = room, *to = now + nx, *slope = to + nx, *M = slope + nx * nu, *b = M + nu * nu;
    for (int k = 0; k < BALANCE; k++) {
        drift(m, r, r->u, z, now);
        for (int i = 0; i < nu; i++) {
            const double own = r->u[i];
            r->u[i] = own + slope_step * reach(m, i);
            drift(m, r, r->u, z, to);
            r->u[i] = own;
            for (int x = 0; x < nx; x++) slope[x * nu + i] = (to[x] - now[x]) / slope_step;
        }
        for (int i = 0; i < nu; i++) {
            b[i] = 0.0;
            for (int x = 0; x < nx; x++) b[i] -= slope[x * nu + i] * now[x];
            for (int j = 0; j < nu; j++) {
                M[i * nu + j] = 0.0;
                for (int x = 0; x < nx; x++) M[i * nu + j] += slope[x * nu + i] * slope[x * nu + j];
            }
        }
        mcp_status st = mcp_solve_semidefinite(nu, M, b, err);
        if (st != MCP_OK) return st;
        for (int i = 0; i < nu; i++) {
            const mcp_task_input *in = &m->q->system->task->input[i];
            const double          most = within * reach(m, i), middle = mcp_input_centre(in);
            r->u[i] = fmin(fmax(r->u[i] + b[i] * reach(m, i), middle - most), middle + most);
        }
    }
    dwell(m, r->u, z);
    return MCP_OK;
}

static double cost_of(stepper *m, const double *x, const double *u)
{
    memcpy(m->in, x, (size_t)m->nx * sizeof *x);
    memcpy(m->in + m->nx, u, (size_t)m->nu * sizeof *u);
    mcp_program_step(m->q->system->cost, NULL, 1, m->in, m->memory, m->out, m->work);
    return m->out[0];
}

/* Curvature of the cost at the goal, without what falls away from it. */
static mcp_status curvature(stepper *m, mcp_regulator *r, double *room, mcp_error *err)
{
    const int nx = r->nx, n = r->n;
    double   *H = room, *w = H + nx * nx, *x = w + nx;
    for (int i = 0; i < nx; i++)
        for (int j = 0; j <= i; j++) {
            double sum = 0.0;
            for (int k = 0; k < 4; k++) { /* at ++, +-, -+, -- */
                memcpy(x, m->q->goal, (size_t)nx * sizeof *x);
                x[i] += (k & 2 ? -curve_step : curve_step) * r->unit[i];
                x[j] += (k & 1 ? -curve_step : curve_step) * r->unit[j];
                sum += (k == 0 || k == 3 ? 1.0 : -1.0) * cost_of(m, x, r->u);
            }
            H[i * nx + j] = H[j * nx + i] = sum / (4.0 * curve_step * curve_step);
        }
    mcp_status st = mcp_eigen_symmetric(nx, H, nx, w, err);
    for (int k = 0; st == MCP_OK && k < nx; k++) {
        if (!(w[k] > 1e-9 * fabs(w[nx - 1]))) continue;
        for (int i = 0; i < nx; i++)
            for (int j = 0; j < nx; j++) r->Q[i * n + j] += w[k] * H[k * nx + i] * H[k * nx + j];
    }
    for (int i = 0; i < nx; i++) r->most = fmax(r->most, r->Q[i * n + i]);
    return st;
}

static size_t layout(mcp_regulator *r, char *base)
{
    mcp_arena    a = {.base = base};
    const size_t n = (size_t)r->n, nu = (size_t)r->nu;
    (void)mcp_arena_bytes(&a, sizeof *r);
    r->unit = mcp_arena_doubles(&a, n);
    r->A    = mcp_arena_doubles(&a, n * n);
    r->B    = mcp_arena_doubles(&a, n * nu);
    r->Q    = mcp_arena_doubles(&a, n * n);
    r->u    = mcp_arena_doubles(&a, nu);
    return a.used;
}

static mcp_status linearise(mcp_regulator *r, stepper *m, mcp_error *err)
{
    const int n = r->n, nu = r->nu, nx = r->nx;
    double    widest = 0.0;
    double   *z = mcp_calloc((size_t)(4 * n + nx * (nx + nu + 4) + nu * (nu + 3) + 1), sizeof *z), *room;
    if (!z) return mcp_fail(err, MCP_ERR_MEMORY, "out of memory for a regulator");
    room = z + n;
    for (int i = 0; i < nu; i++) {
        r->u[i] = mcp_input_centre(&r->s->task->input[i]);
        widest = fmax(widest, reach(m, i));
    }
    for (int i = 0; i < n; i++) r->unit[i] = i < nx ? m->q->unit[i] : widest;
    mcp_status st = balance(m, r, z, room, err);
    for (int i = 0; st == MCP_OK && i < nu; i++) column(m, r, z, i, r->B + i, nu, room);
    for (int i = 0; st == MCP_OK && i < n; i++) column(m, r, z, nu + i, r->A + i, n, room);
    if (st == MCP_OK) st = curvature(m, r, room, err);
    mcp_free(z);
    return st;
}

mcp_status mcp_regulator_create(mcp_regulator **out, const mcp_regulator_request *q, mcp_error *err)
{
    stepper       m;
    void         *block = NULL, *memory = NULL;
    mcp_regulator r = {.s = q->system, .nx = q->system->nx, .nu = q->system->nu};
    *out = NULL;
    mcp_status st = mcp_block_alloc(&memory, layout_stepper(&m, q, NULL), err);
    if (st != MCP_OK) return st;
    layout_stepper(&m, q, memory);
    r.n = r.nx + m.remembered[0] + m.remembered[1];
    if ((st = mcp_block_alloc(&block, layout(&r, NULL), err)) == MCP_OK) {
        layout(&r, block);
        st = linearise(&r, &m, err);
    }
    mcp_block_free(memory);
    if (st != MCP_OK || !(r.most > 0.0)) {
        mcp_block_free(block);
        return st;
    }
    *(mcp_regulator *)block = r;
    *out = block;
    return MCP_OK;
}

void mcp_regulator_free(mcp_regulator *r)
{
    mcp_block_free(r);
}

/* C = A' B for A [n][p], B [n][q] */
static void product(int n, int p, int q, const double *A, const double *B, double *C)
{
    memset(C, 0, (size_t)(p * q) * sizeof *C);
    for (int k = 0; k < n; k++)
        for (int i = 0; i < p; i++)
            for (int j = 0; j < q; j++) C[i * q + j] += A[k * p + i] * B[k * q + j];
}

/* P <- Q + A' P (A - B K), K = (R + B' P B)^-1 B' P A. Rows of KT are K's columns. */
static mcp_status riccati(const mcp_regulator *r, double R, double *P, double *KT, double *room,
                          double *change, mcp_error *err)
{
    const int n = r->n, nu = r->nu;
    double   *PA = room, *PB = PA + n * n, *M = PB + n * nu, *next = M + nu * nu, *closed = next + n * n;
    product(n, n, n, P, r->A, PA); /* P is symmetric */
    product(n, n, nu, P, r->B, PB);
    product(n, nu, nu, r->B, PB, M);
    for (int i = 0; i < nu; i++) M[i * nu + i] += R;
    product(n, n, nu, PA, r->B, KT);
    mcp_status st = mcp_cholesky(nu, M, nu, err);
    if (st != MCP_OK) return st;
    mcp_cholesky_solve(nu, M, nu, n, KT);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            closed[i * n + j] = r->A[i * n + j];
            for (int k = 0; k < nu; k++) closed[i * n + j] -= r->B[i * nu + k] * KT[j * nu + k];
        }
    product(n, n, n, PA, closed, next);
    *change = 0.0;
    double size = 0.0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double to = r->Q[i * n + j] + 0.5 * (next[i * n + j] + next[j * n + i]);
            *change = fmax(*change, fabs(to - P[i * n + j]));
            size = fmax(size, fabs(to));
            P[i * n + j] = to;
        }
    *change /= size;
    if (!(size < 1e12 * r->most)) return mcp_fail(err, MCP_ERR_NUMERIC, "no input holds the goal");
    return MCP_OK;
}

mcp_status mcp_regulator_gains(const mcp_regulator *r, double price, double *u, double *K, mcp_error *err)
{
    const int n = r->n, nu = r->nu;
    double    change = INFINITY;
    double   *P = mcp_calloc((size_t)(4 * n * n + 2 * n * nu + nu * nu), sizeof *P);
    if (!P) return mcp_fail(err, MCP_ERR_MEMORY, "out of memory for a regulator");
    double *KT = P + n * n, *room = KT + n * nu;
    memcpy(P, r->Q, (size_t)(n * n) * sizeof *P);
    mcp_status st = MCP_OK;
    for (int k = 0; k < RICCATI_MOST && st == MCP_OK && !(change < settled); k++)
        st = riccati(r, price * r->most, P, KT, room, &change, err);
    if (st == MCP_OK && !(change < settled_least))
        st = mcp_fail(err, MCP_ERR_NUMERIC, "no input holds the goal");
    for (int i = 0; st == MCP_OK && i < nu; i++) {
        const double half = mcp_input_reach(&r->s->task->input[i]);
        u[i] = r->u[i];
        for (int j = 0; j < r->nx; j++) K[i * r->nx + j] = KT[j * nu + i] * half / r->unit[j];
    }
    mcp_free(P);
    return st;
}
