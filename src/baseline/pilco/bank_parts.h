/* bank_parts.h - the inside of mcp_bank, for bank.c and bank_create.c only. */
#ifndef MCP_PILCO_BANK_PARTS_H
#define MCP_PILCO_BANK_PARTS_H

#include "baseline/pilco/bank_levels.h"
#include "baseline/pilco/moments.h"

/* Points of one output: all data, or its inducing points. */
typedef struct {
    int     n, ld;
    double *XT;   /* [D][ld], padding 0 */
    double *beta; /* [ld], padding 0 */
    double *W; /* [n][ld]: upper triangle of beta beta^T - Q, off the diagonal doubled; Q = (K + noise)^-1
                  when all data */
} mcp_bank_output;

struct mcp_bank {
    int              D, E, ld; /* ld: the largest of the outputs' */
    mcp_bank_output *output;   /* [E] */
    double          *inv_l2;   /* [E][D] */
    double          *log_s2;   /* [E] log of the signal variance */
    void (*rows)(const mcp_bank_rows_args *a);
    void (*sums)(int ld, int D, const double *s, const double *t, double *p, double *T1, double *T2,
                 double *T3, double *T4);
};

#endif
