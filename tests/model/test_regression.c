/* test_regression.c - the gp as plain regression uses it: names, new data, kinds of posterior, joint
 * covariance, samples, and kernels of the user's own by name. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "allocations.h"
#include "mcpilco/gp.h"
#include "test.h"

enum { N = 40, M = 6, D = 2 };

static void make_data(double shift, double *X, double *y)
{
    for (int i = 0; i < N; i++) {
        X[i * D]     = 3.0 * sin(1.7 * i + shift);
        X[i * D + 1] = cos(2.9 * i);
        y[i]         = sin(X[i * D]) + 0.3 * X[i * D + 1] + 0.05 * sin(71.0 * i);
    }
}

static void make_queries(double *X)
{
    for (int i = 0; i < M * D; i++) X[i] = 1.5 * sin(5.1 * i + 0.4);
}

static mcp_gp *trained(void)
{
    double  X[N * D], y[N];
    mcp_gp *gp = NULL;
    make_data(0, X, y);
    if (mcp_gp_from_text(&gp, "se", N, D, X, y, NULL) != MCP_OK || mcp_gp_train(gp, NULL, NULL) != MCP_OK)
        abort();
    return gp;
}

CASE(hyper_parameters_have_names)
{
    mcp_gp   *gp = trained();
    double    v = 0;
    mcp_error e = {MCP_OK, ""};
    CHECK(mcp_gp_hyper_count(gp) == 4);
    CHECK(!strcmp(mcp_gp_hyper_name(gp, 0), "se.log_lambda"));
    CHECK(!strcmp(mcp_gp_hyper_name(gp, 3), "log_noise"));
    CHECK(!mcp_gp_hyper_name(gp, 4) && !mcp_gp_hyper_name(gp, -1));
    REQUIRE_OK(mcp_gp_hyper_set(gp, "se.log_lengthscale[1]", 0.25, err));
    REQUIRE_OK(mcp_gp_hyper_get(gp, "se.log_lengthscale[1]", &v, err));
    CHECK(v == 0.25 && mcp_gp_hyper(gp)[2] == 0.25);
    CHECK(mcp_gp_hyper_set(gp, "se.log_lengthscale[1]", NAN, &e) == MCP_ERR_ARG);
    CHECK(mcp_gp_hyper(gp)[2] == 0.25);
    CHECK(mcp_gp_hyper_get(gp, "lambda", &v, &e) == MCP_ERR_ARG);
    CHECK_HAS(e.text, "se.log_lambda .. log_noise");
    mcp_gp_free(gp);
}

/* A posterior that was made before must not survive. */
CASE(new_data_give_the_gp_of_those_data)
{
    double  X[N * D], y[N], at[M * D], m[2][M], v[2][M];
    mcp_gp *a = trained(), *b = NULL;
    make_queries(at);
    REQUIRE_OK(mcp_gp_predict(a, M, at, m[0], v[0], err));
    make_data(0.7, X, y);
    REQUIRE_OK(mcp_gp_set_data(a, N - 7, X, y, err));
    REQUIRE_OK(mcp_gp_from_text(&b, "se", N - 7, D, X, y, err));
    REQUIRE_OK(mcp_gp_set(b, mcp_gp_hyper(a), err));
    REQUIRE_OK(mcp_gp_predict(a, M, at, m[0], v[0], err));
    REQUIRE_OK(mcp_gp_predict(b, M, at, m[1], v[1], err));
    CHECK(!memcmp(m[0], m[1], sizeof m[0]) && !memcmp(v[0], v[1], sizeof v[0]));
    CHECK(mcp_gp_count(a) == N - 7);
    mcp_error e;
    y[3] = INFINITY;
    CHECK(mcp_gp_set_data(a, N, X, y, &e) == MCP_ERR_ARG);
    CHECK(mcp_gp_count(a) == N - 7);
    mcp_gp_free(a);
    mcp_gp_free(b);
}

