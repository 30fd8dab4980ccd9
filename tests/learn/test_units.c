/* Rescaling any state, input, cost or the time of a task changes nothing but rounding: short runs of the
 * tasks in tests/units, every unit from 10^-6 to 10^6 times as large. */
#include "learn/learner.h"
#include "task/task_data.h"
#include "test.h"

enum { TRIALS = 2, EXPLORED = 1 };
static const char *const quick[] = {
    "optimise.particles=16",     "optimise.evaluate_particles=16", "optimise.steps_first=30",
    "optimise.steps=30",         "optimise.candidates=0",          "optimise.second_try=0",
    "optimise.start_particles=1", "optimise.evaluate_every=8",     "optimise.precision=double",
    "optimise.stop_rule=schedule",
    "optimise.epsilon=1e-5", /* the stage rounds at 1e-7 of a gradient: Adam must not make steps of that */
};
enum { QUICK = (int)(sizeof quick / sizeof *quick), MORE = 2 };
/* A policy that begins as a regulator begins near its optimum, where the gradient is a hundred times smaller
 * and what the model rounds (1e-9 of a cost, on the stage) a hundred times larger beside it. So whole
 * optimisations are compared without it, and where they begin with it. */
static const char *const ways[][MORE] = {{"optimise.regulator=no", NULL},
                                         {"optimise.steps_first=1", "optimise.steps=1"}};

typedef struct {
    const char *name;
    double      rate, trial; /* what is in the file, and a shorter trial */
    int         items;       /* exploration and trials that are compared */
    const char *units;       /* constants that may be rescaled, besides kt */
} system_in_units;
static const system_in_units systems[] = {
    {"pendulum", 20.0, 1.0, 3, "kq ku kc"},
    {"cartpole", 30.0, 1.2, 3, "kp kq ku kc"},
    {"crane", 10.0, 4.0, 3, "kp kq ku kc"},
    {"stage", 500.0, 0.12, 2, "kp ku kc"},
};

/* What a run came to, costs in units of kc. */
typedef struct {
    double cost[EXPLORED + TRIALS], forecast[EXPLORED + TRIALS], last[EXPLORED + TRIALS];
    int    success[EXPLORED + TRIALS];
} curve;

/* Learns the system with these overrides; scale: kc. */
static int learn(const system_in_units *s, const char *const *way, const char *change, double kt,
                 double scale, curve *out)
{
    char               rate[64], trial[64], path[256];
    const char        *set[QUICK + MORE + 3];
    int                count = 0, ok;
    mcp_task          *task = NULL;
    mcp_learner       *l = NULL;
    mcp_error          err = {0};
    mcp_learn_settings settings;
    snprintf(rate, sizeof rate, "rate=%.17g", s->rate / kt);
    snprintf(trial, sizeof trial, "trial=%.17g", s->trial * kt);
    snprintf(path, sizeof path, TEST_SOURCE_DIR "/tests/units/%s.yaml", s->name);
    for (int i = 0; i < QUICK; i++) set[count++] = quick[i];
    for (int i = 0; i < MORE && way[i]; i++) set[count++] = way[i];
    if (change) set[count++] = change;
    set[count++] = rate;
    set[count++] = trial;
    mcp_learn_settings_default(&settings);
    settings.threads = 1;
    settings.seed = 3;
    ok = mcp_task_load(&task, path, set, count, &err) == MCP_OK &&
         mcp_learner_create(&l, task, &settings, &err) == MCP_OK;
    for (int i = 0; ok && i < s->items; i++) {
        const mcp_learn_info *info;
        ok = mcp_learner_trial(l, &info, &err) == MCP_OK;
        if (!ok) break;
        out->cost[i] = info->cost / scale;
        out->forecast[i] = i < EXPLORED ? 0.0 : info->forecast_cost / scale;
        out->last[i] = i < EXPLORED ? 0.0 : info->cost_last / scale;
        out->success[i] = info->success;
    }
    if (!ok) FAIL_("%s: %s", s->name, err.text);
    mcp_learner_free(l);
    mcp_task_free(task);
    return ok;
}

/* Rounding differs, and an unstable motion and Adam let it grow: costs to a part in a thousand say that the
 * runs are the same. A constant with units leads to another policy, and costs that differ by per cents. */
static void same_curve(const system_in_units *s, const char *unit, double k, const curve *a, const curve *b)
{
    const char  *name = s->name;
    const double most = 1e-3;
    for (int i = 0; i < s->items; i++) {
        int same = fabs(a->cost[i] - b->cost[i]) <= most * fabs(a->cost[i]) &&
                   fabs(a->forecast[i] - b->forecast[i]) <= most * fabs(a->forecast[i]) &&
                   fabs(a->last[i] - b->last[i]) <= most * fabs(a->last[i]) &&
                   a->success[i] == b->success[i];
        if (getenv("UNITS_SHOW"))
            printf("%-8s %s x %-8g trial %d: cost %.3g %.3g forecast %.3g optimised %.3g\n", name, unit, k, i,
                   a->cost[i], b->cost[i] / a->cost[i] - 1, b->forecast[i] / a->forecast[i] - 1,
                   b->last[i] / a->last[i] - 1);
        if (!same)
            FAIL_("%s with %s x %g, trial %d: cost %.9g, %.9g; forecast %.9g, %.9g; optimised %.9g, %.9g",
                  name, unit, k, i, a->cost[i], b->cost[i], a->forecast[i], b->forecast[i], a->last[i],
                  b->last[i]);
    }
}

static void rescale(const system_in_units *s, const char *const *way, const curve *plain, const char *unit,
                    double k)
{
    char  text[64];
    curve now;
    snprintf(text, sizeof text, "constants.%s=%.17g", unit, k);
    if (learn(s, way, text, strcmp(unit, "kt") ? 1.0 : k, strcmp(unit, "kc") ? 1.0 : k, &now))
        same_curve(s, unit, k, plain, &now);
}

static void every_unit(const system_in_units *s)
{
    static const double factor[] = {1e-6, 1e3, 1e6};
    curve               plain;
    char                units[64];
    for (int way = 0; way < 2; way++) {
        if (!learn(s, ways[way], NULL, 1.0, 1.0, &plain)) return;
        snprintf(units, sizeof units, "%s kt", s->units);
        for (char *rest = units, *unit; (unit = strtok_r(rest, " ", &rest));)
            for (size_t i = 0; i < sizeof factor / sizeof *factor; i++)
                rescale(s, ways[way], &plain, unit, factor[i]);
    }
}

CASE(pendulum_learns_alike_in_all_units) { every_unit(&systems[0]); }
CASE(cartpole_learns_alike_in_all_units) { every_unit(&systems[1]); }
CASE(crane_learns_alike_in_all_units) { every_unit(&systems[2]); }
CASE(stage_learns_alike_in_all_units) { every_unit(&systems[3]); }

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(pendulum_learns_alike_in_all_units);
    RUN(cartpole_learns_alike_in_all_units);
    RUN(crane_learns_alike_in_all_units);
    RUN(stage_learns_alike_in_all_units);
    return DONE();
}
