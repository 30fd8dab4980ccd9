/* Batch forward against libm and the one-sample run, adjoint against central differences through several
 * samples. */
#include "programs.h"
#include "test.h"

/* dJ/dx of every input and parameter against (J(x+h) - J(x-h))/2h. */
static void check_gradient(const char *what, sequence *s, double tol)
{
    int    ni = mcp_program_inputs(s->p), np = mcp_program_params(s->p);
    size_t n = (size_t)s->T * (size_t)ni * (size_t)s->ld;
    sequence_forward(s);
    sequence_backward(s);
    double largest = 1e-3;
    for (size_t i = 0; i < n; i++) largest = fmax(largest, fabs(s->in_bar[i]));
    for (size_t i = 0; i < n + (size_t)np; i++) {
        double *x = i < n ? &s->in[i] : &s->theta[i - n], keep = *x, h = 1e-5;
        double  got = i < n ? s->in_bar[i] : s->theta_bar[i - n];
        *x          = keep + h;
        double up   = sequence_forward(s);
        *x          = keep - h;
        double down = sequence_forward(s), want = (up - down) / (2.0 * h);
        *x          = keep;
        double scale = fmax(largest, fabs(want));
        if (!(fabs(got - want) <= tol * scale)) {
            FAIL_("%s: %s %zu: adjoint %.12g, difference %.12g", what, i < n ? "input" : "parameter",
                  i < n ? i : i - n, got, want);
            return;
        }
    }
}

static const struct {
    const char *expr;
    double      lo, hi; /* range of the inputs */
} operations[] = {
    {"x1 + x2 - x3", -2, 2},
    {"x1*x2*x3", -2, 2},
    {"x1/x2 + x2/x3", 0.5, 2},
    {"-x1 + 2*-x2", -2, 2},
    {"x1^x2", 0.3, 2},
    {"x1^3 + x2^-2 + x3^0.5", 0.5, 2},
    {"x1^2.5 + 2^x2", 0.5, 2},
    {"x1^5 + x2^8 + x3^1 + x1^0", -1.2, 1.2},
    {"x1^11", 0.5, 1.5},
    {"sin(x1) + cos(x2)*sin(x3)", -3, 3},
    {"sin(x1)*cos(x1)", -3, 3},
    {"tan(x1)*x2", -1, 1},
    {"asin(x1) + x2*acos(x1)", -0.9, 0.9},
    {"atan(x1)*atan2(x2, x3)", -2, 2},
    {"sinh(x1) + cosh(x2)*x3", -2, 2},
    {"sinh(x1)*cosh(x1)", -2, 2},
    {"tanh(x1)*exp(x2)", -2, 2},
    {"log(x1)*sqrt(x2)", 0.2, 3},
    {"abs(x1)*x2", -2, 2},
    {"sign(x1)*x2", -2, 2},
    {"min(x1, x2)*max(x2, x3)", -2, 2},
    {"clamp(x1, -0.5, 0.7)*x2 + clamp(x3, -1, x2)", -2, 2},
    {"sigmoid(x1)*x2", -3, 3},
    {"(x1 < x2)*x3 + (x1 >= x3)*x2", -2, 2},
    {"(x1 < 0 and x2 > 0 or not x3 <= 0)*x1 + (x1 == x2)*x3 + (x1 != x2)*x2", -2, 2},
    {"prev(x1)*x2 + prev(prev(x1*x3))", -2, 2},
    {"prev(sin(prev(x1)))*prev(x2)", -2, 2},
    {"param(a, 0.7)*x1 + param(b, -1.5)*param(a, 0.7)^2", -2, 2},
    {"rbf(13, x1, x2)", -2, 2},
    {"rbf(9, x1, sin(x2), x3)*rbf(9, x1, sin(x2), x3)[2] + rbf(4, x1)[3]", -2, 2},
    {"mlp(5, x1, x2, x3)", -1, 1},
    {"linear(x1, x2, sin(x3))", -1, 1},
    {"rbf(1, x1, x2)*linear(x1, x2)[2] + x3*linear(x1, x2)", -1, 1},
    {"mlp(6, 3, x1, prev(x2))[2] + x3*mlp(6, 3, x1, prev(x2))", -1, 1},
    {"rbf(5, x1*x2, prev(rbf(5, x2, x3)))", -1, 1},
};

