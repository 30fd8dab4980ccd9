/* standstill.h - what a step of the model reads once everything has stood still for long. */
#ifndef MCP_STANDSTILL_H
#define MCP_STANDSTILL_H

#include "control/system.h"

/* Holds state x and commands u until all that actuator and features remember has followed. memory: that of
 * the actuator, then of the features; applied [nu]: what reaches the plant; f: features and prior means;
 * in [nx + nu] and work: room. */
typedef struct {
    double *memory, *applied, *f, *in, *work;
} mcp_still;
void   mcp_standstill(const mcp_system *s, const double *x, const double *u, const mcp_still *to);
size_t mcp_standstill_work(const mcp_system *s); /* numbers in work */

#endif
