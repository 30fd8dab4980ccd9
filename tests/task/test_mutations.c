/* test_mutations.c - thousands of damaged task files: each is refused with a sentence or read, never a crash,
 * never a task beside an error. Meant to be run under AddressSanitizer as well. The damage is drawn from a
 * fixed seed. */
#include "test.h"

#include <dirent.h>

#include "task/task_data.h"

enum { ROOM = 1 << 16 };

static unsigned long long seed = 88172645463325252ULL;

static size_t draw(size_t n) /* 0 .. n-1 */
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return n ? (size_t)(seed % n) : 0;
}

static const char *const pieces[] = {"[",     "]",  "{",     "}",   ": ",       "\n",   "  ",     "- ",
                                     "\"",    "'",  "|\n",   ">\n", "&a ",      "*a",   "!!str ", "---\n",
                                     "#",     "\t", "1e999", "nan", "-1",       "0",    "rbf(",   "))))",
                                     "prev(", "pi", "<<: ",  "? ",  "\xc3\xa9", "\xff", "^",      "1e",
                                     "se + ", "=",  "%",     "@",   ","};

static void damage(char *text, size_t *length)
{
    size_t at = draw(*length + 1), n = draw(12);
    switch (draw(6)) {
    case 0: /* drop some bytes */
        if (at + n > *length) n = *length - at;
        memmove(text + at, text + at + n, *length - at - n);
        *length -= n;
        break;
    case 1: /* one byte becomes another */
        if (at < *length) text[at] = (char)(1 + draw(255));
        break;
    case 2:
    case 3: { /* a piece of YAML or of an expression */
        const char *p = pieces[draw(sizeof pieces / sizeof *pieces)];
        n             = strlen(p);
        if (*length + n >= ROOM) break;
        memmove(text + at + n, text + at, *length - at);
        memcpy(text + at, p, n);
        *length += n;
        break;
    }
    case 4: /* a part of the file again, elsewhere */
        n = draw(200);
        if (at + n > *length || *length + n >= ROOM) break;
        memmove(text + at + n, text + at, *length - at);
        memmove(text + at, text + draw(at + 1), n);
        for (size_t i = at; i < at + n; i++)
            if (!text[i]) text[i] = ' ';
        *length += n;
        break;
    case 5:
        *length = at;
        break; /* cut off */
    }
    text[*length] = 0;
}

static void mutate(const char *path, int rounds, int *read, int *refused)
{
    static char original[ROOM], text[ROOM + 256];
    FILE       *f = fopen(path, "rb");
    REQUIRE(f != NULL);
    size_t size = fread(original, 1, ROOM - 1, f);
    fclose(f);
    for (int k = 0; k < rounds; k++) {
        size_t length = size;
        memcpy(text, original, size);
        text[length] = 0;
        for (size_t i = 0, n = 1 + draw(3); i < n; i++) damage(text, &length);
        mcp_error  e  = {MCP_OK, ""};
        mcp_task  *t  = NULL;
        mcp_status st = mcp_task_parse(&t, "damaged.yaml", text, NULL, 0, &e);
        if (st == MCP_OK) {
            char *json = NULL;
            CHECK(t != NULL && t->nx > 0 && t->ngp > 0 && t->policy.n == t->nu);
            CHECK(mcp_task_dump(t, &json, NULL) == MCP_OK);
            mcp_task_text_free(json);
            ++*read;
        } else {
            CHECK(t == NULL && st == MCP_ERR_TASK);
            if (strncmp(e.text, "damaged.yaml:", 13) && strncmp(e.text, "default", 7))
                FAIL_("no place: %s", e.text);
            ++*refused;
        }
        mcp_task_free(t);
    }
}

CASE(damaged_tasks_are_read_or_refused)
{
    DIR *d    = opendir(TEST_SOURCE_DIR "/tasks");
    int  read = 0, refused = 0;
    REQUIRE(d != NULL);
    for (struct dirent *e; (e = readdir(d));) {
        char path[600];
        snprintf(path, sizeof path, "%s/tasks/%s", TEST_SOURCE_DIR, e->d_name);
        size_t n = strlen(path);
        if (!strcmp(path + n - 5, ".yaml")) mutate(path, 700, &read, &refused);
    }
    closedir(d);
    printf("%d read, %d refused\n", read, refused);
    CHECK(read > 100 && refused > 1000);
}

CASE(damaged_settings_are_taken_or_refused)
{
    static const char *const base[] = {"optimise.particles=100", "model.kernel=se + mp(2)",
                                       "draw.1.rectangle.width=0.4", "start={mean: [0, 0, 1, 0], std: 0.2}",
                                       "state.0=x"};
    for (int k = 0; k < 1500; k++) {
        char text[512];
        snprintf(text, sizeof text, "%s", base[draw(5)]);
        size_t length = strlen(text);
        for (size_t i = 0, n = 1 + draw(3); i < n && length < 200; i++) damage(text, &length);
        const char *set = text;
        mcp_task   *t   = NULL;
        mcp_error   e   = {MCP_OK, ""};
        mcp_status  st  = mcp_task_load(&t, TEST_SOURCE_DIR "/tasks/cartpole.yaml", &set, 1, &e);
        CHECK((st == MCP_OK) == (t != NULL));
        if (st != MCP_OK && !e.text[0]) FAIL_("no message for --set %s", text);
        mcp_task_free(t);
    }
}

CASE(huge_file_is_refused)
{
    size_t    size = 3u << 20;
    char     *text = malloc(size);
    mcp_error e    = {MCP_OK, ""};
    mcp_task *t    = NULL;
    REQUIRE(text != NULL);
    memset(text, '#', size - 1);
    text[size - 1] = 0;
    CHECK(mcp_task_parse(&t, "huge.yaml", text, NULL, 0, &e) == MCP_ERR_TASK);
    CHECK_HAS(e.text, "huge.yaml: found 3145727 bytes, expected a task file of at most 1048576");
    free(text);
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(damaged_tasks_are_read_or_refused);
    RUN(damaged_settings_are_taken_or_refused);
    RUN(huge_file_is_refused);
    return DONE();
}
