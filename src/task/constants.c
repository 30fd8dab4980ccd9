/* constants.c - numbers written as expressions of the constants: "2*pi/4096", "mp*L^2/3". The same compiler
 * as everywhere. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "math/arena.h"
#include "task/keys.h"
#include "task/task_builder.h"

/* Runs a program without inputs once; values[outputs]. */
static mcp_status run(mcp_reader *r, mcp_builder *b, mcp_where at, double *values)
{
    mcp_program *p  = NULL;
    mcp_status   st = mcp_builder_finish(b, &p, r->err);
    if (st != MCP_OK) return st;
    if (mcp_program_params(p) || mcp_program_memory(p)) {
        mcp_program_free(p);
        return mcp_fail_at(r->err, at,
                           "found param, rbf, mlp or prev, expected a number that does not change");
    }
    double *work = mcp_calloc(mcp_program_work(p) + 1, sizeof *work), none = 0.0;
    if (!work)
        st = mcp_read_memory(r);
    else
        mcp_program_step(p, &none, 1, &none, &none, values, work);
    mcp_free(work);
    mcp_program_free(p);
    return st;
}

mcp_status mcp_evaluate(mcp_reader *r, const char *text, mcp_where at, double *value)
{
    mcp_builder *b  = NULL;
    mcp_status   st = mcp_task_builder(&b, r->task, r->err);
    if (st == MCP_OK) st = mcp_builder_output(b, "value", text, at, r->err);
    if (st == MCP_OK) st = run(r, b, at, value);
    mcp_builder_free(b);
    return st;
}

mcp_status mcp_evaluate_constants(mcp_reader *r)
{
    const mcp_task *t = r->task;
    double          value[MCP_MAX_LIST] = {0};
    mcp_builder    *b = NULL;
    char            name[48];
    if (!t->constants.n) return MCP_OK;
    mcp_status st = mcp_task_builder(&b, r->task, r->err);
    for (int i = 0; i < t->constants.n && st == MCP_OK; i++) {
        snprintf(name, sizeof name, "constant_%d", i);
        st = mcp_builder_output(b, name, t->constants.item[i].name, t->constants.item[i].expr.at, r->err);
    }
    if (st == MCP_OK) st = run(r, b, t->constants.item[0].expr.at, value);
    for (int i = 0; i < t->constants.n && st == MCP_OK; i++)
        if (!isfinite(value[i]))
            st = mcp_fail_at(r->err, t->constants.item[i].expr.at,
                             "constants.%s: found %g, expected a finite number", t->constants.item[i].name,
                             value[i]);
    mcp_builder_free(b);
    return st;
}
