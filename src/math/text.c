/* text.c - a text that grows. */
#include "math/text.h"

#include <stdarg.h>
#include <string.h>

#include "math/arena.h"
#include "math/number.h"

static int reserve(mcp_text *t, size_t more)
{
    if (t->failed) return 0;
    size_t need = t->length + more + 1;
    if (t->data && need <= t->capacity) return 1;
    size_t capacity = t->capacity ? t->capacity : 256;
    while (capacity < need) capacity *= 2;
    char *data = mcp_realloc(t->data, capacity);
    if (!data) {
        t->failed = 1;
        return 0;
    }
    t->data     = data;
    t->capacity = capacity;
    return 1;
}

void mcp_text_bytes(mcp_text *t, const char *bytes, size_t n)
{
    if (!reserve(t, n)) return;
    memcpy(t->data + t->length, bytes, n);
    t->length += n;
    t->data[t->length] = '\0';
}

void mcp_text_add(mcp_text *t, const char *fmt, ...)
{
    char    small[256];
    va_list args;
    va_start(args, fmt);
    int n = mcp_vprint(small, sizeof small, fmt, args);
    va_end(args);
    if (n < 0) return;
    if ((size_t)n < sizeof small) {
        mcp_text_bytes(t, small, (size_t)n);
        return;
    }
    if (!reserve(t, (size_t)n)) return;
    va_start(args, fmt);
    mcp_vprint(t->data + t->length, (size_t)n + 1, fmt, args);
    va_end(args);
    t->length += (size_t)n;
}

void mcp_text_free(mcp_text *t)
{
    mcp_free(t->data);
    memset(t, 0, sizeof *t);
}

/* Bytes of the UTF-8 character at s and the character; 0: there is none. */
static int decode(const unsigned char *s, unsigned *c)
{
    int n = s[0] < 0x80 ? 1 : s[0] >= 0xf0 && s[0] < 0xf5 ? 4 : s[0] >= 0xe0 ? 3 : s[0] >= 0xc2 ? 2 : 0;
    if (s[0] >= 0xf5) return 0;
    *c = n == 1 ? s[0] : s[0] & (0xffU >> (n + 1));
    for (int i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80) return 0;
        *c = *c << 6 | (s[i] & 0x3fU);
    }
    if ((n == 3 && *c < 0x800) || (n == 4 && *c < 0x10000)) return 0; /* longer than need be */
    return (*c >= 0xd800 && *c < 0xe000) || *c > 0x10ffff ? 0 : n;
}

static int is_plain(unsigned c)
{
    if (c < 0x20 || (c >= 0x7f && c < 0xa0)) return c == '\t';
    return !(c == 0x200e || c == 0x200f || c == 0x2028 || c == 0x2029 || (c >= 0x202a && c <= 0x202e) ||
             (c >= 0x2066 && c <= 0x2069) || c == 0xfeff);
}

void mcp_text_plain(char *s)
{
    char *to = s;
    while (*s) {
        unsigned c = 0;
        int      n = decode((const unsigned char *)s, &c);
        if (n && is_plain(c))
            for (int i = 0; i < n; i++) *to++ = *s++;
        else {
            *to++ = '?';
            s += n ? n : 1;
        }
    }
    *to = '\0';
}

unsigned mcp_text_odd(const char *s, size_t n)
{
    for (size_t i = 0; i < n;) {
        unsigned char at[5] = {0}; /* the text need not end with a NUL */
        unsigned      c = 0;
        memcpy(at, s + i, n - i < 4 ? n - i : 4);
        int k = decode(at, &c);
        if (!k) return 0xfffd;
        if (c != '\n' && !is_plain(c)) return c ? c : 0xfffd;
        i += (size_t)k;
    }
    return 0;
}

mcp_status mcp_text_take(mcp_text *t, char **out, mcp_error *err)
{
    *out = NULL;
    if (!t->data) mcp_text_bytes(t, "", 0);
    if (t->failed) {
        mcp_text_free(t);
        return mcp_fail(err, MCP_ERR_MEMORY, "out of memory while writing a text");
    }
    *out = t->data;
    memset(t, 0, sizeof *t);
    return MCP_OK;
}

void mcp_text_quoted(mcp_text *t, const char *s)
{
    mcp_text_add(t, "\"");
    for (; *s; s++) {
        if (*s == '"' || *s == '\\')
            mcp_text_add(t, "\\%c", *s);
        else if ((unsigned char)*s < ' ')
            mcp_text_add(t, "\\u%04x", (unsigned)(unsigned char)*s);
        else
            mcp_text_bytes(t, s, 1);
    }
    mcp_text_add(t, "\"");
}
