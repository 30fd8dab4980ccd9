/* file.h - files that are whole or not there, folders, and the lock that keeps a second process out of one.
 */
#ifndef MCP_FILE_H
#define MCP_FILE_H

#include <stddef.h>

#include "mcpilco/error.h"

/* The whole file, NUL-terminated; mcp_free it. size may be NULL. Pipes and devices are refused, but for
 * what a shell pipes in (/dev/stdin, /dev/fd/N), and so are files larger than any of ours. */
mcp_status mcp_file_read(const char *path, char **out, size_t *size, mcp_error *err);
/* Writes PATH.partial beside it, fsync, rename, fsync of the folder: whatever happens, path is the old file
 * or the new one, whole. Anything but a regular file (a pipe, /dev/stdout) is written straight, outside of a
 * locked folder. */
mcp_status mcp_file_write(const char *path, const void *data, size_t size, mcp_error *err);
int        mcp_file_exists(const char *path);
int        mcp_folder_exists(const char *path);
mcp_status mcp_folder_make(const char *path, mcp_error *err); /* parents too; there already is fine */

typedef struct mcp_lock mcp_lock;
/* Takes the folder and FOLDER/lock for this process; a second taker gets a sentence with the pid of the
 * first. The kernel lets go of it when the process ends, however it ends. */
mcp_status mcp_lock_take(mcp_lock **out, const char *folder, mcp_error *err);
void       mcp_lock_free(mcp_lock *l);
/* MCP_OK: the folder's path still names the folder that was locked; else a sentence. NULL is always fine. */
mcp_status mcp_lock_check(const mcp_lock *l, mcp_error *err);
/* Where a path lies: the locked folder's descriptor and *path cut to what is inside it; AT_FDCWD and *path
 * as it is for NULL and for paths outside. */
int mcp_lock_place(const mcp_lock *l, const char **path);

/* Writing into a locked folder: files go into the folder that was locked, even if somebody moved it
 * meanwhile or put another one in its place; then they are written, and the answer is mcp_lock_check's
 * sentence. NULL: as the functions above. */
mcp_status mcp_file_write_in(const mcp_lock *own, const char *path, const void *data, size_t size,
                             mcp_error *err);
/* Is there room for so many bytes? Asked by taking them for a moment: full disks, quotas, size limits and
 * folders that may not be written all answer. */
mcp_status mcp_folder_room(const mcp_lock *own, const char *path, size_t bytes, mcp_error *err);
mcp_status mcp_folder_make_in(const mcp_lock *own, const char *path, mcp_error *err);

#endif
