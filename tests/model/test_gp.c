/* test_gp.c - likelihood, training and what a gp refuses. */
#include "mcpilco/gp.h"

#include "allocations.h"
#include "math/rng.h"
#include "model/posterior.h"
#include "likelihood.h"
#include "test.h"

enum { D = 3, N = 40 };

static void make_data(uint64_t seed, int n, double noise, double *X, double *y)
{
    mcp_rand r = mcp_rand_make(seed, 0, 0, MCP_RNG_OTHER);
    for (int i = 0; i < n; i++) {
        for (int d = 0; d < D; d++) X[i * D + d] = mcp_rand_normal(&r);
        y[i] = sin(1.5 * X[i * D]) + 0.5 * X[i * D + 1] + noise * mcp_rand_normal(&r);
    }
}

static mcp_kernel *parse(const char *text)
{
    mcp_kernel *k = NULL;
    mcp_error   e = {MCP_OK, ""};
    if (mcp_kernel_parse(&k, text, D, D, &e) != MCP_OK) FAIL_("%s", e.text);
    return k;
}

static const char *const kernels[] = {"se",          "se + mp(2)", "linear(0,1)*se + matern32", "matern52",
                                      "rq + linear", "periodic(0) + se(1,2)"};
enum { KERNELS = sizeof kernels / sizeof *kernels };

CASE(likelihood_gradient_matches_central_differences)
{
    double X[N * D], y[N];
    make_data(1, N, 0.1, X, y);
    for (int i = 0; i < KERNELS; i++) {
        mcp_kernel *k = parse(kernels[i]);
        mcp_gp     *gp;
        double      h[64], g[64], base;
        REQUIRE_OK(
            mcp_gp_create(&gp, k, N - i, D, X, y, err)); /* also sizes that are no multiple of the lanes */
        int np = mcp_kernel_params(k) + 1;
        memcpy(h, mcp_gp_hyper(gp), (size_t)np * sizeof *h);
        for (int j = 0; j < np; j++) h[j] += 0.1 * (j % 3 - 1);
        REQUIRE_OK(mcp_gp_set(gp, h, err));
        REQUIRE_OK(mcp_gp_nlml(gp, &base, g, err));
        difference_check differences = {likelihood_at, gp, np, 1, 1e-5, 1e-6, 1e-6 * (1 + fabs(base))};
        check_differences(&differences, h, g);
        mcp_gp_free(gp);
        mcp_kernel_free(k);
    }
}

CASE(training_finds_noise_and_a_stationary_point)
{
    enum { M = 150 };
    double      X[M * D], y[M], g[8], nlml;
    mcp_kernel *k = parse("se");
    mcp_gp     *gp;
    mcp_gp_info info;
    make_data(2, M, 0.1, X, y);
    REQUIRE_OK(mcp_gp_create(&gp, k, M, D, X, y, err));
    REQUIRE_OK(mcp_gp_train(gp, NULL, err));
    info = *mcp_gp_trained(gp);
    CHECK(info.noise_std > 0.07 && info.noise_std < 0.13);
    CHECK(info.nlml < info.nlml_start && info.evaluations > 5 && info.starts == 2);
    REQUIRE_OK(mcp_gp_nlml(gp, &nlml, g, err));
    CHECK_CLOSE(nlml, info.nlml, 1e-12, 0);
    for (int i = 0; i < 5; i++)
        if (i != 3) CHECK(fabs(g[i]) < 0.05); /* not the length-scale of a feature that does not matter: */
    CHECK(mcp_gp_hyper(gp)[3] > log(3.0));                /* that one is long, */
    CHECK(mcp_gp_hyper(gp)[3] < log(1e5));                /* and bounded       */
    double mean, var, x[D] = {0.5, -0.4, 0.3};
    REQUIRE_OK(mcp_gp_predict(gp, 1, x, &mean, &var, err));
    CHECK_CLOSE(mean, sin(0.75) - 0.2, 0, 0.1);
    CHECK(var > 0 && var < 0.01);
    mcp_gp_free(gp);
    mcp_kernel_free(k);
}

