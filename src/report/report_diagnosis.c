/* report_diagnosis.c - what the run's diagnosis says, as cards. */
#include <stdio.h>

#include "embedded.h"
#include "learn/diagnosis.h"
#include "report/parts.h"

static int judged(const mcp_run_item *it)
{
    return it->diagnosis.text[0] || it->diagnosis.findings;
}

void mcp_report_verdict(mcp_text *out, const mcp_run_item *it)
{
    const mcp_diagnosis *d = &it->diagnosis;
    char                 name[48];
    mcp_slots            s = {0};
    if (!judged(it)) return;
    mcp_item_name(it, name, sizeof name);
    name[0] = name[0] == 't' ? 'T' : 'E';
    mcp_slot_text(&s, "class", d->text[0] ? (mcp_verdict_is_good(d->verdict) ? "good" : "bad") : "wait");
    mcp_slot_text(&s, "name", name);
    mcp_slot_text(&s, "text", d->text);
    mcp_html(out, mcp_embed_run_html, "verdict", &s);
    for (int i = 0; i < d->findings; i++) {
        mcp_slots f = {0};
        mcp_slot_text(&f, "text", d->finding[i].text);
        mcp_slot_text(&f, "remedy", d->finding[i].remedy);
        mcp_html(out, mcp_embed_run_html, "finding", &f);
    }
    mcp_html(out, mcp_embed_run_html, "verdict-end", NULL);
}

void mcp_report_diagnosis(mcp_text *out, const mcp_run *r)
{
    mcp_page_section(out, "diagnosis", "Diagnosis");
    if (!r->items) mcp_page_paragraph(out, "Nothing to judge yet: the run has no trial.");
    else if (!judged(r->item[r->items - 1]))
        mcp_page_paragraph(out, "The last trial has none: an older version stored it, or it is incomplete.");
    else mcp_report_verdict(out, r->item[r->items - 1]);
    if (r->items > 1 && judged(r->item[r->items - 1]))
        mcp_page_note(out, "The last trial; every other trial has its own below.");
    mcp_page_close(out);
}
