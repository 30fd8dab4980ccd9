/* test_posterior.c - prediction over batches: against the textbook formulas, its adjoint against central
 * differences, lanes that do not know their neighbours, and the certified sparse posterior on cart-pole data.
 */
#include "model/posterior.h"

#include "cartpole_data.h"
#include "math/arena.h"
#include "math/linalg.h"
#include "model/kernel.h"
#include "test.h"

enum { D = 4 };

typedef struct {
    mcp_kernel *k;
    mcp_gp     *gp;
    double     *X, *y;
    int         n;
} problem;

static void fill(mcp_rand *r, int n, double scale, double *v)
{
    for (int i = 0; i < n; i++) v[i] = scale * mcp_rand_normal(r);
}

/* n random points, random hyper-parameters, noise standard deviation e^-2. */
static int make(problem *q, const char *text, int n, uint64_t seed)
{
    mcp_error e = {MCP_OK, ""};
    mcp_rand  r = mcp_rand_make(seed, 0, 0, MCP_RNG_OTHER);
    double    h[100];
    memset(q, 0, sizeof *q);
    q->n = n;
    q->X = calloc((size_t)n * D, 8);
    q->y = calloc((size_t)n, 8);
    fill(&r, n * D, 1.0, q->X);
    for (int i = 0; i < n; i++)
        q->y[i] = sin(q->X[i * D]) + 0.5 * q->X[i * D + 1] + 0.1 * mcp_rand_normal(&r);
    if (mcp_kernel_parse(&q->k, text, D, D, &e) == MCP_OK) mcp_gp_create(&q->gp, q->k, n, D, q->X, q->y, &e);
    if (!q->gp) {
        FAIL_("%s", e.text);
        return 0;
    }
    int np = mcp_kernel_params(q->k);
    fill(&r, np, 0.3, h);
    h[np] = -2.0;
    return mcp_gp_set(q->gp, h, &e) == MCP_OK;
}

static void drop(problem *q)
{
    mcp_gp_free(q->gp);
    mcp_kernel_free(q->k);
    free(q->X);
    free(q->y);
}

typedef struct {
    mcp_posterior *p;
    int            n, ld;
    void          *block;
    double        *F, *F_bar, *mean, *var, *mean_bar, *var_bar, *tape;
} batch;

static int batch_make(batch *b, mcp_posterior *p, int features, int n, int ld)
{
    size_t    l = (size_t)ld;
    mcp_error e;
    memset(b, 0, sizeof *b);
    b->p = p;
    b->n = n;
    b->ld = ld;
    if (mcp_block_alloc(&b->block, ((size_t)(2 * features) * l + 4 * l + mcp_posterior_tape(p, ld)) * 8,
                        &e) != MCP_OK)
        return 0;
    b->F        = b->block;
    b->F_bar    = b->F + (size_t)features * l;
    b->mean     = b->F_bar + (size_t)features * l;
    b->var      = b->mean + l;
    b->mean_bar = b->var + l;
    b->var_bar  = b->mean_bar + l;
    b->tape     = b->var_bar + l;
    return 1;
}

static void run(batch *b) { mcp_posterior_forward(b->p, b->n, b->ld, b->F, b->mean, b->var, b->tape); }

static const char *const kernels[] = {
    "se",   "se + mp(2)", "linear(0,1) + se(2,3)", "matern52*linear(0) + se", "rq(0,1)*periodic(2) + mp(2)",
    "mp(3)"};
enum { KERNELS = sizeof kernels / sizeof *kernels };

/* Mean and variance at x by the formulas, with the plain kernel. */
static void textbook(const problem *q, const double *x, double *mean, double *var)
{
    const double *h = mcp_gp_hyper(q->gp);
    int           n = q->n;
    double       *A = calloc((size_t)(n * n), 8), *k = calloc((size_t)n, 8), *s = calloc((size_t)n, 8);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) A[i * n + j] = mcp_kernel_value(q->k, h, q->X + i * D, q->X + j * D);
        A[i * n + i] += mcp_gp_noise_var(q->gp);
        s[i] = k[i] = mcp_kernel_value(q->k, h, x, q->X + i * D);
    }
    CHECK_OK(mcp_cholesky(n, A, n, err));
    mcp_cholesky_solve(n, A, n, 1, s);
    *mean = 0.0;
    *var  = mcp_kernel_value(q->k, h, x, x);
    for (int i = 0; i < n; i++) {
        *mean += s[i] * q->y[i];
        *var -= s[i] * k[i];
    }
    free(A), free(k), free(s);
}

