/* gp.h - Gaussian process regression: kernels, training by marginal likelihood, prediction. */
#ifndef MCPILCO_GP_H
#define MCPILCO_GP_H

#include <stdint.h>

#include "mcpilco/error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mcp_kernel mcp_kernel; /* opaque tree */
typedef struct mcp_gp     mcp_gp;     /* kernel + data + hyper-parameters */

/* Builds a kernel over D features from text: base kernels joined by + and *, with parentheses, each
 * followed by the
 * indices of the features it reads, e.g. "se", "se(0,1,4)", "se + mp(2)", "mp(2; 0,3)", "pi(6,7,8) +
 * se(0,1,2,3,4,5)", "linear(3)*se", "matern32", "matern52", "rq", "periodic(0)". No list = features 0 ..
 * defaults-1 (so that basis functions appended after them stay out of "se"). Parameters, each a natural
 * logarithm, in this order:
 *   se, matern32, matern52: lambda, then one length-scale per feature
 *     se: k = lambda^2 exp(-sum_d ((x_d - z_d)/l_d)^2)
 *   rq: lambda, alpha, length-scales     periodic: lambda, periods, length-scales
 *   mp(d): for each factor r: sigma_r^2, then diag_r per feature
 *     k = prod_r (sigma_r^2 + x' diag_r z)
 *   pi, linear: diag per feature                                            k = sum_d diag_d x_d z_d
 * docs/kernels.md has every formula. A mistake is MCP_ERR_ARG with its column and what was expected there. */
MCP_API mcp_status mcp_kernel_parse(mcp_kernel **out, const char *text, int features, int defaults,
                                    mcp_error *err);

/* A user's kernel k(x, z), symmetric and positive semi-definite, over all features. gradient returns the
 * value and adds scale * dk/dx to dx and scale * dk/dp to dp; either may be NULL. Both must be callable from
 * several threads. */
typedef struct {
    int params;
    double (*value)(void *user, const double *p, const double *x, const double *z);
    double (*gradient)(void *user, const double *p, const double *x, const double *z, double scale,
                       double *dx, double *dp);
    void *user;
} mcp_user_kernel;
MCP_API mcp_status mcp_kernel_from_user(mcp_kernel **out, int features, const mcp_user_kernel *uk,
                                        mcp_error *err);

/* a + b and a * b of any two kernels over the same features (copies both). */
MCP_API mcp_status mcp_kernel_sum(mcp_kernel **out, const mcp_kernel *a, const mcp_kernel *b, mcp_error *err);
MCP_API mcp_status mcp_kernel_product(mcp_kernel **out, const mcp_kernel *a, const mcp_kernel *b,
                                      mcp_error *err);

MCP_API int         mcp_kernel_params(const mcp_kernel *k);
MCP_API int         mcp_kernel_features(const mcp_kernel *k);
MCP_API const char *mcp_kernel_param_name(const mcp_kernel *k,
                                          int i); /* "se.log_lengthscale[2]", [2] the feature */
/* Canonical text: mcp_kernel_parse(text, features, features) builds the same kernel (not one made from a
 * user's). */
MCP_API const char *mcp_kernel_text(const mcp_kernel *k);
MCP_API void        mcp_kernel_free(mcp_kernel *k);

typedef struct {
    double noise_floor; /* smallest noise standard deviation, in target units; 0 = 1e-3 of the targets' rms */
    /* smallest length-scale in standard deviations of its feature; 0 = 1e-2 of one */
    double lengthscale_floor;
    double noise_start; /* where the noise standard deviation starts; 0 = a tenth of the targets' rms */
    int      fix_lambda;        /* 1: lambda of every se, matern, rq and periodic stays 1 */
    int from_present; /* 1: the first start is the present hyper-parameters, not the data-driven ones */
    int      restarts;          /* additional starts besides the first one */
    int      evaluations_max;   /* per start */
    uint64_t seed;
} mcp_gp_settings;
MCP_API void mcp_gp_settings_default(mcp_gp_settings *s);