CASE(every_kernel_trains_and_does_not_get_worse)
{
    enum { M = 60 };
    double X[M * D], y[M];
    make_data(3, M, 0.1, X, y);
    for (int i = 0; i < KERNELS; i++) {
        mcp_kernel *k = parse(kernels[i]);
        mcp_gp     *gp;
        mcp_gp_info info;
        REQUIRE_OK(mcp_gp_create(&gp, k, M, D, X, y, err));
        REQUIRE_OK(mcp_gp_train(gp, NULL, err));
        info = *mcp_gp_trained(gp);
        CHECK(info.nlml < info.nlml_start);
        CHECK(info.nlml < 30.0);
        for (int j = 0; j <= mcp_kernel_params(k); j++) CHECK(fabs(mcp_gp_hyper(gp)[j]) < 25.0);
        mcp_gp_free(gp);
        mcp_kernel_free(k);
    }
}

/* Metres or millimetres, newtons or kilonewtons: the same model. */
CASE(training_does_not_depend_on_units)
{
    enum { M = 60 };
    double      X[M * D], y[M], Xs[M * D], ys[M], scale[D] = {1e3, 1e-4, 1.0};
    mcp_kernel *k = parse("se + mp(2)");
    mcp_gp     *a, *b;
    mcp_gp_info ia, ib;
    make_data(4, M, 0.1, X, y);
    for (int i = 0; i < M; i++) {
        for (int d = 0; d < D; d++) Xs[i * D + d] = X[i * D + d] * scale[d];
        ys[i] = 1e-5 * y[i];
    }
    REQUIRE_OK(mcp_gp_create(&a, k, M, D, X, y, err));
    REQUIRE_OK(mcp_gp_create(&b, k, M, D, Xs, ys, err));
    REQUIRE_OK(mcp_gp_train(a, NULL, err));
    ia = *mcp_gp_trained(a);
    REQUIRE_OK(mcp_gp_train(b, NULL, err));
    ib = *mcp_gp_trained(b);
    CHECK_CLOSE(ib.nlml, ia.nlml + M * log(1e-5), 0, 0.05);
    double x[D] = {0.3, 0.2, -0.1}, xs[D], ma, mb;
    for (int d = 0; d < D; d++) xs[d] = x[d] * scale[d];
    REQUIRE_OK(mcp_gp_predict(a, 1, x, &ma, NULL, err));
    REQUIRE_OK(mcp_gp_predict(b, 1, xs, &mb, NULL, err));
    CHECK_CLOSE(mb, 1e-5 * ma, 1e-2, 1e-7);
    mcp_gp_free(a);
    mcp_gp_free(b);
    mcp_kernel_free(k);
}

CASE(floors_and_fixed_lambda_are_kept)
{
    double          X[N * D], y[N];
    mcp_kernel     *k = parse("se");
    mcp_gp         *gp;
    mcp_gp_info     info;
    mcp_gp_settings s;
    make_data(5, N, 0.01, X, y);
    mcp_gp_settings_default(&s);
    s.noise_floor       = 0.2;
    s.lengthscale_floor = 1.5;
    s.fix_lambda        = 1;
    REQUIRE_OK(mcp_gp_create(&gp, k, N, D, X, y, err));
    REQUIRE_OK(mcp_gp_train(gp, &s, err));
    info = *mcp_gp_trained(gp);
    CHECK(info.noise_std >= 0.2 * (1 - 1e-9));
    CHECK(mcp_gp_hyper(gp)[0] == 0.0);
    for (int d = 0; d < D; d++) {
        double mean = 0, sd = 0;
        for (int i = 0; i < N; i++) mean += X[i * D + d] / N;
        for (int i = 0; i < N; i++) sd += (X[i * D + d] - mean) * (X[i * D + d] - mean) / N;
        CHECK(exp(mcp_gp_hyper(gp)[1 + d]) >= 1.5 * sqrt(sd) * (1 - 1e-9));
    }
    s.noise_floor = NAN;
    mcp_error e;
    CHECK(mcp_gp_train(gp, &s, &e) == MCP_ERR_ARG);
    CHECK_HAS(e.text, "noise_floor");
    mcp_gp_free(gp);
    mcp_kernel_free(k);
}

CASE(training_from_present_continues)
{
    double          X[N * D], y[N];
    mcp_kernel     *k = parse("se");
    mcp_gp         *gp;
    mcp_gp_info     first, again;
    mcp_gp_settings s;
    make_data(6, N, 0.1, X, y);
    mcp_gp_settings_default(&s);
    REQUIRE_OK(mcp_gp_create(&gp, k, N, D, X, y, err));
    REQUIRE_OK(mcp_gp_train(gp, &s, err));
    first = *mcp_gp_trained(gp);
    s.from_present = 1;
    s.restarts     = 0;
    REQUIRE_OK(mcp_gp_train(gp, &s, err));
    again = *mcp_gp_trained(gp);
    CHECK_CLOSE(again.nlml_start, first.nlml, 1e-9, 0);
    CHECK(again.nlml <= first.nlml + 1e-9 && again.evaluations < first.evaluations);
    mcp_gp_free(gp);
    mcp_kernel_free(k);
}

