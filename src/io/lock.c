/* lock.c - one process at a time in a folder. flock, not a pid file: a killed process leaves nothing behind
 * that a person would have to clean up. The file's text is the holder's pid, for the sentence only. The
 * folder is locked as well, where the file system can, because the file can be removed. The folder itself is
 * held open: its descriptor stays with the folder wherever that is moved, so what is written through it
 * cannot end in another one that took its place. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/file.h"
#include "math/arena.h"

struct mcp_lock {
    int         fd, folder;
    struct stat own; /* of the folder */
    char        path[];
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

static mcp_status lock_folder(mcp_lock *l, mcp_error *err)
{
    const char *folder = l->path;
    struct stat file;
    l->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (l->folder < 0 || fstat(l->folder, &l->own))
        return mcp_fail(err, MCP_ERR_IO, "%s: cannot open this folder: %s", folder, strerror(errno));
    l->fd = openat(l->folder, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    if (l->fd < 0) return mcp_fail(err, MCP_ERR_IO, "%s/lock: cannot open it: %s", folder, strerror(errno));
    if (fstat(l->fd, &file) || !S_ISREG(file.st_mode) || file.st_nlink != 1)
        return mcp_fail(err, MCP_ERR_IO, "%s/lock: it is not a plain file of this folder; remove it", folder);
    if (flock(l->folder, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) return refused(l->fd, folder, err);
    if (flock(l->fd, LOCK_EX | LOCK_NB))
        return errno == EWOULDBLOCK
                   ? refused(l->fd, folder, err)
                   : mcp_fail(err, MCP_ERR_IO, "%s/lock: cannot lock it: %s", folder, strerror(errno));
    char text[32];
    int  n = snprintf(text, sizeof text, "%ld\n", (long)getpid());
    if (ftruncate(l->fd, 0) || pwrite(l->fd, text, (size_t)n, 0) != n) { /* a lock without its pid locks */
        errno = 0;
    }
    return mcp_lock_check(l, err); /* who had it before may have moved the folder away meanwhile */
}

mcp_status mcp_lock_take(mcp_lock **out, const char *folder, mcp_error *err)
{
    size_t    n = strlen(folder);
    mcp_lock *l = mcp_calloc(1, sizeof *l + n + 1);
    *out = NULL;
    if (!l) return mcp_fail(err, MCP_ERR_MEMORY, "%s: out of memory while locking it", folder);
    memcpy(l->path, folder, n + 1);
    while (n > 1 && l->path[n - 1] == '/') l->path[--n] = '\0';
    l->fd = l->folder = -1;
    mcp_status st = lock_folder(l, err);
    if (st == MCP_OK) *out = l;
    else mcp_lock_free(l);
    return st;
}

void mcp_lock_free(mcp_lock *l)
{
    if (!l) return;
    if (l->fd >= 0) close(l->fd);
    if (l->folder >= 0) close(l->folder);
    mcp_free(l);
}

mcp_status mcp_lock_check(const mcp_lock *l, mcp_error *err)
{
    struct stat now;
    if (!l) return MCP_OK;
    if (stat(l->path, &now) == 0 && now.st_dev == l->own.st_dev && now.st_ino == l->own.st_ino) return MCP_OK;
    return mcp_fail(err, MCP_ERR_IO,
                    "%s: this folder was moved, removed or replaced while a run was working in it; the run "
                    "ends here, what it has is in its own folder, wherever that is now",
                    l->path);
}

int mcp_lock_place(const mcp_lock *l, const char **path)
{
    size_t n = l ? strlen(l->path) : 0;
    if (!l || strncmp(*path, l->path, n) || (*path)[n] != '/') return AT_FDCWD;
    *path += n + strspn(*path + n, "/");
    return l->folder;
}
