/* labels: slow */
/* test_cmaes.c - evaluations to a target against other implementations' figures; invariances; noise. */
#include "baseline/blackdrops/cmaes.h"

#include <stdint.h>

#include "math/rng.h"
#include "test.h"

static double sphere(int n, const double *x)
{
    double s = 0;
    for (int i = 0; i < n; i++) s += x[i] * x[i];
    return s;
}

static double ellipsoid(int n, const double *x)
{
    double s = 0, a = 1, factor = pow(10, 6.0 / (n - 1));
    for (int i = 0; i < n; i++, a *= factor) s += a * x[i] * x[i];
    return s;
}

static double rosenbrock(int n, const double *x)
{
    double s = 0;
    for (int i = 0; i + 1 < n; i++) s += 100 * pow(x[i] * x[i] - x[i + 1], 2) + pow(x[i] - 1, 2);
    return s;
}

static double rastrigin(int n, const double *x)
{
    double s = 0;
    for (int i = 0; i < n; i++) s += x[i] * x[i] + 10 - 10 * cos(2 * M_PI * x[i]);
    return s;
}

typedef double function(int n, const double *x);

/* Runs until the target or a stop rule; returns evaluations, or 0 when the target was missed. */
static long run(mcp_cmaes *c, function *f, int n, const double *shift, double target, long most)
{
    static double value[4096];
    double        y[64];
    long          used = 0;
    while (!mcp_cmaes_stopped(c) && used < most) {
        const double *x = mcp_cmaes_ask(c);
        int           l = mcp_cmaes_population(c), hit = 0;
        for (int k = 0; k < l; k++) {
            for (int i = 0; i < n; i++) y[i] = x[k * n + i] - (shift ? shift[i] : 0);
            value[k] = f(n, y);
            hit |= value[k] < target;
        }
        used += l;
        CHECK_OK(mcp_cmaes_tell(c, value, NULL, err));
        if (hit) return used;
    }
    return 0;
}

/* Made by `/usr/bin/python3 tests/baseline/cmaes_oracle.py` (python3-cmaes 0.9.1, an independent
 * implementation of the tutorial with the same default settings): mean and deviation over its successful
 * runs, share of successes. */
static const struct {
    const char *name;
    function   *f;
    int         n, separable;
    double      x0, sigma;
    int         population;
    double      mean, std, share;
} oracle[] = {
    {"sphere", sphere, 5, 0, 3.0, 1.0, 0, 820, 45, 1.000},
    {"sphere", sphere, 10, 0, 3.0, 1.0, 0, 1659, 64, 1.000},
    {"sphere", sphere, 20, 0, 3.0, 1.0, 0, 3136, 89, 1.000},
    {"sphere", sphere, 40, 0, 3.0, 1.0, 0, 5833, 132, 1.000},
    {"ellipsoid", ellipsoid, 5, 0, 3.0, 1.0, 0, 1718, 68, 1.000},
    {"ellipsoid", ellipsoid, 10, 0, 3.0, 1.0, 0, 4382, 129, 1.000},
    {"ellipsoid", ellipsoid, 20, 0, 3.0, 1.0, 0, 13961, 324, 1.000},
    {"ellipsoid", ellipsoid, 40, 0, 3.0, 1.0, 0, 50558, 621, 1.000},
    {"rosenbrock", rosenbrock, 5, 0, 0.0, 0.1, 0, 1740, 117, 1.000},
    {"rosenbrock", rosenbrock, 10, 0, 0.0, 0.1, 0, 5173, 199, 1.000},
    {"rosenbrock", rosenbrock, 20, 0, 0.0, 0.1, 0, 16577, 509, 1.000},
    {"rosenbrock", rosenbrock, 40, 0, 0.0, 0.1, 0, 62363, 788, 1.000},
    {"rastrigin", rastrigin, 5, 0, 3.0, 2.0, 100, 6377, 525, 0.619},
    {"rastrigin", rastrigin, 10, 0, 3.0, 2.0, 200, 23673, 1781, 0.524},
    {"rastrigin", rastrigin, 20, 0, 3.0, 2.0, 400, 87600, 4412, 0.524},
    {"rastrigin", rastrigin, 40, 0, 3.0, 2.0, 800, 355600, 27187, 0.545},
    {"ellipsoid", ellipsoid, 10, 1, 3.0, 1.0, 0, 2861, 165, 1.000},
    {"ellipsoid", ellipsoid, 20, 1, 3.0, 1.0, 0, 6353, 277, 1.000},
    {"ellipsoid", ellipsoid, 40, 1, 3.0, 1.0, 0, 14914, 533, 1.000},
};