CASE(same_numbers_on_one_and_three_threads)
{
    double          X[N * D], y[3][N];
    mcp_kernel     *k = parse("se");
    mcp_gp         *a[3], *b[3];
    mcp_gp_settings s[3];
    const mcp_gp_settings *each[3] = {&s[0], &s[1], &s[2]};
    for (int i = 0; i < 3; i++) {
        make_data(7, N, 0.1, X, y[i]);
        for (int j = 0; j < N; j++) y[i][j] += i * X[j * D + 2];
        mcp_gp_settings_default(&s[i]);
        REQUIRE_OK(mcp_gp_create(&a[i], k, N, D, X, y[i], err));
        REQUIRE_OK(mcp_gp_create(&b[i], k, N, D, X, y[i], err));
    }
    REQUIRE_OK(mcp_gp_train_all(a, 3, each, 1, err));
    REQUIRE_OK(mcp_gp_train_all(b, 3, each, 3, err));
    for (int i = 0; i < 3; i++) {
        CHECK(!memcmp(mcp_gp_hyper(a[i]), mcp_gp_hyper(b[i]), (D + 2) * sizeof(double)));
        CHECK(mcp_gp_trained(b[i])->evaluations > 0);
    }
    s[1].restarts = -1;
    mcp_error e;
    CHECK(mcp_gp_train_all(a, 3, each, 2, &e) == MCP_ERR_ARG);
    CHECK_HAS(e.text, "restarts");
    for (int i = 0; i < 3; i++) {
        mcp_gp_free(a[i]);
        mcp_gp_free(b[i]);
    }
    mcp_kernel_free(k);
}

/* Trains and predicts; the model must be finite and near the data. */
static void train_sane(const char *text, const double *X, const double *y, int n, double tolerance)
{
    mcp_kernel *k = parse(text);
    mcp_gp     *gp;
    double      mean[N], var[N];
    REQUIRE_OK(mcp_gp_create(&gp, k, n, D, X, y, err));
    REQUIRE_OK(mcp_gp_train(gp, NULL, err));
    REQUIRE_OK(mcp_gp_predict(gp, n, X, mean, var, err));
    for (int i = 0; i < n; i++) {
        CHECK_CLOSE(mean[i], y[i], 0, tolerance);
        CHECK(isfinite(var[i]) && var[i] > 0);
    }
    for (int i = 0; i <= mcp_kernel_params(k); i++) CHECK(fabs(mcp_gp_hyper(gp)[i]) < 50);
    for (int type = MCP_POSTERIOR_SPARSE; type <= MCP_POSTERIOR_SUBSET; type++) {
        mcp_posterior         *p;
        mcp_posterior_info     about;
        mcp_posterior_settings s = {.type = (mcp_posterior_type)type, .tolerance = 0.01};
        REQUIRE_OK(mcp_posterior_create(&p, gp, &s, mcp_isa_level(), &about, err));
        CHECK(about.points >= 1 && about.points <= n && about.residual <= 0.01);
        mcp_posterior_free(p);
    }
    mcp_gp_free(gp);
    mcp_kernel_free(k);
}

CASE(awkward_data_give_a_sane_model)
{
    for (int i = 0; i < KERNELS; i++) {
        double X[N * D], y[N];
        make_data(8, N, 0.05, X, y);
        for (int j = 0; j < N; j++) y[j] = 3.0; /* constant targets */
        train_sane(kernels[i], X, y, N, 0.1);
        for (int j = 0; j < N; j++) y[j] = 0.0; /* all zero */
        train_sane(kernels[i], X, y, N, 1e-3);
        make_data(8, N, 0.05, X, y);
        for (int j = 0; j < N; j++) X[j * D + 2] = 7.0; /* a feature that never changes */
        train_sane(kernels[i], X, y, N, 1.0);
        for (int j = 0; j < N; j++) X[j * D + 2] = 0.0; /* and one that is always zero */
        train_sane(kernels[i], X, y, N, 1.0);
        for (int j = 0; j < N; j++) /* every input twice, or twenty times */
            for (int d = 0; d < D; d++) X[j * D + d] = X[(j % (i % 2 ? 2 : N / 2)) * D + d];
        train_sane(kernels[i], X, y, N, 10.0);
        make_data(9, 2, 0.05, X, y); /* the least there can be */
        train_sane(kernels[i], X, y, 2, 10.0);
    }
}

