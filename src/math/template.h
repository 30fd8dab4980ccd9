/* template.h - texts made from template files that look like what they become, embedded by
 * cmake/embed.cmake.
 *
 *   @name@                        the field's text, as it is
 *   @each list@ .. @end@          once per row of the list; a row sees its own fields, then those around it
 *   @if name@ .. @else@ .. @end@  by whether the field is there and not empty, or the list has a row
 *   @,@                           ", " in every row of a list but the first
 *
 * A line that holds nothing but each, if, else or end leaves no line behind. An @ that begins none of these
 * is an @. Fields are added by functions that cannot fail: what memory lacked is told by mcp_template_expand.
 */
#ifndef MCP_TEMPLATE_H
#define MCP_TEMPLATE_H

#include "math/text.h"

typedef struct mcp_fields mcp_fields;

mcp_fields *mcp_fields_create(void); /* NULL when out of memory: all calls below take that */
void        mcp_fields_free(mcp_fields *f);
void        mcp_fields_set(mcp_fields *f, const char *name, const char *fmt, ...) MCP_PRINTF(3, 4);
/* The same with a text that grew elsewhere; t is empty afterwards. */
void mcp_fields_take(mcp_fields *f, const char *name, mcp_text *t);
/* A new row of a list. */
mcp_fields *mcp_fields_row(mcp_fields *f, const char *list);

/* Appends the expanded template to out. A name that no field has is an error. */
mcp_status mcp_template_expand(mcp_text *out, const char *text, const mcp_fields *f, mcp_error *err);

#endif
