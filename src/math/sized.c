/* sized.c - see sized.h. A size that is no size of ours betrays a struct that nobody initialised. */
#include "math/sized.h"

#include <string.h>

void mcp_sized_init(void *out, size_t size, const void *defaults, size_t full)
{
    if (size > full) {
        memset((char *)out + full, 0, size - full);
        memcpy(out, defaults, full);
    } else {
        memcpy(out, defaults, size);
    }
    memcpy(out, &size, sizeof size);
}

mcp_status mcp_sized_read(void *out, size_t full, const void *given, const char *what, mcp_error *err)
{
    size_t size;
    memcpy(&size, given, sizeof size);
    if (size > full)
        return mcp_fail(err, MCP_ERR_ARG,
                        "%s: its size is %zu, larger than the %zu bytes that this library knows; fill it by "
                        "%s_default first, or load a library that is as new as the header",
                        what, size, full, what);
    if (size <= sizeof size)
        return mcp_fail(err, MCP_ERR_ARG, "%s: its size is %zu; fill it by %s_default first", what, size,
                        what);
    memcpy(out, given, size);
    memcpy(out, &full, sizeof full);
    return MCP_OK;
}