typedef struct {
    double nlml;        /* negative log marginal likelihood reached */
    double nlml_start;  /* at the first start */
    double noise_std;   /* learned */
    int    starts;      /* starts that gave a usable likelihood */
    int    evaluations; /* likelihood evaluations, all starts */
    double jitter;      /* added to the diagonal to make the Cholesky factorisation work, 0 usually */
    double seconds;
} mcp_gp_info;

/* Copies X (n x features, row-major) and y; takes no ownership of kernel, which must outlive the gp. n >= 2;
 * numbers must be finite. The hyper-parameters start where the data suggest (as training would). */
MCP_API mcp_status mcp_gp_create(mcp_gp **out, const mcp_kernel *kernel, int n, int features, const double *X,
                                 const double *y, mcp_error *err);
MCP_API void       mcp_gp_free(mcp_gp *gp);
/* Noise that is correlated between neighbouring data points: lag[i][k], k = 0 .. band, is the correlation of
 * the noise of points i and i + k (lag[i][0] = 1; what reaches beyond the last point is not read). n x (band
 * + 1), copied; the whole must be positive definite, else MCP_ERR_NUMERIC. Without this call, or with band =
 * 0, the noise is white. */
MCP_API mcp_status mcp_gp_noise_shape(mcp_gp *gp, int band, const double *lag, mcp_error *err);
/* Covariance of the noise of points i and j. */
MCP_API double mcp_gp_noise_between(const mcp_gp *gp, int i, int j);
/* Hyper-parameters: kernel parameters then log noise standard deviation: mcp_kernel_params + 1 numbers. */
MCP_API mcp_status    mcp_gp_set(mcp_gp *gp, const double *hyper, mcp_error *err);
MCP_API const double *mcp_gp_hyper(const mcp_gp *gp);
/* Maximises the marginal likelihood in log space between bounds. On failure the hyper-parameters are as
 * before. info may be NULL. */
MCP_API mcp_status    mcp_gp_train(mcp_gp *gp, const mcp_gp_settings *s, mcp_gp_info *info, mcp_error *err);
/* The same for several GPs, on up to `threads` threads (<= 0: one per core). s and info have one entry per GP
 * (info may be NULL). Results do not depend on threads. The error is that of the first GP that failed. */
MCP_API mcp_status mcp_gp_train_all(mcp_gp *const *gp, int count, const mcp_gp_settings *s, mcp_gp_info *info,
                                    int threads, mcp_error *err);
/* Negative log marginal likelihood at the present hyper-parameters and its gradient (may be NULL). */
MCP_API mcp_status mcp_gp_nlml(mcp_gp *gp, double *nlml, double *gradient, mcp_error *err);
/* Exact posterior at m points (m x features, row-major): mean and latent variance; either may be NULL. */
MCP_API mcp_status mcp_gp_predict(mcp_gp *gp, int m, const double *X, double *mean, double *var,
                                  mcp_error *err);

/* What a gp is made of: mcp_gp_create with the same kernel text, X and y, then mcp_gp_set with the same
 * hyper, gives the same gp to the bit. Pointers are the gp's own. */
MCP_API int               mcp_gp_count(const mcp_gp *gp);    /* n */
MCP_API int               mcp_gp_features(const mcp_gp *gp); /* columns of X */
MCP_API const double     *mcp_gp_inputs(const mcp_gp *gp);   /* X, n x features, row-major */
MCP_API const double     *mcp_gp_targets(const mcp_gp *gp);  /* y, n */
MCP_API const mcp_kernel *mcp_gp_kernel(const mcp_gp *gp);
MCP_API double            mcp_gp_noise_var(const mcp_gp *gp);
MCP_API double            mcp_gp_prior_var(const mcp_gp *gp, const double *x); /* k(x, x) */

#ifdef __cplusplus
}
#endif
#endif
