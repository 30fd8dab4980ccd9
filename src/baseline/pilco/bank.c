/* bank.c - moments of Gaussian process predictions at a Gaussian input (Deisenroth, Fox, Rasmussen 2015,
 * equations 14 to 23).
 *
 *   k_a(x, x') = s_a^2 exp(-(x-x')^T L_a^-1 (x-x')/2),  beta_a = (K_a + noise)^-1 y_a,   zeta_i = x_i - m
 *   q_ai = s_a^2 |S L_a^-1 + I|^-1/2 exp(-zeta_i^T G_a zeta_i/2),  G_a = (S + L_a)^-1,  t_ai = G_a zeta_i
 *   M_a  = sum_i beta_ai q_ai               C_a = sum_i beta_ai q_ai t_ai
 *   V_ab = sum_ij W_ij Q_ij - M_a M_b + [a = b] s_a^2,    W = beta_a beta_b^T - [a = b] (K_a + noise)^-1
 *   Q_ij = |R|^-1/2 exp(-zeta_i^T L_a^-1 zeta_i/2 - zeta_j^T L_b^-1 zeta_j/2 + z_ij^T T z_ij/2) s_a^2 s_b^2
 *          z_ij = L_a^-1 zeta_i + L_b^-1 zeta_j,  P = L_a^-1 + L_b^-1,  R = S P + I,  T = R^-1 S
 *
 * The exponent splits into A_i + B_j + (T u_i) . w_j with u_i = L_a^-1 zeta_i, w_j = L_b^-1 zeta_j. With
 * P_ij = W_ij Q_ij,
 *   d sum/dm = R^-T sum_ij P_ij z_ij        d sum/dS = R^-T (sum_ij P_ij z_ij z_ij^T/2) R^-1 - (P R^-1)
 *     sum_ij P_ij/2
 * which need only the row sums, the column sums and sum_j P_ij w_j: forward takes them in the same sweep,
 * so that backward has no N^2 part at all. For the mean, with e = M_bar + C_bar . t (and T2, T3, T4 the
 * sums of s t, s t t, s t t t):
 *   m_bar += sum s e t - M G C_bar          S_bar += sum s e (t t^T - G)/2 - (G C_bar) C^T
 * tape, per output: G [D][D], M, C [D], T3 [D][D], T4 [D][D][D]; then per pair a <= b: dm [D], dS [D][D]. */
#include <math.h>
#include <string.h>

#include "baseline/pilco/bank_parts.h"
#include "baseline/pilco/small.h"

static size_t output_tape(const mcp_bank *b)
{
    size_t D = (size_t)b->D;
    return 2 * D * D + 1 + D + D * D * D;
}

static size_t pair_tape(const mcp_bank *b) { return (size_t)b->D + (size_t)b->D * (size_t)b->D; }
static int    pairs(const mcp_bank *b) { return b->E * (b->E + 1) / 2; }

size_t mcp_bank_tape(const mcp_bank *b)
{
    return (size_t)b->E * output_tape(b) + (size_t)pairs(b) * pair_tape(b);
}

/* One task's scratch: u, w [D][ld], g [n][D], Y [n+1][D], A, B, c [ld], r and two rows behind it [3 ld],
 * matrices, vectors. */
static size_t task_work(const mcp_bank *b)
{
    size_t ld = (size_t)b->ld, D = (size_t)b->D;
    return 4 * D * ld + 6 * ld + 6 * D * D + 5 * D;
}

size_t mcp_bank_work(const mcp_bank *b)
{
    return (size_t)(pairs(b) + b->E) * task_work(b) + (size_t)pairs(b) + (size_t)b->E;
}

typedef struct {
    const mcp_bank *b;
    const double   *m, *S;
    double         *M, *V, *C, *tape, *work;
    double         *failed; /* one flag a task */
} job;