CASE(evaluations_to_target_agree_with_another_implementation)
{
    for (size_t t = 0; t < sizeof oracle / sizeof *oracle; t++) {
        int n = oracle[t].n, multimodal = oracle[t].population > 0,
            runs = multimodal ? (n < 20 ? 21 : 10)
                   : n == 40  ? 1
                              : 3,
            good = 0;
        double x0[64], sum = 0;
        for (int i = 0; i < n; i++) x0[i] = oracle[t].x0;
        for (int seed = 0; seed < runs; seed++) {
            mcp_cmaes_settings s;
            mcp_cmaes         *c;
            mcp_cmaes_settings_default(&s);
            s.sigma = oracle[t].sigma;
            s.population = oracle[t].population;
            s.separable = oracle[t].separable;
            s.active = !s.separable; /* as the other one */
            s.seed = 1 + (uint64_t)seed;
            REQUIRE_OK(mcp_cmaes_create(&c, n, x0, &s, err));
            long used = run(c, oracle[t].f, n, NULL, 1e-9, 2000000);
            if (used) {
                good++;
                sum += (double)used;
            }
            mcp_cmaes_free(c);
        }
        printf("     %-10s n %2d%s: %6.0f evaluations, the other %6.0f; successes %2d of %d, the other %.0f "
               "%%\n",
               oracle[t].name, n, oracle[t].separable ? ", separable" : "", sum / good, oracle[t].mean, good,
               runs, 100 * oracle[t].share);
        CHECK(good > 0);
        /* a fifth, and what chance may add: a path is chaotic, so another library of linear algebra, or the
         * same one on more threads, gives other runs of the same distribution */
        CHECK_CLOSE(sum / good, oracle[t].mean, 0.2, 3 * oracle[t].std / sqrt(good));
        /* three standard deviations of the difference of two shares, the other of 21 runs, or 11 */
        double p = oracle[t].share, others = multimodal && n == 40 ? 11 : 21;
        CHECK_CLOSE((double)good / runs, p, 0, 3 * sqrt(p * (1 - p) * (1 / others + 1.0 / runs)) + 1e-9);
    }
}

/* What the author of CMA-ES shows of his own plain implementation (documentation of fmin in cma.purecma and
 * in barecmaes2; default settings, positive weights): each one run, its start, and the evaluations it had
 * used when it was at the value printed. */
CASE(evaluations_agree_with_published_runs)
{
    static const struct {
        const char *name;
        function   *f;
        int         n;
        double      x0, sigma, value, evaluations;
    } published[] = {
        {"ellipsoid", ellipsoid, 3, 0.5, 0.3, 5.50167024417e-14, 1421},
        {"ellipsoid", ellipsoid, 10, 0.5, 0.3, 3.34128914738e-13, 6510},
        {"rosenbrock", rosenbrock, 4, 0.5, 0.5, 1.26488753189e-13, 1736},
    };
    enum { RUNS = 21 };
    for (size_t t = 0; t < sizeof published / sizeof *published; t++) {
        double x0[64], sum = 0, square = 0;
        int    good = 0;
        for (int i = 0; i < published[t].n; i++) x0[i] = published[t].x0;
        for (int seed = 0; seed < RUNS; seed++) {
            mcp_cmaes_settings s;
            mcp_cmaes         *c;
            mcp_cmaes_settings_default(&s);
            s.sigma = published[t].sigma;
            s.active = 0;
            s.seed = 100 + (uint64_t)seed;
            REQUIRE_OK(mcp_cmaes_create(&c, published[t].n, x0, &s, err));
            double used = (double)run(c, published[t].f, published[t].n, NULL, published[t].value, 200000);
            mcp_cmaes_free(c);
            if (used > 0) {
                good++;
                sum += used;
                square += used * used;
            }
        }
        REQUIRE(good > 1);
        double mean = sum / good, std = sqrt(fmax(0, square / good - mean * mean));
        printf("     %-10s n %2d: %6.0f evaluations (deviation %.0f, %d of %d runs), published %6.0f\n",
               published[t].name, published[t].n, mean, std, good, RUNS, published[t].evaluations);
        CHECK_CLOSE(mean, published[t].evaluations, 0.2,
                    3 * std / sqrt(good)); /* a fifth, and what chance may add */
    }
}

