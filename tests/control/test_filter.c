/* test_filter.c - Butterworth sections and steady Kalman gains against SciPy 1.10 (scipy.signal.butter,
 * scipy.linalg.solve_discrete_are on the same models). */
#include "control/filter.h"
#include "test.h"

/* Polynomials of the whole cascade, b and a of order + 1 numbers. */
static void expand(int order, double cutoff, double *b, double *a)
{
    mcp_biquad s[(MCP_FILTER_ORDER_MAX + 1) / 2];
    int        n = mcp_butterworth(order, cutoff, s);
    double     nb[2 * MCP_FILTER_ORDER_MAX] = {1.0}, na[2 * MCP_FILTER_ORDER_MAX] = {1.0};
    for (int i = 0; i < n; i++)
        for (int k = 2 * (i + 1); k >= 0; k--) {
            nb[k] =
                s[i].b0 * nb[k] + (k > 0 ? s[i].b1 * nb[k - 1] : 0.0) + (k > 1 ? s[i].b2 * nb[k - 2] : 0.0);
            na[k] = na[k] + (k > 0 ? s[i].a1 * na[k - 1] : 0.0) + (k > 1 ? s[i].a2 * na[k - 2] : 0.0);
        }
    memcpy(b, nb, (size_t)(order + 1) * sizeof *b);
    memcpy(a, na, (size_t)(order + 1) * sizeof *a);
}

CASE(order_one_at_half_of_nyquist_is_the_mean_of_two_samples)
{
    mcp_biquad s[1];
    CHECK(mcp_butterworth(1, 0.5, s) == 1);
    CHECK(s[0].b0 == 0.5 && s[0].b1 == 0.5 && s[0].b2 == 0.0 && s[0].a1 == 0.0 && s[0].a2 == 0.0);
}

CASE(butterworth_of_any_order_equals_scipy)
{
    static const struct { int order; double cutoff, b[9], a[9];
    } ref[] = {
        {1, 0.2, {0.24523727525278557, 0.24523727525278557}, {1.0, -0.5095254494944288}},
        {2,
         0.5,
         {0.2928932188134524, 0.5857864376269049, 0.2928932188134524},
         {1.0, -1.6653345369377353e-16, 0.17157287525380993}},
        {3,
         0.3,
         {0.04953299635725319, 0.14859898907175956, 0.14859898907175956, 0.04953299635725319},
         {1.0, -1.1619174836717323, 0.6959427557896507, -0.13776130125989283}},
        {4,
         0.1,
         {0.00041659920440659937, 0.0016663968176263975, 0.002499595226439596, 0.0016663968176263975,
          0.00041659920440659937},
         {1.0, -3.180638548874719, 3.8611943489942133, -2.112155355110969, 0.43826514226197977}},
        {5,
         0.7,
         {0.20188501386988636, 1.0094250693494318, 2.0188501386988635, 2.0188501386988635, 1.0094250693494318,
          0.20188501386988636},
         {1.0, 1.975901616441466, 2.0134730260003075, 1.1026179777777694, 0.3276183340001566,
          0.04070948961666519}},
        {8,
         0.25,
         {0.00010791128473110382, 0.0008632902778488306, 0.003021515972470907, 0.006043031944941814,
          0.007553789931177268, 0.006043031944941814, 0.003021515972470907, 0.0008632902778488306,
          0.00010791128473110382},
         {1.0, -3.983784273174194, 7.536234110120898, -8.5998150648014, 6.400154060347637, -3.156025260730565,
          1.0016965795512833, -0.18634247767748524, 0.015507615254986878}},
    };
    for (size_t i = 0; i < sizeof ref / sizeof *ref; i++) {
        double b[9], a[9];
        expand(ref[i].order, ref[i].cutoff, b, a);
        for (int k = 0; k <= ref[i].order; k++) {
            CHECK_CLOSE(b[k], ref[i].b[k], 1e-11, 1e-15);
            CHECK_CLOSE(a[k], ref[i].a[k], 1e-12, 1e-14);
        }
    }
}

CASE(every_section_passes_a_constant_unchanged)
{
    for (int order = 1; order <= MCP_FILTER_ORDER_MAX; order++) {
        mcp_biquad s[(MCP_FILTER_ORDER_MAX + 1) / 2];
        int        n = mcp_butterworth(order, 0.37, s);
        CHECK(n == (order + 1) / 2);
        for (int i = 0; i < n; i++)
            CHECK_CLOSE((s[i].b0 + s[i].b1 + s[i].b2) / (1.0 + s[i].a1 + s[i].a2), 1.0, 1e-13, 0.0);
    }
}

CASE(steady_kalman_gains_solve_the_riccati_equation)
{
    static const struct { int n; double ts, drive, noise, gain[3], velocity_variance;
    } ref[] = {
        {2, 1.0 / 30.0, 1.0, 2e-3, {0.6473427340806385, 9.897492189653647}, 0.0016246018744831244},
        {2, 0.02, 150.0, 1e-2, {0.9564392373895998, 62.6136457566244}, 2.3738635424337247},
        {3,
         1.0 / 30.0,
         50.0,
         3e-3,
         {0.8164089419591456, 19.5814268743765, 238.0418173404257},
         0.009110672044191036},
    };
    for (size_t i = 0; i < sizeof ref / sizeof *ref; i++) {
        double g[3], C[9];
        CHECK(mcp_kalman_steady(ref[i].n, ref[i].ts, ref[i].drive, ref[i].noise, g, C) > 0);
        for (int k = 0; k < ref[i].n; k++) CHECK_CLOSE(g[k], ref[i].gain[k], 1e-9, 0.0);
        CHECK_CLOSE(C[ref[i].n + 1], ref[i].velocity_variance, 1e-9, 0.0);
    }
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(order_one_at_half_of_nyquist_is_the_mean_of_two_samples);
    RUN(butterworth_of_any_order_equals_scipy);
    RUN(every_section_passes_a_constant_unchanged);
    RUN(steady_kalman_gains_solve_the_riccati_equation);
    return DONE();
}
