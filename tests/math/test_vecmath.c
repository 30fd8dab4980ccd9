/* Array functions against libm in long double, at every level this CPU runs. */
#include "math/vecmath.h"

#include "math/single.h"
#include "test.h"

enum { N = 4096 };
static _Alignas(64) double x[N], y[N];

/* Distance from the exact value in units in the last place of the result. */
static double ulps(double got, long double want)
{
    double w = (double)want;
    if (got == w) return 0;
    double unit = fabs(nextafter(w, INFINITY) - w);
    return (double)fabsl(((long double)got - want) / unit);
}

static void check(mcp_vec_fn *f, long double (*exact)(long double), double lo, double hi, double bound)
{
    double worst = 0;
    for (int i = 0; i < N; i++) x[i] = lo + (hi - lo) * (i + 0.5) / N;
    f(N, x, y);
    for (int i = 0; i < N; i++) worst = fmax(worst, ulps(y[i], exact((long double)x[i])));
    if (!(worst <= bound)) FAIL_("in [%g, %g]: %.2f ulp, at most %g allowed", lo, hi, worst, bound);
}

#define EACH_LEVEL(v)                                                                                     \
    for (const mcp_vecmath *v = mcp_vecmath_get(MCP_ISA_BASE), *end_ = mcp_vecmath_get(mcp_isa_widest()); \
         v <= end_; v++)

/* Numbers of every size: mantissas spread, exponents from lo to hi. */
static void check_sizes(mcp_vec_fn *f, long double (*exact)(long double), int lo, int hi, double sign)
{
    double worst = 0;
    for (int i = 0; i < N; i++)
        x[i] = sign * ldexp(1.0 + fmod(0.61803398874989 * i, 1.0), lo + i % (hi - lo + 1));
    f(N, x, y);
    for (int i = 0; i < N; i++) worst = fmax(worst, ulps(y[i], exact((long double)x[i])));
    if (!(worst <= 2)) FAIL_("2^%d .. 2^%d: %.2f ulp", lo, hi, worst);
}

CASE(exp_is_within_2_ulp)
{
    EACH_LEVEL(v)
    {
        check(v->exp, expl, -708, 0, 2);
        check(v->exp, expl, -745, -700, 2); /* subnormal results */
        check(v->exp, expl, -2, 2, 2);
        check(v->exp, expl, 0, 709.7, 2);
        check_sizes(v->exp, expl, -60, 8, 1.0);
        check_sizes(v->exp, expl, -60, 8, -1.0);
    }
}

CASE(log_is_within_2_ulp)
{
    EACH_LEVEL(v)
    {
        check(v->log, logl, 1e-300, 1e-290, 2);
        check(v->log, logl, 1e-12, 1, 2);
        check(v->log, logl, 0.9, 1.1, 2);
        check(v->log, logl, 1, 1e6, 2);
        check_sizes(v->log, logl, -1060, 1023, 1.0); /* subnormal numbers too */
    }
}

/* Near their zeros as well: the intervals of 1e-5 around 1000 pi and 500.5 pi. */
CASE(sin_and_cos_are_within_2_ulp)
{
    EACH_LEVEL(v)
    {
        check(v->sin, sinl, -10, 10, 2);
        check(v->cos, cosl, -10, 10, 2);
        check(v->sin, sinl, 1000 * M_PI - 1e-5, 1000 * M_PI + 1e-5, 2);
        check(v->cos, cosl, 500.5 * M_PI - 1e-5, 500.5 * M_PI + 1e-5, 2);
        check(v->sin, sinl, -500000, 500000, 2);
        check(v->cos, cosl, -500000, 500000, 2);
        check_sizes(v->sin, sinl, -1000, 60, -1.0);
        check_sizes(v->cos, cosl, -60, 60, 1.0);
    }
}

CASE(tanh_is_within_2_ulp)
{
    EACH_LEVEL(v)
    {
        check(v->tanh, tanhl, -20, 20, 2);
        check(v->tanh, tanhl, -1, 1, 2);
        check_sizes(v->tanh, tanhl, -1000, 10, 1.0);
        check_sizes(v->tanh, tanhl, -60, 10, -1.0);
    }
}

