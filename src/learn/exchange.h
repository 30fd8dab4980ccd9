/* exchange.h - learning with a rig that cannot be driven live: what to run next goes out, recorded trials
 * come back. */
#ifndef MCP_EXCHANGE_H
#define MCP_EXCHANGE_H

#include "learn/learner.h"
#include "learn/recording.h"

/* The inputs that the exploration in preparation asks for, u[T][nu]: as the trial would send them, clamp and
 * slew included. */
mcp_status mcp_exchange_inputs(const mcp_learner *l, double *u, mcp_error *err);
/* A trial to test the policy in preparation with: the last trial's measurements, and what the new policy
 * commands on them. */
mcp_status mcp_exchange_rehearse(const mcp_learner *l, mcp_trial **out, mcp_error *err);

typedef struct {
    int    samples, file_rows, resampled, surplus;
    double rate, off;                  /* of the file, see recording.h                     */
    double difference;                 /* largest, of a command from the one asked: share of its limit */
} mcp_add_info;

/* Takes a recorded trial as the learner's next one. A policy trial must have been prepared before (its
 * forecast is in the folder): a policy that nobody ran cannot have been recorded. Nothing is stored unless
 * the data are good. */
mcp_status mcp_learner_add(mcp_learner *l, const char *path, const mcp_add_settings *s, mcp_add_info *what,
                           const mcp_learn_info **info, mcp_error *err);

#endif
