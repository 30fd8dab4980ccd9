/* file.c - read and write whole files; make folders. */
#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "math/arena.h"

enum { MOST_MB = 1024 }; /* of a file that is read; a sparse file or a device has more than any memory */

static mcp_status too_large(const char *path, mcp_error *err)
{
    return mcp_fail(err, MCP_ERR_IO, "%s: it has more than %d MB; no file of mcpilco has", path, MOST_MB);
}

static mcp_status read_all(int fd, const char *path, char **out, size_t *size, mcp_error *err)
{
    size_t capacity = 1 << 14, used = 0;
    char  *text = mcp_calloc(capacity, 1);
    for (;;) {
        if (!text) return mcp_fail(err, MCP_ERR_MEMORY, "%s: out of memory while reading it", path);
        ssize_t n = read(fd, text + used, capacity - used - 1);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) {
            mcp_free(text);
            return mcp_fail(err, MCP_ERR_IO, "%s: cannot read it: %s", path, strerror(errno));
        }
        used += (size_t)n;
        if (n == 0) break;
        if (used > (size_t)MOST_MB << 20) {
            mcp_free(text);
            return too_large(path, err);
        }
        if (used + 1 < capacity) continue;
        char *more = mcp_realloc(text, capacity *= 2);
        if (!more) mcp_free(text);
        text = more;
    }
    text[used] = '\0';
    *out = text;
    if (size) *size = used;
    return MCP_OK;
}

/* A pipe in a folder would be waited for, a device read without end: only what the user pipes in by a shell's
 * /dev/fd/N or /dev/stdin is read as well. */
static mcp_status check_kind(int fd, const char *path, mcp_error *err)
{
    struct stat st;
    if (fstat(fd, &st)) return mcp_fail(err, MCP_ERR_IO, "%s: cannot open it: %s", path, strerror(errno));
    if (S_ISREG(st.st_mode)) return st.st_size >> 20 >= MOST_MB ? too_large(path, err) : MCP_OK;
    if (S_ISDIR(st.st_mode)) return mcp_fail(err, MCP_ERR_IO, "%s: it is a folder, not a file", path);
    int piped = S_ISFIFO(st.st_mode) || isatty(fd);
    if (!piped || (strncmp(path, "/dev/", 5) != 0 && strncmp(path, "/proc/", 6) != 0))
        return mcp_fail(err, MCP_ERR_IO, "%s: it is a pipe or a device, not a file", path);
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) < 0)
        return mcp_fail(err, MCP_ERR_IO, "%s: cannot open it: %s", path, strerror(errno));
    return MCP_OK;
}

mcp_status mcp_file_read(const char *path, char **out, size_t *size, mcp_error *err)
{
    *out = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) return mcp_fail(err, MCP_ERR_IO, "%s: cannot open it: %s", path, strerror(errno));
    mcp_status st = check_kind(fd, path, err);
    if (st == MCP_OK) st = read_all(fd, path, out, size, err);
    close(fd);
    return st;
}

static int write_all(int fd, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t n = write(fd, data, size);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno == EAGAIN) { /* somebody who shares a pipe with us made it so */
            struct pollfd p = {.fd = fd, .events = POLLOUT};
            (void)poll(&p, 1, 100);
            continue;
        }
        if (n < 0) return -1;
        data += n;
        size -= (size_t)n;
    }
    return 0;
}

/* A rename is on disk only when its folder is. Some file systems cannot sync a folder: that is no failure. */
static void sync_folder_of(int at, const char *path)
{
    char       *copy = mcp_strdup(path);
    char       *slash = copy ? strrchr(copy, '/') : NULL;
    const char *folder = !slash ? "." : slash == copy ? "/" : copy;
    if (slash && slash != copy) *slash = '\0';
    int fd = copy ? openat(at, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
    mcp_free(copy);
}

/* The descriptor that a path names, -1: none. */
static int named_descriptor(const char *path)
{
    static const char *const folder[] = {"/dev/fd/", "/proc/self/fd/"};
    if (!strcmp(path, "/dev/stdout")) return STDOUT_FILENO;
    if (!strcmp(path, "/dev/stderr")) return STDERR_FILENO;
    for (int i = 0; i < 2; i++) {
        const size_t n = strlen(folder[i]);
        char        *end;
        if (strncmp(path, folder[i], n) != 0) continue;
        long fd = strtol(path + n, &end, 10);
        if (end != path + n && !*end && fd >= 0 && fd <= INT_MAX) return (int)fd;
    }
    return -1;
}

/* A descriptor is written where it stands: opened anew it would begin at its file's first byte, and a file of
 * that name would take the place of the device. A pipe that nobody reads is ENXIO, not a wait. */
static mcp_status write_straight(const char *path, const void *data, size_t size, mcp_error *err)
{
    int ours = named_descriptor(path);
    int fd = ours >= 0 ? fcntl(ours, F_DUPFD_CLOEXEC, 3)
                       : open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) return mcp_fail(err, MCP_ERR_IO, "%s: cannot write it: %s", path, strerror(errno));
    int failed = write_all(fd, data, size) ? errno : 0;
    if (close(fd) && !failed) failed = errno;
    return failed ? mcp_fail(err, MCP_ERR_IO, "%s: cannot write it: %s", path, strerror(failed)) : MCP_OK;
}

/* The file that is written, empty and ours until it is closed; -1 with errno. What a kill left there is taken
 * over, but not a link, a pipe or another name of a file elsewhere: that makes room. Somebody who writes the
 * same file comes first or after, never at the same time. */
