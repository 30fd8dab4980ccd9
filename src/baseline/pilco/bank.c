/* bank.c - moments of Gaussian process predictions at a Gaussian input (Deisenroth, Fox, Rasmussen 2015, equations 14 to 23).
 *
 *   k_a(x, x') = s_a^2 exp(-(x-x')^T L_a^-1 (x-x')/2),  beta_a = (K_a + noise)^-1 y_a,   zeta_i = x_i - m
 *   q_ai = s_a^2 |S L_a^-1 + I|^-1/2 exp(-zeta_i^T G_a zeta_i/2),  G_a = (S + L_a)^-1,  t_ai = G_a zeta_i
 *   M_a  = sum_i beta_ai q_ai               C_a = sum_i beta_ai q_ai t_ai
 *   V_ab = sum_ij W_ij Q_ij - M_a M_b + [a = b] s_a^2,    W = beta_a beta_b^T - [a = b] (K_a + noise)^-1
 *   Q_ij = |R|^-1/2 exp(-zeta_i^T L_a^-1 zeta_i/2 - zeta_j^T L_b^-1 zeta_j/2 + z_ij^T T z_ij/2) s_a^2 s_b^2
 *          z_ij = L_a^-1 zeta_i + L_b^-1 zeta_j,  P = L_a^-1 + L_b^-1,  R = S P + I,  T = R^-1 S
 *
 * The exponent splits into A_i + B_j + (T u_i) . w_j with u_i = L_a^-1 zeta_i, w_j = L_b^-1 zeta_j. With P_ij = W_ij Q_ij,
 *   d sum/dm = R^-T sum_ij P_ij z_ij        d sum/dS = R^-T (sum_ij P_ij z_ij z_ij^T/2) R^-1 - (P R^-1) sum_ij P_ij/2
 * which need only the row sums, the column sums and sum_j P_ij w_j: forward takes them in the same sweep, so that backward
 * has no N^2 part at all. For the mean, with e = M_bar + C_bar . t (and T2, T3, T4 the sums of s t, s t t, s t t t):
 *   m_bar += sum s e t - M G C_bar          S_bar += sum s e (t t^T - G)/2 - (G C_bar) C^T
 * tape, per output: G [D][D], M, C [D], T3 [D][D], T4 [D][D][D]; then per pair a <= b: dm [D], dS [D][D]. */
#include <math.h>
#include <string.h>

#include "baseline/pilco/bank_levels.h"
#include "baseline/pilco/moments.h"
#include "baseline/pilco/small.h"
#include "math/arena.h"
#include "math/linalg.h"

struct mcp_bank {
    int     n, ld, D, E;
    void (*rows)(const mcp_bank_rows_args *a);
    void (*sums)(int ld, int D, const double *s, const double *t, double *p, double *T1, double *T2, double *T3, double *T4);
    double *XT;     /* [D][ld], padding 0 */
    double *inv_l2; /* [E][D] */
    double *log_s2; /* [E] log of the signal variance */
    double *beta;   /* [E][ld], padding 0 */
    double *W;      /* [E][n][ld]: upper triangle of beta beta^T - (K + noise)^-1, off the diagonal doubled */
};

static size_t layout(mcp_bank *b, char *mem)
{
    mcp_arena a = {.base = mem, .used = sizeof *b};
    size_t    n = (size_t)b->n, ld = (size_t)b->ld, D = (size_t)b->D, E = (size_t)b->E;
    b->XT = mcp_arena_doubles(&a, D * ld);
    b->inv_l2 = mcp_arena_doubles(&a, E * D);
    b->log_s2 = mcp_arena_doubles(&a, E);
    b->beta = mcp_arena_doubles(&a, E * ld);
    b->W = mcp_arena_doubles(&a, E * n * ld);
    return a.used;
}

/* K + noise and its inverse for one output; W and beta from it. */
static mcp_status fill_output(mcp_bank *b, int e, const double *X, const double *y, const double *hyper, double *K, double *Ki,
                              mcp_error *err)
{
    size_t     n = (size_t)b->n, ld = (size_t)b->ld, D = (size_t)b->D;
    double    *il = b->inv_l2 + (size_t)e * D, *beta = b->beta + (size_t)e * ld, *W = b->W + (size_t)e * n * ld;
    double     s2 = exp(2 * hyper[D]), noise = exp(2 * hyper[D + 1]);
    mcp_status st;
    for (size_t d = 0; d < D; d++) il[d] = exp(-2 * hyper[d]);
    b->log_s2[e] = 2 * hyper[D];
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double q = 0;
            for (size_t d = 0; d < D; d++) {
                double r = X[i * D + d] - X[j * D + d];
                q += r * r * il[d];
            }
            K[i * n + j] = K[j * n + i] = s2 * exp(-0.5 * q) + (i == j ? noise : 0);
        }
    if ((st = mcp_cholesky(b->n, K, b->n, err)) != MCP_OK) return st;
    if ((st = mcp_cholesky_inverse(b->n, K, b->n, Ki, b->n, err)) != MCP_OK) return st;
    memcpy(beta, y, n * sizeof *y);
    mcp_cholesky_solve(b->n, K, b->n, 1, beta);
    for (size_t i = 0; i < n; i++)
        for (size_t j = i; j < n; j++) W[i * ld + j] = (i == j ? 1 : 2) * (beta[i] * beta[j] - Ki[i * n + j]);
    return MCP_OK;
}

