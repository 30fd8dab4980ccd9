/* Any bytes as a task file: refused with a sentence, or read, dumped and freed. Built with -DMCP_FUZZ=ON
 * (clang); run as fuzz_task -max_total_time=60 CORPUS tasks/ (the shipped tasks are good seeds; what is new
 * goes into CORPUS). */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "math/arena.h"
#include "task/task_data.h"

int         LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__lsan_default_suppressions(void);

/* libfyaml 0.7 keeps a few bytes when some long quoted texts are not closed. Leaks of ours are still found.
 */
const char *__lsan_default_suppressions(void)
{
    return "leak:libfyaml.so\n";
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mcp_task *task = NULL;
    mcp_error err  = {MCP_OK, ""};
    char     *json = NULL, *text = malloc(size + 1);
    if (!text) return 0;
    memcpy(text, data, size);
    text[size]    = 0;
    mcp_status st = mcp_task_parse(&task, "fuzz.yaml", text, NULL, 0, &err);
    if ((st == MCP_OK) != (task != NULL) || (st != MCP_OK && !err.text[0])) abort();
    if (task && mcp_task_dump(task, &json, NULL) != MCP_OK) abort();
    mcp_task_text_free(json);
    mcp_task_free(task);

    /* Going on after mistakes comes to the same verdict, and with the same first mistake. */
    mcp_error       first = err, mistake[8];
    mcp_mistakes    all = {mistake, 8, 0};
    mcp_task_source source = {sizeof source, "fuzz.yaml", text, NULL, 0, NULL};
    mcp_status      again = mcp_task_read_all(&task, &source, &all, &err);
    if (again != st || (st != MCP_OK && (!all.count || strcmp(mistake[0].text, first.text)))) abort();
    mcp_task_free(task);
    free(text);
    return 0;
}
