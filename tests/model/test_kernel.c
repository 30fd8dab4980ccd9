/* test_kernel.c - kernels for one pair and over batches: text, values, derivatives in x and in the log
 * parameters. */
#include "model/kernel.h"

#include "math/arena.h"
#include "math/rng.h"
#include "model/kernel_batch.h"
#include "test.h"

enum { D = 5, P_MAX = 80 };

static double sq(double x) { return x * x; }

static mcp_kernel *parse(const char *text)
{
    mcp_kernel *k = NULL;
    mcp_error   e = {MCP_OK, ""};
    if (mcp_kernel_parse(&k, text, D, D, &e) != MCP_OK) FAIL_("%s: %s", text, e.text);
    return k;
}

static void fill(mcp_rand *r, int n, double scale, double *v)
{
    for (int i = 0; i < n; i++) v[i] = scale * mcp_rand_normal(r);
}

CASE(values_are_the_formulas)
{
    const double x[D] = {0.3, -1.2, 0.5, 2.0, 0.1}, z[D] = {-0.4, 0.7, 0.9, 1.5, -0.6};
    const double l0 = exp(0.2), l2 = exp(-0.3);
    double       q = sq((x[0] - z[0]) / l0) + sq((x[2] - z[2]) / l2), s2 = exp(0.8);
    const double p[3] = {0.4, 0.2, -0.3};
    mcp_kernel  *k = parse("se(0,2)");
    CHECK_CLOSE(mcp_kernel_value(k, p, x, z), s2 * exp(-q), 1e-14, 0);
    mcp_kernel_free(k);
    k = parse("matern32(0,2)");
    CHECK_CLOSE(mcp_kernel_value(k, p, x, z), s2 * (1 + sqrt(3 * q)) * exp(-sqrt(3 * q)), 1e-14, 0);
    mcp_kernel_free(k);
    k = parse("matern52(0,2)");
    CHECK_CLOSE(mcp_kernel_value(k, p, x, z), s2 * (1 + sqrt(5 * q) + 5 * q / 3) * exp(-sqrt(5 * q)), 1e-14,
                0);
    mcp_kernel_free(k);
    k = parse("rq(0,2)");
    const double pr[4] = {0.4, 0.7, 0.2, -0.3};
    CHECK_CLOSE(mcp_kernel_value(k, pr, x, z), s2 * pow(1 + q / exp(0.7), -exp(0.7)), 1e-14, 0);
    mcp_kernel_free(k);
    k = parse("periodic(1)");
    const double pp[3] = {0.4, 0.9, -0.2};
    CHECK_CLOSE(mcp_kernel_value(k, pp, x, z),
                s2 * exp(-sq(sin(M_PI * (x[1] - z[1]) / exp(0.9)) / exp(-0.2))), 1e-14, 0);
    mcp_kernel_free(k);
    k = parse("linear(1,3)");
    const double pl[2] = {0.1, -0.5};
    CHECK_CLOSE(mcp_kernel_value(k, pl, x, z), exp(0.1) * x[1] * z[1] + exp(-0.5) * x[3] * z[3], 1e-14, 0);
    mcp_kernel_free(k);
    k = parse("mp(2;1,3)");
    const double pm[6] = {-0.7, 0.1, -0.5, 0.3, -1.0, 0.2};
    CHECK_CLOSE(mcp_kernel_value(k, pm, x, z),
                (exp(-0.7) + exp(0.1) * x[1] * z[1] + exp(-0.5) * x[3] * z[3]) *
                    (exp(0.3) + exp(-1.0) * x[1] * z[1] + exp(0.2) * x[3] * z[3]),
                1e-14, 0);
    mcp_kernel_free(k);
    k = parse("se(0)*linear(1) + (linear(2) + linear(3))*linear(4)");
    const double pt[6] = {0.0, 0.1, 0.2, 0.3, 0.4, 0.5};
    CHECK_CLOSE(mcp_kernel_value(k, pt, x, z),
                exp(-sq((x[0] - z[0]) / exp(0.1))) * exp(0.2) * x[1] * z[1] +
                    (exp(0.3) * x[2] * z[2] + exp(0.4) * x[3] * z[3]) * exp(0.5) * x[4] * z[4],
                1e-14, 0);
    mcp_kernel_free(k);
}