CASE(sparse_prediction_is_close_and_certified)
{
    double                    at[M * D], m[2][M], v[2][M];
    mcp_gp                   *gp = trained();
    const mcp_posterior_info *info;
    make_queries(at);
    REQUIRE_OK(mcp_gp_predict(gp, M, at, m[0], v[0], err));
    REQUIRE_OK(mcp_gp_posterior_certificate(gp, &info, err));
    CHECK(info->points == N && info->residual == 0);
    REQUIRE_OK(mcp_gp_posterior(gp, MCP_POSTERIOR_SPARSE, 0.01, 0, err));
    REQUIRE_OK(mcp_gp_predict(gp, M, at, m[1], v[1], err));
    REQUIRE_OK(mcp_gp_posterior_certificate(gp, &info, err));
    CHECK(info->points < N && info->residual <= 0.01);
    double noise = sqrt(mcp_gp_noise_var(gp));
    for (int i = 0; i < M; i++) {
        CHECK_CLOSE(m[1][i], m[0][i], 0, 0.02 * noise);
        CHECK_CLOSE(sqrt(v[1][i]), sqrt(v[0][i]), 0, 0.05 * noise);
    }
    mcp_error e;
    CHECK(mcp_gp_posterior(gp, (mcp_posterior_type)7, 0.01, 0, &e) == MCP_ERR_ARG);
    CHECK(mcp_gp_posterior(gp, MCP_POSTERIOR_SPARSE, NAN, 0, &e) == MCP_ERR_ARG);
    mcp_gp_free(gp);
}

CASE(covariance_has_the_variances_on_its_diagonal)
{
    double  at[M * D], m[M], v[M], C[M * M];
    mcp_gp *gp = trained();
    make_queries(at);
    REQUIRE_OK(mcp_gp_predict(gp, M, at, m, v, err));
    REQUIRE_OK(mcp_gp_covariance(gp, M, at, C, err));
    for (int i = 0; i < M; i++) {
        CHECK_CLOSE(C[i * M + i], v[i], 1e-6, 1e-12);
        for (int j = 0; j < M; j++) CHECK(C[i * M + j] == C[j * M + i]);
    }
    /* between two points next to each other nearly the whole variance is shared */
    double pair[2 * D] = {at[0], at[1], at[0] + 1e-4, at[1]}, P[4];
    REQUIRE_OK(mcp_gp_covariance(gp, 2, pair, P, err));
    CHECK_CLOSE(P[1], P[0], 1e-2, 0);
    mcp_gp_free(gp);
}

CASE(samples_have_the_posterior_s_mean_and_covariance)
{
    enum { DRAWS = 20000 };
    double at[M * D], m[M], C[M * M], *f = mcp_calloc(DRAWS * M, sizeof *f), again[3 * M];
    mcp_gp *gp = trained();
    make_queries(at);
    REQUIRE_OK(mcp_gp_predict(gp, M, at, m, NULL, err));
    REQUIRE_OK(mcp_gp_covariance(gp, M, at, C, err));
    REQUIRE_OK(mcp_gp_sample(gp, M, at, DRAWS, 5, f, err));
    REQUIRE_OK(mcp_gp_sample(gp, M, at, 3, 5, again, err));
    CHECK(!memcmp(f, again, sizeof again));
    for (int i = 0; i < M; i++) {
        double mean = 0;
        for (int d = 0; d < DRAWS; d++) mean += f[d * M + i] / DRAWS;
        CHECK_CLOSE(mean, m[i], 0, 4 * sqrt(C[i * M + i] / DRAWS));
        for (int j = 0; j < M; j++) {
            double c = 0, scale = sqrt(C[i * M + i] * C[j * M + j]);
            for (int d = 0; d < DRAWS; d++) c += (f[d * M + i] - m[i]) * (f[d * M + j] - m[j]) / DRAWS;
            CHECK_CLOSE(c, C[i * M + j], 0, 5 * scale / sqrt(DRAWS));
        }
    }
    mcp_free(f);
    mcp_gp_free(gp);
}

