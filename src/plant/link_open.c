/* link_open.c - the four kinds of wire. */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "math/clock.h"
#include "plant/link.h"

static void begin(mcp_link *l, mcp_link_kind kind, int socket, const char *word, const char *name)
{
    l->in = l->out = -1;
    l->kind   = kind;
    l->socket = socket;
    l->child  = 0;
    l->spared = 0;
    l->start = l->end = 0;
    l->unsent[0] = '\0';
    snprintf(l->what, sizeof l->what, "%s %s", word, name);
}

/* In the child: only async-signal-safe calls. The socket is its standard input and output; a group of its own
 * keeps Ctrl-C away from it, so that the safe input can still be sent. */
static void become(int wire, int report, char *const *argv, const char *folder)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    for (int number = 1; number <= SIGRTMAX; number++) signal(number, SIG_DFL);
    setpgid(0, 0);
    if ((!folder || chdir(folder) == 0) && dup2(wire, 0) >= 0 && dup2(wire, 1) >= 0) execvp(argv[0], argv);
    int why = errno;
    if (write(report, &why, sizeof why) < 0) _exit(126);
    _exit(127);
}

mcp_status mcp_link_exec(mcp_link *l, char *const *argv, const char *folder, mcp_error *err)
{
    int wire[2], report[2], why = 0;
    begin(l, MCP_LINK_STREAM, 1, "plant program", argv[0]);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, wire))
        return mcp_fail(err, MCP_ERR_PLANT, "%s: %s", l->what, strerror(errno));
    if (pipe2(report, O_CLOEXEC)) {
        why = errno;
        close(wire[0]), close(wire[1]);
        return mcp_fail(err, MCP_ERR_PLANT, "%s: %s", l->what, strerror(why));
    }
    pid_t child = fork();
    if (child == 0) become(wire[1], report[1], argv, folder);
    why = child < 0 ? errno : 0;
    close(wire[1]), close(report[1]);
    if (child > 0) {
        ssize_t k;
        do k = read(report[0], &why, sizeof why);
        while (k < 0 && errno == EINTR);
        if (k > 0) waitpid(child, NULL, 0);
    }
    close(report[0]);
    if (why) {
        close(wire[0]);
        return mcp_fail(err, MCP_ERR_PLANT, "%s cannot be started in %s: %s", l->what, folder ? folder : ".",
                        strerror(why));
    }
    l->in = l->out = wire[0];
    l->child = child;
    return MCP_OK;
}

/* Connects within the timeout; -1 with errno otherwise: EINTR when somebody wants to stop. */
static int connected(const mcp_link *l, const struct addrinfo *a, double timeout)
{
    int fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, a->ai_protocol), why = 0;
    if (fd < 0) return -1;
    if (connect(fd, a->ai_addr, a->ai_addrlen) == 0) return fd;
    if (errno == EINPROGRESS) {
        struct pollfd p = {.fd = fd, .events = POLLOUT};
        socklen_t     size = sizeof why;
        double        until = mcp_clock() + timeout;
        int           n, stop;
        do {
            n = poll(&p, 1, 50);
            stop = mcp_watch_stops(l->watch);
        } while (!stop && (n == 0 || (n < 0 && errno == EINTR)) && mcp_clock() < until);
        if (stop) why = EINTR;
        else if (n == 0) why = ETIMEDOUT;
        else if (n < 0 || getsockopt(fd, SOL_SOCKET, SO_ERROR, &why, &size)) why = errno;
        if (!why) return fd;
    } else {
        why = errno;
    }
    close(fd);
    errno = why;
    return -1;
}

