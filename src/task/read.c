/* read.c - values by table: types, ranges, defaults, misspelt words. Messages: place: path: found what,
 * expected what. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "math/arena.h"
#include "math/number.h"
#include "program/builder.h"
#include "program/edit_distance.h"
#include "task/keys.h"

mcp_status mcp_read_memory(mcp_reader *r)
{
    return mcp_fail(r->err, MCP_ERR_MEMORY, "out of memory while reading the task");
}

void mcp_mistakes_add(mcp_mistakes *all, const mcp_error *err)
{
    if (all->count && !strcmp(all->item[all->count - 1].text, err->text)) return;
    if (all->count < all->most) all->item[all->count++] = *err;
}

mcp_status mcp_read_note(mcp_reader *r, mcp_status st)
{
    if (st != MCP_ERR_TASK || !r->all) return st;
    mcp_mistakes_add(r->all, r->err);
    return MCP_OK;
}

int mcp_read_sound(const mcp_reader *r, const char *section)
{
    for (int i = 0; i < r->damages; i++)
        if (!strcmp(r->damaged[i], section)) return 0;
    return 1;
}

mcp_status mcp_read_fail(mcp_reader *r, const mcp_yaml *n, const char *expected)
{
    char path[128], found[96];
    return mcp_fail_at(r->err, n->at, "%s: found %s, expected %s", mcp_yaml_path(n, path, sizeof path),
                       mcp_yaml_found(n, found, sizeof found), expected);
}

mcp_status mcp_expect(mcp_reader *r, const mcp_yaml *n, mcp_yaml_kind kind, const char *what)
{
    return n->kind == kind ? MCP_OK : mcp_read_fail(r, n, what);
}

const char *mcp_nearest(const char *s, const char *const *words, int count)
{
    const char *best = NULL;
    size_t      n    = strlen(s);
    int         most = (int)n / 2, least = 2 * most + 2; /* half of the word may be wrong */
    for (int i = 0; i < count; i++) {
        size_t m = strlen(words[i]);
        int e = mcp_word_distance(s, n, words[i], m, most),
            score = 2 * e + (n != m); /* of equals, the one as long */
        if (e <= most && score < least) {
            least = score;
            best = words[i];
        }
    }
    return best;
}

int mcp_is_name(const char *s)
{
    if (!isalpha((unsigned char)s[0]) && s[0] != '_') return 0;
    for (const char *c = s; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '_') return 0;
    return strlen(s) <= 31;
}

int mcp_is_reserved(const char *s)
{
    return mcp_word_reserved(s) || !strcmp(s, "Ts");
}

/* "a number in [0, 1)", "a whole number from 1 to 100" */
static char *range_text(const mcp_key *key, char *buf, size_t size)
{
    const char *unit  = key->unit ? key->unit : "";
    const char *space = !key->unit                 ? ""
                        : strncmp(unit, "the ", 4) ? " "
                                                   : " in "; /* "30 Hz", "0.1 in the state's unit" */
    if (key->type == KEY_INT || key->type == KEY_U64)
        mcp_print(buf, size, "a whole number from %.0f to %.0f%s%s", key->lo, key->hi, space, unit);
    else
        mcp_print(buf, size, "a number in %s%g, %g%s%s%s", key->open & OPEN_LO ? "(" : "[", key->lo, key->hi,
                  key->open & OPEN_HI ? ")" : "]", space, unit);
    return buf;
}

static int in_range(const mcp_key *key, double v)
{
    if (!(key->open & OPEN_LO ? v > key->lo : v >= key->lo)) return 0;
    return key->open & OPEN_HI ? v < key->hi : v <= key->hi;
}

