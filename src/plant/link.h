/* link.h - lines of text to and from the other end of a wire, with deadlines: a child process, TCP, UDP (a
 * line a datagram), a serial line. Nothing here raises a signal or waits longer than it was told; who
 * watches can end every wait (MCP_ERR_STOPPED). */
#ifndef MCP_LINK_H
#define MCP_LINK_H

#include <sys/types.h>

#include "mcpilco/error.h"
#include "mcpilco/plant.h"

enum { MCP_LINE_MAX = 65536 }; /* longest line accepted, its end included */

typedef enum { MCP_LINK_STREAM = 0, MCP_LINK_DATAGRAM } mcp_link_kind;

typedef struct {
    int           in, out;     /* file descriptors, often the same; -1 = closed */
    mcp_link_kind kind;
    int           socket;      /* 1: a socket, so that a broken wire raises no signal  */
    pid_t         child;       /* of an exec link, else 0 */
    int           spared;      /* 1: it has not said that it stopped, so it is not killed in a hurry */
    char          what[160];   /* for messages: "tcp 127.0.0.1:7000" */
    const mcp_watch *watch;    /* NULL: nobody watches */
    char          unsent[MCP_LINE_MAX]; /* the rest of a line that went out in part: it goes first */
    char          buffer[MCP_LINE_MAX];
    int           start, end;  /* unread bytes of buffer */
    int           door;        /* of mcp_accept: where others knock, TCP; else 0 */
    char          peer[128];   /* of mcp_accept: who spoke last, UDP; a sockaddr */
    unsigned      peer_size;
} mcp_link;

/* 1: the watcher asks to stop. NULL never does. */
int mcp_watch_stops(const mcp_watch *watch);

/* Each opens a wire into *l (closed before). timeout: s. */
mcp_status mcp_link_exec(mcp_link *l, char *const *argv, const char *folder,
                         mcp_error *err); /* folder: where it runs, or NULL */
mcp_status mcp_link_tcp(mcp_link *l, const char *address, double timeout, mcp_error *err);
mcp_status mcp_link_udp(mcp_link *l, const char *address, mcp_error *err);
mcp_status mcp_link_serial(mcp_link *l, const char *device, int baud, mcp_error *err);
/* A child gets patience seconds to end by itself, then SIGTERM, then SIGKILL; one that is spared is left to
 * itself instead, with its end of the wire closed. */
void mcp_link_close(mcp_link *l, double patience);

/* 1: the other end of a connection is closed, as far as can be seen without waiting. */
int mcp_link_closed(const mcp_link *l);
/* text is one line with its \n. */
mcp_status mcp_link_send(mcp_link *l, const char *text, double deadline, mcp_error *err);
/* One line without its end, plain text (math/text.h), valid until the next call. *line = NULL and MCP_OK:
 * nothing came before the deadline. Lost ends, over-long lines and NUL bytes are MCP_ERR_PLANT. */
mcp_status mcp_link_receive(mcp_link *l, char **line, double deadline, mcp_error *err);

#endif
