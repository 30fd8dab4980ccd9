/* compose.h - the pieces a task's programs are put together from (inside this folder only).
 * A composer remembers the first failure; calls after it do nothing, so that a program is written down line
 * by line and checked once. */
#ifndef MCP_COMPOSE_H
#define MCP_COMPOSE_H

#include "control/system.h"

typedef struct {
    mcp_builder *builder;
    mcp_status   status;
    mcp_error   *err;
} mcp_composer;

/* Starts a program that knows Ts and the task's constants. */
void       mcp_compose_begin(mcp_composer *c, const mcp_system *s, mcp_error *err);
mcp_status mcp_compose_end(mcp_composer *c, mcp_program **out);
void       mcp_compose_input(mcp_composer *c, const char *fmt, ...) MCP_PRINTF(2, 3);
void       mcp_compose_states(mcp_composer *c, const mcp_task *t); /* states as inputs   */
void       mcp_compose_inputs(mcp_composer *c, const mcp_task *t); /* commands as inputs */
/* Measurements y_NAME as inputs; then, by definitions y_NAME, the states that are computed from them. An
 * angle within +-pi goes on from the turn it was in: near + atan2(sin(d), cos(d)), d = from - near, near its
 * value one sample ago, or the start's mean. */
void       mcp_compose_measured(mcp_composer *c, const mcp_task *t);
void       mcp_compose_constant(mcp_composer *c, const char *name, double value); /* a number, by name */
/* name and expression are formatted: our own text, so no place in a file. Numbers do not go through it: bind
 * them by mcp_compose_constant and write their name. */
void mcp_compose_define(mcp_composer *c, const char *name, const char *fmt, ...) MCP_PRINTF(3, 4);
void mcp_compose_memory(mcp_composer *c, const char *name, const char *fmt, ...) MCP_PRINTF(3, 4);
void mcp_compose_next(mcp_composer *c, const char *name, const char *fmt, ...) MCP_PRINTF(3, 4);
void mcp_compose_output(mcp_composer *c, const char *name, const char *fmt, ...) MCP_PRINTF(3, 4);
/* The user's text, with its place. */
void mcp_compose_define_at(mcp_composer *c, const char *name, const mcp_expr *e);
void mcp_compose_memory_at(mcp_composer *c, const char *name, const mcp_expr *e);
void mcp_compose_next_at(mcp_composer *c, const char *name, const mcp_expr *e);
void mcp_compose_output_at(mcp_composer *c, const char *name, const mcp_expr *e);
void mcp_compose_fail(mcp_composer *c, mcp_status st, const char *fmt, ...) MCP_PRINTF(3, 4);

enum { MCP_NAME_SIZE = 160 };
/* A name made of pieces, in a buffer of MCP_NAME_SIZE. */
const char *mcp_compose_name(char *buffer, const char *fmt, ...) MCP_PRINTF(2, 3);

/* Defines every state the observer knows, by its name, from inputs y_NAME; marks them in known_to[nx]. */
void mcp_observer_compose(mcp_composer *c, const mcp_system *s, char *known_to);
/* The constant @rest_NAME: what input i is before the first command. */
const char *mcp_compose_rest(mcp_composer *c, const mcp_task *t, int i, char *buffer);
/* State index of the velocity of position `state`, -1 = none. */
int mcp_velocity_of(const mcp_task *t, int state);

mcp_status mcp_controller_compose(mcp_system *s, mcp_error *err);

/* Kernel texts with features as indices; base features first, new ones appended to s->feature_text. */
mcp_status mcp_kernel_texts(mcp_system *s, mcp_error *err);

#endif
