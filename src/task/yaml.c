/* yaml.c - YAML events (libfyaml) to a tree with places. Anchors, aliases, tags and several documents are
 * refused: a task file needs none of them, and a few lines of aliases can stand for a gigabyte. */
#include "task/yaml.h"

#include <libfyaml.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "math/number.h"
#include "math/text.h"

typedef struct {
    mcp_task_memory    *bag;
    const char *file, *text;
    size_t      length;
    mcp_yaml   *root, *open; /* open: the list or mapping being filled */
    int         depth;
    char       *key; /* a mapping's key that waits for its value */
    mcp_where   key_at;
    int         documents;
    mcp_error  *err;
} builder;

static mcp_status no_memory(mcp_error *err)
{
    return mcp_fail(err, MCP_ERR_MEMORY, "out of memory while reading the task");
}

mcp_status mcp_fail_at(mcp_error *err, mcp_where at, const char *fmt, ...)
{
    char    text[420];
    va_list args;
    va_start(args, fmt);
    mcp_vprint(text, sizeof text, fmt, args);
    va_end(args);
    const char *file = at.file ? at.file : "task";
    if (at.line > 0) return mcp_fail(err, MCP_ERR_TASK, "%s:%d:%d: %s", file, at.line, at.column, text);
    return mcp_fail(err, MCP_ERR_TASK, "%s: %s", file, text);
}

mcp_yaml *mcp_yaml_make(mcp_task_memory *bag, mcp_yaml_kind kind, const char *text, mcp_where at)
{
    mcp_yaml *n = mcp_task_memory_get(bag, 1, sizeof *n);
    if (!n) return NULL;
    n->kind = kind;
    n->at   = at;
    if (kind == MCP_YAML_SCALAR && !(n->text = mcp_task_memory_text(bag, text, strlen(text)))) return NULL;
    return n;
}

void mcp_yaml_append(mcp_yaml *parent, mcp_yaml *child, const char *key, mcp_where key_at)
{
    child->key    = key;
    child->key_at = key_at;
    child->parent = parent;
    child->index  = parent->count++;
    child->next   = NULL;
    if (parent->last)
        parent->last->next = child;
    else
        parent->first = child;
    parent->last = child;
}

mcp_yaml *mcp_yaml_find(const mcp_yaml *map, const char *key)
{
    for (mcp_yaml *n = map->first; n; n = n->next)
        if (n->key && !strcmp(n->key, key)) return n;
    return NULL;
}

char *mcp_yaml_path(const mcp_yaml *n, char *buf, size_t size)
{
    const mcp_yaml *chain[MCP_YAML_DEPTH + 8];
    int             depth = 0;
    for (; n && n->parent && depth < MCP_YAML_DEPTH + 8; n = n->parent) chain[depth++] = n;
    size_t used = 0;
    buf[0]      = 0;
    while (depth-- > 0 && used < size) {
        int w = chain[depth]->key
                    ? snprintf(buf + used, size - used, "%s%.40s", used ? "." : "", chain[depth]->key)
                    : snprintf(buf + used, size - used, "[%d]", chain[depth]->index);
        used += (size_t)w;
    }
    if (!buf[0]) snprintf(buf, size, "the task");
    return buf;
}

char *mcp_yaml_found(const mcp_yaml *n, char *buf, size_t size)
{
    if (n->kind == MCP_YAML_LIST)
        snprintf(buf, size, "a list of %d", n->count);
    else if (n->kind == MCP_YAML_MAP)
        snprintf(buf, size, "a mapping");
    else if (!n->text[0] && !n->quoted)
        snprintf(buf, size, "nothing");
    else
        snprintf(buf, size, "%s\"%.60s%s\"", n->quoted ? "the text " : "", n->text,
                 strlen(n->text) > 60 ? "..." : "");
    for (char *c = buf; *c; c++)
        if ((unsigned char)*c < ' ') *c = ' '; /* one message, one line */
    return buf;
}

static mcp_where where(const builder *b, const struct fy_mark *m)
{
    if (!m) return (mcp_where){b->file, 0, 0};
    return (mcp_where){b->file, m->line + 1, m->column + 1};
}

/* First byte of a line (from 1), or NULL. */
static const char *line_start(const builder *b, int line)
{
    const char *p = b->text, *end = b->text + b->length;
    for (int i = 1; p && i < line; i++) {
        p = memchr(p, '\n', (size_t)(end - p));
        if (p) p++;
    }
    return p && p < end ? p : NULL;
}

/* Puts a finished value where it belongs. */
static mcp_status place(builder *b, mcp_yaml *n)
{
    if (!b->open) {
        b->root = n;
        return MCP_OK;
    }
    if (b->open->count >= MCP_YAML_CHILDREN)
        return mcp_fail_at(b->err, n->at, "found more than %d items in one list or mapping, expected fewer",
                           MCP_YAML_CHILDREN);
    if (b->key && !b->key[0])
        return mcp_fail_at(b->err, n->at.line ? n->at : b->open->at,
                           "found an empty key, expected a name before the colon");
    if (!n->at.line)
        n->at = b->open->kind == MCP_YAML_MAP ? b->key_at : b->open->at; /* an empty value has no place */
    mcp_yaml_append(b->open, n, b->open->kind == MCP_YAML_MAP ? b->key : NULL, b->key_at);
    b->key = NULL;
    return MCP_OK;
}

