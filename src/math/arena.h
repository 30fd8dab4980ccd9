/* arena.h - lay out one block of memory. With base == NULL the same lines only measure, so size and pointers
 * cannot drift apart. Every piece starts on a 64-byte boundary. Under AddressSanitizer pieces are separated
 * by poisoned gaps. */
#ifndef MCP_ARENA_H
#define MCP_ARENA_H

#include <stddef.h>
#include <stdint.h>

#include "mcpilco/error.h"

typedef struct {
    char  *base;
    size_t used;
} mcp_arena;

void    *mcp_arena_bytes(mcp_arena *a, size_t bytes);
double  *mcp_arena_doubles(mcp_arena *a, size_t n);
int     *mcp_arena_ints(mcp_arena *a, size_t n);
uint8_t *mcp_arena_u8(mcp_arena *a, size_t n);

/* Zeroed, 64-byte aligned; free with mcp_block_free. All of the library's memory comes through these, so that
 * tests can make the k-th allocation fail: environment variable MCPILCO_FAIL_ALLOC=k, or mcp_alloc_fail_at(k)
 * from a test program, in builds with -DMCP_TESTING. */
mcp_status mcp_block_alloc(void **out, size_t bytes, mcp_error *err);
void       mcp_block_free(void *block);
/* calloc and strdup by the same route; NULL when out of memory. */
void *mcp_calloc(size_t n, size_t size);
void *mcp_realloc(void *p, size_t bytes);
char *mcp_strdup(const char *s);
char *mcp_sprintf(const char *fmt, ...) MCP_PRINTF(1, 2); /* NULL when out of memory */
void  mcp_free(void *p);                                  /* for calloc, realloc, strdup, sprintf */

#ifdef MCP_TESTING
/* The k-th allocation from now on fails, once; k = 0: none does. */
void mcp_alloc_fail_at(long k);
/* Allocations asked for since the last mcp_alloc_fail_at. */
long mcp_alloc_count(void);
#endif

#endif
