/* regulator.h - how to hold the goal, from the model alone: the linear-quadratic regulator of the model's
 * mean about the goal, and a policy whose linear part is that regulator there. */
#ifndef MCP_REGULATOR_H
#define MCP_REGULATOR_H

#include "control/system.h"
#include "model/posterior.h"

typedef struct {
    const mcp_system     *system;
    mcp_posterior *const *model; /* [ngp] */
    const double         *goal;  /* [nx] */
    const double         *unit;  /* [nx] of the states */
} mcp_regulator_request;

/* The model linearised about the goal, in units: states by theirs, inputs by half their range. */
typedef struct mcp_regulator mcp_regulator;
/* *out is NULL, and MCP_OK, where there is nothing to hold: the cost does not rise about the goal. */
mcp_status mcp_regulator_create(mcp_regulator **out, const mcp_regulator_request *q, mcp_error *err);
void       mcp_regulator_free(mcp_regulator *r);

/* price: what half an input's range costs, against a state that is one unit off where that costs most. u [nu]
 * keeps the goal where it is, u - K (x - goal) holds it; K [nu][nx]. MCP_ERR_NUMERIC: nothing does. */
mcp_status mcp_regulator_gains(const mcp_regulator *r, double price, double *u, double *K, mcp_error *err);

/* 1: the policy has a linear net, which can be made a regulator. */
int mcp_regulator_fits(const mcp_program *policy);
/* Moves the policy's linear nets, as little as can be in units param_unit [params], until its command and
 * slopes at the goal are those of u - K (x - goal). MCP_ERR_NUMERIC: they cannot be; theta is as before. */
mcp_status mcp_regulator_impose(const mcp_regulator_request *q, const double *param_unit, const double *u,
                                const double *K, double *theta, mcp_error *err);

#endif
