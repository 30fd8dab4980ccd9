/* stats.h - what tables and plots say about a handful of numbers. */
#ifndef MCP_STATS_H
#define MCP_STATS_H

/* Wilson's 95 % interval of a success rate: k of n. n = 0 gives [0, 1]. */
void mcp_wilson(int k, int n, double *low, double *high);
/* Sorts v in place, the smallest first. */
void mcp_sort(double *v, int n);
/* Quantile q in [0, 1] with linear interpolation between order statistics; sorts v in place; NaN for n = 0.
 */
double mcp_quantile(double *v, int n, double q);
double mcp_quantile_sorted(const double *v, int n, double q);

#endif
