/* error.c - the sentence that goes with a status. */
#include "math/number.h"
#include "mcpilco/error.h"

#include <stdarg.h>

mcp_status(mcp_fail)(mcp_error *err, mcp_status status, const char *fmt, ...)
{
    if (err) {
        va_list args;
        err->status = status;
        va_start(args, fmt);
        mcp_vprint(err->text, sizeof err->text, fmt, args);
        va_end(args);
    }
    return status;
}
