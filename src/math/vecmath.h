/* vecmath.h - exp, log, sin, cos, tanh over arrays, at the machine's best vector width. n is a multiple of
 * MCP_LANES. */
#ifndef MCP_VECMATH_H
#define MCP_VECMATH_H

#include "math/isa.h"

typedef void mcp_vec_fn(int n, const double *x, double *y); /* x == y is allowed */

typedef struct {
    mcp_isa     level;
    mcp_vec_fn *exp, *log, *sin, *cos, *tanh;
} mcp_vecmath;

/* A constant table for that level. */
const mcp_vecmath *mcp_vecmath_get(mcp_isa level);

#endif
