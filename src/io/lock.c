/* lock.c - one process at a time in a folder. flock, not a pid file: a killed process leaves nothing behind
 * that a person would have to clean up. The file's text is the holder's pid, for the sentence only. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "io/file.h"
#include "math/arena.h"

struct mcp_lock {
    int fd;
};

static mcp_status refused(int fd, const char *folder, mcp_error *err)
{
    char    text[32] = "";
    ssize_t n = read(fd, text, sizeof text - 1);
    long    pid = n > 0 ? strtol(text, NULL, 10) : 0;
    if (pid > 0)
        return mcp_fail(err, MCP_ERR_IO,
                        "%s: process %ld is working in this run folder; wait for it or stop it first", folder,
                        pid);
    return mcp_fail(err, MCP_ERR_IO,
                    "%s: another process is working in this run folder; wait for it or stop it first",
                    folder);
}

mcp_status mcp_lock_take(mcp_lock **out, const char *folder, mcp_error *err)
{
    mcp_status st = MCP_OK;
    *out = NULL;
    char *path = mcp_sprintf("%s/lock", folder);
    if (!path) return mcp_fail(err, MCP_ERR_MEMORY, "%s: out of memory while locking it", folder);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    mcp_free(path);
    if (fd < 0) return mcp_fail(err, MCP_ERR_IO, "%s/lock: cannot open it: %s", folder, strerror(errno));

    if (flock(fd, LOCK_EX | LOCK_NB)) {
        st = errno == EWOULDBLOCK
                 ? refused(fd, folder, err)
                 : mcp_fail(err, MCP_ERR_IO, "%s/lock: cannot lock it: %s", folder, strerror(errno));
        close(fd);
        return st;
    }
    char text[32];
    int  n = snprintf(text, sizeof text, "%ld\n", (long)getpid());
    if (ftruncate(fd, 0) || pwrite(fd, text, (size_t)n, 0) != n) { /* a lock without its pid still locks */
        errno = 0;
    }
    mcp_lock *l = mcp_calloc(1, sizeof *l);
    if (!l) {
        close(fd);
        return mcp_fail(err, MCP_ERR_MEMORY, "%s: out of memory while locking it", folder);
    }
    l->fd = fd;
    *out = l;
    return MCP_OK;
}

void mcp_lock_free(mcp_lock *l)
{
    if (!l) return;
    close(l->fd);
    mcp_free(l);
}
