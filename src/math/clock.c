/* clock.c - the system's clocks in seconds. */
#include "math/clock.h"

#include <errno.h>
#include <time.h>

static double seconds_of(clockid_t which)
{
    struct timespec t;
    clock_gettime(which, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double mcp_clock(void)
{
    return seconds_of(CLOCK_MONOTONIC);
}

double mcp_clock_cpu(void)
{
    return seconds_of(CLOCK_PROCESS_CPUTIME_ID);
}

void mcp_clock_sleep_until(double time)
{
    struct timespec t = {.tv_sec = (time_t)time, .tv_nsec = (long)((time - (double)(time_t)time) * 1e9)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR) {
    }
}
