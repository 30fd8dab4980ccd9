/* report.h - one page per run: did it work, can it be trusted, what should be changed. */
#ifndef MCP_REPORT_H
#define MCP_REPORT_H

#include "learn/run_folder.h"
#include "math/text.h"

/* The page of a run folder, as HTML text. Missing or damaged parts are named on the page; only a folder
 * without a readable run.json and task is an error. *html: mcp_free it. */
mcp_status mcp_report_run(const char *folder, char **html, mcp_error *err);

/* Runs side by side: costs, successes, times, settings that differ, trajectories; at most twelve. */
mcp_status mcp_report_compare(int n, const char *const *folder, char **html, mcp_error *err);

/* A figure of a run for a paper: stand-alone SVG. name: one of mcp_report_figures. number: policy trial, 0 =
 * the last. "runs" and "plane" run the policy on its plant, which must be a simulation; "trials" shows all
 * trials up to the first success. */
mcp_status mcp_report_figure(const char *folder, const char *name, int number, char **svg, mcp_error *err);
/* The frames of a trial's animation, SVG each, at most 30 a second: *rate gets how many. Stops with its
 * status when take returns another than MCP_OK. */
typedef mcp_status mcp_frame_fn(void *context, int index, const char *svg, mcp_error *err);
mcp_status mcp_report_frames(const char *folder, int number, mcp_frame_fn *take, void *context, double *rate,
                             mcp_error *err);
/* "trajectory, inputs, ...": for messages and help. */
const char *mcp_report_figures(void);

#endif