static void place_inputs(sequence *s, double lo, double hi)
{
    size_t n = (size_t)s->T * (size_t)mcp_program_inputs(s->p) * (size_t)s->ld;
    for (size_t i = 0; i < n; i++) {
        s->in[i] = lo + (hi - lo) * 0.5 * (1.0 + s->in[i]);
        if (fabs(s->in[i]) < 0.01) s->in[i] = 0.01; /* away from the kinks at 0 */
    }
}

CASE(every_adjoint_matches_central_differences_through_four_samples)
{
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        mcp_program *p;
        sequence     s;
        REQUIRE_OK(program_of(&p, operations[i].expr, err));
        sequence_create(&s, p, 4, 16, 1.0, 0, 7u + (unsigned)i);
        place_inputs(&s, operations[i].lo, operations[i].hi);
        check_gradient(operations[i].expr, &s, 3e-8);
        sequence_free(&s);
        mcp_program_free(p);
    }
}

static const char *const recurrent[] = {
    "input y",
    "input r",
    "const T 0.033",
    "memory x = y",
    "memory v = 0",
    "memory k = param(p0, 2)",
    "define e = y - x",
    "define u = 10*tanh(rbf(17, x, v, cos(x), prev(y))/10 + rbf(17, x, v, cos(x), prev(y))[2]*r)",
    "next x = x + T*v + 0.3*e",
    "next v = v + T*u + k*e/(1 + k)",
    "next k = k/(k + 1) + param(q, 0.1)",
    "output u = u",
    "output x = x",
    "output r = r",
    "output mixed = mlp(4, u, e, k)*prev(u)",
    NULL};

CASE(a_recurrent_controller_with_dropout_has_the_right_adjoint)
{
    mcp_program *p;
    sequence     s;
    REQUIRE_OK(program_build(&p, recurrent, err));
    sequence_create(&s, p, 5, 16, 1.0, 1, 3);
    check_gradient("recurrent", &s, 3e-8);
    sequence_free(&s);
    mcp_program_free(p);
}

/* Lane by lane through mcp_program_step. */
static void compare_with_step(const char *what, sequence *s, double tol)
{
    const mcp_program *p = s->p;
    int ni = mcp_program_inputs(p), no = mcp_program_outputs(p), ns = mcp_program_memory(p);
    double *in = block((size_t)ni), *mem = block((size_t)ns), *out = block((size_t)no),
           *work = block(mcp_program_work(p));
    int     bad = 0;
    sequence_forward(s);
    for (int b = 0; b < s->n && !bad; b++)
        for (int t = 0; t < s->T && !bad; t++) {
            for (int i = 0; i < ni; i++) in[i] = s->in[(t * ni + i) * s->ld + b];
            mcp_program_step(p, s->theta, t == 0, in, mem, out, work);
            for (int i = 0; i < no && !bad; i++) {
                double got = s->out[(t * no + i) * s->ld + b];
                bad = !(fabs(got - out[i]) <= tol * fmax(1.0, fabs(out[i])) ||
                        (isnan(got) && isnan(out[i])) || got == out[i]);
                if (bad)
                    FAIL_("%s: lane %d sample %d output %d: batch %.17g, one sample %.17g", what, b, t, i,
                          got, out[i]);
            }
        }
    mcp_block_free(in);
    mcp_block_free(mem);
    mcp_block_free(out);
    mcp_block_free(work);
}

CASE(batch_equals_one_sample_run_at_every_level)
{
    for (int level = 0; level <= (int)mcp_isa_level(); level++) {
        mcp_program *p;
        sequence     s;
        for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
            REQUIRE_OK(program_of(&p, operations[i].expr, err));
            sequence_create(&s, p, 4, 24, 1.0, 0, 90u + (unsigned)i);
            s.level = (mcp_isa)level;
            place_inputs(&s, operations[i].lo, operations[i].hi);
            compare_with_step(operations[i].expr, &s, 1e-13);
            sequence_free(&s);
            mcp_program_free(p);
        }
        REQUIRE_OK(program_build(&p, recurrent, err));
        sequence_create(&s, p, 30, 24, 1.0, 0, 5);
        s.level = (mcp_isa)level;
        compare_with_step("recurrent", &s, 1e-12); /* 30 samples of feedback */
        sequence_free(&s);
        mcp_program_free(p);
    }
}