static int open_partial(int at, const char *partial)
{
    enum { HOW = O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, TRIES = 100 };
    const struct timespec pause = {.tv_nsec = 20000000};
    for (int i = 0; i < TRIES; i++) {
        struct stat own, named;
        int         fd = openat(at, partial, HOW, 0666);
        if (fd < 0 && errno != ELOOP && errno != ENXIO) return -1;
        if (fd < 0 || fstat(fd, &own) || !S_ISREG(own.st_mode) || own.st_nlink > 1) {
            if (fd >= 0) close(fd);
            if (unlinkat(at, partial, 0) && errno != ENOENT) return -1;
            continue;
        }
        int busy = flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK;
        if (!busy && fstatat(at, partial, &named, AT_SYMLINK_NOFOLLOW) == 0 && named.st_ino == own.st_ino &&
            named.st_dev == own.st_dev && ftruncate(fd, 0) == 0)
            return fd;
        close(fd);
        if (busy) nanosleep(&pause, NULL);
    }
    errno = EBUSY;
    return -1;
}

/* The new text under another name, on disk, then under its own; errno, 0 = done. */
static int replace(int at, const char *path, const char *partial, const void *data, size_t size)
{
    int fd = open_partial(at, partial);
    int failed = fd < 0 ? errno : 0;
    if (!failed && (write_all(fd, data, size) || fsync(fd))) failed = errno;
    if (!failed && renameat(at, partial, at, path)) failed = errno;
    if (failed && fd >= 0) unlinkat(at, partial, 0);
    if (fd >= 0 && close(fd) && !failed) failed = errno; /* until here nobody else writes it */
    return failed;
}

/* A pipe or a device that the user names; not what a link in somebody's folder leads to. */
static int is_stream(const char *path)
{
    struct stat st;
    if (named_descriptor(path) >= 0) return 1;
    if (strncmp(path, "/dev/", 5) ? lstat(path, &st) : stat(path, &st)) return 0;
    return !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode) && !S_ISLNK(st.st_mode);
}

mcp_status mcp_file_write_in(const mcp_lock *own, const char *path, const void *data, size_t size,
                             mcp_error *err)
{
    const char *inside = path;
    int         at = mcp_lock_place(own, &inside);
    if (at == AT_FDCWD && is_stream(path)) return write_straight(path, data, size, err);

    char *partial = mcp_sprintf("%s.partial", inside);
    if (!partial) return mcp_fail(err, MCP_ERR_MEMORY, "%s: out of memory while writing it", path);
    int failed = replace(at, inside, partial, data, size);
    mcp_free(partial);
    if (failed)
        return mcp_fail(err, MCP_ERR_IO, "%s: cannot write it: %s%s", path, strerror(failed),
                        failed == ENOSPC || failed == EDQUOT || failed == EFBIG
                            ? "; nothing half-written was left, make room and go on" : "");
    sync_folder_of(at, inside);
    return mcp_lock_check(own, err);
}

mcp_status mcp_file_write(const char *path, const void *data, size_t size, mcp_error *err)
{
    return mcp_file_write_in(NULL, path, data, size, err);
}

/* What may not be looked at may be there: reading it says why not, taking it for missing would replace it. */
int mcp_file_exists(const char *path)
{
    struct stat st;
    if (stat(path, &st)) return errno != ENOENT && errno != ENOTDIR;
    return !S_ISDIR(st.st_mode);
}

int mcp_folder_exists(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

mcp_status mcp_folder_room(const mcp_lock *own, const char *path, size_t bytes, mcp_error *err)
{
    char       *file = mcp_sprintf("%s/room.partial", path);
    const char *inside = file;
    if (!file) return mcp_fail(err, MCP_ERR_MEMORY, "%s: out of memory while asking for room", path);
    int at = mcp_lock_place(own, &inside);
    int fd = open_partial(at, inside);
    int why = fd < 0 ? errno : posix_fallocate(fd, 0, (off_t)bytes);
    if (fd >= 0) {
        close(fd);
        unlinkat(at, inside, 0);
    }
    mcp_free(file);
    if (!why) return MCP_OK;
    return mcp_fail(err, MCP_ERR_IO, "%s: no room for the %.3g MB of a trial: %s; make room first", path,
                    (double)bytes / 1e6, strerror(why));
}

mcp_status mcp_folder_make_in(const mcp_lock *own, const char *path, mcp_error *err)
{
    const char *inside = path;
    int         at = mcp_lock_place(own, &inside);
    char       *copy = mcp_strdup(inside);
    struct stat there;
    if (!copy) return mcp_fail(err, MCP_ERR_MEMORY, "%s: out of memory while making the folder", path);
    mcp_status status = MCP_OK;
    for (char *p = copy + (copy[0] != '\0'); status == MCP_OK; p++) {
        if (*p != '/' && *p != '\0') continue;
        char end = *p;
        *p = '\0';
        int why = mkdirat(at, copy, 0777) ? errno : 0;
        if (!why) sync_folder_of(at, copy);
        else if (fstatat(at, copy, &there, at == AT_FDCWD ? 0 : AT_SYMLINK_NOFOLLOW) ||
                 !S_ISDIR(there.st_mode)) /* a link inside a run leads into another one */
            status = mcp_fail(err, MCP_ERR_IO, "%s: cannot make this folder: %s", copy,
                              strerror(why == EEXIST ? ENOTDIR : why));
        *p = end;
        if (!end) break;
    }
    mcp_free(copy);
    return status == MCP_OK ? mcp_lock_check(own, err) : status;
}

mcp_status mcp_folder_make(const char *path, mcp_error *err)
{
    return mcp_folder_make_in(NULL, path, err);
}
