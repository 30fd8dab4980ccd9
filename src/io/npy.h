/* npy.h - arrays of doubles in NumPy's file format: numpy.load reads them. Row-major, at most 4 dimensions.
 */
#ifndef MCP_NPY_H
#define MCP_NPY_H

#include "io/file.h"
#include "mcpilco/error.h"

enum { MCP_NPY_DIMS = 4 };

mcp_status mcp_npy_write(const char *path, int dims, const int *shape, const double *value, mcp_error *err);
mcp_status mcp_npy_write_in(const mcp_lock *own, const char *path, int dims, const int *shape,
                            const double *value, mcp_error *err);
/* *value: mcp_free it. shape has room for MCP_NPY_DIMS. Reads what write writes: little-endian doubles,
 * row-major. */
mcp_status mcp_npy_read(const char *path, int *dims, int *shape, double **value, mcp_error *err);

#endif
