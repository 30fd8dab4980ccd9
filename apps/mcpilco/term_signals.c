/* term_signals.c - signals, and what the program still does before it dies of one.
 *
 *   a signal that asks to end   the verb stops by itself: a plant in a trial gets its safe input, the run is
 *                               kept. Who asks again during the next seconds asks for the same.
 *   a verb that does not stop   after STUCK_S no plant is in a trial, or its last words are sent; then the
 *                               program ends at once. Run folders are whole at every moment.
 *   a crash                     the last words go out, then the signal does what it does.
 *   Ctrl-Z                      a plant in a trial cannot wait: as Ctrl-C; else the program is suspended.
 *
 * The last words are the line that stops the plant; the wire renews them with every command. The handlers
 * touch nothing but what stands here. */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "math/clock.h"
#include "realtime.h"
#include "term.h"

enum { WORDS = 4096, CODE_STOPPED = 130 };
#ifdef MCP_SANITIZED
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif
static const double STUCK_S = 0.8, HOPELESS_S = 4.0;

static volatile sig_atomic_t stop_signal;
static double                stop_began;
/* The wire and two lines, one of them valid: -1 - nobody to stop; else 2 * fd + which line. */
static atomic_int plant = -1;
static char       words[2][WORDS];

static void say_last_words(void)
{
    int at = atomic_load(&plant);
    if (at < 0) return;
    for (int i = 0; i < 3; i++) /* a datagram may get lost; a repeat moves nothing */
        if (write(at / 2, words[at % 2], strlen(words[at % 2])) < 0 && errno != EAGAIN) return;
}

static void look_again(double seconds)
{
    struct itimerval t = {.it_value = {.tv_usec = (suseconds_t)(seconds * 1e6)}};
    setitimer(ITIMER_REAL, &t, NULL);
}

static void on_stop(int number)
{
    int why = errno;
    if (!stop_signal) {
        stop_signal = number;
        stop_began = mcp_clock();
        look_again(STUCK_S);
    }
    errno = why;
}

static void on_time(int number)
{
    static const char text[] = "\nmcpilco: stopped; everything finished is kept, --resume goes on\n";
    (void)number;
    int why = errno;
    if (!stop_signal) return;
    if (atomic_load(&plant) < 0 || mcp_clock() - stop_began > HOPELESS_S) {
        say_last_words();
        if (write(STDERR_FILENO, text, sizeof text - 1) < 0) _exit(CODE_STOPPED);
        _exit(CODE_STOPPED);
    }
    look_again(0.1);
    errno = why;
}

static void on_crash(int number)
{
    say_last_words();
    signal(number, SIG_DFL);
    raise(number);
}

static void on_suspend(int number)
{
    if (atomic_load(&plant) >= 0) on_stop(number);
    else raise(SIGSTOP);
}

/* How signal n is met; NULL: as it is. */
static void (*handler_of(int n))(int)
{
    switch (n) {
    case SIGKILL:
    case SIGSTOP:
    case SIGCHLD:
    case SIGCONT:
    case SIGURG:
    case SIGWINCH: return NULL;
    case SIGPIPE:
    case SIGXFSZ: return SIG_IGN; /* pipes and full disks are errors */
    case SIGALRM: return on_time;
    case SIGTSTP:
    case SIGTTIN:
    case SIGTTOU: return on_suspend;
    case SIGSEGV:
    case SIGBUS:
    case SIGFPE:
    case SIGILL:
    case SIGABRT:
    case SIGTRAP:
    case SIGSYS:
        return SANITIZED ? NULL : on_crash; /* a sanitizer has something to say itself */
    default: return on_stop;
    }
}

void term_catch_signals(void)
{
    for (int n = 1; n <= SIGRTMAX; n++) {
        struct sigaction a = {.sa_handler = handler_of(n), .sa_flags = SA_RESTART}, before;
        if (!a.sa_handler || sigaction(n, NULL, &before)) continue;
        if (n == SIGHUP && before.sa_handler == SIG_IGN) continue; /* nohup */
        sigfillset(&a.sa_mask);
        sigaction(n, &a, NULL);
    }
}

int term_stop(void)
{
    return stop_signal;
}

void term_ask_stop(void)
{
    if (!stop_signal) raise(SIGINT);
}

static int stop(void *context)
{
    (void)context;
    return stop_signal != 0;
}

static void moving(void *context, int fd, const char *line)
{
    size_t n = strlen(line);
    int    free = atomic_load(&plant) % 2 != 1; /* the line that is not valid now */
    (void)context;
    realtime_moving(fd >= 0);
    if (fd >= 0 && n < WORDS) {
        memcpy(words[free], line, n + 1);
        atomic_store(&plant, 2 * fd + free);
    } else {
        atomic_store(&plant, -1);
    }
}

const mcp_watch *term_watch(void)
{
    static const mcp_watch watch = {stop, moving, NULL};
    return &watch;
}
