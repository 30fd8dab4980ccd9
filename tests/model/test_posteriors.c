/* test_posteriors.c - how far a sparse posterior is tightened: as long as its gradient comes nearer. */
#include "math/arena.h"
#include "math/rng.h"
#include "model/posteriors.h"
#include "test.h"

enum { N = 60, PARAMS = 40 };

typedef struct {
    int calls, chaotic;
} gradients;

/* Of the exact posterior, the first call: ones. Later: off by less and less, or by as much as ever. */
static mcp_status gradient(void *context, mcp_posterior *const *p, double *g, mcp_error *err)
{
    gradients *c = context;
    (void)p;
    (void)err;
    mcp_rand r = mcp_rand_make(7, 0, (uint32_t)c->calls, MCP_RNG_OTHER);
    double   off = c->calls == 0 ? 0.0 : c->chaotic ? 2.0 : 2.0 * pow(0.2, c->calls - 1);
    for (int i = 0; i < PARAMS; i++) g[i] = 1.0 + off * mcp_rand_normal(&r);
    c->calls++;
    return MCP_OK;
}

static void check(int chaotic)
{
    double    x[N], y[N];
    mcp_gp   *gp;
    for (int i = 0; i < N; i++) {
        x[i] = 0.2 * i;
        y[i] = sin(x[i]);
    }
    REQUIRE_OK(mcp_gp_from_text(&gp, "se", N, 1, x, y, err));
    gradients              c = {.chaotic = chaotic};
    mcp_posteriors         p;
    mcp_posteriors_request q = {.ngp = 1,
                                .gp = &gp,
                                .set = {.type = MCP_POSTERIOR_SPARSE, .tolerance = 10.0},
                                .gradient = gradient,
                                .context = &c,
                                .params = PARAMS};
    CHECK_OK(mcp_posteriors_create(&p, &q, err));
    printf("     %d gradients, tolerance %g, cosine %.3f, at first %.3f\n", c.calls, p.tolerance, p.cosine,
           p.first);
    if (chaotic) CHECK(c.calls == 3 && p.tolerance == 10.0 && p.cosine == p.first && p.first < 0.9);
    else CHECK(c.calls > 3 && p.tolerance < 1.0 && p.cosine >= 0.99 && p.first < 0.9);
    mcp_posteriors_free(&p);
    mcp_gp_free(gp);
}

CASE(a_sparse_posterior_is_tightened_while_its_gradient_comes_nearer)
{
    check(0);
}

CASE(where_tightening_brings_nothing_the_tolerance_stays)
{
    check(1);
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(a_sparse_posterior_is_tightened_while_its_gradient_comes_nearer);
    RUN(where_tightening_brings_nothing_the_tolerance_stays);
    return DONE();
}
