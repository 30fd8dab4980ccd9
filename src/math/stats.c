/* stats.c - intervals and quantiles. */
#include "math/stats.h"

#include <math.h>
#include <stdlib.h>

void mcp_wilson(int k, int n, double *low, double *high)
{
    *low  = 0;
    *high = 1;
    if (n <= 0) return;
    const double z = 1.959963984540054, p = (double)k / n, z2 = z * z / n;
    double centre = (p + z2 / 2) / (1 + z2), half = z * sqrt(p * (1 - p) / n + z2 / (4.0 * n)) / (1 + z2);
    *low  = k == 0 ? 0 : fmax(0, centre - half);
    *high = k == n ? 1 : fmin(1, centre + half);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void mcp_sort(double *v, int n)
{
    if (n > 0) qsort(v, (size_t)n, sizeof *v, ascending);
}

double mcp_quantile_sorted(const double *v, int n, double q)
{
    if (n <= 0) return NAN;
    double at = q * (n - 1);
    int    i  = (int)floor(at);
    return i + 1 < n ? v[i] + (at - i) * (v[i + 1] - v[i]) : v[n - 1];
}

double mcp_quantile(double *v, int n, double q)
{
    mcp_sort(v, n);
    return mcp_quantile_sorted(v, n, q);
}
