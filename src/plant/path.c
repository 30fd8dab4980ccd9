/* path.c - relative to the task file's folder. */
#include "plant/path.h"

#include <string.h>

#include "math/arena.h"

char *mcp_path_beside(const char *task_file, const char *path)
{
    const char *slash = task_file ? strrchr(task_file, '/') : NULL;
    if (path[0] == '/' || !slash) return mcp_strdup(path);
    return mcp_sprintf("%.*s/%s", (int)(slash - task_file), task_file, path);
}
