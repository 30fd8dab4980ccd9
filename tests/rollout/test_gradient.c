/* test_gradient.c - the adjoint against central differences through whole rollouts: every observer, kernel,
 * policy, delay, start distribution and kind of transition. Every learnable parameter is moved. */
#include "fixture.h"

typedef struct {
    int    steps, true_state, noisy, antithetic;
    double dropout;
} options;

static double J_of(mcp_rollout *r, const fixture *f, const options *o, const double *theta, double *gradient,
                   mcp_error *err)
{
    mcp_stream_noise stream = {.system = f->system,
                               .seed = 5,
                               .trial = 2,
                               .step = 9,
                               .dropout = o->dropout,
                               .antithetic = o->antithetic};
    mcp_noise          noise = mcp_noise_from_stream(&stream);
    mcp_rollout_result result = {.gradient = gradient};
    if (mcp_rollout_run(r, theta, o->dropout, &noise, &result, err) != MCP_OK) return NAN;
    return result.J;
}

static void compare(const char *what, const fixture *f, mcp_rollout *r, const options *o)
{
    const double h = 2e-5;
    mcp_error    err = {MCP_OK, ""};
    double *g = mcp_calloc(2 * (size_t)f->params + 1, sizeof *g), *theta = g + f->params, largest = 0.0,
           worst = 0.0;
    int          at = -1;
    memcpy(theta, f->theta, (size_t)f->params * sizeof *theta);
    if (!isfinite(J_of(r, f, o, theta, g, &err))) {
        FAIL_("%s: %s", what, err.text);
        mcp_free(g);
        return;
    }
    for (int i = 0; i < f->params; i++) largest = fmax(largest, fabs(g[i]));
    for (int i = 0; i < f->params; i++) {
        double keep = theta[i];
        theta[i] = keep + h;
        double up = J_of(r, f, o, theta, NULL, &err);
        theta[i] = keep - h;
        double down = J_of(r, f, o, theta, NULL, &err);
        theta[i] = keep;
        double e = fabs((up - down) / (2.0 * h) - g[i]);
        if (!(e <= worst)) {
            worst = e;
            at = i;
        }
    }
    if (!(largest > 1e-5))
        FAIL_("%s: the gradient is nothing (largest %g): this shows nothing", what, largest);
    if (!(worst <= 1e-7 * largest + 1e-10)) /* the differences' own rounding, eps J/h, is about 4e-11 */
        FAIL_("%s: parameter %d off by %g, largest entry %g", what, at, worst, largest);
    mcp_free(g);
}

static void check(const char *what, const parts *p, const options *o)
{
    fixture              f = {0};
    mcp_rollout         *r = NULL;
    mcp_error            err = {MCP_OK, ""};
    const int            steps = o->steps ? o->steps : 7;
    mcp_rollout_settings set = {.particles = 13,
                                .steps = steps,
                                .true_state = o->true_state,
                                .noisy = o->noisy};
    mcp_status           st = fixture_make(&f, p, steps < 3 ? 3 : steps, 20, &err);
    if (st == MCP_OK) st = mcp_rollout_create(&r, f.system, f.posterior, &set, NULL, &err);
    if (st != MCP_OK) FAIL_("%s: %s", what, err.text);
    else compare(what, &f, r, o);
    mcp_rollout_free(r);
    fixture_free(&f);
}

#define WITH(...) (&(const options){__VA_ARGS__})
#define USUAL WITH(.dropout = 0.25)
#define GRADIENT(what, options_, ...) check(what, &(const parts){__VA_ARGS__}, options_)

