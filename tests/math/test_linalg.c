/* Factorisation, solves, inverse and eigenvalues checked by multiplying back. */
#include "math/linalg.h"

#include "math/arena.h"
#include "math/pool.h"
#include "math/rng.h"
#include "test.h"

enum { MAX = 90, LD = MAX + 3 };

/* A = G G^T / n + I / 10, a matrix with a moderate condition number. */
static void positive(int n, double *A)
{
    static double    G[MAX * MAX];
    const mcp_stream s = {.seed = 4, .purpose = MCP_RNG_OTHER};
    mcp_rng_normals(&s, 0, 0, 0, n * n, G);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = i == j ? 0.1 : 0.0;
            for (int k = 0; k < n; k++) sum += G[i * n + k] * G[j * n + k] / n;
            A[i * LD + j] = sum;
        }
}

static const int sizes[] = {1, 2, 7, 33, MAX};

CASE(factor_times_its_transpose_is_the_matrix)
{
    static double A[MAX * LD], L[MAX * LD];
    for (int c = 0; c < 5; c++) {
        int n = sizes[c];
        positive(n, A);
        memcpy(L, A, sizeof L);
        REQUIRE_OK(mcp_cholesky(n, L, LD, err));
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                double sum = 0;
                for (int k = 0; k < n; k++) sum += L[i * LD + k] * L[j * LD + k];
                CHECK_CLOSE(sum, A[i * LD + j], 0, 1e-13);
                if (j > i) CHECK(L[i * LD + j] == 0);
            }
    }
}

CASE(inverse_and_solves_undo_the_matrix)
{
    static double A[MAX * LD], L[MAX * LD], inv[MAX * LD], b[2 * MAX], y[2 * MAX];
    for (int c = 0; c < 5; c++) {
        int n = sizes[c];
        positive(n, A);
        memcpy(L, A, sizeof L);
        REQUIRE_OK(mcp_cholesky(n, L, LD, err));
        REQUIRE_OK(mcp_cholesky_inverse(n, L, LD, inv, LD, err));
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                double sum = 0;
                for (int k = 0; k < n; k++) sum += A[i * LD + k] * inv[k * LD + j];
                CHECK_CLOSE(sum, i == j, 0, 1e-11);
                CHECK(inv[i * LD + j] == inv[j * LD + i]);
            }
        for (int i = 0; i < 2 * n; i++) b[i] = y[i] = cos(i);
        mcp_cholesky_solve(n, L, LD, 2, b);
        mcp_lower_solve(n, L, LD, 2, y);
        for (int r = 0; r < 2; r++)
            for (int i = 0; i < n; i++) {
                double ax = 0, ly = 0;
                for (int k = 0; k < n; k++) {
                    ax += A[i * LD + k] * b[r * n + k];
                    ly += L[i * LD + k] * y[r * n + k];
                }
                CHECK_CLOSE(ax, cos(r * n + i), 0, 1e-11);
                CHECK_CLOSE(ly, cos(r * n + i), 0, 1e-11);
            }
    }
}

CASE(eigenvectors_are_rows_and_values_ascend)
{
    static double A[MAX * LD], V[MAX * LD], w[MAX];
    for (int c = 0; c < 5; c++) {
        int n = sizes[c];
        positive(n, A);
        memcpy(V, A, sizeof V);
        REQUIRE_OK(mcp_eigen_symmetric(n, V, LD, w, err));
        for (int e = 0; e < n; e++) {
            if (e) CHECK(w[e] >= w[e - 1]);
            for (int i = 0; i < n; i++) {
                double sum = 0;
                for (int k = 0; k < n; k++) sum += A[i * LD + k] * V[e * LD + k];
                CHECK_CLOSE(sum, w[e] * V[e * LD + i], 0, 1e-12);
            }
        }
    }
}

CASE(hopeless_matrices_are_refused_with_a_sentence)
{
    mcp_error e;
    double indefinite[4] = {1, 2, 2, 1}, nan[4] = {1, 0, NAN, 1}, nan_first[4] = {NAN, 0, 0, 1},
           inf[1] = {INFINITY}, w[2];
    CHECK(mcp_cholesky(2, indefinite, 2, &e) == MCP_ERR_NUMERIC);
    CHECK_HAS(e.text, "not positive definite");
    CHECK(mcp_cholesky(2, nan, 2, NULL) == MCP_ERR_NUMERIC);
    CHECK(mcp_cholesky(2, nan_first, 2, NULL) == MCP_ERR_NUMERIC);
    CHECK(mcp_cholesky(1, inf, 1, NULL) == MCP_ERR_NUMERIC);
    nan[0] = NAN;
    CHECK(mcp_eigen_symmetric(2, nan, 2, w, &e) == MCP_ERR_NUMERIC);
    CHECK_HAS(e.text, "not finite");
    double fine[4] = {2, 0, 0, 1};
    mcp_alloc_fail_at(1);
    CHECK(mcp_eigen_symmetric(2, fine, 2, w, &e) == MCP_ERR_MEMORY);
    mcp_alloc_fail_at(0);
}

CASE(nothing_is_done_for_size_zero)
{
    double a = 3;
    CHECK_OK(mcp_cholesky(0, &a, 1, err));
    CHECK_OK(mcp_eigen_symmetric(0, &a, 1, &a, err));
    mcp_cholesky_solve(0, &a, 1, 1, &a);
    CHECK(a == 3);
}

typedef struct {
    double A[MAX * LD], want[MAX * LD];
    int    wrong[64];
} shared;

static void factor_again(void *context, int task, int worker)
{
    static double L[3][MAX * LD];
    shared       *s = context;
    memcpy(L[worker], s->A, sizeof s->A);
    s->wrong[task] =
        mcp_cholesky(MAX, L[worker], LD, NULL) != MCP_OK || memcmp(L[worker], s->want, sizeof s->want) != 0;
}

CASE(threads_may_factor_at_the_same_time)
{
    static shared s;
    mcp_pool     *pool = NULL;
    positive(MAX, s.A);
    memcpy(s.want, s.A, sizeof s.A);
    REQUIRE_OK(mcp_cholesky(MAX, s.want, LD, err));
    REQUIRE_OK(mcp_pool_create(&pool, 3, err));
    for (int again = 0; again < 10; again++) {
        mcp_pool_run(pool, 64, factor_again, &s);
        for (int i = 0; i < 64; i++) CHECK(!s.wrong[i]);
    }
    mcp_pool_free(pool);
}

CASE(the_library_in_use_names_itself)
{
    char text[80];
    int  slow = -1;
    CHECK_HAS(mcp_blas_info(text, sizeof text, &slow), "OpenBLAS");
    CHECK(slow == 0 || slow == 1);
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(factor_times_its_transpose_is_the_matrix);
    RUN(inverse_and_solves_undo_the_matrix);
    RUN(eigenvectors_are_rows_and_values_ascend);
    RUN(hopeless_matrices_are_refused_with_a_sentence);
    RUN(nothing_is_done_for_size_zero);
    RUN(threads_may_factor_at_the_same_time);
    RUN(the_library_in_use_names_itself);
    return DONE();
}
