/* Planted faults: a pendulum that differs from its task in one way. The diagnosis must name the way, and its
 * remedy must help. docs/reading-the-report.md has the table. */
/* labels: slow */
#include "learn/diagnosis.h"
#include "learn/learner.h"
#include "learn/signs.h"
#include "math/rng.h"
#include "test.h"

/* The plant, in C: J theta'' = u - b theta' - m g l sin(theta), by small steps of the midpoint rule. */
typedef struct {
    double x[2], held[16];
    int    delay;         /* samples until a command takes effect    */
    double noise;         /* of the angle's sensor                   */
    double rate_sign;     /* -1: the velocity comes with a wrong sign */
    int    both;          /* 1: the velocity is measured too         */
    double other;         /* every second trial starts here          */
    int    nan_at;        /* sample that is no number, 0 = none      */
    int    trial, sample;
    uint64_t draws;
} pendulum;

enum { RATE = 20 };

static double normal(pendulum *p)
{
    double sum = 0; /* twelve uniforms: near enough to a bell for a sensor */
    for (int i = 0; i < 12; i++) {
        p->draws = p->draws * 6364136223846793005u + 1442695040888963407u;
        sum += (double)(p->draws >> 11) * 0x1p-53;
    }
    return sum - 6;
}

static void measure(pendulum *p, mcp_sample *s)
{
    s->time = p->sample / (double)RATE;
    s->truth[0] = p->x[0];
    s->truth[1] = p->x[1];
    s->measured[0] = p->x[0] + p->noise * normal(p);
    if (p->both) s->measured[1] = p->rate_sign * p->x[1] + 10 * p->noise * normal(p);
    if (p->nan_at && p->sample == p->nan_at && p->trial > 1) s->measured[0] = NAN;
}

static mcp_status reset(void *context, const double *x0, uint64_t seed, uint32_t trial, uint32_t run,
                        mcp_sample *first, mcp_error *err)
{
    pendulum *p = context;
    (void)seed, (void)run, (void)err;
    p->trial = (int)trial;
    memset(p->held, 0, sizeof p->held);
    p->x[0] = x0[0] + (trial % 2 ? p->other : 0);
    p->x[1] = x0[1];
    p->sample = 0;
    measure(p, first);
    return MCP_OK;
}

static double acceleration(double theta, double rate, double u)
{
    return (u - 0.02 * rate - 9.81 * 0.5 * sin(theta)) / 0.25;
}

static mcp_status step(void *context, const double *u, mcp_sample *next, mcp_error *err)
{
    pendulum *p = context;
    (void)err;
    memmove(p->held + 1, p->held, 15 * sizeof *p->held);
    p->held[0] = u[0];
    double now = p->held[p->delay], h = 1.0 / RATE / 50;
    for (int i = 0; i < 50; i++) {
        double th = p->x[0] + 0.5 * h * p->x[1], w = p->x[1] + 0.5 * h * acceleration(p->x[0], p->x[1], now);
        p->x[0] += h * w;
        p->x[1] += h * acceleration(th, w, now);
    }
    p->sample++;
    measure(p, next);
    return MCP_OK;
}

static mcp_status stop(void *context, const double *safe, mcp_error *err)
{
    (void)context, (void)safe, (void)err;
    return MCP_OK;
}

static const char task_text[] =
    "name: pendulum\nrate: 20\ntrial: 2.5\n"
    "state: {theta: {unit: rad, angle: yes}, dtheta: rad/s}\n"
    "inputs: {u: {limit: 2.5, unit: N m}}\n"
    "measured: {theta: 3e-3}\nobserver: difference\nsmoother: central-difference\n"
    "model: {velocities: {theta: dtheta}, features: [dtheta, sin(theta), cos(theta), u], kernel: se}\n"
    "policy: 2.5*tanh(rbf(50, dtheta, sin(theta), cos(theta))/2.5)\n"
    "cost: 1 - exp(-((abs(theta) - pi)/2)^2)\n"
    "start: {std: 0.01}\nexplore: {type: sines, frequency: [0.2, 2], amplitude: 0.2}\n"
    "success: {when: abs(abs(theta) - pi) < 0.3, last: 0.5}\n"
    "plant: {callback: yes}\n"
    "optimise: {particles: 64, candidates: 3, steps_first: 400, steps: 300}\n";

enum { TRIALS = 5 };

typedef struct {
    int           trials;
    mcp_diagnosis of[TRIALS];
    mcp_learn_info info[TRIALS];
    mcp_error     err;
} story;

