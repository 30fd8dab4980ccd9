/* horizon.c - T steps of moment matching and back (Deisenroth, Fox, Rasmussen 2015, section 3; the adjoint
 * replaces their
 * forward-mode chain rule, equations 30 to 39).
 *
 * A step, from x ~ N(m, S):
 *   a  = (x, sin, cos)            of x as it is                       -> ma, Sa
 *     the cost is taken here
 *   an = the same                 of x + measurement noise            -> man, San
 *   s  = network(scaled an)                                           -> ms, Ss, Cs
 *   u  = limit (9 sin s + sin 3s)/8                                   -> Mu, Su, Cu;  F = Cs Cu
 *   j  = (a, u),  cov(a, u) = Sa[., features] F                       -> mj, Sj
 *   Delta = model(scaled j)                                           -> M, V, C;     K = cov(x, Delta)
 *   m' = A m + B M,  S' = A S A^T + A K B^T + B K^T A^T + B V B^T
 * Everything a step computes stays on its tape; T+1 tapes in one block. */
#include "baseline/pilco/horizon.h"

#include <math.h>
#include <string.h>

#include "baseline/pilco/small.h"
#include "math/arena.h"

/* Added to the variance of the network's output, as the original toolbox does: it keeps Ss positive. */
static const double jitter = 1e-6;

typedef struct {
    double *m, *S, *ma, *Sa, *Ct, *man, *San, *Ctn, *pm, *pS, *ms, *Ss, *Cs, *Mu, *Su, *Cu, *F, *mj, *Sj, *gm,
        *gS, *M, *V, *C, *K, *dcost_m, *dcost_S, *network, *bank;
    size_t size; /* doubles from m on, without network and bank */
} slice;

struct mcp_horizon {
    mcp_horizon_problem p;
    const mcp_bank     *bank;
    mcp_pool           *pool;
    int                 na, nj, E, steps;
    int                *outs; /* 0 .. nu-1 */
    slice              *tape; /* [T+1] */
    slice               bar;  /* adjoints of one step; network and bank unused */
    double             *mb, *Sb, *noisy, *scratch, *work;
    double             *W; /* of the cost, eased */
};

static void layout_slice(const mcp_horizon *h, mcp_arena *a, slice *s, int tape)
{
    const mcp_horizon_problem *p = &h->p;
    size_t nx = (size_t)p->nx, nu = (size_t)p->nu, k = 2 * (size_t)p->angles, na = (size_t)h->na,
           nj = (size_t)h->nj, D = (size_t)p->inputs, f = (size_t)p->features, E = (size_t)h->E;
    double **const list[] = {&s->m,   &s->S,  &s->ma, &s->Sa, &s->Ct,      &s->man,    &s->San,
                             &s->Ctn, &s->pm, &s->pS, &s->ms, &s->Ss,      &s->Cs,     &s->Mu,
                             &s->Su,  &s->Cu, &s->F,  &s->mj, &s->Sj,      &s->gm,     &s->gS,
                             &s->M,   &s->V,  &s->C,  &s->K,  &s->dcost_m, &s->dcost_S};
    const size_t size[] = {nx,    nx * nx, na,     na * na, nx * k, na,     na * na, nx * k, f,
                           f * f, nu,      nu * nu, f * nu, nu,     nu * nu, nu * nu, f * nu, nj,
                           nj * nj, D,     D * D,  E,       E * E,  D * E,  nx * E,  na,     na * na};
    size_t total = 0, at = 0;
    for (size_t i = 0; i < sizeof size / sizeof *size; i++) total += size[i];
    double *piece = mcp_arena_doubles(a, total); /* one piece, so that clearing it is one call */
    for (size_t i = 0; i < sizeof size / sizeof *size; at += size[i++]) *list[i] = piece ? piece + at : NULL;
    s->size = total;
    if (tape) {
        s->network = mcp_arena_doubles(a, (size_t)mcp_network_work(p->features, p->basis));
        s->bank = mcp_arena_doubles(a, mcp_bank_tape(h->bank));
    }
}

