/* json.h - JSON files through jansson: whole or not there, and numbers keep every bit (17 digits). JSON has
 * no NaN and no infinity: NaN is null, infinities are the texts "inf" and "-inf". */
#ifndef MCP_JSON_H
#define MCP_JSON_H

#include <jansson.h>

#include "io/file.h"
#include "mcpilco/error.h"

mcp_status mcp_json_read(json_t **out, const char *path, mcp_error *err);
json_t    *mcp_json_parse(const char *text, json_error_t *why); /* NULL: see why, which may be NULL */
/* Objects one key a line, lists of numbers on one line. Borrows root; NULL root (a json call that ran out of
 * memory) is MCP_ERR_MEMORY, so that callers need not check every step of building one. */
mcp_status mcp_json_write(const char *path, const json_t *root, mcp_error *err);
mcp_status mcp_json_write_in(const mcp_lock *own, const char *path, const json_t *root, mcp_error *err);
char *mcp_json_line(const json_t *root); /* on one line, without the newline; mcp_free it; NULL = no memory */

/* As json_object_set_new and json_array_append_new; out of memory anywhere, also for value, frees the whole
 * and leaves *object NULL: what is written is whole or not there. */
void mcp_json_set(json_t **object, const char *key, json_t *value);
void mcp_json_append(json_t **list, json_t *value);
/* Without blanks, reals with so many digits; mcp_free it; NULL = no memory. */
char   *mcp_json_compact(const json_t *root, int digits);
json_t *mcp_json_number(double v);
json_t *mcp_json_numbers(int n, const double *v);
json_t *mcp_json_text(const char *s); /* where it is not UTF-8, all but ASCII becomes '?' */
/* Reading back: what is behind key, otherwise what is given. */
double      mcp_json_get_double(const json_t *object, const char *key, double otherwise);
int         mcp_json_get_int(const json_t *object, const char *key, int otherwise);
const char *mcp_json_get_text(const json_t *object, const char *key, const char *otherwise);
/* The n numbers of the list behind key; 0 = it is not there or has another length. */
int mcp_json_get_numbers(const json_t *object, const char *key, int n, double *v);

#endif
