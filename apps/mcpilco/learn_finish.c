/* learn_finish.c - evaluate, write the page, say what is next. */
#include "learn_finish.h"

#include <stdio.h>
#include <string.h>

#include "io/file.h"
#include "learn/diagnosis.h"
#include "learn_view.h"
#include "math/arena.h"
#include "report/report.h"
#include "term.h"

static int tell(void *context, int done, int runs)
{
    if (*(int *)context) {
        fprintf(stderr, "\r\033[Kevaluating the recommended policy: start %d of %d", done, runs);
        fflush(stderr);
    }
    return term_stop();
}

static void write_page(learn_finish *f, const mcp_lock *own, const char *folder, learn_live *live)
{
    char     *html = NULL;
    mcp_error err = {MCP_OK, ""};
    snprintf(f->page, sizeof f->page, "%s/report.html", folder);
    if (mcp_report_run(folder, &html, &err) == MCP_OK &&
        mcp_file_write_in(own, f->page, html, strlen(html), &err) == MCP_OK) {
        if (live->page) mcp_live_report(live->page, html);
    } else {
        fprintf(stderr, "mcpilco learn: the page was not written: %s\n", err.text);
        f->page[0] = '\0';
    }
    mcp_free(html);
}

void finish_make(learn_finish *f, const mcp_learner *l, const char *folder, learn_live *live)
{
    int       show = !f->quiet && term_is_live(stderr);
    mcp_error err = {MCP_OK, ""};
    if (!f->evaluate || !mcp_learner_trials(l)) return;
    if (mcp_plant_is_simulated(l->run->task) &&
        mcp_finish_make(&f->finish, l->run, l->pool, tell, &show, &err) != MCP_OK)
        fprintf(stderr, "%smcpilco learn: not evaluated: %s\n", show ? "\r\033[K" : "", err.text);
    else if (show) fprintf(stderr, "\r\033[K");
    write_page(f, l->run->lock, folder, live);
}

void finish_next(const learn_finish *f, const mcp_run *r, const char *folder, char *text, size_t size)
{
    const mcp_run_item *last = r->items ? r->item[r->items - 1] : NULL;
    const char         *remedy = last ? mcp_diagnosis_remedy(&last->diagnosis) : "";
    int                 more = mcp_run_trials(r) + 3;
    text[0] = '\0';
    if (mcp_finish_solved(&f->finish) || (f->finish.known && !f->finish.tested))
        snprintf(text, size, "mcpilco export %s -o controller", folder);
    else if (*remedy && last->diagnosis.finding[0].cause != MCP_CAUSE_DATA)
        snprintf(text, size, "%s", remedy);
    else snprintf(text, size, "three more trials: the same command with --resume --trials %d", more);
}

void finish_print(const learn_finish *f, const mcp_run *r, const char *folder)
{
    char what[160], more[400], next[400];
    const mcp_run_item *last = r->items ? r->item[r->items - 1] : NULL;
    if (f->finish.known) {
        mcp_finish_headline(&f->finish, what, sizeof what, more, sizeof more);
        printf("%s\n%s\n", what, more);
    }
    if (last && last->diagnosis.text[0] && !mcp_finish_solved(&f->finish))
        printf("Last trial: %s\n", last->diagnosis.text);
    if (f->page[0]) printf("page:  %s\n", f->page);
    finish_next(f, r, folder, next, sizeof next);
    printf("next:  %s\n", next);
}

json_t *finish_item_json(const mcp_run_item *it)
{
    json_t *o = view_info_json(&it->info);
    json_object_set_new(o, "diagnosis", mcp_diagnosis_to_json(&it->diagnosis));
    return o;
}