static size_t layout(mcp_horizon *h, char *mem)
{
    mcp_arena a = {.base = mem, .used = sizeof *h};
    size_t    na = (size_t)h->na, nx = (size_t)h->p.nx, nj = (size_t)h->nj, D = (size_t)h->p.inputs;
    slice     none, *tape = mcp_arena_bytes(&a, ((size_t)h->p.T + 1) * sizeof *h->tape);
    h->tape = tape;
    h->outs = mcp_arena_ints(&a, (size_t)h->p.nu);
    for (int t = 0; t <= h->p.T; t++) layout_slice(h, &a, mem ? &tape[t] : &none, 1);
    layout_slice(h, &a, &h->bar, 0);
    h->mb = mcp_arena_doubles(&a, nx);
    h->Sb = mcp_arena_doubles(&a, nx * nx);
    h->noisy = mcp_arena_doubles(&a, nx * nx);
    h->W = mcp_arena_doubles(&a, na * na);
    h->scratch = mcp_arena_doubles(&a, 4 * nj * nj + 4 * nj + 4 * na + D * D + D);
    h->work = mcp_arena_doubles(&a, mcp_bank_work(h->bank));
    return a.used;
}

mcp_status mcp_horizon_create(mcp_horizon **out, const mcp_horizon_problem *p, const mcp_bank *bank,
                              mcp_pool *pool, mcp_error *err)
{
    mcp_horizon shape = {.p = *p, .bank = bank, .pool = pool}, *h;
    void       *mem;
    mcp_status  st;
    *out = NULL;
    shape.na = p->nx + 2 * p->angles;
    shape.nj = shape.na + p->nu;
    shape.E = mcp_bank_outputs(bank);
    if (mcp_bank_inputs(bank) != p->inputs)
        return mcp_fail(err, MCP_ERR_ARG, "pilco: the model has %d inputs, not %d", mcp_bank_inputs(bank),
                        p->inputs);
    if ((st = mcp_block_alloc(&mem, layout(&shape, NULL), err)) != MCP_OK) return st;
    h = mem;
    *h = shape;
    layout(h, mem);
    for (int i = 0; i < p->nu; i++) h->outs[i] = i;
    memcpy(h->W, p->W, (size_t)(h->na * h->na) * sizeof *h->W);
    h->steps = p->T;
    *out = h;
    return MCP_OK;
}

void mcp_horizon_ease(mcp_horizon *h, int steps, double sharpness)
{
    h->steps = steps < 1 ? 1 : steps > h->p.T ? h->p.T : steps;
    for (int i = 0; i < h->na * h->na; i++) h->W[i] = sharpness * h->p.W[i];
}

void mcp_horizon_free(mcp_horizon *h) { mcp_block_free(h); }

/* (x, sin, cos) of x ~ N(m, S). */
static void augment(const mcp_gauss *x, int k, const int *angle, double *ma, double *Sa, double *C, double *V)
{
    const int     n = x->n, na = n + 2 * k;
    const double *m = x->m, *S = x->S;
    mcp_trig_forward(x, k, angle, &(mcp_moments){ma + n, V, C});
    memcpy(ma, m, (size_t)n * sizeof *m);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) Sa[i * na + j] = S[i * n + j];
        for (int j = 0; j < 2 * k; j++) {
            double s = 0;
            for (int l = 0; l < n; l++) s += S[i * n + l] * C[l * 2 * k + j];
            Sa[i * na + n + j] = Sa[(n + j) * na + i] = s;
        }
    }
    for (int i = 0; i < 2 * k; i++)
        for (int j = 0; j < 2 * k; j++) Sa[(n + i) * na + n + j] = V[i * 2 * k + j];
}

