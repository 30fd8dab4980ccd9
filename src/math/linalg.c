/* linalg.c - Cholesky and eigenvalues by LAPACK's Fortran names. A row-major lower triangle is a column-major
 * upper one, so "U" below always means our L^T, and no matrix is ever transposed. */
#include "math/linalg.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "math/arena.h"
#include "math/isa.h"

extern void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info, size_t);
extern void dpotri_(const char *uplo, const int *n, double *a, const int *lda, int *info, size_t);
extern void dpotrs_(const char *uplo, const int *n, const int *nrhs, const double *a, const int *lda,
                    double *b, const int *ldb, int *info, size_t);
extern void dtrtrs_(const char *uplo, const char *trans, const char *diag, const int *n, const int *nrhs,
                    const double *a, const int *lda, double *b, const int *ldb, int *info, size_t, size_t,
                    size_t);
extern void dtrtri_(const char *uplo, const char *diag, const int *n, double *a, const int *lda, int *info,
                    size_t, size_t);
extern void dsyev_(const char *jobz, const char *uplo, const int *n, double *a, const int *lda, double *w,
                   double *work, const int *lwork, int *info, size_t, size_t);

/* Weak: another LAPACK may be linked in OpenBLAS's place. */
extern char *openblas_get_config(void) __attribute__((weak));
extern char *openblas_get_corename(void) __attribute__((weak));
extern int   openblas_get_parallel(void) __attribute__((weak));

/* The single-threaded OpenBLAS variant is not safe to call from two threads at once: then one call at a time.
 */
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

static int enter(void)
{
    int serial = openblas_get_parallel && openblas_get_parallel() == 0;
    if (serial) pthread_mutex_lock(&one_at_a_time);
    return serial;
}

static void leave(int serial)
{
    if (serial) pthread_mutex_unlock(&one_at_a_time);
}

#define AT(A, ld, i, j) (A)[(size_t)(i) * (size_t)(ld) + (size_t)(j)]

mcp_status mcp_cholesky(int n, double *A, int lda, mcp_error *err)
{
    int info = 0, lock = enter();
    if (n > 0) dpotrf_("U", &n, A, &lda, &info, 1);
    leave(lock);
    /* a NaN passes some libraries' test for a positive pivot */
    for (int i = 0; i < n && !info; i++)
        if (!(AT(A, lda, i, i) > 0.0) || isinf(AT(A, lda, i, i))) info = i + 1;
    if (info)
        return mcp_fail(err, MCP_ERR_NUMERIC,
                        "a %d x %d matrix is not positive definite: its factorisation fails at row %d", n, n,
                        info);
    for (int i = 0; i < n; i++)
        if (i + 1 < n) memset(&AT(A, lda, i, i + 1), 0, (size_t)(n - i - 1) * sizeof *A);
    return MCP_OK;
}

mcp_status mcp_cholesky_inverse(int n, const double *L, int ldl, double *Ainv, int lda, mcp_error *err)
{
    int info = 0;
    for (int i = 0; i < n; i++) memmove(&AT(Ainv, lda, i, 0), &AT(L, ldl, i, 0), ((size_t)i + 1) * sizeof *L);
    int lock = enter();
    if (n > 0) dpotri_("U", &n, Ainv, &lda, &info, 1);
    leave(lock);
    if (info)
        return mcp_fail(err, MCP_ERR_NUMERIC, "a %d x %d matrix has no inverse: pivot %d is zero", n, n,
                        info);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) AT(Ainv, lda, j, i) = AT(Ainv, lda, i, j);
    return MCP_OK;
}

void mcp_cholesky_solve(int n, const double *L, int ldl, int nrhs, double *B)
{
    int info = 0, lock = enter();
    if (n > 0 && nrhs > 0) dpotrs_("U", &n, &nrhs, L, &ldl, B, &n, &info, 1);
    leave(lock);
}

mcp_status mcp_solve_semidefinite(int n, double *M, double *b, mcp_error *err)
{
    double most = 0.0;
    for (int i = 0; i < n; i++) most = fmax(most, AT(M, n, i, i));
    for (int i = 0; i < n; i++) AT(M, n, i, i) += 1e-12 * most;
    mcp_status st = mcp_cholesky(n, M, n, err);
    if (st == MCP_OK) mcp_cholesky_solve(n, M, n, 1, b);
    return st;
}

void mcp_lower_solve(int n, const double *L, int ldl, int nrhs, double *B)
{
    int info = 0, lock = enter();
    if (n > 0 && nrhs > 0) dtrtrs_("U", "T", "N", &n, &nrhs, L, &ldl, B, &n, &info, 1, 1, 1);
    leave(lock);
}

void mcp_lower_inverse(int n, const double *L, int ldl, double *Linv)
{
    int info = 0, lock = enter();
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) AT(Linv, n, i, j) = j <= i ? AT(L, ldl, i, j) : 0.0;
    if (n > 0) dtrtri_("U", "N", &n, Linv, &n, &info, 1, 1);
    leave(lock);
}

mcp_status mcp_eigen_symmetric(int n, double *A, int lda, double *w, mcp_error *err)
{
    if (n <= 0) return MCP_OK;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            if (!isfinite(AT(A, lda, i, j)))
                return mcp_fail(err, MCP_ERR_NUMERIC,
                                "a %d x %d matrix has a number at (%d, %d) that is not finite", n, n, i, j);
    int     lwork = 34 * n, info = 0;
    double *work  = mcp_calloc((size_t)lwork, sizeof *work);
    if (!work)
        return mcp_fail(err, MCP_ERR_MEMORY, "out of memory for the eigenvalues of a %d x %d matrix", n, n);
    int lock = enter();
    dsyev_("V", "L", &n, A, &lda, w, work, &lwork, &info, 1, 1);
    leave(lock);
    mcp_free(work);
    if (info)
        return mcp_fail(err, MCP_ERR_NUMERIC, "the eigenvalues of a %d x %d matrix did not converge", n, n);
    return MCP_OK;
}

/* Core types of OpenBLAS whose kernels know no wider registers than SSE. */
static int sse_only(const char *core)
{
    static const char *const old[] = {"Prescott", "Core2", "Penryn", "Dunnington", "Nehalem",
                                      "Atom",     "Opteron", "Opteron_SSE3", "Barcelona", "Bobcat"};
    for (size_t i = 0; i < sizeof old / sizeof *old; i++)
        if (!strcasecmp(core, old[i])) return 1;
    return 0;
}

const char *mcp_blas_info(char *text, int size, int *slow)
{
    const char *config = openblas_get_config ? openblas_get_config() : "unknown LAPACK";
    const char *core   = openblas_get_corename ? openblas_get_corename() : "";
    int words = (int)strcspn(config, " "); /* "OpenBLAS 0.3.21 NO_LAPACKE ...": keep the first two words */
    if (config[words]) words += 1 + (int)strcspn(config + words + 1, " ");
    snprintf(text, (size_t)size, "%.*s %s", words, config, core);
    *slow = mcp_isa_widest() >= MCP_ISA_V3 && sse_only(core);
    return text;
}