/* The single-precision power of the basis functions and strips, as compiled for the plainest machine. */
CASE(the_single_power_of_two_is_within_2_ulp)
{
    double worst = 0;
    for (int i = 0; i < N; i++) {
        float  q = i % 2 ? 119.0f * (float)i / N : ldexpf(1.0f + 0.5f * (float)i / N, -(i % 30));
        mcp_f8 v = q - (mcp_f8){0};
        mcp_f8_exp2_minus(1, &v, 120.0f);
        long double want = exp2l(-(long double)q);
        float       w = (float)want, unit = nextafterf(w, INFINITY) - w;
        worst = fmax(worst, (double)fabsl(((long double)v[i % 8] - want) / (long double)unit));
    }
    if (!(worst <= 2)) FAIL_("%.2f ulp", worst);
}

CASE(nan_and_inf_are_kept)
{
    EACH_LEVEL(v)
    {
        _Alignas(64) double in[8] = {NAN, INFINITY, -INFINITY, 0, 1, -1, 1e300, -1e300}, out[8];
        v->exp(8, in, out);
        CHECK(isnan(out[0]) && out[1] == INFINITY && out[2] == 0 && out[3] == 1 && out[6] == INFINITY &&
              out[7] == 0);
        v->log(8, in, out);
        CHECK(isnan(out[0]) && out[1] == INFINITY && isnan(out[2]) && out[3] == -INFINITY && isnan(out[5]));
        v->tanh(8, in, out);
        CHECK(isnan(out[0]) && out[1] == 1 && out[2] == -1 && out[3] == 0);
        v->sin(8, in, out);
        CHECK(isnan(out[0]) && isnan(out[1]) && isnan(out[2]) && out[3] == 0 && fabs(out[6]) <= 1);
        v->cos(8, in, out);
        CHECK(isnan(out[0]) && isnan(out[1]) && isnan(out[2]) && out[3] == 1 && fabs(out[6]) <= 1);
    }
}

CASE(a_lane_does_not_depend_on_its_neighbours)
{
    EACH_LEVEL(v)
    {
        mcp_vec_fn *fns[] = {v->exp, v->log, v->sin, v->cos, v->tanh};
        for (int f = 0; f < 5; f++) {
            _Alignas(64) double one[8], row[64], out[64];
            for (int i = 0; i < 64; i++) row[i] = 0.1 + 0.37 * i;
            fns[f](64, row, out);
            for (int i = 0; i < 64; i++) {
                for (int l = 0; l < 8; l++) one[l] = l == (i + 3) % 8 ? row[i] : l % 2 ? NAN : 1e3 * l;
                fns[f](8, one, one);
                CHECK(one[(i + 3) % 8] == out[i]);
            }
        }
    }
}

CASE(x_and_y_may_be_the_same_array)
{
    EACH_LEVEL(v)
    {
        for (int i = 0; i < N; i++) x[i] = 0.001 * i;
        v->exp(N, x, y);
        v->exp(N, x, x);
        CHECK(!memcmp(x, y, sizeof x));
    }
}

CASE(the_level_asked_for_is_the_level_given)
{
    CHECK(mcp_vecmath_get(MCP_ISA_BASE)->level == MCP_ISA_BASE);
    CHECK(mcp_vecmath_get(mcp_isa_widest())->level == mcp_isa_widest());
    CHECK(mcp_isa_level() <= mcp_isa_widest());
    const char *wanted = getenv("MCPILCO_ISA");
    if (!wanted) CHECK(mcp_isa_level() == mcp_isa_widest());
    if (wanted && !strcmp(wanted, "base")) CHECK(mcp_isa_level() == MCP_ISA_BASE);
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(exp_is_within_2_ulp);
    RUN(log_is_within_2_ulp);
    RUN(sin_and_cos_are_within_2_ulp);
    RUN(the_single_power_of_two_is_within_2_ulp);
    RUN(tanh_is_within_2_ulp);
    RUN(nan_and_inf_are_kept);
    RUN(a_lane_does_not_depend_on_its_neighbours);
    RUN(x_and_y_may_be_the_same_array);
    RUN(the_level_asked_for_is_the_level_given);
    return DONE();
}
