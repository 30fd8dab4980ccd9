/* simulated_clock.c - preload library: time passes only by waiting, and waiting takes no time.
 * The monotonic clock stands still while the program computes; an absolute sleep sets it forward. Waits for a
 * file descriptor are real, so the other end of a wire needs no clock. */
#define _GNU_SOURCE
#include <errno.h>
#include <time.h>

static struct timespec clock_now = {.tv_sec = 1000};

int clock_gettime(clockid_t id, struct timespec *t)
{
    (void)id;
    *t = clock_now;
    return 0;
}

int clock_nanosleep(clockid_t id, int flags, const struct timespec *t, struct timespec *left)
{
    (void)id;
    (void)left;
    if (!(flags & TIMER_ABSTIME)) return EINVAL;
    if (t->tv_sec > clock_now.tv_sec ||
        (t->tv_sec == clock_now.tv_sec && t->tv_nsec > clock_now.tv_nsec))
        clock_now = *t;
    return 0;
}
