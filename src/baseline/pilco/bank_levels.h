/* bank_levels.h - the N^2 loop of moment matching at every level, for bank.c and bank.isa.c only. */
#ifndef MCP_PILCO_BANK_LEVELS_H
#define MCP_PILCO_BANK_LEVELS_H

#include "math/isa.h"

/* For rows i < n and columns j < ld (whole groups of lanes; padding columns have weight 0):
 *   P_ij = weight_ij exp(A_i + B_j + sum_d g_id w_dj)
 *   r_i = sum_j P_ij,  c_j += sum_i factor_i P_ij,  Y_id = sum_j P_ij w_dj
 *     r and Y are not yet times factor_i
 * g [n][D], w [D][ld], Y [n+1][D] (the last row is scratch), r [n + 1], P [2 ld] scratch. weight [n][ld],
 * or one row for all (stride 0). upper != 0: columns before row i's own group of lanes are skipped (their
 * weight is 0). factor NULL: 1. */
typedef struct {
    int           n, ld, D, stride, upper;
    const double *A, *B, *g, *w, *weight, *factor;
    double       *r, *c, *Y, *P;
} mcp_bank_rows_args;

MCP_ISA_DECLARE(void, mcp_bank_rows, (const mcp_bank_rows_args *a));
/* T1 = sum s_i, T2_d = sum s_i t_di, T3_de = sum s_i t_di t_ei, T4_def = ...: t [D][ld]; p [ld] is scratch.
 */
MCP_ISA_DECLARE(void, mcp_bank_sums,
                (int ld, int D, const double *s, const double *t, double *p, double *T1, double *T2,
                 double *T3, double *T4));

#endif
