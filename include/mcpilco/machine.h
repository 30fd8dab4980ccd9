/* machine.h - what the library found on this machine: instruction set, linear algebra library, cores. */
#ifndef MCPILCO_MACHINE_H
#define MCPILCO_MACHINE_H

#include <stddef.h>

#include "mcpilco/error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    char isa[8]; /* level of our kernels: base, v2, v3, v4 (environment variable MCPILCO_ISA lowers it) */
    char isa_cpu[8];   /* the widest level the CPU runs */
    char blas[80];     /* e.g. "OpenBLAS 0.3.21 Haswell": name, version, core type it chose */
    char blas_kind[8]; /* pthread, openmp, serial, or other */
    int  blas_slow;    /* 1: it runs SSE kernels although the CPU has AVX2; see below */
    int  blas_threads; /* threads it would use for one call */
    int  cores;        /* cores available to this process */
} mcp_machine;

/* Writes at most `size` bytes, sizeof(mcp_machine). */
MCP_API void mcp_machine_info(mcp_machine *m, size_t size) MCP_ANY_THREAD;

/* OpenBLAS is shared with the rest of the process, so the library never changes it by itself. A program
 * decides once, at its start:
 *
 * - Threads. The library calls LAPACK from its own threads; threads inside those calls only get in each
 *   other's way, and may change the last bits of a result. mcp_machine_one_blas_thread() sets OpenBLAS to one
 *   thread for the whole process (so does OPENBLAS_NUM_THREADS=1, or OMP_NUM_THREADS=1 for its OpenMP
 *   variant). Leave it out if other parts of the program need a threaded BLAS; results stay right.
 * - Core type. OpenBLAS may not know a new CPU and then silently takes its oldest kernels, four times slower;
 *   blas_slow tells. It chooses when it is loaded, so the cure is in the environment before the program
 *   starts: OPENBLAS_CORETYPE=auto (any word it does not know makes it choose by CPU features).
 *
 * The mcpilco command does both by itself. Call it while nobody computes. */
MCP_API void mcp_machine_one_blas_thread(void) MCP_ONE_THREAD;

#ifdef __cplusplus
}
#endif
#endif
