/* completion.c - completion scripts: every verb shows its table of options (options_see), every section of a
 * task file its keys (for --set). What an option takes is told by the name of its argument: FILE, DIR, TASK,
 * KEY=VALUE. */
#include "completion.h"

#include <stdio.h>
#include <string.h>

#include "options.h"
#include "task/keys.h"

typedef enum { TAKES_NOTHING, TAKES_ANY, TAKES_FILE, TAKES_FOLDER, TAKES_TASK, TAKES_KEY } takes;

static takes what_it_takes(const char *argument)
{
    if (!argument) return TAKES_NOTHING;
    if (!strncmp(argument, "FILE", 4) || !strcmp(argument, "DEVICE")) return TAKES_FILE;
    if (!strncmp(argument, "DIR", 3) || !strncmp(argument, "RUN", 3)) return TAKES_FOLDER;
    if (!strncmp(argument, "TASK", 4)) return TAKES_TASK;
    return strcmp(argument, "KEY=VALUE") ? TAKES_ANY : TAKES_KEY;
}

/* Calls each verb, which gives its table to see. */
static void all(const verb *verbs, size_t count, options_see_fn *see, void *context)
{
    options_see(see, context);
    for (size_t i = 0; i < count; i++) {
        char  name[32];
        char *argv[] = {name, NULL};
        snprintf(name, sizeof name, "%s", verbs[i].name);
        (void)verbs[i].run(1, argv);
    }
    options_see(NULL, NULL);
}

/* "rate= optimise.particles= ..": the keys that --set changes. */
static void print_keys(const mcp_key *t, const char *before, const char *separator)
{
    for (const mcp_key *k = t; k->name; k++) {
        char name[80];
        int  sub = k->table && (k->type == KEY_MAP || k->shape & SHAPE_TABLE);
        snprintf(name, sizeof name, "%s%s", before, k->name);
        if (!sub || k->shorthand) printf("%s%s=", separator, name);
        if (sub && !*before) {
            char section[84];
            snprintf(section, sizeof section, "%s.", name);
            print_keys(k->table, section, separator);
        }
    }
}

/* Text inside single quotes of a shell; a backslash before the letters in special. */
static void print_quoted(const char *s, const char *special)
{
    for (; *s; s++) {
        if (*s == '\'') printf("'\\''");
        else if (strchr(special, *s)) printf("\\%c", *s);
        else putchar(*s);
    }
}

static void bash_values(void *context, const command *c)
{
    static const char *const reply[] = {
        [TAKES_ANY] = "COMPREPLY=()",
        [TAKES_FILE] = "_mcpilco_files -f",
        [TAKES_FOLDER] = "_mcpilco_files -d",
        [TAKES_TASK] = "_mcpilco_files -f",
        [TAKES_KEY] = "COMPREPLY=($(compgen -W \"$_mcpilco_keys\" -- \"$cur\")); compopt -o nospace",
    };
    (void)context;
    for (int i = 0; i < c->count; i++) {
        const option *o = &c->options[i];
        if (o->type == OPTION_FLAG) continue;
        printf("    %s,%s", c->verb, o->name);
        if (o->short_name) printf("|%s,%s", c->verb, o->short_name);
        printf(") %s; return ;;\n", reply[what_it_takes(o->argument)]);
    }
}

static void bash_options(void *context, const command *c)
{
    (void)context;
    printf("    %s) words=\"--help", c->verb);
    for (int i = 0; i < c->count; i++) printf(" %s", c->options[i].name);
    printf("\" first=\"%s\" ;;\n", c->words ? c->words : "");
}

static void print_bash(const verb *verbs, size_t count)
{
    printf("# bash completion for mcpilco, printed by: mcpilco help completion bash\n"
           "_mcpilco_keys=\"");
    print_keys(mcp_task_table, "", " ");
    printf("\"\n\n"
           "_mcpilco_files() {\n"
           "    compopt -o filenames\n"
           "    mapfile -t COMPREPLY < <(compgen \"$1\" -- \"$cur\")\n"
           "}\n\n"
           "_mcpilco() {\n"
           "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} verb=${COMP_WORDS[1]}\n"
           "    local words= first=\n"
           "    if [ \"$COMP_CWORD\" = 1 ]; then\n"
           "        COMPREPLY=($(compgen -W \"");
    for (size_t i = 0; i < count; i++) printf("%s ", verbs[i].name);
    printf("help --help --version\" -- \"$cur\"))\n"
           "        return\n"
           "    fi\n"
           "    case $verb,$prev in\n"
           "    help,help) COMPREPLY=($(compgen -W \"task completion\" -- \"$cur\")); return ;;\n"
           "    help,task) COMPREPLY=($(compgen -W \"--schema\" -- \"$cur\")); return ;;\n"
           "    help,completion) COMPREPLY=($(compgen -W \"bash zsh fish\" -- \"$cur\")); return ;;\n");
    all(verbs, count, bash_values, NULL);
    printf("    esac\n"
           "    case $verb in\n");
    all(verbs, count, bash_options, NULL);
    printf("    esac\n"
           "    case $cur in\n"
           "    -*) COMPREPLY=($(compgen -W \"$words\" -- \"$cur\")) ;;\n"
           "    *) if [ -n \"$first\" ]; then COMPREPLY=($(compgen -W \"$first\" -- \"$cur\"))\n"
           "       else _mcpilco_files -f\n"
           "       fi ;;\n"
           "    esac\n"
           "}\n"
           "complete -F _mcpilco mcpilco\n");
}

