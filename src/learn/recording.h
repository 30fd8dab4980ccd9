/* recording.h - a trial that somebody else recorded: a CSV file to the samples of a task, names mapped, units
 * scaled, clock checked.
 *
 * Columns: t or time (s); every measured channel as NAME or measured.NAME; every input as NAME or
 * commanded.NAME; where there, applied.NAME and truth.NAME. Row k holds what was measured at k Ts and what
 * was commanded from then on; a trial of T steps has T+1 rows, and the input of its last row does not matter.
 */
#ifndef MCP_RECORDING_H
#define MCP_RECORDING_H

#include "control/system.h"
#include "mcpilco/learn.h"
#include "plant/plant_handle.h"

typedef struct {
    const char *const *map;   /* "their_name=our_name"                                                    */
    int                maps;
    const char *const *scale; /* "our_name=factor": our unit = factor * theirs                            */
    int                scales;
    double rate_tolerance;    /* samples further than this share of a period from their time are resampled */
    int    resample;          /* 1: the file may be of any rate                                            */
    double input_tolerance;   /* commands may differ from those asked by this share of the limit           */
    const char *ended;        /* why the trial ended before its time; NULL: it must be whole               */
} mcp_add_settings;
void mcp_add_settings_default(mcp_add_settings *s);

typedef struct {
    int     rows, capacity;            /* samples of the task's rate */
    int     nx, ny, nu;
    double *t, *measured, *input, *applied, *truth;
    int     file_rows;                 /* as they were in the file */
    double  rate, off;                 /* Hz, by the median; s, largest distance of a sample from its time */
    int     resampled, surplus;        /* 1: interpolated; rows after the trial's end, left out           */
} mcp_recording;

mcp_status mcp_recording_read(mcp_recording **out, const mcp_system *s, const char *path,
                              const mcp_add_settings *q, mcp_error *err);
/* The same from memory; the numbers are copied. */
mcp_status mcp_recording_from_arrays(mcp_recording **out, const mcp_system *s, const mcp_recorded_trial *t,
                                     mcp_error *err);
void       mcp_recording_free(mcp_recording *r);

/* Plays it to the controller as if it were a plant: *out gets what was observed, and the limits are watched.
 * theta NULL: an exploration with the recorded inputs; else the policy's commands are computed again
 * (out->input). ended: as above. */
mcp_status mcp_recording_play(const mcp_recording *r, const mcp_system *s, const double *theta,
                              const char *ended, mcp_trial *out, mcp_error *err);

#endif
