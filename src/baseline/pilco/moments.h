/* moments.h - mean, covariance and input-output covariance of functions of a Gaussian vector x ~ N(m, S),
 * with adjoints.
 *
 * Everywhere: n dimensions, S full n x n row-major and symmetric; M, V outputs' mean and covariance; C = S^-1
 * cov(x, output), n rows, so that cov(anything Gaussian with x, output) = cov(anything, x) C. Backward adds;
 * S_bar is the derivative with respect to every entry of S on its own and is symmetric only after adding its
 * transpose. Angles count from 0. */
#ifndef MCP_PILCO_MOMENTS_H
#define MCP_PILCO_MOMENTS_H

#include <stddef.h>

#include "math/isa.h"
#include "math/pool.h"
#include "mcpilco/error.h"
#include "mcpilco/gp.h"

typedef struct {
    int           n;
    const double *m, *S;
} mcp_gauss;
typedef struct {
    double *m, *S; /* added to */
} mcp_gauss_bar;
typedef struct {
    double *M, *V, *C;
} mcp_moments;
typedef struct {
    const double *M, *V, *C;
} mcp_moments_bar;

/* sin(x_a), cos(x_a) for each angle, in that order: M [2k], V [2k][2k], C [n][2k]. */
void mcp_trig_forward(const mcp_gauss *x, int k, const int *angle, const mcp_moments *out);
void mcp_trig_backward(const mcp_gauss *x, int k, const int *angle, const mcp_moments_bar *out_bar,
                       const mcp_gauss_bar *x_bar);

/* sum_h weight[h] sin(rate[h] x_a) times amplitude e[a]: the plain sine is one term of weight and rate 1, the
 * squashing function (9 sin x + sin 3x)/8 two terms. M [k], V [k][k], C [n][k]. */
typedef struct {
    int    terms;
    double weight[2], rate[2];
} mcp_sine_sum;
extern const mcp_sine_sum mcp_sine_plain, mcp_sine_squash;
void mcp_sine_forward(const mcp_sine_sum *f, const mcp_gauss *x, int k, const int *index, const double *e,
                      const mcp_moments *out);
void mcp_sine_backward(const mcp_sine_sum *f, const mcp_gauss *x, int k, const int *index, const double *e,
                       const mcp_moments_bar *out_bar, const mcp_gauss_bar *x_bar);

/* Saturating loss 1 - exp(-(x-z)^T W (x-z)/2): mean, variance, derivatives of the mean; all but the mean may
 * be NULL. work: 4 n n + 4 n. */
typedef struct {
    double *mean, *variance, *mean_dm, *mean_dS;
} mcp_loss;
mcp_status mcp_loss_saturating(const mcp_gauss *x, const double *z, const double *W, const mcp_loss *out,
                               double *work, mcp_error *err);

/* Deterministic radial basis network, phi_i = exp(-sum_d (x_d - c_id)^2/(2 lambda_d)), outputs w phi:
 *   w [o][b]  c [b][n]  lambda [n]      M [o], V [o][o], C [n][o]
 *     work: mcp_network_work doubles, kept for backward */
typedef struct {
    int           n, b, o;
    const double *w, *c, *lambda;
} mcp_network;
typedef struct {
    double *w, *c, *lambda; /* added to */
} mcp_network_bar;
int        mcp_network_work(int n, int b);
mcp_status mcp_network_forward(const mcp_network *net, const mcp_gauss *x, const mcp_moments *out,
                               double *work, mcp_error *err);
/* M: the mean that forward gave. */
void mcp_network_backward(const mcp_network *net, const mcp_gauss *x, const double *M,
                          const mcp_moments_bar *out_bar, double *work, const mcp_gauss_bar *x_bar,
                          const mcp_network_bar *net_bar);

/* A bank of Gaussian processes with squared-exponential kernels (with the usual 1/2) on the same inputs. */
typedef struct mcp_bank mcp_bank;
/* X [n][D]; Y [E][n]; hyper [E][D+2]: log length-scales, log signal deviation, log noise deviation. Copies
 * everything. */
typedef struct {
    int           n, D, E;
    const double *X, *Y, *hyper;
} mcp_bank_data;
mcp_status mcp_bank_create(mcp_bank **out, const mcp_bank_data *data, mcp_isa level, mcp_error *err);
/* From trained GPs with the kernel se over all features (no 1/2 in the library's kernel: taken care of),
 * through as many inducing points as leave at most this fraction of the noise variance unexplained at the
 * data; tolerance 0, points_max 0: all. */
mcp_status mcp_bank_create_sparse(mcp_bank **out, int E, mcp_gp *const *gp, double tolerance, int points_max,
                                  mcp_isa level, mcp_error *err);
void       mcp_bank_free(mcp_bank *b);
int        mcp_bank_points(const mcp_bank *b); /* most of any output */
int        mcp_bank_inputs(const mcp_bank *b);
int        mcp_bank_outputs(const mcp_bank *b);
/* Forward also leaves in tape all that backward needs: the N^2 sums are taken once. M [E], V [E][E], C
 * [D][E]. V is the covariance of the latent functions: no noise. work: mcp_bank_work doubles of scratch. */
size_t     mcp_bank_tape(const mcp_bank *b);
size_t     mcp_bank_work(const mcp_bank *b);
mcp_status mcp_bank_forward(const mcp_bank *b, const mcp_gauss *x, const mcp_moments *out, double *tape,
                            double *work, mcp_pool *pool, mcp_error *err);
void       mcp_bank_backward(const mcp_bank *b, const double *M, const double *M_bar, const double *V_bar,
                             const double *C_bar, const double *tape, double *m_bar, double *S_bar);

#endif