/* The squared-exponential kernel as a user would write it: lambda, one length-scale for each of `user`
 * features. */
static double own_se(void *user, const double *p, const double *x, const double *z)
{
    double q = 0;
    for (int d = 0; d < *(int *)user; d++) q += pow((x[d] - z[d]) / exp(p[1 + d]), 2);
    return exp(2 * p[0] - q);
}
static double own_se_gradient(void *user, const double *p, const double *x, const double *z, double scale,
                              double *dx, double *dp)
{
    double k = own_se(user, p, x, z);
    if (dp) dp[0] += scale * 2 * k;
    for (int d = 0; d < *(int *)user; d++) {
        double w = exp(-2 * p[1 + d]), r = x[d] - z[d];
        if (dx) dx[d] -= scale * 2 * k * r * w;
        if (dp) dp[1 + d] += scale * 2 * k * r * r * w;
    }
    return k;
}

static int             both = 2, one = 1;
static mcp_user_kernel own_kernel(int *features)
{
    mcp_user_kernel k;
    mcp_user_kernel_default(&k);
    k.params   = 1 + *features;
    k.value    = own_se;
    k.gradient = own_se_gradient;
    k.user     = features;
    return k;
}

/* On the second feature alone, in a sum and in a product: likelihood, gradient and prediction as of "se". */
CASE(a_registered_kernel_reads_the_features_it_is_given)
{
    static const char *const texts[][2] = {
        {"mine", "se"},
        {"small(1)", "se(1)"},
        {"se(0) + small(1)", "se(0) + se(1)"},
        {"small(1)*se", "se(1)*se"},
        {"mine(1,0)", "se(1,0)"},
    };
    mcp_registry   *r = NULL;
    mcp_user_kernel a = own_kernel(&both), b = own_kernel(&one);
    double          X[N * D], y[N], at[M * D];
    make_data(0, X, y);
    make_queries(at);
    REQUIRE_OK(mcp_registry_create(&r, err));
    REQUIRE_OK(mcp_registry_add_kernel(r, "mine", &a, err));
    REQUIRE_OK(mcp_registry_add_kernel(r, "small", &b, err));
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        mcp_kernel *k[2];
        mcp_gp     *gp[2];
        double      m[2][M], v[2][M], nlml[2], g[2][16];
        int         n = 0;
        for (int w = 0; w < 2; w++) {
            REQUIRE_OK(mcp_kernel_parse_with(&k[w], r, texts[i][w], D, D, err));
            REQUIRE_OK(mcp_gp_create(&gp[w], k[w], N, D, X, y, err));
            n = mcp_gp_hyper_count(gp[w]);
            double hyper[16];
            for (int j = 0; j < n; j++) hyper[j] = 0.1 * sin(3.0 * j);
            hyper[n - 1] = -2;
            REQUIRE_OK(mcp_gp_set(gp[w], hyper, err));
            REQUIRE_OK(mcp_gp_nlml(gp[w], &nlml[w], g[w], err));
            REQUIRE_OK(mcp_gp_predict(gp[w], M, at, m[w], v[w], err));
        }
        CHECK_CLOSE(nlml[0], nlml[1], 1e-9, 0);
        for (int j = 0; j < n; j++) CHECK_CLOSE(g[0][j], g[1][j], 1e-7, 1e-9);
        for (int j = 0; j < M; j++) {
            CHECK_CLOSE(m[0][j], m[1][j], 1e-8, 1e-10);
            CHECK_CLOSE(v[0][j], v[1][j], 1e-6, 1e-10);
        }
        CHECK_CLOSE(mcp_gp_prior_var(gp[0], at), mcp_gp_prior_var(gp[1], at), 1e-12, 0);
        for (int w = 0; w < 2; w++) {
            mcp_gp_free(gp[w]);
            mcp_kernel_free(k[w]);
        }
    }
    mcp_kernel *k;
    REQUIRE_OK(mcp_kernel_parse_with(&k, r, "small(1) + se", D, D, err));
    CHECK(!strcmp(mcp_kernel_text(k), "small(1) + se(0,1)"));
    CHECK(!strcmp(mcp_kernel_param_name(k, 1), "small.p[1]"));
    mcp_kernel_free(k);
    mcp_registry_free(r);
}

