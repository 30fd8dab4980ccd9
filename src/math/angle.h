/* angle.h - whole turns of an angle in rad. The only place that wraps and unwraps; exported controllers count
 * turns by the same formula. */
#ifndef MCP_ANGLE_H
#define MCP_ANGLE_H

#include <math.h>

#define MCP_TURN 6.283185307179586476925286766559

/* Turns to add to `now` so that it is nearest to `before`. */
static inline double mcp_turns_to(double before, double now)
{
    return floor((before - now) / MCP_TURN + 0.5);
}

/* The same angle within (-pi, pi]. */
static inline double mcp_angle_wrap(double q)
{
    return q + MCP_TURN * mcp_turns_to(0.0, q);
}

#endif
