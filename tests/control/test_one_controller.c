/* test_one_controller.c - one controller, three uses: over a batch of particles, one sample at a time, and
 * compiled from the printed C. Same measurements in, same numbers out, for every kind of observer, limit and
 * delay. */
#include <dlfcn.h>
#include <unistd.h>

#include "../rollout/fixture.h"

enum { SAMPLES = 40, OUT_MOST = 16 };

typedef void reset_fn(void *);
typedef void step_fn(void *, const double *, double *);

static void *compile(const mcp_program *p, const double *theta)
{
    char               file[64], command[400], *text = NULL;
    mcp_print_settings set = {.prefix = "ctl"};
    mcp_error          err = {MCP_OK, ""};
    void              *so = NULL;
    if (mcp_program_print_c(p, theta, &set, &text, &err) != MCP_OK) {
        FAIL_("%s", err.text);
        return NULL;
    }
    snprintf(file, sizeof file, "controller-%ld.c", (long)getpid());
    FILE *f = fopen(file, "w");
    if (f) {
        fputs(text, f);
        fclose(f);
    }
    mcp_free(text);
    snprintf(command, sizeof command, "cc -std=c99 -O1 -ffp-contract=off -shared -fPIC -o ./%s.so %s -lm",
             file, file);
    if (f && system(command) == 0) {
        snprintf(command, sizeof command, "./%s.so", file);
        so = dlopen(command, RTLD_NOW | RTLD_LOCAL);
        unlink(command);
    }
    if (!so) FAIL_("the printed controller does not compile");
    unlink(file);
    return so;
}

/* Largest difference of the three, in units of max(1, |value|). */
static void compare(const char *what, const parts *given)
{
    fixture   f = {0};
    mcp_error err = {MCP_OK, ""};
    if (fixture_make(&f, given, 20, 8, &err) != MCP_OK) {
        FAIL_("%s: %s", what, err.text);
        return;
    }
    const mcp_program *p = f.system->controller;
    const int          ni = mcp_program_inputs(p), no = mcp_program_outputs(p), L = MCP_LANES;
    size_t             slots = (size_t)mcp_program_memory(p), lanes = (size_t)L, n = 0;
    void              *block = NULL, *so = compile(p, f.theta);
    n = (size_t)(ni + no) * lanes + 2 * (slots + 1) * lanes + mcp_program_tape(p, L) + 8 + slots +
        mcp_program_work(p);
    if (!so || mcp_block_alloc(&block, (n + 64) * sizeof(double), &err) != MCP_OK) {
        fixture_free(&f);
        return;
    }
    double *in = block, *out = in + (size_t)ni * lanes, *mem = out + (size_t)no * lanes,
           *next = mem + (slots + 1) * lanes;
    double *tape = next + (slots + 1) * lanes, *one = tape + (mcp_program_tape(p, L) + 7) / 8 * 8,
           *work = one + slots;
    double  state[256], x[OUT_MOST], y[OUT_MOST], printed[OUT_MOST], worst = 0.0;
    reset_fn *reset;
    step_fn  *step;
    *(void **)&reset = dlsym(so, "ctl_reset");
    *(void **)&step = dlsym(so, "ctl_step");
    mcp_rand r = mcp_rand_make(8, 1, 1, MCP_RNG_OTHER);
    reset(state);
    for (int t = 0; t < SAMPLES; t++) {
        for (int i = 0; i < ni; i++)
            for (int j = 0; j < L; j++) in[i * L + j] = sin(0.2 * t + i) + 0.3 * mcp_rand_normal(&r);
        for (int i = 0; i < ni; i++) x[i] = in[i * L + 3];
        mcp_batch_call c = {.program = p, .level = mcp_isa_level(), .theta = f.theta, .first = t == 0,
                            .n = L, .ld = L, .in = in, .mem = mem, .tape = tape, .out = out, .next = next};
        mcp_batch_forward(&c);
        mcp_program_step(p, f.theta, t == 0, x, one, y, work);
        step(state, x, printed);
        for (int i = 0; i < no; i++) {
            double size = fmax(1.0, fabs(y[i])), a = fabs(out[i * L + 3] - y[i]) / size,
                   b = fabs(printed[i] - y[i]) / size;
            if (!(a <= worst)) worst = a;
            if (!(b <= worst)) worst = b;
        }
        double *swap = mem;
        mem = next;
        next = swap;
    }
    if (!(worst <= 1e-12)) FAIL_("%s: differs by %g", what, worst);
    dlclose(so);
    mcp_block_free(block);
    fixture_free(&f);
}

CASE(batch_one_sample_and_printed_c_agree_for_every_observer)
{
    static const char *observer[] = {
        "{type: difference}",
        "{type: difference, lowpass: 0.3, order: 4}",
        "{type: kalman, drive: 2.0}",
        "{type: kalman, drive: 20, acceleration: yes}",
        "{type: kalman, drive: 2.0, steady: yes}",
        ("{type: custom, memory: {a: {start: y_p, next: a + 0.5*(y_p - a) + 0.01*last_u}}, "
         "output: {p: a, dp: (y_p - a)/Ts, dtheta: (y_theta - prev(y_theta))/Ts}}"),
    };
    for (size_t i = 0; i < sizeof observer / sizeof *observer; i++)
        compare(observer[i], &(const parts){.observer = observer[i]});
}

CASE(batch_one_sample_and_printed_c_agree_with_limits_delays_and_known_states)
{
    compare("slew, delay, wraps", &(const parts){.inputs = "{u: {limit: 3, slew: 5, delay: 2}}",
                                                 .measured = "{p: 0.01, theta: {noise: 0.01, wraps: yes}}"});
    compare("mlp", &(const parts){.policy = "3*tanh(mlp(6, 4, p, dp, dtheta, sin(theta)))"});
    compare(
        "plate",
        &(const parts){
            .more = "state: [x, v, th]\nplant: {ode: {v: th, th: 0}}",
            .inputs = "{u: {limit: 0.5, delay: 1}}",
            .measured = "{x: 0.01}",
            .model_more =
                "  velocities: {x: v}\n  known: {th: \"clamp(th + u, -1, 1)\"}\n  features: [x, v, th, u]",
            .policy = "0.5*tanh(rbf(7, x, v, th, prev(th)))",
            .cost = "x^2",
            .start = "{mean: [0, 0, 0.2], std: 0.01}"});
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(batch_one_sample_and_printed_c_agree_for_every_observer);
    RUN(batch_one_sample_and_printed_c_agree_with_limits_delays_and_known_states);
    return DONE();
}
