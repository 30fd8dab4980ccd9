/* npy.c - NumPy's .npy, version 1.0: 6 bytes of magic, 2 of version, 2 of header length, a Python dict padded
 * with blanks to a multiple of 64 bytes, then the numbers. */
#include "io/npy.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/file.h"
#include "math/arena.h"
#include "math/text.h"

static const char magic[8] = {'\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0};

static int little_endian(void)
{
    const uint16_t one = 1;
    return *(const uint8_t *)&one == 1;
}

mcp_status mcp_npy_write_in(const mcp_lock *own, const char *path, int dims, const int *shape,
                            const double *value, mcp_error *err)
{
    if (!little_endian())
        return mcp_fail(err, MCP_ERR_IO, "%s: NPY files are written on little-endian machines only", path);
    mcp_text head = {0}, file = {0};
    size_t   count = 1;
    mcp_text_add(&head, "{'descr': '<f8', 'fortran_order': False, 'shape': (");
    for (int i = 0; i < dims; i++) {
        mcp_text_add(&head, "%s%d", i ? ", " : "", shape[i]);
        count *= (size_t)shape[i];
    }
    mcp_text_add(&head, "%s), }", dims == 1 ? "," : "");
    size_t  total = (10 + head.length + 1 + 63) / 64 * 64;
    uint8_t length[2] = {(uint8_t)((total - 10) & 255), (uint8_t)((total - 10) >> 8)};
    mcp_text_bytes(&file, magic, sizeof magic);
    mcp_text_bytes(&file, (const char *)length, 2);
    if (head.data) mcp_text_bytes(&file, head.data, head.length);
    mcp_text_add(&file, "%*s", (int)(total - 10 - head.length), "\n");
    if (count) mcp_text_bytes(&file, (const char *)value, count * sizeof *value);
    mcp_status st = head.failed || file.failed
                        ? mcp_fail(err, MCP_ERR_MEMORY, "%s: out of memory while writing it", path)
                        : mcp_file_write_in(own, path, file.data, file.length, err);
    mcp_text_free(&head);
    mcp_text_free(&file);
    return st;
}

mcp_status mcp_npy_write(const char *path, int dims, const int *shape, const double *value, mcp_error *err)
{
    return mcp_npy_write_in(NULL, path, dims, shape, value, err);
}

/* "(3, 4, )" behind 'shape': */
static int parse_shape(const char *head, int *dims, int *shape, size_t *count)
{
    const char *p = strstr(head, "'shape'");
    if (!p || !(p = strchr(p, '('))) return 0;
    *dims = 0;
    *count = 1;
    for (p++; *p && *p != ')';) {
        char *end;
        long  n = strtol(p, &end, 10);
        if (end == p || n < 0 || n > INT_MAX || *dims == MCP_NPY_DIMS) return 0;
        if (n > 0 && *count > SIZE_MAX / sizeof(double) / (size_t)n) return 0;
        shape[(*dims)++] = (int)n;
        *count *= (size_t)n;
        p = end + strspn(end, ", ");
    }
    return *p == ')';
}

mcp_status mcp_npy_read(const char *path, int *dims, int *shape, double **value, mcp_error *err)
{
    char  *file;
    size_t size, count = 0;
    *value = NULL;
    mcp_status st = mcp_file_read(path, &file, &size, err);
    if (st != MCP_OK) return st;

    size_t head = size >= 10 ? (size_t)(uint8_t)file[8] | (size_t)(uint8_t)file[9] << 8 : 0;
    char  *text = NULL;
    if (!little_endian() || size < 10 || memcmp(file, magic, sizeof magic) || head < 10 || 10 + head > size)
        st = mcp_fail(err, MCP_ERR_IO, "%s: this is not an NPY file of version 1.0", path);
    else if (!(text = mcp_calloc(head + 1, 1)))
        st = mcp_fail(err, MCP_ERR_MEMORY, "%s: out of memory while reading it", path);
    else {
        memcpy(text, file + 10, head);
        if (!strstr(text, "'<f8'") || !strstr(text, "False") || !parse_shape(text, dims, shape, &count))
            st = mcp_fail(err, MCP_ERR_IO,
                          "%s: expected little-endian doubles in row-major order, at most %d dimensions",
                          path, MCP_NPY_DIMS);
        else if (size - 10 - head != count * sizeof **value)
            st = mcp_fail(err, MCP_ERR_IO,
                          "%s: %zu bytes of numbers where its shape says %zu; the file is damaged", path,
                          size - 10 - head, count * sizeof **value);
        else if (!(*value = mcp_calloc(count + 1, sizeof **value)))
            st = mcp_fail(err, MCP_ERR_MEMORY, "%s: out of memory while reading it", path);
        else memcpy(*value, file + 10 + head, count * sizeof **value);
    }
    mcp_free(text);
    mcp_free(file);
    return st;
}
