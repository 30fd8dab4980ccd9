/* test_help.c - docs/task-file.md is what the tables say. Run with --write to renew it. */
#include "test.h"

#include "task/task_data.h"

static const char *const page = TEST_SOURCE_DIR "/docs/task-file.md";

static char *read_page(void)
{
    static char text[1 << 18];
    FILE       *f = fopen(page, "rb");
    size_t      n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    text[n]       = 0;
    if (f) fclose(f);
    return text;
}

CASE(task_file_reference_is_up_to_date)
{
    char *text = NULL;
    REQUIRE_OK(mcp_task_help(&text, err));
    if (strcmp(text, read_page()))
        FAIL_("docs/task-file.md differs from the tables; renew it: this program with --write, or mcpilco "
              "help task");
    mcp_task_text_free(text);
}

CASE(reference_names_every_section)
{
    char *text = NULL;
    REQUIRE_OK(mcp_task_help(&text, err));
    CHECK_HAS(text, "| `particles` | whole number 1 .. 100000 |  | `96` |");
    CHECK_HAS(text, "## `observer`");
    CHECK_HAS(text, "### `start.mixture`");
    CHECK_HAS(text, "| `rate` | number in (0, 1e+09] | Hz | **required** |");
    mcp_task_text_free(text);
}

CASE(schema_names_every_section_and_ranges)
{
    char *text = NULL;
    REQUIRE_OK(mcp_task_schema(&text, err));
    CHECK_HAS(text, "\"dropout\": {\"description\": ");
    CHECK_HAS(text, "\"minimum\": 0, \"exclusiveMaximum\": 1}");
    CHECK_HAS(text, "\"enum\": [\"none\", \"difference\", \"kalman\", \"custom\", \"auto\"]");
    CHECK_HAS(text, "{\"required\": [\"mujoco\"]}");
    mcp_task_text_free(text);
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "--write")) {
        char *text = NULL;
        FILE *f    = fopen(page, "wb");
        if (!f || mcp_task_help(&text, NULL) != MCP_OK || fputs(text, f) < 0 || fclose(f)) return 1;
        mcp_task_text_free(text);
        return 0;
    }
    TEST_ARGS(argc, argv);
    RUN(task_file_reference_is_up_to_date);
    RUN(reference_names_every_section);
    RUN(schema_names_every_section_and_ranges);
    return DONE();
}
