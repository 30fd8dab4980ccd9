/* finish.h - the end of a run: which of its policies to use, and how good it is from many starts. Kept in
 * finish.json. */
#ifndef MCP_FINISH_H
#define MCP_FINISH_H

#include "learn/evaluate.h"

enum { MCP_FINISH_RUNS = 200 };

typedef struct {
    int    known;
    int    trial;                     /* the recommended policy                              */
    int    trials;                    /* policy trials the run had then                      */
    int    tested;                    /* 1: the task has a success test                      */
    int    runs, successes, limits;
    double low, high;                 /* Wilson's 95 % interval of the success rate          */
    double cost_before, cost_p05, cost_median, cost_p95; /* before: of the first exploration */
} mcp_finish;

/* Evaluates the recommended policy (recommend.h) on a simulated plant and stores finish.json when the run has
 * a folder. */
mcp_status mcp_finish_make(mcp_finish *f, const mcp_run *r, mcp_pool *pool, mcp_evaluate_fn *tell,
                           void *context, mcp_error *err);
/* known = 0 when there is none, or trials were added since. */
void mcp_finish_load(mcp_finish *f, const mcp_run *r);
/* A success rate of at least 95 % counts as solved. */
int mcp_finish_solved(const mcp_finish *f);
/* "Solved: 197 of 200 starts succeed" and "98.5 %, 95.7 to 99.5 ...". Returns mcp_finish_solved. */
int     mcp_finish_headline(const mcp_finish *f, char *what, size_t size, char *more, size_t more_size);
json_t *mcp_finish_to_json(const mcp_finish *f);

#endif
