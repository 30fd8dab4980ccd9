/* task_read.c - a task for those who load it with everything, and for those who ask what it says. */
#include <math.h>
#include <string.h>

#include "math/sized.h"
#include "task/task_data.h"

void mcp_task_source_init(mcp_task_source *s, size_t size)
{
    static const mcp_task_source none = {0};
    mcp_sized_init(s, size, &none, sizeof none);
}

int mcp_task_count(const mcp_task *t, mcp_names of)
{
    switch (of) {
    case MCP_NAMES_STATES: return t->nx;
    case MCP_NAMES_INPUTS: return t->nu;
    case MCP_NAMES_MEASURED: return t->ny;
    case MCP_NAMES_TARGETS: return t->ngp;
    case MCP_NAMES_FEATURES: return t->features.n;
    case MCP_NAMES_LIMITS: return t->limits;
    }
    return 0;
}

const char *mcp_task_name(const mcp_task *t, mcp_names of, int i)
{
    if (i < 0 || i >= mcp_task_count(t, of)) return NULL;
    switch (of) {
    case MCP_NAMES_STATES: return t->state[i];
    case MCP_NAMES_INPUTS: return t->input[i].name;
    case MCP_NAMES_MEASURED: return t->measured[i].name;
    case MCP_NAMES_TARGETS: return t->state[t->gp[i].state];
    case MCP_NAMES_FEATURES: return t->features.item[i].expr.text;
    case MCP_NAMES_LIMITS: return t->limit[i].name;
    }
    return NULL;
}

static const char *state_unit(const mcp_task *t, int i)
{
    return t->state_unit && t->state_unit[i] ? t->state_unit[i] : "";
}

const char *mcp_task_unit(const mcp_task *t, mcp_names of, int i)
{
    if (i < 0 || i >= mcp_task_count(t, of)) return "";
    switch (of) {
    case MCP_NAMES_STATES: return state_unit(t, i);
    case MCP_NAMES_INPUTS: return t->input[i].unit ? t->input[i].unit : "";
    case MCP_NAMES_MEASURED: {
        const char *unit = mcp_channel_unit(t, &t->measured[i]);
        return unit ? unit : "";
    }
    case MCP_NAMES_TARGETS: return state_unit(t, t->gp[i].state);
    default: return "";
    }
}

const char *mcp_task_title(const mcp_task *t) { return t->title ? t->title : t->name; }
double      mcp_task_rate(const mcp_task *t) { return t->rate; }
int         mcp_task_trials(const mcp_task *t) { return t->trials; }
uint64_t    mcp_task_seed(const mcp_task *t) { return t->seed; }
const char *mcp_task_text(const mcp_task *t) { return t->source; }
double      mcp_task_input_limit(const mcp_task *t, int i)
{
    return i >= 0 && i < t->nu ? fmax(fabs(t->input[i].low), fabs(t->input[i].high)) : 0.0;
}

int mcp_task_input_range(const mcp_task *t, int i, double *low, double *high)
{
    const int there = i >= 0 && i < t->nu;
    *low  = there ? t->input[i].low : 0.0;
    *high = there ? t->input[i].high : 0.0;
    return there;
}
