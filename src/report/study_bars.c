/* study_bars.c - see study_bars.h. */
#include "report/study_bars.h"

#include <math.h>
#include <string.h>

#include "report/html.h"
#include "report/plot.h"

enum { WIDTH = 720, TOP = 44, ROW = 20, BAR = 14, BELOW = 26, RIGHT = 66 };
static const char title[] = "seeds by the trial that solved it first [%]";
static const double letter = 6.2, narrowest = 70, widest = 240; /* px: of a name, of the names' column */

/* The first trials are the darkest; what was never solved is grey. */
static void paint(mcp_text *out, int trial, int trials, int standalone)
{
    const double share = trials > 1 ? (trial - 1.0) / (trials - 1.0) : 0.0;
    if (trial) mcp_plot_paint(out, MCP_C1, 1, 1.0 - 0.8 * share, standalone);
    else mcp_plot_paint(out, MCP_FAINT, 1, 0.4, standalone);
}

static void key(mcp_text *out, const mcp_study *s, double left, int standalone)
{
    double x = left;
    for (int k = 1; k <= s->trials + 1; k++) {
        const int trial = k <= s->trials ? k : 0;
        mcp_text_add(out, "<rect x='%.1f' y='25' width='10' height='10'", x);
        paint(out, trial, s->trials, standalone);
        mcp_text_add(out, "/><text x='%.1f' y='34'>", x + 14);
        if (trial) mcp_text_add(out, "%s%d</text>", k == 1 ? "trial " : "", k);
        else mcp_text_add(out, "never</text>");
        x += k == 1 ? 62 : 34;
    }
}

static void bar(mcp_text *out, const mcp_study *s, const mcp_study_total *t, double left, double y,
                int standalone)
{
    const double scale = (WIDTH - RIGHT - left) / t->runs;
    double       x = left;
    for (int k = 1; k <= s->trials + 1; k++) {
        const int trial = k <= s->trials ? k : 0, n = trial ? t->first[k] : t->runs - t->solved;
        if (!n) continue;
        mcp_text_add(out, "<rect x='%.1f' y='%.1f' width='%.1f' height='%d'", x, y, n * scale, BAR);
        paint(out, trial, s->trials, standalone);
        if (trial) mcp_text_add(out, "><title>%d of %d in trial %d</title></rect>", n, t->runs, k);
        else mcp_text_add(out, "><title>%d of %d never</title></rect>", n, t->runs);
        x += n * scale;
    }
}

void mcp_study_bars(mcp_text *out, const mcp_study *s, const mcp_study_result *r, int standalone)
{
    mcp_study_total t;
    double          left = narrowest, y = TOP;
    int             rows = 0;
    for (int v = 0; v < s->variants; v++) {
        mcp_study_total_make(&t, r, v);
        rows += t.runs > 0;
        left = fmin(fmax(left, letter * (double)strlen(s->variant[v].name) + 14), widest);
    }
    const int height = TOP + rows * ROW + BELOW;
    mcp_text_add(out,
                 "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %d' width='%d' height='%d' "
                 "role='img' aria-label='%s'>%s<text class='t' x='2' y='14'>%s</text>",
                 WIDTH, height, WIDTH, height, title, standalone ? mcp_plot_style() : "", title);
    key(out, s, left, standalone);
    for (int share = 0; share <= 100; share += 20) {
        const double x = left + (WIDTH - RIGHT - left) * share / 100;
        mcp_text_add(out, "<line class='axis' x1='%.1f' x2='%.1f' y1='%d' y2='%d'/>", x, x,
                     height - BELOW, height - BELOW + 5);
        mcp_text_add(out, "<text x='%.1f' y='%d' text-anchor='middle'>%d</text>", x, height - 8, share);
    }
    for (int v = 0; v < s->variants; v++) {
        mcp_study_total_make(&t, r, v);
        if (!t.runs) continue;
        mcp_text_add(out, "<text x='%.1f' y='%.1f' text-anchor='end'>", left - 8, y + 11);
        mcp_html_escaped(out, s->variant[v].name);
        mcp_text_add(out, "</text>");
        bar(out, s, &t, left, y, standalone);
        mcp_text_add(out, "<text x='%d' y='%.1f'>%d seed%s</text>", WIDTH - RIGHT + 8, y + 11, t.runs,
                     t.runs == 1 ? "" : "s");
        y += ROW;
    }
    mcp_text_add(out, "</svg>\n");
}
