/* task_memory.c - memory of one task: pieces are cut from chunks, the chunks form a list. */
#include "task/task_memory.h"

#include <stdint.h>
#include <string.h>

#include "math/arena.h"

/* In test builds every piece is a chunk of its own: each can be made to fail, and overruns show under
 * AddressSanitizer. */
#ifdef MCP_TESTING
enum { CHUNK = 0, ALIGN = 16 };
#else
enum { CHUNK = 16384, ALIGN = 16 };
#endif

typedef struct chunk {
    struct chunk *next;
    size_t        used, size;
} chunk; /* the bytes follow, at HEAD */

enum { HEAD = (sizeof(chunk) + ALIGN - 1) / ALIGN * ALIGN };

struct mcp_task_memory {
    chunk *chunks;
};

mcp_task_memory *mcp_task_memory_create(void)
{
    return mcp_calloc(1, sizeof(mcp_task_memory));
}

void mcp_task_memory_free(mcp_task_memory *b)
{
    if (!b) return;
    for (chunk *c = b->chunks, *next; c; c = next) {
        next = c->next;
        mcp_free(c);
    }
    mcp_free(b);
}

void *mcp_task_memory_get(mcp_task_memory *b, size_t n, size_t size)
{
    if (size && n > (SIZE_MAX / 2) / size) return NULL;
    size_t bytes = (n * size + ALIGN) / ALIGN * ALIGN; /* at least one: no two pieces share an address */
    if (!b->chunks || b->chunks->size - b->chunks->used < bytes) {
        size_t room = bytes > CHUNK ? bytes : CHUNK;
        chunk *c    = mcp_calloc(1, HEAD + room);
        if (!c) return NULL;
        c->size   = room;
        c->next   = b->chunks;
        b->chunks = c;
    }
    void *piece = (char *)b->chunks + HEAD + b->chunks->used;
    b->chunks->used += bytes;
    return piece;
}

char *mcp_task_memory_text(mcp_task_memory *b, const char *s, size_t length)
{
    char *copy = mcp_task_memory_get(b, length + 1, 1);
    if (copy && length) memcpy(copy, s, length);
    return copy;
}
