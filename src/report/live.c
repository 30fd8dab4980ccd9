/* live.c - server-sent events on the loopback. One thread, one poll loop; each browser is at its own place in
 * the list of messages, so a slow one only lags behind. */
#include "report/live.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "math/arena.h"
#include "math/text.h"
#include "report/live_page.h"

enum { CLIENTS = 16, REQUEST = 2048, MESSAGES = 200000, STEP_MS = 100 };

typedef struct {
    int    fd; /* -1: free place */
    char   request[REQUEST];
    int    got;
    int    events;   /* 1: an event stream, 0: a page or an error being sent */
    char  *send;     /* what is being sent now */
    size_t length, sent;
    int    next;     /* message it gets next */
    int    finished; /* close when sent */
} client;

struct mcp_live {
    int             listener, wake[2];
    char            url[80];
    char           *title;
    pthread_t       thread;
    pthread_mutex_t lock; /* guards the four below */
    char          **message;
    int             messages, capacity, stopping;
    client          client[CLIENTS];
};

static int split_address(const char *address, char *host, size_t size, int *port)
{
    const char *colon = strrchr(address, ':'), *digits = colon ? colon + 1 : address;
    size_t      n = colon ? (size_t)(colon - address) : 0;
    char       *end;
    long        value = strtol(digits, &end, 10);
    if (end == digits || *end || value < 0 || value > 65535 || n >= size) return 0;
    memcpy(host, address, n);
    host[n] = '\0';
    if (!n || !strcmp(host, "localhost")) snprintf(host, size, "127.0.0.1");
    *port = (int)value;
    return 1;
}

static mcp_status open_listener(mcp_live *l, const char *address, int anywhere, mcp_error *err)
{
    char               host[64];
    int                port, one = 1;
    struct sockaddr_in a = {.sin_family = AF_INET};
    socklen_t          size = sizeof a;
    if (!split_address(address, host, sizeof host, &port) || inet_pton(AF_INET, host, &a.sin_addr) != 1)
        return mcp_fail(err, MCP_ERR_ARG,
                        "--live %s: expected PORT or HOST:PORT, e.g. 8080 or 127.0.0.1:8080", address);
    if ((ntohl(a.sin_addr.s_addr) >> 24) != 127 && !anywhere)
        return mcp_fail(err, MCP_ERR_ARG,
                        "--live %s: %s is not this machine's loopback; anyone who reaches it could watch. "
                        "Use 127.0.0.1, or add --live-anywhere if that is wanted",
                        address, host);
    a.sin_port  = htons((uint16_t)port);
    l->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (l->listener < 0) return mcp_fail(err, MCP_ERR_IO, "--live: no socket: %s", strerror(errno));
    setsockopt(l->listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(l->listener, (struct sockaddr *)&a, sizeof a) || listen(l->listener, 8))
        return mcp_fail(err, MCP_ERR_IO, "--live %s: %s; choose another port (0 takes a free one)", address,
                        strerror(errno));
    getsockname(l->listener, (struct sockaddr *)&a, &size);
    snprintf(l->url, sizeof l->url, "http://%s:%d/", host, ntohs(a.sin_port));
    return MCP_OK;
}

static void drop(client *c)
{
    if (c->fd >= 0) close(c->fd);
    mcp_free(c->send);
    memset(c, 0, sizeof *c);
    c->fd = -1;
}

static void answer(mcp_live *l, client *c)
{
    mcp_text t = {0};
    if (!strncmp(c->request, "GET /events ", 12)) {
        c->events = 1;
        mcp_text_add(&t, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: "
                         "no-store\r\n\r\nretry: 2000\n\n");
    } else if (!strncmp(c->request, "GET / ", 6)) {
        c->finished = 1;
        mcp_text_add(
            &t, "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nConnection: close\r\n\r\n");
        mcp_live_page(&t, l->title);
    } else {
        c->finished = 1;
        mcp_text_add(
            &t,
            "HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\nnothing here\n");
    }
    c->length = t.length;
    c->sent   = 0;
    if (mcp_text_take(&t, &c->send, NULL) != MCP_OK) drop(c);
}

static void receive(mcp_live *l, client *c)
{
    ssize_t n = recv(c->fd, c->request + c->got, (size_t)(REQUEST - 1 - c->got), 0);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
        drop(c);
        return;
    }
    if (n < 0) return;
    if (c->send || c->events) { /* nothing more is expected of it */
        c->got = 0;
        return;
    }
    c->got += (int)n;
    c->request[c->got] = '\0';
    if (strstr(c->request, "\r\n\r\n")) {
        answer(l, c);
        c->got = 0;
    } else if (c->got >= REQUEST - 1) drop(c);
}

/* Joins the messages the browser has not seen into its next piece. */
static void gather(mcp_live *l, client *c)
{
    mcp_text t = {0};
    pthread_mutex_lock(&l->lock);
    for (; c->next < l->messages && t.length < 65536; c->next++)
        mcp_text_add(&t, "data: %s\n\n", l->message[c->next]);
    pthread_mutex_unlock(&l->lock);
    if (!t.length) return;
    c->length = t.length;
    c->sent   = 0;
    if (mcp_text_take(&t, &c->send, NULL) != MCP_OK) drop(c);
}

