/* plot.c - charts as SVG text. */
#include "report/plot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "math/number.h"
#include "report/html.h"

enum { SCALE = 100 }; /* units of a page's coordinates in a pixel */

static const char *const class_of[] = {"ink", "c1", "c2", "c3", "c4", "c5", "c6", "faint"};
/* Converters to PDF and PNG know no CSS variables: a stand-alone figure has plain colours. */
static const char *const colour_of[] = {"#222222", "#2463b0", "#c8501e", "#1f8a5b",
                                        "#8a4fb5", "#b8860b", "#c0326b", "#b5b5b5"};
static const char standalone_style[] =
    "<style>text{font:11px sans-serif;fill:#333}.t{font-weight:600;font-size:12px}.grid{stroke:#e4e4e4}"
    ".axis{stroke:#999}.m{paint-order:stroke;stroke:#fff;stroke-width:3px}</style><rect width='100%' "
    "height='100%' fill='#fff'/>";

void mcp_plot_init(mcp_plot *p, double width, double height, const char *title, const char *x_label,
                   const char *y_label)
{
    memset(p, 0, sizeof *p);
    p->width   = width;
    p->height  = height;
    p->title   = title;
    p->x_label = x_label;
    p->y_label = y_label;
    p->x0 = p->x1 = p->y0 = p->y1 = NAN;
}

/* Items beyond the table share its last place; `dropped` tells. */
static mcp_item *add(mcp_plot *p, mcp_item_kind kind, int n, const double *x, mcp_colour c, const char *label)
{
    if (p->n == MCP_PLOT_ITEMS) {
        p->n--;
        p->dropped++;
    }
    mcp_item *it = &p->item[p->n++];
    memset(it, 0, sizeof *it);
    it->kind   = kind;
    it->n      = n;
    it->stride = 1;
    it->x      = x;
    it->colour = c;
    it->label  = label;
    return it;
}

mcp_item *mcp_plot_line(mcp_plot *p, int n, const double *x, const double *y, int stride, mcp_colour c,
                        const char *label)
{
    mcp_item *it = add(p, MCP_ITEM_LINE, n, x, c, label);
    it->y        = y;
    it->stride   = stride;
    return it;
}

mcp_item *mcp_plot_band(mcp_plot *p, int n, const double *x, const double *low, const double *high,
                        int stride, mcp_colour c, const char *label)
{
    mcp_item *it = add(p, MCP_ITEM_BAND, n, x, c, label);
    it->low      = low;
    it->high     = high;
    it->stride   = stride;
    return it;
}

mcp_item *mcp_plot_points(mcp_plot *p, int n, const double *x, const double *y, int stride, mcp_colour c,
                          const char *label)
{
    mcp_item *it = mcp_plot_line(p, n, x, y, stride, c, label);
    it->kind     = MCP_ITEM_POINTS;
    return it;
}

mcp_item *mcp_plot_bars(mcp_plot *p, int n, const double *x, const double *y, double width, mcp_colour c,
                        const char *label)
{
    mcp_item *it = mcp_plot_line(p, n, x, y, 1, c, label);
    it->kind     = MCP_ITEM_BARS;
    it->at       = width;
    return it;
}

mcp_item *mcp_plot_ranges(mcp_plot *p, int n, const double *x, const double *low, const double *high,
                          mcp_colour c, const char *label)
{
    mcp_item *it = mcp_plot_band(p, n, x, low, high, 1, c, label);
    it->kind     = MCP_ITEM_RANGE;
    return it;
}

mcp_item *mcp_plot_vline(mcp_plot *p, double x, mcp_colour c, const char *label)
{
    mcp_item *it = add(p, MCP_ITEM_VLINE, 0, NULL, c, label);
    it->at       = x;
    return it;
}

mcp_item *mcp_plot_hline(mcp_plot *p, double y, mcp_colour c, const char *label)
{
    mcp_item *it = add(p, MCP_ITEM_HLINE, 0, NULL, c, label);
    it->at       = y;
    return it;
}

