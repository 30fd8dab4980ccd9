/* signs.h - the numbers a diagnosis rests on, measured on one trial and on the data before it. NaN: unknown.
 */
#ifndef MCP_SIGNS_H
#define MCP_SIGNS_H

#include "learn/run_folder.h"

enum { MCP_COST_BINS = 20, MCP_DELAY_LAGS = 6 };

typedef struct {
    double inside[MCP_WINDOWS];  /* share of states in the 5-95 % band                                     */
    double width[MCP_WINDOWS]; /* median width of the band over the range of all data, of the widest state */
    int    widest;               /* that state, in the last quarter                                        */
    double rate[MCP_COST_BINS];  /* mean cost a sample, along the trial                                    */
    double start_off;            /* first measurement, in deviations of the start; worst channel           */
    double start_value;          /* that measurement                                                       */
    int    start_channel;        /* of task->seen                                                          */
    double slope;                /* of a position's change on its velocity, 1 is right; worst              */
    int    slope_gp;
    double smoothed;             /* measured minus smoothed, in stated deviations; worst channel           */
    int    smoothed_channel;
    double noise;                /* learned noise over what the sensor explains; worst GP                  */
    int    noise_gp;
    double correlation;          /* of that GP's residuals with those a sample later, beyond the sensor's  */
    double late; /* what lines of the features leave unexplained with inputs late_by samples later,
                    over what they leave as the task has it                             */
    int    late_by, late_gp;
    double lacking;              /* the same with a state more that no feature names                       */
    int    lacking_state, lacking_gp;
    double observer;             /* root mean square error of the observer over the state's spread; worst  */
    int    observer_state;
} mcp_signs;

void mcp_signs_measure(mcp_signs *s, const mcp_run *r, const mcp_run_item *it, const mcp_fit *fit);

#endif
