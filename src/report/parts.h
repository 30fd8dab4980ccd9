/* parts.h - the sections of a run's page; each writes what it can and says what is missing. */
#ifndef MCP_REPORT_PARTS_H
#define MCP_REPORT_PARTS_H

#include "report/page.h"
#include "report/plot.h"
#include "learn/finish.h"
#include "report/report.h"

/* Numbers about one policy trial's model, measured on data the model had not seen: the trial itself. */
typedef struct {
    int     known;  /* 0: could not be computed, see why */
    char    why[256];
    int     n, ngp;
    double *t;                  /* [n] s */
    double *change;             /* [ngp][n] what happened                */
    double *mean, *std;         /* [ngp][n] what was predicted; std with noise */
    double *low, *high;         /* [ngp][n] the 90 % band               */
    double *coverage;           /* [ngp] share inside +-1.645 std (90 %) */
    double *z_rms;              /* [ngp] root mean square of (change - mean)/std */
    mcp_fit *fit;
} mcp_model_check;
void mcp_model_check_make(mcp_model_check *m, const mcp_run *r, const mcp_run_item *it);
void mcp_model_check_free(mcp_model_check *m);

/* Root mean square of what the observer got wrong, per state, against the truth (or the smoothed state). */
typedef struct {
    int    known; /* 1: against the truth, 2: against the smoothed state, 0: neither */
    double observed[MCP_MAX_STATE], smoothed[MCP_MAX_STATE],
        spread[MCP_MAX_STATE]; /* NaN: unknown; spread: of the signal */
} mcp_observer_check;
void mcp_observer_check_make(mcp_observer_check *o, const mcp_run *r, const mcp_run_item *it);

void mcp_report_summary(mcp_text *out, const mcp_run *r, const mcp_finish *finish);
void mcp_report_trials(mcp_text *out, const mcp_run *r);
void mcp_report_model(mcp_text *out, const mcp_run *r, const mcp_model_check *m);
void mcp_report_observer(mcp_text *out, const mcp_run *r, const mcp_observer_check *o);
void mcp_report_forecast(mcp_text *out, const mcp_run *r, const mcp_finish *finish);
void mcp_report_verdict(mcp_text *out, const mcp_run_item *it); /* a card */
void mcp_report_diagnosis(mcp_text *out, const mcp_run *r);
void mcp_report_animation(mcp_text *out, const mcp_run *r);

/* Single charts, used on the page and as figures. */
void mcp_chart_state(mcp_plot *p, const mcp_run *r, const mcp_run_item *it, int state);
void mcp_chart_success(mcp_plot *p, const mcp_run *r, const mcp_run_item *it, int state);
void mcp_chart_input(mcp_plot *p, const mcp_run *r, const mcp_run_item *it, int input);
/* Returns 0, with the reason in why, when the history cannot be read; table must outlive the plot, then
 * mcp_csv_free. */
struct mcp_chart_history {
    void   *table;
    double *step, *cost;
};
int mcp_chart_history_load(struct mcp_chart_history *h, mcp_plot *p, const mcp_run_item *it, char *why,
                           size_t size);
void mcp_chart_history_free(struct mcp_chart_history *h);
void mcp_chart_model(mcp_plot *p, const mcp_run *r, const mcp_model_check *m, int gp);
/* A run with the trial that a picture is of (0: the last); r is the caller's to free. */
mcp_status mcp_open_trial(mcp_run **r, mcp_run_item **it, const char *folder, int number, mcp_error *err);
void mcp_chart_observer(mcp_plot *p, const mcp_run *r, const mcp_run_item *it, int state, double *column);

/* A figure for a paper: panels in columns and rows. */
typedef struct {
    mcp_text body;
    int      columns, rows;
} mcp_panels;
void mcp_panel(mcp_panels *out, mcp_plot *p, int column, int row); /* gives p its size */
mcp_status mcp_figure_runs(mcp_panels *out, const mcp_run *r, const mcp_run_item *it, mcp_error *err);
mcp_status mcp_figure_plane(mcp_panels *out, const mcp_run *r, const mcp_run_item *it, mcp_error *err);
mcp_status mcp_figure_trials(mcp_panels *out, const mcp_run *r, mcp_error *err);
/* Moments of a trial drawn over each other, the last one dark: a whole SVG. */
mcp_status mcp_figure_moments(mcp_text *out, const mcp_run *r, const mcp_run_item *it, mcp_error *err);

/* "theta [rad]" */
const char *mcp_state_label(const mcp_run *r, int state, char *buf, size_t size);
const char *mcp_item_name(const mcp_run_item *it, char *buf, size_t size); 
const char *mcp_item_group(const mcp_run_item *it, char *buf, size_t size); /* "trial-3": of its charts */
/* "solved", "no success", "exploration": for tables; the class that colours it in *class. */
const char *mcp_item_outcome(const mcp_run *r, const mcp_run_item *it, const char **class);

#endif