mcp_item *mcp_plot_region(mcp_plot *p, double low, double high, mcp_colour c, const char *text)
{
    mcp_item *it = add(p, MCP_ITEM_REGION, 0, NULL, c, text);
    it->at       = low;
    it->to       = high;
    return it;
}

int mcp_plot_ticks(double low, double high, int wanted, int integers, double tick[MCP_PLOT_TICKS])
{
    if (!(high > low) || wanted < 1) return 0;
    double raw = (high - low) / wanted, mag = pow(10.0, floor(log10(raw))), norm = raw / mag;
    double step = (norm < 1.5 ? 1 : norm < 3.5 ? 2 : norm < 7.5 ? 5 : 10) * mag;
    if (integers && step < 1) step = 1;
    int n = 0;
    for (double v = ceil(low / step - 1e-9) * step; v <= high + 1e-9 * step && n < MCP_PLOT_TICKS; v += step)
        tick[n++] = fabs(v) < 1e-9 * step ? 0.0 : v;
    return n;
}

/* The frame in pixels and the ranges shown in it. */
typedef struct {
    double left, right, top, bottom;
    double x0, x1, y0, y1;
    int    log_y;
} frame;

static void widen(double v, double *low, double *high)
{
    if (!isfinite(v)) return;
    if (!(v >= *low)) *low = v;
    if (!(v <= *high)) *high = v;
}

static void item_ranges(const mcp_item *it, double *x0, double *x1, double *y0, double *y1)
{
    double half = it->kind == MCP_ITEM_BARS ? it->at / 2 : 0;
    if (it->kind == MCP_ITEM_HLINE) widen(it->at, y0, y1);
    if (it->kind == MCP_ITEM_BARS) widen(0, y0, y1);
    for (int k = 0; k < it->n; k++) {
        size_t j = (size_t)k * (size_t)it->stride;
        widen(it->x[k] - half, x0, x1);
        widen(it->x[k] + half, x0, x1);
        if (it->y) widen(it->y[j], y0, y1);
        if (it->low) widen(it->low[j], y0, y1);
        if (it->high) widen(it->high[j], y0, y1);
    }
}

static void find_ranges(const mcp_plot *p, frame *f)
{
    double x0 = NAN, x1 = NAN, y0 = NAN, y1 = NAN;
    for (int i = 0; i < p->n; i++) item_ranges(&p->item[i], &x0, &x1, &y0, &y1);
    if (isnan(x0)) {
        x0 = 0;
        x1 = 1;
    }
    if (isnan(y0)) {
        y0 = 0;
        y1 = 1;
    }
    if (p->log_y) {
        y0 = log10(fmax(y0, 1e-12));
        y1 = log10(fmax(y1, 1e-12));
    }
    double pad = y1 > y0 ? 0.05 * (y1 - y0) : (y0 != 0 ? 0.1 * fabs(y0) : 1);
    f->x0 = isnan(p->x0) ? x0 : p->x0;
    f->x1 = isnan(p->x1) ? x1 : p->x1;
    f->y0 = isnan(p->y0) ? y0 - pad : p->y0;
    f->y1 = isnan(p->y1) ? y1 + pad : p->y1;
    if (!(f->x1 > f->x0)) {
        f->x0 -= 0.5;
        f->x1 = f->x0 + 1;
    }
    if (!(f->y1 > f->y0)) f->y1 = f->y0 + 1;
    f->log_y = p->log_y;
}

static double px(const frame *f, double x)
{
    return f->left + (x - f->x0) / (f->x1 - f->x0) * (f->right - f->left);
}
static double py(const frame *f, double y)
{
    if (f->log_y) y = log10(fmax(y, 1e-12));
    double v = f->bottom - (y - f->y0) / (f->y1 - f->y0) * (f->bottom - f->top);
    return fmin(fmax(v, -1e4), 1e4);
}

static void number(char *text, size_t size, double v)
{
    mcp_print(text, size, fabs(v) >= 1e5 || (v != 0 && fabs(v) < 1e-3) ? "%.1e" : "%.6g", v);
}