static void augment_back(const mcp_gauss *x, int k, const int *angle, const double *C, const double *ma_bar,
                         const double *Sa_bar, const mcp_gauss_bar *x_bar, double *scratch)
{
    const int n = x->n, na = n + 2 * k;
    double   *m_bar = x_bar->m, *S_bar = x_bar->S;
    double   *X = scratch, *Vb = X + n * 2 * k, *Cb = Vb + 4 * k * k;
    for (int i = 0; i < n; i++) {
        m_bar[i] += ma_bar[i];
        for (int j = 0; j < n; j++) S_bar[i * n + j] += Sa_bar[i * na + j];
        for (int j = 0; j < 2 * k; j++) X[i * 2 * k + j] = Sa_bar[i * na + n + j] + Sa_bar[(n + j) * na + i];
    }
    for (int i = 0; i < 2 * k; i++)
        for (int j = 0; j < 2 * k; j++) Vb[i * 2 * k + j] = Sa_bar[(n + i) * na + n + j];
    mcp_small_add_nt(n, 2 * k, n, 1, X, C, S_bar);
    memset(Cb, 0, (size_t)(n * 2 * k) * sizeof *Cb);
    mcp_small_add_tn(n, n, 2 * k, 1, x->S, X, Cb);
    mcp_trig_backward(x, k, angle, &(mcp_moments_bar){ma_bar + n, Vb, Cb}, x_bar);
}

/* Scaled entries of a Gaussian vector of size n. */
static void pick(int n, const double *m, const double *S, int k, const int *at, const double *scale,
                 double *pm, double *pS)
{
    for (int i = 0; i < k; i++) {
        pm[i] = scale[i] * m[at[i]];
        for (int j = 0; j < k; j++) pS[i * k + j] = scale[i] * scale[j] * S[at[i] * n + at[j]];
    }
}

static void pick_back(int n, int k, const int *at, const double *scale, const double *pm_bar,
                      const double *pS_bar, double *m_bar, double *S_bar)
{
    for (int i = 0; i < k; i++) {
        m_bar[at[i]] += scale[i] * pm_bar[i];
        for (int j = 0; j < k; j++) S_bar[at[i] * n + at[j]] += scale[i] * scale[j] * pS_bar[i * k + j];
    }
}

static mcp_status cost_at(mcp_horizon *h, slice *s, double *cost, mcp_error *err)
{
    const mcp_horizon_problem *p = &h->p;
    augment(&(mcp_gauss){p->nx, s->m, s->S}, p->angles, p->angle, s->ma, s->Sa, s->Ct, h->scratch);
    return mcp_loss_saturating(&(mcp_gauss){h->na, s->ma, s->Sa}, p->z, h->W,
                               &(mcp_loss){cost, NULL, s->dcost_m, s->dcost_S}, h->scratch, err);
}

static mcp_status act(mcp_horizon *h, slice *s, const mcp_network *policy, mcp_error *err)
{
    const mcp_horizon_problem *p = &h->p;
    int                        nx = p->nx, nu = p->nu, na = h->na, nj = h->nj, f = p->features;
    mcp_status                 st;
    memcpy(h->noisy, s->S, (size_t)(nx * nx) * sizeof *s->S);
    for (int i = 0; i < nx; i++) h->noisy[i * nx + i] += p->noise[i];
    augment(&(mcp_gauss){nx, s->m, h->noisy}, p->angles, p->angle, s->man, s->San, s->Ctn, h->scratch);
    pick(na, s->man, s->San, f, p->feature, p->feature_scale, s->pm, s->pS);
    if ((st = mcp_network_forward(policy, &(mcp_gauss){f, s->pm, s->pS}, &(mcp_moments){s->ms, s->Ss, s->Cs},
                                  s->network, err)) != MCP_OK)
        return st;
    for (int i = 0; i < nu; i++) s->Ss[i * nu + i] += jitter;
    mcp_sine_forward(&mcp_sine_squash, &(mcp_gauss){nu, s->ms, s->Ss}, nu, h->outs, p->limit,
                     &(mcp_moments){s->Mu, s->Su, s->Cu});
    memset(s->F, 0, (size_t)(f * nu) * sizeof *s->F);
    mcp_small_add(f, nu, nu, 1, s->Cs, s->Cu, s->F);
    memcpy(s->mj, s->ma, (size_t)na * sizeof *s->mj);
    memcpy(s->mj + na, s->Mu, (size_t)nu * sizeof *s->mj);
    for (int i = 0; i < na; i++) {
        for (int j = 0; j < na; j++) s->Sj[i * nj + j] = s->Sa[i * na + j];
        for (int k = 0; k < nu; k++) {
            double v = 0;
            for (int l = 0; l < f; l++)
                v += s->Sa[i * na + p->feature[l]] * p->feature_scale[l] * s->F[l * nu + k];
            s->Sj[i * nj + na + k] = s->Sj[(na + k) * nj + i] = v;
        }
    }
    for (int i = 0; i < nu; i++)
        for (int k = 0; k < nu; k++) s->Sj[(na + i) * nj + na + k] = s->Su[i * nu + k];
    return MCP_OK;
}