CASE(observers_have_the_right_adjoint)
{
    static const char *observer[] = {
        "{type: difference}",
        "{type: difference, lowpass: 0.5}",
        "{type: difference, lowpass: 0.3, order: 3}",
        "{type: difference, lowpass: 0.4, order: 4}",
        "auto",
        "{type: kalman, drive: 2.0}",
        "{type: kalman, drive: 2.0, steady: yes}",
        "{type: kalman, drive: {p: 20, theta: 50}, acceleration: yes}",
        "{type: kalman, drive: 20, acceleration: yes, steady: yes}",
        "{type: kalman, gains: {p: [0.62, 6.1], theta: [0.5, 4]}}",
        ("{type: custom, memory: {a: {start: y_p, next: a + 0.5*(y_p - a) + 0.01*last_u}, b: {start: 0, "
         "next: dtheta}}, "
         "output: {p: a, dp: (y_p - a)/Ts, dtheta: 0.6*b + 0.4*(y_theta - prev(y_theta))/Ts}}"),
    };
    for (size_t i = 0; i < sizeof observer / sizeof *observer; i++)
        GRADIENT(observer[i], USUAL, .observer = observer[i]);
    GRADIENT("none, full state", USUAL, .observer = "none",
             .measured = "{p: 0.01, dp: 0.1, theta: 0.01, dtheta: 0.1}");
    GRADIENT("mc-pilco", WITH(.dropout = 0.25, .true_state = 1), .observer = NULL);
    GRADIENT("wrapping angle sensor", USUAL, .measured = "{p: 0.01, theta: {noise: 0.01, wraps: yes}}");
}

#define CAMERA "{p: 0.01, tx: {of: p + 0.5*sin(theta), noise: 0.01}, ty: {of: -0.5*cos(theta), noise: 0.01}, "
CASE(sensors_of_expressions_have_the_right_adjoint)
{
    static const char *observer[] = {"difference", "auto", "{type: kalman, drive: 2.0}"};
    for (size_t i = 0; i < sizeof observer / sizeof *observer; i++)
        GRADIENT(observer[i], USUAL, .observer = observer[i],
                 .measured = CAMERA "theta: {from: 'atan2(y_tx - y_p, -y_ty)', wraps: yes}}");
    GRADIENT("beyond a half turn", USUAL,
             .measured = CAMERA "theta: {from: 'atan2(y_tx - y_p, -y_ty)', wraps: yes}}",
             .start = "{mean: [0.1, 0, 4.0, -0.2], std: 0.1}");
    GRADIENT("delayed", USUAL,
             .measured = "{p: {noise: 0.01, delay: 1}, s: {of: p + theta, noise: 0.01, delay: 1}, "
                         "theta: {from: y_s - y_p}}");
    GRADIENT("a custom observer of a distance", USUAL,
             .measured = "{p: 0.01, d: {of: 'sqrt(1 + p^2 + theta^2) + 0.1*prev(p)', noise: 0.01}}",
             .observer = "{type: custom, memory: {a: {start: 0.4, next: theta}}, output: {theta: a + "
                         "0.3*(y_d - sqrt(1 + y_p^2 + a^2)), dp: (y_p - prev(y_p))/Ts, "
                         "dtheta: (y_d - prev(y_d))/Ts}}");
}

CASE(kernels_have_the_right_adjoint)
{
    static const char *kernel[] = {"se",
                                   "se + mp(2)",
                                   "pi(sin(theta), u*cos(theta), dtheta^2*sin(theta)) + se",
                                   "matern52",
                                   "matern32",
                                   "rq",
                                   "se*linear(u, sin(theta))",
                                   "se(p, dp)*matern52(dtheta, u) + linear(u)"};
    for (size_t i = 0; i < sizeof kernel / sizeof *kernel; i++)
        GRADIENT(kernel[i], USUAL, .kernel = kernel[i]);
    GRADIENT("one kernel each", USUAL,
             .kernel = "{dp: se + linear(u), dtheta: \"pi(sin(theta), u*cos(theta)) + se\"}");
}

CASE(policies_have_the_right_adjoint)
{
    static const char *policy[] = {
        "3*tanh(rbf(5, p, dp, dtheta, cos(theta), sin(theta)))",
        "3*tanh(mlp(6, 4, p, dp, dtheta, sin(theta)))",
        "3*tanh(param(kp, 0.4)*p + param(kd, 0.3)*dp + param(kt, 0.5)*sin(theta) - param(kw, 0.2)*dtheta)",
        "3*tanh(rbf(3, p, dp) + param(k, 0.2)*prev(theta))",
        "1.5*rbf(4, p, dp, theta, dtheta)",
        "3*tanh(rbf(5, p, dp) + rbf(1, p, dp, sin(theta))*linear(p, dp, sin(theta)))",
    };
    for (size_t i = 0; i < sizeof policy / sizeof *policy; i++)
        GRADIENT(policy[i], USUAL, .policy = policy[i]);
}

