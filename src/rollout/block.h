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
    double *state_noise;        /* nx + ny        state, sensor noise             */
    double *y;                  /* ny             measurements                    */
    double *command_observed;   /* nu + nx        commands, observed state        */
    double *state_input_change; /* nx + nu + ngp  state, applied input, change    */
    double *f;                  /* nf + ngp       features, expected change       */
    double *jacobian;           /* ngp x nf       d change / d feature            */
    double *memory[STAGES];
    double *tape[STAGES];
} mcp_slab;

typedef struct {
    const mcp_shape *s;
    int              ld;
    mcp_slab        *slab; /* T+1 */
    double          *x0, *e, *eps;
    uint8_t         *keep;
    double          *mean, *std, *gp_tape, *cost_out, *bad;
    double          *x_bar, *state_noise_bar, *y_bar, *command_observed_bar, *a_bar, *state_input_change_bar;
    double          *f_bar, *cost_bar, *clip;
    double          *memory_bar[STAGES], *next_bar[STAGES], *scratch;
    char apart[128]; /* workers swap pointers here at every stage: no line in common */
} mcp_block;

/* What one pass over a block works with. */
typedef struct {
    const double  *theta;
    int            n, live;    /* lanes; the first live of them count */
    const double  *table;      /* of theta for single precision; NULL: double */
    const uint8_t *keep;       /* [T+1] masks of activations x ld bytes, NULL: no dropout */
    double         keep_scale;
    int            gradient;   /* forward makes the Jacobian rows too */
    int            last;       /* sensor and controller run at T as well, for the record */
    double        *cost;       /* row t at cost + t*cost_stride */
    size_t         cost_stride;
    double        *sums;       /* gradient sums: group k's at sums + k*s->sums */
} mcp_pass;

/* With a->base == NULL it only measures. slab: room for T+1 slabs. */
void mcp_block_layout(mcp_block *b, const mcp_shape *s, int ld, mcp_slab *slab, mcp_arena *a);

/* b->bad[lane] is 0, or NaN where a state or cost was not finite. */
void mcp_block_forward(mcp_block *b, const mcp_pass *q);
/* Adds each group's gradient sums of the summed costs (not yet divided by M) to q->sums. */
void mcp_block_backward(mcp_block *b, const mcp_pass *q);

#endif
