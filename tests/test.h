/* test.h - a test program is a list of cases; it prints what failed and where, and returns the number of
 * failures.
 *
 *   CASE(se_backward_matches_central_difference) { CHECK_CLOSE(a, b, 1e-7, 1e-12); }
 *   int main(int argc, char **argv) { RUN(se_backward_matches_central_difference); return DONE(); }
 *
 * Run with a case's name as argument to run it alone. */
#ifndef TEST_H
#define TEST_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int         test_failures_, test_cases_;
static const char *test_only_, *test_name_;

#define CASE(name) static void name(void)
#define TEST_ARGS(argc, argv) (test_only_ = (argc) > 1 ? (argv)[1] : NULL)
#define RUN(name)                                              \
    do {                                                       \
        if (test_only_ && strcmp(test_only_, #name)) break;    \
        int before_ = test_failures_;                          \
        test_name_  = #name;                                   \
        test_cases_++;                                         \
        name();                                                \
        if (test_failures_ == before_) printf("ok   %s\n", #name); \
    } while (0)
#define DONE() \
    (printf("%d cases, %d failed checks\n", test_cases_, test_failures_), \
     test_failures_ != 0 || test_cases_ == 0)
/* What main returns where the machine lacks what the program needs: ctest counts it as skipped. */
#define SKIPPED(why) (printf("skipped: %s\n", (why)), 77)

#define FAIL_(...)                                                      \
    do {                                                                \
        test_failures_++;                                               \
        printf("FAIL %s (%s:%d): ", test_name_, __FILE__, __LINE__);    \
        printf(__VA_ARGS__);                                            \
        printf("\n");                                                   \
    } while (0)
#define CHECK(cond)                          \
    do {                                     \
        if (!(cond)) FAIL_("%s", #cond);     \
    } while (0)
#define REQUIRE(cond)                        \
    do {                                     \
        if (!(cond)) {                       \
            FAIL_("%s", #cond);              \
            return;                          \
        }                                    \
    } while (0)
/* |a - b| <= rel * max(|a|, |b|) + abs, refusing NaN */
#define CHECK_CLOSE(a, b, rel, abs_)                                                                 \
    do {                                                                                             \
        double a_ = (a), b_ = (b);                                                                   \
        if (!(fabs(a_ - b_) <= (rel)*fmax(fabs(a_), fabs(b_)) + (abs_)))                             \
            FAIL_("%s = %.17g, %s = %.17g, difference %.3g", #a, a_, #b, b_, a_ - b_);               \
    } while (0)
#define CHECK_OK(call)                                                  \
    do {                                                                \
        mcp_error e_ = {MCP_OK, ""};                                    \
        mcp_error *err = &e_;                                           \
        (void)err;                                                      \
        if ((call) != MCP_OK) FAIL_("%s: %s", #call, e_.text);          \
    } while (0)
#define REQUIRE_OK(call)                                                \
    do {                                                                \
        mcp_error e_ = {MCP_OK, ""};                                    \
        mcp_error *err = &e_;                                           \
        (void)err;                                                      \
        if ((call) != MCP_OK) {                                         \
            FAIL_("%s: %s", #call, e_.text);                            \
            return;                                                     \
        }                                                               \
    } while (0)
/* gradient[0, every, ..] against central differences of f at x, which is the same afterwards */
typedef struct {
    double (*f)(void *context, const double *x);
    void  *context;
    int    n, every;
    double step, rel, abs;
} difference_check;
static inline void check_differences(const difference_check *c, double *x, const double *gradient)
{
    for (int i = 0; i < c->n; i += c->every) {
        double keep = x[i];
        x[i] = keep + c->step;
        double up = c->f(c->context, x);
        x[i] = keep - c->step;
        double down = c->f(c->context, x), want = (up - down) / (2 * c->step);
        x[i] = keep;
        if (!(fabs(gradient[i] - want) <= c->rel * fmax(fabs(gradient[i]), fabs(want)) + c->abs))
            FAIL_("gradient[%d] = %.17g, by differences %.17g", i, gradient[i], want);
    }
}
/* text contains part */
#define CHECK_HAS(text, part)                                           \
    do {                                                                \
        const char *t_ = (text);                                        \
        if (!strstr(t_, (part))) FAIL_("\"%s\" lacks \"%s\"", t_, (part)); \
    } while (0)

#endif
