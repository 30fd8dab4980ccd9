/* recognise.h - what moment matching needs to know about a task, found by probing its compiled programs:
 * which features are plain states, sines, cosines or inputs, whether the kernels are squared exponentials,
 * the transition linear, the policy a squashed network, and the cost a saturated quadratic. Nothing is
 * parsed: however a task writes it, the numbers decide. */
#ifndef MCP_PILCO_RECOGNISE_H
#define MCP_PILCO_RECOGNISE_H

#include "baseline/pilco/horizon.h"
#include "control/system.h"

typedef struct {
    mcp_horizon_problem p;
    int                 weights, centres, lengths; /* offsets of the groups in theta */
    int metric; /* 1: the task's metric is optimised, since its cost has not the form */
    void               *block;                     /* memory of p's arrays */
} mcp_pilco_plan;

/* The sentence says what PILCO cannot take and what to write instead. */
mcp_status mcp_pilco_recognise(mcp_pilco_plan *out, const mcp_system *s, mcp_error *err);
void       mcp_pilco_plan_free(mcp_pilco_plan *p);

/* Finds z and W with f(x) = 1 - exp(-(a-z)^T W (a-z)/2), a = (x, sin, cos of the angles). probe gives f at x.
 * Returns 1 when f has that form; 0 when not (MCP_OK); work is allocated inside. */
typedef double mcp_cost_probe(void *context, const double *x);
typedef struct {
    int             nx, angles;
    const int      *angle; /* [angles] state indices */
    mcp_cost_probe *probe;
    void           *context;
} mcp_cost_question;
mcp_status mcp_cost_form(const mcp_cost_question *q, double *z, double *W, int *has_form, mcp_error *err);

#endif
