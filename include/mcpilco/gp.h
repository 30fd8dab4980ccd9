/* gp.h - Gaussian process regression: kernels, training by marginal likelihood, prediction, samples.
 *
 *   mcp_gp_from_text(&gp, "se", n, features, X, y, &err);
 *   mcp_gp_train(gp, NULL, &err);
 *   mcp_gp_predict(gp, m, at, mean, var, &err);
 *   mcp_gp_free(gp); */
#ifndef MCPILCO_GP_H
#define MCPILCO_GP_H

#include <stddef.h>
#include <stdint.h>

#include "mcpilco/error.h"
#include "mcpilco/registry.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mcp_kernel mcp_kernel; /* opaque tree */
typedef struct mcp_gp     mcp_gp;     /* kernel + data + hyper-parameters */

/* Builds a kernel over D features from text: base kernels joined by + and *, with parentheses, each followed
 * by the indices of the features it reads, e.g. "se", "se(0,1,4)", "se + mp(2)", "mp(2; 0,3)",
 * "pi(6,7,8) + se(0,1,2,3,4,5)", "linear(3)*se", "matern32", "matern52", "rq", "periodic(0)". No list =
 * features 0 .. defaults-1 (so that basis functions appended after them stay out of "se"). Parameters, each
 * a natural logarithm, in this order:
 *   se, matern32, matern52: lambda, then one length-scale per feature
 *     se: k = lambda^2 exp(-sum_d ((x_d - z_d)/l_d)^2)
 *   rq: lambda, alpha, length-scales     periodic: lambda, periods, length-scales
 *   mp(d): for each factor r: sigma_r^2, then diag_r per feature
 *     k = prod_r (sigma_r^2 + x' diag_r z)
 *   pi, linear: diag per feature                                            k = sum_d diag_d x_d z_d
 * docs/kernels.md has every formula. A mistake is MCP_ERR_ARG with its column and what was expected there. */
MCP_API mcp_status mcp_kernel_parse(mcp_kernel **out, const char *text, int features, int defaults,
                                    mcp_error *err) MCP_ANY_THREAD;
/* The same where a word may also be the name of one of the registry's kernels (read now, not kept). */
MCP_API mcp_status mcp_kernel_parse_with(mcp_kernel **out, const mcp_registry *registry, const char *text,
                                         int features, int defaults, mcp_error *err) MCP_ANY_THREAD;
/* A user's kernel over all features. */
MCP_API mcp_status mcp_kernel_from_user(mcp_kernel **out, int features, const mcp_user_kernel *uk,
                                        mcp_error *err) MCP_ANY_THREAD;

/* a + b and a * b of any two kernels over the same features (copies both). */
MCP_API mcp_status mcp_kernel_sum(mcp_kernel **out, const mcp_kernel *a, const mcp_kernel *b,
                                  mcp_error *err) MCP_ANY_THREAD;
MCP_API mcp_status mcp_kernel_product(mcp_kernel **out, const mcp_kernel *a, const mcp_kernel *b,
                                      mcp_error *err) MCP_ANY_THREAD;
MCP_API void       mcp_kernel_free(mcp_kernel *k) MCP_ONE_THREAD;

MCP_API int mcp_kernel_params(const mcp_kernel *k) MCP_READS;
MCP_API int mcp_kernel_features(const mcp_kernel *k) MCP_READS;
/* "se.log_lengthscale[2]", [2] the feature; "" past the last. */
MCP_API const char *mcp_kernel_param_name(const mcp_kernel *k, int i) MCP_READS;
/* Canonical text: mcp_kernel_parse(text, features, features) builds the same kernel (a user's needs its
 * registry). */
MCP_API const char *mcp_kernel_text(const mcp_kernel *k) MCP_READS;

typedef struct {
    size_t   size;        /* of this struct, written by mcp_gp_settings_default */
    double   noise_floor; /* smallest noise standard deviation, in target units; 0 = 1e-3 of their rms */
    /* smallest length-scale in standard deviations of its feature; 0 = 1e-2 of one */
    double   lengthscale_floor;
    double   noise_start;     /* where the noise standard deviation starts; 0 = a tenth of the targets' rms */
    int      fix_lambda;      /* 1: lambda of every se, matern, rq and periodic stays 1 */
    /* 1: the first start is the present hyper-parameters; the second, if there is one, what the data suggest,
     * and that has to be clearly better */
    int      from_present;
    int      restarts;        /* additional starts besides the first one */
    int      evaluations_max; /* per start */
    uint64_t seed;
    /* weight of weak log-normal priors around what the data suggest, against spiky fits; 0 = none */
    double   prior;
} mcp_gp_settings;
MCP_API void mcp_gp_settings_init(mcp_gp_settings *s, size_t size) MCP_ANY_THREAD;
#define mcp_gp_settings_default(s) mcp_gp_settings_init((s), sizeof(mcp_gp_settings))