static mcp_status take_key(builder *b, const char *text, size_t length, mcp_where at)
{
    if (length > 64)
        return mcp_fail_at(b->err, at, "found a key of %zu characters, expected at most 64", length);
    if (!(b->key = mcp_task_memory_text(b->bag, text, length))) return no_memory(b->err);
    const mcp_yaml *twin = mcp_yaml_find(b->open, b->key);
    if (twin)
        return mcp_fail_at(b->err, at, "found the key \"%s\" twice, expected it once (first on line %d)",
                           b->key, twin->key_at.line);
    b->key_at = at;
    return MCP_OK;
}

static mcp_status scalar(builder *b, struct fy_event *e)
{
    struct fy_token *token  = e->scalar.value;
    mcp_where        at     = where(b, fy_event_start_mark(e));
    size_t           length = 0;
    const char      *text   = token ? fy_token_get_text(token, &length) : "";
    if (!text) return no_memory(b->err);
    if (memchr(text, 0, length))
        return mcp_fail_at(b->err, at, "found a NUL character in a text, expected none");
    unsigned odd = mcp_text_odd(text, length);
    if (odd)
        return mcp_fail_at(b->err, at, "found the control character U+%04X in a text, expected it to print",
                           odd);
    if (b->open && b->open->kind == MCP_YAML_MAP && !b->key) return take_key(b, text, length, at);
    mcp_yaml *n = mcp_task_memory_get(b->bag, 1, sizeof *n);
    if (!n || !(n->text = mcp_task_memory_text(b->bag, text, length))) return no_memory(b->err);
    enum fy_scalar_style style = token ? fy_token_scalar_style(token) : FYSS_PLAIN;
    n->quoted                  = style == FYSS_SINGLE_QUOTED || style == FYSS_DOUBLE_QUOTED;
    if (style == FYSS_LITERAL || style == FYSS_FOLDED) {
        const char *line = line_start(b, at.line); /* the mark is the line's: step over the indentation */
        if (line) at.column = 1 + (int)strspn(line, " ");
    }
    n->at = at;
    return place(b, n);
}

static mcp_status open_node(builder *b, mcp_yaml_kind kind, mcp_where at)
{
    if (b->open && b->open->kind == MCP_YAML_MAP && !b->key)
        return mcp_fail_at(b->err, at, "found a list or mapping as a key, expected a name");
    if (b->depth >= MCP_YAML_DEPTH)
        return mcp_fail_at(b->err, at, "found more than %d levels of nesting, expected fewer",
                           MCP_YAML_DEPTH);
    mcp_yaml *n = mcp_task_memory_get(b->bag, 1, sizeof *n);
    if (!n) return no_memory(b->err);
    n->kind       = kind;
    n->at         = at;
    mcp_status st = place(b, n);
    b->open       = n;
    b->depth++;
    return st;
}

static mcp_status event(builder *b, struct fy_event *e)
{
    mcp_where        at     = where(b, fy_event_start_mark(e));
    struct fy_token *anchor = NULL, *tag = NULL;
    if (e->type == FYET_SCALAR) {
        anchor = e->scalar.anchor;
        tag = e->scalar.tag;
    }
    if (e->type == FYET_MAPPING_START) {
        anchor = e->mapping_start.anchor;
        tag = e->mapping_start.tag;
    }
    if (e->type == FYET_SEQUENCE_START) {
        anchor = e->sequence_start.anchor;
        tag = e->sequence_start.tag;
    }
    if (anchor || e->type == FYET_ALIAS)
        return mcp_fail_at(
            b->err, at,
            "found an %s, expected a plain value: task files have no anchors and aliases, use constants:",
            anchor ? "anchor (&)" : "alias (*)");
    if (tag) return mcp_fail_at(b->err, at, "found a tag (!), expected a plain value");
    switch (e->type) {
    case FYET_DOCUMENT_START:
        if (b->documents++)
            return mcp_fail_at(b->err, at, "found a second document (---), expected one task per file");
        return MCP_OK;
    case FYET_SCALAR:
        return scalar(b, e);
    case FYET_MAPPING_START:
        return open_node(b, MCP_YAML_MAP, at);
    case FYET_SEQUENCE_START:
        return open_node(b, MCP_YAML_LIST, at);
    case FYET_MAPPING_END:
    case FYET_SEQUENCE_END:
        b->open =
            b->open->parent; // NOLINT(clang-analyzer-core.NullDereference): libfyaml ends only what it began
        b->depth--;
        return MCP_OK;
    default:
        return MCP_OK;
    }
}

