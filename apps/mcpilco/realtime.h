/* realtime.h - the option --realtime of the verbs that move a plant. */
#ifndef MCP_REALTIME_H
#define MCP_REALTIME_H

void realtime_ask(const char *verb); /* says what the system refuses */
void realtime_moving(int on);        /* 1: a plant is in a trial from now on */

#endif
