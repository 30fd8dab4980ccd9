/* clock.h - the clocks that waits and durations are measured by. */
#ifndef MCP_CLOCK_H
#define MCP_CLOCK_H

/* Seconds of the monotonic clock; may be asked in a signal handler. */
double mcp_clock(void);
/* Seconds of processor time, of all threads: on a machine that others use too, the fairer figure. */
double mcp_clock_cpu(void);
/* Sleeps until that time of the monotonic clock by an absolute timer. */
void mcp_clock_sleep_until(double time);

#endif
