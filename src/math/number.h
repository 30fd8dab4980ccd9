/* number.h - numbers to text and back, the same in every locale: the decimal point is a point, whatever the
 * program that calls us has set. Files, wires, dumps, exports, pages and messages print and read here. */
#ifndef MCP_NUMBER_H
#define MCP_NUMBER_H

#include <locale.h>
#include <stdarg.h>
#include <stddef.h>

#include "mcpilco/error.h"

/* As snprintf and vsnprintf. "%.17g" keeps every bit of a double, "%.9g" of a float. */
int mcp_print(char *out, size_t size, const char *fmt, ...) MCP_PRINTF(3, 4);
int mcp_vprint(char *out, size_t size, const char *fmt, va_list args) MCP_PRINTF(3, 0);
/* As strtod: *end (if wanted) is behind the number, or text itself if there is none. */
double mcp_number_read(const char *text, char **end);

/* For code of others that reads numbers by itself: this thread is in the plain locale between the two. */
locale_t mcp_locale_plain(void);
void     mcp_locale_restore(locale_t before);

#endif
