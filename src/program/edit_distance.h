/* edit_distance.h - how far two words are from each other, to suggest the one that was meant. */
#ifndef MCP_EDIT_DISTANCE_H
#define MCP_EDIT_DISTANCE_H

#include <stddef.h>

/* Number of single-letter edits (change, insert, remove, swap neighbours) between two words; at most `most`
 * + 1. */
int mcp_word_distance(const char *a, size_t na, const char *b, size_t nb, int most);

#endif
