/* json.c - JSON files. jansson parses and holds the values; the layout is ours, so that a policy is a few
 * long lines and not thousands of short ones. */
#include "io/json.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/file.h"
#include "math/arena.h"
#include "math/number.h"
#include "math/text.h"

enum { MOST_MB = 64 }; /* a value of two bytes takes forty in memory */

/* jansson reads numbers by itself, and decimal points of one byte only. */
static json_t *parse(const char *text, size_t size, json_error_t *e)
{
    locale_t before = mcp_locale_plain();
    json_t  *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, e);
    mcp_locale_restore(before);
    return root;
}

json_t *mcp_json_parse(const char *text, json_error_t *why)
{
    return parse(text, strlen(text), why);
}

mcp_status mcp_json_read(json_t **out, const char *path, mcp_error *err)
{
    char  *text;
    size_t size;
    *out = NULL;
    mcp_status st = mcp_file_read(path, &text, &size, err);
    if (st != MCP_OK) return st;
    if (size >> 20 >= MOST_MB) {
        mcp_free(text);
        return mcp_fail(err, MCP_ERR_IO, "%s: it has more than %d MB; no JSON file of mcpilco has", path,
                        MOST_MB);
    }
    json_error_t e;
    *out = parse(text, size, &e);
    mcp_free(text);
    if (*out) return MCP_OK;
    return mcp_fail(err, MCP_ERR_IO, "%s:%d:%d: %s; the file is damaged", path, e.line, e.column, e.text);
}

static int only_scalars(const json_t *array)
{
    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *v = json_array_get(array, i);
        if (json_is_object(v) || json_is_array(v)) return 0;
    }
    return 1;
}

/* "1" reads back as an integer: a point says that it is not; the exponent is as short as it can be. */
static void add_real(mcp_text *t, double v)
{
    char s[40];
    mcp_print(s, sizeof s, "%.17g", v);
    char *e = strchr(s, 'e');
    if (!e) {
        mcp_text_add(t, "%s%s", s, strchr(s, '.') ? "" : ".0");
        return;
    }
    mcp_text_add(t, "%.*se%s%s", (int)(e - s), s, e[1] == '-' ? "-" : "", e + 2 + strspn(e + 2, "0"));
}

static void add_scalar(mcp_text *t, const json_t *v)
{
    if (json_is_real(v)) {
        add_real(t, json_real_value(v));
        return;
    }
    char *s = json_dumps(v, JSON_ENCODE_ANY);
    if (s) mcp_text_bytes(t, s, strlen(s));
    else t->failed = 1;
    free(s);
}

/* indent < 0: all on one line. */
static void add_value(mcp_text *t, const json_t *v, int indent)
{
    int         inner = indent < 0 ? -1 : indent + 2;
    const char *comma = "";
    if (json_is_object(v)) {
        const char *key;
        json_t     *item;
        mcp_text_add(t, "{");
        json_object_foreach((json_t *)v, key, item)
        {
            json_t *name = json_string(key);
            mcp_text_add(t, "%s", comma);
            if (indent >= 0) mcp_text_add(t, "\n%*s", inner, "");
            add_scalar(t, name);
            mcp_text_add(t, ": ");
            add_value(t, item, inner);
            json_decref(name);
            comma = indent < 0 ? ", " : ",";
        }
        if (indent >= 0 && *comma) mcp_text_add(t, "\n%*s", indent, "");
        mcp_text_add(t, "}");
    } else if (json_is_array(v)) {
        int one_line = indent < 0 || only_scalars(v);
        mcp_text_add(t, "[");
        for (size_t i = 0; i < json_array_size(v); i++) {
            mcp_text_add(t, "%s", comma);
            if (!one_line) mcp_text_add(t, "\n%*s", inner, "");
            add_value(t, json_array_get(v, i), one_line ? -1 : inner);
            comma = one_line ? ", " : ",";
        }
        if (!one_line) mcp_text_add(t, "\n%*s", indent, "");
        mcp_text_add(t, "]");
    } else {
        add_scalar(t, v);
    }
}

mcp_status mcp_json_write_in(const mcp_lock *own, const char *path, const json_t *root, mcp_error *err)
{
    mcp_text t = {0};
    if (root) add_value(&t, root, 0);
    mcp_text_add(&t, "\n");
    mcp_status st = !root || t.failed
                        ? mcp_fail(err, MCP_ERR_MEMORY, "%s: out of memory while writing it", path)
                        : mcp_file_write_in(own, path, t.data, t.length, err);
    mcp_text_free(&t);
    return st;
}

