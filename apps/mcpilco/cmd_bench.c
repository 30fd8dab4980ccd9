/* cmd_bench.c - mcpilco bench: which measurement. */
#include <stdio.h>
#include <string.h>

#include "commands.h"

int cmd_bench(int argc, char **argv)
{
    (void)argv;
    (void)argc;
    fprintf(stderr, "usage: mcpilco bench kernels|gp|step [--json] ...\n");
    return 2;
}
