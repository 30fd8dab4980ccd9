/* schema.c - a JSON schema (draft 7) of task files from the tables that check them, for editors: they
 * complete keys, show what a key means and underline what cannot be. A schema knows nothing of expressions
 * and of what one section says against another; mcpilco check does. */
#include <string.h>

#include "math/text.h"
#include "task/keys.h"

static void table(mcp_text *out, const mcp_key *t, const char *kind);
static void value(mcp_text *out, const mcp_key *k);

/* Between the items of a list: nothing before the first. */
static void next(mcp_text *out, int *count)
{
    if ((*count)++) mcp_text_add(out, ", ");
}

static void words(mcp_text *out, const char *list)
{
    char word[MCP_WORD];
    int  count = 0;
    mcp_text_add(out, "[");
    for (int i = 0; mcp_word(list, i, word); i++) {
        next(out, &count);
        mcp_text_quoted(out, word);
    }
    mcp_text_add(out, "]");
}

/* A number in range, or an expression of constants, whose value is known to the program alone. */
static void number(mcp_text *out, const mcp_key *k)
{
    int whole = k->type == KEY_INT || k->type == KEY_U64;
    mcp_text_add(out, "{\"anyOf\": [{\"type\": \"%s\"", whole ? "integer" : "number");
    if (k->hi > k->lo)
        mcp_text_add(out, ", \"%s\": %.17g, \"%s\": %.17g",
                     k->open & OPEN_LO ? "exclusiveMinimum" : "minimum", k->lo,
                     k->open & OPEN_HI ? "exclusiveMaximum" : "maximum", k->hi);
    mcp_text_add(out, "}, {\"$ref\": \"#/definitions/constant\"}]}");
}

static void reference(mcp_text *out, const char *to)
{
    mcp_text_add(out, "{\"$ref\": \"#/definitions/%s\"}", to);
}

static const mcp_key *find(const mcp_key *t, const char *name)
{
    while (t->name && strcmp(t->name, name)) t++;
    return t->name ? t : NULL;
}

/* A mapping by the key's table, or the plain value that its shorthand allows. */
static void table_or_short(mcp_text *out, const mcp_key *k)
{
    const mcp_key *stands = k->shorthand ? find(k->table, k->shorthand) : NULL;
    if (!stands) {
        table(out, k->table, NULL);
        return;
    }
    mcp_text_add(out, "{\"anyOf\": [");
    value(out, stands);
    mcp_text_add(out, ", ");
    table(out, k->table, NULL);
    mcp_text_add(out, "]}");
}

/* [{line: {x: ..}}, ..] */
static void kind_rows(mcp_text *out, const mcp_key *k)
{
    char word[MCP_WORD];
    int  count = 0;
    mcp_text_add(out, "{\"type\": \"array\", \"items\": {\"type\": \"object\", "
                      "\"additionalProperties\": false, "
                      "\"minProperties\": 1, \"maxProperties\": 1, \"properties\": {");
    for (int i = 0; mcp_word(k->choices, i, word); i++) {
        next(out, &count);
        mcp_text_quoted(out, word);
        mcp_text_add(out, ": ");
        table(out, k->table, word);
    }
    mcp_text_add(out, "}}}");
}

/* {"type": "object", values by one of the writers above} */
static void named(mcp_text *out, void (*write)(mcp_text *out, const mcp_key *k), const mcp_key *k)
{
    mcp_text_add(out, "{\"type\": \"object\", \"propertyNames\": {\"$ref\": \"#/definitions/name\"}, "
                      "\"additionalProperties\": ");
    write(out, k);
    mcp_text_add(out, "}");
}

static void listed(mcp_text *out, void (*write)(mcp_text *out, const mcp_key *k), const mcp_key *k)
{
    mcp_text_add(out, "{\"type\": \"array\", \"minItems\": 1, \"items\": ");
    write(out, k);
    mcp_text_add(out, "}");
}

static void text(mcp_text *out, const mcp_key *k)
{
    (void)k;
    reference(out, "expression");
}

