/* vecmath_levels.h - the array functions at every level, for vecmath.c and vecmath.isa.c only. */
#ifndef MCP_VECMATH_LEVELS_H
#define MCP_VECMATH_LEVELS_H

#include "math/isa.h"

MCP_ISA_DECLARE(void, mcp_vec_exp, (int n, const double *x, double *y));
MCP_ISA_DECLARE(void, mcp_vec_log, (int n, const double *x, double *y));
MCP_ISA_DECLARE(void, mcp_vec_sin, (int n, const double *x, double *y));
MCP_ISA_DECLARE(void, mcp_vec_cos, (int n, const double *x, double *y));
MCP_ISA_DECLARE(void, mcp_vec_tanh, (int n, const double *x, double *y));

#endif
