/* run_args.c - open a run, pick one of its policies, name what is made of it. */
#include "run_args.h"

#include <stdio.h>
#include <string.h>

#include "export/export.h"
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

/* The recommendation is of a whole run: with a part missing, another policy would stand in for it unsaid. */
static int refuse_substitute(const char *verb, const mcp_run *r, const mcp_error *trouble)
{
    int whole = mcp_run_trials(r);
    fprintf(stderr, "mcpilco %s: %s\n", verb, trouble->text);
    if (whole)
        fprintf(stderr,
                "  policies 1 to %d are whole: name the one to use; or repair the run first: mcpilco learn "
                "--resume %s\n",
                whole, r->folder);
    else
        fprintf(stderr, "  no policy is whole; mcpilco learn --resume %s makes what is missing again\n",
                r->folder);
    return 1;
}

int open_policy(const char *verb, const char *folder, int number, mcp_run **out, mcp_run_item **it)
{
    mcp_error trouble, err;
    int       code = 0;
    *it = NULL;
    if (mcp_run_open(out, folder, &trouble, &err) != MCP_OK) return term_error(verb, &err);
    const mcp_run *r = *out;
    int            trials = mcp_run_trials(r);
    if (trouble.status != MCP_OK && (!number || number > trials)) code = refuse_substitute(verb, r, &trouble);
    else if (!(*it = mcp_run_trial(r, number ? number : mcp_recommended(r)))) {
        code = 1;
        if (trials)
            fprintf(stderr, "mcpilco %s: %s has policy trials 1 to %d, not %d\n", verb, r->folder, trials,
                    number);
        else
            fprintf(stderr,
                    "mcpilco %s: %s has no finished policy trial yet; mcpilco learn --resume %s goes on "
                    "with it\n",
                    verb, r->folder, r->folder);
    }
    if (!code) return 0;
    mcp_run_free(*out);
    *out = NULL;
    return code;
}

void c_name(char *out, size_t size, const char *name)
{
    size_t n = 0;
    if (name[0] >= '0' && name[0] <= '9' && n + 1 < size) out[n++] = '_';
    for (const char *c = name; *c && n + 1 < size && n < 40; c++) {
        int plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9');
        out[n++] = plain ? *c : '_';
    }
    out[n] = '\0';
    if (mcp_export_prefix_taken(out) && n + 2 < size) memcpy(out + n, "_", 2);
}
