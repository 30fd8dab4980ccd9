/* controller.c - observer and policy of a run, one sample at a time, in the user's own loop. */
#include "mcpilco/controller.h"

#include <string.h>

#include "control/runtime.h"
#include "learn/recommend.h"
#include "math/arena.h"

struct mcp_controller {
    mcp_run      *run;
    const double *theta; /* the run owns it */
    mcp_runtime  *runtime;
};

/* The wanted trial, or a sentence. A damaged trial hides those behind it: what the rest recommends may be an
 * older policy, so such a run gives one only by its number. */
static mcp_status pick(mcp_run_item **out, const mcp_run *r, int trial, const mcp_error *trouble,
                       mcp_error *err)
{
    const int last = mcp_run_trials(r);
    const int damaged = trouble->status != MCP_OK && strcmp(trouble->text, r->missing.text) != 0;
    *out = NULL;
    if (damaged && (!trial || trial > last))
        return mcp_fail(err, MCP_ERR_IO,
                        "%s; repair it with mcpilco learn --resume, or ask for a trial from 1 to %d by its "
                        "number",
                        trouble->text, last);
    if ((*out = mcp_run_trial(r, trial ? trial : mcp_recommended(r)))) return MCP_OK;
    return mcp_fail(err, MCP_ERR_ARG, "%s has no policy of trial %d; it has %d", r->folder, trial, last);
}

mcp_status mcp_controller_load(mcp_controller **out, const char *run_folder, int trial, mcp_error *err)
{
    mcp_error       trouble = {MCP_OK, ""};
    mcp_run_item   *it = NULL;
    mcp_controller *c = mcp_calloc(1, sizeof *c);
    *out = NULL;
    if (!c) return mcp_fail(err, MCP_ERR_MEMORY, "%s: out of memory for its controller", run_folder);
    mcp_status st = mcp_run_open(&c->run, run_folder, &trouble, err);
    if (st == MCP_OK) st = pick(&it, c->run, trial, &trouble, err);
    if (st == MCP_OK) st = mcp_runtime_create(&c->runtime, c->run->system, err);
    if (st != MCP_OK) {
        mcp_controller_free(c);
        return st;
    }
    c->theta = it->theta;
    *out = c;
    return MCP_OK;
}

void mcp_controller_free(mcp_controller *c)
{
    if (!c) return;
    mcp_runtime_free(c->runtime);
    mcp_run_free(c->run);
    mcp_free(c);
}

void mcp_controller_describe(const mcp_controller *c, mcp_controller_info *info)
{
    const mcp_system *s = c->run->system;
    *info =
        (mcp_controller_info){.rate = s->task->rate, .measured = s->ny, .commands = s->nu, .states = s->nx};
}

const char *mcp_controller_measured_name(const mcp_controller *c, int i)
{
    return i >= 0 && i < c->run->system->ny ? c->run->task->measured[i].name : NULL;
}

const char *mcp_controller_command_name(const mcp_controller *c, int i)
{
    return i >= 0 && i < c->run->system->nu ? c->run->task->input[i].name : NULL;
}

double mcp_controller_command_limit(const mcp_controller *c, int i)
{
    return i >= 0 && i < c->run->system->nu ? c->run->task->input[i].limit : 0;
}

void mcp_controller_reset(mcp_controller *c)
{
    mcp_runtime_reset(c->runtime);
}

int mcp_controller_step(mcp_controller *c, const double *measured, double *command, double *observed)
{
    const mcp_runtime *r = c->runtime;
    const mcp_system  *s = r->system;
    const int          bad = mcp_runtime_step(c->runtime, c->theta, NULL, measured) != MCP_FAULT_NONE;
    memcpy(command, r->command, (size_t)s->nu * sizeof *command);
    if (observed) memcpy(observed, r->observed, (size_t)s->nx * sizeof *observed);
    return bad;
}

void mcp_controller_safe(mcp_controller *c, double *command)
{
    mcp_runtime_safe(c->runtime, command);
}
