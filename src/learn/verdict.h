/* verdict.h - what a diagnosis says of one trial. */
#ifndef MCP_VERDICT_H
#define MCP_VERDICT_H

enum { MCP_WINDOWS = 4 }; /* horizons of the coverage: quarters of the trial */

/* Forecast against outcome. */
typedef enum {
    MCP_VERDICT_NONE = 0,       /* no policy was tried, or no forecast is on record            */
    MCP_VERDICT_SOLVED,         /* solved, and the model predicted it                           */
    MCP_VERDICT_SOLVED_OTHER,   /* solved, but not as forecast                                  */
    MCP_VERDICT_AS_FORECAST,    /* no success, and the model knew: the policy is the weak part  */
    MCP_VERDICT_UNFORESEEN,     /* the forecast promised success                                */
    MCP_VERDICT_MISSED,         /* the model is wrong where the policy went                     */
    MCP_VERDICT_VAGUE,          /* the forecast was too wide to be wrong                        */
    MCP_VERDICT_CUT_SHORT,      /* the trial ended before its time                              */
    MCP_VERDICT_COST_AS_FORECAST /* no success test: the cost is as forecast                    */
} mcp_verdict;

/* A cause that was found in the data, and what to do about it. */
typedef enum {
    MCP_CAUSE_NONE = 0,
    MCP_CAUSE_LIMIT,
    MCP_CAUSE_ENDED,
    MCP_CAUSE_START,
    MCP_CAUSE_SIGN,
    MCP_CAUSE_DELAY,
    MCP_CAUSE_SMOOTHER,
    MCP_CAUSE_SENSOR,
    MCP_CAUSE_FEATURE,
    MCP_CAUSE_LONG_TRIAL,
    MCP_CAUSE_FLAT_COST,
    MCP_CAUSE_SHORT_TRIAL,
    MCP_CAUSE_OPTIMISER,
    MCP_CAUSE_POLICY,
    MCP_CAUSE_OBSERVER,
    MCP_CAUSE_DATA
} mcp_cause;

enum { MCP_FINDINGS = 6 };

typedef struct {
    mcp_cause cause;
    char      text[320]; /* what was seen, with numbers */
    char      remedy[240];
} mcp_finding;

typedef struct {
    mcp_verdict verdict;
    char        text[320];           /* one or two sentences                                  */
    double      deviations;          /* (cost - forecast)/deviation of the forecast           */
    double      inside[MCP_WINDOWS]; /* share of states inside the 5-95 % band, by quarter    */
    double      width[MCP_WINDOWS];  /* the band's width over what the state ever did, widest */
    int         findings;            /* the likeliest cause first                             */
    mcp_finding finding[MCP_FINDINGS];
} mcp_diagnosis;

#endif
