/* trial.h - what one run on a plant recorded: `samples` rows, one a control step, at t = 0, Ts, 2 Ts, ...
 * A complete trial of T steps has T+1 samples; the last row's input is NaN (none was applied). Truth is NaN
 * where the plant cannot tell it. */
#ifndef MCP_TRIAL_H
#define MCP_TRIAL_H

#include "mcpilco/error.h"
#include "task/task_data.h"

/* Paced plants (we keep time): how well the clock was kept. All zero in lock-step. */
typedef struct {
    int    paced;       /* 1: inputs went out at the ticks of an absolute timer                */
    int    misses;      /* samples whose measurement or command came after its deadline        */
    double period_mean; /* s between commands as sent                                           */
    double period_std;  /* s, jitter                                                            */
    double late_max;    /* s, the latest command after its tick                                 */
    double answer_mean; /* s from command to measurement                                        */
    double answer_max;
} mcp_timing;

typedef struct {
    int     samples, capacity;
    int     nx, ny, nu;
    double *t;         /* s */
    double *truth;     /* [sample][nx] true state                       */
    double *measured;  /* [sample][ny] as the sensor gave it, angles unwrapped */
    double *observed;  /* [sample][nx] the online observer's estimate z */
    double *input;     /* [sample][nu] commanded                        */
    double *applied;   /* [sample][nu] what reached the plant (delay, clamp) */
    double *wall;      /* [sample] s since the first sample by our own clock; NaN when the plant keeps time */
    mcp_timing timing;
    int     ended;     /* 0: ran to its end, 1: ended early             */
    char    reason[128];
    int     explored;  /* 1: exploration                                */
} mcp_trial;

mcp_status mcp_trial_create(mcp_trial **out, const mcp_task *task, mcp_error *err); /* room for T+1 samples */
void       mcp_trial_free(mcp_trial *t);

#endif
