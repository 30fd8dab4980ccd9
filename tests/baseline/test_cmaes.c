/* labels: slow */
/* test_cmaes.c - evaluations to a target against other implementations' figures; invariances; noise. */
#include "optim/cmaes.h"

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

/* Made by cmaes_oracle.py (python3-cmaes 0.9.1): mean and deviation over its successful runs, share of successes. */
static const struct {
    const char *name;
    function   *f;
    int         n;
    double      x0, sigma;
    int         population;
    double      mean, std, share;
} oracle[] = {
    {"sphere", sphere, 5, 3.0, 1.0, 0, 820, 45, 1.000},
    {"sphere", sphere, 10, 3.0, 1.0, 0, 1659, 64, 1.000},
    {"sphere", sphere, 20, 3.0, 1.0, 0, 3136, 89, 1.000},
    {"sphere", sphere, 40, 3.0, 1.0, 0, 5833, 132, 1.000},
    {"ellipsoid", ellipsoid, 5, 3.0, 1.0, 0, 1718, 68, 1.000},
    {"ellipsoid", ellipsoid, 10, 3.0, 1.0, 0, 4382, 129, 1.000},
    {"ellipsoid", ellipsoid, 20, 3.0, 1.0, 0, 13961, 324, 1.000},
    {"ellipsoid", ellipsoid, 40, 3.0, 1.0, 0, 50558, 621, 1.000},
    {"rosenbrock", rosenbrock, 5, 0.0, 0.1, 0, 1740, 117, 1.000},
    {"rosenbrock", rosenbrock, 10, 0.0, 0.1, 0, 5173, 199, 1.000},
    {"rosenbrock", rosenbrock, 20, 0.0, 0.1, 0, 16577, 509, 1.000},
    {"rosenbrock", rosenbrock, 40, 0.0, 0.1, 0, 62363, 788, 1.000},
    {"rastrigin", rastrigin, 5, 3.0, 2.0, 100, 6377, 525, 0.619},
    {"rastrigin", rastrigin, 10, 3.0, 2.0, 200, 23673, 1781, 0.524},
    {"rastrigin", rastrigin, 20, 3.0, 2.0, 400, 87600, 4412, 0.524},
};

CASE(evaluations_to_target_agree_with_another_implementation)
{
    for (size_t t = 0; t < sizeof oracle / sizeof *oracle; t++) {
        int    n = oracle[t].n, runs = n == 40 ? 1 : oracle[t].population ? (n < 20 ? 21 : 4) : 3, good = 0;
        double x0[64], sum = 0;
        for (int i = 0; i < n; i++) x0[i] = oracle[t].x0;
        for (int seed = 0; seed < runs; seed++) {
            mcp_cmaes_settings s;
            mcp_cmaes         *c;
            mcp_cmaes_settings_default(&s);
            s.sigma = oracle[t].sigma;
            s.population = oracle[t].population;
            s.seed = 1 + (uint64_t)seed;
            REQUIRE_OK(mcp_cmaes_create(&c, n, x0, &s, err));
            long used = run(c, oracle[t].f, n, NULL, 1e-9, 2000000);
            if (used) good++, sum += (double)used;
            mcp_cmaes_free(c);
        }
        printf("     %-10s n %2d: %6.0f evaluations, the other %6.0f; successes %2d of %d, the other %.0f %%\n", oracle[t].name,
               n, sum / good, oracle[t].mean, good, runs, 100 * oracle[t].share);
        CHECK(good > 0);
        CHECK_CLOSE(sum / good, oracle[t].mean, 0.2, 0);
        /* three standard deviations of the difference of two shares, the other of 21 runs */
        double p = oracle[t].share;
        CHECK_CLOSE((double)good / runs, p, 0, 3 * sqrt(p * (1 - p) * (1.0 / 21 + 1.0 / runs)) + 1e-9);
    }
}

/* Auger and Hansen, "A restart CMA evolution strategy with increasing population size", CEC 2005, mean evaluations to the
 * accuracy: start uniform in the box, first deviation half its width, population 4 + 3 ln n doubled at every restart.
 * f1 shifted sphere, f3 shifted rotated ellipsoid (1e6), f6 shifted Rosenbrock, f9 shifted Rastrigin. CMA-ES does not see
 * rotations, so f3 is run without. */
