/* realtime.c - --realtime: memory that stays in memory, and a real-time scheduling class while a plant is
 * in a trial. Computing between trials is ordinary work: it would only keep everything else waiting. */
#include "realtime.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { PRIORITY = 10 };
static int wanted, is_on;

static int schedule(int on)
{
    struct sched_param p = {.sched_priority = on ? PRIORITY : 0};
    return sched_setscheduler(0, (on ? SCHED_FIFO : SCHED_OTHER) | SCHED_RESET_ON_FORK, &p);
}

void realtime_ask(const char *verb)
{
    if (mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT))
        fprintf(stderr, "mcpilco %s: --realtime: memory is not locked: %s; raise ulimit -l\n", verb,
                strerror(errno));
    if (schedule(1))
        fprintf(stderr,
                "mcpilco %s: --realtime: ordinary scheduling, because a real-time class is refused: %s; "
                "raise ulimit -r to %d, or run as root\n",
                verb, strerror(errno), PRIORITY);
    else {
        wanted = 1;
        (void)schedule(0);
    }
}

void realtime_moving(int on)
{
    if (!wanted || on == is_on) return;
    is_on = on;
    (void)schedule(on);
}
