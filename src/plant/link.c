/* link.c - send and receive lines with a deadline on whatever file descriptor the wire has. */
#include "plant/link.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "math/arena.h"
#include "math/clock.h"
#include "math/text.h"

int mcp_watch_stops(const mcp_watch *watch)
{
    return watch && watch->stop && watch->stop(watch->context);
}

/* 1: ready, 0: the deadline passed, -1: whoever watches wants to stop. Other signals do not shorten the wait.
 */
static int wait_for(const mcp_link *l, int fd, short events, double deadline)
{
    const double slice = 0.05; /* a signal may have been another thread's */
    for (;;) {
        struct pollfd p = {.fd = fd, .events = events};
        double        left = deadline - mcp_clock(), now = left > slice ? slice : left;
        struct timespec t = {0};
        if (now > 0.0) t = (struct timespec){.tv_nsec = (long)(now * 1e9)};
        int n = ppoll(&p, 1, &t, NULL);
        if (mcp_watch_stops(l->watch)) return -1; /* also when a plant talks without end */
        if (n > 0) return 1;
        if (n < 0 && errno != EINTR) return 1; /* the read or write that follows says what is wrong */
        if (n == 0 && left <= 0.0) return 0;
    }
}

static mcp_status stopped(const mcp_link *l, mcp_error *err)
{
    return mcp_fail(err, MCP_ERR_STOPPED, "stopped while waiting for %s", l->what);
}

