/* The printed program, compiled, against the one-sample run and the batch run. */
#include <dlfcn.h>
#include <unistd.h>

#include "programs.h"
#include "test.h"

static const char *const everything[] = {
    "input a",
    "input b",
    "input c",
    "const g 9.81",
    "const tiny 1e-60",
    "memory m = sin(a)",
    "memory never = 3",
    "memory k = param(p0, 2)",
    "define d = a - prev(a)",
    "define net = rbf(11, a, b*c, prev(d))",
    "next m = 0.5*m + 0.5*d + net[2]",
    "next never = never + 1",
    "next k = k/(k + 1) + 0.1",
    "output arithmetic = -a + b*c - g/(2 + a^2) + tiny*a - -2*b",
    "output powers = abs(a)^b + a^3 + (2 + b)^-2 + (c + 2)^0.5 + 2^a",
    "output trigonometry = sin(a) + cos(b) + tan(c/2) + asin(a/2) + acos(b/2) + atan(c) + atan2(a, b)",
    "output hyperbolic = sinh(a) + cosh(b) + tanh(c) + exp(a) + log(3 + b) + sqrt(3 + c) + sigmoid(a*b)",
    "output kinks = sign(a) + min(a, b, 0.2) + max(b, c) + clamp(a, -0.3, 0.4) + abs(c)",
    "output truth = (a < b) + 2*(b <= c) + 4*(a > c and b > 0) + 8*(a >= 0 or c != b) + 16*(not a == b)",
    "output memory = m + prev(prev(b)) + k",
    "output nets = 3*net + mlp(5, 3, a, b)[2] + mlp(4, c, m)",
    NULL};

static const char *const plain[] = {"output one = 1", "output two = param(x, -2.5)", NULL};
static const char *const last[]  = {"input y", "output dy = (y - prev(y))*30", NULL};
/* the start of a slot uses a net that the later samples use by another output */
static const char *const starts[] = {"input y", "memory m = rbf(4, y)[1]", "next m = m + rbf(4, y)[2]",
                                     "output u = m*prev(m)", NULL};

typedef void reset_fn(void *);
typedef void step_fn(void *, const void *, void *);

/* Writes, compiles with the project's own strictness and loads; NULL where that compiler is not there. */
static void *compile(const mcp_program *p, const double *theta, const char *cc, int single, const char *name)
{
    char              path[200], command[800], *text = NULL;
    mcp_print_settings s = {.prefix = "ctl", .single = single};
    mcp_error          err = {MCP_OK, ""};
    snprintf(command, sizeof command, "command -v %s >/dev/null 2>&1", cc);
    if (system(command)) return NULL;
    if (mcp_program_print_c(p, theta, &s, &text, &err) != MCP_OK) {
        FAIL_("print: %s", err.text);
        return NULL;
    }
    snprintf(path, sizeof path, "./printed-%ld-%s-%s-%d", (long)getpid(), name, cc, single);
    snprintf(command, sizeof command, "%s.c", path);
    FILE *f = fopen(command, "w");
    if (!f) abort();
    fputs(text, f);
    fclose(f);
    mcp_free(text);
    snprintf(command, sizeof command,
             "%s -std=c99 -O1 -ffp-contract=off -Wall -Wextra -Wpedantic -Wshadow -Werror -shared -fPIC -o "
             "%s.so %s.c -lm",
             cc, path, path);
    int   status = system(command);
    void *so     = NULL;
    if (status) FAIL_("%s failed on %s.c", cc, path);
    else {
        snprintf(command, sizeof command, "%s.so", path);
        so = dlopen(command, RTLD_NOW);
        if (!so) FAIL_("%s", dlerror());
        unlink(command);
        snprintf(command, sizeof command, "%s.c", path);
        unlink(command);
    }
    return so;
}

