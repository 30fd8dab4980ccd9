/* run_args.c - open a run, pick one of its policies, name what is made of it. */
#include "run_args.h"

#include <ctype.h>
#include <stdio.h>

#include "learn/recommend.h"
#include "term.h"

int open_run(const char *verb, const char *folder, mcp_run **out)
{
    mcp_error trouble, err;
    if (mcp_run_open(out, folder, &trouble, &err) != MCP_OK) return term_error(verb, &err);
    if (trouble.status != MCP_OK)
        fprintf(stderr, "mcpilco %s: part of the run is left out: %s\n", verb, trouble.text);
    return 0;
}

mcp_run_item *pick_policy(const char *verb, const mcp_run *r, int number)
{
    mcp_run_item *it = mcp_run_trial(r, number ? number : mcp_recommended(r));
    if (!it && mcp_run_trials(r))
        fprintf(stderr, "mcpilco %s: %s has policy trials 1 to %d, not %d\n", verb, r->folder,
                mcp_run_trials(r), number);
    else if (!it)
        fprintf(stderr,
                "mcpilco %s: %s has no finished policy trial yet; mcpilco learn --resume goes on with it\n",
                verb, r->folder);
    return it;
}

void c_name(char *out, size_t size, const char *name)
{
    size_t n = 0;
    if (isdigit((unsigned char)name[0]) && n + 1 < size) out[n++] = '_';
    for (const char *c = name; *c && n + 1 < size && n < 40; c++)
        out[n++] = (char)(isalnum((unsigned char)*c) ? *c : '_');
    out[n] = '\0';
}