mcp_status mcp_read_number(mcp_reader *r, mcp_yaml *n, const mcp_key *key, double *out)
{
    static const mcp_key any = {.type = KEY_NUMBER, .lo = -1e12, .hi = 1e12};
    char                 want[96];
    if (!key) key = &any;
    range_text(key, want, sizeof want);
    if (n->kind != MCP_YAML_SCALAR || !n->text[0] || n->quoted) return mcp_read_fail(r, n, want);
    char      *end;
    mcp_status st;
    double     v = mcp_number_read(n->text, &end);
    if (*end || end == n->text || strpbrk(n->text, "xXnN")) {
        /* Not a plain number: a constant or an expression of constants, where it looks like one. */
        int constant = 0;
        for (int i = 0; i < r->task->constants.n; i++)
            constant |= !strcmp(r->task->constants.item[i].name, n->text);
        if (!constant && !strpbrk(n->text, "+-*/^(")) return mcp_read_fail(r, n, want);
        if ((st = mcp_evaluate(r, n->text, n->at, &v)) != MCP_OK) return st;
    }
    if (!isfinite(v) || !in_range(key, v)) return mcp_read_fail(r, n, want);
    if ((key->type == KEY_INT || key->type == KEY_U64) && v != floor(v)) return mcp_read_fail(r, n, want);
    n->known  = 1;
    n->number = v;
    *out      = v;
    return MCP_OK;
}

mcp_status mcp_read_name(mcp_reader *r, mcp_yaml *n, const char **out)
{
    if (n->kind != MCP_YAML_SCALAR || !mcp_is_name(n->text))
        return mcp_read_fail(r, n, "a name (letters, digits, _; at most 31)");
    *out = n->text;
    return MCP_OK;
}

mcp_status mcp_read_expr(mcp_reader *r, mcp_yaml *n, mcp_expr *out)
{
    if (n->kind != MCP_YAML_SCALAR || !n->text[strspn(n->text, " \n\t")])
        return mcp_read_fail(r, n, "an expression, in quotes if it contains \": \" or starts with a bracket");
    if (strlen(n->text) > 8192)
        return mcp_fail_at(r->err, n->at, "found an expression of %zu characters, expected at most 8192",
                           strlen(n->text));
    if (!(out->text = mcp_task_memory_text(r->bag, n->text, strlen(n->text)))) return mcp_read_memory(r);
    out->at = n->at;
    return MCP_OK;
}

mcp_status mcp_read_exprs(mcp_reader *r, mcp_yaml *map, mcp_expr_list *out)
{
    mcp_status st = mcp_expect(r, map, MCP_YAML_MAP, "a mapping name: expression");
    if (st != MCP_OK) return st;
    if (map->count > MCP_MAX_LIST)
        return mcp_fail_at(r->err, map->at, "found %d expressions, expected at most %d", map->count,
                           MCP_MAX_LIST);
    out->n = 0;
    if (!(out->item = mcp_task_memory_get(r->bag, (size_t)map->count, sizeof *out->item)))
        return mcp_read_memory(r);
    for (mcp_yaml *n = map->first; n; n = n->next) {
        if (!mcp_is_name(n->key))
            return mcp_fail_at(r->err, n->key_at,
                               "found \"%s\", expected a name (letters, digits, _; at most 31)", n->key);
        if (!(out->item[out->n].name = mcp_task_memory_text(r->bag, n->key, strlen(n->key))))
            return mcp_read_memory(r);
        if ((st = mcp_read_expr(r, n, &out->item[out->n].expr)) != MCP_OK) return st;
        out->n++;
    }
    return MCP_OK;
}

mcp_status mcp_read_state(mcp_reader *r, const char *name, mcp_where at, int *index)
{
    *index = mcp_task_find_state(r->task, name);
    if (*index >= 0) return MCP_OK;
    const char *near = mcp_nearest(name, (const char *const *)r->task->state, r->task->nx);
    if (near)
        return mcp_fail_at(r->err, at, "found \"%s\", expected the name of a state; did you mean \"%s\"?",
                           name, near);
    return mcp_fail_at(r->err, at, "found \"%s\", expected the name of a state (see state:)", name);
}

static mcp_status vector_map(mcp_reader *r, mcp_yaml *n, const mcp_key *key, int count,
                             const char *const *names, double *out)
{
    for (mcp_yaml *c = n->first; c; c = c->next) {
        int i = 0;
        while (i < count && strcmp(names[i], c->key)) i++;
        if (i == count) {
            const char *near = mcp_nearest(c->key, names, count);
            char        path[128];
            return mcp_fail_at(r->err, c->key_at,
                               "unknown name \"%s\" in %s, expected one of its %d names%s%s%s", c->key,
                               mcp_yaml_path(n, path, sizeof path), count, near ? "; did you mean \"" : "",
                               near ? near : "", near ? "\"?" : "");
        }
        mcp_status st = mcp_read_number(r, c, key, &out[i]);
        if (st != MCP_OK) return st;
    }
    return MCP_OK;
}