/* Rastrigin's function from anywhere in its box: the default population ends in one of the many local minima,
 * restarts that double it (Auger and Hansen, CEC 2005) find the global one. 10 runs of which one run without
 * restarts would succeed by luck. */
CASE(restarts_with_growing_population_find_the_global_minimum)
{
    enum { N = 10, RUNS = 10 };
    int alone = 0, restarted = 0;
    for (int seed = 0; seed < RUNS; seed++) {
        double             x0[N];
        mcp_rand           r = mcp_rand_make((uint64_t)seed, 7, 0, MCP_RNG_OTHER);
        mcp_cmaes_settings s;
        mcp_cmaes         *c;
        mcp_cmaes_settings_default(&s);
        s.sigma = 5;
        s.seed = (uint64_t)seed;
        for (int i = 0; i < N; i++) x0[i] = 5 * (2 * mcp_rand_uniform(&r) - 1);
        REQUIRE_OK(mcp_cmaes_create(&c, N, x0, &s, err));
        int population = mcp_cmaes_population(c), hit = run(c, rastrigin, N, NULL, 1e-2, 2000000) > 0;
        alone += hit;
        for (int k = 1; k <= 7 && !hit; k++) {
            for (int i = 0; i < N; i++) x0[i] = 5 * (2 * mcp_rand_uniform(&r) - 1);
            REQUIRE_OK(mcp_cmaes_restart(c, x0, err));
            CHECK(mcp_cmaes_population(c) == population << k);
            hit = run(c, rastrigin, N, NULL, 1e-2, 2000000) > 0;
        }
        restarted += hit;
        mcp_cmaes_free(c);
    }
    printf("     rastrigin n %d: %d of %d alone, %d with restarts\n", N, alone, RUNS, restarted);
    CHECK(alone <= 2);
    CHECK(restarted == RUNS);
}

static mcp_cmaes *make(int n, double x0, double sigma, uint64_t seed)
{
    mcp_cmaes_settings s;
    mcp_cmaes         *c = NULL;
    double             x[64];
    for (int i = 0; i < n; i++) x[i] = x0;
    mcp_cmaes_settings_default(&s);
    s.sigma = sigma;
    s.seed = seed;
    s.effort_max = 50;
    CHECK_OK(mcp_cmaes_create(&c, n, x, &s, err));
    return c;
}

CASE(same_seed_gives_the_same_candidates_and_another_seed_does_not)
{
    mcp_cmaes    *a = make(6, 1, 0.5, 4), *b = make(6, 1, 0.5, 4), *c = make(6, 1, 0.5, 5);
    const double *xa = NULL, *xb = NULL, *xc = NULL;
    for (int g = 0; g < 20; g++) {
        double f[64];
        xa = mcp_cmaes_ask(a);
        xb = mcp_cmaes_ask(b);
        xc = mcp_cmaes_ask(c);
        for (int k = 0; k < mcp_cmaes_population(a); k++) f[k] = sphere(6, xa + 6 * k);
        CHECK_OK(mcp_cmaes_tell(a, f, NULL, err));
        CHECK_OK(mcp_cmaes_tell(b, f, NULL, err));
        CHECK_OK(mcp_cmaes_tell(c, f, NULL, err));
    }
    CHECK(!memcmp(xa, xb, 6 * sizeof *xa));
    CHECK(memcmp(xa, xc, 6 * sizeof *xa));
    mcp_cmaes_free(a);
    mcp_cmaes_free(b);
    mcp_cmaes_free(c);
}

