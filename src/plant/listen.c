/* listen.c - wait for the other end: TCP connections one after another, or the first datagram of a peer. */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "math/clock.h"
#include "plant/serve.h"

static mcp_status listen_on(int *fd, int datagram, const char *host, int *port, mcp_error *err)
{
    struct addrinfo *found = NULL, hints = {.ai_socktype = datagram ? SOCK_DGRAM : SOCK_STREAM,
                                            .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    char             service[16];
    int              one = 1, why = 0;
    snprintf(service, sizeof service, "%d", *port);
    int bad = getaddrinfo(host ? host : "127.0.0.1", service, &hints, &found);
    if (bad) return mcp_fail(err, MCP_ERR_IO, "%s: %s", host ? host : "127.0.0.1", gai_strerror(bad));
    *fd = socket(found->ai_family, found->ai_socktype | SOCK_CLOEXEC, found->ai_protocol);
    if (*fd >= 0) setsockopt(*fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (*fd < 0 || bind(*fd, found->ai_addr, found->ai_addrlen) || (!datagram && listen(*fd, 4))) why = errno;
    freeaddrinfo(found);
    union {
        struct sockaddr     any;
        struct sockaddr_in  four;
        struct sockaddr_in6 six;
    } name = {.six = {0}};
    socklen_t size = sizeof name;
    if (!why && getsockname(*fd, &name.any, &size)) why = errno;
    if (why) {
        if (*fd >= 0) close(*fd);
        *fd = -1;
        return mcp_fail(err, MCP_ERR_IO, "cannot listen on %s:%d: %s", host ? host : "127.0.0.1", *port,
                        strerror(why));
    }
    *port = ntohs(name.any.sa_family == AF_INET6 ? name.six.sin6_port : name.four.sin_port);
    return MCP_OK;
}

mcp_status mcp_listen(int *fd, int datagram, const char *host, int *port, mcp_error *err)
{
    const int  any = *port == 0;
    mcp_status st = listen_on(fd, datagram, host, port, err);
    /* A socket that forgets its peer forgets a port that it did not ask for by number: so it asks. */
    for (int i = 0; i < 10 && st == MCP_OK && any && datagram; i++) {
        close(*fd);
        if (listen_on(fd, datagram, host, port, NULL) == MCP_OK) break;
        *port = 0;
        st = listen_on(fd, datagram, host, port, err);
    }
    return st;
}

mcp_status mcp_accept(mcp_link *l, int fd, int datagram, double deadline, mcp_error *err)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    double        left = deadline - mcp_clock();
    int           one = 1;
    l->in = l->out = -1;
    l->child = 0;
    l->start = l->end = 0;
    l->socket = 1;
    l->door   = datagram ? 0 : fd;
    l->kind   = datagram ? MCP_LINK_DATAGRAM : MCP_LINK_STREAM;
    snprintf(l->what, sizeof l->what, "the %s connection", datagram ? "udp" : "tcp");
    int n = poll(&p, 1, left > 0.0 ? (int)(left * 1e3) + 1 : 0);
    if (n == 0 || (n < 0 && errno == EINTR)) return MCP_OK;
    if (n < 0) return mcp_fail(err, MCP_ERR_IO, "waiting for a connection: %s", strerror(errno));
    if (!datagram) {
        l->in = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
        if (l->in < 0)
            return errno == EINTR || errno == ECONNABORTED
                       ? MCP_OK
                       : mcp_fail(err, MCP_ERR_IO, "accepting a connection: %s", strerror(errno));
        setsockopt(l->in, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    } else {
        /* A session begins with hello; who has said it may go on after a pause. From now on only this peer's
         * datagrams arrive; its first one is left in the queue. */
        struct sockaddr_storage peer = {0};
        socklen_t               size = sizeof peer;
        char                    text[7] = "";
        ssize_t got = recvfrom(fd, text, 6, MSG_PEEK | MSG_DONTWAIT, (struct sockaddr *)&peer, &size);
        if (got < 0) return MCP_OK;
        int known = l->peer_size == size && !memcmp(l->peer, &peer, size);
        if (!known && strcmp(text, "hello ")) { /* not for us */
            (void)recv(fd, text, 1, MSG_DONTWAIT);
            return MCP_OK;
        }
        l->peer_size = size <= sizeof l->peer ? size : 0;
        memcpy(l->peer, &peer, l->peer_size);
        if (connect(fd, (struct sockaddr *)&peer, size))
            return mcp_fail(err, MCP_ERR_IO, "answering a datagram: %s", strerror(errno));
        l->in = fd;
    }
    l->out = l->in;
    return MCP_OK;
}

void mcp_forget_peer(mcp_link *l)
{
    struct sockaddr none = {.sa_family = AF_UNSPEC};
    if (l->in >= 0) (void)connect(l->in, &none, sizeof none);
    l->in = l->out = -1;
}
