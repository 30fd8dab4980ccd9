/* bank_create.c - a bank from data and hyper-parameters, or from trained GPs with only the inducing points
 * that each needs.
 *
 *   all data   beta = (K + s2 I)^-1 y,                           Q = (K + s2 I)^-1
 *   inducing   beta = (Kmm + Kmn Knm/s2)^-1 Kmn y/s2,            Q = Kmm^-1 - (Kmm + Kmn Knm/s2)^-1
 * Moment matching costs the product of two outputs' points for each pair of outputs: a GP that is nearly
 * linear (the change of a position) needs a handful, and a few dozen are enough for the others. */
#include <math.h>
#include <string.h>

#include "baseline/pilco/bank_parts.h"
#include "math/arena.h"
#include "math/linalg.h"
#include "model/inducing.h"

/* n [E] points of each output. */
static size_t layout(mcp_bank *b, const int *n, char *mem)
{
    mcp_arena        a = {.base = mem, .used = sizeof *b};
    size_t           D = (size_t)b->D, E = (size_t)b->E;
    mcp_bank_output  none = {0};
    b->output = mcp_arena_bytes(&a, E * sizeof *b->output);
    b->inv_l2 = mcp_arena_doubles(&a, E * D);
    b->log_s2 = mcp_arena_doubles(&a, E);
    for (int e = 0; e < b->E; e++) {
        mcp_bank_output *o = mem ? &b->output[e] : &none;
        size_t           ld = (size_t)mcp_round_lanes(n[e]);
        o->n = n[e];
        o->ld = (int)ld;
        o->XT = mcp_arena_doubles(&a, D * ld);
        o->beta = mcp_arena_doubles(&a, ld);
        o->W = mcp_arena_doubles(&a, (size_t)n[e] * ld);
        if (b->ld < o->ld) b->ld = o->ld;
    }
    return a.used;
}

static mcp_status make(mcp_bank **out, int D, int E, const int *n, mcp_isa level, mcp_error *err)
{
    mcp_bank   shape = {.D = D, .E = E};
    void      *mem = NULL;
    mcp_status st = mcp_block_alloc(&mem, layout(&shape, n, NULL), err);
    *out = NULL;
    if (st != MCP_OK) return st;
    mcp_bank *b = mem;
    *b = shape;
    layout(b, n, mem);
    b->rows = MCP_ISA_PICK(level, mcp_bank_rows);
    b->sums = MCP_ISA_PICK(level, mcp_bank_sums);
    *out = b;
    return MCP_OK;
}

void mcp_bank_free(mcp_bank *b) { mcp_block_free(b); }

/* hyper: log length-scales, log signal deviation */
static void fill_hyper(mcp_bank *b, int e, const double *hyper)
{
    for (int d = 0; d < b->D; d++) b->inv_l2[e * b->D + d] = exp(-2 * hyper[d]);
    b->log_s2[e] = 2 * hyper[b->D];
}

/* W from beta and Q [n][n]. */
static void fill_weights(mcp_bank_output *o, const double *Q)
{
    size_t n = (size_t)o->n, ld = (size_t)o->ld;
    for (size_t i = 0; i < n; i++)
        for (size_t j = i; j < n; j++)
            o->W[i * ld + j] = (i == j ? 1 : 2) * (o->beta[i] * o->beta[j] - Q[i * n + j]);
}

/* K + noise and its inverse for one output; W and beta from it. */
static mcp_status fill_output(mcp_bank *b, int e, const double *X, const double *y, const double *hyper,
                              double *K, double *Ki, mcp_error *err)
{
    mcp_bank_output *o = &b->output[e];
    size_t           n = (size_t)o->n, D = (size_t)b->D;
    const double    *il = b->inv_l2 + (size_t)e * D;
    double           s2 = exp(2 * hyper[D]), noise = exp(2 * hyper[D + 1]);
    mcp_status       st;
    fill_hyper(b, e, hyper);
    for (size_t i = 0; i < n; i++) {
        for (size_t d = 0; d < D; d++) o->XT[d * (size_t)o->ld + i] = X[i * D + d];
        for (size_t j = 0; j <= i; j++) {
            double q = 0;
            for (size_t d = 0; d < D; d++) {
                double r = X[i * D + d] - X[j * D + d];
                q += r * r * il[d];
            }
            K[i * n + j] = K[j * n + i] = s2 * exp(-0.5 * q) + (i == j ? noise : 0);
        }
    }
    if ((st = mcp_cholesky(o->n, K, o->n, err)) != MCP_OK) return st;
    if ((st = mcp_cholesky_inverse(o->n, K, o->n, Ki, o->n, err)) != MCP_OK) return st;
    memcpy(o->beta, y, n * sizeof *y);
    mcp_cholesky_solve(o->n, K, o->n, 1, o->beta);
    fill_weights(o, Ki);
    return MCP_OK;
}

