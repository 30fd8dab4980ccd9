/* kernel_batch.h - covariances between nz fixed points and a batch of queries, for any kernel tree, at one
 * instruction-set level. F  [feature][ld]  queries      K  [z][ld]  values      n lanes; n and ld multiples
 * of MCP_LANES The tree is evaluated node by node over whole matrices, never pair by pair. Sums of base
 * kernels cost what the base kernels cost; products keep the matrices of their factors. */
#ifndef MCP_KERNEL_BATCH_H
#define MCP_KERNEL_BATCH_H

#include <stddef.h>

#include "math/isa.h"
#include "model/kernel.h"

typedef struct mcp_kernel_batch mcp_kernel_batch;

/* Copies Z (nz x features, row-major); borrows the kernel. Parameters are set by mcp_kernel_batch_set. */
mcp_status mcp_kernel_batch_create(mcp_kernel_batch **out, const mcp_kernel *k, mcp_isa level, int nz,
                                   const double *Z, mcp_error *err);
void       mcp_kernel_batch_free(mcp_kernel_batch *c);
void       mcp_kernel_batch_set(mcp_kernel_batch *c, const double *p);
size_t     mcp_kernel_batch_bytes(const mcp_kernel_batch *c);

/* Doubles of tape (written by forward, read by the others) and of scratch. Both 64-byte aligned. */
size_t mcp_kernel_batch_tape(const mcp_kernel_batch *c, int ld);
size_t mcp_kernel_batch_scratch(const mcp_kernel_batch *c);

void mcp_kernel_batch_forward(const mcp_kernel_batch *c, int n, int ld, const double *F, double *K,
                              double *tape);
/* One strip of MCP_LANES lanes from lane j, on the way back. */
typedef struct {
    int           j, ld;
    const double *K, *tape;   /* as forward left them, whole        */
    const double *kbar;       /* [z][ldb]: dJ/dK of the strip's lanes */
    int           ldb;
    double       *scratch;
    double       *F_bar, *dp; /* dJ/dF (whole) and dJ/dp are added; NULL = not wanted */
} mcp_kernel_strip;
void mcp_kernel_batch_backward(const mcp_kernel_batch *c, const mcp_kernel_strip *s);

/* kdiag[lane] = k(f, f), and its adjoint: adds kdiag_bar dk(f, f)/df to F_bar. */
void mcp_kernel_batch_diagonal(const mcp_kernel_batch *c, int n, int ld, const double *F, double *kdiag);
void mcp_kernel_batch_diagonal_backward(const mcp_kernel_batch *c, int n, int ld, const double *F,
                                        const double *kdiag_bar, double *F_bar);

#endif
