/* test_dopri5.c - the integrator against solutions in closed form and against SciPy's DOP853
 * (ode_reference.py). */
#include "plant/dopri5.h"

#include "io/csv.h"
#include "systems.h"
#include "test.h"

static void oscillator(void *context, const double *x, double *dx)
{
    double w = *(double *)context;
    dx[0] = x[1];
    dx[1] = -w * w * x[0];
}

/* Error after 50 samples of 0.1 s. */
static double oscillator_error(double tolerance, long *steps)
{
    double  w = 3.0, x[2] = {1.0, 0.0}, work[22];
    mcp_ode o = {.f = oscillator, .context = &w, .n = 2, .tolerance = tolerance, .work = work};
    for (int k = 0; k < 50; k++) CHECK_OK(mcp_ode_advance(&o, 0.1, x, err));
    *steps = o.steps;
    return fmax(fabs(x[0] - cos(15.0)), fabs(x[1] + 3.0 * sin(15.0)));
}

CASE(error_follows_the_tolerance)
{
    long   steps[4];
    double tolerance[4] = {1e-4, 1e-6, 1e-8, 1e-10};
    for (int i = 0; i < 4; i++) {
        double e = oscillator_error(tolerance[i], &steps[i]);
        CHECK(e < 100.0 * tolerance[i]);
        CHECK(i == 0 || steps[i] > steps[i - 1]);
    }
}

static void line(void *context, const double *x, double *dx)
{
    (void)context, (void)x;
    dx[0] = 2.0;
    dx[1] = 0.0;
}

CASE(easy_equations_take_one_step_a_sample)
{
    double  x[2] = {0.0, 1.0}, work[22];
    mcp_ode o = {.f = line, .n = 2, .tolerance = 1e-9, .work = work};
    for (int k = 0; k < 10; k++) CHECK_OK(mcp_ode_advance(&o, 0.5, x, err));
    CHECK_CLOSE(x[0], 10.0, 1e-15, 0);
    CHECK(o.steps < 20);
}

static void explode(void *context, const double *x, double *dx)
{
    (void)context;
    dx[0] = x[0] * x[0];
}

CASE(a_solution_that_explodes_is_an_error_with_a_place)
{
    double    x[1] = {1.0}, work[11];
    mcp_ode   o = {.f = explode, .n = 1, .tolerance = 1e-8, .work = work};
    mcp_error e = {MCP_OK, ""};
    CHECK(mcp_ode_advance(&o, 2.0, x, &e) == MCP_ERR_NUMERIC);
    CHECK_HAS(e.text, "cannot be integrated");
}

static void bad(void *context, const double *x, double *dx)
{
    (void)context, (void)x;
    dx[0] = NAN;
}

/* A ball at rest is hit by another one within the sample: until then it has no size of its own. */
static void hit(void *context, const double *x, double *dx)
{
    (void)context;
    double push = x[0] > x[1] ? 40.0 : 0.0; /* while they overlap */
    dx[0] = x[2];
    dx[1] = x[3];
    dx[2] = -push;
    dx[3] = push;
}

CASE(what_is_hit_within_a_sample_begins_to_move)
{
    double  x[4] = {-0.0125, 0.0, 1.0, 0.0}, work[44];
    mcp_ode o = {.f = hit, .n = 4, .tolerance = 1e-8, .work = work};
    for (int k = 0; k < 5; k++) CHECK_OK(mcp_ode_advance(&o, 0.02, x, err));
    CHECK_CLOSE(x[2], 0.0, 0, 1e-5); /* equal masses: they change places */
    CHECK_CLOSE(x[3], 1.0, 0, 1e-5);
    CHECK(o.steps < 2000);
}

CASE(nan_slopes_are_an_error)
{
    double  x[1] = {1.0}, work[11];
    mcp_ode o = {.f = bad, .n = 1, .tolerance = 1e-8, .work = work};
    CHECK(mcp_ode_advance(&o, 2.0, x, NULL) == MCP_ERR_NUMERIC);
}

/* Follows a reference file and returns the largest error; x: where it ends. */
static double follow(const char *name, mcp_ode_fn *f, int nu, int nx, double friction, double tolerance,
                     double *x)
{
    char         path[256];
    mcp_csv     *c = NULL;
    mcp_error    why;
    system_input in = {.friction = friction};
    double       work[11 * 8], worst = 0.0;
    mcp_ode      o = {.f = f, .context = &in, .n = nx, .tolerance = tolerance, .work = work};
    snprintf(path, sizeof path, TEST_SOURCE_DIR "/tests/plant/ode_%s.csv", name);
    if (mcp_csv_read(&c, path, &why) != MCP_OK) {
        FAIL_("%s", why.text);
        return INFINITY;
    }
    memcpy(x, c->value + 1 + nu, (size_t)nx * sizeof *x);
    for (int k = 0; k + 1 < c->rows; k++) {
        const double *row = c->value + k * c->columns;
        memcpy(in.u, row + 1, (size_t)nu * sizeof(double));
        CHECK_OK(mcp_ode_advance(&o, 1.0 / 30, x, err));
        for (int i = 0; i < nx; i++) worst = fmax(worst, fabs(x[i] - row[c->columns + 1 + nu + i]));
    }
    mcp_csv_free(c);
    return worst;
}

CASE(cartpole_agrees_with_scipy)
{
    double x[4];
    CHECK(follow("cartpole", cartpole, 1, 4, 1.0, 1e-12, x) < 1e-8);
    CHECK(follow("cartpole", cartpole, 1, 4, 1.0, 1e-8, x) < 1e-4);
}

CASE(furuta_agrees_with_scipy)
{
    double x[4];
    CHECK(follow("furuta", furuta, 1, 4, 1.0, 1e-12, x) < 1e-8);
}

CASE(furuta_without_friction_and_input_keeps_its_energy)
{
    double x[4], start[4] = {0.0, 0.5, 2.5, 0.0};
    CHECK(follow("furuta_free", furuta, 1, 4, 0.0, 1e-12, x) < 1e-6); /* it tumbles: errors grow */
    CHECK_CLOSE(furuta_energy(x), furuta_energy(start), 1e-9, 0);
}

CASE(the_same_calls_give_the_same_bits)
{
    double a[4], b[4];
    follow("cartpole", cartpole, 1, 4, 1.0, 1e-9, a);
    follow("cartpole", cartpole, 1, 4, 1.0, 1e-9, b);
    CHECK(!memcmp(a, b, sizeof a));
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(error_follows_the_tolerance);
    RUN(easy_equations_take_one_step_a_sample);
    RUN(a_solution_that_explodes_is_an_error_with_a_place);
    RUN(what_is_hit_within_a_sample_begins_to_move);
    RUN(nan_slopes_are_an_error);
    RUN(cartpole_agrees_with_scipy);
    RUN(furuta_agrees_with_scipy);
    RUN(furuta_without_friction_and_input_keeps_its_energy);
    RUN(the_same_calls_give_the_same_bits);
    return DONE();
}
