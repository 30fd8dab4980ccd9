/* posterior.h - a trained GP made ready for fast prediction over blocks of particles.
 *   F  [feature][lane]   mean, var  [lane]      n lanes, stride ld: both multiples of MCP_LANES (math/isa.h)
 *   mean = alpha' k,  var = k(f, f) - k' Q k,  k the covariances between f and the points kept (m of them)
 *     Q = W' W, W lower triangular: var = k(f, f) - |W k|^2
 *   exact   all data, Q = (K + s2 I)^-1, alpha = Q y
 *   sparse  inducing points: Q = Kmm^-1 - (Kmm + Kmn Knm/s2)^-1, alpha = (Kmm + Kmn Knm/s2)^-1 Kmn y/s2;
 *     the variance
 *           through the first of them, the mean through all: a point costs the mean one covariance, the
 *             variance m products
 *   subset  exact on the points kept
 * var is the latent variance, clamped from below at 1e-5 s2 with zero derivative there. NaN in gives NaN
 * out. A lane's result does not depend on n or on its place among the lanes, to the bit. */
#ifndef MCP_POSTERIOR_H
#define MCP_POSTERIOR_H

#include <stddef.h>

#include "math/isa.h"
#include "mcpilco/gp.h"

typedef struct {
    int type; /* mcp_posterior_type */
    /* SPARSE, SUBSET: points are added until the prior variance that they leave unexplained at every data
     * point is at most this fraction of the noise variance; 0 = all that matter */
    double tolerance;
    int                single; /* 1: sample in single precision where a test at the data finds it safe */
    int                points_max; /* SPARSE, SUBSET: most points kept; 0 = no limit */
    double accuracy; /* SPARSE: more points are added until the mean at the data differs from the exact one by
                        at most this fraction of the noise standard deviation, and the standard deviation by
                        15 times it at the data and at their mirror images in the nearest other trajectory. 0
                        = 3 % of tolerance: on fresh trajectories near the data the difference is then about
                        tolerance. Negative = only the bound above. */
} mcp_posterior_settings;

typedef struct mcp_posterior mcp_posterior;

/* Reads gp (data, hyper-parameters) now and keeps no reference to it, except to its kernel. */
mcp_status mcp_posterior_create(mcp_posterior **out, const mcp_gp *gp, const mcp_posterior_settings *s,
                                mcp_isa level, mcp_posterior_info *info, mcp_error *err);
void       mcp_posterior_free(mcp_posterior *p);
int        mcp_posterior_points(const mcp_posterior *p);
int        mcp_posterior_variance_points(const mcp_posterior *p); /* rows of Q */
double     mcp_posterior_noise_var(const mcp_posterior *p);

/* Whether it is sampled in single precision, and what the test found where it was made: largest error of mean
 * and standard deviation in noise standard deviations, error of the Jacobian's rows against their size. */
typedef struct {
    int    used, tried;
    double moment_error, row_error;
} mcp_single_info;
mcp_single_info mcp_posterior_single(const mcp_posterior *p);

/* Doubles of tape that forward writes and backward reads, for stride ld. */
size_t mcp_posterior_tape(const mcp_posterior *p, int ld);
void mcp_posterior_forward(const mcp_posterior *p, int n, int ld, const double *F, double *mean, double *var,
                           double *tape);
/* The same numbers for predictions that no backward follows, for half the products. */
void mcp_posterior_predict(const mcp_posterior *p, int n, int ld, const double *F, double *mean, double *var,
                           double *tape);
/* A sample of the change and its slope: mean + std eps, std = sqrt(var + more), and its Jacobian row
 * dmean/dF + eps/(2 std) dvar/dF. */
typedef struct {
    int           n, ld;
    const double *F, *eps;    /* [feature][ld], [ld] */
    int           single;     /* 1: in single precision where the posterior was admitted to it */
    double        more;       /* noise variance that the sample is drawn with, 0: none */
    double       *mean, *std; /* [ld] */
    double       *row;        /* [feature][ld]; NULL: not wanted */
    double       *tape;       /* mcp_posterior_tape doubles */
} mcp_sample_call;
void mcp_posterior_sample(const mcp_posterior *p, const mcp_sample_call *c);
/* Adds d(sum mean_bar mean + var_bar var)/dF to F_bar; V = W' W k is on the tape. What forward
 * wrote there is kept (backward may be called again), but part of the tape is scratch, so it is not const.
 * (The particle simulation calls it right after forward, with mean_bar = 1 and var_bar = eps/(2 sqrt(var)):
 * that is the Jacobian row of the sampled change, D numbers a lane, and the large tape never leaves the
 * cache.) */
void mcp_posterior_backward(const mcp_posterior *p, int n, int ld, const double *F, const double *mean_bar,
                            const double *var_bar, double *tape, double *F_bar);

#endif
