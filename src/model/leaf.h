/* leaf.h - one base kernel made ready for batches: nz fixed points against lanes of queries.
 *   rows  [row][ld]   what the kernel reads of the queries, made by mcp_cov_forward:
 *                     stationary: x_d/l_d (se: times sqrt(log2 e))   dot: x_d
 *                       periodic: a_d = pi x_d/t_d, then sin a_d, then cos a_d
 *   Z     nz x cols   the same of the fixed points; dot: g_rd z_d for each factor r
 *   K     [z][ldk]    values          kbar  [z][ldb]  dJ/dK          c, S: see below
 * Strip functions work on MCP_LANES lanes; their pointers already stand at the first of them. */
#ifndef MCP_LEAF_H
#define MCP_LEAF_H

#include "math/isa.h"
#include "model/kernel.h"

typedef struct {
    mcp_kernel_kind kind;
    int             nz, D, degree;
    int             nrows, cols;
    double          s2, alpha;
    double          power[12], cap; /* se: s2 times the coefficients of 2^-g; largest exponent (se.isa.c) */
    const double   *Z;      /* nz x cols                              */
    const double   *w;      /* D: 1/l_d                               */
    const double   *offset; /* degree: sigma_r^2; zeros without offset */
} mcp_leaf;

/* K[z][j] = k, n lanes; the others add to K when add is set. */
#define MCP_SE_FORWARD_ARGS (const mcp_leaf *f, int n, int ld, const double *rows, double *K, int ldk)
#define MCP_SE_SLOPE_ARGS (int nz, const double *K, int ldk, const double *kbar, int ldb, double *c)
#define MCP_LEAF_FORWARD_ARGS \
    (const mcp_leaf *f, int n, int ld, const double *rows, double *K, int ldk, int add)
/* c[z][MCP_LANES] = kbar * (-dk/dq); returns sum of kbar dk/dlog(alpha) over the strip (rq). */
#define MCP_LEAF_SLOPE_ARGS \
    (const mcp_leaf *f, int ld, const double *rows, const double *kbar, int ldb, double *c)
/* c[z][MCP_LANES] = kbar * product of the factors other than r (dot). */
#define MCP_LEAF_REST_ARGS \
    (const mcp_leaf *f, int r, int ld, const double *rows, const double *kbar, int ldb, double *c)
/* S[d][MCP_LANES] = sum_z c[z] A[z*lda + d] for d < D, S[D] = sum_z c[z]. */
#define MCP_LEAF_REDUCE_ARGS (int nz, int D, const double *A, int lda, const double *c, int ldc, double *S)
/* dl[d] += sum over z and lanes of 2 c (row_d - Z_d)^2: derivative in the log length-scales. */
#define MCP_LEAF_LENGTHS_ARGS (const mcp_leaf *f, int ld, const double *rows, const double *c, double *dl)
/* Periodic: adds to S[d][MCP_LANES] the derivative in a_d; to dt, dl (NULL = not wanted) those in log t_d,
 * log l_d. */
#define MCP_LEAF_PERIODIC_ARGS \
    (const mcp_leaf *f, int ld, const double *rows, const double *c, double *S, double *dt, double *dl)

MCP_ISA_DECLARE(void, mcp_se_forward, MCP_SE_FORWARD_ARGS);
MCP_ISA_DECLARE(void, mcp_se_slope, MCP_SE_SLOPE_ARGS);
MCP_ISA_DECLARE(void, mcp_stationary_forward, MCP_LEAF_FORWARD_ARGS);
MCP_ISA_DECLARE(double, mcp_stationary_slope, MCP_LEAF_SLOPE_ARGS);
MCP_ISA_DECLARE(void, mcp_stationary_lengths, MCP_LEAF_LENGTHS_ARGS);
MCP_ISA_DECLARE(void, mcp_dot_forward, MCP_LEAF_FORWARD_ARGS);
MCP_ISA_DECLARE(void, mcp_dot_rest, MCP_LEAF_REST_ARGS);
MCP_ISA_DECLARE(void, mcp_leaf_reduce, MCP_LEAF_REDUCE_ARGS);
MCP_ISA_DECLARE(void, mcp_periodic_forward, MCP_LEAF_FORWARD_ARGS);
MCP_ISA_DECLARE(void, mcp_periodic_backward, MCP_LEAF_PERIODIC_ARGS);

/* mean[j] = sum_z alpha[z] K[z][j]; squares[j] = sum_z A[z][j]^2 over the first nv points. K and A have the
 * same stride. */
#define MCP_MOMENTS_ARGS \
    (int nz, int nv, int n, const double *alpha, const double *K, const double *A, int ld, double *mean, \
     double *squares)
/* kbar[z][MCP_LANES] = mean_bar alpha[z] - 2 var_bar V[z], V = 0 from the nv-th on: one strip. */
#define MCP_KBAR_ARGS \
    (int nz, int nv, const double *alpha, const double *V, int ldv, const double *mean_bar, \
     const double *var_bar, double *kbar)
MCP_ISA_DECLARE(void, mcp_moments_forward, MCP_MOMENTS_ARGS);
MCP_ISA_DECLARE(void, mcp_moments_backward, MCP_KBAR_ARGS);

#endif
