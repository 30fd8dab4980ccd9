/* estimate.h - OFFLINE state estimation: it may look ahead. Recorded measurements -> smoothed states -> GP
 * data. */
#ifndef MCP_ESTIMATE_H
#define MCP_ESTIMATE_H

#include "control/system.h"
#include "plant/trial.h"

enum { MCP_NOISE_BAND = 3 }; /* changes further apart have independent errors */

typedef struct {
    int     first, count;  /* samples first .. first+count-1 of the trial have an estimate */
    int     nx;
    double *state;         /* [count][nx] */
    /* [ngp] standard deviation of the error in each GP's target that the smoother itself expects (from the
     * sensor noise); the GP noise floor is derived from it. 0 = unknown */
    double *change_std;
    double *lag; /* [ngp][MCP_NOISE_BAND + 1] correlation of that error with the one k samples later; lag 0 is
                    1 */
    int     refined;       /* 1: velocities are those at the samples, see mcp_refine_states */
    double *target; /* [count][nx] states whose changes are the GPs' targets; NULL: state */
} mcp_states;

/* observer: auto. Gains from these trials, compiled into s; other observers stay as they are. A pure function
 * of the trials. */
mcp_status mcp_observer_settle(mcp_system *s, int trials, mcp_trial *const *trial, mcp_error *err);
/* What was settled for one channel and why, in a sentence; 0: nothing to say of this channel. */
int mcp_observer_explain(const mcp_system *s, int channel, char *text, size_t size);

/* What the measurements of a trial tell of the state: [sample][nseen] as task->seen has them, from the
 * measured channels themselves or computed from them. mcp_free it. */
mcp_status mcp_trial_seen(const mcp_system *s, const mcp_trial *t, double **seen, mcp_error *err);
mcp_status mcp_estimate_states(mcp_states **out, const mcp_system *s, const mcp_trial *t, mcp_error *err);
void       mcp_states_free(mcp_states *s);

/* Features [count][nf] and prior means [count][ngp] at every state, with the input applied from that sample
 * on. */
mcp_status mcp_estimate_features(const mcp_system *s, const mcp_trial *t, mcp_states *z, double *X,
                                 double *prior, mcp_error *err);
/* A central difference is the velocity at the sample plus a quarter of how much the acceleration changes
 * there:
 *   (q(t+1) - q(t-1))/(2 Ts) = v(t) + (c(t) - c(t-1))/4,
 *     c(t) the velocity's change over the sample from t on.
 * With changes [count][ngp] that a first model predicts for z's states, the velocities are freed from it.
 * One sample fewer. */
mcp_status mcp_refine_states(mcp_states **out, const mcp_system *s, const mcp_states *z, const double *change,
                             mcp_error *err);
/* smoother: auto. What a model says of z's changes: change [count][ngp], prior mean included; white [ngp],
 * the variance of its own noise; variance [count][ngp] of the changes, NULL: the model has learned from z. */
typedef struct {
    const double *change, *white, *variance;
} mcp_resmooth;
/* z with its positions, and states with a sensor, freed of what this makes of the sensor's noise, and with
 * the velocities of these positions. The targets stay those of z. */
mcp_status mcp_resmooth_states(mcp_states **out, const mcp_system *s, const mcp_states *z,
                               const mcp_resmooth *m, mcp_error *err);
/* 1: a first model of this task tells how its states are to be improved (by one of the two above). */
int mcp_refinable(const mcp_system *s);

/* GP pairs of all trials: X [n][nf] features of (state, applied input), Y [ngp][n] changes minus prior mean.
 * Features with prev() see the trial's own sequence; pairs never cross trials. */
typedef struct {
    int     n, nf, ngp;
    double *X, *Y;
} mcp_pairs;
mcp_status mcp_estimate_pairs(mcp_pairs **out, const mcp_system *s, int trials, mcp_trial *const *trial,
                              mcp_states *const *states, mcp_error *err);
void       mcp_pairs_free(mcp_pairs *p);

#endif
