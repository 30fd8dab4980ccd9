/* long_paced.c - hours of paced trials over a wire: long_paced TASK TRIALS [--realtime].
 * Runs the task's exploration TRIALS times on its plant, one after the other in one process, and prints for
 * each tenth: samples, misses, jitter, the latest command, memory and open descriptors. Exits with 1 when
 * memory or descriptors grew after the first tenth, or when a trial failed. With the preload library
 * simulated_clock.c a day passes in minutes. */
#include <dirent.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "control/system.h"
#include "math/clock.h"
#include "mcpilco/task.h"
#include "plant/link.h"
#include "plant/plant_handle.h"

static long resident_kb(void)
{
    char  line[256];
    long  kb = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f)) sscanf(line, "VmRSS: %ld", &kb);
    if (f) fclose(f);
    return kb;
}

static int descriptors(void)
{
    DIR *d = opendir("/proc/self/fd");
    int  n = 0;
    while (d && readdir(d)) n++;
    if (d) closedir(d);
    return n - 3; /* ., .. and its own */
}

typedef struct {
    long   samples, misses, kb;
    double variance, late; /* sum of the trials' variances of the period */
    int    trials, fds;
} part;

static int run(const char *file, int trials)
{
    mcp_task   *task;
    mcp_system *system;
    mcp_plant  *plant;
    mcp_trial  *t;
    mcp_error   err = {MCP_OK, ""};
    part        first = {0}, now = {0};
    int         tenth = trials > 10 ? trials / 10 : 1, bad = 0;
    if (mcp_task_load(&task, file, NULL, 0, &err) || mcp_system_create(&system, task, &err) ||
        mcp_trial_create(&t, task, &err) || mcp_plant_open(&plant, system, &err)) {
        printf("FAIL %s\n", err.text);
        return 1;
    }
    printf("%10s %10s %8s %12s %14s %10s %5s\n", "hours", "samples", "misses", "jitter ms", "latest ms",
           "memory kB", "fds");
    double began = mcp_clock();
    for (int k = 1; k <= trials && !bad; k++) {
        if (mcp_plant_run(plant, NULL, (mcp_trial_key){1, 0, 0}, NULL, NULL, t, &err) != MCP_OK) {
            printf("FAIL trial %d: %s\n", k, err.text);
            bad = 1;
        }
        now.samples += t->samples;
        now.misses += t->timing.misses;
        now.variance += t->timing.period_std * t->timing.period_std;
        now.late = fmax(now.late, t->timing.late_max);
        now.trials++;
        if (k % tenth && k != trials) continue;
        now.kb  = resident_kb();
        now.fds = descriptors();
        printf("%10.3f %10ld %8ld %12.4f %14.3f %10ld %5d\n", (mcp_clock() - began) / 3600, now.samples,
               now.misses, 1e3 * sqrt(now.variance / now.trials), 1e3 * now.late, now.kb, now.fds);
        fflush(stdout);
        if (!first.kb) first = now;
        if (now.fds > first.fds || now.kb > first.kb + 1024) {
            printf("FAIL memory or descriptors grew\n");
            bad = 1;
        }
        now = (part){0};
    }
    mcp_plant_close(plant);
    mcp_trial_free(t);
    mcp_system_free(system);
    mcp_task_free(task);
    return bad;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        printf("usage: long_paced TASK TRIALS [--realtime]\n");
        return 2;
    }
    if (argc > 3 && !strcmp(argv[3], "--realtime")) {
        struct sched_param p = {.sched_priority = 10};
        if (mlockall(MCL_CURRENT | MCL_FUTURE)) printf("memory is not locked\n");
        if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &p)) printf("ordinary scheduling\n");
    }
    return run(argv[1], atoi(argv[2]));
}
