/* Any bytes as a CSV file: refused with a sentence, or a table whose every number can be read. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "io/csv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mcp_csv  *c = NULL;
    mcp_error err = {MCP_OK, ""};
    char     *text = malloc(size + 1);
    double    sum = 0.0;
    if (!text) return 0;
    memcpy(text, data, size);
    text[size] = 0;
    mcp_status st = mcp_csv_parse(&c, "fuzz.csv", text, &err);
    if ((st == MCP_OK) != (c != NULL) || (st != MCP_OK && !err.text[0])) abort();
    for (size_t i = 0; c && i < (size_t)c->rows * (size_t)c->columns; i++) sum += c->value[i];
    for (int i = 0; c && i < c->columns; i++)
        if (mcp_csv_find(c, c->name[i]) < 0) abort();
    mcp_csv_free(c);
    free(text);
    return sum == 1.2345 ? -1 : 0; /* the sum is used */
}
