/* Any bytes as a JSON file of a run folder: what is read of it is within its bounds. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "io/json.h"
#include "learn/store.h"
#include "math/arena.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_error_t   e;
    mcp_learn_info info;
    double         v[8];
    json_t        *root = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, &e);
    memset(&info, 0, sizeof info);
    for (int file = MCP_IN_OPTIMISE; file <= MCP_IN_RESULT; file++)
        mcp_info_from_json((mcp_info_file)file, root, &info);
    if (!memchr(info.reason, 0, sizeof info.reason)) abort();
    (void)mcp_json_get_numbers(root, "hyper", 8, v);
    (void)mcp_json_get_numbers(root, "values", 3, v);
    if (mcp_json_get_text(root, "status", "x") == NULL) abort();
    mcp_free(mcp_json_line(root));
    json_decref(root);
    return 0;
}