CASE(a_registry_refuses_what_could_not_be_meant)
{
    mcp_registry   *r = NULL;
    mcp_kernel     *k;
    mcp_user_kernel good = own_kernel(&both), bad = good;
    mcp_error       e = {MCP_OK, ""};
    REQUIRE_OK(mcp_registry_create(&r, err));
    CHECK(mcp_registry_add_kernel(r, "se", &good, &e) == MCP_ERR_ARG);
    CHECK_HAS(e.text, "already");
    CHECK(mcp_registry_add_kernel(r, "my kernel", &good, &e) == MCP_ERR_ARG);
    CHECK(mcp_registry_add_kernel(r, "", &good, &e) == MCP_ERR_ARG);
    bad.gradient = NULL;
    CHECK(mcp_registry_add_kernel(r, "mine", &bad, &e) == MCP_ERR_ARG);
    CHECK_HAS(e.text, "gradient");
    bad      = good;
    bad.size = 0;
    CHECK(mcp_registry_add_kernel(r, "mine", &bad, &e) == MCP_ERR_ARG);
    CHECK_HAS(e.text, "mcp_user_kernel_default");
    CHECK(mcp_kernel_parse_with(&k, r, "mine", D, D, &e) == MCP_ERR_ARG && !k);
    REQUIRE_OK(mcp_registry_add_kernel(r, "mine", &good, err));
    CHECK(mcp_registry_add_kernel(r, "mine", &good, &e) == MCP_ERR_ARG);
    CHECK(mcp_kernel_parse(&k, "mine", D, D, &e) == MCP_ERR_ARG && !k);
    mcp_registry_free(r);
    mcp_registry_free(NULL);
}

/* A struct of an older header is shorter: what it lacks has its default, and nothing behind it is touched. */
CASE(settings_of_another_size_are_understood)
{
    struct { mcp_gp_settings s; double after; } old = {.after = 42};
    mcp_gp    *gp = trained();
    mcp_error  e = {MCP_OK, ""};
    size_t     shorter = offsetof(mcp_gp_settings, seed);
    old.s.seed = 77;
    mcp_gp_settings_init(&old.s, shorter);
    CHECK(old.s.size == shorter && old.s.restarts == 1 && old.s.seed == 77 && old.after == 42);
    REQUIRE_OK(mcp_gp_train(gp, &old.s, err));
    double first = mcp_gp_trained(gp)->nlml;
    REQUIRE_OK(mcp_gp_train(gp, NULL, err)); /* seed 1, as the shorter one has it */
    CHECK(mcp_gp_trained(gp)->nlml == first);
    mcp_gp_settings_init(&old.s, sizeof old);
    CHECK(old.s.size == sizeof old && old.after == 0 && old.s.seed == 1);
    CHECK(mcp_gp_train(gp, &old.s, &e) == MCP_ERR_ARG);
    CHECK_HAS(e.text, "mcp_gp_settings_default");
    mcp_gp_free(gp);
}

/* The first start cannot be factorised, a later one can: that is a success, from many threads too. */
static double fragile(void *user, const double *p, const double *x, const double *z)
{
    return p[0] > -0.9 ? own_se(user, p, x, z) : -5.0 * x[0] * z[0];
}
static double fragile_gradient(void *user, const double *p, const double *x, const double *z, double scale,
                               double *dx, double *dp)
{
    return p[0] > -0.9 ? own_se_gradient(user, p, x, z, scale, dx, dp) : fragile(user, p, x, z);
}

