/* test_precision.c - the variance and its derivative where the signal is far above the noise: near-linear
 * data of a positioning stage with an excellent sensor, against the textbook formulas in long double. */
#include "math/arena.h"
#include "math/rng.h"
#include "model/posterior.h"
#include "test.h"

enum { D = 3, N = 90, Q = 24 };

typedef struct {
    double X[N * D], y[N], x[Q * D]; /* data; queries between them */
    double h[D + 2];
} problem;

/* Position, velocity and input of a stage that moves smoothly; the change of velocity is nearly linear in
 * them, so the length-scales are far beyond their range. Queries lie between neighbouring data, and a little
 * aside. */
static void make(problem *p, double ratio)
{
    mcp_rand r = mcp_rand_make(4, 0, 0, MCP_RNG_OTHER);
    double   position = 0.0, velocity = 0.0;
    for (int i = 0; i < N; i++) {
        double u = sin(0.21 * i) + 0.6 * sin(0.53 * i + 1.0) + 0.3 * mcp_rand_normal(&r);
        double change = 0.1 * (u - 0.4 * velocity - 0.8 * position);
        p->X[i * D] = position;
        p->X[i * D + 1] = velocity;
        p->X[i * D + 2] = u;
        p->y[i] = change;
        position += 0.1 * velocity;
        velocity += change;
    }
    for (int i = 0; i < Q; i++)
        for (int d = 0; d < D; d++) {
            const double *a = p->X + (3 * i) * D, *b = a + D;
            p->x[i * D + d] = 0.5 * (a[d] + b[d]) + 0.05 * mcp_rand_normal(&r);
        }
    p->h[0] = 0.0;
    for (int d = 0; d < D; d++) p->h[1 + d] = log(8.0);
    p->h[1 + D] = -0.5 * log(ratio); /* (lambda/s)^2 = ratio */
}

/* Standard deviation at x and its derivative, all in long double. */
static void reference(const problem *p, const double *x, long double *std, long double *slope)
{
    static long double L[N][N], k[N], v[N];
    long double        l = expl((long double)p->h[1]), s2 = expl(2.0L * (long double)p->h[1 + D]), var = 1.0L;
    for (int i = 0; i < N; i++)
        for (int j = 0; j <= i + 1; j++) { /* column i+1: the query */
            const double *a = p->X + i * D, *b = j <= i ? p->X + j * D : x;
            long double   q = 0.0L;
            for (int d = 0; d < D; d++) q += powl(((long double)a[d] - (long double)b[d]) / l, 2);
            if (j <= i) L[i][j] = expl(-q) + (i == j ? s2 : 0.0L);
            else k[i] = expl(-q);
        }
    for (int i = 0; i < N; i++)
        for (int j = 0; j <= i; j++) {
            for (int t = 0; t < j; t++) L[i][j] -= L[i][t] * L[j][t];
            L[i][j] = i == j ? sqrtl(L[i][j]) : L[i][j] / L[j][j];
        }
    for (int i = 0; i < N; i++) {
        v[i] = k[i];
        for (int t = 0; t < i; t++) v[i] -= L[i][t] * v[t];
        v[i] /= L[i][i];
        var -= v[i] * v[i];
    }
    for (int i = N - 1; i >= 0; i--) {
        for (int t = i + 1; t < N; t++) v[i] -= L[t][i] * v[t];
        v[i] /= L[i][i];
    }
    *std = sqrtl(var);
    for (int d = 0; d < D; d++) {
        slope[d] = 0.0L;
        for (int i = 0; i < N; i++) {
            long double away = (long double)x[d] - (long double)p->X[i * D + d];
            slope[d] += 2.0L * v[i] * k[i] * away / (l * l) / *std;
        }
    }
}

/* Largest errors of the standard deviation and of its slope (times the data's range, about 1), in noise
 * standard deviations. */
static void errors(const problem *p, mcp_posterior_type type, double *std_error, double *slope_error)
{
    mcp_kernel            *k;
    mcp_gp                *gp;
    mcp_posterior         *post;
    mcp_posterior_settings s = {.type = type};
    double                 F[D * Q], mean[Q], var[Q], mean_bar[Q] = {0}, var_bar[Q], F_bar[D * Q] = {0};
    void                  *tape;
    *std_error = *slope_error = INFINITY;
    REQUIRE_OK(mcp_kernel_parse(&k, "se", D, D, err));
    REQUIRE_OK(mcp_gp_create(&gp, k, N, D, p->X, p->y, err));
    REQUIRE_OK(mcp_gp_set(gp, p->h, err));
    REQUIRE_OK(mcp_posterior_create(&post, gp, &s, mcp_isa_level(), NULL, err));
    REQUIRE_OK(mcp_block_alloc(&tape, mcp_posterior_tape(post, Q) * sizeof(double), err));
    for (int j = 0; j < Q; j++)
        for (int d = 0; d < D; d++) F[d * Q + j] = p->x[j * D + d];
    mcp_posterior_forward(post, Q, Q, F, mean, var, tape);
    for (int j = 0; j < Q; j++) var_bar[j] = 0.5 / sqrt(var[j]);
    mcp_posterior_backward(post, Q, Q, F, mean_bar, var_bar, tape, F_bar);
    double noise = exp(p->h[1 + D]);
    *std_error = *slope_error = 0.0;
    for (int j = 0; j < Q; j++) {
        long double std, slope[D];
        reference(p, p->x + j * D, &std, slope);
        *std_error = fmax(*std_error, fabs(sqrt(var[j]) - (double)std) / noise);
        for (int d = 0; d < D; d++)
            *slope_error = fmax(*slope_error, fabs(F_bar[d * Q + j] - (double)slope[d]) / noise);
    }
    mcp_block_free(tape);
    mcp_posterior_free(post);
    mcp_gp_free(gp);
    mcp_kernel_free(k);
}

CASE(variance_and_slope_hold_from_1e2_to_1e10)
{
    static const mcp_posterior_type types[] = {MCP_POSTERIOR_EXACT, MCP_POSTERIOR_SPARSE};
    for (int power = 2; power <= 10; power += 2)
        for (int t = 0; t < 2; t++) {
            static problem p;
            double         std, slope;
            make(&p, pow(10.0, power));
            errors(&p, types[t], &std, &slope);
            printf("     (lambda/s)^2 = 1e%d, posterior %d: std off by %.1e, slope by %.1e of the noise\n",
                   power, t, std, slope);
            CHECK(std < 0.01);
            CHECK(slope < 0.01);
        }
}

/* Data without any noise, and no floor that is worth it. */
CASE(training_bounds_the_signal_to_noise_ratio)
{
    static problem  p;
    mcp_kernel     *k;
    mcp_gp         *gp;
    mcp_gp_settings s;
    make(&p, 1e4);
    mcp_gp_settings_default(&s);
    s.noise_floor = 1e-12;
    REQUIRE_OK(mcp_kernel_parse(&k, "se", D, D, err));
    REQUIRE_OK(mcp_gp_create(&gp, k, N, D, p.X, p.y, err));
    REQUIRE_OK(mcp_gp_train(gp, &s, err));
    CHECK(exp(mcp_gp_hyper(gp)[0] - mcp_gp_hyper(gp)[1 + D]) <= 1.0001e5);
    mcp_gp_free(gp);
    mcp_kernel_free(k);
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(variance_and_slope_hold_from_1e2_to_1e10);
    RUN(training_bounds_the_signal_to_noise_ratio);
    return DONE();
}
