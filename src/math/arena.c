/* arena.c - memory: laying out one block, and the only calls in the library that ask the system for memory.
 */
#include "math/arena.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "math/isa.h"
#include "math/number.h"

#if defined(__SANITIZE_ADDRESS__)
#define ARENA_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_ASAN 1
#endif
#endif
#ifdef ARENA_ASAN
#include <sanitizer/asan_interface.h>
#define GAP 64
#define POISON(p, n) __asan_poison_memory_region(p, n)
#define UNPOISON(p, n) __asan_unpoison_memory_region(p, n)
#else
#define GAP 0
#define POISON(p, n) ((void)(p), (void)(n))
#define UNPOISON(p, n) ((void)(p), (void)(n))
#endif

#define ALIGN ((size_t)64)

/* A size that overflows sticks at SIZE_MAX: the allocation that follows then fails. */
static size_t add(size_t a, size_t b)
{
    return a > SIZE_MAX - b ? SIZE_MAX : a + b;
}

static size_t times(size_t n, size_t size)
{
    return size && n > SIZE_MAX / size ? SIZE_MAX : n * size;
}

static size_t round_up(size_t n)
{
    return n > SIZE_MAX - (ALIGN - 1) ? SIZE_MAX : (n + ALIGN - 1) & ~(ALIGN - 1);
}

void *mcp_arena_bytes(mcp_arena *a, size_t bytes)
{
    size_t start = a->used, end = add(round_up(add(start, bytes)), GAP);
    a->used = end;
    if (!a->base) return NULL;
    UNPOISON(a->base + start, bytes);
    POISON(a->base + start + bytes, end - start - bytes);
    return a->base + start;
}

double *mcp_arena_doubles(mcp_arena *a, size_t n)
{
    return mcp_arena_bytes(a, times(n, sizeof(double)));
}

int *mcp_arena_ints(mcp_arena *a, size_t n)
{
    return mcp_arena_bytes(a, times(n, sizeof(int)));
}

uint8_t *mcp_arena_u8(mcp_arena *a, size_t n)
{
    return mcp_arena_bytes(a, n);
}

/* Failure on demand, for tests of what happens when memory runs out. */
#ifdef MCP_TESTING
static atomic_long fail_at, asked;
static atomic_int  fail_read;

void mcp_alloc_fail_at(long k)
{
    atomic_store(&fail_read, 1);
    atomic_store(&asked, 0);
    atomic_store(&fail_at, k);
}

long mcp_alloc_count(void)
{
    return atomic_load(&asked);
}

static int must_fail(void)
{
    if (!atomic_exchange(&fail_read, 1)) {
        const char *k = getenv("MCPILCO_FAIL_ALLOC");
        if (k) atomic_store(&fail_at, atol(k));
    }
    return atomic_fetch_add(&asked, 1) + 1 == atomic_load(&fail_at);
}
#else
static int must_fail(void)
{
    return 0;
}
#endif

/* A block of several huge pages starts on one and asks for them: a tape that is written and read from end to
 * end otherwise misses the address cache at every page, and what falls together in the second-level cache is
 * left to chance. */
static size_t alignment(size_t size)
{
#if defined(MADV_HUGEPAGE) && !defined(ARENA_ASAN)
    const size_t huge = (size_t)1 << 21;
    if (size >= 2 * huge) return huge;
#endif
    (void)size;
    return ALIGN;
}

/* calloc hands out large blocks without touching them: the system clears a page when it is first used, by the
 * thread that uses it, and not all of them here. Where the block began stands in front of it. */
static void *aligned_block(size_t size)
{
    const size_t align = alignment(size), all = add(size, align + sizeof(void *));
    char        *whole = all == SIZE_MAX ? NULL : calloc(1, all), *block;
    if (!whole) return NULL;
    block = whole + sizeof(void *);
    block += (align - (uintptr_t)block % align) % align;
    memcpy(block - sizeof whole, &whole, sizeof whole);
#if defined(MADV_HUGEPAGE) && !defined(ARENA_ASAN)
    if (align > ALIGN) madvise(block, size & ~(align - 1), MADV_HUGEPAGE); /* else only speed is lost */
#endif
    return block;
}

mcp_status mcp_block_alloc(void **out, size_t bytes, mcp_error *err)
{
    size_t size = round_up(bytes ? bytes : 1);
    *out        = must_fail() || size == SIZE_MAX ? NULL : aligned_block(size);
    if (!*out) return mcp_fail(err, MCP_ERR_MEMORY, "out of memory: %zu bytes were asked for", bytes);
    return MCP_OK;
}

void mcp_block_free(void *block)
{
    char *whole = NULL;
    if (block) memcpy(&whole, (char *)block - sizeof whole, sizeof whole);
    free(whole);
}

void *mcp_calloc(size_t n, size_t size)
{
    if (!n || !size) n = size = 1;
    return must_fail() ? NULL : calloc(n, size);
}

void *mcp_realloc(void *p, size_t bytes)
{
    return must_fail() ? NULL : realloc(p, bytes ? bytes : 1);
}

char *mcp_strdup(const char *s)
{
    size_t n = strlen(s) + 1;
    char  *t = mcp_calloc(n, 1);
    return t ? memcpy(t, s, n) : NULL;
}

char *mcp_sprintf(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int n = mcp_vprint(NULL, 0, fmt, args);
    va_end(args);
    char *text = n < 0 ? NULL : mcp_calloc((size_t)n + 1, 1);
    if (!text) return NULL;
    va_start(args, fmt);
    mcp_vprint(text, (size_t)n + 1, fmt, args);
    va_end(args);
    return text;
}

void mcp_free(void *p)
{
    free(p);
}
