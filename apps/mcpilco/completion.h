/* completion.h - what bash, zsh and fish complete after mcpilco, from the tables of the verbs. */
#ifndef MCP_COMPLETION_H
#define MCP_COMPLETION_H

#include <stddef.h>

typedef struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *about;
} verb;

/* Prints the script for one shell; returns the exit code. */
int completion_print(const char *shell, const verb *verbs, size_t count);

#endif
