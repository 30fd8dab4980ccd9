/* test_known_noise.c - the sensor's noise in second differences, known, beside white noise that is trained:
 * likelihood, weights and posteriors against N = s2 I + (r/Ts)^2 D D' written out in long double. */
#include "../long_double.h"
#include "likelihood.h"
#include "math/arena.h"
#include "math/linalg.h"
#include "math/rng.h"
#include "model/gp_parts.h"
#include "model/kernel.h"

enum { D = 2, N = 45, BAND = 3, CUT = 20 }; /* two trials: points 0 .. 19 and 20 .. 44 */

typedef struct {
    mcp_gp     *gp;
    mcp_kernel *k;
    double      X[N * D], y[N], scale; /* scale = r/Ts */
} problem;

static void make(problem *p, double scale)
{
    static const double lag[] = {6, -4, 1, 0};
    double              c[N * (BAND + 1)];
    mcp_rand            r = mcp_rand_make(3, 0, 0, MCP_RNG_OTHER);
    p->scale = scale;
    for (int i = 0; i < N; i++) {
        int left = i < CUT ? CUT - i : N - i;
        for (int d = 0; d < D; d++) p->X[i * D + d] = mcp_rand_normal(&r);
        p->y[i] = sin(p->X[i * D]) + 0.3 * p->X[i * D + 1] + scale * mcp_rand_normal(&r);
        for (int j = 0; j <= BAND; j++) c[i * (BAND + 1) + j] = j < left ? scale * scale * lag[j] : 0;
    }
    CHECK_OK(mcp_kernel_parse(&p->k, "se", D, D, err));
    CHECK_OK(mcp_gp_create(&p->gp, p->k, N, D, p->X, p->y, err));
    CHECK_OK(mcp_gp_noise_known(p->gp, BAND, c, err));
}

static void drop(problem *p)
{
    mcp_gp_free(p->gp);
    mcp_kernel_free(p->k);
}

/* Row i of the second differences of one trial's samples, two more than it has changes. */
static double second(int i, int sample)
{
    int start = i + (i < CUT ? 0 : 2); /* the second trial's samples follow the first's CUT + 2 */
    return sample == start || sample == start + 2 ? 1 : sample == start + 1 ? -2 : 0;
}

/* N, and K + N. */
static void dense(const problem *p, long double *noise, long double *A)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            long double c = i == j ? mcp_gp_noise_var(p->gp) : 0;
            for (int s = 0; s < N + 4; s++)
                c += (long double)p->scale * p->scale * second(i, s) * second(j, s);
            noise[i * N + j] = c;
            A[i * N + j] = c + mcp_kernel_value(p->k, mcp_gp_hyper(p->gp), p->X + i * D, p->X + j * D);
        }
}

static void set_noise(problem *p, double noise)
{
    CHECK_OK(mcp_gp_hyper_set(p->gp, "log_noise", log(noise), err));
}

CASE(likelihood_is_that_of_the_dense_matrix_and_its_gradient_fits)
{
    for (int k = 0; k < 3; k++) {
        static long double noise[N * N], A[N * N], a[N];
        problem            p;
        double             value, g[8], h[8];
        make(&p, 0.1);
        set_noise(&p, (const double[]){0.005, 0.1, 2.0}[k]);
        REQUIRE_OK(mcp_gp_nlml(p.gp, &value, g, err));
        dense(&p, noise, A);
        for (int i = 0; i < N; i++) {
            a[i] = p.y[i];
            for (int j = 0; j < N && j - i <= BAND; j++)
                CHECK_CLOSE(mcp_gp_noise_between(p.gp, i, j), (double)noise[i * N + j], 1e-14, 1e-17);
        }
        long double sum = 0.5L * long_solve(N, A, a) + 0.5L * N * logl(2 * acosl(-1));
        for (int i = 0; i < N; i++) sum += 0.5L * p.y[i] * a[i];
        CHECK_CLOSE(value, (double)sum, 1e-11, 0);
        int np = mcp_gp_hyper_count(p.gp);
        memcpy(h, mcp_gp_hyper(p.gp), (size_t)np * sizeof *h);
        difference_check differences = {likelihood_at, p.gp, np, 1, 1e-5, 1e-6, 1e-6 * (1 + fabs(value))};
        check_differences(&differences, h, g);
        drop(&p);
    }
}

