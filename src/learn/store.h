/* store.h - shared by the files that write and read one trial's folder. */
#ifndef MCP_STORE_H
#define MCP_STORE_H

#include "learn/run_folder.h"

typedef enum { MCP_IN_OPTIMISE, MCP_IN_FORECAST, MCP_IN_RESULT } mcp_info_file;

json_t *mcp_info_to_json(mcp_info_file file, const mcp_learn_info *info); /* NULL = no memory */
void    mcp_info_from_json(mcp_info_file file, const json_t *root, mcp_learn_info *info);
/* Takes over root; NULL root is out of memory. */
mcp_status mcp_store_json(const mcp_run_item *it, const char *name, json_t *root, mcp_error *err);
/* *out stays NULL when the file is not there. */
mcp_status mcp_load_json(const mcp_run_item *it, const char *name, json_t **out, mcp_error *err);

#endif