mcp_status mcp_bank_create(mcp_bank **out, int n, int D, int E, const double *X, const double *Y, const double *hyper,
                           mcp_isa level, mcp_error *err)
{
    mcp_bank   shape = {.n = n, .ld = mcp_round_lanes(n), .D = D, .E = E}, *b;
    void      *mem = NULL;
    mcp_status st;
    *out = NULL;
    if (n < 1 || D < 1 || E < 1) return mcp_fail(err, MCP_ERR_ARG, "moment matching: %d points, %d inputs, %d outputs", n, D, E);
    if ((st = mcp_block_alloc(&mem, layout(&shape, NULL), err)) != MCP_OK) return st;
    b = mem;
    *b = shape;
    layout(b, mem);
    b->rows = MCP_ISA_PICK(level, mcp_bank_rows);
    b->sums = MCP_ISA_PICK(level, mcp_bank_sums);
    for (int i = 0; i < n; i++)
        for (int d = 0; d < D; d++) b->XT[d * b->ld + i] = X[i * D + d];
    double *K = mcp_calloc(2 * (size_t)n * (size_t)n, sizeof *K);
    if (!K) {
        mcp_bank_free(b);
        return mcp_fail(err, MCP_ERR_MEMORY, "moment matching: out of memory for %d points", n);
    }
    for (int e = 0; e < E && st == MCP_OK; e++)
        st = fill_output(b, e, X, Y + (size_t)e * (size_t)n, hyper + (size_t)e * (size_t)(D + 2), K, K + (size_t)n * (size_t)n, err);
    mcp_free(K);
    if (st != MCP_OK) mcp_bank_free(b);
    else *out = b;
    return st;
}

void mcp_bank_free(mcp_bank *b) { mcp_block_free(b); }
int  mcp_bank_inputs(const mcp_bank *b) { return b->D; }
int  mcp_bank_outputs(const mcp_bank *b) { return b->E; }

static size_t output_tape(const mcp_bank *b)
{
    size_t D = (size_t)b->D;
    return 2 * D * D + 1 + D + D * D * D;
}

static size_t pair_tape(const mcp_bank *b) { return (size_t)b->D + (size_t)b->D * (size_t)b->D; }
static int    pairs(const mcp_bank *b) { return b->E * (b->E + 1) / 2; }

size_t mcp_bank_tape(const mcp_bank *b) { return (size_t)b->E * output_tape(b) + (size_t)pairs(b) * pair_tape(b); }

/* One task's scratch: u, w [D][ld], g [n][D], Y [n+1][D], A, B, c [ld], r and two rows behind it [3 ld], matrices, vectors. */
static size_t task_work(const mcp_bank *b)
{
    size_t ld = (size_t)b->ld, D = (size_t)b->D;
    return 4 * D * ld + 6 * ld + 6 * D * D + 5 * D;
}

size_t mcp_bank_work(const mcp_bank *b) { return (size_t)(pairs(b) + b->E) * task_work(b) + (size_t)pairs(b) + (size_t)b->E; }

typedef struct {
    const mcp_bank *b;
    const double   *m, *S;
    double         *M, *V, *C, *tape, *work;
    double         *failed; /* one flag a task */
} job;

