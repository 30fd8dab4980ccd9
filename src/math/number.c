/* number.c - numbers to text and back in the "C" locale of this thread.
 *
 * newlocale(.., "C", 0) hands out an object that exists already (glibc, musl): nothing is allocated, and the
 * two switches are a few loads and stores. */
#include "math/number.h"

#include <stdio.h>
#include <stdlib.h>

locale_t mcp_locale_plain(void)
{
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    return plain ? uselocale(plain) : (locale_t)0;
}

void mcp_locale_restore(locale_t before)
{
    if (before) freelocale(uselocale(before));
}

int mcp_vprint(char *out, size_t size, const char *fmt, va_list args)
{
    locale_t before = mcp_locale_plain();
    int      n = vsnprintf(out, size, fmt, args);
    mcp_locale_restore(before);
    return n;
}

int mcp_print(char *out, size_t size, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int n = mcp_vprint(out, size, fmt, args);
    va_end(args);
    return n;
}

double mcp_number_read(const char *text, char **end)
{
    locale_t before = mcp_locale_plain();
    double   v = strtod(text, end);
    mcp_locale_restore(before);
    return v;
}