static void label(mcp_text *out, const char *attributes, double x, double y, const char *text)
{
    mcp_text_add(out, "<text x='%.1f' y='%.1f'%s>", x, y, attributes);
    mcp_html_escaped(out, text);
    mcp_text_add(out, "</text>");
}

static void axes(const mcp_plot *p, const frame *f, mcp_text *out)
{
    double tick[MCP_PLOT_TICKS];
    char   text[32];
    int    n = mcp_plot_ticks(f->x0, f->x1, (int)fmax(2, (f->right - f->left) / 70), p->integers, tick);
    for (int i = 0; i < n; i++) {
        number(text, sizeof text, tick[i]);
        mcp_text_add(out, "<g class='x'><path class='grid' d='M%.1f %.1fV%.1f'/>", px(f, tick[i]), f->top,
                     f->bottom);
        label(out, " text-anchor='middle'", px(f, tick[i]), f->bottom + 14, text);
        mcp_text_add(out, "</g>");
    }
    n = mcp_plot_ticks(f->y0, f->y1, (int)fmax(2, (f->bottom - f->top) / 35), f->log_y || p->counts, tick);
    for (int i = 0; i < n; i++) {
        double y = f->bottom - (tick[i] - f->y0) / (f->y1 - f->y0) * (f->bottom - f->top);
        number(text, sizeof text, f->log_y ? pow(10, tick[i]) : tick[i]);
        mcp_text_add(out, "<path class='grid' d='M%.1f %.1fH%.1f'/>", f->left, y, f->right);
        label(out, " text-anchor='end'", f->left - 5, y + 4, text);
    }
    mcp_text_add(out, "<path class='axis' fill='none' d='M%.1f %.1fV%.1fH%.1f'/>", f->left, f->top, f->bottom,
                 f->right);
    if (p->title) label(out, " class='t'", 4, 13, p->title);
    if (p->x_label) label(out, " text-anchor='end'", f->right, f->bottom + 28, p->x_label);
    if (p->y_label) {
        mcp_text_add(out, "<g transform='translate(11 %.1f) rotate(-90)'>", (f->top + f->bottom) / 2);
        label(out, " text-anchor='middle'", 0, 0, p->y_label);
        mcp_text_add(out, "</g>");
    }
}

const char *mcp_plot_style(void) { return standalone_style; }

void mcp_plot_paint(mcp_text *out, mcp_colour c, int filled, double opacity, int standalone)
{
    const char *what = filled ? "fill" : "stroke", *other = filled ? "stroke" : "fill";
    if (standalone) mcp_text_add(out, " %s='%s' %s='none'", what, colour_of[c], other);
    else mcp_text_add(out, " class='%s %s'", class_of[c], filled ? "f" : "s");
    if (opacity < 1) mcp_text_add(out, " %s-opacity='%.2g'", what, opacity);
}

static void paint(const mcp_plot *p, const mcp_item *it, mcp_text *out, int filled, double opacity)
{
    mcp_plot_paint(out, it->colour, filled, opacity, p->standalone);
}

/* So that the page's script knows what a path is; particles are only looked at. */
static void name(const mcp_plot *p, const mcp_item *it, const char *kind, mcp_text *out)
{
    if (p->standalone || it->colour == MCP_FAINT) return;
    mcp_text_add(out, " data-kind='%s' data-name='", kind);
    mcp_html_escaped(out, it->label ? it->label : p->title);
    mcp_text_add(out, "'");
}

/* Points of a path: pixels in a file of its own, steps in hundredths of a pixel in a page. */
typedef struct {
    mcp_text    *out;
    const frame *f;
    int          standalone, down; /* down: the path has begun */
    long         x, y;             /* where it is */
} pen;

