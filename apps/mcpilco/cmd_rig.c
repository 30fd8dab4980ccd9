/* cmd_rig.c - mcpilco rig: before learning, find out gently what a plant is like, and whether the task file
 * says so. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "control/system.h"
#include "math/arena.h"
#include "options.h"
#include "realtime.h"
#include "rig_view.h"
#include "term.h"

typedef struct {
    const char        *file, *reference;
    double             seconds;
    int                yes, json, realtime;
    mcp_probe_settings probe;
    option_list        set;
} choices;

static int is_wire(const mcp_task *task)
{
    mcp_plant_type t = task->plant.type;
    return t == MCP_PLANT_EXEC || t == MCP_PLANT_UDP || t == MCP_PLANT_TCP || t == MCP_PLANT_SERIAL;
}

static int is_simulated(const mcp_task *task)
{
    return task->plant.type == MCP_PLANT_ODE || task->plant.type == MCP_PLANT_MUJOCO;
}

/* 8 s and 12 s for each input, 250 samples at least; a whole number of samples. */
static void set_length(mcp_task *task, double seconds)
{
    double s = seconds > 0.0 ? seconds : fmax(8.0 + 12.0 * task->nu, (100.0 + 150.0 * task->nu) / task->rate);
    task->trial = ceil(s * task->rate - 1e-9) / task->rate;
}

static int tick(void *context, const mcp_trial *so_far)
{
    (void)context;
    (void)so_far;
    return term_stop();
}

static mcp_status probe_task(mcp_probe *out, mcp_task *task, const choices *c, mcp_error *err)
{
    mcp_system *system = NULL;
    set_length(task, c->seconds);
    mcp_status st = mcp_system_create(&system, task, err);
    if (st == MCP_OK) system->watch = term_watch();
    if (st == MCP_OK) st = mcp_probe_run(out, system, &c->probe, tick, NULL, err);
    mcp_system_free(system);
    return st;
}

static int same_signals(const mcp_task *a, const mcp_task *b)
{
    int same = a->nu == b->nu && a->ny == b->ny;
    for (int j = 0; same && j < a->nu; j++) same = !strcmp(a->input[j].name, b->input[j].name);
    for (int i = 0; same && i < a->ny; i++) same = !strcmp(a->measured[i].name, b->measured[i].name);
    return same;
}

/* The equations, without noise: of --reference, or of the task file itself when --set gave it another plant.
 * *found = 0: there are none to compare with. */
static mcp_status probe_reference(mcp_probe *out, int *found, const mcp_task *task, const choices *c,
                                  mcp_error *err)
{
    mcp_task  *r = NULL;
    mcp_status st =
        mcp_task_load(&r, c->reference ? c->reference : c->file, NULL, 0, c->reference ? err : NULL);
    *found = 0;
    if (st != MCP_OK) return c->reference ? st : MCP_OK;
    if (c->reference && !same_signals(r, task))
        st = mcp_fail(err, MCP_ERR_ARG, "%s: its inputs and measured channels are not those of %s",
                      c->reference, c->file);
    else if (c->reference && !is_simulated(r))
        st = mcp_fail(err, MCP_ERR_ARG,
                      "%s: its plant is not a simulation, so there is nothing to compare with", c->reference);
    else if (is_simulated(r) && same_signals(r, task) && (c->reference || is_wire(task))) {
        for (int i = 0; i < r->ny; i++) r->measured[i].noise = r->measured[i].quantum = 0.0;
        st = probe_task(out, r, c, err);
        *found = st == MCP_OK;
    }
    mcp_task_free(r);
    return st;
}

static int rig(mcp_task *task, const choices *c)
{
    mcp_probe  *p = mcp_calloc(2, sizeof *p);
    rig_verdict v;
    mcp_error   err = {MCP_OK, ""};
    int         compared = 0, code = 0;
    mcp_status  st = p ? MCP_OK : mcp_fail(&err, MCP_ERR_MEMORY, "out of memory");
    if (st == MCP_OK) st = probe_reference(p + 1, &compared, task, c, &err);
    if (st == MCP_OK) st = probe_task(p, task, c, &err);
    if (st == MCP_OK) {
        const mcp_probe *reference = compared ? p + 1 : NULL;
        rig_judge(&v, task, p, reference);
        if (c->json) code = rig_json(&v, task, p, reference);
        else rig_print(&v, task, p, reference);
    } else code = term_error("rig", &err);
    mcp_free(p);
    return code;
}