CASE(exact_posterior_is_the_textbook_one_at_every_level)
{
    for (int i = 0; i < KERNELS; i++) {
        problem q;
        REQUIRE(make(&q, kernels[i], 21, 7 + (uint64_t)i));
        for (mcp_isa level = MCP_ISA_BASE; level <= mcp_isa_level(); level++) {
            mcp_posterior_settings s = {.type = MCP_POSTERIOR_EXACT};
            mcp_posterior_info     info;
            mcp_posterior         *p;
            batch                  b;
            mcp_rand               r = mcp_rand_make(9, 0, 0, MCP_RNG_OTHER);
            REQUIRE_OK(mcp_posterior_create(&p, q.gp, &s, level, &info, err));
            CHECK(info.points == 21 && mcp_posterior_points(p) == 21 && info.residual == 0.0);
            CHECK_CLOSE(mcp_posterior_noise_var(p), exp(-4.0), 1e-14, 0);
            REQUIRE(batch_make(&b, p, D, 16, 24));
            fill(&r, D * 24, 1.2, b.F);
            double m2[24], v2[24];
            run(&b);
            mcp_posterior_predict(p, 16, 24, b.F, m2, v2, b.tape);
            for (int j = 0; j < 16; j++) {
                double x[D], mean, var;
                for (int d = 0; d < D; d++) x[d] = b.F[d * 24 + j];
                textbook(&q, x, &mean, &var);
                CHECK(m2[j] == b.mean[j]);
                CHECK_CLOSE(v2[j], var, 1e-10, 1e-11);
                CHECK_CLOSE(b.mean[j], mean, 1e-10, 1e-11);
                CHECK_CLOSE(b.var[j], var, 1e-10, 1e-11);
                double m1, v1;
                CHECK_OK(mcp_gp_predict(q.gp, 1, x, &m1, &v1, err));
                CHECK_CLOSE(m1, mean, 1e-10, 1e-11);
                CHECK_CLOSE(v1, var, 1e-10, 1e-11);
            }
            mcp_block_free(b.block);
            mcp_posterior_free(p);
        }
        drop(&q);
    }
}

static double objective(batch *b)
{
    double sum = 0.0;
    run(b);
    for (int j = 0; j < b->n; j++) sum += b->mean_bar[j] * b->mean[j] + b->var_bar[j] * b->var[j];
    return sum;
}

static void check_backward(batch *b, int times)
{
    for (int e = 0; e < D * 8; e++) {
        double x = b->F[e], h = 1e-5;
        b->F[e]    = x + h;
        double up = objective(b);
        b->F[e]    = x - h;
        double dn = objective(b);
        b->F[e]    = x;
        CHECK_CLOSE(b->F_bar[e] / times, (up - dn) / (2 * h), 1e-6, 1e-7);
    }
}

CASE(backward_matches_central_differences_for_every_posterior)
{
    for (int i = 0; i < KERNELS; i++)
        for (int type = MCP_POSTERIOR_EXACT; type <= MCP_POSTERIOR_SUBSET; type++) {
            problem                q;
            mcp_posterior         *p;
            batch                  b;
            mcp_rand               r = mcp_rand_make(19, 0, 0, MCP_RNG_OTHER);
            mcp_posterior_settings s = {.type = (mcp_posterior_type)type, .tolerance = 1.0, .points_max = 15};
            REQUIRE(make(&q, kernels[i], 25, 70 + (uint64_t)i));
            REQUIRE_OK(mcp_posterior_create(&p, q.gp, &s, mcp_isa_level(), NULL, err));
            REQUIRE(batch_make(&b, p, D, 8, 8));
            fill(&r, D * 8, 0.8, b.F);
            fill(&r, 8, 1.0, b.mean_bar);
            fill(&r, 8, 1.0, b.var_bar);
            run(&b);
            for (int again = 0; again < 2; again++) { /* adds, and can be called twice on one tape */
                mcp_posterior_backward(p, 8, 8, b.F, b.mean_bar, b.var_bar, b.tape, b.F_bar);
            }
            check_backward(&b, 2);
            mcp_block_free(b.block);
            mcp_posterior_free(p);
            drop(&q);
        }
}

/* More points for the mean than for the variance: values against the two sums written out, and the adjoint.
 */
