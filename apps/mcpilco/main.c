/* main.c - the command line: mcpilco VERB ... */
#include <stdio.h>
#include <string.h>

#include "commands.h"

typedef struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *about;
} verb;

static const verb verbs[] = {
    {"machine", cmd_machine, "say what was found here: instruction set, BLAS, cores"},
    {"bench", cmd_bench, "measure this machine: bench kernels|gp|step"},
};

static int usage(FILE *to)
{
    fprintf(to, "mcpilco " MCP_VERSION " - learn controllers for real robots from seconds of data\n\n"
                "usage: mcpilco VERB ...        mcpilco VERB --help teaches the verb\n\n");
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) fprintf(to, "  %-10s %s\n", verbs[i].name, verbs[i].about);
    return to == stderr ? 2 : 0;
}

int main(int argc, char **argv)
{
    prepare_machine(argv);
    if (argc < 2) return usage(stderr);
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) return usage(stdout);
    if (!strcmp(argv[1], "--version")) {
        printf("mcpilco " MCP_VERSION "\n");
        return 0;
    }
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (!strcmp(argv[1], verbs[i].name)) return verbs[i].run(argc - 1, argv + 1);
    fprintf(stderr, "mcpilco: unknown verb \"%s\"; mcpilco --help lists them\n", argv[1]);
    return 2;
}