static const char *zsh_action(const char *argument)
{
    switch (what_it_takes(argument)) {
    case TAKES_FILE: return "_files";
    case TAKES_FOLDER: return "_files -/";
    case TAKES_TASK: return "_files -g \"*.(yaml|yml)\"";
    case TAKES_KEY: return "{ compadd -S \"\" -- $keys }";
    case TAKES_NOTHING:
    case TAKES_ANY: break;
    }
    return "";
}

static void zsh_verb(void *context, const command *c)
{
    (void)context;
    printf("  %s)\n    _arguments -s '--help[how it is used]'", c->verb);
    for (int i = 0; i < c->count; i++) {
        const option *o = &c->options[i];
        const char   *often = o->type == OPTION_LIST ? "*" : "";
        if (o->short_name)
            printf(" \\\n      '(%s %s)'{%s,%s}'[", o->name, o->short_name, o->short_name, o->name);
        else printf(" \\\n      '%s%s[", often, o->name);
        print_quoted(o->help, "[]:\\");
        printf("]");
        if (o->argument) {
            printf(":");
            print_quoted(o->argument, "[]:\\");
            printf(":%s", zsh_action(o->argument));
        }
        printf("'");
    }
    if (c->words) printf(" \\\n      '1:what:(%s)'", c->words);
    else if (c->most || !strncmp(c->synopsis, "TASK", 4))
        printf(" \\\n      '*:argument:%s'", *zsh_action(c->synopsis) ? zsh_action(c->synopsis) : "_files");
    printf("\n    ;;\n");
}

static void print_zsh(const verb *verbs, size_t count)
{
    printf("#compdef mcpilco\n# printed by: mcpilco help completion zsh\n"
           "local -a verbs keys\nkeys=(");
    print_keys(mcp_task_table, "", " ");
    printf(")\nverbs=(\n");
    for (size_t i = 0; i < count; i++) {
        printf("  '%s:", verbs[i].name);
        print_quoted(verbs[i].about, ":\\");
        printf("'\n");
    }
    printf("  'help:keys of a task file, completion scripts'\n)\n"
           "if (( CURRENT == 2 )); then\n  _describe verb verbs\n  return\nfi\n"
           "local verb=$words[2]\n"
           "shift words\n(( CURRENT-- ))\n"
           "case $verb in\n"
           "  help) _arguments '1:what:(task completion)' '2:form:(--schema bash zsh fish)' ;;\n");
    all(verbs, count, zsh_verb, NULL);
    printf("esac\n");
}

static void fish_verb(void *context, const command *c)
{
    static const char *const how[] = {
        [TAKES_NOTHING] = "",
        [TAKES_ANY] = " -x",
        [TAKES_FILE] = " -r -F",
        [TAKES_FOLDER] = " -x -a '(__fish_complete_directories)'",
        [TAKES_TASK] = " -x -a '(__fish_complete_suffix .yaml)'",
        [TAKES_KEY] = " -x -a \"$mcpilco_keys\"",
    };
    (void)context;
    for (int i = 0; i < c->count; i++) {
        const option *o = &c->options[i];
        printf("complete -c mcpilco -n '__fish_seen_subcommand_from %s' -l %s", c->verb, o->name + 2);
        if (o->short_name) printf(" -s %s", o->short_name + 1);
        printf("%s -d '", how[what_it_takes(o->argument)]);
        print_quoted(o->help, "");
        printf("'\n");
    }
    printf("complete -c mcpilco -n '__fish_seen_subcommand_from %s' ", c->verb);
    if (c->words) printf("-x -a '%s'\n", c->words);
    else if (what_it_takes(c->synopsis) == TAKES_TASK) printf("-x -a '(__fish_complete_suffix .yaml)'\n");
    else printf("-F\n");
}

static void print_fish(const verb *verbs, size_t count)
{
    printf("# fish completion for mcpilco, printed by: mcpilco help completion fish\n"
           "set -g mcpilco_keys \"");
    print_keys(mcp_task_table, "", " ");
    printf("\"\ncomplete -c mcpilco -f\n");
    for (size_t i = 0; i < count; i++) {
        printf("complete -c mcpilco -n __fish_use_subcommand -a %s -d '", verbs[i].name);
        print_quoted(verbs[i].about, "");
        printf("'\n");
    }
    printf("complete -c mcpilco -n __fish_use_subcommand -a help "
           "-d 'keys of a task file, completion scripts'\n"
           "complete -c mcpilco -n '__fish_seen_subcommand_from help' -a 'task completion'\n");
    all(verbs, count, fish_verb, NULL);
}

int completion_print(const char *shell, const verb *verbs, size_t count)
{
    if (!strcmp(shell, "bash")) print_bash(verbs, count);
    else if (!strcmp(shell, "zsh")) print_zsh(verbs, count);
    else if (!strcmp(shell, "fish")) print_fish(verbs, count);
    else {
        fprintf(stderr, "mcpilco help completion: \"%s\" is no shell we know; expected bash, zsh or fish\n",
                shell);
        return 2;
    }
    return 0;
}
