/* algorithm.h - the algorithms by name. */
#ifndef MCP_LEARN_ALGORITHM_H
#define MCP_LEARN_ALGORITHM_H

#include "baseline/algorithm.h"

/* NULL, and a sentence that lists those there are, when there is none of that name. */
const mcp_algorithm *mcp_algorithm_find(const char *name, mcp_error *err);

#endif