static void refuse(const mcp_kernel *k, int n, int features, const double *X, const double *y,
                   const char *what)
{
    mcp_gp   *gp = (mcp_gp *)1;
    mcp_error e  = {MCP_OK, ""};
    CHECK(mcp_gp_create(&gp, k, n, features, X, y, &e) == MCP_ERR_ARG);
    CHECK(gp == NULL);
    CHECK_HAS(e.text, what);
    CHECK(mcp_gp_create(&gp, k, n, features, X, y, NULL) == MCP_ERR_ARG);
}

CASE(bad_data_are_refused_with_a_sentence)
{
    double      X[N * D], y[N];
    mcp_kernel *k = parse("se");
    make_data(10, N, 0.1, X, y);
    refuse(k, 0, D, X, y, "0 data points");
    refuse(k, 1, D, X, y, "1 data points; 2 to");
    refuse(k, -3, D, X, y, "-3 data points");
    refuse(k, 100000000, D, X, y, "leave some out");
    refuse(k, N, D + 1, X, y, "4 features, the kernel was made for 3");
    refuse(NULL, N, D, X, y, "NULL");
    refuse(k, N, D, NULL, y, "NULL");
    refuse(k, N, D, X, NULL, "NULL");
    y[7] = NAN;
    refuse(k, N, D, X, y, "target 7 is nan");
    y[7] = INFINITY;
    refuse(k, N, D, X, y, "target 7 is inf");
    y[7]          = 0.0;
    X[3 * D + 2] = -INFINITY;
    refuse(k, N, D, X, y, "feature 2 of data point 3 is -inf");
    X[3 * D + 2] = 0.0;
    mcp_gp   *gp;
    mcp_error e;
    double    h[D + 2] = {0, 0, NAN, 0, 0};
    REQUIRE_OK(mcp_gp_create(&gp, k, N, D, X, y, err));
    CHECK(mcp_gp_set(gp, h, &e) == MCP_ERR_ARG);
    CHECK_HAS(e.text, "se.log_lengthscale[1]");
    mcp_gp_free(gp);
    mcp_kernel_free(k);
}

static double negative_value(void *user, const double *p, const double *x, const double *z)
{
    (void)user, (void)p;
    return -5.0 * (1.0 + x[0] * z[0]);
}
static double negative_gradient(void *user, const double *p, const double *x, const double *z, double scale,
                                double *dx, double *dp)
{
    (void)dp;
    if (dx) dx[0] -= scale * 5.0 * z[0];
    return negative_value(user, p, x, z);
}

/* A user's function that is no covariance at all. */
CASE(a_hopeless_matrix_is_an_error_not_a_crash)
{
    double          X[N * D], y[N], nlml, mean;
    mcp_user_kernel uk = {.size = sizeof uk, .params = 0, .value = negative_value,
                          .gradient = negative_gradient};
    mcp_kernel     *k;
    mcp_gp         *gp;
    mcp_posterior  *p;
    mcp_error       e = {MCP_OK, ""};
    make_data(11, N, 0.1, X, y);
    REQUIRE_OK(mcp_kernel_from_user(&k, D, &uk, err));
    REQUIRE_OK(mcp_gp_create(&gp, k, N, D, X, y, err));
    CHECK(mcp_gp_nlml(gp, &nlml, NULL, &e) == MCP_ERR_NUMERIC);
    CHECK_HAS(e.text, "cannot be factorised");
    CHECK(mcp_gp_train(gp, NULL, &e) == MCP_ERR_NUMERIC);
    CHECK(mcp_gp_predict(gp, 1, X, &mean, NULL, &e) == MCP_ERR_NUMERIC);
    mcp_posterior_settings s = {.type = MCP_POSTERIOR_SPARSE, .tolerance = 0.01};
    CHECK(mcp_posterior_create(&p, gp, &s, mcp_isa_level(), NULL, &e) == MCP_ERR_NUMERIC && !p);
    mcp_gp_free(gp);
    mcp_kernel_free(k);
}