CASE(points_of_the_mean_alone_leave_the_variance_as_it_is)
{
    problem                q;
    mcp_posterior         *p, *few;
    batch                  b, c;
    mcp_posterior_info     info;
    mcp_rand               r = mcp_rand_make(23, 0, 0, MCP_RNG_OTHER);
    mcp_posterior_settings s = {.type = MCP_POSTERIOR_SPARSE, .tolerance = 0.5, .accuracy = 0.01};
    double                 h[D + 2] = {0.0};
    for (int d = 0; d < D; d++) h[1 + d] = 1.5;
    h[D + 1] = -2.0;
    REQUIRE(make(&q, "se", 60, 5));
    REQUIRE_OK(mcp_gp_set(q.gp, h, err));
    REQUIRE_OK(mcp_posterior_create(&p, q.gp, &s, mcp_isa_level(), &info, err));
    REQUIRE(info.variance_points < info.points && info.points < 60);
    CHECK(info.mean_error >= 0.0 && info.mean_error <= 0.01 && info.std_error >= 0.0 &&
          info.std_error <= 0.15);
    CHECK(mcp_posterior_variance_points(p) == info.variance_points && mcp_posterior_points(p) == info.points);
    s.points_max = info.variance_points;
    REQUIRE_OK(mcp_posterior_create(&few, q.gp, &s, mcp_isa_level(), &info, err));
    CHECK(info.points == info.variance_points);
    REQUIRE(batch_make(&b, p, D, 8, 8));
    REQUIRE(batch_make(&c, few, D, 8, 8));
    fill(&r, D * 8, 0.8, b.F);
    memcpy(c.F, b.F, D * 8 * sizeof *b.F);
    fill(&r, 8, 1.0, b.mean_bar);
    fill(&r, 8, 1.0, b.var_bar);
    run(&b);
    run(&c);
    double other = 0.0;
    for (int j = 0; j < 8; j++) {
        CHECK(b.var[j] == c.var[j]);
        other = fmax(other, fabs(b.mean[j] - c.mean[j]));
    }
    CHECK(other > 0.0);
    mcp_posterior_backward(p, 8, 8, b.F, b.mean_bar, b.var_bar, b.tape, b.F_bar);
    check_backward(&b, 1);
    mcp_block_free(b.block);
    mcp_block_free(c.block);
    mcp_posterior_free(p);
    mcp_posterior_free(few);
    drop(&q);
}

/* A tolerance above the prior variance asks for nothing: one point is left, and no error. */
CASE(a_tolerance_above_the_prior_variance_leaves_one_point)
{
    problem                q;
    mcp_posterior         *p;
    mcp_posterior_info     info;
    mcp_posterior_settings s = {.type = MCP_POSTERIOR_SPARSE, .tolerance = 1e6};
    REQUIRE(make(&q, "se", 30, 5));
    REQUIRE_OK(mcp_posterior_create(&p, q.gp, &s, mcp_isa_level(), &info, err));
    CHECK(info.points == 1 && info.residual > 0.0 && info.residual <= 1e6);
    mcp_posterior_free(p);
    drop(&q);
}

/* Same bits in a batch of 8 at lane 3 and in a batch of 24 at lane 17, values and gradients. */
CASE(a_lane_does_not_depend_on_its_batch)
{
    for (int i = 0; i < KERNELS; i++)
        for (mcp_isa level = MCP_ISA_BASE; level <= mcp_isa_level(); level++) {
            problem                q;
            mcp_posterior         *p;
            batch                  a, b;
            mcp_rand               r = mcp_rand_make(29, 0, 0, MCP_RNG_OTHER);
            mcp_posterior_settings s = {.type = MCP_POSTERIOR_EXACT};
            REQUIRE(make(&q, kernels[i], 23, 40 + (uint64_t)i));
            REQUIRE_OK(mcp_posterior_create(&p, q.gp, &s, level, NULL, err));
            REQUIRE(batch_make(&a, p, D, 8, 8) && batch_make(&b, p, D, 24, 40));
            fill(&r, D * 8, 1.0, a.F);
            fill(&r, D * 40, 1.0, b.F);
            for (int d = 0; d < D; d++) b.F[d * 40 + 17] = a.F[d * 8 + 3];
            for (int j = 0; j < 8; j++) {
                a.mean_bar[j] = 0.7;
                a.var_bar[j] = -0.3;
            }
            for (int j = 0; j < 24; j++) {
                b.mean_bar[j] = 0.7;
                b.var_bar[j] = -0.3;
            }
            run(&a);
            run(&b);
            mcp_posterior_backward(p, 8, 8, a.F, a.mean_bar, a.var_bar, a.tape, a.F_bar);
            mcp_posterior_backward(p, 24, 40, b.F, b.mean_bar, b.var_bar, b.tape, b.F_bar);
            CHECK(a.mean[3] == b.mean[17]);
            CHECK(a.var[3] == b.var[17]);
            for (int d = 0; d < D; d++) CHECK(a.F_bar[d * 8 + 3] == b.F_bar[d * 40 + 17]);
            mcp_block_free(a.block);
            mcp_block_free(b.block);
            mcp_posterior_free(p);
            drop(&q);
        }
}

