/* The packed product against three plain loops, at every level this CPU runs. */
#include "math/gemm.h"

#include "math/arena.h"
#include "math/rng.h"
#include "test.h"

enum { M = 61, K = 301, N = 120 };

typedef struct {
    double *A, *B, *C, *D, *mem;
    void   *block;
} work;

static void fill(double *x, size_t n, uint64_t seed)
{
    mcp_stream s = {.seed = seed, .purpose = MCP_RNG_OTHER};
    mcp_rng_normals(&s, 0, 0, 0, (int)n, x);
}

static size_t layout(work *w, char *mem)
{
    mcp_arena a = {.base = mem};
    w->A        = mcp_arena_doubles(&a, M * K);
    w->B        = mcp_arena_doubles(&a, K * N);
    w->C        = mcp_arena_doubles(&a, M * N);
    w->D        = mcp_arena_doubles(&a, M * N);
    w->mem      = mcp_arena_doubles(&a, mcp_gemm_packed_doubles(M, K));
    return a.used;
}

static int start(work *w)
{
    if (mcp_block_alloc(&w->block, layout(w, NULL), NULL) != MCP_OK) return 0;
    layout(w, w->block);
    fill(w->A, M * K, 1);
    fill(w->B, K * N, 2);
    return 1;
}

/* |error| <= 2 k eps sum |a b|: the bound of a sum of k products in any order. */
static void compare(const work *w, int m, int k, int n, int ld, const double *before, const double *C)
{
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            long double sum = before ? before[i * ld + j] : 0, size = fabsl(sum);
            for (int l = 0; l < k; l++) {
                long double p = (long double)w->A[i * K + l] * w->B[l * N + j];
                sum += p;
                size += fabsl(p);
            }
            if (!(fabsl(C[i * ld + j] - sum) <= 2 * k * 1.2e-16L * size))
                FAIL_("m %d k %d n %d: C[%d][%d] = %g, %g expected", m, k, n, i, j, C[i * ld + j],
                      (double)sum);
        }
}

static void one_shape(work *w, mcp_isa level, int m, int k, int n)
{
    mcp_packed p;
    mcp_gemm_pack(&p, level, m, k, w->A, K, w->mem);
    for (int i = 0; i < M * N; i++) w->C[i] = w->D[i] = 7 + i % 5;
    mcp_gemm(&p, n, w->B, N, w->C, N, 0);
    compare(w, m, k, n, N, NULL, w->C);
    for (int i = 0; i < M; i++) /* what lies outside is left alone */
        for (int j = 0; j < N; j++)
            if (i >= m || j >= n) CHECK(w->C[i * N + j] == w->D[i * N + j]);
    memcpy(w->C, w->D, M * N * sizeof *w->C);
    mcp_gemm(&p, n, w->B, N, w->C, N, 1);
    compare(w, m, k, n, N, w->D, w->C);
}

CASE(product_equals_plain_loops_at_each_level)
{
    static const int ms[] = {1, 5, 6, 7, 12, 13, 24, 31, 61}, ks[] = {1, 2, 17, 88, 301},
                     ns[] = {8, 16, 24, 64, 120};
    work             w;
    REQUIRE(start(&w));
    for (int level = 0; level <= (int)mcp_isa_widest(); level++) {
        for (int i = 0; i < 9; i++) one_shape(&w, (mcp_isa)level, ms[i], 17, 24);
        for (int i = 0; i < 5; i++) one_shape(&w, (mcp_isa)level, 31, ks[i], 16);
        for (int i = 0; i < 5; i++) one_shape(&w, (mcp_isa)level, 13, 17, ns[i]);
        one_shape(&w, (mcp_isa)level, 61, 301, 120);
    }
    mcp_block_free(w.block);
}

