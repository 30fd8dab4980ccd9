/* file.c - read and write whole files; make folders. */
#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "math/arena.h"

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

mcp_status mcp_file_read(const char *path, char **out, size_t *size, mcp_error *err)
{
    *out = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return mcp_fail(err, MCP_ERR_IO, "%s: cannot open it: %s", path, strerror(errno));
    mcp_status st = read_all(fd, path, out, size, err);
    close(fd);
    return st;
}

static int write_all(int fd, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t n = write(fd, data, size);
        if (n < 0 && errno == EINTR) continue;
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

static mcp_status write_straight(const char *path, const void *data, size_t size, mcp_error *err)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return mcp_fail(err, MCP_ERR_IO, "%s: cannot write it: %s", path, strerror(errno));
    int failed = write_all(fd, data, size) ? errno : 0;
    if (close(fd) && !failed) failed = errno;
    return failed ? mcp_fail(err, MCP_ERR_IO, "%s: cannot write it: %s", path, strerror(failed)) : MCP_OK;
}

/* The new text under another name, on disk, then under its own; errno, 0 = done. */
static int replace(int at, const char *path, const char *partial, const void *data, size_t size)
{
    int fd = openat(at, partial, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    int failed = fd < 0 ? errno : 0;
    if (!failed && (write_all(fd, data, size) || fsync(fd))) failed = errno;
    if (fd >= 0 && close(fd) && !failed) failed = errno;
    if (!failed && renameat(at, partial, at, path)) failed = errno;
    if (failed && fd >= 0) unlinkat(at, partial, 0);
    return failed;
}

mcp_status mcp_file_write_in(const mcp_lock *own, const char *path, const void *data, size_t size,
                             mcp_error *err)
{
    struct stat st;
    const char *inside = path;
    int         at = mcp_lock_place(own, &inside);
    if (fstatat(at, inside, &st, 0) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
        return write_straight(path, data, size, err);

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

int mcp_file_exists(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && !S_ISDIR(st.st_mode);
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
    int fd = openat(at, inside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
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
        else if (fstatat(at, copy, &there, 0) || !S_ISDIR(there.st_mode))
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
