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
    /* n: what the points kept leave of a function given by its values at the data, NULL = none */
    double *mean;
} mcp_inducing;

/* No points yet; m_max = 0 means n. Free with mcp_inducing_free, also after failure. */
mcp_status mcp_inducing_start(mcp_inducing *s, const mcp_gp *gp, int m_max, mcp_error *err);
/* Adds, again and again, the point whose prior variance is explained worst, until that is at most `bound`
 * (absolute) or m_max points are in. May be called again with a smaller bound. */
void mcp_inducing_extend(mcp_inducing *s, const mcp_gp *gp, double bound);
/* Adds up to count points, each the one where the unexplained prior variance is largest against the
 * posterior's standard deviation std (n): there the standard deviation is off by most. std NULL: where it is
 * largest. */
void mcp_inducing_level(mcp_inducing *s, const mcp_gp *gp, const double *std, int count);
/* Follows the function with these values at the data from now on: s->mean is what its projection onto the
 * points kept leaves. */
mcp_status mcp_inducing_follow(mcp_inducing *s, const mcp_gp *gp, const double *values, mcp_error *err);
/* Adds up to count points, each the one that takes most from that rest (in the norm of the kernel). */
void mcp_inducing_improve(mcp_inducing *s, const mcp_gp *gp, int count);
void mcp_inducing_free(mcp_inducing *s);

/* W (m x m, lower triangular: Q = W' W) and alpha (m) of the projected process through the first m of the
 * selected points. */
mcp_status mcp_inducing_posterior(const mcp_inducing *s, int m, const mcp_gp *gp, mcp_isa level, double *W,
                                  double *alpha, mcp_error *err);

#endif