/* Mean and input-output covariance of output a, and the sums their adjoint needs. */
static void mean_task(const job *t, int a)
{
    const mcp_bank        *b = t->b;
    const mcp_bank_output *o = &b->output[a];
    int                    D = b->D, ld = o->ld, E = b->E;
    double *G = t->tape + (size_t)a * output_tape(b), *M = G + D * D, *C = M + 1, *T3 = C + D,
           *T4 = T3 + D * D;
    double *w = t->work + (size_t)(pairs(b) + a) * task_work(b), *tt = w, *zeta = tt + D * ld,
           *s = zeta + D * ld, *p = s + ld, *scratch = p + ld, logdet;
    memcpy(G, t->S, (size_t)(D * D) * sizeof *G);
    for (int d = 0; d < D; d++) G[d * D + d] += 1 / b->inv_l2[a * D + d];
    t->failed[pairs(b) + a] = mcp_small_inverse(D, G, &logdet, scratch, NULL) != MCP_OK;
    for (int d = 0; d < D; d++) logdet += log(b->inv_l2[a * D + d]);
    for (int d = 0; d < D; d++)
        for (int j = 0; j < ld; j++) zeta[d * ld + j] = j < o->n ? o->XT[d * ld + j] - t->m[d] : 0;
    memset(s, 0, (size_t)ld * sizeof *s);
    memset(tt, 0, (size_t)(D * ld) * sizeof *tt);
    for (int d = 0; d < D; d++) {
        for (int e = 0; e < D; e++) {
            double g = 0.5 * (G[d * D + e] + G[e * D + d]);
            for (int j = 0; j < ld; j++) tt[d * ld + j] += g * zeta[e * ld + j];
        }
        for (int j = 0; j < ld; j++) s[j] += zeta[d * ld + j] * tt[d * ld + j];
    }
    for (int j = 0; j < ld; j++) s[j] = o->beta[j] * exp(b->log_s2[a] - 0.5 * logdet - 0.5 * s[j]);
    b->sums(ld, D, s, tt, p, M, C, T3, T4);
    t->M[a] = *M;
    for (int d = 0; d < D; d++) t->C[d * E + a] = C[d];
}

/* A_i = log s^2 - zeta^T u/2 + u^T T u/2 with u = il zeta; also T u as rows of g, when wanted. */
typedef struct {
    double *u, *A, *g; /* [D][ld], [ld], [n][D] or NULL */
} side;

