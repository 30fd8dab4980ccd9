/* bag.h - memory of one task: many small pieces, freed together. */
#ifndef MCP_BAG_H
#define MCP_BAG_H

#include <stddef.h>

typedef struct mcp_bag mcp_bag;

mcp_bag *mcp_bag_create(void); /* NULL = out of memory */
void     mcp_bag_free(mcp_bag *b);
void    *mcp_bag_get(mcp_bag *b, size_t n, size_t size);         /* zeroed; NULL = out of memory */
char    *mcp_bag_text(mcp_bag *b, const char *s, size_t length); /* copy, NUL added */

#endif