/* Plain gradient of one kernel against central differences, in x and in every parameter. */
static void check_gradient(const mcp_kernel *k, uint64_t seed)
{
    mcp_rand r  = mcp_rand_make(seed, 0, 0, MCP_RNG_OTHER);
    int      np = mcp_kernel_params(k);
    double   p[P_MAX], x[D], z[D], dx[D] = {0}, dp[P_MAX] = {0}, h = 1e-5;
    REQUIRE(np <= P_MAX);
    fill(&r, np, 0.4, p);
    fill(&r, D, 0.8, x);
    fill(&r, D, 0.8, z);
    double v = mcp_kernel_gradient(k, p, x, z, 1.7, dx, dp);
    CHECK_CLOSE(v, mcp_kernel_value(k, p, x, z), 1e-14, 0);
    CHECK_CLOSE(v, mcp_kernel_value(k, p, z, x), 1e-13, 1e-15);
    for (int d = 0; d < D; d++) {
        double xs = x[d];
        x[d]      = xs + h;
        double up = mcp_kernel_value(k, p, x, z);
        x[d]      = xs - h;
        double dn = mcp_kernel_value(k, p, x, z);
        x[d]      = xs;
        CHECK_CLOSE(dx[d], 1.7 * (up - dn) / (2 * h), 1e-7, 1e-9 * (1 + fabs(v)));
    }
    for (int i = 0; i < np; i++) {
        double ps = p[i];
        p[i]      = ps + h;
        double up = mcp_kernel_value(k, p, x, z);
        p[i]      = ps - h;
        double dn = mcp_kernel_value(k, p, x, z);
        p[i]      = ps;
        CHECK_CLOSE(dp[i], 1.7 * (up - dn) / (2 * h), 1e-7, 1e-9 * (1 + fabs(v)));
    }
}

static const char *const bases[] = {"se",      "se(0,3)",  "matern32",    "matern52(1,2,4)",
                                    "rq",      "periodic", "periodic(2)", "linear",
                                    "pi(3,4)", "mp(1)",    "mp(2;0,1)",   "mp(3)"};
enum { BASES = sizeof bases / sizeof *bases };

/* A random tree of a few base kernels. */
static void random_tree(mcp_rand *r, int depth, char *text, size_t size)
{
    if (depth == 0 || mcp_rand_uniform(r) < 0.3) {
        snprintf(text, size, "%s", bases[(int)(mcp_rand_uniform(r) * BASES)]);
        return;
    }
    char part[400];
    random_tree(r, depth - 1, part, sizeof part);
    int n = snprintf(text, size, "(%.*s)%s(", 399, part, mcp_rand_uniform(r) < 0.5 ? " + " : "*");
    random_tree(r, depth - 1, part, sizeof part);
    snprintf(text + n, size - (size_t)n, "%s)", part);
}

CASE(gradients_of_base_kernels_match_central_differences)
{
    for (int i = 0; i < BASES; i++) {
        mcp_kernel *k = parse(bases[i]);
        REQUIRE(k);
        for (uint64_t s = 0; s < 5; s++) check_gradient(k, 10 + s);
        mcp_kernel_free(k);
    }
}

CASE(gradients_of_random_trees_match_central_differences)
{
    mcp_rand r = mcp_rand_make(3, 0, 0, MCP_RNG_OTHER);
    for (int i = 0; i < 40; i++) {
        char text[1000];
        random_tree(&r, 2, text, sizeof text);
        mcp_kernel *k = parse(text);
        REQUIRE(k);
        check_gradient(k, 100 + (uint64_t)i);
        mcp_kernel_free(k);
    }
}

static double user_value(void *user, const double *p, const double *x, const double *z)
{
    return *(double *)user * exp(p[0]) * (1 + x[1] * z[1]) + exp(p[1]) * x[0] * z[0];
}
static double user_gradient(void *user, const double *p, const double *x, const double *z, double scale,
                            double *dx, double *dp)
{
    double c = *(double *)user;
    if (dx) {
        dx[1] += scale * c * exp(p[0]) * z[1];
        dx[0] += scale * exp(p[1]) * z[0];
    }
    if (dp) {
        dp[0] += scale * c * exp(p[0]) * (1 + x[1] * z[1]);
        dp[1] += scale * exp(p[1]) * x[0] * z[0];
    }
    return user_value(user, p, x, z);
}

