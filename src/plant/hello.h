/* hello.h - the first line of either end of a wire: version, rate, names and units.
 *   hello 1 rate=30 inputs=u:N measured=p:m,theta:rad truth=p:m,dp:m/s,theta:rad,dtheta:rad/s
 * Blanks in a unit are written as dots ("N m" -> N.m). */
#ifndef MCP_HELLO_H
#define MCP_HELLO_H

#include "control/system.h"

enum { MCP_WIRE_VERSION = 1 };

/* What a plant said: for each value on the wire, the index in the task's list. */
typedef struct {
    int inputs, measured,
        truth; /* values of each kind on the wire; truth: nx or 0; measured: ny, or 0 when only truth comes */
    int acks; /* 1: every apply is answered by "applied N": a command that got lost is known to be lost */
    int input_at[MCP_MAX_INPUT], measured_at[MCP_MAX_STATE], truth_at[MCP_MAX_STATE];
} mcp_hello;

/* Our own: rest (mode=... watchdog=...) stands right after the rate, where a board with a short buffer still
 * sees it; measured and truth: list them. Returned text ends with \n; mcp_free it; NULL = no memory. */
char *mcp_hello_write(const mcp_task *task, int measured, int truth, const char *rest);
/* Checks a plant's line against the task. what: the wire, for messages. */
mcp_status mcp_hello_read(mcp_hello *h, const char *line, const mcp_task *task, const char *what,
                          mcp_error *err);

#endif
