/* override.c - "--set a.b=value": the tree is changed before any table reads it, so a value given there is
 * checked, defaulted and documented exactly as one in the file; messages name the setting instead of a line.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "task/yaml.h"

static mcp_status no_memory(mcp_error *err)
{
    return mcp_fail(err, MCP_ERR_MEMORY, "out of memory while applying a setting");
}

/* Value text: YAML when it opens a list, mapping or quotes, else the plain text as it is. */
static mcp_status parse_value(mcp_yaml **out, mcp_task_memory *bag, const char *label, const char *text,
                              mcp_error *err)
{
    text += strspn(text, " ");
    size_t length = strlen(text);
    while (length && text[length - 1] == ' ') length--;
    mcp_where at = {label, 0, 0};
    if (length && strchr("[{\"'", text[0])) {
        mcp_status st = mcp_yaml_parse(out, bag, label, text, length, err);
        if (st == MCP_OK && !*out) *out = mcp_yaml_make(bag, MCP_YAML_SCALAR, "", at);
        return st != MCP_OK || *out ? st : no_memory(err);
    }
    char *copy = mcp_task_memory_text(bag, text, length);
    if (!copy || !(*out = mcp_yaml_make(bag, MCP_YAML_SCALAR, copy, at))) return no_memory(err);
    return MCP_OK;
}

static mcp_yaml *child(mcp_yaml *n, const char *word)
{
    if (n->kind == MCP_YAML_MAP) return mcp_yaml_find(n, word);
    char *end;
    long  i = strtol(word, &end, 10);
    if (n->kind != MCP_YAML_LIST || *end || end == word || i < 0) return NULL;
    for (mcp_yaml *c = n->first; c; c = c->next)
        if (c->index == i) return c;
    return NULL;
}

/* Puts value's content into n, which keeps its key and its place among its siblings. */
static void replace(mcp_yaml *n, const mcp_yaml *value, mcp_where at)
{
    n->kind   = value->kind;
    n->text   = value->text;
    n->quoted = value->quoted;
    n->first  = value->first;
    n->last   = value->last;
    n->count  = value->count;
    n->known  = 0;
    n->filled = 0;
    n->at     = at;
    for (mcp_yaml *c = n->first; c; c = c->next) c->parent = n;
}

mcp_status mcp_yaml_override(mcp_yaml *root, mcp_task_memory *bag, const char *setting, mcp_error *err)
{
    const char *equals = strchr(setting, '=');
    if (!equals || equals == setting)
        return mcp_fail(err, MCP_ERR_TASK,
                        "--set %.200s: found no key=value, expected for example optimise.particles=100",
                        setting);
    size_t    length = strlen(setting);
    char *label = mcp_task_memory_get(bag, length + 8, 1),
         *path = mcp_task_memory_text(bag, setting, (size_t)(equals - setting));
    mcp_yaml *value;
    if (!label || !path) return no_memory(err);
    snprintf(label, length + 8, "--set %s", setting);
    for (char *c = label; *c; c++)
        if ((unsigned char)*c < ' ') *c = ' ';
    mcp_where  at = {label, 0, 0};
    mcp_status st = parse_value(&value, bag, label, equals + 1, err);
    if (st != MCP_OK) return st;

    mcp_yaml *n = root;
    char     *rest, *word = strtok_r(path, ".", &rest);
    for (int depth = 0; word; depth++) {
        if (depth >= MCP_YAML_DEPTH)
            return mcp_fail_at(err, at, "found more than %d levels, expected fewer", MCP_YAML_DEPTH);
        word[strcspn(word, " ")] = 0;
        mcp_yaml *c              = child(n, word);
        if (!c && n->kind == MCP_YAML_LIST)
            return mcp_fail_at(err, at, "found index \"%s\", expected 0 to %d", word, n->count - 1);
        if (!c) { /* a key the file does not have, or a short form that gives way to the long one */
            if (n->kind == MCP_YAML_SCALAR) {
                mcp_yaml *old = mcp_yaml_make(bag, MCP_YAML_SCALAR, n->text, n->at);
                if (!old) return no_memory(err);
                replace(n, &(mcp_yaml){.kind = MCP_YAML_MAP}, at);
                n->shorthand = old;
            }
            if (!(c = mcp_yaml_make(bag, MCP_YAML_MAP, NULL, at))) return no_memory(err);
            mcp_yaml_append(n, c, word, at);
        }
        n    = c;
        word = strtok_r(NULL, ".", &rest);
    }
    if (n == root)
        return mcp_fail_at(err, at, "found no key before =, expected for example optimise.particles=100");
    replace(n, value, at);
    return MCP_OK;
}
