/* learner.h - the inside of a learner, for the method and for verbs that take a trial from elsewhere. */
#ifndef MCP_LEARNER_H
#define MCP_LEARNER_H

#include <stdatomic.h>

#include "io/file.h"
#include "learn/run_folder.h"
#include "math/pool.h"

struct mcp_learner {
    mcp_learn_settings settings;
    mcp_run       *run;
    mcp_lock      *lock;
    mcp_pool      *pool;
    mcp_plant     *plant;   /* opened before the first motion */
    mcp_run_item  *next;    /* the trial in preparation       */
    mcp_fit       *fit;     /* the model of the last policy   */
    mcp_trial    **trials;  /* views of the run's trials and states, as the algorithms take them */
    mcp_states   **states;
    mcp_phase      phase;
    double         phase_began;
    mcp_learn_info info;    /* of the trial that the caller was last told of */
    mcp_plant_ops  plant_ops; /* the caller's, where settings.plant is not NULL */
    mcp_watch      watch;   /* the caller's, who is asked to stop by mcp_learner_stop as well */
    atomic_int     stopped; /* asked to stop, and the caller not yet told that we did */
};

/* Takes l->next, whose trial is recorded and stored, into the run: estimates its states and judges it. What
 * mcp_learner_trial does after the plant; verbs that bring recorded data fill l->next->trial after
 * mcp_learner_prepare. */
mcp_status mcp_learner_accept(mcp_learner *l, const mcp_learn_info **info, mcp_error *err);
/* What happened in a recorded trial: cost, success, and how much of it was inside the particles' bands. */
mcp_status mcp_learner_judge(mcp_learner *l, mcp_run_item *it, mcp_error *err);

#endif
