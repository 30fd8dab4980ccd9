/* Reading expressions: what they mean, and what is said about mistakes. */
#include "programs.h"
#include "test.h"

/* Value of an expression of x1 = 2, x2 = 3, x3 = 5 at the first sample. */
static double value(const char *expr)
{
    mcp_program *p;
    mcp_error    e      = {MCP_OK, ""};
    double       in[3]  = {2, 3, 5}, mem[64], out[4] = {NAN}, theta[64] = {0};
    if (program_of(&p, expr, &e) != MCP_OK) {
        FAIL_("%s: %s", expr, e.text);
        return NAN;
    }
    double *work = block(mcp_program_work(p));
    for (int i = 0; i < mcp_program_groups(p); i++)
        theta[mcp_program_group(p, i)->offset] = mcp_program_group(p, i)->start;
    mcp_program_step(p, theta, 1, in, mem, out, work);
    mcp_block_free(work);
    mcp_program_free(p);
    return out[0];
}

CASE(operators_bind_as_in_mathematics)
{
    CHECK_CLOSE(value("x1 + x2*x3"), 17, 0, 0);
    CHECK_CLOSE(value("(x1 + x2)*x3"), 25, 0, 0);
    CHECK_CLOSE(value("-x1^2"), -4, 0, 0);
    CHECK_CLOSE(value("2^3^2"), 512, 0, 0);
    CHECK_CLOSE(value("x1^-2"), 0.25, 0, 0);
    CHECK_CLOSE(value("x3 - x2 - x1"), 0, 0, 0);
    CHECK_CLOSE(value("x3/x1/x1"), 1.25, 0, 0);
    CHECK_CLOSE(value("2*-x1"), -4, 0, 0);
    CHECK_CLOSE(value("--x1 - -x2 + +x3"), 10, 0, 0);
    CHECK_CLOSE(value("x1 + 1 < x2*2 and x3 > 1"), 1, 0, 0);
    CHECK_CLOSE(value("x1 > 5 or x2 > 5 and x3 > 1"), 0, 0, 0);
    CHECK_CLOSE(value("x1 < 5 or x2 > 5 and x3 > 7"), 1, 0, 0);
    CHECK_CLOSE(value("not x1 > 5 and not not x2"), 1, 0, 0);
    CHECK_CLOSE(value("not (x1 < 5 or x2 < 5)"), 0, 0, 0);
}

CASE(numbers_are_read_in_every_usual_form)
{
    CHECK_CLOSE(value("1.5e1 + .5 + 2. + 1E-1 + 3e+0"), 20.6, 1e-15, 0);
    CHECK_CLOSE(value("2*pi"), 6.283185307179586, 0, 0);
    CHECK_CLOSE(value("0.1"), 0.1, 0, 0);
    CHECK_CLOSE(value(" \t x1\n+\n1 "), 3, 0, 0);
}

CASE(functions_equal_libm)
{
    CHECK_CLOSE(value("sin(x1) + cos(x1) + tan(x1)"), sin(2) + cos(2) + tan(2), 1e-15, 0);
    CHECK_CLOSE(value("asin(x1/9) + acos(x1/9) + atan(x1) + atan2(x1, -x2)"),
                asin(2 / 9.) + acos(2 / 9.) + atan(2) + atan2(2, -3), 1e-15, 0);
    CHECK_CLOSE(value("sinh(x1) + cosh(x1) + tanh(x1)"), sinh(2) + cosh(2) + tanh(2), 1e-15, 0);
    CHECK_CLOSE(value("exp(x1) + log(x1) + sqrt(x1) + sigmoid(x1)"),
                exp(2) + log(2) + sqrt(2) + 1 / (1 + exp(-2)), 1e-15, 0);
    CHECK_CLOSE(value("abs(-x1) + 10*sign(-x1)"), -8, 0, 0);
    CHECK_CLOSE(value("min(x2, x1, x3) + max(x2, x1, x3)*10"), 52, 0, 0);
    CHECK_CLOSE(value("clamp(x3, 0, x1) + 10*clamp(-x3, 0, 1) + 100*clamp(x1, 0, 3)"), 202, 0, 0);
    CHECK_CLOSE(value("x1^x2 + x2^0.5 + x1^11"), 8 + sqrt(3) + 2048, 1e-15, 0);
    CHECK_CLOSE(value("param(k, 4)*x1 + param(k, 4) + param(k)"), 16, 0, 0);
}

