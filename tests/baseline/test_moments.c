/* test_moments.c - every moment against sampling or quadrature where the toolbox's numbers do not reach, and
 * every adjoint against central differences. */
#include "baseline/pilco/moments.h"

#include "math/arena.h"
#include "math/rng.h"
#include "test.h"

static mcp_rand gen;

static void fill(int n, double *v, double scale)
{
    for (int i = 0; i < n; i++) v[i] = scale * mcp_rand_normal(&gen);
}

/* Random symmetric positive definite, entries of order scale. */
static void spd(int n, double *S, double scale)
{
    double A[64];
    fill(n * n, A, 1);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            S[i * n + j] = i == j ? 0.1 * scale : 0;
            for (int k = 0; k < n; k++) S[i * n + j] += scale / n * A[i * n + k] * A[j * n + k];
        }
}

/* A function of (m, S, p) with outputs o; its adjoint of sum bar o. */
typedef struct {
    int n, outs, params;
    void (*forward)(const double *m, const double *S, const double *p, double *o);
    void (*backward)(const double *m, const double *S, const double *p, const double *bar, double *m_bar,
                     double *S_bar, double *p_bar);
} piece;

static double weighed(const piece *f, const double *m, const double *S, const double *p, const double *bar)
{
    double o[256], s = 0;
    f->forward(m, S, p, o);
    for (int i = 0; i < f->outs; i++) s += bar[i] * o[i];
    return s;
}

static void check_adjoint(const piece *f, const double *m0, const double *S0, const double *p0, double tol)
{
    double m[8], S[64], p[64], bar[256], mb[8] = {0}, Sb[64] = {0}, pb[64] = {0}, h = 1e-5;
    int    n = f->n;
    memcpy(m, m0, sizeof(double) * (size_t)n);
    memcpy(S, S0, sizeof(double) * (size_t)(n * n));
    for (int i = 0; i < f->params; i++) p[i] = p0[i];
    fill(f->outs, bar, 1);
    f->backward(m, S, p, bar, mb, Sb, pb);
    double top = 0;
    for (int i = 0; i < n * n; i++) top = fmax(top, fabs(Sb[i]));
    for (int i = 0; i < n; i++) {
        double keep = m[i];
        m[i] = keep + h;
        double up = weighed(f, m, S, p, bar);
        m[i] = keep - h;
        double down = weighed(f, m, S, p, bar);
        m[i] = keep;
        CHECK_CLOSE(mb[i], (up - down) / (2 * h), tol, tol * (1 + top));
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) { /* S stays symmetric: both entries move */
            double keep = S[i * n + j], step = h * (0.01 + fabs(keep));
            S[i * n + j] = S[j * n + i] = keep + step;
            double up = weighed(f, m, S, p, bar);
            S[i * n + j] = S[j * n + i] = keep - step;
            double down = weighed(f, m, S, p, bar);
            S[i * n + j] = S[j * n + i] = keep;
            double ours = Sb[i * n + j] + (i == j ? 0 : Sb[j * n + i]);
            CHECK_CLOSE(ours, (up - down) / (2 * step), tol, tol * (1 + top));
        }
    for (int i = 0; i < f->params; i++) {
        double keep = p[i];
        p[i] = keep + h;
        double up = weighed(f, m, S, p, bar);
        p[i] = keep - h;
        double down = weighed(f, m, S, p, bar);
        p[i] = keep;
        CHECK_CLOSE(pb[i], (up - down) / (2 * h), tol, tol * (1 + top));
    }
}

