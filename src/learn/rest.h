/* rest.h - a goal that can be held tells the model something before any trial has been there. */
#ifndef MCP_REST_H
#define MCP_REST_H

#include "learn/fit.h"

/* One datum more for each GP of f that the others bound at the goal; f->rest says what came of it. */
mcp_status mcp_fit_rest(mcp_fit *f, uint64_t seed, mcp_error *err);

#endif
