/* serve.h - the plant's end of the wire: answers the line protocol (docs/plant-protocol.md) with any plant
 * behind it. */
#ifndef MCP_SERVE_H
#define MCP_SERVE_H

#include "plant/link.h"
#include "plant/plant_handle.h"

typedef struct mcp_server mcp_server;

/* Borrows p. ideal: 1 = tell the true state only; the other end simulates the sensors. */
mcp_status mcp_server_create(mcp_server **out, mcp_plant *p, int ideal, mcp_error *err);
void       mcp_server_free(mcp_server *s);

/* One line in, the answer out ("" when there is none). *over = 1 after a bye. */
const char *mcp_server_answer(mcp_server *s, const char *line, int *over);
/* Between lines: 1 when a trial is running and nothing came for the agreed time: the safe input (zero) was
 * applied and the trial ended. */
int mcp_server_watch(mcp_server *s);

/* Answers on an open wire until the other end says bye or is lost, or stop(context) is not 0 (asked ten times
 * a second). */
mcp_status mcp_server_run(mcp_server *s, mcp_link *l, int (*stop)(void *), void *context, mcp_error *err);

/* Waits for somebody: a socket that listens on the loopback address, or on `host` when given. Port 0: any;
 * *port tells. */
mcp_status mcp_listen(int *fd, int datagram, const char *host, int *port, mcp_error *err);
/* The next one who calls, as a wire; l->in is -1 and MCP_OK when nobody came before the deadline. For
 * datagrams l uses fd itself: release it with mcp_forget_peer, not mcp_link_close. */
mcp_status mcp_accept(mcp_link *l, int fd, int datagram, double deadline, mcp_error *err);
void       mcp_forget_peer(mcp_link *l);

#endif