/* Learns until a trial is solved as forecast, at most TRIALS; stop_solved 0: all of them. */
static void live(story *s, pendulum plant, int count, const char *const *set, int trials)
{
    static const mcp_plant_ops ops = {.reset = reset, .step = step, .stop = stop};
    mcp_task          *task = NULL;
    mcp_learner       *l = NULL;
    mcp_learn_settings q;
    memset(s, 0, sizeof *s);
    mcp_learn_settings_default(&q);
    q.plant = &ops;
    q.plant_context = &plant;
    q.threads = 2;
    if (!plant.noise) plant.noise = 3e-3;
    if (!plant.rate_sign) plant.rate_sign = 1;
    if (mcp_task_parse(&task, "task", task_text, (const char **)set, count, &s->err) != MCP_OK ||
        mcp_learner_create(&l, task, &q, &s->err) != MCP_OK) {
        printf("%s\n", s->err.text);
        mcp_task_free(task);
        return;
    }
    for (int i = 0; i < trials + 1; i++) {
        mcp_learn_info info;
        if (mcp_learner_trial(l, &info, &s->err) != MCP_OK) break;
        if (info.explored) continue;
        s->info[s->trials] = info;
        s->of[s->trials++] = mcp_run_trial(l->run, info.number)->diagnosis;
        if (getenv("TELL")) {
            int       k = s->trials - 1;
            mcp_signs g;
            mcp_signs_measure(&g, l->run, mcp_run_trial(l->run, info.number), l->fit);
            printf("  trial %d %s cost %.2f (%.2f +- %.2f, %.0f%%) noise %.2f corr %.2f late %.2f by %d lacking %.2f "
                   "smooth %.2f slope %.2f start %.1f obs %.2f\n    width %.2f %.2f %.2f %.2f inside %.2f %.2f "
                   "%.2f %.2f rate", k + 1, mcp_verdict_name(s->of[k].verdict), s->info[k].cost,
                   s->info[k].forecast_cost, s->info[k].forecast_std, 100 * s->info[k].forecast_success, g.noise,
                   g.correlation, g.late, g.late_by, g.lacking, g.smoothed, g.slope,
                   g.start_off, g.observer, g.width[0], g.width[1], g.width[2], g.width[3], g.inside[0], g.inside[1],
                   g.inside[2], g.inside[3]);
            for (int b = 0; b < MCP_COST_BINS; b++) printf(" %.2f", g.rate[b]);
            printf(" opt %.2f %.2f\n", s->info[k].cost_first, s->info[k].cost_last);
            for (int f = 0; f < s->of[k].findings; f++)
                printf("    [%s] %s\n", mcp_cause_name(s->of[k].finding[f].cause), s->of[k].finding[f].text);
            fflush(stdout);
        }
        if (s->of[s->trials - 1].verdict == MCP_VERDICT_SOLVED) break;
    }
    if (getenv("TELL") && s->err.text[0]) printf("  error: %s\n", s->err.text);
    mcp_learner_free(l);
    mcp_task_free(task);
}


#define N(a) ((int)(sizeof(a) / sizeof *(a)))
int main(int argc, char **argv)
{
    static const struct { const char *name; pendulum p; int n; const char *set[4]; } t[] = {
        {"none", {.delay = 0}, 0, {NULL}},
        {"delay", {.delay = 2}, 0, {NULL}},
        {"delay-fixed", {.delay = 2}, 1, {"inputs.u.delay=2"}},
        {"sign", {.both = 1, .rate_sign = -1}, 3, {"measured={theta: 3e-3, dtheta: 3e-2}", "observer=none", "smoother=none"}},
        {"sign-fixed", {.both = 1}, 3, {"measured={theta: 3e-3, dtheta: 3e-2}", "observer=none", "smoother=none"}},
        {"sensor", {.noise = 0.06}, 0, {NULL}},
        {"sensor-fixed", {.noise = 0.06}, 1, {"measured.theta=0.06"}},
        {"narrow", {.delay = 0}, 1, {"cost=1 - exp(-((abs(theta) - pi)/0.2)^2)"}},
        {"short", {.delay = 0}, 1, {"trial=0.9"}},
        {"long", {.noise = 0.03}, 2, {"trial=10", "measured.theta=0.03"}},
        {"long-fixed", {.noise = 0.03}, 1, {"measured.theta=0.03"}},
        {"policy", {.delay = 0}, 1, {"policy=2.5*tanh(param(a, 0.1)*theta + param(b, 0.1)*dtheta)"}},
        {"feature", {.delay = 0}, 1, {"model.features=[dtheta, u]"}},
        {"smoother", {.delay = 0}, 1, {"smoother={type: butterworth, cutoff: 0.05, order: 2}"}},
        {"limit", {.delay = 0}, 1, {"limits={far: abs(theta) > 3.6}"}},
        {"limit-fixed", {.delay = 0}, 2, {"limits={far: abs(theta) > 3.6}", "cost=1 - exp(-((abs(theta) - pi)/2)^2) + 2*max(abs(theta) - 3.2, 0)"}},
        {"nan", {.nan_at = 20}, 0, {NULL}},
        {"starts", {.other = 1.5}, 0, {NULL}},
        {"starts-fixed", {.other = 1.5}, 1, {"start={mixture: [{mean: [0, 0], std: 0.01}, {mean: [1.5, 0], std: 0.01}]}"}},
    };
    story s; (void)test_only_; (void)test_cases_;
    for (int i = 0; i < N(t); i++) {
        if (argc > 1 && strcmp(argv[1], t[i].name)) continue;
        printf("%s\n", t[i].name);
        live(&s, t[i].p, t[i].n, t[i].set, 3);
    }
    return 0;
}
