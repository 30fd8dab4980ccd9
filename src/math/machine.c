/* machine.c - what the library found on this machine. */
#include "mcpilco/machine.h"

#include <stdio.h>
#include <string.h>

#include "math/isa.h"
#include "math/linalg.h"
#include "math/pool.h"

extern int  openblas_get_parallel(void) __attribute__((weak));
extern int  openblas_get_num_threads(void) __attribute__((weak));
extern void openblas_set_num_threads(int threads) __attribute__((weak));

void mcp_machine_info(mcp_machine *out, size_t size)
{
    static const char *const kinds[] = {"serial", "pthread", "openmp"};
    int                      kind = openblas_get_parallel ? openblas_get_parallel() : -1;
    mcp_machine              m = {.cores = mcp_pool_cores()};
    snprintf(m.isa, sizeof m.isa, "%s", mcp_isa_name(mcp_isa_level()));
    snprintf(m.isa_cpu, sizeof m.isa_cpu, "%s", mcp_isa_name(mcp_isa_widest()));
    snprintf(m.blas_kind, sizeof m.blas_kind, "%s", kind >= 0 && kind < 3 ? kinds[kind] : "other");
    mcp_blas_info(m.blas, (int)sizeof m.blas, &m.blas_slow);
    m.blas_threads = openblas_get_num_threads ? openblas_get_num_threads() : 1;
    memset(out, 0, size);
    memcpy(out, &m, size < sizeof m ? size : sizeof m);
}

void mcp_machine_one_blas_thread(void)
{
    if (openblas_set_num_threads) openblas_set_num_threads(1);
}
