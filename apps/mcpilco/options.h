/* options.h - one table per verb: it parses, checks ranges, and writes the verb's help. */
#ifndef MCP_OPTIONS_H
#define MCP_OPTIONS_H

#include <stddef.h>

typedef enum {
    OPTION_FLAG,   /* int: set to 1                     */
    OPTION_INT,    /* int in [lo, hi]                   */
    OPTION_SEED,   /* uint64_t below 2^63               */
    OPTION_NUMBER, /* double in [lo, hi]                */
    OPTION_TEXT,   /* const char *                      */
    OPTION_LIST    /* option_list: may be given often   */
} option_type;

enum { OPTION_LIST_MAX = 64 };
typedef struct {
    int         count;
    const char *item[OPTION_LIST_MAX];
} option_list;

typedef struct {
    const char *name; /* "--trials" */
    option_type type;
    void       *value;
    double      lo, hi;
    const char *argument, *help; /* "N", "policy trials" */
    const char *short_name;      /* "-o" or NULL */
} option;

typedef struct {
    const char   *verb;
    const char   *synopsis; /* "TASK [options]"                             */
    const char   *about;    /* what it does, in a few lines                 */
    const char   *examples; /* lines: command, then indented what it does   */
    const option *options;
    int           count;
    int           least, most;   /* positional arguments */
    const char  **positional;    /* [most], filled; NULL where not given */
    const char   *words;         /* what the first may be, "kernels gp"; NULL: by the synopsis */
} command;

/* In the initialiser of a command: its table of options, and one argument that must be there. */
#define ONE_ARGUMENT(table, where)                                                              \
    .options = (table), .count = sizeof(table) / sizeof *(table), .least = 1, .most = 1,        \
    .positional = (where)

/* OPTIONS_GO: parsed, go on; else the exit code: 0 after --help, 2 after a mistake, which was named on
 * stderr. */
enum { OPTIONS_GO = -1 };
int options_parse(const command *c, int argc, char **argv);
/* While see is not NULL, options_parse hands it the table and returns 0: how completion.c reads all of
 * them. */
typedef void options_see_fn(void *context, const command *c);
void options_see(options_see_fn *see, void *context);
int  options_seen(void); /* is somebody looking? */

/* The word nearest to s by edit distance, or NULL when none is near. next(context, i) gives word i, NULL
 * after the last. */
const char *nearest_word(const char *s, const char *(*next)(const void *context, int i), const void *context);

#endif