static void fill_side(const mcp_bank_output *o, const mcp_gauss *x, const double *il, double log_s2,
                      const double *T, const side *to)
{
    const int     D = x->n;
    const double *m = x->m;
    double       *u = to->u, *A = to->A, *g = to->g;
    int ld = o->ld;
    memset(A, 0, (size_t)ld * sizeof *A);
    for (int d = 0; d < D; d++)
        for (int j = 0; j < o->n; j++) {
            double z = o->XT[d * ld + j] - m[d];
            u[d * ld + j] = il[d] * z;
            A[j] -= 0.5 * il[d] * z * z;
        }
    for (int j = 0; j < o->n; j++) {
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
    const mcp_bank        *b = t->b;
    const mcp_bank_output *oa = &b->output[a], *ob = &b->output[b2];
    int                    D = b->D, most = b->ld, la = oa->ld, lb = ob->ld;
    double *w = t->work + (size_t)k * task_work(b), *u = w, *v = u + D * most, *g = v + D * most,
           *Y = g + D * most, *A = Y + D * most + D, *B = A + most, *c = B + most, *r = c + most,
           *P = r + most, *R = P + 2 * most, *T = R + D * D, *Z = T + D * D, *tmp = Z + D * D,
           *z = tmp + 2 * D * D + D, logdet;
    double *dm = t->tape + (size_t)b->E * output_tape(b) + (size_t)k * pair_tape(b), *dS = dm + D;
    const double *ia = b->inv_l2 + a * D, *ib = b->inv_l2 + b2 * D;

    /* R^-1 and T */
    for (int d = 0; d < D; d++)
        for (int e = 0; e < D; e++) R[d * D + e] = t->S[d * D + e] * (ia[e] + ib[e]) + (d == e);
    t->failed[k] = mcp_small_inverse(D, R, &logdet, tmp, NULL) != MCP_OK;
    memset(tmp, 0, (size_t)(D * D) * sizeof *tmp);
    mcp_small_add(D, D, D, 1, R, t->S, tmp);
    for (int d = 0; d < D; d++)
        for (int e = 0; e < D; e++) T[d * D + e] = 0.5 * (tmp[d * D + e] + tmp[e * D + d]);

    /* the sweep */
    memset(v, 0, (size_t)(D * lb) * sizeof *v);
    const mcp_gauss x = {D, t->m, t->S};
    fill_side(oa, &x, ia, b->log_s2[a] - 0.5 * logdet, T, &(side){u, A, g});
    fill_side(ob, &x, ib, b->log_s2[b2], T, &(side){v, B, NULL});
    memset(c, 0, (size_t)lb * sizeof *c);
    mcp_bank_rows_args args = {
        .n = oa->n, .ld = lb, .D = D, .A = A, .B = B, .g = g, .w = v, .r = r, .c = c, .Y = Y, .P = P};
    if (a == b2) {
        args.weight = oa->W;
        args.stride = lb;
        args.upper = 1;
    } else {
        args.weight = ob->beta;
        args.factor = oa->beta;
    }
    b->rows(&args);

    /* its sums: Z = sum P z z^T/2, z = sum P z */
    double total = 0;
    memset(Z, 0, (size_t)(D * D) * sizeof *Z);
    memset(z, 0, (size_t)D * sizeof *z);
    for (int i = 0; i < oa->n; i++) {
        double f = args.factor ? args.factor[i] : 1, ri = f * r[i];
        total += ri;
        for (int d = 0; d < D; d++) {
            double ud = u[d * la + i];
            z[d] += ri * ud;
            for (int e = 0; e < D; e++)
                Z[d * D + e] +=
                    0.5 * (ri * ud * u[e * la + i] + f * (ud * Y[i * D + e] + u[e * la + i] * Y[i * D + d]));
        }
    }
    for (int j = 0; j < ob->n; j++)
        for (int d = 0; d < D; d++) {
            double vd = c[j] * v[d * lb + j];
            z[d] += vd;
            for (int e = 0; e < D; e++) Z[d * D + e] += 0.5 * vd * v[e * lb + j];
        }
    t->V[a * b->E + b2] = total; /* finished in forward */
    memset(dm, 0, pair_tape(b) * sizeof *dm);
    mcp_small_add_tn(D, D, 1, 1, R, z, dm);
    memset(tmp, 0, (size_t)(D * D) * sizeof *tmp);
    mcp_small_add(D, D, D, 1, Z, R, tmp);
    mcp_small_add_tn(D, D, D, 1, R, tmp, dS);
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

mcp_status mcp_bank_forward(const mcp_bank *b, const mcp_gauss *x, const mcp_moments *out, double *tape,
                            double *work, mcp_pool *pool, mcp_error *err)
{
    int     E = b->E, tasks = pairs(b) + E;
    double *M = out->M, *V = out->V;
    job t = {.b = b, .m = x->m, .S = x->S, .M = M, .V = V, .C = out->C, .tape = tape, .work = work};
    t.failed = work + (size_t)tasks * task_work(b);
    mcp_pool_run(pool, tasks, run_task, &t);
    for (int k = 0; k < tasks; k++)
        if (t.failed[k] != 0)
            return mcp_fail(err, MCP_ERR_NUMERIC, "moment matching: the input covariance is not finite");
    for (int a = 0; a < E; a++)
        for (int e = a; e < E; e++) {
            double v = V[a * E + e] - M[a] * M[e] + (a == e ? exp(b->log_s2[a]) : 0);
            V[a * E + e] = V[e * E + a] = v;
        }
    return MCP_OK;
}

static void mean_backward(const mcp_bank *b, int a, double M_bar, const double *C_bar, const double *tape,
                          double *m_bar, double *S_bar)
{
    int           D = b->D, E = b->E;
    const double *G = tape + (size_t)a * output_tape(b), *M = G + D * D, *C = M + 1, *T3 = C + D,
                 *T4 = T3 + D * D;
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

void mcp_bank_backward(const mcp_bank *b, const double *M, const double *M_bar, const double *V_bar,
                       const double *C_bar, const double *tape, double *m_bar, double *S_bar)
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
