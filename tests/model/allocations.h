/* allocations.h - something that allocates, with every single allocation failing in turn. */
#ifndef ALLOCATIONS_H
#define ALLOCATIONS_H

#include "math/arena.h"
#include "test.h"

/* life: makes something, uses it and frees it. It ends well with fewer than `most` allocations and more than
 * `least`; before, it says that memory was missing. */
static inline void check_allocations(mcp_status (*life)(mcp_error *err), long most, int least)
{
    int failed = 0;
    for (long at = 1; at < most; at++) {
        mcp_error e = {MCP_OK, ""};
        mcp_alloc_fail_at(at);
        mcp_status st = life(&e);
        mcp_alloc_fail_at(0);
        if (st == MCP_OK) break;
        failed++;
        CHECK(st == MCP_ERR_MEMORY);
        CHECK_HAS(e.text, "memory");
    }
    CHECK(failed > least && failed < most - 1);
}

#endif