/* ---- sines and cosines: n = 4, angles 2 and 0 */
static const int angle[2] = {2, 0};
static void trig_f(const double *m, const double *S, const double *p, double *o)
{
    (void)p;
    mcp_trig_forward(&(mcp_gauss){4, m, S}, 2, angle, &(mcp_moments){o, o + 4, o + 20});
}
static void trig_b(const double *m, const double *S, const double *p, const double *bar, double *mb,
                   double *Sb, double *pb)
{
    (void)p, (void)pb;
    mcp_trig_backward(&(mcp_gauss){4, m, S}, 2, angle, &(mcp_moments_bar){bar, bar + 4, bar + 20},
                      &(mcp_gauss_bar){mb, Sb});
}
CASE(trig_backward_matches_central_difference)
{
    piece  f = {4, 36, 0, trig_f, trig_b};
    double m[4], S[16];
    fill(4, m, 2);
    spd(4, S, 0.3);
    check_adjoint(&f, m, S, NULL, 1e-8);
}

static const double amp[2] = {10, 0.5};
static void sat_f(const double *m, const double *S, const double *p, double *o)
{
    (void)p;
    mcp_sine_forward(&mcp_sine_squash, &(mcp_gauss){4, m, S}, 2, angle, amp, &(mcp_moments){o, o + 2, o + 6});
}
static void sat_b(const double *m, const double *S, const double *p, const double *bar, double *mb,
                  double *Sb, double *pb)
{
    (void)p, (void)pb;
    mcp_sine_backward(&mcp_sine_squash, &(mcp_gauss){4, m, S}, 2, angle, amp,
                      &(mcp_moments_bar){bar, bar + 2, bar + 6}, &(mcp_gauss_bar){mb, Sb});
}
CASE(squash_backward_matches_central_difference)
{
    piece  f = {4, 14, 0, sat_f, sat_b};
    double m[4], S[16];
    fill(4, m, 1);
    spd(4, S, 0.3);
    check_adjoint(&f, m, S, NULL, 1e-8);
}

/* ---- loss */
static double W[9] = {16, 8, 0, 8, 4, 0, 0, 0, 4}, z[3] = {0, 0.1, -1};
static void   loss_f(const double *m, const double *S, const double *p, double *o)
{
    double work[64];
    (void)p;
    CHECK_OK(mcp_loss_saturating(&(mcp_gauss){3, m, S}, z, W, &(mcp_loss){.mean = o}, work, err));
}
static void loss_b(const double *m, const double *S, const double *p, const double *bar, double *mb,
                   double *Sb, double *pb)
{
    double work[64], mean;
    (void)p, (void)pb;
    CHECK_OK(mcp_loss_saturating(&(mcp_gauss){3, m, S}, z, W, &(mcp_loss){&mean, NULL, mb, Sb}, work, err));
    for (int i = 0; i < 3; i++) mb[i] *= bar[0];
    for (int i = 0; i < 9; i++) Sb[i] *= bar[0];
}
CASE(loss_derivative_matches_central_difference)
{
    piece  f = {3, 1, 0, loss_f, loss_b};
    double m[3], S[9];
    fill(3, m, 0.5);
    spd(3, S, 0.05);
    check_adjoint(&f, m, S, NULL, 1e-8);
}

/* ---- network: n = 3, b = 4, o = 2; parameters w, c, log lambda */
enum { NN = 3, NB = 4, NO = 2, NP = NO * NB + NB * NN + NN };
static void net_lambda(const double *p, double *lambda)
{
    for (int d = 0; d < NN; d++) lambda[d] = exp(p[NO * NB + NB * NN + d]);
}
static void net_f(const double *m, const double *S, const double *p, double *o)
{
    double work[256], lambda[NN];
    CHECK(mcp_network_work(NN, NB) <= 256);
    net_lambda(p, lambda);
    const mcp_network net = {NN, NB, NO, p, p + NO * NB, lambda};
    CHECK_OK(mcp_network_forward(&net, &(mcp_gauss){NN, m, S},
                                 &(mcp_moments){o, o + NO, o + NO + NO * NO}, work, err));
}
static void net_b(const double *m, const double *S, const double *p, const double *bar, double *mb,
                  double *Sb, double *pb)
{
    double work[256], lambda[NN], lb[NN] = {0}, o[64];
    net_lambda(p, lambda);
    const mcp_network net = {NN, NB, NO, p, p + NO * NB, lambda};
    CHECK_OK(mcp_network_forward(&net, &(mcp_gauss){NN, m, S},
                                 &(mcp_moments){o, o + NO, o + NO + NO * NO}, work, err));
    mcp_network_backward(&net, &(mcp_gauss){NN, m, S}, o,
                         &(mcp_moments_bar){bar, bar + NO, bar + NO + NO * NO}, work,
                         &(mcp_gauss_bar){mb, Sb}, &(mcp_network_bar){pb, pb + NO * NB, lb});
    for (int d = 0; d < NN; d++) pb[NO * NB + NB * NN + d] += lb[d] * lambda[d];
}
CASE(network_backward_matches_central_difference)
{
    piece  f = {NN, NO + NO * NO + NN * NO, NP, net_f, net_b};
    double m[NN], S[NN * NN], p[NP];
    fill(NN, m, 0.5);
    spd(NN, S, 0.2);
    fill(NP, p, 1);
    check_adjoint(&f, m, S, p, 1e-8);
}

