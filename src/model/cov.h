/* cov.h - covariances between nz fixed points and a batch of queries, for any kernel tree, at one instruction-set level.
 *   F  [feature][ld]  queries      K  [z][ld]  values      n lanes; n and ld multiples of MCP_LANES
 * The tree is evaluated node by node over whole matrices, never pair by pair. Sums of base kernels cost what the base
 * kernels cost; products keep the matrices of their factors. */
#ifndef MCP_COV_H
#define MCP_COV_H

#include <stddef.h>

#include "math/isa.h"
#include "model/kernel.h"

typedef struct mcp_cov mcp_cov;

/* Copies Z (nz x features, row-major); borrows the kernel. Parameters are set by mcp_cov_set. */
mcp_status mcp_cov_create(mcp_cov **out, const mcp_kernel *k, mcp_isa level, int nz, const double *Z, mcp_error *err);
void       mcp_cov_free(mcp_cov *c);
void       mcp_cov_set(mcp_cov *c, const double *p);
size_t     mcp_cov_bytes(const mcp_cov *c);

/* Doubles of tape (written by forward, read by the others) and of scratch. Both 64-byte aligned. */
size_t mcp_cov_tape(const mcp_cov *c, int ld);
size_t mcp_cov_scratch(const mcp_cov *c);

void mcp_cov_forward(const mcp_cov *c, int n, int ld, const double *F, double *K, double *tape);
/* One strip of MCP_LANES lanes from lane j: adds dJ/dF to F_bar (NULL = not wanted) and dJ/dp to dp (NULL = not wanted).
 *   K, tape, F, F_bar as in forward (whole);  kbar [z][ldb] is dJ/dK of the strip's lanes */
void mcp_cov_backward(const mcp_cov *c, int j, int ld, const double *K, const double *tape, const double *kbar, int ldb,
                      double *scratch, double *F_bar, double *dp);

/* kdiag[lane] = k(f, f), and its adjoint: adds kdiag_bar dk(f, f)/df to F_bar. */
void mcp_cov_diagonal(const mcp_cov *c, int n, int ld, const double *F, double *kdiag);
void mcp_cov_diagonal_backward(const mcp_cov *c, int n, int ld, const double *F, const double *kdiag_bar, double *F_bar);

#endif
