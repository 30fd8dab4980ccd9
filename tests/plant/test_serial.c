/* test_serial.c - lock-step over a serial line equals in-process to the bit. The line is a pseudo-terminal;
 * without them, skipped. */
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "math/arena.h"
#include "wires.h"

/* The near end, when its far end can be opened by name; -1 without. */
static int pseudo_terminal(void)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY), far = -1;
    if (master >= 0 && !grantpt(master) && !unlockpt(master)) far = open(ptsname(master), O_RDWR | O_NOCTTY);
    if (far >= 0) {
        close(far);
        return master;
    }
    if (master >= 0) close(master);
    return -1;
}

CASE(lock_step_over_a_serial_line_equals_in_process)
{
    int            master = pseudo_terminal();
    struct termios t;
    char           plant[256];
    REQUIRE(master >= 0);
    snprintf(plant, sizeof plant, "{serial: %s, baud: 115200, timeout: 10}", ptsname(master));
    tcgetattr(master, &t);
    cfmakeraw(&t);
    tcsetattr(master, TCSANOW, &t);
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        mcp_link *l = mcp_calloc(1, sizeof *l);
        if (!l) _exit(1);
        alarm(120);
        l->in = l->out = master;
        /* what a board prints while it boots */
        usleep(100000);
        if (write(master, "\r\nboot v1.2\r\nready\r\n", 20) != 20) _exit(1);
        serve_on(l, 0);
        _exit(0);
    }
    check_equal(plant);
    kill(child, SIGTERM);
    waitpid(child, NULL, 0);
    close(master);
}

int main(int argc, char **argv)
{
    int master = pseudo_terminal();
    if (master < 0) return SKIPPED("this machine gives no pseudo-terminals (is devpts mounted on /dev/pts?)");
    close(master);
    TEST_ARGS(argc, argv);
    RUN(lock_step_over_a_serial_line_equals_in_process);
    return DONE();
}
