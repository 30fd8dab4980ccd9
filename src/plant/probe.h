/* probe.h - what a plant is like, found out gently before learning: clock, answers, noise and resolution of
 * each sensor at rest, and what small symmetric pulses of each input do, how strongly and after how many
 * samples. */
#ifndef MCP_PROBE_H
#define MCP_PROBE_H

#include "plant/plant_handle.h"

typedef struct {
    double   amplitude; /* of the pulses, fraction of each input's limit           */
    double   pulse;     /* s, length of a pulse's shortest part                    */
    double   rest;      /* share of the time with zero input, before the pulses    */
    uint64_t seed;      /* of a simulated plant's noise and start                  */
} mcp_probe_settings;
void mcp_probe_settings_default(mcp_probe_settings *s);

typedef struct {
    double noise;       /* standard deviation at rest beside rounding's; NaN: too few samples             */
    double noise_error; /* its relative standard error                                                    */
    double resolution;  /* step of the values; 0: none seen, NaN: the value never changed                 */
    int    hidden;      /* 1: the noise is too small beside the resolution to be told from it             */
    int    wraps;       /* jumps by a turn between two samples                                            */
    double low, high;   /* range of the values as the plant gave them                                     */
} mcp_probe_channel;

typedef struct {
    int    found;       /* 1: the channel answers to the input, beyond doubt                              */
    int    order;       /* 2: gain is an acceleration, 1: a velocity, per unit of the input               */
    double gain, gain_error;
    int    delay;       /* samples between command and answer                                             */
    int    delay_sure;  /* 1: no other delay explains the data nearly as well                             */
} mcp_probe_response;

typedef struct {
    int    samples, rest, pulses; /* taken; of them at rest; pulses of each input                         */
    int    ended;                 /* before its time                                                      */
    char   reason[128];
    double seconds;               /* wall time                                                            */
    double period, jitter, period_low,
        period_high; /* s between samples: commands as sent (paced), the plant's stamps (lock-step) */
    double wall_period, wall_jitter;                /* s between answers by our clock                     */
    double answer, answer_most;   /* s from question to answer                                            */
    int    paced, misses;
    int real_time; /* 1: samples come about as often as the rate says; 0: faster, a simulation */
    mcp_probe_channel  channel[MCP_MAX_STATE];
    mcp_probe_response response[MCP_MAX_INPUT][MCP_MAX_STATE];
} mcp_probe;

/* Runs one trial of the system's length on its plant: zero input, then pulses of one input after another.
 * Limits, clamps, slew and the safe input act as in any trial. A trial that ends early gives what its samples
 * tell. tick as in mcp_plant_run. */
mcp_status mcp_probe_run(mcp_probe *out, const mcp_system *system, const mcp_probe_settings *s,
                         mcp_tick_fn *tick, void *tick_context, mcp_error *err);

/* The pieces, each a function of recorded numbers alone. */

/* Standard deviation of white noise on a slow motion, from differences of the lowest order that no longer
 * sees the motion. */
double mcp_noise_deviation(int n, const double *y, double *relative_error);
/* Step of a sensor whose values are multiples of it (to a tenth); 0: none, NaN: a single value. */
mcp_status mcp_resolution(double *step, int n, const double *y, mcp_error *err);
/* Counts jumps by a turn (within 1 rad of it) and takes them out of y. */
int mcp_unwrap(int n, double *y);

typedef struct {
    int           n, nu, ny;
    double        ts;
    const double *y, *u; /* [n][ny], [n][nu]: u[k] acts from sample k to k+1 */
    int           windows, length;
    const int    *start; /* first sample of each window; the input is zero before and at its start */
    int           delay_most;
} mcp_response_data;
/* The answer of channel i to input j. order: 2 for a position (y'' = gain u + ..), 1 for a velocity (y' =
 * gain u + ..). feedback[ny]: 1 = channels whose values and, for order 2, integrals explain the plant's own
 * motion. */
mcp_status mcp_response_fit(mcp_probe_response *out, const mcp_response_data *d, int j, int i, int order,
                            const char *feedback, mcp_error *err);

#endif