int mcp_link_closed(const mcp_link *l)
{
    char byte;
    return l->in < 0 || (l->socket && l->kind == MCP_LINK_STREAM &&
                         recv(l->in, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0);
}

/* What became of the other end, as the end of a sentence. */
static mcp_status lost(mcp_link *l, const char *why, mcp_error *err)
{
    int status = 0;
    if (l->child > 0) {
        for (int i = 0; i < 40; i++) { /* a program that closed its end is about to exit */
            pid_t p = waitpid(l->child, &status, WNOHANG);
            if (p == l->child) {
                l->child = 0;
                if (WIFSIGNALED(status))
                    return mcp_fail(err, MCP_ERR_PLANT, "%s was killed by signal %d (%s)", l->what,
                                    WTERMSIG(status), strsignal(WTERMSIG(status)));
                return mcp_fail(err, MCP_ERR_PLANT,
                                "%s exited with status %d; what it wrote to standard error may say why",
                                l->what, WEXITSTATUS(status));
            }
            nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
        }
    }
    return mcp_fail(err, MCP_ERR_PLANT, "%s: %s", l->what, why);
}

static mcp_status send_text(mcp_link *l, const char *text, double deadline, mcp_error *err)
{
    size_t n = strlen(text), sent = 0;
    while (sent < n) {
        int ready = wait_for(l, l->out, POLLOUT, deadline);
        if (ready != 1) {
            if (sent) snprintf(l->unsent, sizeof l->unsent, "%s", text + sent);
            if (ready < 0) return stopped(l, err);
            return mcp_fail(err, MCP_ERR_PLANT,
                            "%s takes no more text: the plant does not read; is it busy or stopped?",
                            l->what);
        }
        ssize_t k = l->socket ? send(l->out, text + sent, n - sent, MSG_NOSIGNAL | MSG_DONTWAIT)
                              : write(l->out, text + sent, n - sent);
        if (k >= 0) {
            if (l->kind == MCP_LINK_DATAGRAM) return MCP_OK;
            sent += (size_t)k;
        } else if (errno == ECONNREFUSED && l->kind == MCP_LINK_DATAGRAM) {
            return lost(l, "nobody listens there", err);
        } else if (errno != EAGAIN && errno != EINTR) {
            return lost(l,
                        errno == EPIPE || errno == ECONNRESET ? "the plant closed the connection"
                                                              : strerror(errno),
                        err);
        }
    }
    return MCP_OK;
}

/* A number that went out in part would be read as another number: its line is ended before the next one. */
mcp_status mcp_link_send(mcp_link *l, const char *text, double deadline, mcp_error *err)
{
    if (l->out < 0) return mcp_fail(err, MCP_ERR_PLANT, "%s is closed", l->what);
    if (l->unsent[0]) {
        char      *rest = mcp_strdup(l->unsent);
        mcp_status st = rest ? MCP_OK : mcp_fail(err, MCP_ERR_MEMORY, "%s: out of memory", l->what);
        l->unsent[0] = '\0';
        if (st == MCP_OK) st = send_text(l, rest, deadline, err);
        if (st != MCP_OK && rest && !l->unsent[0]) snprintf(l->unsent, sizeof l->unsent, "%s", rest);
        mcp_free(rest);
        if (st != MCP_OK) return st;
    }
    return send_text(l, text, deadline, err);
}

/* A whole line in the buffer, or NULL. */
static char *take_line(mcp_link *l)
{
    char *from = l->buffer + l->start, *end = memchr(from, '\n', (size_t)(l->end - l->start));
    if (!end) return NULL;
    *end     = 0;
    l->start = (int)(end - l->buffer) + 1;
    if (end > from && end[-1] == '\r') end[-1] = 0;
    mcp_text_plain(from);
    return from;
}

static mcp_status fill(mcp_link *l, mcp_error *err)
{
    if (l->start) {
        memmove(l->buffer, l->buffer + l->start, (size_t)(l->end - l->start));
        l->end -= l->start;
        l->start = 0;
    }
    int room = MCP_LINE_MAX - 1 - l->end;
    if (room <= 0)
        return mcp_fail(err, MCP_ERR_PLANT, "%s sent a line of more than %d bytes", l->what,
                        MCP_LINE_MAX - 1);
    ssize_t k = l->socket ? recv(l->in, l->buffer + l->end, (size_t)room, MSG_DONTWAIT)
                          : read(l->in, l->buffer + l->end, (size_t)room);
    if (k < 0 && (errno == EAGAIN || errno == EINTR)) return MCP_OK;
    if (k < 0 && errno == ECONNREFUSED) return lost(l, "nobody listens there", err);
    if (k < 0)
        return lost(l,
                    errno == ECONNRESET || errno == EIO ? "the plant closed the connection" : strerror(errno),
                    err);
    if (k == 0 && l->kind == MCP_LINK_STREAM) return lost(l, "the plant closed the connection", err);
    if (memchr(l->buffer + l->end, 0, (size_t)k))
        return mcp_fail(err, MCP_ERR_PLANT, "%s sent bytes that are not text", l->what);
    l->end += (int)k;
    if (l->kind == MCP_LINK_DATAGRAM && k > 0 && l->buffer[l->end - 1] != '\n')
        l->buffer[l->end++] = '\n'; /* a datagram is a line */
    return MCP_OK;
}

mcp_status mcp_link_receive(mcp_link *l, char **line, double deadline, mcp_error *err)
{
    *line = NULL;
    if (l->in < 0) return mcp_fail(err, MCP_ERR_PLANT, "%s is closed", l->what);
    for (;;) {
        if ((*line = take_line(l))) return MCP_OK;
        int ready = wait_for(l, l->in, POLLIN, deadline);
        if (ready < 0) return stopped(l, err);
        if (!ready) return MCP_OK;
        mcp_status st = fill(l, err);
        if (st != MCP_OK) return st;
    }
}

static int child_ended(mcp_link *l, double patience)
{
    for (double until = mcp_clock() + patience;;) {
        pid_t p = waitpid(l->child, NULL, WNOHANG);
        if (p == l->child || (p < 0 && errno == ECHILD)) {
            l->child = 0;
            return 1;
        }
        if (mcp_clock() >= until) return 0;
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
}

void mcp_link_close(mcp_link *l, double patience)
{
    if (l->in >= 0) close(l->in);
    if (l->out >= 0 && l->out != l->in) close(l->out);
    l->in = l->out = -1;
    l->start = l->end = 0;
    l->unsent[0] = '\0';
    if (l->child <= 0 || child_ended(l, patience)) return;
    if (l->spared) {
        l->child = 0;
        return;
    }
    kill(l->child, SIGTERM);
    if (child_ended(l, patience)) return;
    kill(l->child, SIGKILL);
    child_ended(l, 10.0);
    l->child = 0;
}