mcp_status mcp_read_vector(mcp_reader *r, mcp_yaml *n, const mcp_key *key, int count,
                           const char *const *names, double fallback, double *out)
{
    char want[80];
    for (int i = 0; i < count; i++) out[i] = fallback;
    if (n->kind == MCP_YAML_MAP) return vector_map(r, n, key, count, names, out);
    if (n->kind == MCP_YAML_LIST) {
        if (n->count != count) {
            snprintf(want, sizeof want, "%d numbers", count);
            return mcp_read_fail(r, n, want);
        }
        mcp_status st = MCP_OK;
        for (mcp_yaml *c = n->first; c && st == MCP_OK; c = c->next)
            st = mcp_read_number(r, c, key, &out[c->index]);
        return st;
    }
    mcp_status st = mcp_read_number(r, n, key, &out[0]);
    for (int i = 1; i < count; i++) out[i] = out[0];
    return st;
}

static mcp_status read_flag(mcp_reader *r, mcp_yaml *n, int *out)
{
    static const char *const words[] = {"no", "yes", "false", "true", "off", "on", "0", "1"};
    if (n->kind == MCP_YAML_SCALAR)
        for (int i = 0; i < 8; i++)
            if (!strcmp(n->text, words[i])) {
                *out      = i % 2;
                n->known  = 2;
                n->number = *out;
                return MCP_OK;
            }
    return mcp_read_fail(r, n, "yes or no");
}

/* Index of the word in "a|b|c", or an error that lists them. */
static mcp_status read_choice(mcp_reader *r, mcp_yaml *n, const mcp_key *key, int *index)
{
    char        copy[256], want[300];
    const char *words[32];
    int         count = 0;
    snprintf(copy, sizeof copy, "%s", key->choices);
    for (char *rest, *w = strtok_r(copy, "|", &rest); w && count < 32; w = strtok_r(NULL, "|", &rest))
        words[count++] = w;
    if (n->kind == MCP_YAML_SCALAR)
        for (int i = 0; i < count; i++)
            if (!strcmp(words[i], n->text)) {
                *index = i;
                return MCP_OK;
            }
    size_t used = (size_t)snprintf(want, sizeof want, "one of ");
    for (int i = 0; i < count; i++)
        used += (size_t)snprintf(want + used, sizeof want - used, "%s%s", i ? ", " : "", words[i]);
    const char *near = n->kind == MCP_YAML_SCALAR ? mcp_nearest(n->text, words, count) : NULL;
    if (near) snprintf(want + used, sizeof want - used, "; did you mean \"%s\"?", near);
    return mcp_read_fail(r, n, want);
}