static void pen_to(pen *q, double x, double y, int draw)
{
    if (q->standalone) {
        mcp_text_add(q->out, "%c%.1f %.1f", draw ? 'L' : 'M', x, y);
        return;
    }
    long ix = lround(SCALE * (x - q->f->left)), iy = lround(SCALE * (y - q->f->top));
    if (!q->down) mcp_text_add(q->out, "M%ld %ld", ix, iy);
    else mcp_text_add(q->out, "%c%ld %ld", draw ? 'l' : 'm', ix - q->x, iy - q->y);
    q->down = 1;
    q->x    = ix;
    q->y    = iy;
}

static void draw_line(const mcp_plot *p, const frame *f, const mcp_item *it, mcp_text *out)
{
    pen q = {.out = out, .f = f, .standalone = p->standalone};
    int draw = 0;
    mcp_text_add(out, "<path stroke-width='%.2g'%s", it->weight > 0 ? it->weight : 1.6,
                 it->dashed ? " stroke-dasharray='5 3'" : "");
    paint(p, it, out, 0, 1);
    name(p, it, "line", out);
    mcp_text_add(out, " d='");
    for (int k = 0; k < it->n; k++) {
        double y  = it->y[(size_t)k * (size_t)it->stride];
        int    ok = isfinite(y) && isfinite(it->x[k]);
        if (ok) pen_to(&q, px(f, it->x[k]), py(f, y), draw);
        draw = ok;
    }
    mcp_text_add(out, "'/>");
}

static void draw_band(const mcp_plot *p, const frame *f, const mcp_item *it, mcp_text *out)
{
    pen q = {.out = out, .f = f, .standalone = p->standalone};
    int any = 0;
    mcp_text_add(out, "<path");
    paint(p, it, out, 1, it->weight > 0 ? it->weight : 0.18);
    name(p, it, "band", out);
    mcp_text_add(out, " d='");
    for (int k = 0; k < 2 * it->n; k++) { /* along the upper edge, back along the lower */
        int    i = k < it->n ? k : 2 * it->n - 1 - k;
        double y = (k < it->n ? it->high : it->low)[(size_t)i * (size_t)it->stride];
        if (isfinite(y)) pen_to(&q, px(f, it->x[i]), py(f, y), any++);
    }
    mcp_text_add(out, "%s'/>", any ? "Z" : "");
}

/* In a page a point is a line of no length with a round cap, which zooming leaves round. */
static void draw_points(const mcp_plot *p, const frame *f, const mcp_item *it, mcp_text *out)
{
    pen    q = {.out = out, .f = f};
    double radius = it->weight > 0 ? it->weight : 2.2;
    if (!p->standalone) {
        mcp_text_add(out, "<g class='dots'><path stroke-width='%.2g'", 2 * radius);
        paint(p, it, out, 0, 1);
        name(p, it, "points", out);
        mcp_text_add(out, " d='");
    }
    for (int k = 0; k < it->n; k++) {
        double y = it->y[(size_t)k * (size_t)it->stride];
        if (!isfinite(y)) continue;
        if (p->standalone) {
            mcp_text_add(out, "<circle cx='%.1f' cy='%.1f' r='%.2g'", px(f, it->x[k]), py(f, y), radius);
            paint(p, it, out, 1, 1);
            mcp_text_add(out, "/>");
        } else {
            pen_to(&q, px(f, it->x[k]), py(f, y), 0);
            mcp_text_add(out, "h0");
        }
    }
    if (!p->standalone) mcp_text_add(out, "'/></g>");
}

static void draw_bars(const mcp_plot *p, const frame *f, const mcp_item *it, mcp_text *out)
{
    pen    q = {.out = out, .f = f, .standalone = p->standalone};
    double half = it->at / 2 / (f->x1 - f->x0) * (f->right - f->left);
    mcp_text_add(out, "<path");
    paint(p, it, out, 1, 0.8);
    name(p, it, "bars", out);
    mcp_text_add(out, " d='");
    for (int k = 0; k < it->n; k++) {
        if (!isfinite(it->y[k])) continue;
        double x = px(f, it->x[k]), top = py(f, it->y[k]), foot = py(f, 0);
        pen_to(&q, x - half, foot, 0);
        pen_to(&q, x - half, top, 1);
        pen_to(&q, x + half, top, 1);
        pen_to(&q, x + half, foot, 1);
    }
    mcp_text_add(out, "'/>");
}