CASE(common_subexpressions_are_shared_and_constants_folded)
{
    mcp_program *p;
    REQUIRE_OK(program_of(&p, "sin(x1*x2)^2 + sin(x2*x1)^2 + (2*3 - 6) + 0*1 + sin(x1*x2)*1", err));
    char *text = mcp_program_listing(p);
    REQUIRE(text);
    char *once = strstr(text, "sin(");
    REQUIRE(once);
    CHECK(!strstr(once + 1, "sin("));
    once = strstr(text, "x1 * x2");
    REQUIRE(once);
    CHECK(!strstr(once + 1, "x1 * x2") && !strstr(text, "x2 * x1"));
    CHECK(!strstr(text, " 6"));
    mcp_free(text);
    mcp_program_cost c = mcp_program_cost_of(p);
    CHECK(c.call == 1 && c.multiply == 2 && c.add == 2);
    mcp_program_free(p);
}

CASE(unused_definitions_cost_nothing)
{
    const char *const lines[] = {
        "input x", "define a = sin(x)", "define b = rbf(50, x)", "define c = param(k, 1)*x", "output y = 2*x",
        NULL};
    mcp_program      *p;
    REQUIRE_OK(program_build(&p, lines, err));
    CHECK(mcp_program_params(p) == 0 && mcp_program_activations(p) == 0 && mcp_program_net_count(p) == 0);
    mcp_program_cost c = mcp_program_cost_of(p);
    CHECK(c.call == 0 && c.multiply == 1);
    mcp_program_free(p);
}

/* Samples through one program, as text lines. */
static void samples(const char *const *lines, const double *x, int n, double *y)
{
    mcp_program *p;
    REQUIRE_OK(program_build(&p, lines, err));
    double mem[16], out[8], theta[8] = {0}, *work = block(mcp_program_work(p));
    for (int i = 0; i < 16; i++) mem[i] = NAN; /* must not be read at the first sample */
    for (int t = 0; t < n; t++) {
        mcp_program_step(p, theta, t == 0, x + t, mem, out, work);
        y[t] = out[0];
    }
    mcp_block_free(work);
    mcp_program_free(p);
}

CASE(prev_is_the_sample_before_and_the_value_itself_at_first)
{
    const char *const one[] = {"input x", "output y = prev(x)", NULL};
    const char *const two[] = {"input x", "output y = prev(prev(x)) + 100*prev(x + 1)", NULL};
    double            x[4] = {1, 2, 4, 8}, y[4];
    samples(one, x, 4, y);
    CHECK(y[0] == 1 && y[1] == 1 && y[2] == 2 && y[3] == 4);
    samples(two, x, 4, y);
    CHECK(y[0] == 201 && y[1] == 201 && y[2] == 301 && y[3] == 502);
}

CASE(memory_starts_with_its_start_and_goes_on_with_its_next)
{
    const char *const sum[]   = {"input x", "memory s = 10*x", "next s = s + x", "output y = s", NULL};
    const char *const chain[] = {"input x",    "memory a = x", "memory b = a + 1", "define c = a + b",
                                 "next a = b", "next b = c",   "output y = c",     NULL};
    double            x[4] = {1, 2, 4, 8}, y[4];
    samples(sum, x, 4, y);
    CHECK(y[0] == 10 && y[1] == 11 && y[2] == 13 && y[3] == 17);
    samples(chain, x, 4, y);
    CHECK(y[0] == 3 && y[1] == 5 && y[2] == 8 && y[3] == 13);
}