static mcp_kernel *user_in_a_tree(double *c)
{
    mcp_user_kernel uk = {.size = sizeof uk, .params = 2, .value = user_value, .gradient = user_gradient,
                          .user = c};
    mcp_kernel     *u = NULL, *se = parse("se(0,2) + linear(3)"), *k = NULL;
    mcp_error       e;
    if (mcp_kernel_from_user(&u, D, &uk, &e) != MCP_OK || mcp_kernel_product(&k, u, se, &e) != MCP_OK)
        FAIL_("%s", e.text);
    mcp_kernel_free(u);
    mcp_kernel_free(se);
    return k;
}

CASE(user_kernel_works_alone_and_in_a_tree)
{
    double          c  = 0.7;
    mcp_user_kernel uk = {.size = sizeof uk, .params = 2, .value = user_value, .gradient = user_gradient,
                          .user = &c};
    mcp_kernel     *k;
    REQUIRE_OK(mcp_kernel_from_user(&k, D, &uk, err));
    check_gradient(k, 5);
    mcp_kernel_free(k);
    k = user_in_a_tree(&c);
    REQUIRE(k);
    CHECK(mcp_kernel_params(k) == 2 + 3 + 1);
    check_gradient(k, 6);
    mcp_kernel_free(k);
    uk.value = NULL;
    mcp_error e;
    CHECK(mcp_kernel_from_user(&k, D, &uk, &e) == MCP_ERR_ARG && !k);
}

/* Batched values, strip adjoints in F and p, and the diagonal, against the plain reference, at one level. */
static void check_batch(const mcp_kernel *k, mcp_isa level, int nz, int n, uint64_t seed)
{
    mcp_rand r = mcp_rand_make(seed, 0, 0, MCP_RNG_OTHER);
    int      np = mcp_kernel_params(k), ld = n + MCP_LANES;
    mcp_kernel_batch *c = NULL;
    double   p[P_MAX], dp[P_MAX] = {0}, dp_ref[P_MAX] = {0};
    size_t   nzs = (size_t)nz, lds = (size_t)ld;
    void    *block;
    double  *Z = calloc(nzs * D, 8);
    fill(&r, np, 0.3, p);
    fill(&r, nz * D, 0.9, Z);
    REQUIRE_OK(mcp_kernel_batch_create(&c, k, level, nz, Z, err));
    mcp_kernel_batch_set(c, p);
    size_t tape = mcp_kernel_batch_tape(c, ld), scratch = mcp_kernel_batch_scratch(c);
    REQUIRE_OK(mcp_block_alloc(&block, (2 * D * lds + 2 * nzs * lds + tape + scratch + 3 * lds) * 8, err));
    double *F = block, *F_bar = F + D * lds, *K = F_bar + D * lds, *kbar = K + nzs * lds,
           *t = kbar + nzs * lds, *s = t + tape, *diag = s + scratch, *diag_bar = diag + lds;
    fill(&r, (int)(D * lds), 0.9, F);
    fill(&r, (int)(nzs * lds), 1.0, kbar);
    fill(&r, ld, 1.0, diag_bar);
    mcp_kernel_batch_forward(c, n, ld, F, K, t);
    mcp_kernel_batch_diagonal(c, n, ld, F, diag);
    for (int j = 0; j < n; j += MCP_LANES)
        mcp_kernel_batch_backward(c, &(mcp_kernel_strip){.j = j, .ld = ld, .K = K, .tape = t, .ldb = ld,
                                                         .kbar = kbar + j, .scratch = s, .F_bar = F_bar,
                                                         .dp = dp});
    mcp_kernel_batch_diagonal_backward(c, n, ld, F, diag_bar, F_bar);
    for (int j = 0; j < n; j++) {
        double x[D], dx[D] = {0}, scale = 0;
        for (int d = 0; d < D; d++) x[d] = F[(size_t)d * lds + (size_t)j];
        for (int z = 0; z < nz; z++) {
            double bar = kbar[(size_t)z * lds + (size_t)j];
            double v   = mcp_kernel_gradient(k, p, x, Z + z * D, bar, dx, dp_ref);
            CHECK_CLOSE(K[(size_t)z * lds + (size_t)j], v, 1e-12, 1e-13);
            scale += fabs(bar * v);
        }
        double v = mcp_kernel_gradient(k, p, x, x, 2.0 * diag_bar[j], dx, NULL);
        CHECK_CLOSE(diag[j], v, 1e-13, 0);
        for (int d = 0; d < D; d++)
            CHECK_CLOSE(F_bar[(size_t)d * lds + (size_t)j], dx[d], 1e-11,
                        1e-12 * (1 + scale + fabs(diag_bar[j] * v)));
    }
    double size = 1;
    for (int i = 0; i < np; i++) size = fmax(size, fabs(dp_ref[i]));
    for (int i = 0; i < np; i++) CHECK_CLOSE(dp[i], dp_ref[i], 1e-10, 1e-12 * size);
    mcp_kernel_batch_free(c);
    mcp_block_free(block);
    free(Z);
}