/* Mean and input-output covariance of output a, and the sums their adjoint needs. */
static void mean_task(const job *t, int a)
{
    const mcp_bank *b = t->b;
    int             D = b->D, ld = b->ld, E = b->E;
    double *G = t->tape + (size_t)a * output_tape(b), *M = G + D * D, *C = M + 1, *T3 = C + D, *T4 = T3 + D * D;
    double *w = t->work + (size_t)(pairs(b) + a) * task_work(b), *tt = w, *zeta = tt + D * ld, *s = zeta + D * ld, *p = s + ld,
           *scratch = p + ld, logdet;
    memcpy(G, t->S, (size_t)(D * D) * sizeof *G);
    for (int d = 0; d < D; d++) G[d * D + d] += 1 / b->inv_l2[a * D + d];
    t->failed[pairs(b) + a] = mcp_small_inverse(D, G, &logdet, scratch, NULL) != MCP_OK;
    for (int d = 0; d < D; d++) logdet += log(b->inv_l2[a * D + d]);
    for (int d = 0; d < D; d++)
        for (int j = 0; j < ld; j++) zeta[d * ld + j] = j < b->n ? b->XT[d * ld + j] - t->m[d] : 0;
    memset(s, 0, (size_t)ld * sizeof *s);
    memset(tt, 0, (size_t)(D * ld) * sizeof *tt);
    for (int d = 0; d < D; d++) {
        for (int e = 0; e < D; e++) {
            double g = 0.5 * (G[d * D + e] + G[e * D + d]);
            for (int j = 0; j < ld; j++) tt[d * ld + j] += g * zeta[e * ld + j];
        }
        for (int j = 0; j < ld; j++) s[j] += zeta[d * ld + j] * tt[d * ld + j];
    }
    for (int j = 0; j < ld; j++) s[j] = b->beta[a * ld + j] * exp(b->log_s2[a] - 0.5 * logdet - 0.5 * s[j]);
    b->sums(ld, D, s, tt, p, M, C, T3, T4);
    t->M[a] = *M;
    for (int d = 0; d < D; d++) t->C[d * E + a] = C[d];
}

/* A_i = log s^2 - zeta^T u/2 + u^T T u/2 with u = il zeta; also T u as rows of g, when wanted. */
static void fill_side(const mcp_bank *b, const double *m, const double *il, double log_s2, const double *T, double *u, double *A,
                      double *g)
{
    int D = b->D, ld = b->ld;
    memset(A, 0, (size_t)ld * sizeof *A);
    for (int d = 0; d < D; d++)
        for (int j = 0; j < b->n; j++) {
            double z = b->XT[d * ld + j] - m[d];
            u[d * ld + j] = il[d] * z;
            A[j] -= 0.5 * il[d] * z * z;
        }
    for (int j = 0; j < b->n; j++) {
        double q = 0;
        for (int d = 0; d < D; d++) {
            double s = 0;
            for (int e = 0; e < D; e++) s += T[d * D + e] * u[e * ld + j];
            if (g) g[j * D + d] = s;
            q += s * u[d * ld + j];
        }
        A[j] += log_s2 + 0.5 * q;
    }
}

/* sum_ij P_ij and its derivatives in m and S for outputs a <= b2. */
static void pair_task(const job *t, int k, int a, int b2)
{
    const mcp_bank *b = t->b;
    int             D = b->D, ld = b->ld, n = b->n;
    double *w = t->work + (size_t)k * task_work(b), *u = w, *v = u + D * ld, *g = v + D * ld, *Y = g + D * ld, *A = Y + D * ld + D,
           *B = A + ld, *c = B + ld, *r = c + ld, *R = r + 3 * ld, *T = R + D * D, *Z = T + D * D, *tmp = Z + D * D,
           *z = tmp + 2 * D * D + D, logdet;
    double *dm = t->tape + (size_t)b->E * output_tape(b) + (size_t)k * pair_tape(b), *dS = dm + D;
    const double *ia = b->inv_l2 + a * D, *ib = b->inv_l2 + b2 * D;

    /* R^-1 and T */
    for (int d = 0; d < D; d++)
        for (int e = 0; e < D; e++) R[d * D + e] = t->S[d * D + e] * (ia[e] + ib[e]) + (d == e);
    t->failed[k] = mcp_small_inverse(D, R, &logdet, tmp, NULL) != MCP_OK;
    memset(tmp, 0, (size_t)(D * D) * sizeof *tmp);
    mcp_small_add(D, D, D, 1, R, D, t->S, D, tmp, D);
    for (int d = 0; d < D; d++)
        for (int e = 0; e < D; e++) T[d * D + e] = 0.5 * (tmp[d * D + e] + tmp[e * D + d]);

    /* the sweep */
    memset(u, 0, (size_t)(2 * D * ld) * sizeof *u);
    fill_side(b, t->m, ia, b->log_s2[a] - 0.5 * logdet, T, u, A, g);
    fill_side(b, t->m, ib, b->log_s2[b2], T, v, B, NULL);
    memset(c, 0, (size_t)ld * sizeof *c);
    mcp_bank_rows_args args = {.n = n, .ld = ld, .D = D, .A = A, .B = B, .g = g, .w = v, .r = r, .c = c, .Y = Y};
    if (a == b2) args.weight = b->W + (size_t)a * (size_t)n * (size_t)ld, args.stride = ld, args.upper = 1;
    else args.weight = b->beta + b2 * ld, args.factor = b->beta + a * ld;
    b->rows(&args);

    /* its sums: Z = sum P z z^T/2, z = sum P z */
    double total = 0;
    memset(Z, 0, (size_t)(D * D) * sizeof *Z);
    memset(z, 0, (size_t)D * sizeof *z);
    for (int i = 0; i < n; i++) {
        double f = args.factor ? args.factor[i] : 1, ri = f * r[i];
        total += ri;
        for (int d = 0; d < D; d++) {
            double ud = u[d * ld + i], vd = v[d * ld + i];
            z[d] += ri * ud + c[i] * vd;
            for (int e = 0; e < D; e++)
                Z[d * D + e] += 0.5 * (ri * ud * u[e * ld + i] + c[i] * vd * v[e * ld + i] +
                                       f * (ud * Y[i * D + e] + u[e * ld + i] * Y[i * D + d]));
        }
    }
    t->V[a * b->E + b2] = total; /* finished in forward */
    memset(dm, 0, pair_tape(b) * sizeof *dm);
    mcp_small_add_tn(D, D, 1, 1, R, D, z, 1, dm, 1);
    memset(tmp, 0, (size_t)(D * D) * sizeof *tmp);
    mcp_small_add(D, D, D, 1, Z, D, R, D, tmp, D);
    mcp_small_add_tn(D, D, D, 1, R, D, tmp, D, dS, D);
    for (int d = 0; d < D; d++)
        for (int e = 0; e < D; e++) dS[d * D + e] -= 0.5 * total * (ia[d] + ib[d]) * R[d * D + e];
}

