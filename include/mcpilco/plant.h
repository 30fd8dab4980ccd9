/* plant.h - your own plant as C functions: a robot, or a simulation, that lives in the same process.
 * The task says plant: {callback: yes}; hand the functions over in mcp_learn_settings.plant. */
#ifndef MCPILCO_PLANT_H
#define MCPILCO_PLANT_H

#include <stdint.h>

#include "mcpilco/error.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MCP_SAMPLE_STATES = 64, MCP_SAMPLE_INPUTS = 16 }; /* most a task can have */

/* One sample as the plant gives it. It comes filled with NaN and zeros: set what you know. A plant that tells
 * its true state and no measurement gets the sensors of the task: noise, resolution, delay. */
typedef struct {
    double time;                         /* s since reset                                             */
    double truth[MCP_SAMPLE_STATES];     /* true state, in the order of the task; NaN where unknown   */
    double measured[MCP_SAMPLE_STATES]; /* in the order of the task's measured channels: as the sensors gave
                                           it */
    double applied[MCP_SAMPLE_INPUTS]; /* input really applied since the sample before; NaN: as commanded,
                                          delayed as the task says */
    double wall, sent, late,
        answer; /* paced plants: s since reset by our clock at this sample, when the command before it
                   left and how late, s from asking to the answer; NaN otherwise */
    int    missed;                       /* paced plants: a deadline was missed since the sample before */
    int    ended; /* the plant ends the trial; the sample is still valid, unless measured[0] is NaN */
    char   reason[96];                   /* why                                                       */
} mcp_sample;

/* Somebody who is asked while a plant at the end of a wire is waited for, and told while it may move. Each
 * function may be NULL. */
typedef struct {
    int (*stop)(void *context); /* asked many times a second while waiting; non-zero: stop now */
    /* A trial is on: line is what to write to the wire fd should the program have to die at once (in a signal
     * handler, say); it is valid during the call only. fd = -1: the safe input was sent. */
    void (*moving)(void *context, int fd, const char *line);
    void *context;
} mcp_watch;

/* Each returns MCP_OK, or MCP_ERR_PLANT with a sentence (mcp_fail) when the plant is lost. context is your
 * own. */
typedef struct {
    /* Begins a trial. x0: suggested start (a simulation starts there; a rig starts where it is). seed, trial,
     * run key its random numbers. */
    mcp_status (*reset)(void *context, const double *x0, uint64_t seed, uint32_t trial, uint32_t run,
                        mcp_sample *first, mcp_error *err);
    mcp_status (*step)(void *context, const double *u, mcp_sample *next,
                       mcp_error *err); /* hold u for one period, then measure */
    mcp_status (*stop)(void *context, const double *safe_u,
                       mcp_error *err); /* end of trial, whatever ended it */
    void       (*destroy)(void *context);                                                 /* may be NULL */
} mcp_plant_ops;

#ifdef __cplusplus
}
#endif
#endif
