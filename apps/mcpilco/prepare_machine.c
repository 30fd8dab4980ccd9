/* prepare_machine.c - prepare the process before any work: OpenBLAS on one thread and on kernels that fit the
 * CPU.
 *
 * OpenBLAS reads its settings when it is loaded, before main. If it chose badly and the user did not choose
 * for it, the program sets the environment and starts itself again, once: MCPILCO_RESTARTED keeps it from a
 * second time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "mcpilco/machine.h"
#include "options.h"

void prepare_machine(char **argv)
{
    mcp_machine m;
    mcp_machine_info(&m, sizeof m);
    int core    = m.blas_slow && !getenv("OPENBLAS_CORETYPE");
    int threads = !strcmp(m.blas_kind, "openmp") &&
                  !getenv("OMP_NUM_THREADS"); /* its threads each ask the environment */
    if ((core || threads) && !getenv("MCPILCO_RESTARTED")) {
        setenv("MCPILCO_RESTARTED", "1", 1);
        if (core) setenv("OPENBLAS_CORETYPE", "auto", 1);
        if (threads) setenv("OMP_NUM_THREADS", "1", 1);
        execv("/proc/self/exe", argv); /* where this fails we go on as we are */
    }
    unsetenv("MCPILCO_RESTARTED"); /* programs started from here decide for themselves */
    mcp_machine_one_blas_thread();
    if (m.blas_slow)
        fprintf(
            stderr,
            "mcpilco: warning: %s runs its oldest kernels on a CPU with AVX2: model training will be slow; "
            "set OPENBLAS_CORETYPE=Haswell\n",
            m.blas);
}

#ifdef MCP_HAVE_MPI
static const char has_mpi[] = "yes";
#else
static const char has_mpi[] = "no";
#endif
#ifdef MCP_HAVE_MUJOCO
static const char has_mujoco[] = "yes";
#else
static const char has_mujoco[] = "no";
#endif

int cmd_machine(int argc, char **argv)
{
    mcp_machine   m;
    int           json = 0;
    const option  options[] = {{"--json", OPTION_FLAG, &json, 0, 0, NULL, "one JSON object", NULL}};
    const command verb = {
        .verb = "machine",
        .synopsis = "[--json]",
        .about = "Says what the program found here: instruction set, BLAS, cores.",
        .options = options,
        .count = 1,
    };
    int code = options_parse(&verb, argc, argv);
    if (code != OPTIONS_GO) return code;
    mcp_machine_info(&m, sizeof m);
    printf(json ? "{\"isa\": \"%s\", \"isa_cpu\": \"%s\", \"blas\": \"%s\", \"blas_kind\": \"%s\", "
                  "\"blas_slow\": %d, "
                  "\"blas_threads\": %d, \"cores\": %d, \"mpi\": \"%s\", \"mujoco\": \"%s\"}\n"
                : "instruction set  %s (the CPU runs %s)\nBLAS             %s, %s, slow %d, threads "
                  "%d\ncores            %d\n"
                  "MPI              %s\nMuJoCo           %s\n",
           m.isa, m.isa_cpu, m.blas, m.blas_kind, m.blas_slow, m.blas_threads, m.cores, has_mpi, has_mujoco);
    return 0;
}