static void run_task(void *context, int task, int worker)
{
    const job *t = context;
    (void)worker;
    int k = task;
    if (task >= pairs(t->b)) {
        mean_task(t, task - pairs(t->b));
        return;
    }
    for (int a = 0; a < t->b->E; a++) {
        if (k < t->b->E - a) {
            pair_task(t, task, a, a + k);
            return;
        }
        k -= t->b->E - a;
    }
}

mcp_status mcp_bank_forward(const mcp_bank *b, const double *m, const double *S, double *M, double *V, double *C, double *tape,
                            double *work, mcp_pool *pool, mcp_error *err)
{
    int E = b->E, tasks = pairs(b) + E;
    job t = {.b = b, .m = m, .S = S, .M = M, .V = V, .C = C, .tape = tape, .work = work};
    t.failed = work + (size_t)tasks * task_work(b);
    mcp_pool_run(pool, tasks, run_task, &t);
    for (int k = 0; k < tasks; k++)
        if (t.failed[k] != 0) return mcp_fail(err, MCP_ERR_NUMERIC, "moment matching: the input covariance is not finite");
    for (int a = 0; a < E; a++)
        for (int e = a; e < E; e++) {
            double v = V[a * E + e] - M[a] * M[e] + (a == e ? exp(b->log_s2[a]) : 0);
            V[a * E + e] = V[e * E + a] = v;
        }
    return MCP_OK;
}

static void mean_backward(const mcp_bank *b, int a, double M_bar, const double *C_bar, const double *tape, double *m_bar,
                          double *S_bar)
{
    int           D = b->D, E = b->E;
    const double *G = tape + (size_t)a * output_tape(b), *M = G + D * D, *C = M + 1, *T3 = C + D, *T4 = T3 + D * D;
    double        x1 = M_bar * *M;
    for (int d = 0; d < D; d++) x1 += C_bar[d * E + a] * C[d];
    for (int d = 0; d < D; d++) {
        double x2 = M_bar * C[d], gc = 0;
        for (int e = 0; e < D; e++) {
            x2 += T3[d * D + e] * C_bar[e * E + a];
            gc += 0.5 * (G[d * D + e] + G[e * D + d]) * C_bar[e * E + a];
        }
        m_bar[d] += x2 - *M * gc;
        for (int e = 0; e < D; e++) {
            double x3 = M_bar * T3[d * D + e];
            for (int f = 0; f < D; f++) x3 += T4[(d * D + e) * D + f] * C_bar[f * E + a];
            S_bar[d * D + e] += 0.5 * (x3 - x1 * G[d * D + e]) - gc * C[e];
        }
    }
}

void mcp_bank_backward(const mcp_bank *b, const double *M, const double *M_bar, const double *V_bar, const double *C_bar,
                       const double *tape, double *m_bar, double *S_bar)
{
    int           D = b->D, E = b->E;
    const double *pair = tape + (size_t)E * output_tape(b);
    for (int a = 0; a < E; a++)
        for (int e = a; e < E; e++, pair += pair_tape(b)) {
            double v = V_bar[a * E + e] + (a == e ? 0 : V_bar[e * E + a]);
            for (int d = 0; d < D; d++) m_bar[d] += v * pair[d];
            for (int d = 0; d < D * D; d++) S_bar[d] += v * pair[D + d];
        }
    for (int a = 0; a < E; a++) {
        double mb = M_bar[a];
        for (int e = 0; e < E; e++) mb -= (V_bar[a * E + e] + V_bar[e * E + a]) * M[e];
        mean_backward(b, a, mb, C_bar, tape, m_bar, S_bar);
    }
}
