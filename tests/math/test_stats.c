/* Intervals and quantiles against published and hand-made values. */
#include "math/stats.h"

#include "test.h"

CASE(wilson_matches_known_intervals)
{
    double a, b;
    mcp_wilson(0, 10, &a, &b); /* the formula, evaluated apart: 0 and 0.2775328 */
    CHECK(a == 0);
    CHECK_CLOSE(b, 0.2775328, 0, 1e-6);
    mcp_wilson(45, 50, &a, &b); /* 0.7863977 and 0.9565242 */
    CHECK_CLOSE(a, 0.7863977, 0, 1e-6);
    CHECK_CLOSE(b, 0.9565242, 0, 1e-6);
    mcp_wilson(400, 400, &a, &b);
    CHECK(b == 1 && a > 0.99);
    mcp_wilson(0, 0, &a, &b);
    CHECK(a == 0 && b == 1);
}

CASE(quantiles_interpolate_between_order_statistics)
{
    double v[] = {4, 1, 3, 2};
    CHECK_CLOSE(mcp_quantile(v, 4, 0.5), 2.5, 0, 1e-15);
    CHECK_CLOSE(mcp_quantile(v, 4, 0.05), 1.15, 0, 1e-15);
    CHECK(mcp_quantile(v, 4, 0) == 1 && mcp_quantile(v, 4, 1) == 4);
    CHECK(isnan(mcp_quantile(v, 0, 0.5)));
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(wilson_matches_known_intervals);
    RUN(quantiles_interpolate_between_order_statistics);
    return DONE();
}