CASE(a_gp_can_be_rebuilt_from_its_parts_to_the_bit)
{
    double      X[N * D], y[N], x[D] = {0.1, 0.2, 0.3}, m[2], v[2];
    mcp_kernel *k = parse("se + mp(2)"), *k2;
    mcp_gp     *gp, *copy;
    make_data(12, N, 0.1, X, y);
    REQUIRE_OK(mcp_gp_create(&gp, k, N, D, X, y, err));
    REQUIRE_OK(mcp_gp_train(gp, NULL, err));
    REQUIRE_OK(mcp_kernel_parse(&k2, mcp_kernel_text(mcp_gp_kernel(gp)), mcp_gp_features(gp),
                                mcp_gp_features(gp), err));
    REQUIRE_OK(mcp_gp_create(&copy, k2, mcp_gp_count(gp), mcp_gp_features(gp), mcp_gp_inputs(gp),
                             mcp_gp_targets(gp), err));
    REQUIRE_OK(mcp_gp_set(copy, mcp_gp_hyper(gp), err));
    REQUIRE_OK(mcp_gp_predict(gp, 1, x, &m[0], &v[0], err));
    REQUIRE_OK(mcp_gp_predict(copy, 1, x, &m[1], &v[1], err));
    CHECK(m[0] == m[1] && v[0] == v[1]);
    CHECK(mcp_gp_noise_var(gp) == mcp_gp_noise_var(copy));
    CHECK(mcp_gp_prior_var(gp, x) > v[0]);
    mcp_gp_free(gp);
    mcp_gp_free(copy);
    mcp_kernel_free(k);
    mcp_kernel_free(k2);
}

/* Everything a user does with a gp, in one go; returns the first status that is not MCP_OK. */
static mcp_status whole_life(mcp_error *err)
{
    double                 X[N * D], y[N], mean;
    mcp_kernel            *a = NULL, *b = NULL, *k = NULL;
    mcp_gp                *gp[2] = {NULL, NULL};
    mcp_posterior         *p = NULL, *q = NULL;
    mcp_gp_settings        t[2];
    const mcp_gp_settings *each[2] = {&t[0], &t[1]};
    mcp_posterior_settings s = {.type = MCP_POSTERIOR_SPARSE, .tolerance = 0.01},
                           u = {.type = MCP_POSTERIOR_SUBSET, .points_max = 9};
    mcp_status             st;
    make_data(13, N, 0.1, X, y);
    for (int i = 0; i < 2; i++) {
        mcp_gp_settings_default(&t[i]);
        t[i].restarts = 0;
        t[i].evaluations_max = 3;
    }
    if ((st = mcp_kernel_parse(&a, "se*rq + mp(2)", D, D, err)) != MCP_OK) goto done;
    if ((st = mcp_kernel_parse(&b, "linear(0)", D, D, err)) != MCP_OK) goto done;
    if ((st = mcp_kernel_sum(&k, a, b, err)) != MCP_OK) goto done;
    for (int i = 0; i < 2; i++)
        if ((st = mcp_gp_create(&gp[i], k, N, D, X, y, err)) != MCP_OK) goto done;
    if ((st = mcp_gp_train_all(gp, 2, each, 2, err)) != MCP_OK) goto done;
    if ((st = mcp_gp_predict(gp[0], 1, X, &mean, NULL, err)) != MCP_OK) goto done;
    if ((st = mcp_gp_nlml(gp[1], &mean, NULL, err)) != MCP_OK) goto done;
    if ((st = mcp_posterior_create(&p, gp[0], &s, mcp_isa_level(), NULL, err)) != MCP_OK) goto done;
    st = mcp_posterior_create(&q, gp[0], &u, mcp_isa_level(), NULL, err);
done:
    mcp_posterior_free(p);
    mcp_posterior_free(q);
    mcp_gp_free(gp[0]);
    mcp_gp_free(gp[1]);
    mcp_kernel_free(a);
    mcp_kernel_free(b);
    mcp_kernel_free(k);
    return st;
}

CASE(every_allocation_may_fail)
{
    check_allocations(whole_life, 2000, 50);
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(likelihood_gradient_matches_central_differences);
    RUN(training_finds_noise_and_a_stationary_point);
    RUN(every_kernel_trains_and_does_not_get_worse);
    RUN(training_does_not_depend_on_units);
    RUN(floors_and_fixed_lambda_are_kept);
    RUN(training_from_present_continues);
    RUN(same_numbers_on_one_and_three_threads);
    RUN(awkward_data_give_a_sane_model);
    RUN(bad_data_are_refused_with_a_sentence);
    RUN(a_hopeless_matrix_is_an_error_not_a_crash);
    RUN(a_gp_can_be_rebuilt_from_its_parts_to_the_bit);
    RUN(every_allocation_may_fail);
    return DONE();
}
