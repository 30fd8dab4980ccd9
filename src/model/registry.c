/* registry.c - a user's kernels under names. */
#include "mcpilco/registry.h"

#include <ctype.h>
#include <string.h>

#include "math/arena.h"
#include "math/sized.h"
#include "model/kernel.h"

void mcp_user_kernel_init(mcp_user_kernel *k, size_t size)
{
    static const mcp_user_kernel none = {0};
    mcp_sized_init(k, size, &none, sizeof none);
}

mcp_status mcp_user_kernel_check(const mcp_user_kernel *given, mcp_user_kernel *out, mcp_error *err)
{
    *out = (mcp_user_kernel){0};
    if (!given) return mcp_fail(err, MCP_ERR_ARG, "kernel: there is no user's kernel to take, it is NULL");
    mcp_status st = mcp_sized_read(out, sizeof *out, given, "mcp_user_kernel", err);
    if (st != MCP_OK) return st;
    if (!out->value || !out->gradient || out->params < 0 || out->params > 1000)
        return mcp_fail(err, MCP_ERR_ARG,
                        "kernel: a user's kernel needs value, gradient and params from 0 to 1000");
    return MCP_OK;
}

mcp_status mcp_registry_create(mcp_registry **out, mcp_error *err)
{
    *out = mcp_calloc(1, sizeof **out);
    return *out ? MCP_OK : mcp_fail(err, MCP_ERR_MEMORY, "out of memory for a registry");
}

void mcp_registry_free(mcp_registry *r)
{
    mcp_free(r);
}

static int is_name(const char *name)
{
    size_t n = strlen(name);
    if (n == 0 || n >= MCP_KERNEL_NAME || !isalpha((unsigned char)name[0])) return 0;
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)name[i]) && name[i] != '_') return 0;
    return 1;
}

mcp_status mcp_registry_add_kernel(mcp_registry *r, const char *name, const mcp_user_kernel *k,
                                   mcp_error *err)
{
    mcp_user_kernel kernel;
    mcp_status      st = mcp_user_kernel_check(k, &kernel, err);
    if (st != MCP_OK) return st;
    if (!name || !is_name(name))
        return mcp_fail(err, MCP_ERR_ARG,
                        "registry: found \"%.40s\", expected a name: a letter, then letters, digits, _; at "
                        "most %d characters",
                        name ? name : "", MCP_KERNEL_NAME - 1);
    if (mcp_kernel_known(r, name))
        return mcp_fail(err, MCP_ERR_ARG, "registry: there is a kernel \"%s\" already; take another name",
                        name);
    if (r->kernels == MCP_REGISTRY_KERNELS)
        return mcp_fail(err, MCP_ERR_ARG, "registry: it has room for %d kernels, all taken", r->kernels);
    memcpy(r->kernel[r->kernels].name, name, strlen(name) + 1);
    r->kernel[r->kernels].kernel = kernel;
    r->kernels++;
    return MCP_OK;
}