/* Bytes that are not UTF-8, or control characters: the place of the first, or MCP_OK. */
static mcp_status check_bytes(const builder *b)
{
    int line = 1, column = 1;
    for (size_t i = 0; i < b->length; column++) {
        unsigned char c    = (unsigned char)b->text[i];
        int           tail = c < 0x80                ? 0
                             : c >= 0xC2 && c < 0xE0 ? 1
                             : c >= 0xE0 && c < 0xF0 ? 2
                             : c >= 0xF0 && c < 0xF5 ? 3
                                                     : -1;
        for (int k = 1; k <= tail; k++)
            if (i + (size_t)k >= b->length || ((unsigned char)b->text[i + (size_t)k] & 0xC0) != 0x80) {
                tail = -1;
                break;
            }
        unsigned char next = tail > 0 ? (unsigned char)b->text[i + 1] : 0;
        if ((c == 0xE0 && next < 0xA0) || (c == 0xED && next > 0x9F) || (c == 0xF0 && next < 0x90) ||
            (c == 0xF4 && next > 0x8F))
            tail = -1;
        if (column == 1 && c == '%') /* libfyaml may read one without end */
            return mcp_fail_at(b->err, (mcp_where){b->file, line, column},
                               "found a directive, expected key: value");
        if (tail < 0)
            return mcp_fail_at(b->err, (mcp_where){b->file, line, column},
                               "found byte 0x%02x, expected UTF-8 text", c);
        if ((c < ' ' && c != '\n' && c != '\t' && c != '\r') || c == 127)
            return mcp_fail_at(b->err, (mcp_where){b->file, line, column},
                               "found control character 0x%02x, expected text", c);
        if (c == '\n') {
            line++;
            column = 0;
        }
        i += 1 + (size_t)tail;
    }
    return MCP_OK;
}

/* libfyaml's own sentence, with the usual cause where its words do not tell. */
static mcp_status syntax_error(const builder *b, struct fy_diag *diag)
{
    void                 *it = NULL;
    struct fy_diag_error *e  = fy_diag_errors_iterate(diag, &it);
    if (!e)
        return mcp_fail_at(b->err, (mcp_where){b->file, 1, 1},
                           "found text that is not YAML, expected a mapping of keys");
    mcp_where   at   = {b->file, e->line, e->column};
    const char *hint = "";
    for (int line = e->line; line <= e->line + 1; line++) {
        const char *p = line_start(b, line);
        if (!p) continue;
        p += strspn(p, " ");
        if (*p == '\t') {
            return mcp_fail_at(b->err, (mcp_where){b->file, line, 1 + (int)(p - line_start(b, line))},
                               "found a tab in the indentation, expected spaces");
        }
    }
    if (strstr(e->msg, "multiline plain key") || strstr(e->msg, "nested block mapping"))
        hint = "; check the indentation here and on the next line, and quote texts that contain a colon";
    if (strstr(e->msg, "flow ")) hint = "; a bracket or comma is missing here or above";
    if (strstr(e->msg, "quoted")) hint = "; a closing quote is missing here or below";
    return mcp_fail_at(b->err, at, "found broken YAML (%s), expected key: value%s", e->msg, hint);
}

static mcp_status run(builder *b, struct fy_parser *parser, struct fy_diag *diag)
{
    struct fy_event *e;
    mcp_status       st = MCP_OK;
    if (fy_parser_set_string(parser, b->text, b->length)) return no_memory(b->err);
    while (st == MCP_OK && (e = fy_parser_parse(parser))) {
        st = event(b, e);
        fy_parser_event_free(parser, e);
    }
    if (st != MCP_OK) return st;
    if (fy_parser_get_stream_error(parser) || b->open) return syntax_error(b, diag);
    return MCP_OK;
}

mcp_status mcp_yaml_parse(mcp_yaml **out, mcp_task_memory *bag, const char *name, const char *text,
                          size_t length, mcp_error *err)
{
    builder b = {.bag = bag, .file = name, .text = text, .length = length, .err = err};
    *out      = NULL;
    if (length > MCP_YAML_FILE)
        return mcp_fail(err, MCP_ERR_TASK, "%s: found %zu bytes, expected a task file of at most %d", name,
                        length, MCP_YAML_FILE);
    mcp_status st = check_bytes(&b);
    if (st != MCP_OK) return st;

    struct fy_diag_cfg quiet;
    fy_diag_cfg_default(&quiet);
    quiet.fp             = NULL;
    struct fy_diag *diag = fy_diag_create(&quiet);
    if (!diag) return no_memory(err);
    fy_diag_set_collect_errors(diag, true);
    struct fy_parse_cfg cfg    = {.flags = FYPCF_QUIET | FYPCF_COLLECT_DIAG, .diag = diag};
    struct fy_parser   *parser = fy_parser_create(&cfg);
    st                         = parser ? run(&b, parser, diag) : no_memory(err);
    if (parser) fy_parser_destroy(parser);
    fy_diag_destroy(diag);
    if (st == MCP_OK) *out = b.root; /* NULL: an empty document */
    return st;
}