/* Shapes with more columns than one pass of k takes, and with rows that begin beyond it. */
CASE(a_triangle_gives_the_bits_of_the_product_with_its_zeros)
{
    enum { R = 301 };
    static const int sizes[] = {1, 5, 13, 61, 255, 263, 301};
    void            *block;
    REQUIRE(
        mcp_block_alloc(&block,
                        (3 * R * R + 3 * R * 24 + 2 * mcp_gemm_packed_doubles(R, R) + 64) * sizeof(double),
                        NULL) == MCP_OK);
    double *A = block, *U = A + R * R, *B = U + R * R, *C = B + R * 24, *D = C + R * 24, *mem = D + R * 24,
           *mem_upper;
    mem += (64 - (uintptr_t)mem % 64) % 64 / sizeof *mem;
    mem_upper = mem + (mcp_gemm_packed_doubles(R, R) + 7) / 8 * 8;
    fill(A, R * R, 3);
    fill(B, R * 24, 4);
    for (int level = 0; level <= 2 * (int)mcp_isa_widest() + 1; level++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            int        m = sizes[k], shape = level % 2 ? MCP_LOWER : MCP_UPPER;
            mcp_packed full, upper;
            for (int i = 0; i < R; i++)
                for (int l = 0; l < R; l++)
                    U[i * R + l] = (shape == MCP_UPPER ? l < i : l > i) ? 0.0 : A[i * R + l];
            mcp_gemm_pack(&full, (mcp_isa)(level / 2), m, m, U, R, mem);
            mcp_gemm_pack_triangle(&upper, (mcp_isa)(level / 2), shape, m, A, R, mem_upper);
            for (int add = 0; add < 2; add++) {
                for (int i = 0; i < R * 24; i++) C[i] = D[i] = 3 + i % 7;
                mcp_gemm(&full, 24, B, 24, C, 24, add);
                mcp_gemm(&upper, 24, B, 24, D, 24, add);
                CHECK(!memcmp(C, D, R * 24 * sizeof *C));
            }
        }
    mcp_block_free(block);
}

CASE(a_column_has_the_same_bits_in_any_batch)
{
    work w;
    REQUIRE(start(&w));
    for (int level = 0; level <= (int)mcp_isa_widest(); level++) {
        mcp_packed p;
        mcp_gemm_pack(&p, (mcp_isa)level, M, K, w.A, K, w.mem);
        mcp_gemm(&p, N, w.B, N, w.C, N, 0);
        for (int first = 0; first < N; first += MCP_LANES)
            for (int n = MCP_LANES; first + n <= N; n += MCP_LANES) {
                mcp_gemm(&p, n, w.B + first, N, w.D + first, N, 0);
                for (int i = 0; i < M; i++)
                    REQUIRE(!memcmp(w.D + i * N + first, w.C + i * N + first, (size_t)n * sizeof(double)));
            }
    }
    mcp_block_free(w.block);
}

CASE(a_long_sum_is_one_chain_over_k)
{
    /* 1e16, then ones, then -1e16: the answer shows in which order they were added */
    enum { LONG = 1500 };
    static _Alignas(64) double A[LONG], B[LONG * 8], C[8], mem[LONG * 16];
    for (int l = 0; l < LONG; l++) {
        A[l] = l == 0 ? 1e16 : l == LONG - 1 ? -1e16 : 2.0;
        for (int j = 0; j < 8; j++) B[l * 8 + j] = 1;
    }
    REQUIRE(mcp_gemm_packed_doubles(1, LONG) <= LONG * 16);
    for (int level = 0; level <= (int)mcp_isa_widest(); level++) {
        mcp_packed p;
        mcp_gemm_pack(&p, (mcp_isa)level, 1, LONG, A, LONG, mem);
        mcp_gemm(&p, 8, B, 8, C, 8, 0);
        for (int j = 0; j < 8; j++) CHECK(C[j] == 2.0 * (LONG - 2));
    }
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(product_equals_plain_loops_at_each_level);
    RUN(a_triangle_gives_the_bits_of_the_product_with_its_zeros);
    RUN(a_column_has_the_same_bits_in_any_batch);
    RUN(a_long_sum_is_one_chain_over_k);
    return DONE();
}
