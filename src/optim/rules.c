/* rules.c - monitor, plateau and schedule. */
#include "optim/rules.h"

#include <math.h>

mcp_verdict mcp_pace_lower(mcp_pace *p, double least)
{
    if (0.5 * p->step_size < least * (1.0 - 1e-9)) return MCP_RULE_STOP;
    p->step_size *= 0.5;
    p->dropout = fmax(0.0, p->dropout - 0.125);
    return MCP_RULE_LOWERED;
}

mcp_monitor mcp_monitor_make(double least)
{
    return (mcp_monitor){
        .a = 0.99, .sigma = 0.08, .sigma_min = 0.01, .least = least, .window = 200, .j_min = 200};
}

mcp_verdict mcp_monitor_step(mcp_monitor *m, double J, mcp_pace *p)
{
    if (m->j++ > 0) {
        const double change = J - m->J, before = m->E;
        m->E = m->a * m->E + (1.0 - m->a) * change;
        m->V = m->a * (m->V + (1.0 - m->a) * (change - before) * (change - before));
        m->s = m->a * m->s + (1.0 - m->a) * (m->V > 0.0 ? m->E / sqrt(m->V) : 0.0);
    }
    m->J    = J;
    m->calm = fabs(m->s) < m->sigma ? m->calm + 1 : 0;
    if (m->j <= m->j_min || m->calm < m->window) return MCP_RULE_GO;
    mcp_verdict verdict = mcp_pace_lower(p, m->least);
    m->sigma = fmax(0.5 * m->sigma, m->sigma_min);
    m->j_min = m->j + m->window;
    m->calm  = 0;
    return verdict;
}

mcp_plateau mcp_plateau_make(int patience, double least, double J)
{
    return (mcp_plateau){.least = least, .patience = patience, .reference = J};
}

mcp_verdict mcp_plateau_step(mcp_plateau *r, int step, double J, double worth, mcp_pace *p)
{
    if (J < r->reference - worth || (isfinite(J) && !isfinite(r->reference))) {
        r->reference = J;
        r->since     = step;
        return MCP_RULE_GO;
    }
    if (step - r->since < r->patience) return MCP_RULE_GO;
    r->since = step;
    if (mcp_pace_lower(p, r->least) == MCP_RULE_STOP) return MCP_RULE_STOP;
    mcp_pace_lower(p, r->least);
    return MCP_RULE_LOWERED;
}

double mcp_gain_error(int n, const double *before, const double *now)
{
    double mean = 0.0, square = 0.0;
    for (int i = 0; i < n; i++) mean += (before[i] - now[i]) / n;
    for (int i = 0; i < n; i++) {
        double off = before[i] - now[i] - mean;
        square += off * off;
    }
    return n > 1 ? sqrt(square / (n - 1) / n) : 0.0;
}

void mcp_schedule_pace(const mcp_pace *start, int step, int steps, mcp_pace *p)
{
    double done = steps > 0 ? (double)step / steps : 1.0;
    double fall = done <= 0.5 ? 1.0 : 1.0 - 0.9 * (done - 0.5) / 0.5;
    p->step_size = start->step_size * fall;
    p->dropout   = done < 0.5 ? start->dropout : done < 0.75 ? 0.5 * start->dropout : 0.0;
}