static int may_move(const mcp_task *task, const choices *c)
{
    char question[400];
    if (!is_wire(task) || c->yes) return 1;
    snprintf(question, sizeof question,
             "The plant will rest, then move by small pulses, %.3g of each input's limit. Is everybody clear "
             "of it, and can you stop it?",
             c->probe.amplitude);
    if (term_confirm(question)) return 1;
    fprintf(stderr,
            "mcpilco rig: the plant was not moved; answer y, or give --yes when no one can be asked\n");
    return 0;
}

int cmd_rig(int argc, char **argv)
{
    choices c = {0};
    mcp_probe_settings_default(&c.probe);
    const option options[] = {
        {"--yes", OPTION_FLAG, &c.yes, 0, 0, NULL, "do not ask before a real plant moves", NULL},
        {"--realtime", OPTION_FLAG, &c.realtime, 0, 0, NULL,
         "lock memory, and a real-time scheduling class while the plant is in a trial", NULL},
        {"--seconds", OPTION_NUMBER, &c.seconds, 0.1, 86400, "S",
         "length of the probe (8 s, and 12 s for each input)", NULL},
        {"--amplitude", OPTION_NUMBER, &c.probe.amplitude, 1e-6, 1, "A",
         "of the pulses, as a fraction of each input's limit (0.1)", NULL},
        {"--pulse", OPTION_NUMBER, &c.probe.pulse, 1e-6, 1e4, "S",
         "length of a pulse's first part; slow plants need longer ones (0.1)", NULL},
        {"--rest", OPTION_NUMBER, &c.probe.rest, 0.05, 0.95, "SHARE",
         "share of the time at rest, for noise (0.4)", NULL},
        {"--reference", OPTION_TEXT, &c.reference, 0, 0, "TASK",
         "compare signs and gains with this task's simulated plant (the task's own, when --set "
         "gave it another)",
         NULL},
        {"--seed", OPTION_SEED, &c.probe.seed, 0, 0, "S", "of a simulated plant (1)", NULL},
        {"--set", OPTION_LIST, &c.set, 0, 0, "KEY=VALUE", "change a value of the task file", NULL},
        {"--json", OPTION_FLAG, &c.json, 0, 0, NULL, "one JSON object on standard output", NULL},
    };
    const command verb = {
        .verb = "rig",
        .synopsis = "TASK [options]",
        ONE_ARGUMENT(options, &c.file),
        .about = "Probes the task's plant gently before learning: with zero input it measures rate, jitter, "
                 "round trip, and the noise\n"
                 "and resolution of each channel; then small symmetric pulses of each input show sign, gain "
                 "and delay. Each is compared\n"
                 "with the task file, and the lines to change are printed. Limits, clamps and the safe input "
                 "act as in any trial.",
        .examples = "  mcpilco rig my-rig.yaml\n      asks, probes, compares\n"
                    "  mcpilco rig tasks/cartpole.yaml --set 'plant={tcp: 192.168.1.7:7000}'\n"
                    "      a rig at the end of a wire, compared with the equations of the task file\n"
                    "  mcpilco rig my-rig.yaml --amplitude 0.03 --seconds 30\n      gentler, longer\n",
    };
    int code = options_parse(&verb, argc, argv);
    if (code != OPTIONS_GO) return code;
    mcp_task *task;
    mcp_error err;
    if (mcp_task_load(&task, c.file, c.set.item, c.set.count, &err) != MCP_OK) return term_error("rig", &err);
    term_catch_signals();
    if (c.realtime) realtime_ask("rig");
    code = may_move(task, &c) ? rig(task, &c) : 2;
    mcp_task_free(task);
    return code;
}
