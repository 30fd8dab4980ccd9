/* test_faults.c - planted faults: a pendulum that differs from its task in one way. The diagnosis must name
 * the way, and its remedy must help. docs/reading-the-report.md has the table. */
/* labels: slow */
#include "learn/diagnosis.h"
#include "learn/learner.h"
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

enum { TRIALS = 4, SETS = 4 };

/* What a run was told. */
typedef struct {
    int           trials;
    mcp_diagnosis of[TRIALS];
    mcp_error     err;
} story;

static int named(const story *s, mcp_cause cause)
{
    for (int i = 0; i < s->trials; i++)
        if (s->of[i].findings && s->of[i].finding[0].cause == cause) return 1;
    return 0;
}

static int solved(const story *s)
{
    return s->trials && mcp_verdict_is_good(s->of[s->trials - 1].verdict);
}

/* Whatever else it says: a forecast that is four deviations off is not called right. */
static void check_never_right(const mcp_diagnosis *d)
{
    if (fabs(d->deviations) < 4) return;
    CHECK(d->verdict != MCP_VERDICT_SOLVED && d->verdict != MCP_VERDICT_AS_FORECAST &&
          d->verdict != MCP_VERDICT_COST_AS_FORECAST && d->verdict != MCP_VERDICT_UNFORESEEN);
    CHECK(!strstr(d->text, "model is right") && !strstr(d->text, "predicted it"));
}

/* Learns until a trial is solved as forecast or, with a cause, until a diagnosis names it first. */
static void learn(story *s, pendulum plant, const char *const *set, mcp_cause until)
{
    static const mcp_plant_ops ops = {.reset = reset, .step = step, .stop = stop};
    mcp_task          *task = NULL;
    mcp_learner       *l = NULL;
    mcp_learn_settings q;
    int                count = 0;
    memset(s, 0, sizeof *s);
    while (count < SETS && set[count]) count++;
    if (!plant.noise) plant.noise = 3e-3;
    if (!plant.rate_sign) plant.rate_sign = 1;
    mcp_learn_settings_default(&q);
    q.plant = &ops;
    q.plant_context = &plant;
    q.threads = 2;
    if (mcp_task_parse(&task, "task", task_text, (const char **)set, count, &s->err) != MCP_OK ||
        mcp_learner_create(&l, task, &q, &s->err) != MCP_OK)
        FAIL_("%s", s->err.text);
    while (l && s->trials < TRIALS) {
        const mcp_learn_info *info;
        if (mcp_learner_trial(l, &info, &s->err) != MCP_OK) break;
        if (info->explored) continue;
        const mcp_diagnosis *d = &mcp_run_trial(l->run, info->number)->diagnosis;
        s->of[s->trials++] = *d;
        check_never_right(d);
        printf("  trial %d: %s\n", s->trials, d->text);
        for (int i = 0; i < d->findings; i++)
            printf("    [%s] %s -> %s\n", mcp_cause_name(d->finding[i].cause), d->finding[i].text,
                   d->finding[i].remedy);
        fflush(stdout);
        if (d->verdict == MCP_VERDICT_SOLVED || (until && named(s, until))) break;
    }
    mcp_learner_free(l);
    mcp_task_free(task);
}

#define BOTH "measured={theta: 3e-3, dtheta: 3e-2}", "observer=none", "smoother=none"

typedef struct {
    const char *name;
    mcp_cause   cause;
    pendulum    plant;
    const char *set[SETS];
    const char *word;      /* in the remedy */
    pendulum    mended;    /* plant and task as the remedy makes them */
    const char *remedy[SETS];
} fault;