/* N beta = y - mean at the data, beta = (K + N)^-1 y. */
CASE(what_the_mean_leaves_is_noise_times_the_weights)
{
    static long double noise[N * N], A[N * N], beta[N];
    problem            p;
    double             mean[N];
    make(&p, 0.1);
    set_noise(&p, 0.01);
    REQUIRE_OK(mcp_gp_predict(p.gp, N, p.X, mean, NULL, err));
    dense(&p, noise, A);
    for (int i = 0; i < N; i++) beta[i] = p.y[i];
    long_solve(N, A, beta);
    for (int i = 0; i < N; i++) {
        long double left = 0;
        for (int j = 0; j < N; j++) left += noise[i * N + j] * beta[j];
        CHECK_CLOSE(p.y[i] - mean[i], (double)left, 1e-9, 1e-11);
    }
    drop(&p);
}

CASE(posteriors_are_that_of_the_dense_matrix)
{
    const mcp_posterior_settings kinds[] = {{.type = MCP_POSTERIOR_EXACT},
                                            {.type = MCP_POSTERIOR_SPARSE, .tolerance = 0},
                                            {.type = MCP_POSTERIOR_SUBSET, .tolerance = 0}};
    for (int q = 0; q < 3; q++) {
        static long double noise[N * N], A[N * N], a[N], b[N];
        problem            p;
        mcp_posterior     *post;
        make(&p, 0.1);
        set_noise(&p, 0.02); /* after the shape: its factor must follow */
        REQUIRE_OK(mcp_posterior_create(&post, p.gp, &kinds[q], mcp_isa_level(), NULL, err));
        double *tape = mcp_calloc(mcp_posterior_tape(post, 8) + 8, sizeof *tape), F[D * 8], mean[8], var[8];
        for (int j = 0; j < 8; j++)
            for (int d = 0; d < D; d++) F[d * 8 + j] = 0.2 * j - 0.3 * d;
        REQUIRE(tape);
        mcp_posterior_forward(post, 8, 8, F, mean, var, tape);
        for (int j = 0; j < 8; j++) {
            double      at[D] = {F[j], F[8 + j]};
            long double m = 0, v = mcp_gp_prior_var(p.gp, at);
            dense(&p, noise, A);
            for (int i = 0; i < N; i++)
                a[i] = b[i] = mcp_kernel_value(p.k, mcp_gp_hyper(p.gp), p.X + i * D, at);
            long_solve(N, A, b);
            for (int i = 0; i < N; i++) {
                m += b[i] * p.y[i];
                v -= a[i] * b[i];
            }
            CHECK_CLOSE(mean[j], (double)m, 1e-8, 1e-9);
            CHECK_CLOSE(var[j], (double)v, 1e-7, 1e-9);
        }
        mcp_free(tape);
        mcp_posterior_free(post);
        drop(&p);
    }
}

/* Accuracies count from the noise that is there, known or not. */
CASE(white_noise_has_its_own_variance_as_level)
{
    problem p;
    make(&p, 0.1);
    set_noise(&p, 0.02);
    CHECK(mcp_noise_level(p.gp) > mcp_gp_noise_var(p.gp));
    CHECK(mcp_noise_level(p.gp) < mcp_gp_noise_between(p.gp, 0, 0));
    REQUIRE_OK(mcp_gp_noise_known(p.gp, 0, NULL, err));
    CHECK(mcp_noise_level(p.gp) == mcp_gp_noise_var(p.gp));
    CHECK(mcp_gp_noise_between(p.gp, 0, 0) == mcp_gp_noise_var(p.gp));
    drop(&p);
}

