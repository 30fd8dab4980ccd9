/* fit.h - the GPs of a task from the trials so far, trained or rebuilt from stored hyper-parameters. */
#ifndef MCP_FIT_H
#define MCP_FIT_H

#include "estimate/estimate.h"
#include "math/pool.h"
#include "mcpilco/gp.h"

/* What was made of a goal that can be held (rest.c). */
typedef enum { MCP_REST_NONE = 0, MCP_REST_USED, MCP_REST_CONTRADICTED } mcp_rest;

typedef struct {
    const mcp_system *system;
    mcp_pairs        *pairs;
    mcp_gp          **gp;          /* [ngp] */
    mcp_gp **first; /* [ngp] the model that refined the velocities; NULL entries: no refinement */
    mcp_gp_info      *info;        /* [ngp] zero when rebuilt */
    double           *noise_floor; /* [ngp] that training kept to */
    double           *sensor_std;  /* [ngp] of a change, from the sensor, known beside the noise; else 0 */
    int               lost;        /* samples at the start of a trial that refinement takes away */
    double           *visited;     /* [visits][nx] all smoothed states */
    int               visits;
    mcp_rest          rest;
} mcp_fit;

/* What a model is made from. */
typedef struct {
    int                trials;
    mcp_trial *const  *trial;  /* [trials] */
    mcp_states *const *states; /* [trials] */
    double *const     *hyper;
    uint64_t           seed;
    uint32_t           number;
    double *const     *start; /* as hyper, of the trial before: where training starts; NULL: from the data */
} mcp_fit_data;
/* hyper == NULL trains; else hyper[i] are the mcp_kernel_params + 1 numbers of GP i, hyper[ngp + i] those of
 * its first model. Pure: same data, seed and number, same hyper-parameters, for any number of threads. */
mcp_status mcp_fit_create(mcp_fit **out, const mcp_system *s, const mcp_fit_data *d, mcp_pool *pool,
                          mcp_error *err);
void       mcp_fit_free(mcp_fit *f);
/* All hyper-parameters in one piece: those of GP 0, 1, .., then of the first models where there are any (else
 * zeros). split gives each its own again, [2 ngp], each mcp_free, as mcp_fit_create takes them. */
mcp_status mcp_fit_hyper(double **out, const mcp_fit *f, mcp_error *err);
mcp_status mcp_fit_hyper_split(const double *all, const mcp_system *s, double **hyper, mcp_error *err);
/* Pairs of other trials, with velocities as this fit refines them. */
mcp_status mcp_fit_pairs(mcp_pairs **out, const mcp_fit *f, int trials, mcp_trial *const *trial,
                         mcp_states *const *states, mcp_error *err);

#endif
