/* token.c - an expression's text to tokens; messages that start with the place. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "math/number.h"
#include "program/parser.h"

static void place(const mcp_parser *p, size_t at, char *out, size_t size)
{
    size_t line = 0, column = at;
    for (size_t i = 0; i < at; i++)
        if (p->text[i] == '\n') {
            line++;
            column = at - i - 1;
        }
    int base = p->where.column > 0 && !line ? p->where.column : 1;
    if (p->where.file && p->where.line > 0 && p->where.column > 0)
        snprintf(out, size, "%s:%d:%d", p->where.file, p->where.line + (int)line, base + (int)column);
    else if (p->where.file && p->where.line > 0)
        snprintf(out, size, "%s:%d: %s, column %d", p->where.file, p->where.line, p->what, (int)at + 1);
    else
        snprintf(out, size, "%s%s%s, column %d", p->where.file ? p->where.file : "",
                 p->where.file ? ": " : "", p->what, base + (int)column);
}

MCP_PRINTF(3, 4) int mcp_parser_fail(mcp_parser *p, size_t at, const char *fmt, ...)
{
    if (p->status != MCP_OK) return 0;
    char    where[256], text[256];
    va_list args;
    va_start(args, fmt);
    mcp_vprint(text, sizeof text, fmt, args);
    va_end(args);
    place(p, at, where, sizeof where);
    p->status = mcp_fail(p->err, MCP_ERR_TASK, "%s: %s", where, text);
    p->kind   = T_END;
    return 0;
}

static int is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Digits with one point and an exponent. */
static void scan_number(mcp_parser *p)
{
    const char *s = p->text + p->at;
    size_t      n = 0;
    while (is_digit(s[n])) n++;
    if (s[n] == '.') n++;
    while (is_digit(s[n])) n++;
    if (s[n] == 'e' || s[n] == 'E') {
        size_t e = n + 1;
        if (s[e] == '+' || s[e] == '-') e++;
        if (is_digit(s[e])) {
            while (is_digit(s[e])) e++;
            n = e;
        }
    }
    p->kind = T_NUMBER;
    p->end  = p->at + n;
    char copy[64];
    if (n >= sizeof copy) {
        mcp_parser_fail(p, p->at, "a number of %zu characters: write at most %zu", n, sizeof copy - 1);
        return;
    }
    memcpy(copy, s, n);
    copy[n]   = 0;
    p->number = mcp_number_read(copy, NULL);
    if (!isfinite(p->number)) mcp_parser_fail(p, p->at, "%.*s is larger than any number", (int)n, s);
    else if (is_letter(s[n]))
        mcp_parser_fail(p, p->end, "missing operator after %.*s: write %.*s*%c..", (int)n, s, (int)n, s,
                        s[n]);
}

void mcp_parser_next(mcp_parser *p)
{
    if (p->status != MCP_OK) return;
    const char *t = p->text;
    p->at         = p->end;
    while (t[p->at] == ' ' || t[p->at] == '\t' || t[p->at] == '\n' || t[p->at] == '\r') p->at++;
    p->end = p->at;
    char c = t[p->at], d = c ? t[p->at + 1] : 0;
    if (!c) {
        p->kind = T_END;
    } else if (is_digit(c) || (c == '.' && is_digit(d))) {
        scan_number(p);
    } else if (is_letter(c) || (c == '@' && is_letter(d) && !p->where.file)) {
        p->end++;
        while (is_letter(t[p->end]) || is_digit(t[p->end])) p->end++;
        p->kind = T_NAME;
    } else if (strchr("+-*/^(),[]<>", c) || ((c == '=' || c == '!') && d == '=')) {
        p->kind = T_SIGN;
        p->end += strchr("<>=!", c) && d == '=' ? 2 : 1;
        if (c == '*' && d == '*') mcp_parser_fail(p, p->at, "'**' is not an operator: write ^ for a power");
    } else if (c == '=') {
        mcp_parser_fail(p, p->at, "'=' is not an operator: write == to compare");
    } else if (c == '&' || c == '|' || c == '!') {
        mcp_parser_fail(p, p->at, "'%c' is not an operator: write %s", c,
                        c == '&'   ? "and"
                        : c == '|' ? "or"
                                   : "not");
    } else if ((unsigned char)c < 32 || (unsigned char)c > 126) {
        mcp_parser_fail(p, p->at, "character code %d is not part of an expression", (unsigned char)c);
    } else {
        mcp_parser_fail(p, p->at, "'%c' is not part of an expression", c);
    }
}

int mcp_parser_is(const mcp_parser *p, const char *word)
{
    size_t n = strlen(word);
    return (p->kind == T_SIGN || p->kind == T_NAME) && p->end - p->at == n &&
           !memcmp(p->text + p->at, word, n);
}

int mcp_parser_accept(mcp_parser *p, const char *word)
{
    if (!mcp_parser_is(p, word)) return 0;
    mcp_parser_next(p);
    return 1;
}

const char *mcp_parser_found(const mcp_parser *p, char *out, size_t size)
{
    if (p->kind == T_END) snprintf(out, size, "the end");
    else snprintf(out, size, "'%.*s'", (int)(p->end - p->at < 40 ? p->end - p->at : 40), p->text + p->at);
    return out;
}

void mcp_parser_expect(mcp_parser *p, const char *word)
{
    char f[64];
    if (!mcp_parser_accept(p, word))
        mcp_parser_fail(p, p->at, "expected '%s', found %s", word, mcp_parser_found(p, f, sizeof f));
}
