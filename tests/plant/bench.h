/* bench.h - a small task to try plants and estimators on: a mass on a spring, pushed by u; position measured.
 */
#ifndef BENCH_H
#define BENCH_H

#include "control/system.h"
#include "test.h"

/* Sections of the task that the tests vary; pieces left NULL take the plain ones. */
typedef struct {
    const char *measured, *observer, *smoother, *start, *explore, *inputs, *plant, *more;
} bench_parts;

static mcp_task *bench_task(bench_parts p)
{
    static char text[8192];
    mcp_task   *task = NULL;
    mcp_error   why  = {MCP_OK, ""};
    snprintf(text, sizeof text,
             "name: bench\nrate: 50\ntrial: 2\nstate: {q: m, v: m/s}\ninputs: %s\nmeasured: %s\n%s%s%s%s%s%s"
             "model: {velocities: {q: v}}\ncost: 1 - exp(-q^2)\nstart: %s\n%s%s%splant: %s\n%s",
             p.inputs ? p.inputs : "{u: 2}", p.measured ? p.measured : "{q: 1e-3}",
             p.observer ? "observer: " : "", p.observer ? p.observer : "", p.observer ? "\n" : "",
             p.smoother ? "smoother: " : "", p.smoother ? p.smoother : "", p.smoother ? "\n" : "",
             p.start ? p.start : "{std: 0.1}", p.explore ? "explore: " : "", p.explore ? p.explore : "",
             p.explore ? "\n" : "", p.plant ? p.plant : "{ode: {v: 'u - 4*q - 0.1*v'}}",
             p.more ? p.more : "");
    if (mcp_task_parse(&task, "bench.yaml", text, NULL, 0, &why) != MCP_OK) FAIL_("%s\n%s", why.text, text);
    return task;
}

#endif