/* Means, covariances and C = S^-1 cov(x, out) of 200 000 samples. */
CASE(network_moments_agree_with_sampling)
{
    enum { SAMPLES = 200000 };
    double m[NN], S[NN * NN], p[NP], o[64], lambda[NN], L[9] = {0}, sum[NO] = {0}, sq[NO * NO] = {0},
                                                        sx[NN * NO] = {0};
    fill(NN, m, 0.3);
    spd(NN, S, 0.3);
    fill(NP, p, 0.7);
    net_f(m, S, p, o);
    net_lambda(p, lambda);
    for (int i = 0; i < NN; i++)
        for (int j = 0; j <= i; j++) {
            double s = S[i * NN + j];
            for (int k = 0; k < j; k++) s -= L[i * NN + k] * L[j * NN + k];
            L[i * NN + j] = i == j ? sqrt(s) : s / L[j * NN + j];
        }
    for (int t = 0; t < SAMPLES; t++) {
        double e[NN], x[NN], y[NO] = {0};
        fill(NN, e, 1);
        for (int i = 0; i < NN; i++) {
            x[i] = m[i];
            for (int k = 0; k <= i; k++) x[i] += L[i * NN + k] * e[k];
        }
        for (int b = 0; b < NB; b++) {
            double q = 0;
            for (int d = 0; d < NN; d++) q += pow(x[d] - p[NO * NB + b * NN + d], 2) / lambda[d];
            for (int a = 0; a < NO; a++) y[a] += p[a * NB + b] * exp(-0.5 * q);
        }
        for (int a = 0; a < NO; a++) {
            sum[a] += y[a] / SAMPLES;
            for (int b = 0; b < NO; b++) sq[a * NO + b] += y[a] * y[b] / SAMPLES;
            for (int d = 0; d < NN; d++) sx[d * NO + a] += (x[d] - m[d]) * y[a] / SAMPLES;
        }
    }
    for (int a = 0; a < NO; a++) {
        CHECK_CLOSE(o[a], sum[a], 0, 0.01);
        for (int b = 0; b < NO; b++)
            CHECK_CLOSE(o[NO + a * NO + b], sq[a * NO + b] - sum[a] * sum[b], 0, 0.01);
        for (int d = 0; d < NN; d++) {
            double cov = 0;
            for (int k = 0; k < NN; k++) cov += S[d * NN + k] * o[NO + NO * NO + k * NO + a];
            CHECK_CLOSE(cov, sx[d * NO + a], 0, 0.01);
        }
    }
}

