/* rules.h - when to lower the step size and the dropout, and when to stop. Numbers in, a verdict out: a rule
 * never calls the objective. */
#ifndef MCP_RULES_H
#define MCP_RULES_H

typedef struct {
    double step_size, dropout;
} mcp_pace;

typedef enum { MCP_RULE_GO = 0, MCP_RULE_LOWERED, MCP_RULE_STOP } mcp_verdict;

/* Halves the step size and takes 0.125 off the dropout, or says stop when the step size would go below
 * `least`. */
mcp_verdict mcp_pace_lower(mcp_pace *p, double least);

/* The paper's monitor on the smoothed cost difference, dJ_j = J_j - J_{j-1}:
 *   E_j = a E_{j-1} + (1-a) dJ_j     V_j = a (V_{j-1} + (1-a) (dJ_j - E_{j-1})^2)
 *     s_j = a s_{j-1} + (1-a) E_j/sqrt(V_j)
 * j > j_min and |s| < sigma over the last `window` steps: lower, sigma = max(sigma/2, sigma_min), j_min =
 * j + window. */
typedef struct {
    double a, sigma, sigma_min, least;
    int    window;
    double J, E, V, s; /* state */
    int    j, j_min, calm;
} mcp_monitor;
mcp_monitor mcp_monitor_make(double least); /* a 0.99, sigma 0.08 to 0.01, window 200 */
mcp_verdict mcp_monitor_step(mcp_monitor *m, double J, mcp_pace *p);

/* The plateau rule on costs without dropout on a fixed noise set: `patience` steps without a gain of more
 * than `worth` lower the pace by two notches (but not below `least`). The caller goes back to its best policy
 * on MCP_RULE_LOWERED. */
typedef struct {
    double least;
    int    patience;
    double reference; /* last cost that counted as a gain */
    int    since;     /* step of it */
} mcp_plateau;
mcp_plateau mcp_plateau_make(int patience, double least, double J);
mcp_verdict mcp_plateau_step(mcp_plateau *r, int step, double J, double worth, mcp_pace *p);

/* Standard error of the mean gain of n particles from before to now, on the same noise. */
double mcp_gain_error(int n, const double *before, const double *now);

/* A fixed budget: the full step size for half of the steps, then linearly down to a tenth; the dropout halved
 * from half way, none in the last quarter. */
void mcp_schedule_pace(const mcp_pace *start, int step, int steps, mcp_pace *p);

#endif