mcp_status mcp_json_write(const char *path, const json_t *root, mcp_error *err)
{
    return mcp_json_write_in(NULL, path, root, err);
}

char *mcp_json_line(const json_t *root)
{
    mcp_text t = {0};
    char    *line = NULL;
    if (root) add_value(&t, root, -1);
    if (!root || mcp_text_take(&t, &line, NULL) != MCP_OK) line = NULL;
    mcp_text_free(&t);
    return line;
}

char *mcp_json_compact(const json_t *root, int digits)
{
    locale_t before = mcp_locale_plain();
    char    *text = json_dumps(root, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(digits));
    mcp_locale_restore(before);
    char *copy = text ? mcp_strdup(text) : NULL;
    free(text);
    return copy;
}

static void lose(json_t **whole)
{
    json_decref(*whole);
    *whole = NULL;
}

void mcp_json_set(json_t **object, const char *key, json_t *value)
{
    if (json_object_set_new(*object, key, value)) lose(object);
}

void mcp_json_append(json_t **list, json_t *value)
{
    if (json_array_append_new(*list, value)) lose(list);
}

json_t *mcp_json_number(double v)
{
    if (isnan(v)) return json_null();
    if (isinf(v)) return json_string(v > 0 ? "inf" : "-inf");
    return json_real(v);
}

json_t *mcp_json_numbers(int n, const double *v)
{
    json_t *a = json_array();
    for (int i = 0; i < n; i++) mcp_json_append(&a, mcp_json_number(v[i]));
    return a;
}

/* Only what is well-formed (no overlong form, no surrogate, nothing past U+10FFFF) is a text for JSON. */
static int is_utf8(const char *text)
{
    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        unsigned c = *s++, low = 0x80, high = 0xbf;
        int      more = c < 0x80 ? 0 : c < 0xc2 ? -1 : c < 0xe0 ? 1 : c < 0xf0 ? 2 : c < 0xf5 ? 3 : -1;
        if (more < 0) return 0;
        if (c == 0xe0) low = 0xa0;
        if (c == 0xed) high = 0x9f;
        if (c == 0xf0) low = 0x90;
        if (c == 0xf4) high = 0x8f;
        for (; more > 0; more--, low = 0x80, high = 0xbf)
            if (*s < low || *s++ > high) return 0;
    }
    return 1;
}

json_t *mcp_json_text(const char *s)
{
    if (is_utf8(s)) return json_string(s);
    char *copy = mcp_strdup(s);
    if (!copy) return NULL;
    for (char *p = copy; *p; p++)
        if ((unsigned char)*p >= 0x80) *p = '?';
    json_t *v = json_string(copy);
    mcp_free(copy);
    return v;
}

static double to_double(const json_t *v, double otherwise)
{
    if (json_is_number(v)) return json_number_value(v);
    if (json_is_null(v)) return NAN;
    if (json_is_string(v) && !strcmp(json_string_value(v), "inf")) return INFINITY;
    if (json_is_string(v) && !strcmp(json_string_value(v), "-inf")) return -INFINITY;
    return otherwise;
}

double mcp_json_get_double(const json_t *object, const char *key, double otherwise)
{
    return to_double(json_object_get(object, key), otherwise);
}

int mcp_json_get_int(const json_t *object, const char *key, int otherwise)
{
    const json_t *v = json_object_get(object, key);
    if (json_is_boolean(v)) return json_is_true(v);
    if (!json_is_integer(v)) return otherwise;
    json_int_t n = json_integer_value(v);
    return n > INT_MAX ? INT_MAX : n < INT_MIN ? INT_MIN : (int)n;
}

const char *mcp_json_get_text(const json_t *object, const char *key, const char *otherwise)
{
    const json_t *v = json_object_get(object, key);
    return json_is_string(v) ? json_string_value(v) : otherwise;
}

int mcp_json_get_numbers(const json_t *object, const char *key, int n, double *v)
{
    const json_t *a = json_object_get(object, key);
    if (!json_is_array(a) || json_array_size(a) != (size_t)n) return 0;
    for (int i = 0; i < n; i++) {
        const json_t *x = json_array_get(a, (size_t)i);
        if (json_is_string(x) ? isnan(to_double(x, NAN)) : !json_is_number(x) && !json_is_null(x)) return 0;
        v[i] = to_double(x, NAN);
    }
    return 1;
}
