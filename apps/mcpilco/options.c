/* options.c - parse a verb's options by its table, or teach them. */
#include "math/number.h"
#include "options.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mcpilco/error.h"
#include "program/edit_distance.h"
#include "term.h"

enum { WORD_MAX = 40 };

const char *nearest_word(const char *s, const char *(*next)(const void *context, int i), const void *context)
{
    const char *best = NULL, *word;
    int         least = (int)strlen(s) / 2 + 1;
    for (int i = 0; (word = next(context, i)); i++) {
        int d = mcp_word_distance(s, strlen(s), word, strlen(word), least);
        if (!strncmp(s, word, strlen(s)) && d > 1) d = 1; /* a beginning is as good as a typo */
        if (d < least) {
            least = d;
            best = word;
        }
    }
    return best;
}

static int is_named(const option *o, const char *s, size_t n)
{
    return (strlen(o->name) == n && !strncmp(s, o->name, n)) || (o->short_name && !strcmp(s, o->short_name));
}

static void help(const command *c)
{
    printf("usage: mcpilco %s %s\n\n%s\n", c->verb, c->synopsis, c->about);
    if (c->count) printf("\noptions:\n");
    for (int i = 0; i < c->count; i++) {
        const option *o = &c->options[i];
        char          left[64];
        snprintf(left, sizeof left, "%s%s%s%s%s", o->short_name ? o->short_name : "",
                 o->short_name ? ", " : "", o->name, o->argument ? " " : "", o->argument ? o->argument : "");
        printf("  %-22s %s\n", left, o->help);
    }
    if (c->examples) printf("\nexamples:\n%s", c->examples);
}

static const char *option_word(const void *context, int i)
{
    const command *c = context;
    return i < c->count ? c->options[i].name : i == c->count ? "--help" : NULL;
}

static int MCP_PRINTF(2, 3) wrong(const command *c, const char *fmt, ...)
{
    va_list args;
    fprintf(stderr, "mcpilco %s: ", c->verb);
    va_start(args, fmt);
    vfprintf(stderr, fmt, args);
    va_end(args);
    fprintf(stderr, "; mcpilco %s --help teaches the verb\n", c->verb);
    return 2;
}

static int unknown(const command *c, const char *arg)
{
    char name[WORD_MAX + 1];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(arg, "="), arg);
    const char *near = nearest_word(name, option_word, c);
    return near ? wrong(c, "there is no option %s; did you mean %s?", name, near)
                : wrong(c, "there is no option %s", name);
}

static int set_value(const command *c, const option *o, const char *text)
{
    char  *end = NULL;
    double number;
    errno = 0;
    switch (o->type) {
    case OPTION_FLAG:
        *(int *)o->value = 1;
        if (!strcmp(o->name, "--json")) term_want_json();
        return OPTIONS_GO;
    case OPTION_TEXT: *(const char **)o->value = text; return OPTIONS_GO;
    case OPTION_LIST: {
        option_list *l = o->value;
        if (l->count == OPTION_LIST_MAX)
            return wrong(c, "%s was given more than %d times", o->name, OPTION_LIST_MAX);
        l->item[l->count++] = text;
        return OPTIONS_GO;
    }
    case OPTION_SEED: {
        unsigned long long v = strtoull(text, &end, 10);
        if (!*text || *end || *text == '-' || errno || v >> 63)
            return wrong(c, "%s %s: expected a whole number from 0 to 2^63-1", o->name, text);
        *(uint64_t *)o->value = v;
        return OPTIONS_GO;
    }
    case OPTION_INT:
    case OPTION_NUMBER: break;
    }
    number = mcp_number_read(text, &end);
    if (!*text || *end || errno || !(number >= o->lo && number <= o->hi) ||
        (o->type == OPTION_INT && number != floor(number))) {
        return wrong(c, "%s %s: expected a %snumber from %.10g to %.10g", o->name, text,
                     o->type == OPTION_INT ? "whole " : "", o->lo, o->hi);
    }
    if (o->type == OPTION_INT) *(int *)o->value = (int)number;
    else *(double *)o->value = number;
    return OPTIONS_GO;
}

/* One option at argv[*i]; moves *i over its value. */
static int parse_option(const command *c, int argc, char **argv, int *i)
{
    const char *arg = argv[*i];
    size_t      n = strcspn(arg, "=");
    for (int k = 0; k < c->count; k++) {
        const option *o = &c->options[k];
        if (!is_named(o, arg, n)) continue;
        if (o->type == OPTION_FLAG)
            return arg[n] ? wrong(c, "%s takes no value", o->name) : set_value(c, o, NULL);
        if (arg[n]) return set_value(c, o, arg + n + 1);
        if (*i + 1 >= argc) return wrong(c, "%s needs a value: %s", arg, o->argument);
        return set_value(c, o, argv[++*i]);
    }
    return unknown(c, arg);
}

static options_see_fn *seen_by;
static void           *seen_context;

void options_see(options_see_fn *see, void *context)
{
    seen_by = see;
    seen_context = context;
}

int options_seen(void)
{
    return seen_by != NULL;
}

int options_parse(const command *c, int argc, char **argv)
{
    int given = 0, only_positional = 0, code;
    if (seen_by) {
        seen_by(seen_context, c);
        return 0;
    }
    for (int i = 0; i < c->most; i++) c->positional[i] = NULL;
    for (int i = 1; i < argc; i++) {
        const char *arg = argv[i];
        if (!only_positional && !strcmp(arg, "--")) {
            only_positional = 1;
        } else if (!only_positional && (!strcmp(arg, "--help") || !strcmp(arg, "-h"))) {
            help(c);
            return 0;
        } else if (!only_positional && arg[0] == '-' && arg[1]) {
            if ((code = parse_option(c, argc, argv, &i)) != OPTIONS_GO) return code;
        } else if (given == c->most) {
            return wrong(c, "\"%s\" is one argument too many; usage: mcpilco %s %s", arg, c->verb,
                         c->synopsis);
        } else {
            c->positional[given++] = arg;
        }
    }
    if (given < c->least)
        return wrong(c, "an argument is missing; usage: mcpilco %s %s", c->verb, c->synopsis);
    return OPTIONS_GO;
}
