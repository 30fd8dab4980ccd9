/* enough_memory.c - under a memory limit (ulimit -v), a sentence where OpenBLAS would wait for ever.
 *
 * OpenBLAS takes a buffer of 128 MB for every thread that calls it, the first ones when it is loaded, before
 * main; when it gets none it tries again without end. So the same is asked of the system first: once before
 * any library has begun (.preinit_array), for the buffers of loading it, and once in main for the threads
 * that will compute. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "commands.h"
#include "math/pool.h"

enum { BUFFER_MB = 132, MOST = 4096 };

static int is_limited(void)
{
    struct rlimit l;
    return (getrlimit(RLIMIT_AS, &l) == 0 && l.rlim_cur != RLIM_INFINITY) ||
           (getrlimit(RLIMIT_DATA, &l) == 0 && l.rlim_cur != RLIM_INFINITY);
}

/* How many of n buffers can be had at once; they are given back. */
static int buffers_to_be_had(int n)
{
    const size_t size = (size_t)BUFFER_MB << 20;
    void        *taken[MOST];
    int          had = 0;
    while (had < n && had < MOST) {
        void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED) break;
        taken[had++] = p;
    }
    for (int i = 0; i < had; i++) munmap(taken[i], size);
    return had;
}

#ifndef MCP_SANITIZED
/* The C library is not set up yet: system calls only. */
static void before_libraries(int argc, char **argv, char **environment)
{
    static const char text[] = "mcpilco: the memory limit is too low to begin: OpenBLAS alone takes 300 MB; "
                               "raise it (ulimit -v)\n";
    (void)argc;
    (void)argv;
    (void)environment;
    if (!is_limited() || buffers_to_be_had(2) == 2) return;
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0) _exit(1);
    _exit(1);
}

typedef void first_fn(int, char **, char **);
__attribute__((section(".preinit_array"), used)) static first_fn *const first = before_libraries;
#endif

/* The threads that the command line asks for; 0: one per core. */
static int threads_asked(char **argv)
{
    for (int i = 1; argv[0] && argv[i]; i++) {
        if (!strcmp(argv[i], "--threads") && argv[i + 1]) return atoi(argv[i + 1]);
        if (!strncmp(argv[i], "--threads=", 10)) return atoi(argv[i] + 10);
    }
    return 0;
}

void enough_memory(char **argv)
{
    if (!is_limited()) return;
    int threads = threads_asked(argv), had;
    if (threads <= 0) threads = mcp_pool_cores();
    if (threads > MOST) threads = MOST;
    if ((had = buffers_to_be_had(threads)) >= threads) return;
    fprintf(stderr,
            "mcpilco: the memory limit is too low for %d threads: OpenBLAS takes %d MB for each; raise it "
            "(ulimit -v), or give --threads %d\n",
            threads, BUFFER_MB, had > 0 ? had : 1);
    exit(1);
}