/* One datum more with noise of its own: N and alpha as if it had been there from the start. */
CASE(an_added_datum_is_one_of_the_data)
{
    problem     p;
    mcp_gp     *all = NULL;
    const double x[D] = {0.3, -0.2}, y = 0.7, more = 0.05, at[2 * D] = {0.3, -0.2, -1.0, 0.4};
    double       X[(N + 1) * D], Y[N + 1], c[(N + 1) * (BAND + 1)] = {0}, m[2], v[2], mean[2], var[2];
    make(&p, 0.1);
    memcpy(X, p.X, sizeof p.X);
    memcpy(X + N * D, x, sizeof x);
    memcpy(Y, p.y, sizeof p.y);
    Y[N] = y;
    for (int i = 0; i < N; i++)
        for (int j = 0; j <= BAND && i + j < N; j++)
            c[i * (BAND + 1) + j] =
                mcp_gp_noise_between(p.gp, i, i + j) - (j ? 0.0 : mcp_gp_noise_var(p.gp));
    c[N * (BAND + 1)] = more;
    REQUIRE_OK(mcp_gp_create(&all, p.k, N + 1, D, X, Y, err));
    REQUIRE_OK(mcp_gp_set(all, mcp_gp_hyper(p.gp), err));
    REQUIRE_OK(mcp_gp_noise_known(all, BAND, c, err));
    REQUIRE_OK(mcp_gp_add(p.gp, x, y, more, err));
    CHECK(mcp_gp_count(p.gp) == N + 1);
    CHECK_CLOSE(mcp_gp_noise_between(p.gp, N, N), mcp_gp_noise_var(p.gp) + more, 1e-15, 0);
    CHECK(mcp_gp_noise_between(p.gp, N - 1, N) == 0.0);
    CHECK_OK(mcp_gp_predict(p.gp, 2, at, m, v, err));
    CHECK_OK(mcp_gp_predict(all, 2, at, mean, var, err));
    for (int i = 0; i < 2; i++) {
        CHECK_CLOSE(m[i], mean[i], 1e-12, 1e-12);
        CHECK_CLOSE(v[i], var[i], 1e-12, 1e-12);
    }
    CHECK(mcp_gp_add(p.gp, x, y, -1.0, NULL) == MCP_ERR_ARG);
    mcp_gp_free(all);
    drop(&p);
}

/* White noise, by hand: two data of one kernel value, the second with a variance of its own. */
CASE(an_added_datum_weighs_as_its_noise_says)
{
    const double X[2] = {0.0, 0.0}, Y[2] = {1.0, 1.0}, at = 0.0;
    double       mean, var;
    mcp_gp      *gp = NULL;
    REQUIRE_OK(mcp_gp_from_text(&gp, "se", 2, 1, X, Y, err));
    const double hyper[] = {0.0, 0.0, 0.5 * log(0.5)}; /* lambda 1, noise variance 1/2 */
    REQUIRE_OK(mcp_gp_set(gp, hyper, err));
    REQUIRE_OK(mcp_gp_add(gp, &at, 5.0, 1.5, err)); /* its noise variance is 2 */
    REQUIRE_OK(mcp_gp_predict(gp, 1, &at, &mean, &var, err));
    /* precisions 2 + 2 + 1/2 of the data and 1 of the prior */
    CHECK_CLOSE(mean, (2.0 + 2.0 + 2.5) / 5.5, 1e-12, 0);
    CHECK_CLOSE(var, 1.0 / 5.5, 1e-12, 0);
    mcp_gp_free(gp);
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(likelihood_is_that_of_the_dense_matrix_and_its_gradient_fits);
    RUN(what_the_mean_leaves_is_noise_times_the_weights);
    RUN(posteriors_are_that_of_the_dense_matrix);
    RUN(white_noise_has_its_own_variance_as_level);
    RUN(an_added_datum_is_one_of_the_data);
    RUN(an_added_datum_weighs_as_its_noise_says);
    return DONE();
}
