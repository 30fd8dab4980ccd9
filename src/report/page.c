/* page.c - the frame of every page, and its small parts. */
#include "report/page.h"

#include <stdarg.h>
#include <stdio.h>

#include "embedded.h"
#include "math/number.h"

static void one_text(mcp_text *out, const char *block, const char *text)
{
    mcp_slots s = {0};
    mcp_slot_text(&s, "text", text);
    mcp_html(out, mcp_embed_run_html, block, &s);
}

void mcp_page_begin(mcp_text *out, const char *title)
{
    mcp_slots s = {0};
    mcp_slot_text(&s, "title", title);
    mcp_slot_text(&s, "style", mcp_embed_page_css);
    mcp_html(out, mcp_embed_page_html, "begin", &s);
}

void mcp_page_section(mcp_text *out, const char *id, const char *heading)
{
    mcp_slots s = {0};
    mcp_slot_text(&s, "id", id);
    mcp_slot_text(&s, "heading", heading);
    mcp_html(out, mcp_embed_run_html, "section", &s);
}

void mcp_page_close(mcp_text *out) { mcp_html(out, mcp_embed_run_html, "section-end", NULL); }
void mcp_page_paragraph(mcp_text *out, const char *text) { one_text(out, "paragraph", text); }

void mcp_page_note(mcp_text *out, const char *fmt, ...)
{
    char    text[800];
    va_list args;
    va_start(args, fmt);
    mcp_vprint(text, sizeof text, fmt, args);
    va_end(args);
    one_text(out, "note", text);
}

void mcp_page_grid(mcp_text *out, int open)
{
    mcp_html(out, mcp_embed_run_html, open ? "grid-begin" : "grid-end", NULL);
}

void mcp_page_figure(mcp_text *out, const mcp_plot *p, const char *caption)
{
    mcp_page_figure_begin(out);
    mcp_plot_render(p, out);
    mcp_page_figure_end(out, caption);
}

void mcp_page_figure_begin(mcp_text *out) { mcp_html(out, mcp_embed_run_html, "figure-begin", NULL); }

void mcp_page_figure_end(mcp_text *out, const char *caption)
{
    if (caption) one_text(out, "figure-caption", caption);
    else mcp_html(out, mcp_embed_run_html, "figure-end", NULL);
}

void mcp_page_end(mcp_text *out, const char *script)
{
    mcp_slots s = {0};
    mcp_slot_text(&s, "script", script ? script : "");
    mcp_html(out, mcp_embed_page_html, "end", &s);
}
