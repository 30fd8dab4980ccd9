/* policy_region.h - where a fresh policy is spread: the box that the plant has visited and the cost can tell
 * apart, states that turn, and the goal, the cheapest state. For policy_init.c. */
#ifndef MCP_POLICY_REGION_H
#define MCP_POLICY_REGION_H

#include "control/system.h"
#include "math/rng.h"

enum { MCP_PROBES = 256, MCP_PROBES_FEW = MCP_PROBES / 4, MCP_NET_FEATURES_MAX = 256 };
#define MCP_ROUNDING 1e-9 /* relative: not a change */

typedef struct {
    const mcp_system  *s;
    const mcp_program *p; /* policy on the true state: features of a state without observer memory */
    mcp_rand           random;
    double            *low, *high; /* [nx] box           */
    double            *goal;       /* [nx] the cheapest state; NaN: the cost tells none apart */
    double            *turn;       /* [nx] after which the features repeat; 0: never */
    double            *x, *probe;  /* [nx], [MCP_PROBES][nx] */
    double            *memory, *out, *work;
    double            *kept; /* [params][MCP_PROBES_FEW][nx] while gains are measured */
    double            *cost_memory, *cost_work;
    double            *theta;
    double            *scale; /* [params] units of theta */
    double             boldness; /* factor on weights */
    int                at_start;
    double             rise;  /* of the cost of a step over the box */
    double            *room;  /* what all but theta and scale are part of */
} mcp_drawing;

/* Finds box, turns and goal, and fills the probes with states of the box. */
mcp_status mcp_region_find(mcp_drawing *d, const double *visited, int visits, mcp_error *err);
/* How far state i may be moved to see what depends on it. */
double mcp_drawing_width(const mcp_drawing *d, int i);
/* A state of the box. */
void mcp_drawing_state(mcp_drawing *d, double *x);
/* Features of a net at a state. */
void mcp_drawing_features(mcp_drawing *d, int node, const double *x, double *f);

#endif
