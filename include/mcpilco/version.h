/* version.h - which library this is. The numbers below are the only place where the version stands.
 *
 * Programs compiled against an older header keep working with a newer library of the same major version
 * (before 1.0: of the same minor version): structs only grow at their end, settings carry their size, and
 * enums keep their values. */
#ifndef MCPILCO_VERSION_H
#define MCPILCO_VERSION_H

#include "mcpilco/error.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MCP_VERSION_MAJOR 0
#define MCP_VERSION_MINOR 3
#define MCP_VERSION_PATCH 0

/* For #if: 1002003 is 1.2.3. */
#define MCP_VERSION_NUMBER (MCP_VERSION_MAJOR * 1000000 + MCP_VERSION_MINOR * 1000 + MCP_VERSION_PATCH)
/* "1.2.3" */
#define MCP_VERSION MCP_VERSION_TEXT(MCP_VERSION_MAJOR, MCP_VERSION_MINOR, MCP_VERSION_PATCH)
#define MCP_VERSION_TEXT(major, minor, patch) MCP_VERSION_TEXT_OF(major, minor, patch)
#define MCP_VERSION_TEXT_OF(major, minor, patch) #major "." #minor "." #patch

/* The same of the library that is loaded, which may be newer than the header. */
MCP_API const char *mcp_version(void) MCP_ANY_THREAD;
MCP_API int         mcp_version_number(void) MCP_ANY_THREAD;

#ifdef __cplusplus
}
#endif
#endif