/* ---- Gaussian processes: 21 points, 4 inputs, 3 outputs */
enum { GN = 21, GD = 4, GE = 3 };
static mcp_bank *bank;
static double   *bank_tape, *bank_scratch;
static void      bank_f(const double *m, const double *S, const double *p, double *o)
{
    (void)p;
    CHECK_OK(mcp_bank_forward(bank, &(mcp_gauss){GD, m, S}, &(mcp_moments){o, o + GE, o + GE + GE * GE},
                              bank_tape, bank_scratch, NULL, err));
}
static void bank_b(const double *m, const double *S, const double *p, const double *bar, double *mb,
                   double *Sb, double *pb)
{
    double o[64];
    (void)p, (void)pb;
    bank_f(m, S, p, o);
    mcp_bank_backward(bank, o, bar, bar + GE, bar + GE + GE * GE, bank_tape, mb, Sb);
}
static void make_bank(mcp_isa level)
{
    double X[GN * GD], Y[GE * GN], hyper[GE * (GD + 2)];
    gen = mcp_rand_make(21, 0, 0, MCP_RNG_OTHER);
    fill(GN * GD, X, 1);
    for (int i = 0; i < GN; i++)
        for (int e = 0; e < GE; e++)
            Y[e * GN + i] = sin(X[i * GD + e]) + 0.3 * X[i * GD + 3] + 0.05 * mcp_rand_normal(&gen);
    for (int e = 0; e < GE; e++) {
        for (int d = 0; d < GD; d++) hyper[e * (GD + 2) + d] = 0.3 + 0.4 * mcp_rand_uniform(&gen);
        hyper[e * (GD + 2) + GD] = 0.1 * e;
        hyper[e * (GD + 2) + GD + 1] = log(0.1);
    }
    CHECK_OK(mcp_bank_create(&bank, &(mcp_bank_data){GN, GD, GE, X, Y, hyper}, level, err));
    bank_tape = mcp_calloc(mcp_bank_tape(bank), sizeof(double));
    bank_scratch = mcp_calloc(mcp_bank_work(bank), sizeof(double));
}
static void drop_bank(void)
{
    mcp_bank_free(bank);
    mcp_free(bank_tape);
    mcp_free(bank_scratch);
}
CASE(gp_backward_matches_central_difference_at_every_level)
{
    for (int level = MCP_ISA_BASE; level <= (int)mcp_isa_level(); level++) {
        piece  f = {GD, GE + GE * GE + GD * GE, 0, bank_f, bank_b};
        double m[GD], S[GD * GD];
        make_bank((mcp_isa)level);
        fill(GD, m, 0.5);
        spd(GD, S, 0.2);
        check_adjoint(&f, m, S, NULL, 1e-7);
        drop_bank();
    }
}

/* The same functions as GPs of the library, whose kernel has no 1/2: outputs of different smoothness keep
 * different numbers of points. */
static void make_sparse_bank(double tolerance, double *noise)
{
    double      X[GN * GD], Y[GE * GN], hyper[GD + 2];
    mcp_kernel *kernel = NULL;
    mcp_gp     *gp[GE] = {NULL};
    gen = mcp_rand_make(21, 0, 0, MCP_RNG_OTHER);
    fill(GN * GD, X, 1);
    for (int i = 0; i < GN; i++)
        for (int e = 0; e < GE; e++)
            Y[e * GN + i] = sin(X[i * GD + e]) + 0.3 * X[i * GD + 3] + 0.05 * mcp_rand_normal(&gen);
    CHECK_OK(mcp_kernel_parse(&kernel, "se", GD, GD, err));
    for (int e = 0; e < GE; e++) {
        for (int d = 0; d < GD; d++) hyper[1 + d] = 0.3 + 0.4 * mcp_rand_uniform(&gen) + 0.5 * M_LN2;
        hyper[0] = 0.1 * e;
        hyper[1 + GD] = *noise = log(0.1);
        CHECK_OK(mcp_gp_create(&gp[e], kernel, GN, GD, X, Y + e * GN, err));
        CHECK_OK(mcp_gp_set(gp[e], hyper, err));
    }
    CHECK_OK(mcp_bank_create_sparse(&bank, GE, gp, tolerance, 0, mcp_isa_level(), err));
    bank_tape = mcp_calloc(mcp_bank_tape(bank), sizeof(double));
    bank_scratch = mcp_calloc(mcp_bank_work(bank), sizeof(double));
    for (int e = 0; e < GE; e++) mcp_gp_free(gp[e]);
    mcp_kernel_free(kernel);
}