CASE(variance_is_clamped_and_its_derivative_zero_there)
{
    problem q;
    REQUIRE(make(&q, "se", 6, 3));
    double h[D + 2] = {0, 0, 0, 0, 0, -20.0};
    REQUIRE_OK(mcp_gp_set(q.gp, h, err));
    mcp_posterior         *p;
    mcp_posterior_settings s = {.type = MCP_POSTERIOR_EXACT};
    batch                  b;
    REQUIRE_OK(mcp_posterior_create(&p, q.gp, &s, mcp_isa_level(), NULL, err));
    REQUIRE(batch_make(&b, p, D, 8, 8));
    for (int d = 0; d < D; d++)
        for (int j = 0; j < 8; j++) b.F[d * 8 + j] = q.X[d]; /* at the first data point, known to e^-20 */
    for (int j = 0; j < 8; j++) b.var_bar[j] = 1.0;
    run(&b);
    mcp_posterior_backward(p, 8, 8, b.F, b.mean_bar, b.var_bar, b.tape, b.F_bar);
    CHECK_CLOSE(b.var[0], 1e-5 * exp(-40.0), 1e-6, 0);
    for (int d = 0; d < D; d++) CHECK(b.F_bar[d * 8] == 0.0);
    b.F[0] = NAN;
    run(&b);
    CHECK(isnan(b.mean[0]) && isnan(b.var[0]));
    CHECK(isfinite(b.mean[1]) && isfinite(b.var[1]));
    mcp_block_free(b.block);
    mcp_posterior_free(p);
    drop(&q);
}

CASE(sparse_with_all_points_is_exact)
{
    for (int i = 0; i < KERNELS; i++) {
        problem                q;
        mcp_posterior         *p[2];
        batch                  b[2];
        mcp_posterior_info     info;
        mcp_posterior_settings s[2] = {{.type = MCP_POSTERIOR_EXACT},
                                       {.type = MCP_POSTERIOR_SPARSE, .tolerance = 0.0}};
        REQUIRE(make(&q, kernels[i], 40, 90 + (uint64_t)i));
        for (int w = 0; w < 2; w++) {
            mcp_rand r = mcp_rand_make(2, 0, 0, MCP_RNG_OTHER);
            REQUIRE_OK(mcp_posterior_create(&p[w], q.gp, &s[w], mcp_isa_level(), &info, err));
            REQUIRE(batch_make(&b[w], p[w], D, 16, 16));
            fill(&r, D * 16, 1.0, b[w].F);
            run(&b[w]);
        }
        CHECK(info.residual * mcp_gp_noise_var(q.gp) < 1e-11);
        for (int j = 0; j < 16; j++) {
            CHECK_CLOSE(b[0].mean[j], b[1].mean[j], 1e-9, 1e-10);
            CHECK_CLOSE(b[0].var[j], b[1].var[j], 1e-9, 1e-10);
        }
        for (int w = 0; w < 2; w++) {
            mcp_block_free(b[w].block);
            mcp_posterior_free(p[w]);
        }
        drop(&q);
    }
}

