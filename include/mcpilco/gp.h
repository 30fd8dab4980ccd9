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

/* Builds a kernel over D features from text. Feature lists are indices into the features, e.g. "se", "se(0,1,4)",
 * "se + mp(2)", "pi(6,7,8) + se(0,1,2,3,4,5)", "linear(3)*se", "matern32", "matern52", "rq", "periodic(0)".
 * No list = features 0 .. defaults-1 (so that basis functions appended after them stay out of "se").
 * Parameters, each a log: se: lambda, lengthscale per feature (k = lambda^2 exp(-sum ((x-z)/l)^2));
 * mp(d): for each factor sigma^2 then diag per feature (k = prod_r (sigma_r^2 + x' diag_r z)); pi, linear: diag per
 * feature (k = sum diag_i x_i z_i); matern, rq, periodic as documented in docs/kernels.md. */
MCP_API mcp_status mcp_kernel_parse(mcp_kernel **out, const char *text, int features, int defaults, mcp_error *err);

/* A user's kernel: value, derivative in x (added to dx), derivative in log parameters (times scale, added to dp). */
typedef struct {
    int params;
    double (*value)(void *user, const double *p, const double *x, const double *z);
    double (*gradient)(void *user, const double *p, const double *x, const double *z, double scale, double *dx,
                       double *dp);
    void *user;
} mcp_user_kernel;
MCP_API mcp_status mcp_kernel_from_user(mcp_kernel **out, int features, const mcp_user_kernel *uk, mcp_error *err);

MCP_API int         mcp_kernel_params(const mcp_kernel *k);
MCP_API const char *mcp_kernel_param_name(const mcp_kernel *k, int i); /* "se.log_lengthscale[2]" */
MCP_API void        mcp_kernel_free(mcp_kernel *k);

typedef struct {
    double   noise_floor;       /* smallest noise standard deviation, in target units; 0 = derived from the data */
    double   lengthscale_floor; /* smallest length-scale in standard deviations of its feature; 0 = none */
    double   noise_start;       /* 0 = a tenth of the targets' standard deviation */
    int      fix_lambda;        /* 1: SE signal deviation stays 1 */
    int      restarts;          /* additional starts besides the data-driven one */
    int      evaluations_max;   /* per start */
    uint64_t seed;
} mcp_gp_settings;
MCP_API void mcp_gp_settings_default(mcp_gp_settings *s);

typedef struct {
    double nlml;        /* negative log marginal likelihood reached */
    double noise_std;   /* learned */
    int    evaluations; /* likelihood evaluations, all starts */
    double jitter;      /* added to the diagonal to make the Cholesky factorisation work, 0 usually */
    double seconds;
} mcp_gp_info;

/* Copies X (n x features, row-major) and y; takes no ownership of kernel, which must outlive the gp. */
MCP_API mcp_status mcp_gp_create(mcp_gp **out, const mcp_kernel *kernel, int n, int features, const double *X,
                                 const double *y, mcp_error *err);
MCP_API void       mcp_gp_free(mcp_gp *gp);
/* Hyper-parameters: kernel parameters then log noise standard deviation: mcp_kernel_params + 1 numbers. */
MCP_API mcp_status    mcp_gp_set(mcp_gp *gp, const double *hyper, mcp_error *err);
MCP_API const double *mcp_gp_hyper(const mcp_gp *gp);
MCP_API mcp_status    mcp_gp_train(mcp_gp *gp, const mcp_gp_settings *s, mcp_gp_info *info, mcp_error *err);
/* Negative log marginal likelihood at the present hyper-parameters and its gradient (may be NULL). */
MCP_API mcp_status mcp_gp_nlml(mcp_gp *gp, double *nlml, double *gradient, mcp_error *err);
/* Exact posterior at m points (m x features, row-major): mean and latent variance; either may be NULL. */
MCP_API mcp_status mcp_gp_predict(mcp_gp *gp, int m, const double *X, double *mean, double *var, mcp_error *err);

#ifdef __cplusplus
}
#endif
#endif