CASE(batches_equal_the_plain_kernels_at_every_level)
{
    mcp_rand r = mcp_rand_make(8, 0, 0, MCP_RNG_OTHER);
    for (mcp_isa level = MCP_ISA_BASE; level <= mcp_isa_level(); level++) {
        for (int i = 0; i < BASES; i++) {
            mcp_kernel *k = parse(bases[i]);
            check_batch(k, level, 7 + i % 3, 16, (uint64_t)i);
            mcp_kernel_free(k);
        }
        for (int i = 0; i < 20; i++) {
            char text[1000];
            random_tree(&r, 2, text, sizeof text);
            mcp_kernel *k = parse(text);
            check_batch(k, level, 5, 8, (uint64_t)i);
            mcp_kernel_free(k);
        }
        double      c = 0.7;
        mcp_kernel *k = user_in_a_tree(&c);
        check_batch(k, level, 6, 16, 4);
        mcp_kernel_free(k);
    }
}

/* More features than a register block holds, and far points whose exponential underflows. */
CASE(many_features_and_far_points_stay_right)
{
    enum { M = 21 };
    mcp_kernel *k;
    mcp_kernel_batch    *c;
    REQUIRE_OK(mcp_kernel_parse(&k, "se + linear", M, M, err));
    double p[2 * M + 1] = {0}, Z[2 * M] = {0};
    for (int d = 0; d < M; d++) {
        Z[d] = 0.1 * d;
        Z[M + d] = 100.0;
    }
    REQUIRE_OK(mcp_kernel_batch_create(&c, k, mcp_isa_level(), 2, Z, err));
    mcp_kernel_batch_set(c, p);
    void *block;
    REQUIRE_OK(mcp_block_alloc(
        &block, (2 * M * 8 + 2 * 2 * 8 + mcp_kernel_batch_tape(c, 8) + mcp_kernel_batch_scratch(c)) * 8,
        err));
    double *F = block, *F_bar = F + M * 8, *K = F_bar + M * 8, *kbar = K + 16, *t = kbar + 16;
    for (int i = 0; i < M * 8; i++) F[i] = 0.01 * i;
    for (int i = 0; i < 16; i++) kbar[i] = 1.0;
    mcp_kernel_batch_forward(c, 8, 8, F, K, t);
    mcp_kernel_strip strip = {.ld = 8, .K = K, .tape = t, .kbar = kbar, .ldb = 8,
                              .scratch = t + mcp_kernel_batch_tape(c, 8), .F_bar = F_bar};
    mcp_kernel_batch_backward(c, &strip);
    for (int j = 0; j < 8; j++) {
        double x[M], dx[M] = {0};
        for (int d = 0; d < M; d++) x[d] = F[d * 8 + j];
        for (int z = 0; z < 2; z++)
            CHECK_CLOSE(K[z * 8 + j], mcp_kernel_gradient(k, p, x, Z + z * M, 1.0, dx, NULL), 1e-12, 1e-300);
        for (int d = 0; d < M; d++) CHECK_CLOSE(F_bar[d * 8 + j], dx[d], 1e-11, 1e-12);
    }
    mcp_kernel_batch_free(c);
    mcp_block_free(block);
    mcp_kernel_free(k);
}

CASE(names_say_kernel_and_feature)
{
    mcp_kernel *k = parse("mp(2;1,4) + se(0,2) + se(3)");
    REQUIRE(k);
    CHECK(mcp_kernel_params(k) == 6 + 3 + 2);
    CHECK(!strcmp(mcp_kernel_param_name(k, 0), "mp.log_sigma2[0]"));
    CHECK(!strcmp(mcp_kernel_param_name(k, 2), "mp.log_diag[0][4]"));
    CHECK(!strcmp(mcp_kernel_param_name(k, 4), "mp.log_diag[1][1]"));
    CHECK(!strcmp(mcp_kernel_param_name(k, 6), "se.log_lambda"));
    CHECK(!strcmp(mcp_kernel_param_name(k, 8), "se.log_lengthscale[2]"));
    CHECK(!strcmp(mcp_kernel_param_name(k, 10), "se2.log_lengthscale[3]"));
    mcp_kernel_free(k);
}

