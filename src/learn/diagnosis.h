/* diagnosis.h - which part of a trial was the weak one. The only place that judges: learn, show, the report,
 * the live page, --json and studies print what is made here and kept in result.json. */
#ifndef MCP_DIAGNOSIS_H
#define MCP_DIAGNOSIS_H

#include "learn/run_folder.h"

/* it: a trial of the run, judged (info is filled). fit: the model its policy was learned with; NULL: what
 * needs it (noise, delay, features) is left out. Failing to allocate leaves out what it was for. */
void mcp_diagnosis_make(mcp_diagnosis *d, const mcp_run *r, const mcp_run_item *it, const mcp_fit *fit);

/* "solved", "missed", ...; "delay", "sensor", ...: for JSON, the same in all versions. */
const char *mcp_verdict_name(mcp_verdict v);
const char *mcp_cause_name(mcp_cause c);
/* 1: the trial may count as good news. */
int mcp_verdict_is_good(mcp_verdict v);
/* What to do next: the first cause's remedy; "" when there is nothing to mend. */
const char *mcp_diagnosis_remedy(const mcp_diagnosis *d);

json_t *mcp_diagnosis_to_json(const mcp_diagnosis *d);
void    mcp_diagnosis_from_json(mcp_diagnosis *d, const json_t *o); /* NULL: an empty one */

#endif
