/* Layout of one block, and memory that runs out on demand. */
#include "math/arena.h"

#include "math/isa.h"
#include "test.h"

typedef struct {
    double  *a, *b;
    int     *c;
    uint8_t *d;
    void    *block;
} pieces;

static size_t layout(pieces *p, char *mem)
{
    mcp_arena a = {.base = mem};
    p->a        = mcp_arena_doubles(&a, 3);
    p->b        = mcp_arena_doubles(&a, 100);
    p->c        = mcp_arena_ints(&a, 7);
    p->d        = mcp_arena_u8(&a, 1);
    return a.used;
}

CASE(pieces_are_aligned_zeroed_and_apart)
{
    pieces p;
    size_t bytes = layout(&p, NULL);
    CHECK(!p.a && !p.d);
    REQUIRE_OK(mcp_block_alloc(&p.block, bytes, err));
    CHECK(layout(&p, p.block) == bytes);
    CHECK((uintptr_t)p.a % 64 == 0 && (uintptr_t)p.b % 64 == 0 && (uintptr_t)p.c % 64 == 0 &&
          (uintptr_t)p.d % 64 == 0);
    CHECK(p.b >= p.a + 3 && (char *)p.c >= (char *)(p.b + 100) && (char *)p.d >= (char *)(p.c + 7));
    CHECK((char *)p.d + 1 <= (char *)p.block + bytes);
    for (int i = 0; i < 100; i++) CHECK(p.b[i] == 0);
    for (int i = 0; i < 3; i++) p.a[i] = 1;
    for (int i = 0; i < 7; i++) p.c[i] = 1;
    mcp_block_free(p.block);
}

CASE(a_size_that_overflows_fails_instead_of_wrapping)
{
    mcp_error e;
    void     *block = &e;
    mcp_arena a     = {0};
    mcp_arena_doubles(&a, SIZE_MAX / 4);
    mcp_arena_doubles(&a, 10);
    CHECK(mcp_block_alloc(&block, a.used, &e) == MCP_ERR_MEMORY && !block);
    CHECK_HAS(e.text, "out of memory");
}

CASE(the_kth_allocation_fails_once)
{
    for (long k = 1; k <= 5; k++) {
        char *got[5];
        void *block = NULL;
        mcp_alloc_fail_at(k);
        got[0] = mcp_calloc(3, 3);
        got[1] = mcp_strdup("text");
        got[2] = mcp_sprintf("%d apples", 3);
        got[3] = mcp_realloc(NULL, 100);
        CHECK(mcp_block_alloc(&block, 64, NULL) == (k == 5 ? MCP_ERR_MEMORY : MCP_OK));
        CHECK(mcp_alloc_count() == 5);
        got[4] = block;
        for (int i = 0; i < 5; i++) CHECK(!got[i] == (i + 1 == k));
        if (got[1]) CHECK(!strcmp(got[1], "text"));
        if (got[2]) CHECK(!strcmp(got[2], "3 apples"));
        for (int i = 0; i < 4; i++) mcp_free(got[i]);
        mcp_block_free(block);
    }
    mcp_alloc_fail_at(0);
    void *p = mcp_calloc(1, 1);
    CHECK(p);
    mcp_free(p);
}

CASE(error_text_is_cut_not_overrun)
{
    mcp_error e;
    char      longer[2000];
    memset(longer, 'x', sizeof longer);
    longer[sizeof longer - 1] = 0;
    CHECK(mcp_fail(&e, MCP_ERR_IO, "%s", longer) == MCP_ERR_IO);
    CHECK(e.status == MCP_ERR_IO && strlen(e.text) == sizeof e.text - 1);
    CHECK(mcp_fail(NULL, MCP_ERR_ARG, "nobody listens") == MCP_ERR_ARG);
}

CASE(lanes_round_up)
{
    CHECK(mcp_round_lanes(0) == 0 && mcp_round_lanes(1) == 8 && mcp_round_lanes(8) == 8 &&
          mcp_round_lanes(9) == 16);
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(pieces_are_aligned_zeroed_and_apart);
    RUN(a_size_that_overflows_fails_instead_of_wrapping);
    RUN(the_kth_allocation_fails_once);
    RUN(error_text_is_cut_not_overrun);
    RUN(lanes_round_up);
    return DONE();
}
