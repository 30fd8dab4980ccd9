/* export.h - observer and policy of a trial as files that need nothing of us.
 *
 *   PREFIX.h PREFIX.c        C99, static memory, libm only: PREFIX_reset, PREFIX_control (and PREFIX_step,
 *     the bare program)
 *   PREFIX_selftest.c        runs recorded trials through it and compares; exit code 0 = as recorded
 *   Makefile                 make check
 *   PREFIX.py                the same controller in Python, standard library only; run it to self-test
 *   PREFIX.json              parameters, names, rate, limits and the task: for mcp_controller_load_json */
#ifndef MCP_EXPORT_H
#define MCP_EXPORT_H

#include "learn/run_folder.h"

enum { MCP_CONTROLLER_FORMAT = 2 }; /* of PREFIX.json: 2 has the task in it */

typedef struct {
    const char *prefix; /* a C name */
    int         single; /* 1: float */
} mcp_export_settings;

typedef struct {
    mcp_program_cost operations;
    size_t           table_bytes, state_bytes; /* constants (flash), memory between samples (RAM) */
    int              samples;                  /* in the self-test */
    double           tolerance;                /* of the self-test, in units of each command's limit */
} mcp_export_info;

/* 1: a word of C, C++ or Python, or a name of libm: it cannot name the functions. */
int        mcp_export_prefix_taken(const char *prefix);
mcp_status mcp_export_controller(const mcp_run *r, const mcp_run_item *it, const char *folder,
                                 const mcp_export_settings *s, mcp_export_info *info, mcp_error *err);

/* PREFIX_inputs.h: commands u[T][nu] as a C table. */
mcp_status mcp_export_inputs(const mcp_run *r, const double *u, const char *folder, const char *prefix,
                             mcp_error *err);

#endif