CASE(equal_calls_of_a_net_are_one_net_with_several_outputs)
{
    mcp_program *p;
    REQUIRE_OK(program_of(
        &p, "rbf(20, x1, x2) + rbf(20, x1, x2)[3] + rbf(20, x2, x1) + mlp(4, 3, x1, x2)[2] + param(k, 0.5)",
        err));
    CHECK(mcp_program_net_count(p) == 3);
    CHECK(mcp_program_activations(p) == 48); /* twice 20, whole groups of 8 */
    const struct {
        const char    *name;
        mcp_param_kind kind;
        int            rows, cols, node;
    } want[] = {{"k", MCP_PARAM_SCALAR, 1, 1, -1},
                {"rbf1.weights", MCP_RBF_WEIGHTS, 3, 20, 0},
                {"rbf1.centres", MCP_RBF_CENTRES, 20, 2, 0},
                {"rbf1.log_lengths", MCP_RBF_LOG_LENGTHS, 1, 2, 0},
                {"rbf2.weights", MCP_RBF_WEIGHTS, 1, 20, 1},
                {"rbf2.centres", MCP_RBF_CENTRES, 20, 2, 1},
                {"rbf2.log_lengths", MCP_RBF_LOG_LENGTHS, 1, 2, 1},
                {"mlp1.weights1", MCP_MLP_WEIGHTS, 4, 2, 2},
                {"mlp1.biases1", MCP_MLP_BIASES, 4, 1, 2},
                {"mlp1.weights2", MCP_MLP_WEIGHTS, 3, 4, 2},
                {"mlp1.biases2", MCP_MLP_BIASES, 3, 1, 2},
                {"mlp1.weights3", MCP_MLP_WEIGHTS, 2, 3, 2},
                {"mlp1.biases3", MCP_MLP_BIASES, 2, 1, 2}};
    int offset = 0;
    REQUIRE(mcp_program_groups(p) == (int)(sizeof want / sizeof *want));
    for (int i = 0; i < mcp_program_groups(p); i++) {
        const mcp_param_group *g = mcp_program_group(p, i);
        if (strcmp(g->name, want[i].name)) FAIL_("group %d is %s, not %s", i, g->name, want[i].name);
        CHECK(g->kind == want[i].kind && g->rows == want[i].rows && g->cols == want[i].cols &&
              g->node == want[i].node);
        CHECK(g->offset == offset && g->count == g->rows * g->cols);
        offset += g->count;
    }
    CHECK(offset == mcp_program_params(p));
    mcp_program_free(p);
}

CASE(a_linear_net_has_weights_and_a_bias_for_each_output)
{
    mcp_program *p;
    double       theta[] = {2.0, -3.0, 0.5, 4.0, 0.25, -1.0}, in[] = {0.5, 2.0}, out = 0.0;
    double       work[4096], mem[1];
    REQUIRE_OK(program_of(&p, "linear(x1, x2) + 10*linear(x1, x2)[2]", err));
    REQUIRE(mcp_program_groups(p) == 2 && mcp_program_params(p) == 6 && mcp_program_work(p) <= 4096);
    CHECK(!strcmp(mcp_program_group(p, 0)->name, "linear1.weights"));
    CHECK(!strcmp(mcp_program_group(p, 1)->name, "linear1.biases"));
    mcp_program_step(p, theta, 1, in, mem, &out, work);
    CHECK(out == (2.0 * 0.5 - 3.0 * 2.0 + 0.25) + 10 * (0.5 * 0.5 + 4.0 * 2.0 - 1.0));
    mcp_program_free(p);
}

