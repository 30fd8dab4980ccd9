/* cmaes.h - covariance matrix adaptation evolution strategy, ask and tell: it proposes points and is told
 * their values; it never calls the objective. Minimises. */
#ifndef MCP_CMAES_H
#define MCP_CMAES_H

#include <stdint.h>

#include "mcpilco/error.h"

typedef struct mcp_cmaes mcp_cmaes;

typedef struct {
    int      population;  /* lambda; 0 = 4 + floor(3 ln n)                                                 */
    double   sigma;       /* first step size, in the unit of x                                             */
    const double *scale;  /* n: standard deviation of coordinate i at the start is sigma*scale[i]; NULL = 1 */
    int      active;      /* 1: bad candidates have negative weights in the covariance update              */
    int separable; /* learn only the variances: faster when there are many parameters and few evaluations   */
    double   growth;      /* a restart multiplies the population by it (IPOP: 2)                           */
    double   tol_f;       /* stop: range of recent best values and of the last population, 1e-12           */
    double   tol_x;       /* stop: every deviation below tol_x times the first one, 1e-12                  */
    double   effort_max;  /* noise handling: most evaluations to average over per candidate; 1 = none      */
    int      noise_step;  /* 1: when that is reached and ranks are still disturbed, the step size is raised */
    uint64_t seed;
    uint32_t trial;
} mcp_cmaes_settings;
void mcp_cmaes_settings_default(mcp_cmaes_settings *s);

typedef enum {
    MCP_CMAES_GOING = 0,
    MCP_CMAES_TOL_F,      /* values no longer differ                       */
    MCP_CMAES_TOL_X,      /* steps too small to matter                     */
    MCP_CMAES_NO_EFFECT,  /* a step no longer changes the mean             */
    MCP_CMAES_CONDITION,  /* covariance worse conditioned than 1e14        */
    MCP_CMAES_STAGNATION  /* medians of the values do not fall any more    */
} mcp_cmaes_stop;

/* Copies x0 and s. On failure *out is NULL. */
mcp_status mcp_cmaes_create(mcp_cmaes **out, int n, const double *x0, const mcp_cmaes_settings *s,
                            mcp_error *err);
void       mcp_cmaes_free(mcp_cmaes *c);
/* A fresh distribution at x0 with the population grown; best-so-far and evaluation counts are kept. */
mcp_status mcp_cmaes_restart(mcp_cmaes *c, const double *x0, mcp_error *err);

int mcp_cmaes_population(const mcp_cmaes *c);
/* Candidates to evaluate: [population][n], row-major, valid until the next ask, restart or free. */
const double *mcp_cmaes_ask(mcp_cmaes *c);
/* f: [population], NaN counts as worst. again: values of a second, independent evaluation of the first
 * mcp_cmaes_reevaluations(c) candidates (noisy objective), or NULL. */
mcp_status mcp_cmaes_tell(mcp_cmaes *c, const double *f, const double *again, mcp_error *err);

/* Noise handling: how many candidates to evaluate twice, and over how many evaluations each value should now
 * be averaged: it rises while a second evaluation changes the ranking too much and falls again when it does
 * not. */
int    mcp_cmaes_reevaluations(const mcp_cmaes *c);
double mcp_cmaes_effort(const mcp_cmaes *c);

mcp_cmaes_stop mcp_cmaes_stopped(const mcp_cmaes *c);
const double *mcp_cmaes_mean(const mcp_cmaes *c); /* n: centre of the distribution: the answer under noise */
const double *mcp_cmaes_best(const mcp_cmaes *c,
                             double *f); /* n: best value told so far, over all restarts         */
double         mcp_cmaes_sigma(const mcp_cmaes *c);
long mcp_cmaes_evaluations(
    const mcp_cmaes *c); /* candidates told, second evaluations included, all restarts */

#endif
