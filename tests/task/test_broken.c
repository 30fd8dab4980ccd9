/* test_broken.c - every file of tests/data/broken gets the message in its first line ("# expect: LINE:COLUMN:
 * text"), or in the .txt beside it when it has no line to spare. */
#include "test.h"

#include <dirent.h>

#include "control/system.h"
#include "task/task_data.h"

static const char *const folder = TEST_SOURCE_DIR "/tests/data/broken";

static int read_line(const char *path, char *line, size_t size)
{
    FILE *f = fopen(path, "rb");
    line[0] = 0;
    if (!f) return 0;
    int got = fgets(line, (int)size, f) != NULL;
    fclose(f);
    line[strcspn(line, "\r\n")] = 0;
    return got;
}

/* The message a file gets. */
static void message(const char *path, const char *name, char *text, size_t size)
{
    mcp_task  *t    = NULL;
    mcp_error  e    = {MCP_OK, ""};
    mcp_status st   = mcp_task_load(&t, path, NULL, 0, &e);
    size_t     skip = strlen(path);
    if (st == MCP_OK) { /* kernels are read when the model is compiled */
        mcp_system *s = NULL;
        st            = mcp_system_create(&s, t, &e);
        mcp_system_free(s);
    }
    if (st == MCP_OK)
        FAIL_("%s is accepted", name);
    else
        CHECK(e.status == MCP_ERR_TASK);
    if (strncmp(e.text, path, skip) || e.text[skip] != ':')
        FAIL_("%s: \"%s\" does not begin with the file", name, e.text);
    else
        snprintf(text, size, "%s", e.text + skip + 1);
    mcp_task_free(t);
}

CASE(every_broken_file_gets_its_message)
{
    DIR *d     = opendir(folder);
    int  count = 0;
    REQUIRE(d != NULL);
    for (struct dirent *f; (f = readdir(d));) {
        char   path[512], beside[512], expect[600], got[600] = "";
        size_t n = strlen(f->d_name);
        if (n < 6 || strcmp(f->d_name + n - 5, ".yaml")) continue;
        snprintf(path, sizeof path, "%s/%s", folder, f->d_name);
        snprintf(beside, sizeof beside, "%.*s.txt", (int)(strlen(path) - 5), path);
        const char *want = expect;
        if (!read_line(beside, expect, sizeof expect)) {
            read_line(path, expect, sizeof expect);
            want = strncmp(expect, "# expect: ", 10) ? "(no expectation given)" : expect + 10;
        }
        message(path, f->d_name, got, sizeof got);
        const char *have = got[0] == ' ' ? got + 1 : got;
        if (strcmp(want, have)) FAIL_("%s\n  expected %s\n  got      %s", f->d_name, want, have);
        count++;
    }
    closedir(d);
    printf("%d broken files\n", count);
    CHECK(count >= 40);
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(every_broken_file_gets_its_message);
    return DONE();
}
