/* runtime.h - the controller at run time: everything between a measurement and a command.
 *
 *   measured -> finite? -> turns counted -> observer, policy, limits (one program) -> finite? -> command
 *
 * Trials on plants, the public controller and the file exchange run this object; exported C and Python print
 * the same steps (src/export/templates). Limits stand in the program (controller_program.c), turns in
 * math/angle.h.
 *
 * Angles of a sensor that wraps. The turns are counted apart: measured = raw + turns, for the record. The
 * program sees the raw angle where it cannot tell turns apart (mcp_program_turns), and when the sensor wraps
 * its memory is turned along; so a controller does not lose digits with the number of turns. Where the
 * policy depends on the turns, the program sees the unwrapped angle.
 *
 * A sample with a number that is not finite, or that would make the command, the observed state or the
 * memory so, is left out: the command is the safe input, and nothing is remembered but that command. */
#ifndef MCP_RUNTIME_H
#define MCP_RUNTIME_H

#include "control/system.h"

typedef enum {
    MCP_FAULT_NONE,
    MCP_FAULT_MEASURED, /* measurement number `at` is not finite                    */
    MCP_FAULT_OBSERVED, /* observed state number `at` is not                        */
    MCP_FAULT_COMMAND,  /* command number `at`, given or of the policy, is not      */
    MCP_FAULT_MEMORY    /* what the controller would remember is not                */
} mcp_fault;

/* One of the two programs with its memory, and how that memory turns with each measurement. */
typedef struct {
    const mcp_program *program;
    int                slots;
    double            *memory, *trying;
    uint8_t           *reduced;       /* [ny] 1: sees the raw angle                                        */
    double            *slot_turns;    /* [ny][slots]                                                       */
    double            *output_turns;  /* [ny][nu + nx]                                                     */
    int                last[MCP_MAX_INPUT]; /* slot of the last command, -1 = none                         */
} mcp_runtime_part;

typedef struct {
    const mcp_system *system;
    int               started;
    mcp_fault         fault; /* of the last step */
    int               at;
    double           *measured; /* [ny] of this sample, angles unwrapped                                   */
    double           *observed; /* [nx] of the last good sample; before it the centre of the start         */
    double           *command;  /* [nu] of the last step; 0 before the first                               */
    double           *raw, *turns, *shift; /* [ny] as the sensor gave it, turns in all, turns of this step */
    double           *in, *out, *work;
    mcp_runtime_part  policy, given;
    unsigned          observers; /* of the system, when this was made */
    void             *block;
} mcp_runtime;

/* s is borrowed. */
mcp_status mcp_runtime_create(mcp_runtime **out, const mcp_system *s, mcp_error *err);
void       mcp_runtime_free(mcp_runtime *r);
/* Before the first sample. */
void mcp_runtime_reset(mcp_runtime *r);
/* The same after mcp_system_observe may have changed the programs. On failure *r is as before. */
mcp_status mcp_runtime_renew(mcp_runtime **r, mcp_error *err);
/* One sample, with the policy of theta or, if theta is NULL, with the commands in given[nu], which are
 * limited alike and reach the observer. A run keeps to one of the two. No allocation, lock or I/O. */
mcp_fault mcp_runtime_step(mcp_runtime *r, const double *theta, const double *given, const double *measured);
/* The safe input after the last step: safe[nu]. */
void mcp_runtime_safe(mcp_runtime *r, double *safe);
/* Limits u[samples][nu] as a run with given commands does; it starts the run anew. */
void mcp_runtime_limit(mcp_runtime *r, int samples, double *u);
/* 1: the controller tells turns of measurement i apart (its program then sees the unwrapped angle). */
int mcp_runtime_counts(const mcp_runtime *r, int i);

#endif
