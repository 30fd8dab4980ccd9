/* sized.h - structs that callers fill and that may have grown since their program was compiled. They begin
 * with a size_t size; what is missing at their end has our default. */
#ifndef MCP_SIZED_H
#define MCP_SIZED_H

#include <stddef.h>

#include "mcpilco/error.h"

/* The first `size` bytes of the defaults, whose own size is `full`, to the caller; its size field becomes
 * what it has of ours. */
void mcp_sized_init(void *out, size_t size, const void *defaults, size_t full);
/* The caller's struct over the defaults in out. `what` names it in the message: "mcp_gp_settings". */
mcp_status mcp_sized_read(void *out, size_t full, const void *given, const char *what, mcp_error *err);

#endif
