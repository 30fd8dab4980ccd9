/* gp_parts.h - the inside of mcp_gp and the pieces that training and the posterior share. */
#ifndef MCP_GP_PARTS_H
#define MCP_GP_PARTS_H

#include "math/isa.h"
#include "model/kernel_batch.h"
#include "model/posterior.h"

struct mcp_gp {
    const mcp_kernel *kernel;
    int               n, features, ld; /* ld = n rounded up to whole groups of lanes */
    double           *X, *y;           /* n x features, n                            */
    double           *F;               /* X transposed for batches: [feature][ld], padded with zeros */
    double           *hyper;           /* kernel parameters, then log noise standard deviation */
    int               band;            /* of the noise's correlation, 0: white          */
    int               known; /* 1: lag is a covariance beside the white noise, not a correlation of it */
    double           *lag;             /* [n][band + 1], NULL: white                  */
    double           *root;            /* [n][band + 1]: its Cholesky factor, root[i][k] = L(i, i - k) */
    mcp_kernel       *own_kernel;      /* of mcp_gp_from_text; NULL: the caller's       */
    void             *block;           /* what X, y, F and hyper are part of            */
    mcp_gp_info       info;            /* of the last training                          */
    mcp_posterior_settings kind;       /* how mcp_gp_predict predicts                   */
    mcp_posterior         *posterior;  /* NULL until needed                             */
    mcp_posterior_info     certificate;
};

/* After data, hyper-parameters, noise or kind changed: the posterior is made again when it is needed. */
void mcp_gp_forget(mcp_gp *gp);

/* Start and bounds of every hyper-parameter, from the scale of the data (hyper_start.c). Arrays of params
 * + 1. */
void mcp_gp_start(const mcp_gp *gp, const mcp_gp_settings *s, double *start, double *lower, double *upper);
/* Deviations of the prior of hyper-parameter i (a log) below and above its start; i = params: the noise. */
void mcp_gp_prior(const mcp_gp *gp, int i, double *below, double *above);

/* Workspace of the likelihood of one gp (likelihood.c): everything n x n, allocated once. */
typedef struct mcp_likelihood mcp_likelihood;
mcp_status mcp_likelihood_create(mcp_likelihood **out, const mcp_gp *gp, mcp_isa level, mcp_error *err);
void       mcp_likelihood_free(mcp_likelihood *w);
/* nlml at hyper and its gradient (NULL = not wanted); *jitter as in mcp_gp_info. */
mcp_status mcp_likelihood_run(mcp_likelihood *w, const double *hyper, double *nlml, double *gradient,
                              double *jitter, mcp_error *err);

/* The noise's correlation R (correlated_noise.c). */
void mcp_noise_add(const mcp_gp *gp, int m, const int *index, double s2, double *A,
                   int ld); /* A += s2 R of these points; NULL: all */
double mcp_noise_trace(const mcp_gp *gp, const double *W, int ld); /* trace of W d(s2 R)/ds2, W symmetric */
void mcp_noise_solve(const mcp_gp *gp, double *x); /* x = R^-1 x, n numbers */
void mcp_noise_follow(mcp_gp *gp); /* after the hyper-parameters changed */
double mcp_noise_level(const mcp_gp *gp); /* the variance that accuracies are measured in */

/* Some of a gp's data, by their place; index NULL: the first m. */
typedef struct {
    const mcp_gp *gp;
    int           m;
    const int    *index;
} mcp_gp_points;

/* A = K + s2 R + jitter I = L L' (lower triangle of A) over these points; jitter grows from 0 until it works,
 * else MCP_ERR_NUMERIC. K is m x ld. */
mcp_status mcp_gp_factor(const mcp_gp_points *of, int ld, const double *K, double s2, double *A,
                         double *jitter, mcp_error *err);

#endif
