/* plot.h - a chart as SVG text: collect series, then render. Colours are CSS classes, so one drawing serves
 * the light page, the dark page and print; a stand-alone figure carries plain colours. Series borrow the
 * caller's arrays until rendered. A NaN breaks a line.
 *
 * In a page the numbers can be read back from the drawing (templates/page.js: values under the pointer, zoom,
 * CSV): the chart carries its ranges, data-x and data-y, and each series its name; coordinates are whole
 * hundredths of a pixel. */
#ifndef MCP_PLOT_H
#define MCP_PLOT_H

#include "math/text.h"

enum { MCP_PLOT_ITEMS = 128, MCP_PLOT_TICKS = 12 };

typedef enum { MCP_INK = 0, MCP_C1, MCP_C2, MCP_C3, MCP_C4, MCP_C5, MCP_C6, MCP_FAINT } mcp_colour;

typedef enum {
    MCP_ITEM_LINE,
    MCP_ITEM_BAND,
    MCP_ITEM_POINTS,
    MCP_ITEM_BARS,
    MCP_ITEM_RANGE,
    MCP_ITEM_VLINE,
    MCP_ITEM_HLINE,
    MCP_ITEM_REGION
} mcp_item_kind;

typedef struct {
    mcp_item_kind kind;
    int           n, stride; /* stride in doubles between samples of y, low, high */
    const double *x, *y, *low, *high;
    double        at; /* VLINE, HLINE: where; BARS: width in x units; REGION: from ... */
    double        to; /* ... to, in y */
    mcp_colour    colour;
    double        weight; /* line width or marker radius in px, band opacity; 0 = usual */
    int           dashed;
    const char   *label; /* legend entry, or text beside a VLINE or HLINE; NULL = none */
} mcp_item;

typedef struct {
    double      width, height;
    const char *title, *x_label, *y_label;
    double      x0, x1, y0, y1; /* NaN: from the data */
    int         log_y;
    int         integers;   /* whole numbers on the x axis */
    int         counts;     /* and on the y axis           */
    int         standalone; /* a file of its own, not part of a page */
    const char *group;      /* in a page: charts of one group share their cursor; NULL = none */
    int         n, dropped; /* dropped: items beyond MCP_PLOT_ITEMS */
    mcp_item    item[MCP_PLOT_ITEMS];
} mcp_plot;

void mcp_plot_init(mcp_plot *p, double width, double height, const char *title, const char *x_label,
                   const char *y_label);
/* Each returns the item, so that weight or dashes can be set on it. */
mcp_item *mcp_plot_line(mcp_plot *p, int n, const double *x, const double *y, int stride, mcp_colour c,
                        const char *label);
mcp_item *mcp_plot_band(mcp_plot *p, int n, const double *x, const double *low, const double *high,
                        int stride, mcp_colour c, const char *label);
mcp_item *mcp_plot_points(mcp_plot *p, int n, const double *x, const double *y, int stride, mcp_colour c,
                          const char *label);
mcp_item *mcp_plot_bars(mcp_plot *p, int n, const double *x, const double *y, double width, mcp_colour c,
                        const char *label);
mcp_item *mcp_plot_ranges(mcp_plot *p, int n, const double *x, const double *low, const double *high,
                          mcp_colour c, const char *label);
mcp_item *mcp_plot_vline(mcp_plot *p, double x, mcp_colour c, const char *label);
mcp_item *mcp_plot_hline(mcp_plot *p, double y, mcp_colour c, const char *label);
mcp_item *mcp_plot_region(mcp_plot *p, double low, double high, mcp_colour c, const char *label);
void      mcp_plot_render(const mcp_plot *p, mcp_text *out);
/* For drawings beside charts: the colour of an SVG element, and what a file of its own begins with. */
void        mcp_plot_paint(mcp_text *out, mcp_colour c, int filled, double opacity, int standalone);
const char *mcp_plot_style(void);

/* Tick positions at 1, 2 or 5 times a power of ten; returns how many. */
int mcp_plot_ticks(double low, double high, int wanted, int integers, double tick[MCP_PLOT_TICKS]);

#endif
