/* kernel.h - covariance functions: a tree of base kernels, sums and products, each on a chosen subset of the features.
 * Positive parameters live in log space; a kernel's parameters are one flat array, in the order the tree is written. */
#ifndef MCP_KERNEL_H
#define MCP_KERNEL_H

#include "mcpilco/gp.h"

/* Value and derivatives for one pair; the plain reference every fast path is tested against.
 *   dx     D, d k(x, z)/dx, added, may be NULL;  dp  one per parameter, added times scale, may be NULL */
double mcp_kernel_value(const mcp_kernel *k, const double *p, const double *x, const double *z);
double mcp_kernel_gradient(const mcp_kernel *k, const double *p, const double *x, const double *z, double scale,
                           double *dx, double *dp);

#endif
