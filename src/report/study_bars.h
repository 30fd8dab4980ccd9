/* study_bars.h - a study of many variants in one picture: a bar each, the seeds by the trial that solved it
 * first. */
#ifndef MCP_STUDY_BARS_H
#define MCP_STUDY_BARS_H

#include "math/text.h"
#include "study/study.h"

/* SVG; a variant without runs has no bar. standalone: plain colours instead of the page's classes. */
void mcp_study_bars(mcp_text *out, const mcp_study *s, const mcp_study_result *r, int standalone);

#endif