static void draw_ranges(const mcp_plot *p, const frame *f, const mcp_item *it, mcp_text *out)
{
    pen q = {.out = out, .f = f, .standalone = p->standalone};
    mcp_text_add(out, "<path stroke-width='1.4'");
    paint(p, it, out, 0, 1);
    name(p, it, "range", out);
    mcp_text_add(out, " d='");
    for (int k = 0; k < it->n; k++) {
        size_t j = (size_t)k * (size_t)it->stride;
        if (!isfinite(it->low[j]) || !isfinite(it->high[j])) continue;
        double x = px(f, it->x[k]), low = py(f, it->low[j]), high = py(f, it->high[j]);
        pen_to(&q, x - 4, high, 0);
        pen_to(&q, x + 4, high, 1);
        pen_to(&q, x, high, 0);
        pen_to(&q, x, low, 1);
        pen_to(&q, x - 4, low, 0);
        pen_to(&q, x + 4, low, 1);
    }
    mcp_text_add(out, "'/>");
}

static void draw_rule(const mcp_plot *p, const frame *f, const mcp_item *it, mcp_text *out)
{
    pen    q = {.out = out, .f = f, .standalone = p->standalone};
    int    vertical = it->kind == MCP_ITEM_VLINE;
    double at       = vertical ? px(f, it->at) : py(f, it->at);
    if (vertical && (it->at < f->x0 || it->at > f->x1)) return;
    mcp_text_add(out, "<path stroke-dasharray='3 3'");
    paint(p, it, out, 0, 1);
    mcp_text_add(out, " d='");
    pen_to(&q, vertical ? at : f->left, vertical ? f->top : at, 0);
    pen_to(&q, vertical ? at : f->right, vertical ? f->bottom : at, 1);
    mcp_text_add(out, "'/>");
}

static void draw_region(const mcp_plot *p, const frame *f, const mcp_item *it, mcp_text *out)
{
    pen    q = {.out = out, .f = f, .standalone = p->standalone};
    double low = fmin(py(f, it->at), f->bottom), high = fmax(py(f, it->to), f->top);
    if (!(high < low)) return;
    mcp_text_add(out, "<path");
    paint(p, it, out, 1, it->weight > 0 ? it->weight : 0.15);
    mcp_text_add(out, " d='");
    pen_to(&q, f->left, low, 0);
    pen_to(&q, f->right, low, 1);
    pen_to(&q, f->right, high, 1);
    pen_to(&q, f->left, high, 1);
    mcp_text_add(out, "Z'/>");
}

/* Names of rules, over everything else; those of horizontal ones above the rule where there is room. */
static void rule_labels(const mcp_plot *p, const frame *f, mcp_text *out)
{
    for (int i = 0; i < p->n; i++) {
        const mcp_item *it = &p->item[i];
        if (!it->label) continue;
        double x = px(f, it->at), y = py(f, it->at);
        if (it->kind == MCP_ITEM_VLINE && it->at >= f->x0 && it->at <= f->x1)
            label(out, " class='m'", x + 3, f->top + 10, it->label);
        if (it->kind == MCP_ITEM_HLINE)
            label(out, " class='m'", f->left + 4, y - 12 < f->top ? y + 11 : y - 3, it->label);
    }
}

static int in_legend(const mcp_item *it)
{
    return it->label && it->kind != MCP_ITEM_VLINE && it->kind != MCP_ITEM_HLINE;
}

