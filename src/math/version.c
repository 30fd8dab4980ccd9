/* version.c - the version of the library that is loaded. */
#include "mcpilco/version.h"

const char *mcp_version(void) { return MCP_VERSION; }
int         mcp_version_number(void) { return MCP_VERSION_NUMBER; }