/* The lanes of one run of 48, run again in pieces. */
CASE(a_lane_does_not_depend_on_its_block)
{
    mcp_program *p;
    sequence     whole;
    REQUIRE_OK(program_build(&p, recurrent, err));
    sequence_create(&whole, p, 6, 48, 1.0, 1, 11);
    sequence_forward(&whole);
    sequence_backward(&whole);
    int    sizes[] = {8, 24, 16}, from = 0;
    size_t nsum = mcp_program_sums(p);
    for (int k = 0; k < 3; from += sizes[k++]) {
        sequence part;
        sequence_create(&part, p, 6, sizes[k], 1.0, 1, 11);
        memcpy(part.theta, whole.theta, sizeof(double) * (size_t)mcp_program_params(p));
        int rows = 6 * mcp_program_inputs(p), crows = 6 * mcp_program_outputs(p),
            mrows = mcp_program_memory(p), act = mcp_program_activations(p);
        for (int i = 0; i < rows; i++)
            memcpy(part.in + i * part.ld, whole.in + i * 48 + from, sizeof(double) * (size_t)sizes[k]);
        for (int i = 0; i < crows; i++)
            memcpy(part.c + i * part.ld, whole.c + i * 48 + from, sizeof(double) * (size_t)sizes[k]);
        for (int i = 0; i < mrows; i++)
            memcpy(part.c_mem + i * part.ld, whole.c_mem + i * 48 + from, sizeof(double) * (size_t)sizes[k]);
        for (int t = 0; t < 6; t++)
            memcpy(part.keep + t * act * part.ld, whole.keep + act * (t * 48 + from),
                   (size_t)(act * sizes[k]));
        sequence_forward(&part);
        sequence_backward(&part);
        for (int i = 0; i < crows; i++)
            CHECK(!memcmp(part.out + i * part.ld, whole.out + i * 48 + from,
                          sizeof(double) * (size_t)sizes[k]));
        for (int i = 0; i < rows; i++)
            CHECK(!memcmp(part.in_bar + i * part.ld, whole.in_bar + i * 48 + from,
                          sizeof(double) * (size_t)sizes[k]));
        CHECK(!memcmp(part.sums, whole.sums + (size_t)(from / MCP_LANES) * nsum,
                      sizeof(double) * nsum * (size_t)(sizes[k] / MCP_LANES)));
        sequence_free(&part);
    }
    sequence_free(&whole);
    mcp_program_free(p);
}

CASE(unwanted_adjoints_may_be_null)
{
    mcp_program *p;
    sequence     s;
    REQUIRE_OK(program_build(&p, recurrent, err));
    sequence_create(&s, p, 1, 8, 1.0, 0, 2);
    sequence_forward(&s);
    double *scratch = block(mcp_program_scratch(p, 8)), *in_bar = block((size_t)mcp_program_inputs(p) * 8);
    mcp_batch_call c = {.program = p, .level = s.level, .theta = s.theta, .first = 1, .n = 8, .ld = 8,
                        .in = s.in, .tape = s.tape, .out_bar = s.c, .scratch = scratch, .in_bar = in_bar};
    mcp_batch_backward(&c);
    memset(s.c_mem, 0, sizeof(double) * (size_t)mcp_program_memory(p) * 8);
    sequence_backward(&s);
    CHECK(!memcmp(in_bar, s.in_bar, sizeof(double) * (size_t)mcp_program_inputs(p) * 8));
    c.in_bar = NULL;
    c.sums = s.sums;
    c.sums_stride = mcp_program_sums(p);
    mcp_batch_backward(&c);
    mcp_block_free(scratch);
    mcp_block_free(in_bar);
    sequence_free(&s);
    mcp_program_free(p);
}

/* y and dy/dx1 of one expression at one point. */
static void at_point(const char *expr, const double *x, double *y, double *slope)
{
    mcp_program *p;
    sequence     s;
    *y = *slope = 12345.0;
    REQUIRE_OK(program_of(&p, expr, err));
    sequence_create(&s, p, 1, 8, 0.0, 0, 1);
    for (int i = 0; i < 3; i++)
        for (int b = 0; b < 8; b++) s.in[i * 8 + b] = x[i];
    for (int b = 0; b < 8; b++) s.c[b] = 1.0;
    sequence_forward(&s);
    sequence_backward(&s);
    *y     = s.out[3];
    *slope = s.in_bar[3];
    sequence_free(&s);
    mcp_program_free(p);
}

