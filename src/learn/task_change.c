/* task_change.c - two tasks, compared value by value as the dump has them: defaults filled in, comments and
 * layout gone. */
#include "learn/task_change.h"

#include <stdio.h>
#include <string.h>

#include "io/json.h"
#include "math/arena.h"
#include "mcpilco/task.h"

/* Keys that change nothing about what is learned. Seed and algorithm are the run's own and compared there. */
static const char *const harmless[] = {"name",       "title",        "draw",       "trials",
                                       "seed",       "algorithm",    "plant.tcp",  "plant.udp",
                                       "plant.exec", "plant.serial", "plant.baud", "plant.timeout"};
/* Keys that make it another robot. */
static const char *const robot[] = {"rate", "plant", "constants", "goals"};
/* Maps whose entries, by name and order, make it another robot; what they say of each entry does not. */
static const char *const channels[] = {"state", "inputs", "measured"};

static int listed(const char *const *list, size_t n, const char *key)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(list[i], key)) return 1;
    return 0;
}
#define LISTED(list, key) listed(list, sizeof list / sizeof *list, key)

static void shorten(char *out, size_t size, const json_t *v)
{
    char *line = v ? mcp_json_line(v) : NULL;
    snprintf(out, size, "%s", line ? line : "nothing");
    if (line && strlen(line) >= size) memcpy(out + size - 4, "...", 4);
    mcp_free(line);
}

static void note(mcp_task_change *c, mcp_change_kind kind, const char *key, const json_t *was,
                 const json_t *is)
{
    if (kind <= c->kind) return;
    c->kind = kind;
    snprintf(c->key, sizeof c->key, "%s", key);
    shorten(c->was, sizeof c->was, was);
    shorten(c->is, sizeof c->is, is);
}

/* Names and their order. */
static int same_names(const json_t *a, const json_t *b)
{
    void *i = json_object_iter((json_t *)a), *j = json_object_iter((json_t *)b);
    while (i && j && !strcmp(json_object_iter_key(i), json_object_iter_key(j))) {
        i = json_object_iter_next((json_t *)a, i);
        j = json_object_iter_next((json_t *)b, j);
    }
    return !i && !j;
}

static void compare(mcp_task_change *c, mcp_change_kind kind, const char *path, const json_t *a,
                    const json_t *b);

static void compare_entries(mcp_task_change *c, mcp_change_kind kind, const char *path, const json_t *a,
                            const json_t *b)
{
    const char *key;
    json_t     *v;
    char        at[192];
    json_object_foreach((json_t *)a, key, v)
    {
        snprintf(at, sizeof at, "%s%s%s", path, *path ? "." : "", key);
        compare(c, kind, at, v, json_object_get(b, key));
    }
    json_object_foreach((json_t *)b, key, v)
    {
        snprintf(at, sizeof at, "%s%s%s", path, *path ? "." : "", key);
        if (!json_object_get(a, key)) compare(c, kind, at, NULL, v);
    }
}

static void compare(mcp_task_change *c, mcp_change_kind kind, const char *path, const json_t *a,
                    const json_t *b)
{
    if (LISTED(harmless, path) || (a && b && json_equal((json_t *)a, (json_t *)b))) return;
    if (LISTED(robot, path)) kind = MCP_CHANGE_ROBOT;
    if (LISTED(channels, path) && json_is_object(a) && json_is_object(b) && !same_names(a, b))
        kind = MCP_CHANGE_ROBOT;
    if (json_is_object(a) && json_is_object(b)) compare_entries(c, kind, path, a, b);
    else note(c, kind, path, a, b);
}

static mcp_status tree_of(json_t **out, const mcp_task *t, mcp_error *err)
{
    char      *text = NULL;
    mcp_status st = mcp_task_dump(t, &text, err);
    *out = NULL;
    if (st != MCP_OK) return st;
    *out = mcp_json_parse(text, NULL);
    mcp_task_text_free(text);
    return *out ? MCP_OK : mcp_fail(err, MCP_ERR_MEMORY, "out of memory for the settings of %s", t->name);
}

mcp_status mcp_task_change_find(const mcp_task *was, const mcp_task *is, mcp_task_change *out, mcp_error *err)
{
    json_t    *a = NULL, *b = NULL;
    mcp_status st = tree_of(&a, was, err);
    *out = (mcp_task_change){.kind = MCP_CHANGE_NONE};
    if (st == MCP_OK) st = tree_of(&b, is, err);
    if (st == MCP_OK) compare(out, MCP_CHANGE_LEARNING, "", a, b);
    json_decref(a);
    json_decref(b);
    return st;
}