CASE(features_of_a_net_can_be_read)
{
    mcp_program *p;
    REQUIRE_OK(program_of(&p, "rbf(3, x1, x2*x3, prev(x1))", err));
    double in[3] = {2, 3, 5}, mem[1] = {7}, f[3], theta[64] = {0}, *work = block(mcp_program_work(p));
    CHECK(mcp_program_net_features(p, 0) == 3);
    mcp_program_net_inputs(p, 0, theta, 1, in, NULL, f, work);
    CHECK(f[0] == 2 && f[1] == 15 && f[2] == 2);
    mcp_program_net_inputs(p, 0, theta, 0, in, mem, f, work);
    CHECK(f[0] == 2 && f[1] == 15 && f[2] == 7);
    mcp_block_free(work);
    mcp_program_free(p);
}

/* The message for an expression that starts at task.yaml:12:20. */
static const char *message(const char *expr)
{
    static mcp_error e;
    mcp_builder     *b = NULL;
    mcp_where        w = {"task.yaml", 12, 20};
    e                  = (mcp_error){MCP_OK, "no error"};
    if (mcp_builder_create(&b, &e) != MCP_OK) abort();
    mcp_builder_input(b, "theta", NULL);
    mcp_builder_input(b, "dtheta", NULL);
    mcp_builder_constant(b, "mass", 0.5, NULL);
    mcp_status st = mcp_builder_output(b, "u", expr, w, &e);
    if (st != MCP_ERR_TASK) FAIL_("'%.60s' gave status %d: %s", expr, st, e.text);
    mcp_builder_free(b);
    return e.text;
}

CASE(mistakes_are_told_with_file_line_and_column)
{
    CHECK_HAS(message("sin(thta)"), "task.yaml:12:24: unknown name 'thta'; did you mean 'theta'?");
    CHECK_HAS(message("2*dtehta"), "task.yaml:12:22: unknown name 'dtehta'; did you mean 'dtheta'?");
    CHECK_HAS(message("zzz + 1"), "task.yaml:12:20: unknown name 'zzz'; known are theta, dtheta, mass");
    CHECK_HAS(message("1 + sine(theta)"), "task.yaml:12:24: unknown function 'sine'; did you mean 'sin'?");
    CHECK_HAS(message("laplacian(theta)"), "unknown function 'laplacian'; known are sin, cos, tan, asin,");
    CHECK_HAS(message("laplacian(theta)"), "clamp, prev, param, rbf, mlp");
    CHECK_HAS(message("sin(theta, 1)"), "task.yaml:12:20: sin takes 1 argument, found 2");
    CHECK_HAS(message("theta + atan2(1)"), "task.yaml:12:28: atan2 takes 2 arguments, found 1");
    CHECK_HAS(message("min(theta)"), "min takes 2 or more arguments, found 1");
    CHECK_HAS(message("clamp(theta, 0)"), "clamp takes 3 arguments, found 2");
    CHECK_HAS(message("clamp(theta, 2, 1)"), "the lower bound is above the upper one");
    CHECK_HAS(message("1/(mass - 0.5) + theta"), "task.yaml:12:21: 1 / 0 is not a finite number");
    CHECK_HAS(message("theta*log(-1)"), "task.yaml:12:26: log(-1) is not a finite number");
    CHECK_HAS(message("sqrt(mass - 1)"), "sqrt(-0.5) is not a finite number");
    CHECK_HAS(message("(theta + 1"), "task.yaml:12:30: expected ')', found the end");
    CHECK_HAS(message("theta + "), "task.yaml:12:28: expected a value, found the end");
    CHECK_HAS(message("theta + )"), "task.yaml:12:28: expected a value, found ')'");
    CHECK_HAS(message("theta dtheta"), "task.yaml:12:26: expected an operator or the end, found 'dtheta'");
    CHECK_HAS(message("2theta"), "task.yaml:12:21: missing operator after 2");
    CHECK_HAS(message("theta(2)"), "'theta' is not a function; is a '*' missing?");
    CHECK_HAS(message("sin + 1"), "sin is a function: write sin(..)");
    CHECK_HAS(message("theta ** 2"), "task.yaml:12:26: '**' is not an operator: write ^");
    CHECK_HAS(message("theta = 2"), "write == to compare");
    CHECK_HAS(message("theta && mass"), "write and");
    CHECK_HAS(message("!theta"), "write not");
    CHECK_HAS(message("0 < theta < 1"), "task.yaml:12:30: comparisons do not chain");
    CHECK_HAS(message("theta $ 2"), "'$' is not part of an expression");
    CHECK_HAS(message("theta\xc3\xa9"), "character code 195");
    CHECK_HAS(message(""), "the expression is empty");
    CHECK_HAS(message("   "), "the expression is empty");
    CHECK_HAS(message("1e999"), "larger than any number");
    CHECK_HAS(message("theta +\n  foo"), "task.yaml:13:3: unknown name 'foo'");
}

