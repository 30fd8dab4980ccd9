/* Any bytes as an NPY file: refused with a sentence, or as many numbers as its shape says. */
#include <string.h>

#include "io/npy.h"
#include "math/arena.h"
#include "memory_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int        dims = 0, shape[MCP_NPY_DIMS];
    double    *value = NULL, sum = 0.0;
    size_t     count = 1;
    mcp_error  err = {MCP_OK, ""};
    mcp_status st = mcp_npy_read(memory_file(data, size), &dims, shape, &value, &err);
    if ((st == MCP_OK) != (value != NULL) || (st != MCP_OK && !err.text[0])) abort();
    for (int i = 0; value && i < dims; i++) count *= (size_t)shape[i];
    for (size_t i = 0; value && i < count; i++) sum += value[i];
    mcp_free(value);
    return sum == 1.2345 ? -1 : 0; /* the sum is used */
}
