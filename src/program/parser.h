/* parser.h - inside the parser of expressions: text to tokens (token.c), calls and names (call.c), grammar
 * (parser.c).
 *
 * The first error sets status and ends the text for everyone: what is parsed after it is node 0 and has no
 * effect. */
#ifndef MCP_PROGRAM_PARSER_H
#define MCP_PROGRAM_PARSER_H

#include "program/builder.h"

#define LENGTH(a) (sizeof(a) / sizeof *(a))

typedef enum { T_END, T_NUMBER, T_NAME, T_SIGN } mcp_token;

typedef struct {
    mcp_builder *b;
    const char  *what, *text;
    mcp_where    where;
    mcp_error   *err;
    mcp_status   status;
    int          depth;
    size_t       at, end; /* current token: text[at .. end) */
    mcp_token    kind;
    double       number;
} mcp_parser;

/* Tokens. fail returns 0, accept whether the word was there and was taken, found the current token in words.
 */
int         mcp_parser_fail(mcp_parser *p, size_t at, const char *fmt, ...) MCP_PRINTF(3, 4);
void        mcp_parser_next(mcp_parser *p);
int         mcp_parser_is(const mcp_parser *p, const char *word);
int         mcp_parser_accept(mcp_parser *p, const char *word);
void        mcp_parser_expect(mcp_parser *p, const char *word);
const char *mcp_parser_found(const mcp_parser *p, char *out, size_t size);

/* Nodes: an expression of any kind; an operation; what a full graph or lack of memory means for the text. */
int    mcp_parser_value(mcp_parser *p);
int    mcp_parser_apply(mcp_parser *p, size_t at, mcp_op op, int a, int b);
int    mcp_parser_checked(mcp_parser *p, size_t at, int node);
int    mcp_parser_is_const(const mcp_parser *p, int node);
double mcp_parser_const(const mcp_parser *p, int node);

/* The name of n characters at `at`, as a value and as a function whose "(" has been taken. */
int mcp_parser_name(mcp_parser *p, size_t at, size_t n);
int mcp_parser_call(mcp_parser *p, size_t at, size_t n);

/* Is v a whole number from 1 to most? */
int mcp_parser_whole(double v, int most);

#endif