static mcp_status read_key(mcp_reader *r, mcp_yaml *n, const mcp_key *key, void *base)
{
    char      *p = (char *)base + key->offset;
    double     v = 0.0;
    int        i = 0;
    mcp_status st;
    switch (key->type) {
    case KEY_INT:
        if ((st = mcp_read_number(r, n, key, &v)) == MCP_OK) *(int *)(void *)p = (int)v;
        return st;
    case KEY_U64:
        if ((st = mcp_read_number(r, n, key, &v)) == MCP_OK) *(uint64_t *)(void *)p = (uint64_t)v;
        return st;
    case KEY_NUMBER:
        return mcp_read_number(r, n, key, (double *)(void *)p);
    case KEY_FLAG:
        return read_flag(r, n, (int *)(void *)p);
    case KEY_CHOICE:
        if ((st = read_choice(r, n, key, &i)) == MCP_OK) *(int *)(void *)p = i;
        return st;
    case KEY_WORD:
        if ((st = read_choice(r, n, key, &i)) != MCP_OK) return st;
        *(char **)(void *)p = mcp_task_memory_text(r->bag, n->text, strlen(n->text));
        return *(char **)(void *)p ? MCP_OK : mcp_read_memory(r);
    case KEY_TEXT:
        if (n->kind != MCP_YAML_SCALAR || !n->text[0]) return mcp_read_fail(r, n, "a text");
        if (strlen(n->text) > 1024)
            return mcp_fail_at(r->err, n->at, "found a text of %zu characters, expected at most 1024",
                               strlen(n->text));
        *(char **)(void *)p = mcp_task_memory_text(r->bag, n->text, strlen(n->text));
        return *(char **)(void *)p ? MCP_OK : mcp_read_memory(r);
    case KEY_EXPR:
        return mcp_read_expr(r, n, (mcp_expr *)(void *)p);
    case KEY_EXPRS:
        return mcp_read_exprs(r, n, (mcp_expr_list *)(void *)p);
    case KEY_MAP:
        return mcp_keys_read_short(r, n, key->table, key->shorthand, p);
    case KEY_OWN:
        return key->read(r, n, base, key);
    }
    return mcp_fail(r->err, MCP_ERR_ARG, "key \"%s\" has no type", key->name);
}

static int in_table(const mcp_key *table, const char *key)
{
    while (table->name && strcmp(table->name, key)) table++;
    return table->name != NULL;
}

/* The key of the table that was probably meant, or NULL. */
static const char *meant(const mcp_key *table, const char *key)
{
    const char *words[64];
    int         count = 0;
    for (const mcp_key *k = table; k->name && count < 64; k++) words[count++] = k->name;
    return mcp_nearest(key, words, count);
}