/* A finite number of features needs as many points, whatever the data: linear(0,1) has rank 2. */
CASE(greedy_choice_finds_the_rank)
{
    problem                q;
    mcp_posterior         *p;
    mcp_posterior_info     info;
    mcp_posterior_settings s = {.type = MCP_POSTERIOR_SPARSE, .tolerance = 1e-6};
    REQUIRE(make(&q, "linear(0,1)", 30, 5));
    REQUIRE_OK(mcp_posterior_create(&p, q.gp, &s, mcp_isa_level(), &info, err));
    CHECK(info.points == 2);
    CHECK(info.residual <= 1e-6);
    mcp_posterior_free(p);
    s.tolerance  = 0.0;
    s.points_max = 1;
    REQUIRE_OK(mcp_posterior_create(&p, q.gp, &s, mcp_isa_level(), &info, err));
    CHECK(info.points == 1 && info.residual > 0.0);
    mcp_posterior_free(p);
    s.tolerance = -1.0;
    mcp_error e;
    CHECK(mcp_posterior_create(&p, q.gp, &s, mcp_isa_level(), &info, &e) == MCP_ERR_ARG && !p);
    drop(&q);
}

/* Five trials, trained: at 1 % of the noise variance at most 130 points; on fresh trials mean and standard
 * deviation are within 1 % of the noise standard deviation of the exact ones. */
CASE(sparse_posterior_keeps_its_promise_on_cart_pole_data)
{
    enum { N = 450, FRESH = 360 };
    static double X[N * CP_FEATURES], y[2][N], Xf[FRESH * CP_FEATURES], yf[2][FRESH];
    mcp_kernel   *k;
    cp_data(4, N, 0.02, X, y[0], y[1]);
    cp_data(77, FRESH, 0.0, Xf, yf[0], yf[1]);
    REQUIRE_OK(mcp_kernel_parse(&k, "se", CP_FEATURES, CP_FEATURES, err));
    for (int target = 0; target < 2; target++) {
        mcp_gp         *gp;
        mcp_gp_settings t;
        mcp_gp_settings_default(&t);
        t.restarts = 0;
        REQUIRE_OK(mcp_gp_create(&gp, k, N, CP_FEATURES, X, y[target], err));
        REQUIRE_OK(mcp_gp_train(gp, &t, err));
        double noise = sqrt(mcp_gp_noise_var(gp)), worst_mean = 0, worst_std = 0;
        CHECK(noise > 0.015 && noise < 0.03);
        mcp_posterior         *p[2];
        batch                  b[2];
        mcp_posterior_info     info[2];
        mcp_posterior_settings s[2] = {{.type = MCP_POSTERIOR_EXACT},
                                       {.type = MCP_POSTERIOR_SPARSE, .tolerance = 0.01}};
        for (int w = 0; w < 2; w++) {
            REQUIRE_OK(mcp_posterior_create(&p[w], gp, &s[w], mcp_isa_level(), &info[w], err));
            REQUIRE(batch_make(&b[w], p[w], CP_FEATURES, FRESH, FRESH));
            for (int j = 0; j < FRESH; j++)
                for (int d = 0; d < CP_FEATURES; d++) b[w].F[d * FRESH + j] = Xf[j * CP_FEATURES + d];
            run(&b[w]);
        }
        for (int j = 0; j < FRESH; j++) {
            worst_mean = fmax(worst_mean, fabs(b[0].mean[j] - b[1].mean[j]) / noise);
            worst_std  = fmax(worst_std, fabs(sqrt(b[0].var[j]) - sqrt(b[1].var[j])) / noise);
        }
        printf("     target %d: %d of %d points, residual %.3g, noise %.3g, mean off by %.2g, std by %.2g of "
               "the noise std\n",
               target, info[1].points, N, info[1].residual, noise, worst_mean, worst_std);
        CHECK(info[1].points <= 130);
        CHECK(info[1].residual <= 0.01);
        CHECK(worst_mean <= 0.01);
        CHECK(worst_std <= 0.01);
        for (int w = 0; w < 2; w++) {
            mcp_block_free(b[w].block);
            mcp_posterior_free(p[w]);
        }
        mcp_gp_free(gp);
    }
    mcp_kernel_free(k);
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(exact_posterior_is_the_textbook_one_at_every_level);
    RUN(backward_matches_central_differences_for_every_posterior);
    RUN(points_of_the_mean_alone_leave_the_variance_as_it_is);
    RUN(a_tolerance_above_the_prior_variance_leaves_one_point);
    RUN(a_lane_does_not_depend_on_its_batch);
    RUN(variance_is_clamped_and_its_derivative_zero_there);
    RUN(sparse_with_all_points_is_exact);
    RUN(greedy_choice_finds_the_rank);
    RUN(sparse_posterior_keeps_its_promise_on_cart_pole_data);
    return DONE();
}
