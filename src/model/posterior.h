/* posterior.h - a trained GP made ready for fast prediction over blocks of particles.
 *   F  [feature][lane]   mean, var  [lane]      n lanes, stride ld: both multiples of MCP_LANES (math/isa.h)
 * var is the latent variance, clamped from below at 1e-10 of the prior variance with zero derivative there. */
#ifndef MCP_POSTERIOR_H
#define MCP_POSTERIOR_H

#include <stddef.h>

#include "math/isa.h"
#include "mcpilco/gp.h"

typedef enum { MCP_POSTERIOR_EXACT = 0, MCP_POSTERIOR_SPARSE, MCP_POSTERIOR_SUBSET } mcp_posterior_type;

typedef struct {
    mcp_posterior_type type;
    double             tolerance; /* SPARSE: bound on the lost prior variance at the data, as a fraction of the noise variance */
    int                points_max; /* SPARSE, SUBSET: most points kept; 0 = no limit */
} mcp_posterior_settings;

typedef struct mcp_posterior mcp_posterior;

typedef struct {
    int    points;   /* inducing points in use (all data when exact)      */
    double residual; /* SPARSE: largest residual variance / noise variance */
    size_t bytes;
} mcp_posterior_info;

/* Reads gp (data, hyper-parameters) now and keeps no reference to it, except to its kernel. */
mcp_status mcp_posterior_create(mcp_posterior **out, const mcp_gp *gp, const mcp_posterior_settings *s, mcp_isa level,
                                mcp_posterior_info *info, mcp_error *err);
void       mcp_posterior_free(mcp_posterior *p);
int        mcp_posterior_points(const mcp_posterior *p);
double     mcp_posterior_noise_var(const mcp_posterior *p);

/* Doubles of tape that forward writes and backward reads, for stride ld. */
size_t mcp_posterior_tape(const mcp_posterior *p, int ld);
void   mcp_posterior_forward(const mcp_posterior *p, int n, int ld, const double *F, double *mean, double *var,
                             double *tape);
/* Adds d(sum mean_bar mean + var_bar var)/dF to F_bar; no further solve: V = Kinv k is on the tape.
 * (The particle simulation calls it right after forward, with mean_bar = 1 and var_bar = eps/(2 sqrt(var)): that is the
 * Jacobian row of the sampled change, D numbers a lane, and the large tape never leaves the cache.) */
void mcp_posterior_backward(const mcp_posterior *p, int n, int ld, const double *F, const double *mean_bar,
                            const double *var_bar, const double *tape, double *F_bar);

#endif
