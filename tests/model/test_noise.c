/* test_noise.c - noise that is correlated between neighbouring points: likelihood and posterior against dense
 * matrices. */
#include "math/arena.h"
#include "math/linalg.h"
#include "math/rng.h"
#include "mcpilco/gp.h"
#include "model/kernel.h"
#include "model/posterior.h"
#include "likelihood.h"
#include "test.h"

enum { D = 2, N = 45, BAND = 3, CUT = 20 }; /* two trials: points 0 .. 19 and 20 .. 44 */

static const double lags[] = {1, -0.25 / 1.04, -0.5 / 1.04, 0.25 / 1.04};

static void make(mcp_gp **gp, mcp_kernel **k, double *lag, double *X, double *y)
{
    mcp_rand  r = mcp_rand_make(3, 0, 0, MCP_RNG_OTHER);
    mcp_error e = {MCP_OK, ""};
    for (int i = 0; i < N; i++) {
        int left = i < CUT ? CUT - i : N - i;
        for (int d = 0; d < D; d++) X[i * D + d] = mcp_rand_normal(&r);
        y[i] = sin(X[i * D]) + 0.3 * X[i * D + 1] + 0.2 * mcp_rand_normal(&r);
        for (int j = 0; j <= BAND; j++) lag[i * (BAND + 1) + j] = j < left ? lags[j] : 0;
    }
    if (mcp_kernel_parse(k, "se", D, D, &e) != MCP_OK || mcp_gp_create(gp, *k, N, D, X, y, &e) != MCP_OK ||
        mcp_gp_noise_shape(*gp, BAND, lag, &e) != MCP_OK)
        FAIL_("%s", e.text);
}

/* K + s^2 R, written down entry by entry. */
static void dense(const mcp_gp *gp, const mcp_kernel *k, const double *X, double *A)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            int    apart = abs(i - j), together = (i < CUT) == (j < CUT);
            double c = apart <= BAND && together ? lags[apart] : 0;
            A[i * N + j] =
                mcp_kernel_value(k, mcp_gp_hyper(gp), X + i * D, X + j * D) + c * mcp_gp_noise_var(gp);
            if (apart <= BAND)
                CHECK_CLOSE(mcp_gp_noise_between(gp, i, j), c * mcp_gp_noise_var(gp), 1e-14, 0);
        }
}

CASE(likelihood_is_that_of_the_dense_matrix_and_its_gradient_fits)
{
    double X[N * D], y[N], lag[N * (BAND + 1)], A[N * N], a[N], g[8], h[8], value,
        sum = 0.5 * N * log(2 * M_PI);
    mcp_gp     *gp;
    mcp_kernel *k;
    make(&gp, &k, lag, X, y);
    REQUIRE_OK(mcp_gp_nlml(gp, &value, g, err));
    dense(gp, k, X, A);
    memcpy(a, y, sizeof a);
    REQUIRE_OK(mcp_cholesky(N, A, N, err));
    mcp_cholesky_solve(N, A, N, 1, a);
    for (int i = 0; i < N; i++) sum += 0.5 * y[i] * a[i] + log(A[i * N + i]);
    CHECK_CLOSE(value, sum, 1e-12, 0);
    int np = mcp_kernel_params(k) + 1;
    memcpy(h, mcp_gp_hyper(gp), (size_t)np * sizeof *h);
    difference_check differences = {likelihood_at, gp, np, 1, 1e-5, 1e-6, 1e-6 * (1 + fabs(value))};
    check_differences(&differences, h, g);
    mcp_gp_free(gp);
    mcp_kernel_free(k);
}

/* Mean and variance by solving with the dense matrix. */
static void reference(const mcp_gp *gp, const mcp_kernel *k, const double *X, const double *y,
                      const double *at, double *mean, double *var)
{
    double A[N * N], a[N], b[N];
    dense(gp, k, X, A);
    CHECK_OK(mcp_cholesky(N, A, N, err));
    for (int i = 0; i < N; i++) a[i] = b[i] = mcp_kernel_value(k, mcp_gp_hyper(gp), X + i * D, at);
    mcp_cholesky_solve(N, A, N, 1, b);
    *mean = 0;
    *var = mcp_gp_prior_var(gp, at);
    for (int i = 0; i < N; i++) {
        *mean += b[i] * y[i];
        *var -= a[i] * b[i];
    }
}

