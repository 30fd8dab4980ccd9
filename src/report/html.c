/* html.c - fill the blocks of a template. */
#include "report/html.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void mcp_html_escaped(mcp_text *out, const char *text)
{
    for (const char *c = text ? text : ""; *c; c++) switch (*c) {
        case '&': mcp_text_bytes(out, "&amp;", 5); break;
        case '<': mcp_text_bytes(out, "&lt;", 4); break;
        case '>': mcp_text_bytes(out, "&gt;", 4); break;
        case '"': mcp_text_bytes(out, "&quot;", 6); break;
        case '\'': mcp_text_bytes(out, "&#39;", 5); break;
        default: mcp_text_bytes(out, c, 1);
        }
}

static mcp_html_slot *next(mcp_slots *s, const char *name)
{
    mcp_html_slot *q = &s->slot[s->n < MCP_SLOTS ? s->n++ : MCP_SLOTS - 1];
    q->name = name;
    return q;
}

void mcp_slot_text(mcp_slots *s, const char *name, const char *text)
{
    next(s, name)->text = text ? text : "";
}

void mcp_slot_int(mcp_slots *s, const char *name, long v)
{
    mcp_html_slot *q = next(s, name);
    snprintf(q->number, sizeof q->number, "%ld", v);
    q->text = q->number;
}

void mcp_slot_number(mcp_slots *s, const char *name, const char *fmt, double v)
{
    mcp_html_slot *q = next(s, name);
    q->number[0] = '\0';
    if (isfinite(v)) snprintf(q->number, sizeof q->number, fmt, v);
    q->text = q->number;
}

static const char *find(const mcp_slots *s, const char *name, size_t length)
{
    for (int i = 0; s && i < s->n; i++)
        if (strlen(s->slot[i].name) == length && !memcmp(s->slot[i].name, name, length))
            return s->slot[i].text;
    return NULL;
}

/* From behind the line that opens the block up to the line that opens the next. */
static const char *find_block(const char *file, const char *block, const char **end)
{
    static const char open[] = "<!-- block ";
    size_t            n = strlen(block);
    for (const char *at = strstr(file, open); at; at = strstr(at + 1, open)) {
        const char *name = at + sizeof open - 1;
        if (strncmp(name, block, n) || strncmp(name + n, " -->\n", 5)) continue;
        const char *begin = name + n + 5;
        *end = strstr(begin, open);
        if (!*end) *end = begin + strlen(begin);
        return begin;
    }
    return NULL;
}

void mcp_html(mcp_text *out, const char *file, const char *block, const mcp_slots *slots)
{
    const char *end, *at = find_block(file, block, &end);
    if (!at) out->failed = 1;
    while (at && at < end) {
        const char *mark = strstr(at, "{{");
        if (!mark || mark >= end) mark = end;
        mcp_text_bytes(out, at, (size_t)(mark - at));
        if (mark == end) break;
        int         raw = mark[2] == '{';
        const char *name = mark + 2 + raw, *close = strstr(name, raw ? "}}}" : "}}");
        const char *text = close ? find(slots, name, (size_t)(close - name)) : NULL;
        if (!text) {
            out->failed = 1;
            return;
        }
        if (raw) mcp_text_bytes(out, text, strlen(text));
        else mcp_html_escaped(out, text);
        at = close + 2 + raw;
    }
}