CASE(mistakes_in_nets_and_params_are_told)
{
    CHECK_HAS(message("rbf(theta)"), "number of basis functions");
    CHECK_HAS(message("rbf(2.5, theta)"), "number of basis functions");
    CHECK_HAS(message("rbf(0, theta)"), "number of basis functions");
    CHECK_HAS(message("rbf(1e9, theta)"), "from 1 to 10000");
    CHECK_HAS(message("rbf(10)"), "at least one feature");
    CHECK_HAS(message("rbf()"), "number of basis functions");
    CHECK_HAS(message("mlp(theta)"), "sizes of its hidden layers first");
    CHECK_HAS(message("mlp(5)"), "at least one feature");
    CHECK_HAS(message("mlp(0, theta)"), "1 to 10000 units, found 0");
    CHECK_HAS(message("mlp(1,1,1,1,1,1,1,1,1,theta)"), "at most 8 hidden layers");
    CHECK_HAS(message("theta[1]"), "only rbf and mlp have numbered outputs");
    CHECK_HAS(message("rbf(3, theta)[0]"), "whole number from 1 to 64");
    CHECK_HAS(message("rbf(3, theta)[theta]"), "whole number from 1 to 64");
    CHECK_HAS(message("rbf(3, theta)[2"), "expected ']'");
    CHECK_HAS(message("param(1, 2)"), "name of its own");
    CHECK_HAS(message("param(k)"), "expected ','");
    CHECK_HAS(message("param(k, theta)"), "must be a constant");
    CHECK_HAS(message("param(k, 1) + param(k, 2)"), "task.yaml:12:43: param(k, 2) starts at 1 elsewhere");
}

CASE(without_a_file_the_name_and_column_are_told)
{
    mcp_program *p;
    mcp_error    e = {MCP_OK, ""};
    CHECK(program_of(&p, "x1 + x4", &e) == MCP_ERR_TASK && !p);
    CHECK_HAS(e.text, "y, column 6: unknown name 'x4'; did you mean 'x1'?");
}

static void check_refused(const char *const *lines, const char *part)
{
    mcp_program *p;
    mcp_error    e = {MCP_OK, "no error"};
    CHECK(program_build(&p, lines, &e) == MCP_ERR_TASK && !p);
    CHECK_HAS(e.text, part);
}

CASE(names_are_checked)
{
    check_refused((const char *const[]){"input sin", NULL}, "'sin' is a word of the expression language");
    check_refused((const char *const[]){"input pi", NULL}, "'pi' is a word");
    check_refused((const char *const[]){"input 2x", NULL}, "'2x' is not a name");
    check_refused((const char *const[]){"input a-b", NULL}, "'a-b' is not a name");
    check_refused((const char *const[]){"input x", "input x", NULL},
                  "the name 'x' is taken: it is already an input");
    check_refused((const char *const[]){"const x 1", "define x = 2", NULL}, "already a constant");
    check_refused((const char *const[]){"memory x = 1", "memory x = 2", NULL}, "already a memory slot");
    check_refused((const char *const[]){"define x = 1", "input x", NULL}, "already a definition");
    check_refused((const char *const[]){"const x nan", NULL}, "finite");
    check_refused((const char *const[]){"output x = 1", "output x = 1", NULL}, "given twice");
    check_refused((const char *const[]){"memory x = 1", "output y = x", NULL},
                  "memory slot 'x' has no next value");
    check_refused((const char *const[]){"memory x = 1", "next x = 1", "next x = 2", NULL}, "given twice");
    check_refused((const char *const[]){"next x = 1", NULL}, "is not a memory slot");
    check_refused((const char *const[]){"define a = b", "define b = 1", NULL}, "unknown name 'b'");
    mcp_builder *b = NULL;
    mcp_error    e;
    if (mcp_builder_create(&b, &e) != MCP_OK) abort();
    CHECK(mcp_builder_define(b, "k", "1", (mcp_where){"a.yaml", 3, 5}, &e) == MCP_OK);
    CHECK(mcp_builder_define(b, "k", "1", (mcp_where){"a.yaml", 9, 5}, &e) == MCP_ERR_TASK);
    CHECK_HAS(e.text, "a.yaml:9: the name 'k' is taken: it is already a definition (a.yaml:3)");
    mcp_builder_free(b);
}

