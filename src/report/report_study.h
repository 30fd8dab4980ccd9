/* report_study.h - a study's page and figures: success, cost and first success per variant. */
#ifndef MCP_REPORT_STUDY_H
#define MCP_REPORT_STUDY_H

#include "math/text.h"
#include "mcpilco/error.h"

mcp_status  mcp_report_study(const char *folder, char **html, mcp_error *err);
/* The pages of its finished runs that have none, for the links. */
mcp_status  mcp_report_study_runs(const char *folder, mcp_error *err);
mcp_status  mcp_report_study_figure(const char *folder, const char *name, char **svg, mcp_error *err);
const char *mcp_report_study_figures(void);

#endif