CASE(text_parses_back_to_the_same_kernel)
{
    mcp_rand r = mcp_rand_make(11, 0, 0, MCP_RNG_OTHER);
    for (int i = 0; i < 50; i++) {
        char text[1000];
        random_tree(&r, 3, text, sizeof text);
        mcp_kernel *a = parse(text), *b = parse(mcp_kernel_text(a));
        REQUIRE(a && b);
        CHECK(!strcmp(mcp_kernel_text(a), mcp_kernel_text(b)));
        CHECK(mcp_kernel_params(a) == mcp_kernel_params(b));
        double p[P_MAX], x[D], z[D];
        fill(&r, mcp_kernel_params(a) < P_MAX ? mcp_kernel_params(a) : P_MAX, 0.3, p);
        fill(&r, D, 1, x);
        fill(&r, D, 1, z);
        if (mcp_kernel_params(a) <= P_MAX)
            CHECK_CLOSE(mcp_kernel_value(a, p, x, z), mcp_kernel_value(b, p, x, z), 1e-12, 0);
        mcp_kernel_free(a);
        mcp_kernel_free(b);
    }
}

CASE(defaults_leave_appended_features_out)
{
    mcp_kernel *k;
    REQUIRE_OK(mcp_kernel_parse(&k, "se + pi(3,4)", 5, 3, err));
    CHECK(!strcmp(mcp_kernel_text(k), "se(0,1,2) + pi(3,4)"));
    mcp_kernel_free(k);
}

static void refuse(const char *text, const char *where, const char *what)
{
    mcp_kernel *k = (mcp_kernel *)1;
    mcp_error   e = {MCP_OK, ""};
    CHECK(mcp_kernel_parse(&k, text, D, D, &e) == MCP_ERR_ARG);
    CHECK(k == NULL);
    CHECK_HAS(e.text, where);
    CHECK_HAS(e.text, what);
}

CASE(mistakes_in_the_text_get_column_and_expectation)
{
    refuse("", "column 1", "the end");
    refuse("sse", "column 1: found \"sse\"", "expected se, linear");
    refuse("se + ", "column 6", "expected se");
    refuse("se mp(2)", "column 4", "\"+\"");
    refuse("se(0,9)", "column 6: 9 is outside 0 .. 4", "feature index");
    refuse("se(0,", "column 6", "feature index");
    refuse("se(1,1)", "column 6", "not in the list already");
    refuse("se()", "column 4", "feature index");
    refuse("se(0 1)", "column 6", "\",\"");
    refuse("mp", "column 3", "degree");
    refuse("mp(0)", "column 4", "degree");
    refuse("mp(99)", "column 4", "degree");
    refuse("mp(2 3)", "column 6", "\";\"");
    refuse("(se + rq", "column 9", "\")\"");
    refuse("se))", "column 3", "end");
    refuse("se(99999999999999999999)", "outside", "feature");
    refuse("((((((((((((((((((((((((((((((((((((((((((((((((((((((((((se", "nested", "50");
    mcp_kernel *k;
    mcp_error   e;
    CHECK(mcp_kernel_parse(&k, "se", 0, 0, &e) == MCP_ERR_ARG);
    CHECK(mcp_kernel_parse(&k, "se", 3, 4, &e) == MCP_ERR_ARG);
    CHECK(mcp_kernel_parse(&k, NULL, 3, 3, &e) == MCP_ERR_ARG);
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(values_are_the_formulas);
    RUN(gradients_of_base_kernels_match_central_differences);
    RUN(gradients_of_random_trees_match_central_differences);
    RUN(user_kernel_works_alone_and_in_a_tree);
    RUN(batches_equal_the_plain_kernels_at_every_level);
    RUN(many_features_and_far_points_stay_right);
    RUN(names_say_kernel_and_feature);
    RUN(text_parses_back_to_the_same_kernel);
    RUN(defaults_leave_appended_features_out);
    RUN(mistakes_in_the_text_get_column_and_expectation);
    return DONE();
}
