/* vecmath.isa.c - y[i] = f(x[i]), whole vectors only. */
#include "math/vecmath.h"

#include "math/elementary.h"
#include "math/vecmath_levels.h"

#define ARRAY_FN(f)                                                                           \
    void MCP_ISA_FN(mcp_vec_##f)(int n, const double *x, double *y)                           \
    {                                                                                         \
        for (int i = 0; i < n; i += MCP_W) mcp_v_store(y + i, mcp_v_##f(mcp_v_load(x + i)));  \
    }
ARRAY_FN(exp)
ARRAY_FN(log)
ARRAY_FN(sin)
ARRAY_FN(cos)
ARRAY_FN(tanh)
