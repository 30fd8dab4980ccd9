/* strip.h - a GP with a squared-exponential kernel, or the sum of one and a linear kernel, sampled in single
 * precision, strip by strip of lanes.
 *   k = 2^-|x - z|^2 + y'w, x and z in units of l/sqrt(log2 e) from the centre of the points, y and w the
 *     linear kernel's in units of lambda/sqrt(g): made in double precision, then rounded
 *   A = W k,  var = lambda^2 (1 + |y|^2 - |A|^2),  change = alpha' k + sqrt(var + more) eps
 *   row = d change/df = sum_z (alpha_z - lambda^2 eps/std V_z) dk_z/df + lambda^2 eps/std y dy/df,  V = W' A
 * k, A, V and what few points add to the mean and the row are single; sums of these, |A|^2, the difference
 * and the root are double. A strip's k and A stay in the first-level cache, and nothing is kept of it. */
#ifndef MCP_STRIP_H
#define MCP_STRIP_H

#include <stddef.h>

#include "math/isa.h"

/* Lanes of a strip, rows of a packed panel, points taken at a time. */
enum { MCP_STRIP = 16, MCP_STRIP_ROWS = 6, MCP_STRIP_POINTS = 4 };

typedef struct {
    int           m, mv, D;  /* points (a multiple of MCP_STRIP_POINTS), the variance's, features read */
    int           L;         /* features of the linear kernel; 0: there is none */
    double        lambda2, floor;
    const int    *feature;   /* [D] their rows in F */
    const double *centre, *scale; /* [D] x = (f - centre) scale */
    const int    *line_feature; /* [L] */
    const double *line_scale;   /* [L] y = f line_scale */
    const float  *Z, *Zl;    /* [m][D], [m][L] */
    const float  *alpha;     /* [m], times lambda^2; 0 for points that fill up */
    const float  *W, *Wt;    /* lambda W and its transpose: panels of rows, each as long as its triangle */
} mcp_strip_model;

typedef struct {
    int           n, ld;
    const double *F, *eps; /* [feature][ld], [ld] */
    double        more;    /* noise variance that the sample is drawn with */
    double       *mean, *std;
    double       *row;     /* [feature][ld], those that the kernel reads are added to; NULL: not wanted */
    float        *work;    /* mcp_strip_work floats */
} mcp_strip_call;

static inline size_t mcp_strip_work(const mcp_strip_model *p)
{
    int most = p->m > p->mv ? p->m : p->mv;
    return (size_t)(p->D + p->L + (p->L ? 2 : 1) * p->m + most + MCP_STRIP_ROWS) * MCP_STRIP;
}

MCP_ISA_DECLARE(void, mcp_strip_sample, (const mcp_strip_model *p, const mcp_strip_call *c));

#endif
