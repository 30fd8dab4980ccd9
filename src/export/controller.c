/* controller.c - observer and policy of a run, one sample at a time, in the user's own loop. */
#include "mcpilco/controller.h"

#include <math.h>
#include <string.h>

#include "learn/recommend.h"
#include "math/arena.h"

#define TWO_PI 6.283185307179586476925286766559

struct mcp_controller {
    mcp_run *run;
    double *theta, *in, *out, *work, *memory, *trying, *before,
        *last; /* before: measurements, last: commands one sample ago */
    int      slots, started;
};

mcp_status mcp_controller_load(mcp_controller **out, const char *run_folder, int trial, mcp_error *err)
{
    mcp_run   *r = NULL;
    mcp_error  trouble = {MCP_OK, ""};
    *out          = NULL;
    mcp_status st = mcp_run_open(&r, run_folder, &trouble, err);
    if (st != MCP_OK) return st;
    mcp_run_item   *it = mcp_run_trial(r, trial ? trial : mcp_recommended(r));
    mcp_controller *c = it ? mcp_calloc(1, sizeof *c) : NULL;
    if (!it)
        st = mcp_fail(err, MCP_ERR_ARG, "%s has no policy of trial %d; it has %d", run_folder, trial,
                      mcp_run_trials(r));
    else if (c) {
        const mcp_program *p = r->system->controller;
        size_t ny = (size_t)r->system->ny, nu = (size_t)r->system->nu, no = (size_t)mcp_program_outputs(p),
               m = (size_t)mcp_program_memory(p);
        size_t             n = 2 * ny + nu + no + 2 * m + mcp_program_work(p);
        c->theta = it->theta; /* the run owns it */
        c->run   = r;
        c->slots = (int)m;
        c->in    = mcp_calloc(n + 1, sizeof *c->in);
        if (c->in) {
            c->before = c->in + ny;
            c->last   = c->before + ny;
            c->out    = c->last + nu;
            c->memory = c->out + no;
            c->trying = c->memory + m;
            c->work   = c->trying + m;
            mcp_controller_reset(c);
            *out = c;
            return MCP_OK;
        }
    }
    if (st == MCP_OK) st = mcp_fail(err, MCP_ERR_MEMORY, "%s: out of memory for its controller", run_folder);
    mcp_free(c);
    mcp_run_free(r);
    return st;
}

void mcp_controller_free(mcp_controller *c)
{
    if (!c) return;
    mcp_run_free(c->run);
    mcp_free(c->in);
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
    c->started = 0;
    memset(c->last, 0, (size_t)c->run->system->nu * sizeof *c->last);
}

int mcp_controller_step(mcp_controller *c, const double *measured, double *command, double *observed)
{
    const mcp_system *s = c->run->system;
    int               good = 1;
    for (int i = 0; i < s->ny; i++) {
        double v = measured[i];
        if (s->task->measured[i].angle && c->started) v += TWO_PI * round((c->before[i] - v) / TWO_PI);
        c->in[i] = v;
        good &= isfinite(v) != 0;
    }
    if (good) {
        memcpy(c->trying, c->memory, (size_t)c->slots * sizeof *c->memory);
        mcp_program_step(s->controller, c->theta, !c->started, c->in, c->trying, c->out, c->work);
        for (int i = 0; i < s->nu; i++) good &= isfinite(c->out[i]) != 0;
    }
    for (int i = 0; i < s->nu; i++) {
        const mcp_task_input *u = &s->task->input[i];
        double v = good ? fmin(fmax(c->out[i], -u->limit), u->limit) : 0, most = u->slew * s->ts;
        if (good && u->slew > 0) v = fmin(fmax(v, c->last[i] - most), c->last[i] + most);
        command[i] = v;
    }
    if (!good) return 1;
    if (observed) memcpy(observed, c->out + s->nu, (size_t)s->nx * sizeof *observed);
    memcpy(c->memory, c->trying, (size_t)c->slots * sizeof *c->memory);
    memcpy(c->before, c->in, (size_t)s->ny * sizeof *c->before);
    memcpy(c->last, command, (size_t)s->nu * sizeof *c->last);
    c->started = 1;
    return 0;
}