/* Legend entries in a row above the frame, right-aligned; widths are estimates from the letter count. */
static void legend(const mcp_plot *p, const frame *f, mcp_text *out)
{
    double x = f->right;
    for (int i = p->n - 1; i >= 0; i--) {
        const mcp_item *it = &p->item[i];
        int             band = it->kind == MCP_ITEM_BAND || it->kind == MCP_ITEM_REGION;
        if (!in_legend(it)) continue;
        x -= 6.4 * (double)strlen(it->label) + 10;
        label(out, " class='k'", x + 4, f->top - 6, it->label);
        x -= 16;
        mcp_text_add(out, "<rect x='%.1f' y='%.1f' width='14' height='%d' rx='1'", x + 2,
                     f->top - (band ? 14 : 11), band ? 9 : 3);
        paint(p, it, out, 1, band ? 0.3 : 1);
        mcp_text_add(out, "/>");
    }
}

static void draw_item(const mcp_plot *p, const frame *f, const mcp_item *it, mcp_text *out)
{
    switch (it->kind) {
    case MCP_ITEM_LINE: draw_line(p, f, it, out); break;
    case MCP_ITEM_BAND: draw_band(p, f, it, out); break;
    case MCP_ITEM_POINTS: draw_points(p, f, it, out); break;
    case MCP_ITEM_BARS: draw_bars(p, f, it, out); break;
    case MCP_ITEM_RANGE: draw_ranges(p, f, it, out); break;
    case MCP_ITEM_VLINE:
    case MCP_ITEM_HLINE: draw_rule(p, f, it, out); break;
    case MCP_ITEM_REGION: draw_region(p, f, it, out); break;
    }
}

/* Frame and ranges, for the page's script. */
static void data_attributes(const mcp_plot *p, const frame *f, mcp_text *out)
{
    mcp_text_add(out, " class='chart' data-frame='%.1f %.1f %.1f %.1f' data-x='%.9g %.9g' data-y='%.9g %.9g'",
                 f->left, f->top, f->right, f->bottom, f->x0, f->x1, f->y0, f->y1);
    if (f->log_y) mcp_text_add(out, " data-log='1'");
    if (p->integers) mcp_text_add(out, " data-integers='1'");
    if (p->x_label) {
        mcp_text_add(out, " data-unit='");
        mcp_html_escaped(out, p->x_label);
        mcp_text_add(out, "'");
    }
    if (p->group) {
        mcp_text_add(out, " data-group='");
        mcp_html_escaped(out, p->group);
        mcp_text_add(out, "'");
    }
}

void mcp_plot_render(const mcp_plot *p, mcp_text *out)
{
    int has_legend = 0;
    for (int i = 0; i < p->n; i++) has_legend |= in_legend(&p->item[i]);
    frame f = {.left = p->y_label ? 62 : 48,
               .right = p->width - 16,
               .bottom = p->height - (p->x_label ? 34 : 20)};
    f.top   = (p->title ? 20 : 8) + (has_legend ? 16 : 0);
    find_ranges(p, &f);
    mcp_text_add(
        out, "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %g %g' width='%g' height='%g' role='img'",
        p->width, p->height, p->width, p->height);
    if (p->title) {
        mcp_text_add(out, " aria-label='");
        mcp_html_escaped(out, p->title);
        mcp_text_add(out, "'");
    }
    if (!p->standalone) data_attributes(p, &f, out);
    mcp_text_add(out, ">%s", p->standalone ? standalone_style : "");
    axes(p, &f, out);
    /* nothing is drawn outside the frame: a nested viewport clips without needing page-wide unique names */
    double width = f.right - f.left, height = f.bottom - f.top;
    mcp_text_add(out, "<svg x='%.1f' y='%.1f' width='%.1f' height='%.1f' ", f.left, f.top, width, height);
    if (p->standalone)
        mcp_text_add(out, "viewBox='%.1f %.1f %.1f %.1f'>", f.left, f.top, width, height);
    else
        mcp_text_add(out, "class='plot' viewBox='0 0 %.0f %.0f' preserveAspectRatio='none'>", SCALE * width,
                     SCALE * height);
    for (int i = 0; i < p->n; i++) draw_item(p, &f, &p->item[i], out);
    mcp_text_add(out, "</svg>");
    rule_labels(p, &f, out);
    legend(p, &f, out);
    mcp_text_add(out, "</svg>\n");
}