static void compare(const char *name, const char *const *lines, const char *cc, int single)
{
    enum { T = 40, LANES = 8 };
    mcp_program *p;
    sequence     s;
    union {
        double d[64];
        float  f[64];
    } state, in, out;
    REQUIRE_OK(program_build(&p, lines, err));
    sequence_create(&s, p, T, LANES, 1.0, 0, 17);
    sequence_forward(&s);
    void *so = compile(p, s.theta, cc, single, name);
    if (!so) goto done;
    reset_fn *reset;
    step_fn  *step;
    *(void **)&reset = dlsym(so, "ctl_reset");
    *(void **)&step  = dlsym(so, "ctl_step");
    int     ni = mcp_program_inputs(p), no = mcp_program_outputs(p), bad = 0;
    double *mem = block((size_t)mcp_program_memory(p)), *work = block(mcp_program_work(p)), x[16], y[16];
    memset(&state, 0xff, sizeof state);
    for (int b = 0; b < LANES; b++) {
        reset(&state);
        for (int t = 0; t < T && !bad; t++) {
            for (int i = 0; i < ni; i++) {
                x[i] = s.in[(t * ni + i) * LANES + b];
                if (single) x[i] = (double)(in.f[i] = (float)x[i]);
                else in.d[i] = x[i];
            }
            step(&state, &in, &out);
            mcp_program_step(p, s.theta, t == 0, x, mem, y, work);
            for (int i = 0; i < no && !bad; i++) {
                double got = single ? (double)out.f[i] : out.d[i], batch = s.out[(t * no + i) * LANES + b];
                double tol = single ? 2e-4 : 1e-14, size = fmax(1.0, fabs(y[i]));
                bad = !(fabs(got - y[i]) <= tol * size) ||
                      !(fabs(batch - y[i]) <= (single ? 1e-4 : 1e-12) * size);
                if (bad)
                    FAIL_("%s, %s %s, lane %d, sample %d, %s: printed %.17g, one sample %.17g, batch %.17g",
                          name, cc, single ? "float" : "double", b, t, mcp_program_output_name(p, i), got,
                          y[i], batch);
            }
        }
    }
    mcp_block_free(mem);
    mcp_block_free(work);
    dlclose(so);
done:
    sequence_free(&s);
    mcp_program_free(p);
}

CASE(printed_program_equals_one_sample_and_batch_run_in_double)
{
    const char *const cc[] = {"gcc", "clang"};
    for (int i = 0; i < 2; i++) {
        compare("everything", everything, cc[i], 0);
        compare("plain", plain, cc[i], 0);
        compare("last", last, cc[i], 0);
        compare("starts", starts, cc[i], 0);
    }
}

CASE(printed_program_in_float_is_close)
{
    compare("last", last, "gcc", 1);
    compare("starts", starts, "gcc", 1);
    compare("plain", plain, "clang", 1);
    compare("everything", everything, "clang", 1);
}

CASE(printing_refuses_what_c_cannot_hold)
{
    mcp_program       *p;
    char              *text;
    mcp_error          e = {MCP_OK, ""};
    double             theta[2] = {NAN, 0};
    mcp_print_settings s = {.prefix = "ctl"};
    REQUIRE_OK(program_of(&p, "param(gain, 1)*x1", err));
    CHECK(mcp_program_print_c(p, theta, &s, &text, &e) == MCP_ERR_NUMERIC);
    CHECK_HAS(e.text, "gain");
    CHECK(!text);
    theta[0] = 1.0;
    s.prefix = "my-rig";
    CHECK(mcp_program_print_c(p, theta, &s, &text, &e) == MCP_ERR_ARG);
    CHECK_HAS(e.text, "my-rig");
    mcp_program_free(p);
    REQUIRE_OK(program_of(&p, "1e300*x1", err));
    s.prefix = "ctl";
    s.single = 1;
    CHECK(mcp_program_print_c(p, theta, &s, &text, &e) == MCP_ERR_NUMERIC);
    CHECK_HAS(e.text, "float");
    mcp_program_free(p);
}

CASE(declarations_name_every_signal)
{
    mcp_program       *p;
    char              *text;
    mcp_print_settings s = {.prefix = "ctl", .single = 1};
    REQUIRE_OK(program_build(&p, last, err));
    REQUIRE_OK(mcp_program_print_declarations(p, &s, &text, err));
    CHECK_HAS(text, "in[0]  y");
    CHECK_HAS(text, "out[0] dy");
    CHECK_HAS(text, "void ctl_step(ctl_state *s, const float *in, float *out);");
    mcp_free(text);
    mcp_program_free(p);
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(printed_program_equals_one_sample_and_batch_run_in_double);
    RUN(printed_program_in_float_is_close);
    RUN(printing_refuses_what_c_cannot_hold);
    RUN(declarations_name_every_signal);
    return DONE();
}
