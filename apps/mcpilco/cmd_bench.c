/* cmd_bench.c - mcpilco bench: which measurement. */
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "options.h"

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *about;
} benches[] = {
    {"kernels", bench_kernels, "multiply-add peak, matrix products, vector functions, random numbers"},
    {"gp", bench_gp, "training against Adam, prediction of a block of particles"},
    {"pilco", bench_pilco, "one gradient of PILCO's expected cost by moment matching"},
    {"precision", bench_precision, "single against double precision and the particles' own noise, on a run"},
    {"predict", bench_predict, "how well the models of a recorded run foresee its next trial"},
    {"program", bench_program, "the controller program over a block of particles, forward and back"},
    {"step", bench_step, "one policy-gradient step: particles forward, adjoint back"},
};

static int usage(FILE *to)
{
    fprintf(to, "usage: mcpilco bench WHAT [--json] ...\n\n");
    for (size_t i = 0; i < sizeof benches / sizeof *benches; i++)
        fprintf(to, "  %-10s %s\n", benches[i].name, benches[i].about);
    return to == stderr ? 2 : 0;
}

/* For the shells: what may follow. */
static int show_words(int argc, char **argv)
{
    char          words[200] = "";
    size_t        used = 0;
    const command verb = {.verb = "bench", .synopsis = "WHAT", .words = words};
    for (size_t i = 0; i < sizeof benches / sizeof *benches; i++)
        used += (size_t)snprintf(words + used, sizeof words - used, "%s%s", i ? " " : "", benches[i].name);
    return options_parse(&verb, argc, argv);
}

int cmd_bench(int argc, char **argv)
{
    if (options_seen()) return show_words(argc, argv);
    if (argc < 2) return usage(stderr);
    if (!strcmp(argv[1], "--help")) return usage(stdout);
    for (size_t i = 0; i < sizeof benches / sizeof *benches; i++)
        if (!strcmp(argv[1], benches[i].name)) return benches[i].run(argc - 1, argv + 1);
    fprintf(stderr, "mcpilco bench: unknown measurement \"%s\"\n", argv[1]);
    return usage(stderr);
}