CASE(delays_slew_and_resolution_have_the_right_adjoint)
{
    GRADIENT("sensor delay", USUAL,
             .measured = "{p: {noise: 0.01, delay: 2}, theta: {noise: 0.02, delay: 1}}");
    GRADIENT("quantised sensor", USUAL, .measured = "{p: {resolution: 0.02}, theta: {noise: 0.02}}");
    GRADIENT("actuator delay", USUAL, .inputs = "{u: {limit: 3, delay: 2}}");
    GRADIENT("slew limit", USUAL, .inputs = "{u: {limit: 3, slew: 2.7}}");
    GRADIENT("cost of the input", USUAL, .cost = "1 - exp(-(theta - 1)^2) + 0.05*u^2 + 0.02*(u - prev(u))^2");
}

/* Two motors whose angles are known from the commands, a learned velocity and a plain learned change. */
static const parts plate = {
    .more = "state: [x, v, th, w]\nplant: {ode: {v: 5*sin(th), th: 0, w: u}}\noptimise: {}",
    .inputs = "{u: {limit: 0.5}, a: {limit: 1, delay: 1}}",
    .measured = "{x: 0.01, w: 0.01}",
    .model_more =
        "  velocities: {x: v}\n  changes: [w]\n  known: {th: \"clamp(th + 0.2*u + 0.1*a, -0.6, 0.6)\"}\n"
        "  features: [x, v, w, sin(th), (th - prev(th))/Ts, u, a]",
    .policy =
        "{u: \"0.5*tanh(rbf(4, x, v, th, prev(th), w)[1])\", a: \"tanh(rbf(4, x, v, th, prev(th), w)[2])\"}",
    .cost = "1 - exp(-x^2 - th^2 - 0.3*w^2)",
    .start = "{low: [-0.5, 0, -0.1, -0.2], high: [0.5, 0, 0.1, 0.2]}",
};

CASE(known_transitions_and_plain_changes_have_the_right_adjoint)
{
    check("plate", &plate, USUAL);
    parts kalman = plate;
    kalman.observer = "{type: kalman, drive: 5}";
    check("plate with Kalman filter", &kalman, USUAL);
    check("plate, true state", &plate, WITH(.true_state = 1));
}

/* smoother: auto carries the input before from step to step, in the features alone. */
CASE(the_input_before_has_the_right_adjoint)
{
    GRADIENT("auto", USUAL, .observer = "difference\nsmoother: auto");
    GRADIENT("auto, physical features", USUAL, .observer = "difference\nsmoother: auto",
             .kernel = "pi(sin(theta), u*cos(theta), dtheta^2*sin(theta)) + se");
    parts mixed = plate;
    mixed.observer = "difference\nsmoother: auto";
    check("auto beside a measured state, two inputs", &mixed, USUAL);
}

CASE(prior_mean_noise_and_starts_have_the_right_adjoint)
{
    GRADIENT("prior mean", USUAL,
             .model_more = "  velocities: {p: dp, theta: dtheta}\n  prior_mean: {dtheta: Ts*(u - "
                           "sin(theta))}\n  features: [p, dp, dtheta, sin(theta), cos(theta), u]");
    GRADIENT("noisy variance", WITH(.noisy = 1, .dropout = 0.25), .observer = NULL);
    GRADIENT("no dropout", WITH(.dropout = 0.0), .observer = NULL);
    GRADIENT("one step", WITH(.steps = 1), .observer = NULL);
    GRADIENT("uniform start", USUAL, .start = "{low: [-0.3, 0, -1, 0], high: [0.3, 0.1, 1, 0]}");
    GRADIENT("mixture start", USUAL,
             .start = "{mixture: [{weight: 1, mean: [0, 0, 0, 0], std: 0.05}, {weight: 2, mean: [0.2, 0, 1, "
                      "0], std: 0.1}]}");
    GRADIENT("antithetic", WITH(.antithetic = 1, .dropout = 0.25), .observer = NULL);
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(observers_have_the_right_adjoint);
    RUN(sensors_of_expressions_have_the_right_adjoint);
    RUN(kernels_have_the_right_adjoint);
    RUN(policies_have_the_right_adjoint);
    RUN(delays_slew_and_resolution_have_the_right_adjoint);
    RUN(known_transitions_and_plain_changes_have_the_right_adjoint);
    RUN(the_input_before_has_the_right_adjoint);
    RUN(prior_mean_noise_and_starts_have_the_right_adjoint);
    return DONE();
}
