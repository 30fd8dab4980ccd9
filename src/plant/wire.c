/* wire.c - plants at the other end of a wire. */
#include "plant/inside.h"

mcp_status mcp_wire_plant(const mcp_system *s, mcp_plant_ops *ops, void **context, mcp_error *err)
{
    (void)ops;
    (void)context;
    return mcp_fail(err, MCP_ERR_PLANT, "%s: plants over a wire are not part of this build", s->task->file);
}
