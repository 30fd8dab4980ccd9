/* Any bytes as a study file: refused with a sentence, or read and freed. */
#include <string.h>

#include "memory_file.h"
#include "study/study.h"

int         LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__lsan_default_suppressions(void);

/* As in fuzz_task.c. */
const char *__lsan_default_suppressions(void)
{
    return "leak:libfyaml.so\n";
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mcp_study *s = NULL;
    mcp_error  err = {MCP_OK, ""};
    mcp_status st = mcp_study_load(&s, memory_file(data, size), &err);
    if ((st == MCP_OK) != (s != NULL) || (st != MCP_OK && !err.text[0])) abort();
    mcp_study_free(s);
    return 0;
}