static mcp_status unknown_key(mcp_reader *r, const mcp_yaml *map, const mcp_yaml *n, const mcp_key *table)
{
    char        path[128], list[256] = "";
    size_t      used = 0;
    const char *near = meant(table, n->key);
    for (const mcp_key *k = table; k->name && used < sizeof list; k++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", k->name);
    mcp_yaml_path(map, path, sizeof path);
    if (near)
        return mcp_fail_at(r->err, n->key_at,
                           "found unknown key \"%s\" in %s, expected \"%s\" or another of its keys", n->key,
                           path, near);
    return mcp_fail_at(r->err, n->key_at, "found unknown key \"%s\" in %s, expected one of %s", n->key, path,
                       list);
}

mcp_status mcp_fill(mcp_reader *r, mcp_yaml *map, const char *key, const char *text)
{
    mcp_yaml *n;
    mcp_where at = map->at;
    if (strchr("[{", text[0])) { /* a list or mapping as default */
        mcp_status st = mcp_yaml_parse(&n, r->bag, "default", text, strlen(text), r->err);
        if (st != MCP_OK) return st;
    } else if (!(n = mcp_yaml_make(r->bag, MCP_YAML_SCALAR, text, at))) {
        return mcp_read_memory(r);
    }
    n->filled = 1;
    mcp_yaml_append(map, n, key, at);
    return MCP_OK;
}

const char *mcp_word(const char *words, int i, char out[MCP_WORD])
{
    for (; i > 0; i--) {
        words += strcspn(words, "|");
        if (!*words++) return NULL;
    }
    snprintf(out, MCP_WORD, "%.*s", (int)strcspn(words, "|"), words);
    return out;
}

int mcp_listed(const char *word, const char *words)
{
    size_t n = strlen(word);
    for (const char *p = words; (p = strstr(p, word)); p += n)
        if ((p == words || p[-1] == '|') && (!p[n] || p[n] == '|')) return 1;
    return 0;
}

static mcp_status read_in(mcp_reader *r, mcp_yaml *map, const mcp_key *k, void *base)
{
    mcp_yaml *n = mcp_yaml_find(map, k->name), *type = k->only ? mcp_yaml_find(map, "type") : NULL;
    if (k->only && type && !mcp_listed(type->text, k->only)) {
        if (!n || n->filled) return MCP_OK;
        return mcp_fail_at(r->err, n->key_at,
                           "found key \"%s\", expected no such key for type %s (only for %s)", k->name,
                           type->text, k->only);
    }
    if (!n && k->required) {
        char path[128];
        return mcp_fail_at(r->err, map->at, "key \"%s\" is missing in %s, expected %s", k->name,
                           mcp_yaml_path(map, path, sizeof path), k->about);
    }
    if (!n && k->fallback) {
        mcp_status st = mcp_fill(r, map, k->name, k->fallback);
        if (st != MCP_OK) return st;
        n = map->last;
    }
    return n ? read_key(r, n, k, base) : MCP_OK;
}

/* A required key that is there under a name which is not its own: that was said already. */
static int misspelt(const mcp_yaml *map, const mcp_key *table, const mcp_key *k)
{
    if (!k->required || mcp_yaml_find(map, k->name)) return 0;
    for (const mcp_yaml *n = map->first; n; n = n->next) {
        const char *near = in_table(table, n->key) ? NULL : meant(table, n->key);
        if (near && !strcmp(near, k->name)) return 1;
    }
    return 0;
}

/* A plain value that is wrong: what follows is read with the default. */
static int default_instead(mcp_reader *r, mcp_yaml *map, const mcp_key *k, void *base)
{
    if (!k->fallback || k->type >= KEY_EXPR || !strcmp(k->name, "type")) return 0;
    mcp_yaml *n = mcp_yaml_make(r->bag, MCP_YAML_SCALAR, k->fallback, map->at);
    return n && read_key(r, n, k, base) == MCP_OK;
}

mcp_status mcp_keys_read(mcp_reader *r, mcp_yaml *map, const mcp_key *table, void *base)
{
    int        top = table == mcp_task_table, harm = 0; /* harm: what others depend on has no value */
    mcp_status st = mcp_expect(r, map, MCP_YAML_MAP, "a mapping key: value");
    if (st != MCP_OK) return st;
    for (const mcp_yaml *n = map->first; n; n = n->next)
        if (!in_table(table, n->key) && (st = mcp_read_note(r, unknown_key(r, map, n, table))) != MCP_OK)
            return st;
    for (const mcp_key *k = table; k->name; k++) {
        if (harm && k->type >= KEY_EXPRS) continue;
        mcp_error before = {MCP_OK, ""};
        if (r->all && r->err) before = *r->err;
        if ((st = read_in(r, map, k, base)) == MCP_OK) continue;
        int known = misspelt(map, table, k);
        if (r->all && known && r->err) *r->err = before;
        else if ((st = mcp_read_note(r, st)) != MCP_OK) return st;
        if (default_instead(r, map, k, base)) continue;
        harm |= !top || k->base;
        if (top && r->damages < 32) r->damaged[r->damages++] = k->name;
        if (!strcmp(k->name, "type")) break; /* which of the other keys belong here is not known */
    }
    return harm ? MCP_ERR_TASK : MCP_OK;
}

mcp_status mcp_keys_read_short(mcp_reader *r, mcp_yaml *n, const mcp_key *table, const char *shorthand,
                               void *base)
{
    mcp_yaml *plain = NULL;
    if (n->kind == MCP_YAML_SCALAR && shorthand && n->text[0]) {
        if (!(plain = mcp_yaml_make(r->bag, MCP_YAML_SCALAR, n->text, n->at))) return mcp_read_memory(r);
        plain->quoted = n->quoted;
        plain->filled = n->filled;
        n->kind       = MCP_YAML_MAP;
    } else if (n->kind == MCP_YAML_LIST && shorthand) {
        if (!(plain = mcp_yaml_make(r->bag, MCP_YAML_LIST, NULL, n->at))) return mcp_read_memory(r);
        for (mcp_yaml *c = n->first, *next; c; c = next) {
            next = c->next;
            mcp_yaml_append(plain, c, NULL, c->at);
        }
        n->kind  = MCP_YAML_MAP;
        n->count = 0;
        n->first = n->last = NULL;
    } else if (n->kind == MCP_YAML_MAP && n->shorthand && shorthand && !mcp_yaml_find(n, shorthand)) {
        plain        = n->shorthand;
        n->shorthand = NULL;
    }
    if (plain) mcp_yaml_append(n, plain, shorthand, n->at);
    return mcp_keys_read(r, n, table, base);
}
