/* test_single_gp.c - GPs sampled in single precision: admitted where it is good enough, refused where it is
 * not; the numbers of double precision but for rounding; a lane does not depend on its batch. */
#include "math/arena.h"
#include "math/rng.h"
#include "model/posterior.h"
#include "test.h"

enum { D = 6, N = 180, Q = 40 };

typedef struct {
    mcp_kernel    *k;
    mcp_gp        *gp;
    mcp_posterior *p;
    double         F[D * Q], eps[Q];
} problem;

/* noise: of the targets; the hyper-parameters know it. */
static mcp_status make(problem *q, const char *kernel, mcp_posterior_type type, double noise, mcp_error *err)
{
    static double          X[N * D], y[N];
    mcp_posterior_settings s = {.type = type, .tolerance = 0.01, .single = 1};
    mcp_rand               r = mcp_rand_make(3, 0, 0, MCP_RNG_OTHER);
    double                 h[40];
    mcp_status             st;
    memset(q, 0, sizeof *q);
    for (int i = 0; i < N; i++) {
        for (int d = 0; d < D; d++) X[i * D + d] = sin(0.031 * (d + 1) * i + d) + 0.05 * mcp_rand_normal(&r);
        y[i] = 2.0 * sin(X[i * D] + X[i * D + 5]) + X[i * D + 1] * X[i * D + 2] + noise * mcp_rand_normal(&r);
    }
    if ((st = mcp_kernel_parse(&q->k, kernel, D, D, err)) != MCP_OK) return st;
    if ((st = mcp_gp_create(&q->gp, q->k, N, D, X, y, err)) != MCP_OK) return st;
    int np = mcp_kernel_params(q->k);
    for (int i = 0; i < np; i++) h[i] = i == 0 ? 0.7 : 0.6;
    h[np] = log(noise);
    if ((st = mcp_gp_set(q->gp, h, err)) != MCP_OK) return st;
    for (int j = 0; j < Q; j++) {
        for (int d = 0; d < D; d++) q->F[d * Q + j] = X[(4 * j) * D + d] + 0.1 * mcp_rand_normal(&r);
        q->eps[j] = mcp_rand_normal(&r);
    }
    return mcp_posterior_create(&q->p, q->gp, &s, mcp_isa_level(), NULL, err);
}

static void drop(problem *q)
{
    mcp_posterior_free(q->p);
    mcp_gp_free(q->gp);
    mcp_kernel_free(q->k);
}

typedef struct {
    double mean[Q], std[Q], row[D * Q];
} numbers;

/* Lanes first .. first+n-1 of the queries, alone in a batch of n. */
static void sample(const problem *q, int single, int first, int n, numbers *to)
{
    double F[D * Q], row[D * Q];
    void  *tape;
    REQUIRE_OK(mcp_block_alloc(&tape, mcp_posterior_tape(q->p, n) * sizeof(double), err));
    for (int d = 0; d < D; d++) memcpy(F + d * n, q->F + d * Q + first, (size_t)n * sizeof *F);
    mcp_posterior_sample(q->p, &(mcp_sample_call){.n = n,
                                                  .ld = n,
                                                  .F = F,
                                                  .eps = q->eps + first,
                                                  .single = single,
                                                  .more = 1e-4,
                                                  .mean = to->mean + first,
                                                  .std = to->std + first,
                                                  .row = row,
                                                  .tape = tape});
    for (int d = 0; d < D; d++) memcpy(to->row + d * Q + first, row + d * n, (size_t)n * sizeof *row);
    mcp_block_free(tape);
}

CASE(single_is_double_but_for_rounding)
{
    static const struct {
        const char        *kernel;
        mcp_posterior_type type;
    } all[] = {{"se", MCP_POSTERIOR_EXACT},
               {"se", MCP_POSTERIOR_SPARSE},
               {"se(0,5,2)", MCP_POSTERIOR_SPARSE},
               {"se + linear", MCP_POSTERIOR_EXACT},
               {"se + linear", MCP_POSTERIOR_SPARSE},
               {"pi(1,4) + se(0,5,2,1)", MCP_POSTERIOR_SPARSE}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        problem q;
        numbers a, b;
        double  off = 0.0, size = 0.0, noise = strchr(all[i].kernel, '+') ? 0.5 : 0.1; /* a larger prior */
        REQUIRE_OK(make(&q, all[i].kernel, all[i].type, noise, err));
        mcp_single_info about = mcp_posterior_single(q.p);
        CHECK(about.used && about.tried && about.moment_error > 0.0 && about.row_error > 0.0);
        sample(&q, 0, 0, Q, &a);
        sample(&q, 1, 0, Q, &b);
        CHECK(memcmp(&a, &b, sizeof a) != 0); /* it was single precision */
        for (int j = 0; j < Q; j++) {
            CHECK_CLOSE(b.mean[j], a.mean[j], 0.0, 1e-3 * noise);
            CHECK_CLOSE(b.std[j], a.std[j], 0.0, 1e-3 * noise);
        }
        for (int k = 0; k < D * Q; k++) {
            off += (a.row[k] - b.row[k]) * (a.row[k] - b.row[k]);
            size += a.row[k] * a.row[k];
        }
        CHECK(sqrt(off / size) < 2e-4);
        drop(&q);
    }
}

CASE(single_is_refused_where_the_noise_is_too_small)
{
    problem q;
    REQUIRE_OK(make(&q, "se", MCP_POSTERIOR_EXACT, 1e-4, err));
    mcp_single_info about = mcp_posterior_single(q.p);
    CHECK(about.tried && !about.used);
    numbers a, b;
    sample(&q, 0, 0, Q, &a);
    sample(&q, 1, 0, Q, &b);
    CHECK(!memcmp(&a, &b, sizeof a));
    drop(&q);
}

CASE(other_kernels_stay_double)
{
    problem q;
    REQUIRE_OK(make(&q, "se + mp(2)", MCP_POSTERIOR_SPARSE, 0.1, err));
    CHECK(!mcp_posterior_single(q.p).used && !mcp_posterior_single(q.p).tried);
    drop(&q);
}

CASE(a_lane_does_not_depend_on_its_batch)
{
    for (int k = 0; k < 2; k++) {
        problem q;
        numbers whole, part;
        REQUIRE_OK(make(&q, k ? "se + linear" : "se", MCP_POSTERIOR_SPARSE, k ? 0.5 : 0.1, err));
        REQUIRE(mcp_posterior_single(q.p).used);
        sample(&q, 1, 0, Q, &whole);
        for (int n = 8; n <= 32; n += 8) {
            for (int first = 0; first < Q; first += n)
                sample(&q, 1, first, first + n < Q ? n : Q - first, &part);
            CHECK(!memcmp(&whole, &part, sizeof part));
        }
        drop(&q);
    }
}

CASE(nan_in_one_lane_stays_there)
{
    problem q;
    numbers a;
    REQUIRE_OK(make(&q, "se", MCP_POSTERIOR_SPARSE, 0.1, err));
    q.F[3] = NAN;
    sample(&q, 1, 0, Q, &a);
    for (int j = 0; j < Q; j++) CHECK(isnan(a.mean[j]) == (j == 3) && isnan(a.std[j]) == (j == 3));
    drop(&q);
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(single_is_double_but_for_rounding);
    RUN(single_is_refused_where_the_noise_is_too_small);
    RUN(other_kernels_stay_double);
    RUN(a_lane_does_not_depend_on_its_batch);
    RUN(nan_in_one_lane_stays_there);
    return DONE();
}