/* A strategy that only ranks must take the same path on f and on any increasing function of f. */
CASE(only_ranks_matter)
{
    mcp_cmaes *a = make(5, 1, 0.5, 4), *b = make(5, 1, 0.5, 4);
    for (int g = 0; g < 30; g++) {
        const double *x = mcp_cmaes_ask(a);
        double        f[64], h[64];
        mcp_cmaes_ask(b);
        for (int k = 0; k < mcp_cmaes_population(a); k++) {
            f[k] = rosenbrock(5, x + 5 * k);
            h[k] = log1p(f[k]) - 7;
        }
        CHECK_OK(mcp_cmaes_tell(a, f, NULL, err));
        CHECK_OK(mcp_cmaes_tell(b, h, NULL, err));
    }
    CHECK(!memcmp(mcp_cmaes_mean(a), mcp_cmaes_mean(b), 5 * sizeof(double)));
    mcp_cmaes_free(a);
    mcp_cmaes_free(b);
}

CASE(a_candidate_that_is_not_a_number_counts_as_worst)
{
    mcp_cmaes *c = make(4, 2, 1, 1);
    for (int g = 0; g < 200; g++) {
        const double *x = mcp_cmaes_ask(c);
        double        f[64];
        for (int k = 0; k < mcp_cmaes_population(c); k++) f[k] = x[4 * k] < 0 ? NAN : sphere(4, x + 4 * k);
        REQUIRE_OK(mcp_cmaes_tell(c, f, NULL, err));
    }
    double best;
    mcp_cmaes_best(c, &best);
    CHECK(best < 1e-6);
    double bad[64];
    for (int k = 0; k < 64; k++) bad[k] = NAN;
    mcp_error e = {MCP_OK, ""};
    mcp_cmaes_ask(c);
    CHECK(mcp_cmaes_tell(c, bad, NULL, &e) == MCP_ERR_NUMERIC);
    CHECK_HAS(e.text, "not a number");
    mcp_cmaes_free(c);
}

/* Noise of standard deviation 1 on a sphere: the centre gets well below where noise swamps single values, the
 * effort rises under noise and stays 1 without. */
CASE(noise_handling_averages_when_ranks_are_disturbed_and_only_then)
{
    for (int noisy = 0; noisy < 2; noisy++) {
        mcp_cmaes *c = make(8, 3, 1, 11);
        mcp_rand   r = mcp_rand_make(3, 0, 0, MCP_RNG_OTHER);
        double     top = 0;
        for (int g = 0; g < 250; g++) {
            const double *x = mcp_cmaes_ask(c);
            int           l = mcp_cmaes_population(c), n2 = mcp_cmaes_reevaluations(c);
            double        f[64], again[64], s = noisy / sqrt(mcp_cmaes_effort(c));
            for (int k = 0; k < l; k++) f[k] = sphere(8, x + 8 * k) + s * mcp_rand_normal(&r);
            for (int k = 0; k < n2; k++) again[k] = sphere(8, x + 8 * k) + s * mcp_rand_normal(&r);
            REQUIRE_OK(mcp_cmaes_tell(c, f, again, err));
            top = fmax(top, mcp_cmaes_effort(c));
        }
        double f = sphere(8, mcp_cmaes_mean(c));
        CHECK(f < (noisy ? 0.3 : 1e-8));
        CHECK(top == (noisy ? 50 : 1));
        mcp_cmaes_free(c);
    }
}

CASE(impossible_settings_are_refused)
{
    mcp_cmaes_settings s;
    mcp_cmaes         *c;
    mcp_error          e;
    double             x = 0;
    mcp_cmaes_settings_default(&s);
    CHECK(mcp_cmaes_create(&c, 0, &x, &s, &e) == MCP_ERR_ARG && !c);
    s.sigma = NAN;
    CHECK(mcp_cmaes_create(&c, 1, &x, &s, &e) == MCP_ERR_ARG && !c);
    CHECK_HAS(e.text, "step size");
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(evaluations_to_target_agree_with_another_implementation);
    RUN(evaluations_agree_with_published_runs);
    RUN(restarts_with_growing_population_find_the_global_minimum);
    RUN(same_seed_gives_the_same_candidates_and_another_seed_does_not);
    RUN(only_ranks_matter);
    RUN(a_candidate_that_is_not_a_number_counts_as_worst);
    RUN(noise_handling_averages_when_ranks_are_disturbed_and_only_then);
    RUN(impossible_settings_are_refused);
    return DONE();
}