typedef struct {
    double nlml;        /* negative log marginal likelihood reached */
    double nlml_start;  /* at the first start */
    double noise_std;   /* learned */
    int    starts;      /* starts that gave a usable likelihood */
    int    evaluations; /* likelihood evaluations, all starts */
    double jitter;      /* added to the diagonal to make the Cholesky factorisation work, 0 usually */
    double seconds;
} mcp_gp_info;

/* Copies X (n x features, row-major) and y; borrows kernel. n >= 2; numbers must be finite. The
 * hyper-parameters start where the data suggest (as training would). */
MCP_API mcp_status mcp_gp_create(mcp_gp **out, const mcp_kernel *kernel, int n, int features, const double *X,
                                 const double *y, mcp_error *err) MCP_ANY_THREAD;
/* The same with a kernel of its own, from text over all features. */
MCP_API mcp_status mcp_gp_from_text(mcp_gp **out, const char *kernel, int n, int features, const double *X,
                                    const double *y, mcp_error *err) MCP_ANY_THREAD;
MCP_API void       mcp_gp_free(mcp_gp *gp) MCP_ONE_THREAD;
/* Other data for the same kernel and hyper-parameters; the noise is white again. Pointers that
 * mcp_gp_inputs and mcp_gp_targets gave are void. On failure the gp is as before. */
MCP_API mcp_status mcp_gp_set_data(mcp_gp *gp, int n, const double *X, const double *y,
                                   mcp_error *err) MCP_ONE_THREAD;
/* Noise that is correlated between neighbouring data points: lag[i][k], k = 0 .. band, is the correlation of
 * the noise of points i and i + k (lag[i][0] = 1; what reaches beyond the last point is not read). n x (band
 * + 1), copied; the whole must be positive definite, else MCP_ERR_NUMERIC. Without this call, or with band =
 * 0, the noise is white. */
MCP_API mcp_status mcp_gp_noise_shape(mcp_gp *gp, int band, const double *lag,
                                      mcp_error *err) MCP_ONE_THREAD;
/* Noise of which a part is known: covariance[i][k] is what that part adds between points i and i + k, in the
 * targets' unit squared; positive semi-definite. The noise hyper-parameter is the deviation of what is white
 * beside it. Otherwise as mcp_gp_noise_shape; the last call of either counts. */
MCP_API mcp_status mcp_gp_noise_known(mcp_gp *gp, int band, const double *covariance,
                                      mcp_error *err) MCP_ONE_THREAD;
/* One datum more, last, whose noise has `variance` besides that of the others and is its own. From then on
 * the noise is as after mcp_gp_noise_known: call it after training. Pointers that mcp_gp_inputs and
 * mcp_gp_targets gave are void. */
MCP_API mcp_status mcp_gp_add(mcp_gp *gp, const double *x, double y, double variance,
                              mcp_error *err) MCP_ONE_THREAD;
/* Covariance of the noise of points i and j. */
MCP_API double mcp_gp_noise_between(const mcp_gp *gp, int i, int j) MCP_READS;

/* Hyper-parameters: kernel parameters then log noise standard deviation: mcp_kernel_params + 1 numbers. */
MCP_API mcp_status    mcp_gp_set(mcp_gp *gp, const double *hyper, mcp_error *err) MCP_ONE_THREAD;
MCP_API const double *mcp_gp_hyper(const mcp_gp *gp) MCP_READS;
/* The same by name: those of mcp_kernel_param_name, and "log_noise" last. */
MCP_API int         mcp_gp_hyper_count(const mcp_gp *gp) MCP_READS;
MCP_API const char *mcp_gp_hyper_name(const mcp_gp *gp, int i) MCP_READS; /* NULL past the last */
/* An unknown name is MCP_ERR_ARG. */
MCP_API mcp_status mcp_gp_hyper_get(const mcp_gp *gp, const char *name, double *value,
                                    mcp_error *err) MCP_READS;
MCP_API mcp_status mcp_gp_hyper_set(mcp_gp *gp, const char *name, double value,
                                    mcp_error *err) MCP_ONE_THREAD;

