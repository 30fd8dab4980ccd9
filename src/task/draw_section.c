/* draw_section.c - shapes for the animation of a trial: a list of {kind: {argument: expression, ..}}. */
#include <stdio.h>
#include <string.h>

#include "task/keys.h"

typedef struct {
    mcp_expr arg[10];
    char    *color, *label;
} shape_row;

#define ARG(i) offsetof(shape_row, arg[i])
const mcp_key mcp_draw_table[] = {
    {"x", KEY_EXPR, ARG(0), .required = 1, .unit = "m",
     .about = "expression of the state: first point, or centre, to the right"},
    {"y", KEY_EXPR, ARG(1), .required = 1, .unit = "m", .about = "the same, upwards"},
    {"x2", KEY_EXPR, ARG(2), .only = "line", .required = 1, .unit = "m", .about = "line: second point"},
    {"y2", KEY_EXPR, ARG(3), .only = "line", .required = 1, .unit = "m", .about = "line: second point"},
    {"r", KEY_EXPR, ARG(4), .only = "circle", .required = 1, .unit = "m", .about = "circle: radius"},
    {"width", KEY_EXPR, ARG(5), .only = "line|rectangle", .unit = "m",
     .about = "rectangle: width; line: thickness"},
    {"height", KEY_EXPR, ARG(6), .only = "rectangle", .required = 1, .unit = "m",
     .about = "rectangle: height"},
    {"angle", KEY_EXPR, ARG(7), .only = "rectangle", .unit = "rad",
     .about = "rectangle: turned to the left about its centre"},
    {"z", KEY_EXPR, ARG(8), .unit = "m",
     .about = "makes it a drawing in space: x to the right, y into the depth, z upwards, seen from the front "
              "right"},
    {"z2", KEY_EXPR, ARG(9), .only = "line", .unit = "m", .about = "line in space: second point"},
    {"color", KEY_TEXT, offsetof(shape_row, color), .about = "a CSS colour"},
    {"label", KEY_TEXT, offsetof(shape_row, label), .only = "text", .required = 1,
     .about = "text: what is written"},
    MCP_KEY_END,
};
enum { ARGS = 10 };

static mcp_status read_shape(mcp_reader *r, mcp_yaml *n, const char *kind, mcp_task_draw *out)
{
    mcp_key   table[sizeof mcp_draw_table / sizeof *mcp_draw_table];
    shape_row row   = {0};
    int       count = 0;
    for (const mcp_key *k = mcp_draw_table; k->name; k++) /* the kind's own keys */
        if (!k->only || mcp_listed(kind, k->only)) {
            table[count]        = *k;
            table[count++].only = NULL;
            if (!strcmp(k->name, "width") && !strcmp(kind, "rectangle")) table[count - 1].required = 1;
        }
    table[count]  = (mcp_key)MCP_KEY_END;
    mcp_status st = mcp_keys_read(r, n, table, &row);
    if (st != MCP_OK) return st;
    out->kind      = mcp_task_memory_text(r->bag, kind, strlen(kind));
    out->args.item = mcp_task_memory_get(r->bag, ARGS, sizeof(mcp_named_expr));
    if (!out->kind || !out->args.item) return mcp_read_memory(r);
    for (int i = 0; i < ARGS; i++)
        if (row.arg[i].text)
            out->args.item[out->args.n++] = (mcp_named_expr){(char *)mcp_draw_table[i].name, row.arg[i]};
    out->color = row.color;
    out->label = row.label;
    return MCP_OK;
}

static const char *nearest_kind(const char *s, char best[MCP_WORD])
{
    char        words[8][MCP_WORD];
    const char *list[8];
    int         count = 0;
    while (count < 8 && mcp_word(MCP_DRAW_KINDS, count, words[count])) {
        list[count] = words[count];
        count++;
    }
    const char *near = mcp_nearest(s, list, count);
    return near ? strcpy(best, near) : NULL;
}

mcp_status mcp_read_draw(mcp_reader *r, mcp_yaml *n, void *base, const mcp_key *key)
{
    mcp_task  *t = base;
    char       word[MCP_WORD];
    mcp_status st = mcp_expect(r, n, MCP_YAML_LIST, key->form);
    if (st != MCP_OK) return st;
    if (n->count > MCP_MAX_LIST)
        return mcp_fail_at(r->err, n->at, "found %d shapes, expected at most %d", n->count, MCP_MAX_LIST);
    if (!(t->draw = mcp_task_memory_get(r->bag, (size_t)n->count, sizeof *t->draw)))
        return mcp_read_memory(r);
    for (mcp_yaml *c = n->first; c; c = c->next, t->draws++) {
        if (c->kind != MCP_YAML_MAP || c->count != 1)
            return mcp_read_fail(r, c, "one shape, e.g. line: {x: 0, y: 0, x2: 1, y2: 1}");
        if (!mcp_listed(c->first->key, MCP_DRAW_KINDS)) {
            const char *near = nearest_kind(c->first->key, word);
            return mcp_fail_at(r->err, c->first->key_at,
                               "found shape \"%s\", expected one of line, circle, rectangle, text%s%s%s",
                               c->first->key, near ? "; did you mean \"" : "", near ? near : "",
                               near ? "\"?" : "");
        }
        if ((st = read_shape(r, c->first, c->first->key, &t->draw[t->draws])) != MCP_OK) return st;
    }
    return MCP_OK;
}