static const fault faults[] = {
    {"wrong_delay", MCP_CAUSE_DELAY, {.delay = 2}, {NULL}, "delay: 2", {.delay = 2}, {"inputs.u.delay=2"}},
    {"wrong_sign",
     MCP_CAUSE_SIGN,
     {.both = 1, .rate_sign = -1},
     {BOTH},
     "Reverse the sign of dtheta",
     {.both = 1},
     {BOTH}},
    {"sensor_worse_than_stated",
     MCP_CAUSE_SENSOR,
     {.noise = 0.03},
     {NULL},
     "measured:",
     {.noise = 0.03},
     {"measured.theta=0.03"}},
    {"too_narrow_cost",
     MCP_CAUSE_FLAT_COST,
     {.delay = 0},
     {"cost=1 - exp(-((abs(theta) - pi)/0.002)^2)"},
     "Widen",
     {.delay = 0},
     {"cost=1 - exp(-((abs(theta) - pi)/2)^2)"}},
    {"too_short_horizon",
     MCP_CAUSE_SHORT_TRIAL,
     {.delay = 0},
     {"trial=0.9"},
     "Lengthen trial",
     {.delay = 0},
     {"trial=2.5"}},
    {"too_long_horizon",
     MCP_CAUSE_LONG_TRIAL,
     {.noise = 0.01},
     {"trial=10", "measured.theta=0.01"},
     "Shorten trial",
     {.noise = 0.01},
     {"trial=3", "measured.theta=0.01"}},
    {"weak_policy",
     MCP_CAUSE_POLICY,
     {.delay = 0},
     {"policy=2.5*tanh(param(a, 0.1)*theta + param(b, 0.1)*dtheta)"},
     "more basis functions",
     {.delay = 0},
     {"policy=2.5*tanh(rbf(50, dtheta, sin(theta), cos(theta))/2.5)"}},
    {"missing_feature",
     MCP_CAUSE_FEATURE,
     {.delay = 0},
     {"model.features=[dtheta, u]"},
     "Add sin(theta) and cos(theta)",
     {.delay = 0},
     {"model.features=[dtheta, sin(theta), cos(theta), u]"}},
    {"poor_smoother",
     MCP_CAUSE_SMOOTHER,
     {.delay = 0},
     {"smoother={type: butterworth, cutoff: 0.05, order: 2}"},
     "central-difference",
     {.delay = 0},
     {"smoother=central-difference"}},
    {"limit_hit",
     MCP_CAUSE_LIMIT,
     {.delay = 0},
     {"limits={far: abs(theta) > 3.17}"},
     "cost rise before the limit",
     {.delay = 0},
     {"limits={far: abs(theta) > 3.17}",
      "cost=1 - exp(-((abs(theta) - pi)/2)^2) + 2*max(abs(theta) - 3.1, 0)"}},
    {"mixture_of_starts",
     MCP_CAUSE_START,
     {.other = 1.5},
     {NULL},
     "mixture:",
     {.other = 1.5},
     {"start={mixture: [{mean: [0, 0], std: 0.01}, {mean: [1.5, 0], std: 0.01}]}"}},
};

static void plant_fault(const fault *f)
{
    story faulty, mended;
    learn(&faulty, f->plant, f->set, f->cause);
    CHECK(named(&faulty, f->cause));
    for (int i = 0; i < faulty.trials; i++)
        if (faulty.of[i].findings && faulty.of[i].finding[0].cause == f->cause)
            CHECK_HAS(mcp_diagnosis_remedy(&faulty.of[i]), f->word);
    printf("  mended:\n");
    learn(&mended, f->mended, f->remedy, MCP_CAUSE_NONE);
    CHECK(solved(&mended)); /* the first model may still be too wide; the last has nothing to name */
    if (mended.trials) CHECK(!mended.of[mended.trials - 1].findings ||
                             mended.of[mended.trials - 1].finding[0].cause != f->cause);
}

/* A number that is none ends the trial with a sentence; without it the run goes on and is solved. */
CASE(not_a_number)
{
    static const char *const none[SETS] = {NULL};
    story s;
    learn(&s, (pendulum){.nan_at = 20}, none, MCP_CAUSE_NONE);
    CHECK_HAS(s.err.text, "theta = nan at sample 20");
    learn(&s, (pendulum){.delay = 0}, none, MCP_CAUSE_NONE);
    CHECK(solved(&s));
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        if (test_only_ && strcmp(test_only_, faults[i].name)) continue;
        int before = test_failures_;
        test_name_ = faults[i].name;
        test_cases_++;
        plant_fault(&faults[i]);
        if (test_failures_ == before) printf("ok   %s\n", faults[i].name);
    }
    RUN(not_a_number);
    return DONE();
}