static char *repeat(const char *part, size_t times, const char *after)
{
    size_t n    = strlen(part);
    char  *text = malloc(n * times + strlen(after) + 1);
    for (size_t i = 0; i < times; i++) memcpy(text + i * n, part, n);
    strcpy(text + n * times, after);
    return text;
}

CASE(huge_and_deep_expressions_are_refused_with_a_sentence)
{
    const struct {
        const char *part;
        size_t      times;
        const char *after, *says;
    } cases[] = {{"1+", 500000, "1", "characters"},    {"(", 10000, "1", "too deep"},
                 {"-", 60000, "1", "too deep"},        {"not ", 10000, "1", "too deep"},
                 {"theta^", 5000, "1", "too deep"},    {"sin(", 10000, "1", "too deep"},
                 {"prev(", 5000, "theta", "too deep"}, {"9", 5000, "", "a number of"},
                 {"a", 5000, "", "unknown name"},      {"rbf(2,", 5000, "1", "too deep"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = repeat(cases[i].part, cases[i].times, cases[i].after);
        CHECK_HAS(message(text), cases[i].says);
        free(text);
    }
    char *text = repeat("theta*1.5 + ", 5000, "1"); /* long but honest */
    mcp_program *p = NULL;
    mcp_builder *b = NULL;
    REQUIRE_OK(mcp_builder_create(&b, err));
    REQUIRE_OK(mcp_builder_input(b, "theta", err));
    CHECK_OK(mcp_builder_output(b, "y", text, (mcp_where){NULL, 0, 0}, err));
    CHECK_OK(mcp_builder_finish(b, &p, err));
    mcp_builder_free(b);
    mcp_program_free(p);
    free(text);
}

CASE(random_words_never_crash)
{
    const char *const words[] = {"theta", "x",      "1",      "2.5",   "1e3",      "(",      ")",    "(",
                                 ")",     ",",      "[",      "]",     "+",        "-",      "*",    "/",
                                 "^",     "<",      "<=",     "==",    "!=",       "and",    "or",   "not",
                                 "sin(",  "rbf(3,", "mlp(2,", "prev(", "param(k,", "clamp(", "min(", "pi",
                                 " ",     "\n",     "=",      "\x01",  "0"};
    unsigned state = 99;
    int      good  = 0;
    for (int k = 0; k < 20000; k++) {
        char text[256] = "";
        int  n         = 1 + (int)((pseudo(&state) + 1.0) * 6.0);
        for (int i = 0; i < n; i++)
            strcat(text,
                   words[(size_t)((pseudo(&state) + 1.0) * 0.5 * (double)(sizeof words / sizeof *words))]);
        mcp_builder *b = NULL;
        mcp_program *p = NULL;
        mcp_error    e = {MCP_OK, ""};
        if (mcp_builder_create(&b, &e) != MCP_OK) abort();
        mcp_builder_input(b, "theta", &e);
        mcp_status st = mcp_builder_output(b, "y", text, (mcp_where){NULL, 0, 0}, &e);
        if (st == MCP_OK) st = mcp_builder_finish(b, &p, &e);
        if (st != MCP_OK && !e.text[0]) FAIL_("no message for '%s'", text);
        good += st == MCP_OK;
        mcp_program_free(p);
        mcp_builder_free(b);
    }
    CHECK(good > 100); /* some of them are expressions */
}

CASE(a_graph_that_outgrows_its_limit_is_refused)
{
    /* Each definition is sums of powers of the last, so nodes multiply; the limit must hold. */
    mcp_builder *b = NULL;
    mcp_error    e = {MCP_OK, ""};
    mcp_status   st;
    REQUIRE_OK(mcp_builder_create(&b, err));
    mcp_builder_input(b, "x", &e);
    st = MCP_OK;
    for (int i = 0; i < 200 && st == MCP_OK; i++) {
        char  name[16], *text = malloc(60000), *at = text;
        snprintf(name, sizeof name, "d%d", i);
        for (int k = 0; k < 1500; k++) at += sprintf(at, "sin(x + %d.%d)*", k, i);
        strcpy(at, "1");
        st = mcp_builder_define(b, name, text, (mcp_where){"t.yaml", i + 1, 1}, &e);
        free(text);
    }
    CHECK(st == MCP_ERR_TASK);
    CHECK_HAS(e.text, "too large: at most 100000 operations");
    mcp_builder_free(b);
}

CASE(running_out_of_memory_anywhere_is_an_error_and_leaks_nothing)
{
    const char *const lines[] = {"input x",
                                 "const g 9.81",
                                 "memory m = x",
                                 "define d = rbf(9, x, m, prev(x)) + mlp(3, x)",
                                 "next m = m + d*param(k, 1)",
                                 "output y = sin(m)^3.5 + g",
                                 NULL};
    long              k;
    int               done = 0;
    for (k = 1; k < 1000 && !done; k++) {
        mcp_program *p;
        char        *text  = NULL, *listing = NULL;
        mcp_error    e     = {MCP_OK, ""};
        double       theta[256] = {0};
        mcp_alloc_fail_at(k);
        mcp_status st = program_build(&p, lines, &e);
        if (st == MCP_OK) st = mcp_program_print_c(p, theta, &(mcp_print_settings){.prefix = "a"}, &text, &e);
        if (st == MCP_OK && !(listing = mcp_program_listing(p))) st = MCP_ERR_MEMORY;
        mcp_alloc_fail_at(0);
        done = st == MCP_OK;
        if (st != MCP_OK && st != MCP_ERR_MEMORY) FAIL_("allocation %ld: status %d: %s", k, st, e.text);
        mcp_free(text);
        mcp_free(listing);
        mcp_program_free(p);
    }
    CHECK(done && k > 20);
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(operators_bind_as_in_mathematics);
    RUN(numbers_are_read_in_every_usual_form);
    RUN(functions_equal_libm);
    RUN(common_subexpressions_are_shared_and_constants_folded);
    RUN(unused_definitions_cost_nothing);
    RUN(prev_is_the_sample_before_and_the_value_itself_at_first);
    RUN(memory_starts_with_its_start_and_goes_on_with_its_next);
    RUN(equal_calls_of_a_net_are_one_net_with_several_outputs);
    RUN(a_linear_net_has_weights_and_a_bias_for_each_output);
    RUN(features_of_a_net_can_be_read);
    RUN(mistakes_are_told_with_file_line_and_column);
    RUN(mistakes_in_nets_and_params_are_told);
    RUN(without_a_file_the_name_and_column_are_told);
    RUN(names_are_checked);
    RUN(huge_and_deep_expressions_are_refused_with_a_sentence);
    RUN(random_words_never_crash);
    RUN(a_graph_that_outgrows_its_limit_is_refused);
    RUN(running_out_of_memory_anywhere_is_an_error_and_leaks_nothing);
    return DONE();
}