static mcp_status open_net(mcp_link *l, const char *address, int type, double timeout, mcp_error *err)
{
    char             host[128];
    const char      *colon = strrchr(address, ':');
    struct addrinfo *found = NULL, hints = {.ai_socktype = type, .ai_family = AF_UNSPEC};
    if (!colon || colon == address || (size_t)(colon - address) >= sizeof host)
        return mcp_fail(err, MCP_ERR_PLANT, "%s: not host:port", l->what);
    int bracket = address[0] == '[' && colon[-1] == ']'; /* [::1]:7000 */
    snprintf(host, sizeof host, "%.*s", (int)(colon - address) - 2 * bracket, address + bracket);
    int bad = getaddrinfo(host, colon + 1, &hints, &found), why = 0;
    if (bad) return mcp_fail(err, MCP_ERR_PLANT, "%s: %s", l->what, gai_strerror(bad));
    for (const struct addrinfo *a = found; a && l->in < 0; a = a->ai_next) {
        l->in = connected(l, a, timeout);
        if (l->in < 0) why = errno;
    }
    freeaddrinfo(found);
    if (l->in < 0 && why == EINTR)
        return mcp_fail(err, MCP_ERR_STOPPED, "stopped while waiting for %s", l->what);
    if (l->in < 0)
        return mcp_fail(err, MCP_ERR_PLANT,
                        "%s cannot be reached: %s; start the plant first, and see its address", l->what,
                        strerror(why));
    l->out = l->in;
    return MCP_OK;
}

mcp_status mcp_link_tcp(mcp_link *l, const char *address, double timeout, mcp_error *err)
{
    begin(l, MCP_LINK_STREAM, 1, "tcp", address);
    mcp_status st = open_net(l, address, SOCK_STREAM, timeout, err);
    int        one = 1;
    if (st == MCP_OK) setsockopt(l->in, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return st;
}

mcp_status mcp_link_udp(mcp_link *l, const char *address, mcp_error *err)
{
    begin(l, MCP_LINK_DATAGRAM, 1, "udp", address);
    return open_net(l, address, SOCK_DGRAM, 1.0, err);
}

static speed_t speed_of(int baud)
{
    static const struct { int baud; speed_t speed;
    } known[] = {{300, B300},         {600, B600},         {1200, B1200},       {2400, B2400},
                 {4800, B4800},       {9600, B9600},       {19200, B19200},     {38400, B38400},
                 {57600, B57600},     {115200, B115200},   {230400, B230400},   {460800, B460800},
                 {500000, B500000},   {576000, B576000},   {921600, B921600},   {1000000, B1000000},
                 {1152000, B1152000}, {1500000, B1500000}, {2000000, B2000000}, {2500000, B2500000},
                 {3000000, B3000000}, {3500000, B3500000}, {4000000, B4000000}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].baud == baud) return known[i].speed;
    return 0;
}

mcp_status mcp_link_serial(mcp_link *l, const char *device, int baud, mcp_error *err)
{
    struct termios t;
    speed_t        speed = speed_of(baud);
    begin(l, MCP_LINK_STREAM, 0, "serial line", device);
    if (!speed)
        return mcp_fail(err, MCP_ERR_PLANT,
                        "%s: %d is not a speed of serial lines (9600, 115200, 1000000, ...)", l->what, baud);
    int fd = open(device, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return mcp_fail(err, MCP_ERR_PLANT, "%s cannot be opened: %s", l->what, strerror(errno));
    if (tcgetattr(fd, &t)) {
        close(fd);
        return mcp_fail(err, MCP_ERR_PLANT,
                        "%s is not a serial line; plant.serial names a device like /dev/ttyUSB0", l->what);
    }
    cfmakeraw(&t);
    t.c_cflag |= CLOCAL | CREAD;
    cfsetispeed(&t, speed);
    cfsetospeed(&t, speed);
    if (tcsetattr(fd, TCSANOW, &t)) {
        close(fd);
        return mcp_fail(err, MCP_ERR_PLANT, "%s does not take %d baud: %s", l->what, baud, strerror(errno));
    }
    ioctl(fd, TIOCEXCL);
    tcflush(fd, TCIOFLUSH);
    l->in = l->out = fd;
    return MCP_OK;
}