/* Maximises the marginal likelihood in log space between bounds. s NULL: the defaults. On failure the
 * hyper-parameters are as before. */
MCP_API mcp_status mcp_gp_train(mcp_gp *gp, const mcp_gp_settings *s, mcp_error *err) MCP_ONE_THREAD;
/* What the last successful training did; all zero before it. */
MCP_API const mcp_gp_info *mcp_gp_trained(const mcp_gp *gp) MCP_READS;
/* The same for several GPs, on up to `threads` threads (<= 0: one per core): s[i] (s may be NULL) for gp[i].
 * Results do not depend on threads. The error is that of the first GP that failed. */
MCP_API mcp_status mcp_gp_train_all(mcp_gp *const *gp, int count, const mcp_gp_settings *const *s,
                                    int threads, mcp_error *err) MCP_ONE_THREAD;
/* Negative log marginal likelihood at the present hyper-parameters and its gradient (may be NULL). */
MCP_API mcp_status mcp_gp_nlml(mcp_gp *gp, double *nlml, double *gradient, mcp_error *err) MCP_READS;

typedef enum { MCP_POSTERIOR_EXACT = 0, MCP_POSTERIOR_SPARSE, MCP_POSTERIOR_SUBSET } mcp_posterior_type;

typedef struct {
    int    points;          /* inducing points in use (all data when exact) */
    int    variance_points; /* those that the variance goes through         */
    /* largest unexplained prior variance at the data / noise variance (0 when exact): the certificate */
    double residual;
    /* SPARSE: largest difference from the exact posterior where it is checked, in noise standard deviations;
     * -1 when not checked (all points in, accuracy < 0, or more than 4000 data) */
    double mean_error, std_error;
    double jitter; /* added to the diagonal to make a factorisation work, 0 usually */
    size_t bytes;
} mcp_posterior_info;

/* How mcp_gp_predict predicts; exact without this call. SPARSE goes through inducing points, SUBSET through
 * data points alone: points are added until the prior variance that they leave unexplained at every data
 * point is at most `tolerance` of the noise variance, and at most points_max are (0: no limit). */
MCP_API mcp_status mcp_gp_posterior(mcp_gp *gp, mcp_posterior_type type, double tolerance, int points_max,
                                    mcp_error *err) MCP_ONE_THREAD;
/* Of the posterior in use; makes it if need be. */
MCP_API mcp_status mcp_gp_posterior_certificate(mcp_gp *gp, const mcp_posterior_info **info,
                                                mcp_error *err) MCP_ONE_THREAD;
/* Posterior at m points (m x features, row-major): mean and latent variance; either may be NULL. The first
 * call after new data, hyper-parameters or kind factorises, later ones reuse it. */
MCP_API mcp_status mcp_gp_predict(mcp_gp *gp, int m, const double *X, double *mean, double *var,
                                  mcp_error *err) MCP_ONE_THREAD;
/* Covariance of the latent function between m points, m x m, exact whatever kind predicts. */
MCP_API mcp_status mcp_gp_covariance(mcp_gp *gp, int m, const double *X, double *covariance,
                                     mcp_error *err) MCP_READS;
/* `draws` functions of the exact posterior at m points together: out is draws x m, row-major. The same seed
 * gives the same draws; draw i does not depend on how many there are. */
MCP_API mcp_status mcp_gp_sample(mcp_gp *gp, int m, const double *X, int draws, uint64_t seed, double *out,
                                 mcp_error *err) MCP_READS;

/* What a gp is made of: mcp_gp_create with the same kernel text, X and y, then mcp_gp_set with the same
 * hyper, gives the same gp to the bit. Pointers are the gp's own. */
MCP_API int               mcp_gp_count(const mcp_gp *gp) MCP_READS;    /* n */
MCP_API int               mcp_gp_features(const mcp_gp *gp) MCP_READS; /* columns of X */
MCP_API const double     *mcp_gp_inputs(const mcp_gp *gp) MCP_READS;   /* X, n x features, row-major */
MCP_API const double     *mcp_gp_targets(const mcp_gp *gp) MCP_READS;  /* y, n */
MCP_API const mcp_kernel *mcp_gp_kernel(const mcp_gp *gp) MCP_READS;
MCP_API double            mcp_gp_noise_var(const mcp_gp *gp) MCP_READS;
MCP_API double            mcp_gp_prior_var(const mcp_gp *gp, const double *x) MCP_READS; /* k(x, x) */

#ifdef __cplusplus
}
#endif
#endif
