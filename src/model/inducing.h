/* inducing.h - which data points carry the model, and the posterior through them. */
#ifndef MCP_INDUCING_H
#define MCP_INDUCING_H

#include "model/gp_parts.h"

typedef struct {
    int     m;        /* points kept */
    int    *index;    /* m: their place in the data */
    double *L;        /* n x ld: partial Cholesky factor, K ~ L L'; columns 0 .. m-1 in use */
    int     ld;
    double  residual; /* largest K_ii - (L L')_ii */
} mcp_inducing;

/* Greedy: always the point whose prior variance is explained worst, until that is at most `bound` (absolute), or m_max
 * points (0 = n) are in. Free with mcp_inducing_free, also after failure. */
mcp_status mcp_inducing_select(mcp_inducing *s, const mcp_gp *gp, double bound, int m_max, mcp_error *err);
void       mcp_inducing_free(mcp_inducing *s);

/* Q (m x m) and alpha (m) of the projected process through the selected points. */
mcp_status mcp_inducing_posterior(const mcp_inducing *s, const mcp_gp *gp, mcp_isa level, double *Q, double *alpha,
                                  mcp_error *err);

#endif
