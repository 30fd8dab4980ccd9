/* term.h - talking to people: signals that ask to stop, numbers as they read them, a small history line,
 * errors. */
#ifndef MCP_TERM_H
#define MCP_TERM_H

#include <jansson.h>
#include <stdio.h>

#include "mcpilco/error.h"
#include "mcpilco/plant.h"

int  term_is_live(FILE *f); /* a terminal that can overwrite its line */
int  term_columns(FILE *f);    /* of that terminal; 80 when it does not say */
/* Signals ask to stop; the program dies of none without the plant's safe input (term_signals.c). Pipes and
 * full disks are errors. */
void term_catch_signals(void);
const mcp_watch *term_watch(void); /* for whoever opens a plant */
int  term_stop(void);          /* the signal that asked to stop, 0 = none */

void term_ask_stop(void);      /* as if Ctrl-C had been pressed once */

/* Eight heights of blocks over the last `width` bins of v; out has room for 3*width+1 bytes. */
void term_sparkline(char *out, const double *v, int n, int width);
/* "0.8 s", "42 s", "3 min 05 s", "2 h 10 min" */
const char *term_seconds(char *out, size_t size, double s);
/* "-" for NaN, else by the format of one number */
const char *term_number(char *out, size_t size, const char *fmt, double v);

void term_want_json(void); /* errors go to standard output too, as an object */
/* Prints "mcpilco VERB: sentence" and returns the exit code: 130 when stopped, else 1. */
int term_error(const char *verb, const mcp_error *e);
/* The same for all mistakes of a file, at least one: "mistakes" of the JSON object lists them. */
int term_errors(const char *verb, const mcp_error *e, int count);
/* One JSON object on one line of stdout, flushed; takes it over. Returns 0, or 1 when stdout is broken: with
 * a sentence, or quietly asking to stop when its reader is gone. */
int term_json(json_t *object);
/* Asks; without a terminal the answer is no. */
int term_confirm(const char *question);

#endif
