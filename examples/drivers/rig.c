/* rig.c - a plant driver in plain C99 and POSIX, no library: a pendulum behind the four functions you replace
 * by your own.
 *
 *   cc -std=c99 -O2 -o rig rig.c -lm          plant: {exec: [./rig]}
 *
 * Lines come on standard input, answers go to standard output (docs/plant-protocol.md). With --real-time the
 * driver keeps time itself: it answers a step one period after the step before. If nothing is heard for the
 * agreed time during a trial, or the other end is gone, the motor is switched off. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* your rig
 * ----------------------------------------------------------------------------------------------------- */

#define RATE 20.0
static const char NAMES[] = "inputs=u:N.m measured=theta:rad";

static double theta, omega, torque;

static void rig_start(void) /* bring it to its start; here: hanging, at rest */
{
    theta = 0.01;
    omega = 0.0;
    torque = 0.0;
}

static void rig_apply(double u)
{
    torque = u;
#ifdef RIG_TRACE
    fprintf(stderr, "motor %g\n", u);
#endif
}

static double rig_measure(void)
{
    return theta;
}

/* Only a simulation needs this: time passes by itself on a rig. */
static void rig_simulate(double seconds)
{
    const int n = 50;
    for (int i = 0; i < n; i++) {
        double h = seconds / n;
        omega += h * (torque - 0.02 * omega - 4.905 * sin(theta)) / 0.25;
        theta += h * omega;
    }
}

/* the protocol
 * -------------------------------------------------------------------------------------------------- */

static int           running, real_time;
static unsigned long asked; /* number of the last question */
static long          sample;
static double        watchdog, tick;
static char          last[256]; /* its answer */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void wait_until(double time)
{
    double left = time - now();
    if (left <= 0.0) return;
    struct timespec t = {(time_t)left, (long)((left - (double)(time_t)left) * 1e9)};
    nanosleep(&t, NULL);
}

static void say_sample(void)
{
    snprintf(last, sizeof last, "data %lu %.17g %.17g\n", asked, sample / RATE, rig_measure());
}

static void period(void)
{
    if (!running) {
        snprintf(last, sizeof last, "error no trial is running: reset first\n");
        return;
    }
    if (real_time) {
        tick += 1.0 / RATE;
        wait_until(tick);
    }
    rig_simulate(1.0 / RATE);
    sample++;
    say_sample();
}

/* Returns 0 when the session is over. */
static int answer(const char *line)
{
    char          word[16] = "";
    unsigned long number = 0;
    double        u = 0.0;
    int           n = sscanf(line, "%15s %lu %lf", word, &number, &u);
    if (!strcmp(word, "bye")) return 0;
    if (!strcmp(word, "hello")) {
        const char *w = strstr(line, "watchdog=");
        watchdog = w ? atof(w + 9) : 1.0;
        asked = 0;
        running = 0;
        printf("hello 1 rate=%g %s\n", RATE, NAMES);
        return 1;
    }
    if (n < 2 || number < asked) return 1; /* not for us, or late */
    if (number > asked) {                  /* else it is asked again: the same answer, and nothing moves */
        asked = number;
        last[0] = 0;
        if (!strcmp(word, "reset")) {
            rig_start();
            running = 1;
            sample = 0;
            tick = now();
            say_sample();
        } else if (!strcmp(word, "read")) {
            period();
        } else if (n < 3 || u - u != 0.0) {
            snprintf(last, sizeof last, "error expected a finite input\n");
        } else if (!strcmp(word, "step")) {
            rig_apply(u);
            period();
        } else if (!strcmp(word, "apply")) {
            rig_apply(u);
        } else if (!strcmp(word, "stop")) {
            rig_apply(u);
            running = 0;
            snprintf(last, sizeof last, "stopped %lu\n", asked);
        }
    }
    fputs(last, stdout);
    return 1;
}

int main(int argc, char **argv)
{
    char   line[1024];
    size_t length = 0;
    double heard = now();
    signal(SIGPIPE, SIG_IGN); /* a broken wire must end in the last lines of main */
    real_time = argc > 1 && !strcmp(argv[1], "--real-time");
    for (;;) {
        struct pollfd p = {0, POLLIN, 0};
        if (poll(&p, 1, 20) > 0) {
            char    c;
            ssize_t k = read(0, &c, 1);
            if (k <= 0) break; /* the other end is gone */
            if (c != '\n' && length + 1 < sizeof line) {
                line[length++] = c;
                continue;
            }
            line[length] = 0;
            length = 0;
            heard = now();
            if (!answer(line) || fflush(stdout)) break;
        } else if (running && now() - heard > watchdog) {
            rig_apply(0.0); /* nobody speaks */
            running = 0;
        }
    }
    rig_apply(0.0);
    return 0;
}
