/* Array functions against libm in long double, at every level this CPU runs. */
#include "math/vecmath.h"

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

CASE(exp_is_within_4_ulp)
{
    EACH_LEVEL(v)
    {
        check(v->exp, expl, -700, 0, 4);
        check(v->exp, expl, -2, 2, 4);
        check(v->exp, expl, 0, 700, 4);
    }
}

CASE(log_is_within_4_ulp)
{
    EACH_LEVEL(v)
    {
        check(v->log, logl, 1e-300, 1e-290, 4);
        check(v->log, logl, 1e-12, 1, 4);
        check(v->log, logl, 1, 1e6, 4);
    }
}

/* Near their zeros the bound is on the absolute error in units of 2^-53: the intervals stay clear of them. */
CASE(sin_and_cos_are_within_4_ulp)
{
    EACH_LEVEL(v)
    {
        check(v->sin, sinl, 0.01, 3.1, 4);
        check(v->sin, sinl, -6.2, -3.2, 4);
        check(v->sin, sinl, 1000 * M_PI + 0.01, 1000 * M_PI + 3.1, 4);
        check(v->cos, cosl, -1.5, 1.5, 4);
        check(v->cos, cosl, 1.6, 4.7, 4);
        check(v->cos, cosl, 1000 * M_PI - 1.5, 1000 * M_PI + 1.5, 4);
    }
}

CASE(tanh_is_within_4_ulp)
{
    EACH_LEVEL(v)
    {
        check(v->tanh, tanhl, -20, 20, 4);
        check(v->tanh, tanhl, -1e-3, 1e-3, 4);
    }
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
    RUN(exp_is_within_4_ulp);
    RUN(log_is_within_4_ulp);
    RUN(sin_and_cos_are_within_4_ulp);
    RUN(tanh_is_within_4_ulp);
    RUN(nan_and_inf_are_kept);
    RUN(a_lane_does_not_depend_on_its_neighbours);
    RUN(x_and_y_may_be_the_same_array);
    RUN(the_level_asked_for_is_the_level_given);
    return DONE();
}