/* The features of a model may be named by anything that an expression can be. */
static void texts_by_name(mcp_text *out, const mcp_key *k)
{
    (void)k;
    mcp_text_add(out, "{\"type\": \"object\", \"additionalProperties\": ");
    reference(out, "expression");
    mcp_text_add(out, "}");
}

static void numbers(mcp_text *out, const mcp_key *k)
{
    listed(out, number, k);
}

static void interval(mcp_text *out, const mcp_key *k)
{
    mcp_text_add(out, "{\"type\": \"array\", \"minItems\": 2, \"maxItems\": 2, \"items\": ");
    number(out, &(mcp_key){.type = KEY_NUMBER, .lo = -k->hi, .hi = k->hi});
    mcp_text_add(out, "}");
}

static void number_map(mcp_text *out, const mcp_key *k)
{
    named(out, number, k);
}

static void numbers_map(mcp_text *out, const mcp_key *k)
{
    named(out, numbers, k);
}

static void texts(mcp_text *out, const mcp_key *k)
{
    listed(out, text, k);
}

static void table_of(mcp_text *out, const mcp_key *k)
{
    table(out, k->table, NULL);
}

static void tables(mcp_text *out, const mcp_key *k)
{
    listed(out, table_of, k);
}

static void rows(mcp_text *out, const mcp_key *k)
{
    named(out, table_or_short, k);
}

/* Exactly one of the kinds, and beside it no key of another. */
static void one_kind(mcp_text *out, const mcp_key *k)
{
    char word[MCP_WORD];
    mcp_text_add(out, ", \"oneOf\": [");
    for (int i = 0; mcp_word(k->choices, i, word); i++)
        mcp_text_add(out, "%s{\"required\": [\"%s\"]}", i ? ", " : "", word);
    mcp_text_add(out, "], \"allOf\": [{}");
    for (const mcp_key *c = k->table; c->name; c++) {
        if (!c->only) continue;
        mcp_text_add(out, ", {\"if\": {\"required\": [\"%s\"]}, \"then\": {\"anyOf\": [", c->name);
        for (int i = 0; mcp_word(c->only, i, word); i++)
            mcp_text_add(out, "%s{\"required\": [\"%s\"]}", i ? ", " : "", word);
        mcp_text_add(out, "]}}");
    }
    mcp_text_add(out, "]");
}

static void own(mcp_text *out, const mcp_key *k)
{
    static const struct {
        int shape;
        void (*write)(mcp_text *out, const mcp_key *k);
    } forms[] = {
        {SHAPE_NUMBER, number},       {SHAPE_NUMBERS, numbers},      {SHAPE_NUMBER_MAP, number_map},
        {SHAPE_NUMBERS_MAP, numbers_map}, {SHAPE_TEXT, text},        {SHAPE_TEXTS, texts},
        {SHAPE_TEXT_MAP, texts_by_name}, {SHAPE_TABLE, table_or_short}, {SHAPE_TABLES, tables},
        {SHAPE_ROWS, rows},           {SHAPE_KIND_ROWS, kind_rows},
        {SHAPE_INTERVAL, interval},
    };
    int count = 0;
    mcp_text_add(out, "{\"anyOf\": [");
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (!(k->shape & forms[i].shape)) continue;
        next(out, &count);
        forms[i].write(out, k);
    }
    mcp_text_add(out, "]");
    if (k->shape & SHAPE_ONE_KIND) one_kind(out, k);
    mcp_text_add(out, "}");
}

static void value(mcp_text *out, const mcp_key *k)
{
    switch (k->type) {
    case KEY_INT:
    case KEY_U64:
    case KEY_NUMBER: number(out, k); return;
    case KEY_FLAG: reference(out, "flag"); return;
    case KEY_TEXT: reference(out, "text"); return;
    case KEY_CHOICE:
    case KEY_WORD:
        mcp_text_add(out, "{\"enum\": ");
        words(out, k->choices);
        mcp_text_add(out, "}");
        return;
    case KEY_EXPR: reference(out, "expression"); return;
    case KEY_EXPRS: named(out, text, k); return;
    case KEY_MAP: table_or_short(out, k); return;
    case KEY_OWN: own(out, k); return;
    }
}