CASE(gp_moments_through_inducing_points_approach_those_of_all_data)
{
    double m[GD], S[GD * GD], all[64], some[64], noise;
    int    outputs = GE + GE * GE + GD * GE;
    make_bank(mcp_isa_level());
    fill(GD, m, 0.5);
    spd(GD, S, 0.2);
    bank_f(m, S, NULL, all);
    CHECK(mcp_bank_points(bank) == GN);
    drop_bank();
    make_sparse_bank(0, &noise);
    bank_f(m, S, NULL, some);
    for (int i = 0; i < outputs; i++) CHECK_CLOSE(some[i], all[i], 1e-8, 1e-8);
    drop_bank();
    make_sparse_bank(2, &noise);
    CHECK(mcp_bank_points(bank) < GN);
    bank_f(m, S, NULL, some);
    for (int e = 0; e < GE; e++) CHECK_CLOSE(some[e], all[e], 0, exp(noise));
    piece f = {GD, outputs, 0, bank_f, bank_b};
    check_adjoint(&f, m, S, NULL, 1e-7);
    drop_bank();
}

CASE(gp_moments_are_the_same_on_several_threads)
{
    double    m[GD], S[GD * GD], a[64], b[64];
    mcp_pool *pool = NULL;
    make_bank(mcp_isa_level());
    fill(GD, m, 0.5);
    spd(GD, S, 0.2);
    bank_f(m, S, NULL, a);
    REQUIRE_OK(mcp_pool_create(&pool, 3, err));
    CHECK_OK(mcp_bank_forward(bank, &(mcp_gauss){GD, m, S}, &(mcp_moments){b, b + GE, b + GE + GE * GE},
                              bank_tape, bank_scratch, pool, err));
    CHECK(!memcmp(a, b, sizeof(double) * (GE + GE * GE + GD * GE)));
    mcp_pool_free(pool);
    drop_bank();
}

/* A certain input: mean and variance of the ordinary prediction, no covariance between outputs. */
CASE(gp_moments_of_a_certain_input_are_the_ordinary_prediction)
{
    double m[GD], S[GD * GD] = {0}, o[64];
    make_bank(mcp_isa_level());
    fill(GD, m, 0.5);
    bank_f(m, S, NULL, o);
    for (int a = 0; a < GE; a++)
        for (int b = 0; b < GE; b++)
            if (a == b) CHECK(o[GE + a * GE + a] > 0 && o[GE + a * GE + a] < exp(0.2 * a));
            else CHECK_CLOSE(o[GE + a * GE + b], 0, 0, 1e-10);
    drop_bank();
}

CASE(an_input_that_is_not_finite_is_an_error)
{
    double    m[GD] = {0}, S[GD * GD], o[64];
    mcp_error e = {MCP_OK, ""};
    for (int i = 0; i < GD * GD; i++) S[i] = NAN;
    make_bank(mcp_isa_level());
    CHECK(mcp_bank_forward(bank, &(mcp_gauss){GD, m, S}, &(mcp_moments){o, o + GE, o + GE + GE * GE},
                           bank_tape, bank_scratch, NULL, &e) == MCP_ERR_NUMERIC);
    CHECK_HAS(e.text, "not finite");
    drop_bank();
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    gen = mcp_rand_make(5, 0, 0, MCP_RNG_OTHER);
    RUN(trig_backward_matches_central_difference);
    RUN(squash_backward_matches_central_difference);
    RUN(loss_derivative_matches_central_difference);
    RUN(network_backward_matches_central_difference);
    RUN(network_moments_agree_with_sampling);
    RUN(gp_backward_matches_central_difference_at_every_level);
    RUN(gp_moments_through_inducing_points_approach_those_of_all_data);
    RUN(gp_moments_are_the_same_on_several_threads);
    RUN(gp_moments_of_a_certain_input_are_the_ordinary_prediction);
    RUN(an_input_that_is_not_finite_is_an_error);
    return DONE();
}
