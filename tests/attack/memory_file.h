/* memory_file.h - bytes as a file for functions that take a path. */
#ifndef MEMORY_FILE_H
#define MEMORY_FILE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static const char *memory_file(const uint8_t *data, size_t size)
{
    static int  fd = -1;
    static char path[64];
    if (fd < 0) fd = memfd_create("fuzz", 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (fd < 0 || ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size) abort();
    return path;
}

#endif