/* A key that only some types know: refused beside the others, and required there if it is required. */
static void only_for(mcp_text *out, const mcp_key *k, const mcp_key *type, int *count)
{
    char word[MCP_WORD];
    int  others = 0;
    next(out, count);
    mcp_text_add(out, "{\"if\": {\"required\": [\"type\"], \"properties\": {\"type\": {\"enum\": [");
    for (int i = 0; mcp_word(type->choices, i, word); i++)
        if (!mcp_listed(word, k->only)) {
            next(out, &others);
            mcp_text_quoted(out, word);
        }
    mcp_text_add(out, "]}}}, \"then\": {\"not\": {\"required\": [\"%s\"]}}}", k->name);
    if (!k->required) return;
    mcp_text_add(out, ", {\"if\": {\"required\": [\"type\"], \"properties\": {\"type\": {\"enum\": ");
    words(out, k->only);
    mcp_text_add(out, "}}}, \"then\": {\"required\": [\"%s\"]}}", k->name);
}

/* kind: keys of one kind alone (SHAPE_KIND_ROWS); NULL: all. */
static void table(mcp_text *out, const mcp_key *t, const char *kind)
{
    const mcp_key *type = find(t, "type");
    int            count = 0;
    mcp_text_add(out, "{\"type\": \"object\", \"additionalProperties\": false, \"properties\": {");
    for (const mcp_key *k = t; k->name; k++) {
        if (kind && k->only && !mcp_listed(kind, k->only)) continue;
        next(out, &count);
        mcp_text_add(out, "\n\"%s\": {\"description\": ", k->name);
        mcp_text_quoted(out, k->about);
        if (k->fallback && k->type != KEY_MAP && !strchr("[{", k->fallback[0])) {
            mcp_text_add(out, ", \"default\": ");
            mcp_text_quoted(out, k->fallback);
        }
        mcp_text_add(out, ", \"allOf\": [");
        value(out, k);
        mcp_text_add(out, "]}");
    }
    mcp_text_add(out, "}, \"required\": [");
    count = 0;
    for (const mcp_key *k = t; k->name; k++) {
        /* a type that is not given has a default that depends on other keys */
        if (!k->required || k == type || (k->only && (!kind || !mcp_listed(kind, k->only)))) continue;
        next(out, &count);
        mcp_text_quoted(out, k->name);
    }
    mcp_text_add(out, "]");
    if (type && !kind) {
        mcp_text_add(out, ", \"allOf\": [{}");
        count = 1;
        for (const mcp_key *k = t; k->name; k++)
            if (k->only) only_for(out, k, type, &count);
        mcp_text_add(out, "]");
    }
    mcp_text_add(out, "}");
}

static const char definitions[] =
    "{\n\"name\": {\"type\": \"string\", \"pattern\": \"^[A-Za-z_][A-Za-z0-9_]{0,30}$\"},\n"
    "\"constant\": {\"type\": \"string\", \"pattern\": \"^[A-Za-z_][A-Za-z0-9_]*$|[-+*/^(]\"},\n"
    "\"flag\": {\"enum\": [true, false, \"yes\", \"no\", \"true\", \"false\", \"on\", \"off\", 0, 1]},\n"
    "\"text\": {\"type\": [\"string\", \"number\", \"boolean\"], \"minLength\": 1, \"maxLength\": 1024},\n"
    "\"expression\": {\"type\": [\"string\", \"number\", \"boolean\"], \"minLength\": 1, "
    "\"maxLength\": 8192}\n}";

mcp_status mcp_task_schema(char **json, mcp_error *err)
{
    mcp_text out = {0};
    *json = NULL;
    mcp_text_add(&out, "{\"$schema\": \"http://json-schema.org/draft-07/schema#\",\n"
                       "\"title\": \"mcpilco task file\",\n\"definitions\": %s,\n\"allOf\": [\n",
                 definitions);
    table(&out, mcp_task_table, NULL);
    mcp_text_add(&out, "\n]}\n");
    return mcp_text_take(&out, json, err);
}