static mcp_status move(mcp_horizon *h, slice *s, slice *next, mcp_error *err)
{
    const mcp_horizon_problem *p = &h->p;
    int                        nx = p->nx, nj = h->nj, D = p->inputs, E = h->E;
    double                    *AS = h->scratch, *BV = AS + nx * nx, *AK = BV + nx * E;
    mcp_status                 st;
    pick(nj, s->mj, s->Sj, D, p->input, p->input_scale, s->gm, s->gS);
    if ((st = mcp_bank_forward(h->bank, &(mcp_gauss){D, s->gm, s->gS}, &(mcp_moments){s->M, s->V, s->C},
                               s->bank, h->work, h->pool, err)) != MCP_OK)
        return st;
    for (int i = 0; i < nx; i++)
        for (int e = 0; e < E; e++) {
            double v = 0;
            for (int d = 0; d < D; d++)
                v += s->Sj[i * nj + p->input[d]] * p->input_scale[d] * s->C[d * E + e];
            s->K[i * E + e] = v;
        }
    memset(AS, 0, (size_t)(nx * nx + 2 * nx * E) * sizeof *AS);
    mcp_small_add(nx, nx, nx, 1, p->A, s->S, AS);
    mcp_small_add(nx, E, E, 1, p->B, s->V, BV);
    mcp_small_add(nx, nx, E, 1, p->A, s->K, AK);
    memset(next->m, 0, (size_t)nx * sizeof *next->m);
    mcp_small_add(nx, nx, 1, 1, p->A, s->m, next->m);
    mcp_small_add(nx, E, 1, 1, p->B, s->M, next->m);
    memset(next->S, 0, (size_t)(nx * nx) * sizeof *next->S);
    mcp_small_add_nt(nx, nx, nx, 1, AS, p->A, next->S);
    mcp_small_add_nt(nx, E, nx, 1, BV, p->B, next->S);
    mcp_small_add_nt(nx, E, nx, 1, AK, p->B, next->S);
    mcp_small_add_nt(nx, E, nx, 1, p->B, AK, next->S);
    for (int i = 0; i < nx; i++)
        for (int j = 0; j < i; j++)
            next->S[i * nx + j] = next->S[j * nx + i] = 0.5 * (next->S[i * nx + j] + next->S[j * nx + i]);
    return MCP_OK;
}