CASE(nan_is_handed_on_by_every_operation_that_is_not_a_comparison)
{
    const char *const exprs[] = {"x1 + 1",
                                 "1 - x1",
                                 "x1*0",
                                 "x1/x2",
                                 "x2/x1",
                                 "x1^x2",
                                 "x1^2.5",
                                 "x1^3",
                                 "sin(x1)",
                                 "cos(x1)",
                                 "tan(x1)",
                                 "asin(x1)",
                                 "acos(x1)",
                                 "atan(x1)",
                                 "atan2(x1, x2)",
                                 "atan2(x2, x1)",
                                 "sinh(x1)",
                                 "cosh(x1)",
                                 "tanh(x1)",
                                 "exp(x1)",
                                 "log(x1)",
                                 "sqrt(x1)",
                                 "abs(x1)",
                                 "sign(x1)",
                                 "min(x1, x2)",
                                 "min(x2, x1)",
                                 "max(x1, x2)",
                                 "max(x2, x1)",
                                 "clamp(x1, -1, 1)",
                                 "clamp(x2, x1, 1)",
                                 "sigmoid(x1)",
                                 "-x1",
                                 "prev(x1)",
                                 "rbf(3, x1, x2)",
                                 "mlp(3, x1, x2)",
                                 "linear(x1, x2)",
                                 "x1 - x1"};
    double            x[3]    = {NAN, 0.5, 0.25}, y, slope;
    for (size_t i = 0; i < sizeof exprs / sizeof *exprs; i++) {
        at_point(exprs[i], x, &y, &slope);
        if (!isnan(y)) FAIL_("%s of NaN is %g", exprs[i], y);
    }
    at_point("x1 < 0", x, &y, &slope);
    CHECK(y == 0.0);
    at_point("x1 != x1", x, &y, &slope);
    CHECK(y == 1.0);
}

CASE(division_by_zero_gives_infinity_and_a_branch_that_does_not_count_gives_no_nan)
{
    double x[3] = {0.0, 1.0, 2.0}, y, slope;
    at_point("x2/x1", x, &y, &slope);
    CHECK(isinf(y));
    at_point("(x1 > 1)*sqrt(x1) + x1", x, &y, &slope);
    CHECK(y == 0.0 && slope == 1.0);
    at_point("max(x2, log(x1)) + 3*x1", x, &y, &slope);
    CHECK(y == 1.0 && slope == 3.0);
}

CASE(kinks_have_the_obvious_slopes)
{
    double x[3] = {0.0, 0.0, 2.0}, y, slope;
    at_point("abs(x1)", x, &y, &slope);
    CHECK(y == 0.0 && slope == 0.0);
    at_point("sign(x1)", x, &y, &slope);
    CHECK(y == 0.0 && slope == 0.0);
    at_point("clamp(x1, 0, 1)", x, &y, &slope);
    CHECK(y == 0.0 && slope == 1.0);
    at_point("clamp(x1, 0.5, 1)", x, &y, &slope);
    CHECK(y == 0.5 && slope == 0.0);
    at_point("x1 <= 0", x, &y, &slope);
    CHECK(y == 1.0 && slope == 0.0);
}

CASE(rbf_far_from_every_centre_is_zero_and_finite)
{
    double x[3] = {1e6, -1e200, 0.0}, y, slope;
    at_point("rbf(7, x1, x2)", x, &y, &slope);
    CHECK_CLOSE(y, 0.0, 0.0, 1e-250);
    CHECK(isfinite(slope));
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(every_adjoint_matches_central_differences_through_four_samples);
    RUN(a_recurrent_controller_with_dropout_has_the_right_adjoint);
    RUN(batch_equals_one_sample_run_at_every_level);
    RUN(a_lane_does_not_depend_on_its_block);
    RUN(unwanted_adjoints_may_be_null);
    RUN(nan_is_handed_on_by_every_operation_that_is_not_a_comparison);
    RUN(division_by_zero_gives_infinity_and_a_branch_that_does_not_count_gives_no_nan);
    RUN(kinks_have_the_obvious_slopes);
    RUN(rbf_far_from_every_centre_is_zero_and_finite);
    return DONE();
}