static void transmit(mcp_live *l, client *c)
{
    if (!c->send && c->events) gather(l, c);
    if (c->fd < 0 || !c->send) return;
    ssize_t n = send(c->fd, c->send + c->sent, c->length - c->sent, MSG_NOSIGNAL);
    if (n < 0 && errno != EAGAIN && errno != EINTR) {
        drop(c);
        return;
    }
    if (n > 0) c->sent += (size_t)n;
    if (c->sent < c->length) return;
    mcp_free(c->send);
    c->send = NULL;
    if (c->finished) drop(c);
}

static void welcome(mcp_live *l)
{
    int fd = accept4(l->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) return;
    for (int i = 0; i < CLIENTS; i++)
        if (l->client[i].fd < 0) {
            l->client[i].fd = fd;
            return;
        }
    close(fd); /* full house */
}

static int all_served(mcp_live *l)
{
    for (int i = 0; i < CLIENTS; i++)
        if (l->client[i].fd >= 0 && l->client[i].events &&
            (l->client[i].send || l->client[i].next < l->messages))
            return 0;
    return 1;
}

static void *serve(void *context)
{
    mcp_live *l = context;
    for (int left = 1000 / STEP_MS; left > 0;) {
        struct pollfd p[CLIENTS + 2] = {{.fd = l->listener, .events = POLLIN},
                                        {.fd = l->wake[0], .events = POLLIN}};
        pthread_mutex_lock(&l->lock);
        int messages = l->messages;
        pthread_mutex_unlock(&l->lock);
        for (int i = 0; i < CLIENTS; i++) {
            client *c = &l->client[i];
            p[i + 2] = (struct pollfd){
                .fd = c->fd,
                .events = (short)(POLLIN | (c->send || (c->events && c->next < messages) ? POLLOUT : 0))};
        }
        poll(p, CLIENTS + 2, STEP_MS);
        if (p[1].revents) {
            char sink[64];
            while (read(l->wake[0], sink, sizeof sink) > 0) {}
        }
        if (p[0].revents & POLLIN) welcome(l);
        for (int i = 0; i < CLIENTS; i++) {
            if (p[i + 2].fd < 0) continue;
            if (p[i + 2].revents & (POLLIN | POLLHUP | POLLERR)) receive(l, &l->client[i]);
            if (l->client[i].fd >= 0) transmit(l, &l->client[i]);
        }
        pthread_mutex_lock(&l->lock);
        int stopping = l->stopping, served = all_served(l);
        pthread_mutex_unlock(&l->lock);
        if (stopping && (served || --left == 0)) break;
    }
    return NULL;
}

mcp_status mcp_live_start(mcp_live **out, const char *address, int anywhere, const char *title,
                          mcp_error *err)
{
    *out        = NULL;
    mcp_live *l = mcp_calloc(1, sizeof *l);
    if (!l) return mcp_fail(err, MCP_ERR_MEMORY, "out of memory for the live page");
    l->listener = l->wake[0] = l->wake[1] = -1;
    for (int i = 0; i < CLIENTS; i++) l->client[i].fd = -1;
    pthread_mutex_init(&l->lock, NULL);
    mcp_status st = open_listener(l, address, anywhere, err);
    if (st == MCP_OK && (pipe2(l->wake, O_CLOEXEC | O_NONBLOCK) || !(l->title = mcp_strdup(title))))
        st = mcp_fail(err, MCP_ERR_MEMORY, "no resources left for the live page");
    if (st == MCP_OK && pthread_create(&l->thread, NULL, serve, l))
        st = mcp_fail(err, MCP_ERR_MEMORY, "no thread to be had for the live page");
    else if (st == MCP_OK) {
        *out = l;
        return MCP_OK;
    }
    if (l->listener >= 0) close(l->listener);
    if (l->wake[0] >= 0) close(l->wake[0]), close(l->wake[1]);
    pthread_mutex_destroy(&l->lock);
    mcp_free(l->title);
    mcp_free(l);
    return st;
}

const char *mcp_live_url(const mcp_live *l) { return l->url; }

static void wake(mcp_live *l)
{
    ssize_t n = write(l->wake[1], "x", 1); /* a full pipe means it is awake already */
    (void)n;
}

void mcp_live_push(mcp_live *l, const char *json)
{
    char *copy = mcp_strdup(json);
    if (!copy) return;
    pthread_mutex_lock(&l->lock);
    if (l->messages == l->capacity && l->capacity < MESSAGES) {
        int    more = l->capacity ? 2 * l->capacity : 256;
        char **m    = mcp_realloc(l->message, (size_t)more * sizeof *m);
        if (m) l->message = m, l->capacity = more;
    }
    if (l->messages < l->capacity) l->message[l->messages++] = copy, copy = NULL;
    pthread_mutex_unlock(&l->lock);
    mcp_free(copy);
    wake(l);
}

void mcp_live_stop(mcp_live *l)
{
    if (!l) return;
    pthread_mutex_lock(&l->lock);
    l->stopping = 1;
    pthread_mutex_unlock(&l->lock);
    wake(l);
    pthread_join(l->thread, NULL);
    for (int i = 0; i < CLIENTS; i++) drop(&l->client[i]);
    close(l->listener);
    close(l->wake[0]);
    close(l->wake[1]);
    pthread_mutex_destroy(&l->lock);
    for (int i = 0; i < l->messages; i++) mcp_free(l->message[i]);
    mcp_free(l->message);
    mcp_free(l->title);
    mcp_free(l);
}