CASE(training_many_succeeds_when_each_does)
{
    double          X[N * D], y[N];
    mcp_user_kernel uk = own_kernel(&both);
    mcp_kernel     *k;
    mcp_gp         *gp[2];
    mcp_gp_settings s;
    const mcp_gp_settings *each[2] = {&s, &s};
    uk.value    = fragile;
    uk.gradient = fragile_gradient;
    make_data(0, X, y);
    mcp_gp_settings_default(&s);
    s.restarts = 8;
    REQUIRE_OK(mcp_kernel_from_user(&k, D, &uk, err));
    for (int i = 0; i < 2; i++) {
        double hyper[4] = {-1, 0, 0, -2}, nlml;
        REQUIRE_OK(mcp_gp_create(&gp[i], k, N, D, X, y, err));
        REQUIRE_OK(mcp_gp_set(gp[i], hyper, err));
        CHECK(mcp_gp_nlml(gp[i], &nlml, NULL, NULL) == MCP_ERR_NUMERIC);
    }
    s.from_present = 1;
    REQUIRE_OK(mcp_gp_train(gp[0], &s, err));
    mcp_error e = {MCP_OK, ""};
    CHECK(mcp_gp_train_all(gp + 1, 1, each, 1, &e) == MCP_OK && e.status == MCP_OK);
    for (int i = 0; i < 2; i++) mcp_gp_free(gp[i]);
    mcp_kernel_free(k);
}

static mcp_status whole_life(mcp_error *err)
{
    double                    X[N * D], y[N], at[M * D], m[M], C[M * M];
    mcp_registry             *r = NULL;
    mcp_kernel               *k = NULL;
    mcp_gp                   *gp = NULL, *own = NULL;
    mcp_user_kernel           uk = own_kernel(&both);
    const mcp_posterior_info *info;
    mcp_status                st;
    make_data(0, X, y);
    make_queries(at);
    if ((st = mcp_registry_create(&r, err)) != MCP_OK) goto done;
    if ((st = mcp_registry_add_kernel(r, "mine", &uk, err)) != MCP_OK) goto done;
    if ((st = mcp_kernel_parse_with(&k, r, "mine + se", D, D, err)) != MCP_OK) goto done;
    if ((st = mcp_gp_create(&own, k, N, D, X, y, err)) != MCP_OK) goto done;
    if ((st = mcp_gp_from_text(&gp, "se", N, D, X, y, err)) != MCP_OK) goto done;
    if ((st = mcp_gp_set_data(gp, N, X, y, err)) != MCP_OK) goto done;
    if ((st = mcp_gp_posterior(gp, MCP_POSTERIOR_SPARSE, 0.01, 0, err)) != MCP_OK) goto done;
    if ((st = mcp_gp_posterior_certificate(gp, &info, err)) != MCP_OK) goto done;
    if ((st = mcp_gp_covariance(own, M, at, C, err)) != MCP_OK) goto done;
    st = mcp_gp_sample(gp, M, at, 1, 1, m, err);
done:
    mcp_gp_free(gp);
    mcp_gp_free(own);
    mcp_kernel_free(k);
    mcp_registry_free(r);
    return st;
}

CASE(every_allocation_may_fail)
{
    check_allocations(whole_life, 1000, 30);
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(hyper_parameters_have_names);
    RUN(new_data_give_the_gp_of_those_data);
    RUN(sparse_prediction_is_close_and_certified);
    RUN(covariance_has_the_variances_on_its_diagonal);
    RUN(samples_have_the_posterior_s_mean_and_covariance);
    RUN(a_registered_kernel_reads_the_features_it_is_given);
    RUN(a_registry_refuses_what_could_not_be_meant);
    RUN(settings_of_another_size_are_understood);
    RUN(training_many_succeeds_when_each_does);
    RUN(every_allocation_may_fail);
    return DONE();
}