CASE(posteriors_are_that_of_the_dense_matrix)
{
    double      X[N * D], y[N], lag[N * (BAND + 1)];
    mcp_gp     *gp;
    mcp_kernel *k;
    make(&gp, &k, lag, X, y);
    const mcp_posterior_settings kinds[] = {{.type = MCP_POSTERIOR_EXACT},
                                            {.type = MCP_POSTERIOR_SPARSE, .tolerance = 0},
                                            {.type = MCP_POSTERIOR_SUBSET, .tolerance = 0}};
    for (int q = 0; q < 3; q++) {
        mcp_posterior *p;
        REQUIRE_OK(mcp_posterior_create(&p, gp, &kinds[q], mcp_isa_level(), NULL, err));
        CHECK(mcp_posterior_points(p) == N);
        double *tape = mcp_calloc(mcp_posterior_tape(p, 8) + 8, sizeof *tape), F[D * 8], mean[8], var[8];
        for (int j = 0; j < 8; j++)
            for (int d = 0; d < D; d++) F[d * 8 + j] = 0.2 * j - 0.3 * d;
        REQUIRE(tape);
        mcp_posterior_forward(p, 8, 8, F, mean, var, tape);
        for (int j = 0; j < 8; j++) {
            double at[D] = {F[j], F[8 + j]}, m, v;
            reference(gp, k, X, y, at, &m, &v);
            CHECK_CLOSE(mean[j], m, 1e-8, 1e-9);
            CHECK_CLOSE(var[j], v, 1e-7, 1e-9);
        }
        mcp_free(tape);
        mcp_posterior_free(p);
    }
    mcp_gp_free(gp);
    mcp_kernel_free(k);
}

CASE(a_known_correlation_brings_the_mean_nearer_to_the_truth)
{
    enum { M = 80 };
    double      X[M], y[M], lag[M * 4], n[M + 3], error[2] = {0, 0};
    mcp_kernel *k;
    REQUIRE_OK(mcp_kernel_parse(&k, "se", 1, 1, err));
    for (uint64_t seed = 1; seed <= 5; seed++) {
        mcp_rand r = mcp_rand_make(seed, 0, 0, MCP_RNG_OTHER);
        for (int i = 0; i < M + 3; i++) n[i] = mcp_rand_normal(&r);
        for (int i = 0; i < M; i++) {
            X[i] = 4.0 * i / M;
            y[i] = sin(2 * X[i]) +
                   0.2 * (n[i + 3] - n[i + 2] - n[i + 1] + n[i]); /* as differences of differences have it */
            for (int j = 0; j < 4; j++) lag[i * 4 + j] = i + j < M ? lags[j] : 0;
        }
        for (int shaped = 0; shaped < 2; shaped++) {
            mcp_gp         *gp;
            mcp_gp_settings s;
            double          mean[M];
            mcp_gp_settings_default(&s);
            REQUIRE_OK(mcp_gp_create(&gp, k, M, 1, X, y, err));
            if (shaped) REQUIRE_OK(mcp_gp_noise_shape(gp, 3, lag, err));
            REQUIRE_OK(mcp_gp_train(gp, &s, err));
            REQUIRE_OK(mcp_gp_predict(gp, M, X, mean, NULL, err));
            for (int i = 0; i < M; i++) error[shaped] += pow(mean[i] - sin(2 * X[i]), 2);
            mcp_gp_free(gp);
        }
    }
    CHECK(error[1] < 0.5 * error[0]); /* 5 seeds together; white noise of this size would cost at least twice
                                         the squared error */
    mcp_kernel_free(k);
}

CASE(an_impossible_correlation_is_refused_and_leaves_white_noise)
{
    double      X[N * D], y[N], lag[N * (BAND + 1)], white, again;
    mcp_gp     *gp;
    mcp_kernel *k;
    mcp_error   e = {MCP_OK, ""};
    make(&gp, &k, lag, X, y);
    REQUIRE_OK(mcp_gp_noise_shape(gp, 0, NULL, err));
    REQUIRE_OK(mcp_gp_nlml(gp, &white, NULL, err));
    for (int i = 0; i < N; i++) {
        lag[i * (BAND + 1) + 1] = 0.9;
        lag[i * (BAND + 1) + 2] = -0.9;
    }
    CHECK(mcp_gp_noise_shape(gp, BAND, lag, &e) == MCP_ERR_NUMERIC && strstr(e.text, "positive definite"));
    REQUIRE_OK(mcp_gp_nlml(gp, &again, NULL, err));
    CHECK(white == again);
    CHECK(mcp_gp_noise_shape(gp, N, lag, &e) == MCP_ERR_ARG);
    mcp_gp_free(gp);
    mcp_kernel_free(k);
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(likelihood_is_that_of_the_dense_matrix_and_its_gradient_fits);
    RUN(posteriors_are_that_of_the_dense_matrix);
    RUN(a_known_correlation_brings_the_mean_nearer_to_the_truth);
    RUN(an_impossible_correlation_is_refused_and_leaves_white_noise);
    return DONE();
}
