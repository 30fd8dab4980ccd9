/* registry.h - your own kernels under names that task files and kernel texts can use.
 *
 *   mcp_registry_create(&registry, &err);
 *   mcp_user_kernel_default(&kernel); kernel.params = 2; kernel.value = ...; kernel.gradient = ...;
 *   mcp_registry_add_kernel(registry, "wind", &kernel, &err);
 *   mcp_task_read(&task, &(source with .registry = registry), &err);     model: {kernel: se + wind(v, u)}
 *
 * Nothing is registered with the library itself: a registry is an object like any other. */
#ifndef MCPILCO_REGISTRY_H
#define MCPILCO_REGISTRY_H

#include <stddef.h>

#include "mcpilco/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A user's kernel k(x, z), symmetric and positive semi-definite. x and z are the features it is applied to,
 * in the order of its list in the text (the default ones without a list). gradient returns the value and adds
 * scale * dk/dx to dx and scale * dk/dp to dp; either may be NULL. Both are called from several threads. */
typedef struct {
    size_t size; /* of this struct, written by mcp_user_kernel_default */
    int    params;
    double (*value)(void *user, const double *p, const double *x, const double *z);
    double (*gradient)(void *user, const double *p, const double *x, const double *z, double scale,
                       double *dx, double *dp);
    void *user;
} mcp_user_kernel;
MCP_API void mcp_user_kernel_init(mcp_user_kernel *k, size_t size) MCP_ANY_THREAD;
#define mcp_user_kernel_default(k) mcp_user_kernel_init((k), sizeof(mcp_user_kernel))

typedef struct mcp_registry mcp_registry;

MCP_API mcp_status mcp_registry_create(mcp_registry **out, mcp_error *err) MCP_ANY_THREAD;
/* Tasks and kernels made with it keep what they need: it may be freed before them. */
MCP_API void mcp_registry_free(mcp_registry *r) MCP_ONE_THREAD;
/* A name (letters, digits, _) that is not a kernel's already; copies *k. */
MCP_API mcp_status mcp_registry_add_kernel(mcp_registry *r, const char *name, const mcp_user_kernel *k,
                                           mcp_error *err) MCP_ONE_THREAD;

#ifdef __cplusplus
}
#endif
#endif