mcp_status mcp_bank_create(mcp_bank **out, const mcp_bank_data *data, mcp_isa level, mcp_error *err)
{
    const int     n = data->n, D = data->D, E = data->E;
    const double *X = data->X, *Y = data->Y, *hyper = data->hyper;
    mcp_status st;
    mcp_bank  *b;
    *out = NULL;
    if (n < 1 || D < 1 || E < 1)
        return mcp_fail(err, MCP_ERR_ARG, "moment matching: %d points, %d inputs, %d outputs", n, D, E);
    int    *points = mcp_calloc((size_t)E, sizeof *points);
    double *K = mcp_calloc(2 * (size_t)n * (size_t)n, sizeof *K);
    if (!points || !K) {
        st = mcp_fail(err, MCP_ERR_MEMORY, "moment matching: out of memory for %d points", n);
        goto done;
    }
    for (int e = 0; e < E; e++) points[e] = n;
    if ((st = make(&b, D, E, points, level, err)) != MCP_OK) goto done;
    for (int e = 0; e < E && st == MCP_OK; e++)
        st = fill_output(b, e, X, Y + (size_t)e * (size_t)n, hyper + (size_t)e * (size_t)(D + 2), K,
                         K + (size_t)n * (size_t)n, err);
    if (st != MCP_OK) mcp_bank_free(b);
    else *out = b;
done:
    mcp_free(points);
    mcp_free(K);
    return st;
}

static mcp_status fill_inducing(mcp_bank *b, int e, const mcp_gp *gp, const mcp_inducing *choice,
                                mcp_isa level, mcp_error *err)
{
    mcp_bank_output *o = &b->output[e];
    const size_t     n = (size_t)o->n;
    double          *Q = mcp_calloc(2 * n * n, sizeof *Q), *W = Q ? Q + n * n : NULL;
    if (!Q) return mcp_fail(err, MCP_ERR_MEMORY, "moment matching: out of memory for %d points", o->n);
    /* exp(-(r/l)^2) is exp(-(r/l')^2/2) with l' = l/sqrt 2 */
    for (int d = 0; d < b->D; d++) {
        b->inv_l2[e * b->D + d] = 2 * exp(-2 * gp->hyper[1 + d]);
        for (int i = 0; i < o->n; i++) o->XT[d * o->ld + i] = gp->X[choice->index[i] * b->D + d];
    }
    b->log_s2[e] = 2 * gp->hyper[0];
    mcp_status st = mcp_inducing_posterior(choice, o->n, gp, level, W, o->beta, err);
    for (size_t k = 0; k < n; k++) /* Q = W' W */
        for (size_t i = 0; i <= k; i++)
            for (size_t j = 0; j <= k; j++) Q[i * n + j] += W[k * n + i] * W[k * n + j];
    if (st == MCP_OK) fill_weights(o, Q);
    mcp_free(Q);
    return st;
}

mcp_status mcp_bank_create_sparse(mcp_bank **out, int E, mcp_gp *const *gp, double tolerance, int points_max,
                                  mcp_isa level, mcp_error *err)
{
    mcp_bank     *b = NULL;
    mcp_status    st = MCP_OK;
    int          *n = mcp_calloc((size_t)E, sizeof *n);
    mcp_inducing *choice = mcp_calloc((size_t)E, sizeof *choice);
    *out = NULL;
    if (!n || !choice) st = mcp_fail(err, MCP_ERR_MEMORY, "moment matching: out of memory");
    for (int e = 0; st == MCP_OK && e < E; e++) {
        if ((st = mcp_inducing_start(&choice[e], gp[e], points_max, err)) != MCP_OK) break;
        mcp_inducing_extend(&choice[e], gp[e], tolerance * mcp_gp_noise_var(gp[e]));
        n[e] = choice[e].m;
    }
    if (st == MCP_OK) st = make(&b, gp[0]->features, E, n, level, err);
    for (int e = 0; st == MCP_OK && e < E; e++) st = fill_inducing(b, e, gp[e], &choice[e], level, err);
    for (int e = 0; choice && e < E; e++) mcp_inducing_free(&choice[e]);
    mcp_free(choice);
    mcp_free(n);
    if (st != MCP_OK) mcp_bank_free(b);
    else *out = b;
    return st;
}

int mcp_bank_inputs(const mcp_bank *b) { return b->D; }
int mcp_bank_outputs(const mcp_bank *b) { return b->E; }

int mcp_bank_points(const mcp_bank *b)
{
    int most = 0;
    for (int e = 0; e < b->E; e++) most = b->output[e].n > most ? b->output[e].n : most;
    return most;
}
