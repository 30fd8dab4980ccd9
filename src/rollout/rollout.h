/* rollout.h - M particles through T steps of the compiled system, and back: J and its gradient in theta.
 *
 *   t = 0 .. T-1   y = sensor(x, e)   u = controller(y)   a = actuator(u)   D = GP(features(x, a)) sampled
 *     x' = integrate(x, a, D)
 *   t = 0 .. T     c = cost(x, a); at T, where no input is applied any more, a is the last one applied
 *   J = sum over t = 0 .. T of the mean of c over particles
 * A pure function of its noise: the same noise gives the same J and gradient, to the bit, for any thread
 * count and block. */
#ifndef MCP_ROLLOUT_H
#define MCP_ROLLOUT_H

#include "control/system.h"
#include "math/pool.h"
#include "model/posterior.h"

typedef struct mcp_rollout mcp_rollout;

/* The noise of particles first .. first+n-1 over T = steps (n a multiple of MCP_LANES; lanes past the last
 * particle get any finite values). */
typedef struct {
    int      steps, first, n, ld;
    double  *x0;   /* [nx][ld]               */
    double  *e;    /* [T+1][ny][ld]          */
    double  *eps;  /* [T][ngp][ld]           */
    uint8_t *keep; /* [T+1], each as mcp_rng_keep leaves it, activations x ld bytes; NULL: no dropout */
} mcp_noise_block;

typedef struct {
    void (*fill)(void *context, const mcp_noise_block *to);
    void *context;
} mcp_noise;

typedef struct {
    int    particles, steps;
    int    block;        /* particles a block, 0 = automatic */
    int    true_state;   /* 1: MC-PILCO, the policy sees the particle's state */
    int    noisy;        /* sample with the noise variance added */
    int    single;       /* 1: basis functions, and GPs whose posterior allows it, in single precision */
    double adjoint_clip; /* bound on the norm of adjoint_unit[i] dJ/dx[i], particle by particle; 0 = none */
    const double *adjoint_unit; /* [nx] of states over that of the cost; NULL: ones. Borrowed */
} mcp_rollout_settings;

/* Borrows everything. posterior: one per GP. */
mcp_status mcp_rollout_create(mcp_rollout **out, const mcp_system *s, mcp_posterior *const *posterior,
                              const mcp_rollout_settings *r, mcp_pool *pool, mcp_error *err);
void       mcp_rollout_free(mcp_rollout *r);
size_t     mcp_rollout_bytes(const mcp_rollout *r);
int        mcp_rollout_particles(const mcp_rollout *r);
int        mcp_rollout_block(const mcp_rollout *r); /* particles a block, as chosen */

typedef struct {
    double  J;              /* sum over t of the mean cost */
    double  J_std;          /* standard deviation over particles of the cumulative cost */
    double *step_mean;      /* [T+1] or NULL */
    double *step_std;       /* [T+1] or NULL */
    double *gradient;       /* [params] or NULL: forward only */
    double *states;         /* [T+1][M][nx] or NULL */
    double *observed;       /* [T+1][M][nx] or NULL: z of the controller */
    double *inputs;         /* [T+1][M][nu] or NULL: commands; NaN at T, where none is given */
    double *applied;        /* [T+1][M][nu] or NULL: what reached the system; at T the last one again */
    double *particle_cost;  /* [M] or NULL */
    int bad; /* particles with a NaN or infinite state or cost; then status is MCP_ERR_NUMERIC */
} mcp_rollout_result;

/* dropout: 0 = keep all (noise->fill gets keep = NULL). */
mcp_status mcp_rollout_run(mcp_rollout *r, const double *theta, double dropout, const mcp_noise *noise,
                           mcp_rollout_result *result, mcp_error *err);

/* The usual noise: counter-based streams keyed by (seed, trial, step). Dropout in particles is rounded to
 * 1/256. */
typedef struct {
    const mcp_system *system;
    uint64_t seed;
    uint32_t trial, step;
    double   dropout;
    int      antithetic; /* 1: particles 2k and 2k+1 mirror each other's normals; dropout stays independent */
    double stress; /* normals of start, sensor and model are larger by this factor; 0 and 1: as they are */
    /* Particles from this one on start about a state of their own, `near` with deviations near_std, both
     * [nx]; goals are drawn as ever. near == NULL: none does. */
    int           near_from;
    const double *near, *near_std;
} mcp_stream_noise;
mcp_noise mcp_noise_from_stream(mcp_stream_noise *context);

#endif
