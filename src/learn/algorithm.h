/* algorithm.h - the algorithms by name. */
#ifndef MCP_LEARN_ALGORITHM_H
#define MCP_LEARN_ALGORITHM_H

#include "baseline/algorithm.h"

/* NULL, and a sentence that names the nearest one, when there is none of that name. */
const mcp_algorithm *mcp_algorithm_find(const char *name, mcp_error *err);
const mcp_algorithm *mcp_algorithm_at(int i); /* NULL past the last */

#endif
