/* test_guards.c - what keeps a model sane: a prior against spiky fits, a bound on how far polynomials go. */
#include "math/arena.h"
#include "math/rng.h"
#include "model/posterior.h"
#include "test.h"

enum { N = 12, RUNS = 100 };

/* A slow sine and noise of the same size: nothing here is narrower than the whole. */
static void draw(uint64_t seed, double *x, double *y)
{
    mcp_rand r = mcp_rand_make(seed, 0, 0, MCP_RNG_OTHER);
    for (int i = 0; i < N; i++) {
        x[i] = 2.0 * mcp_rand_uniform(&r) - 1.0;
        y[i] = sin(2.0 * x[i]) + 0.5 * mcp_rand_normal(&r);
    }
}

/* Fits whose length-scale is below a tenth of the range of the data. */
static int spiky(double prior)
{
    int count = 0;
    for (int k = 0; k < RUNS; k++) {
        double          x[N], y[N], length;
        mcp_gp         *gp = NULL;
        mcp_gp_settings s;
        mcp_error       err;
        draw((uint64_t)k + 1, x, y);
        mcp_gp_settings_default(&s);
        s.prior = prior;
        if (mcp_gp_from_text(&gp, "se", N, 1, x, y, &err) != MCP_OK || mcp_gp_train(gp, &s, &err) != MCP_OK ||
            mcp_gp_hyper_get(gp, "se.log_lengthscale[0]", &length, &err) != MCP_OK) {
            FAIL_("%s", err.text);
            mcp_gp_free(gp);
            return -1;
        }
        count += exp(length) < 0.2;
        mcp_gp_free(gp);
    }
    return count;
}

CASE(the_prior_prevents_spiky_fits_of_few_data)
{
    int plain = spiky(0.0), guarded = spiky(1.0);
    printf("     %d fits of %d are spiky by likelihood alone, %d with the prior\n", plain, RUNS, guarded);
    CHECK(plain >= 3);
    CHECK(guarded >= 0 && 4 * guarded <= plain);
}

/* y = x^2 on [-1, 1], which stays what it is nine ranges on, and no further. */
CASE(polynomials_are_bounded_far_from_their_data)
{
    enum { M = 21, LD = MCP_LANES };
    double         x[M], y[M], F[LD] = {0.5, 8.5, 20.0, 1e6, -1e200}, eps[LD] = {0};
    double         mean[LD], std[LD], row[LD];
    mcp_gp        *gp;
    mcp_posterior *p;
    void          *tape;
    for (int i = 0; i < M; i++) {
        x[i] = -1.0 + 0.1 * i;
        y[i] = x[i] * x[i] + 1e-3 * (i % 3 - 1);
    }
    REQUIRE_OK(mcp_gp_from_text(&gp, "mp(2)", M, 1, x, y, err));
    REQUIRE_OK(mcp_gp_train(gp, NULL, err));
    const mcp_posterior_settings exact = {.type = MCP_POSTERIOR_EXACT};
    REQUIRE_OK(mcp_posterior_create(&p, gp, &exact, mcp_isa_level(), NULL, err));
    REQUIRE_OK(mcp_block_alloc(&tape, mcp_posterior_tape(p, LD) * sizeof(double), err));
    mcp_posterior_sample(p, &(mcp_sample_call){.n = LD,
                                               .ld = LD,
                                               .F = F,
                                               .eps = eps,
                                               .mean = mean,
                                               .std = std,
                                               .row = row,
                                               .tape = tape});
    CHECK_CLOSE(mean[0], 0.25, 0.0, 0.01);
    CHECK_CLOSE(mean[1], 72.25, 0.05, 0.0); /* 8.5 is within four ranges of the data: followed */
    CHECK_CLOSE(row[1], 17.0, 0.05, 0.0);
    for (int j = 2; j < 5; j++) {
        CHECK_CLOSE(mean[j], 81.0, 0.05, 0.0);
        CHECK(isfinite(std[j]) && row[j] == 0.0);
    }
    mcp_block_free(tape);
    mcp_posterior_free(p);
    mcp_gp_free(gp);
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(the_prior_prevents_spiky_fits_of_few_data);
    RUN(polynomials_are_bounded_far_from_their_data);
    return DONE();
}