/* From the adjoint of the next state (mb, Sb) to that of the joint vector and, through A, of this state. */
static void move_back(mcp_horizon *h, slice *s)
{
    const mcp_horizon_problem *p = &h->p;
    slice                     *b = &h->bar;
    int                        nx = p->nx, nj = h->nj, D = p->inputs, E = h->E;
    double *Y = h->scratch, *YB = Y + nx * nx, *YA = YB + nx * E, *Gm = YA + nx * nx, *GS = Gm + D;
    for (int i = 0; i < nx; i++)
        for (int j = 0; j < nx; j++) Y[i * nx + j] = 0.5 * (h->Sb[i * nx + j] + h->Sb[j * nx + i]);
    memset(YB, 0, (size_t)(nx * E + nx * nx + D + D * D) * sizeof *YB);
    mcp_small_add(nx, nx, E, 1, Y, p->B, YB);
    mcp_small_add(nx, nx, nx, 1, Y, p->A, YA);
    memset(b->M, 0, (size_t)E * sizeof *b->M);
    memset(b->V, 0, (size_t)(E * E) * sizeof *b->V);
    memset(b->K, 0, (size_t)(nx * E) * sizeof *b->K);
    mcp_small_add_tn(E, nx, 1, 1, p->B, h->mb, b->M);
    mcp_small_add_tn(E, nx, E, 1, p->B, YB, b->V);
    mcp_small_add_tn(nx, nx, E, 2, p->A, YB, b->K);
    mcp_small_add_tn(nx, nx, 1, 1, p->A, h->mb, b->m);
    mcp_small_add_tn(nx, nx, nx, 1, p->A, YA, b->S);
    for (int d = 0; d < D; d++)
        for (int e = 0; e < E; e++) {
            double v = 0;
            for (int i = 0; i < nx; i++) {
                v += s->Sj[i * nj + p->input[d]] * b->K[i * E + e];
                b->Sj[i * nj + p->input[d]] += p->input_scale[d] * b->K[i * E + e] * s->C[d * E + e];
            }
            b->C[d * E + e] = p->input_scale[d] * v;
        }
    mcp_bank_backward(h->bank, s->M, b->M, b->V, b->C, s->bank, Gm, GS);
    pick_back(nj, D, p->input, p->input_scale, Gm, GS, b->mj, b->Sj);
}

/* From the adjoint of the joint vector to those of a (ma, Sa), of this state through what the policy saw, and
 * of the policy. */
static void act_back(mcp_horizon *h, slice *s, const mcp_network *policy, const mcp_network_bar *policy_bar)
{
    const mcp_horizon_problem *p = &h->p;
    slice                     *b = &h->bar;
    int                        nx = p->nx, nu = p->nu, na = h->na, nj = h->nj, f = p->features;
    double                    *X = h->scratch;
    for (int i = 0; i < na; i++) {
        b->ma[i] += b->mj[i];
        for (int j = 0; j < na; j++) b->Sa[i * na + j] += b->Sj[i * nj + j];
        for (int k = 0; k < nu; k++) X[i * nu + k] = b->Sj[i * nj + na + k] + b->Sj[(na + k) * nj + i];
    }
    for (int i = 0; i < nu; i++)
        for (int k = 0; k < nu; k++) b->Su[i * nu + k] = b->Sj[(na + i) * nj + na + k];
    for (int l = 0; l < f; l++)
        for (int k = 0; k < nu; k++) {
            double v = 0;
            for (int i = 0; i < na; i++) {
                v += s->Sa[i * na + p->feature[l]] * X[i * nu + k];
                b->Sa[i * na + p->feature[l]] += p->feature_scale[l] * X[i * nu + k] * s->F[l * nu + k];
            }
            b->F[l * nu + k] = p->feature_scale[l] * v;
        }
    mcp_small_add_nt(f, nu, nu, 1, b->F, s->Cu, b->Cs);
    mcp_small_add_tn(nu, f, nu, 1, s->Cs, b->F, b->Cu);
    mcp_sine_backward(&mcp_sine_squash, &(mcp_gauss){nu, s->ms, s->Ss}, nu, h->outs, p->limit,
                      &(mcp_moments_bar){b->mj + na, b->Su, b->Cu}, &(mcp_gauss_bar){b->ms, b->Ss});
    mcp_network_backward(policy, &(mcp_gauss){f, s->pm, s->pS}, s->ms,
                         &(mcp_moments_bar){b->ms, b->Ss, b->Cs}, s->network,
                         &(mcp_gauss_bar){b->pm, b->pS}, policy_bar);
    pick_back(na, f, p->feature, p->feature_scale, b->pm, b->pS, b->man, b->San);
    memcpy(h->noisy, s->S, (size_t)(nx * nx) * sizeof *s->S);
    for (int i = 0; i < nx; i++) h->noisy[i * nx + i] += p->noise[i];
    augment_back(&(mcp_gauss){nx, s->m, h->noisy}, p->angles, p->angle, s->Ctn, b->man, b->San,
                 &(mcp_gauss_bar){b->m, b->S}, h->scratch);
}

