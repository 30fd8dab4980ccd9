/* compose.c - put a program together line by line; the first failure stays. */
#include "control/compose.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "math/arena.h"
#include "math/number.h"
#include "program/builder.h"
#include "task/task_builder.h"

static const mcp_where nowhere = {NULL, 0, 0};

static void keep(mcp_composer *c, mcp_status st)
{
    if (c->status == MCP_OK) c->status = st;
}

void mcp_compose_fail(mcp_composer *c, mcp_status st, const char *fmt, ...)
{
    char    text[400];
    va_list args;
    if (c->status != MCP_OK) return;
    va_start(args, fmt);
    mcp_vprint(text, sizeof text, fmt, args);
    va_end(args);
    c->status = mcp_fail(c->err, st, "%s", text);
}

const char *mcp_compose_name(char *buffer, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    mcp_vprint(buffer, MCP_NAME_SIZE, fmt, args);
    va_end(args);
    return buffer;
}

void mcp_compose_begin(mcp_composer *c, const mcp_system *s, mcp_error *err)
{
    *c = (mcp_composer){NULL, MCP_OK, err};
    keep(c, mcp_task_builder(&c->builder, s->task, err));
}

mcp_status mcp_compose_end(mcp_composer *c, mcp_program **out)
{
    if (c->status == MCP_OK) keep(c, mcp_builder_finish(c->builder, out, c->err));
    mcp_builder_free(c->builder);
    c->builder = NULL;
    return c->status;
}

void mcp_compose_constant(mcp_composer *c, const char *name, double value)
{
    if (c->status == MCP_OK) keep(c, mcp_builder_constant(c->builder, name, value, c->err));
}

/* Formats, hands the text to one of the builder's calls, frees it. */
typedef mcp_status builder_call(mcp_builder *, const char *, const char *, mcp_where, mcp_error *);

static void formatted(mcp_composer *c, builder_call *call, const char *name, const char *fmt, va_list args)
{
    char    small[512], *text = small;
    va_list again;
    if (c->status != MCP_OK) return;
    va_copy(again, args);
    int n = mcp_vprint(small, sizeof small, fmt, args);
    if (n >= (int)sizeof small) {
        text = mcp_calloc((size_t)n + 1, 1);
        if (text) mcp_vprint(text, (size_t)n + 1, fmt, again);
    }
    va_end(again);
    if (!text)
        mcp_compose_fail(c, MCP_ERR_MEMORY, "out of memory while composing %s", name);
    else
        keep(c, call(c->builder, name, text, nowhere, c->err));
    if (text != small) mcp_free(text);
}

#define FORMATTED(function, call)                                            \
    void function(mcp_composer *c, const char *name, const char *fmt, ...)   \
    {                                                                        \
        va_list args;                                                        \
        va_start(args, fmt);                                                 \
        formatted(c, call, name, fmt, args);                                 \
        va_end(args);                                                        \
    }
FORMATTED(mcp_compose_define, mcp_builder_define)
FORMATTED(mcp_compose_memory, mcp_builder_memory)
FORMATTED(mcp_compose_next, mcp_builder_next)
FORMATTED(mcp_compose_output, mcp_builder_output)

#define AT_PLACE(function, call)                                             \
    void function(mcp_composer *c, const char *name, const mcp_expr *e)      \
    {                                                                        \
        if (c->status == MCP_OK) keep(c, call(c->builder, name, e->text, e->at, c->err)); \
    }
AT_PLACE(mcp_compose_define_at, mcp_builder_define)
AT_PLACE(mcp_compose_memory_at, mcp_builder_memory)
AT_PLACE(mcp_compose_next_at, mcp_builder_next)
AT_PLACE(mcp_compose_output_at, mcp_builder_output)

void mcp_compose_input(mcp_composer *c, const char *fmt, ...)
{
    char    name[MCP_NAME_SIZE];
    va_list args;
    if (c->status != MCP_OK) return;
    va_start(args, fmt);
    mcp_vprint(name, sizeof name, fmt, args);
    va_end(args);
    keep(c, mcp_builder_input(c->builder, name, c->err));
}

void mcp_compose_measured(mcp_composer *c, const mcp_task *t)
{
    char   name[MCP_NAME_SIZE], near[MCP_NAME_SIZE], off[MCP_NAME_SIZE], start[MCP_NAME_SIZE];
    double mean, variance;
    for (int i = 0; i < t->ny; i++) mcp_compose_input(c, "y_%s", t->measured[i].name);
    for (int i = 0; i < t->nseen; i++) {
        const mcp_task_channel *m = &t->seen[i];
        if (m->sensor >= 0) continue;
        mcp_compose_name(name, "y_%s", m->name);
        if (!m->angle) {
            mcp_compose_define(c, name, "%s", m->from.text);
            continue;
        }
        mcp_start_moments(&t->start, t->nx, m->state, &mean, &variance);
        mcp_compose_constant(c, mcp_compose_name(start, "@begins_%s", m->name), mean);
        mcp_compose_memory(c, mcp_compose_name(near, "@near_%s", m->name), "%s", start);
        mcp_compose_define(c, mcp_compose_name(off, "@within_%s", m->name), "%s", m->from.text);
        mcp_compose_define(c, name, "%s + atan2(sin(%s - %s), cos(%s - %s))", near, off, near, off, near);
        mcp_compose_next(c, near, "%s", name);
    }
}

void mcp_compose_states(mcp_composer *c, const mcp_task *t)
{
    if (c->status == MCP_OK) keep(c, mcp_task_builder_states(c->builder, t, c->err));
}

void mcp_compose_inputs(mcp_composer *c, const mcp_task *t)
{
    if (c->status == MCP_OK) keep(c, mcp_task_builder_inputs(c->builder, t, c->err));
}

const char *mcp_compose_rest(mcp_composer *c, const mcp_task *t, int i, char *buffer)
{
    mcp_compose_name(buffer, "@rest_%s", t->input[i].name);
    if (c->status == MCP_OK && !mcp_builder_find(c->builder, buffer, strlen(buffer)))
        mcp_compose_constant(c, buffer, mcp_input_rest(&t->input[i]));
    return buffer;
}

int mcp_velocity_of(const mcp_task *t, int state)
{
    for (int i = 0; i < t->ngp; i++)
        if (t->gp[i].kind == MCP_GP_VELOCITY && t->gp[i].position == state) return t->gp[i].state;
    return -1;
}