static const struct {
    const char *name;
    function   *f;
    int         n;
    double      box, target, published;
    int         runs;
} cec2005[] = {
    {"f1 sphere", sphere, 10, 100, 1e-6, 1.61e3, 25},       {"f1 sphere", sphere, 30, 100, 1e-6, 4.50e3, 25},
    {"f3 ellipsoid", ellipsoid, 10, 100, 1e-6, 6.50e3, 9}, {"f3 ellipsoid", ellipsoid, 30, 100, 1e-6, 4.27e4, 2},
    {"f6 rosenbrock", rosenbrock, 10, 100, 1e-2, 1.08e4, 15}, {"f6 rosenbrock", rosenbrock, 30, 100, 1e-2, 6.00e4, 5},
    {"f9 rastrigin", rastrigin, 10, 5, 1e-2, 7.57e4, 15},
};

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of few runs the median stands for the mean: one restart among five would move the mean by a fifth. */
CASE(restarts_reach_published_figures)
{
    for (size_t t = 0; t < sizeof cec2005 / sizeof *cec2005; t++) {
        int    n = cec2005[t].n, runs = cec2005[t].runs;
        double used[32], sum = 0;
        for (int seed = 0; seed < runs; seed++) {
            double             shift[64], x0[64];
            mcp_rand           r = mcp_rand_make((uint64_t)seed, 7, 0, MCP_RNG_OTHER);
            mcp_cmaes_settings s;
            mcp_cmaes         *c;
            for (int i = 0; i < n; i++) shift[i] = 0.8 * cec2005[t].box * (2 * mcp_rand_uniform(&r) - 1);
            for (int i = 0; i < n; i++) x0[i] = cec2005[t].box * (2 * mcp_rand_uniform(&r) - 1);
            mcp_cmaes_settings_default(&s);
            s.active = 0;
            s.rates_2004 = 1;
            s.sigma = cec2005[t].box;
            s.seed = (uint64_t)seed;
            REQUIRE_OK(mcp_cmaes_create(&c, n, x0, &s, err));
            while (!run(c, cec2005[t].f, n, shift, cec2005[t].target, 2000000) && mcp_cmaes_evaluations(c) < 3000000) {
                for (int i = 0; i < n; i++) x0[i] = cec2005[t].box * (2 * mcp_rand_uniform(&r) - 1);
                REQUIRE_OK(mcp_cmaes_restart(c, x0, err));
            }
            used[seed] = (double)mcp_cmaes_evaluations(c);
            sum += used[seed];
            mcp_cmaes_free(c);
        }
        qsort(used, (size_t)runs, sizeof *used, ascending);
        double ours = runs < 9 ? used[runs / 2] : sum / runs;
        printf("     %-14s n %2d: %6.0f evaluations, published %6.0f\n", cec2005[t].name, n, ours, cec2005[t].published);
        CHECK_CLOSE(ours, cec2005[t].published, 0.2, 0);
    }
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
        xa = mcp_cmaes_ask(a), xb = mcp_cmaes_ask(b), xc = mcp_cmaes_ask(c);
        for (int k = 0; k < mcp_cmaes_population(a); k++) f[k] = sphere(6, xa + 6 * k);
        CHECK_OK(mcp_cmaes_tell(a, f, NULL, err));
        CHECK_OK(mcp_cmaes_tell(b, f, NULL, err));
        CHECK_OK(mcp_cmaes_tell(c, f, NULL, err));
    }
    CHECK(!memcmp(xa, xb, 6 * sizeof *xa));
    CHECK(memcmp(xa, xc, 6 * sizeof *xa));
    mcp_cmaes_free(a), mcp_cmaes_free(b), mcp_cmaes_free(c);
}

/* A strategy that only ranks must take the same path on f and on any increasing function of f. */
CASE(only_ranks_matter)
{
    mcp_cmaes *a = make(5, 1, 0.5, 4), *b = make(5, 1, 0.5, 4);
    for (int g = 0; g < 30; g++) {
        const double *x = mcp_cmaes_ask(a);
        double        f[64], h[64];
        mcp_cmaes_ask(b);
        for (int k = 0; k < mcp_cmaes_population(a); k++) f[k] = rosenbrock(5, x + 5 * k), h[k] = log1p(f[k]) - 7;
        CHECK_OK(mcp_cmaes_tell(a, f, NULL, err));
        CHECK_OK(mcp_cmaes_tell(b, h, NULL, err));
    }
    CHECK(!memcmp(mcp_cmaes_mean(a), mcp_cmaes_mean(b), 5 * sizeof(double)));
    mcp_cmaes_free(a), mcp_cmaes_free(b);
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

/* Noise of standard deviation 1 on a sphere: the centre gets well below where noise swamps single values, the effort rises
 * under noise and stays 1 without. */
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
    RUN(restarts_reach_published_figures);
    RUN(same_seed_gives_the_same_candidates_and_another_seed_does_not);
    RUN(only_ranks_matter);
    RUN(a_candidate_that_is_not_a_number_counts_as_worst);
    RUN(noise_handling_averages_when_ranks_are_disturbed_and_only_then);
    RUN(impossible_settings_are_refused);
    return DONE();
}
