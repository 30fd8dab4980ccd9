/* run_args.h - what verbs that look at a run have in common. */
#ifndef MCP_RUN_ARGS_H
#define MCP_RUN_ARGS_H

#include "learn/run_folder.h"

/* Opens a run folder; what is damaged in it is said on stderr and left out. 0, or the exit code after the
 * sentence. */
int open_run(const char *verb, const char *folder, mcp_run **out);
/* A run and one of its policies: trial `number`, 0 = the recommended one. Nothing is substituted: where the
 * run is damaged, the policy must be named. 0, or the exit code after the sentence. */
int open_policy(const char *verb, const char *folder, int number, mcp_run **out, mcp_run_item **it);
/* A task's name as a C name. */
void c_name(char *out, size_t size, const char *name);

#endif
