/* faults.c - preload library: the K-th call of a kind fails or comes late.
 *   FAULT_CALL  write, fsync, open, rename, mkdir, fallocate, any     (any: all of them, counted together)
 *   FAULT_AT    K, from 1; every later one too with FAULT_ALWAYS=1
 *   FAULT_KIND  an errno's number, or "slow" (0.3 s), or "short" (a write that takes one byte)
 *   FAULT_PATH  only files whose name contains this (open, rename, mkdir), or was opened by such a name */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static atomic_int calls;
static atomic_int watched[1024]; /* descriptors of files that FAULT_PATH names */

static int named(const char *path)
{
    const char *want = getenv("FAULT_PATH");
    return !want || (path && strstr(path, want));
}

/* 0: go on; 1: fail with errno set; 2: take one byte */
static int fault(const char *call)
{
    const char *which = getenv("FAULT_CALL"), *at = getenv("FAULT_AT"), *kind = getenv("FAULT_KIND");
    if (!which || !at || !kind || (strcmp(which, call) && strcmp(which, "any"))) return 0;
    int n = atomic_fetch_add(&calls, 1) + 1;
    if (n < atoi(at) || (n > atoi(at) && !getenv("FAULT_ALWAYS"))) return 0;
    if (!strcmp(kind, "short")) return 2;
    if (!strcmp(kind, "slow")) {
        struct timespec t = {.tv_nsec = 300000000};
        nanosleep(&t, NULL);
        return 0;
    }
    errno = atoi(kind);
    return 1;
}

#define REAL(name, type) static type real; if (!real) real = (type)dlsym(RTLD_NEXT, name)

ssize_t write(int fd, const void *data, size_t size)
{
    typedef ssize_t fn(int, const void *, size_t);
    REAL("write", fn *);
    int f = fd > 2 && (!getenv("FAULT_PATH") || (fd < 1024 && watched[fd])) ? fault("write") : 0;
    return f == 1 ? -1 : real(fd, data, f == 2 && size ? 1 : size);
}

int fsync(int fd)
{
    typedef int fn(int);
    REAL("fsync", fn *);
    return fault("fsync") == 1 ? -1 : real(fd);
}

int openat(int at, const char *path, int flags, ...)
{
    typedef int fn(int, const char *, int, ...);
    REAL("openat", fn *);
    va_list args;
    va_start(args, flags);
    int mode = va_arg(args, int);
    va_end(args);
    int mine = (flags & O_CREAT) && named(path);
    if (mine && fault("open") == 1) return -1;
    int fd = real(at, path, flags, mode);
    if (fd >= 0 && fd < 1024) watched[fd] = mine;
    return fd;
}

int renameat(int at, const char *from, int to_at, const char *to)
{
    typedef int fn(int, const char *, int, const char *);
    REAL("renameat", fn *);
    return named(to) && fault("rename") == 1 ? -1 : real(at, from, to_at, to);
}

int mkdirat(int at, const char *path, mode_t mode)
{
    typedef int fn(int, const char *, mode_t);
    REAL("mkdirat", fn *);
    return named(path) && fault("mkdir") == 1 ? -1 : real(at, path, mode);
}

int posix_fallocate(int fd, off_t from, off_t size)
{
    typedef int fn(int, off_t, off_t);
    REAL("posix_fallocate", fn *);
    return fault("fallocate") == 1 ? errno : real(fd, from, size);
}