/* Rounding can cost a covariance its definiteness; its "expected cost" may then be anything, and a search
 * would run there. LDL^T in place of a copy: every pivot must be positive but for rounding. */
static int is_covariance(int n, const double *S, double *copy)
{
    double most = 0;
    memcpy(copy, S, (size_t)(n * n) * sizeof *S);
    for (int i = 0; i < n; i++) most = fmax(most, S[i * n + i]);
    for (int k = 0; k < n; k++) {
        double d = copy[k * n + k];
        if (!(d > -1e-9 * most)) return 0;
        if (d < 1e-12 * most) continue; /* no spread left in this direction */
        for (int i = k + 1; i < n; i++)
            for (int j = k + 1; j <= i; j++) copy[i * n + j] -= copy[i * n + k] * copy[j * n + k] / d;
    }
    return 1;
}

static mcp_status go(mcp_horizon *h, const mcp_network *policy, double *J, double *step, mcp_error *err)
{
    const mcp_horizon_problem *p = &h->p;
    mcp_status                 st;
    memcpy(h->tape[0].m, p->m0, (size_t)p->nx * sizeof *p->m0);
    memcpy(h->tape[0].S, p->S0, (size_t)(p->nx * p->nx) * sizeof *p->S0);
    *J = 0;
    for (int t = 0; t <= h->steps; t++) {
        slice *s = &h->tape[t];
        double cost;
        if ((st = cost_at(h, s, &cost, err)) != MCP_OK) return st;
        if (!isfinite(cost))
            return mcp_fail(err, MCP_ERR_NUMERIC, "pilco: the expected cost is not a number at step %d", t);
        *J += cost;
        if (step) step[t] = cost;
        if (t == h->steps) break;
        if ((st = act(h, s, policy, err)) != MCP_OK) return st;
        if ((st = move(h, s, &h->tape[t + 1], err)) != MCP_OK) return st;
        if (!is_covariance(p->nx, h->tape[t + 1].S, h->scratch))
            return mcp_fail(err, MCP_ERR_NUMERIC,
                            "pilco: the state's covariance at step %d is not positive any more", t + 1);
    }
    return MCP_OK;
}

mcp_status mcp_horizon_run(mcp_horizon *h, const mcp_network *policy, double *J, double *step,
                           const mcp_network_bar *policy_bar, mcp_error *err)
{
    const mcp_horizon_problem *p = &h->p;
    slice                     *b = &h->bar;
    int                        nx = p->nx;
    mcp_status                 st = go(h, policy, J, step, err);
    if (st != MCP_OK || !policy_bar) return st;
    memset(policy_bar->w, 0, (size_t)(p->nu * p->basis) * sizeof *policy_bar->w);
    memset(policy_bar->c, 0, (size_t)(p->basis * p->features) * sizeof *policy_bar->c);
    memset(policy_bar->lambda, 0, (size_t)p->features * sizeof *policy_bar->lambda);
    memset(h->mb, 0, (size_t)nx * sizeof *h->mb);
    memset(h->Sb, 0, (size_t)(nx * nx) * sizeof *h->Sb);
    for (int t = h->steps; t >= 0; t--) {
        slice *s = &h->tape[t];
        memset(b->m, 0, b->size * sizeof *b->m);
        memcpy(b->ma, s->dcost_m, (size_t)h->na * sizeof *b->ma);
        memcpy(b->Sa, s->dcost_S, (size_t)(h->na * h->na) * sizeof *b->Sa);
        if (t < h->steps) {
            move_back(h, s);
            act_back(h, s, policy, policy_bar);
        }
        augment_back(&(mcp_gauss){nx, s->m, s->S}, p->angles, p->angle, s->Ct, b->ma, b->Sa,
                     &(mcp_gauss_bar){b->m, b->S}, h->scratch);
        memcpy(h->mb, b->m, (size_t)nx * sizeof *h->mb);
        memcpy(h->Sb, b->S, (size_t)(nx * nx) * sizeof *h->Sb);
    }
    return MCP_OK;
}
