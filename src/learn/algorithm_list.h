/* algorithm_list.h - the algorithms by name. */
#ifndef MCP_ALGORITHM_LIST_H
#define MCP_ALGORITHM_LIST_H

#include "algorithm/algorithm.h"

/* NULL, and a sentence that lists those there are, when there is none of that name. */
const mcp_algorithm *mcp_algorithm_find(const char *name, mcp_error *err);

#endif
