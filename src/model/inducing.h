/* inducing.h - which data points carry the model, and the posterior through them. */
#ifndef MCP_INDUCING_H
#define MCP_INDUCING_H

#include "model/gp_parts.h"

typedef struct {
    int     m, m_max; /* points kept; most that can be */
    int    *index;    /* m: their place in the data    */
    double *L;        /* n x ld: partial Cholesky factor, K ~ L L'; columns 0 .. m-1 in use */
    int     ld;
    double *rest;     /* n: K_ii - (L L')_ii; -1 for the points kept */
    double  largest;  /* largest prior variance at the data          */
    double  residual; /* largest of rest                             */
} mcp_inducing;

/* No points yet; m_max = 0 means n. Free with mcp_inducing_free, also after failure. */
mcp_status mcp_inducing_start(mcp_inducing *s, const mcp_gp *gp, int m_max, mcp_error *err);
/* Adds, again and again, the point whose prior variance is explained worst, until that is at most `bound` (absolute) or
 * m_max points are in. May be called again with a smaller bound. */
void mcp_inducing_extend(mcp_inducing *s, const mcp_gp *gp, double bound);
void mcp_inducing_free(mcp_inducing *s);

/* Q (m x m) and alpha (m) of the projected process through the selected points. */
mcp_status mcp_inducing_posterior(const mcp_inducing *s, const mcp_gp *gp, mcp_isa level, double *Q, double *alpha,
                                  mcp_error *err);

#endif
