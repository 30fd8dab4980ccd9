/* block.h - one block of particles forward over all T and back (inside this folder only).
 * Arrays are [row][lane] with stride ld. What backward needs of time t is in slab t; the rest is scratch of
 * one step. */
#ifndef MCP_BLOCK_H
#define MCP_BLOCK_H

#include "math/arena.h"
#include "rollout/rollout.h"

enum { SENSOR = 0, CONTROLLER, ACTUATOR, FEATURES, INTEGRATE, COST, STAGES };

/* Fixed over a run, shared by all workers. */
typedef struct {
    const mcp_system     *system;
    mcp_posterior *const *posterior;
    mcp_rollout_settings  set;
    mcp_isa               level;
    const mcp_program    *program[STAGES]; /* SENSOR is NULL when the policy sees the true state */
    int                   nx, nu, ny, nf, ngp, T;
    int                   activations;
    size_t                sums; /* doubles of gradient sums a group of lanes */
} mcp_shape;

/* Of one time step. */
typedef struct {
    double *xe;               /* nx + ny        state, sensor noise             */
    double *y;                /* ny             measurements                    */
    double *uz;               /* nu + nx        commands, observed state        */
    double *xad;              /* nx + nu + ngp  state, applied input, change    */
    double *f;                /* nf + ngp       features, expected change       */
    double *jacobian;         /* ngp x nf       d change / d feature            */
    double *memory[STAGES];
    double *tape[STAGES];
} mcp_slab;

typedef struct {
    const mcp_shape *s;
    int              ld;
    mcp_slab        *slab; /* T+1 */
    double          *x0, *e, *eps;
    uint8_t         *keep;
    double          *mean, *var, *mean_bar, *var_bar, *gp_tape, *cost_out, *bad;
    double          *x_bar, *xe_bar, *y_bar, *uz_bar, *a_bar, *xad_bar, *f_bar, *cost_bar, *clip;
    double          *memory_bar[STAGES], *next_bar[STAGES], *scratch;
    char apart[128]; /* workers swap pointers here at every stage: no line in common */
} mcp_block;

/* With a->base == NULL it only measures. slab: room for T+1 slabs. */
void mcp_block_layout(mcp_block *b, const mcp_shape *s, int ld, mcp_slab *slab, mcp_arena *a);

/* n lanes. cost: row t at cost + t*cost_stride. want_gradient: the Jacobian rows are made too. want_last:
 * sensor and controller run at T as well, for the record. b->bad[lane] is 0, or NaN where a state or cost was
 * not finite. */
void mcp_block_forward(mcp_block *b, const double *theta, int n, const uint8_t *keep, double keep_scale,
                       int want_gradient, int want_last, double *cost, size_t cost_stride);
/* Adds each group's gradient sums of the summed costs (not yet divided by M) to sums + group*s->sums. live
 * lanes count, the rest does not. */
void mcp_block_backward(mcp_block *b, const double *theta, int n, int live, const uint8_t *keep,
                        double keep_scale, double *sums);

#endif
