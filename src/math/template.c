/* template.c - fields in linked lists, and one pass over a template. */
#include "math/template.h"

#include <stdarg.h>
#include <string.h>

#include "math/arena.h"
#include "math/number.h"

typedef struct entry {
    char         *name, *text; /* text NULL: a list of rows */
    mcp_fields   *first, *last;
    struct entry *next;
} entry;

struct mcp_fields {
    mcp_fields *around, *next; /* next row of the same list */
    entry      *entries;
    int         number; /* of this row */
    int         failed; /* of the outermost: out of memory */
};

mcp_fields *mcp_fields_create(void)
{
    return mcp_calloc(1, sizeof(mcp_fields));
}

void mcp_fields_free(mcp_fields *f)
{
    while (f) {
        mcp_fields *next = f->next;
        while (f->entries) {
            entry *e = f->entries;
            f->entries = e->next;
            mcp_fields_free(e->first);
            mcp_free(e->name);
            mcp_free(e->text);
            mcp_free(e);
        }
        mcp_free(f);
        f = next;
    }
}

static void lack(mcp_fields *f)
{
    while (f->around) f = f->around;
    f->failed = 1;
}

static entry *own(const mcp_fields *f, const char *name, size_t n)
{
    for (entry *e = f->entries; e; e = e->next)
        if (!strncmp(e->name, name, n) && !e->name[n]) return e;
    return NULL;
}

static entry *add(mcp_fields *f, const char *name)
{
    entry *e = own(f, name, strlen(name));
    if (e) return e;
    if (!(e = mcp_calloc(1, sizeof *e)) || !(e->name = mcp_strdup(name))) {
        mcp_free(e);
        lack(f);
        return NULL;
    }
    e->next    = f->entries;
    f->entries = e;
    return e;
}

void mcp_fields_take(mcp_fields *f, const char *name, mcp_text *t)
{
    entry *e = f ? add(f, name) : NULL;
    if (e) {
        if (!t->data) mcp_text_bytes(t, "", 0);
        mcp_free(e->text);
        e->text = t->data;
        if (t->failed || !e->text) lack(f);
        *t = (mcp_text){.failed = 0};
    }
    mcp_text_free(t);
}

void mcp_fields_set(mcp_fields *f, const char *name, const char *fmt, ...)
{
    mcp_text t = {0};
    va_list  args, again;
    va_start(args, fmt);
    va_copy(again, args);
    int   n = mcp_vprint(NULL, 0, fmt, args);
    char *text = n < 0 ? NULL : mcp_calloc((size_t)n + 1, 1);
    if (text) mcp_vprint(text, (size_t)n + 1, fmt, again);
    va_end(again);
    va_end(args);
    if (text) t = (mcp_text){.data = text, .length = (size_t)n, .capacity = (size_t)n + 1};
    else if (f) lack(f);
    mcp_fields_take(f, name, &t);
}

mcp_fields *mcp_fields_row(mcp_fields *f, const char *list)
{
    entry      *e = f ? add(f, list) : NULL;
    mcp_fields *row = e ? mcp_fields_create() : NULL;
    if (!row) {
        if (f) lack(f);
        return NULL;
    }
    row->around = f;
    row->number = e->last ? e->last->number + 1 : 0;
    if (e->last) e->last->next = row;
    else e->first = row;
    e->last = row;
    return row;
}

static const entry *look(const mcp_fields *f, const char *name, size_t n)
{
    const entry *e = NULL;
    while (f && !(e = own(f, name, n))) f = f->around;
    return e;
}

/* One @..@ of a template. */
typedef enum { PLAIN, VALUE, COMMA, EACH, IF, ELSE, END } kind;
typedef struct {
    kind        what;
    const char *begin, *after; /* the text it stands for, its line included where it stands alone */
    const char *name;
    size_t      length;
} mark;

static size_t word(const char *s)
{
    return strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
}

static int reads(const char *s, const char *what)
{
    return !strncmp(s, what, strlen(what));
}

static kind kind_at(const char *s, const char **name)
{
    if (reads(s, "@,@")) return *name = s + 1, COMMA;
    if (reads(s, "@each ")) return *name = s + 6, EACH;
    if (reads(s, "@if ")) return *name = s + 4, IF;
    *name = s + 1;
    if (reads(s, "@else@")) return ELSE;
    if (reads(s, "@end@")) return END;
    return VALUE;
}

/* The next mark at or behind s; what = PLAIN: none is left. */
static mark find(const char *start, const char *s)
{
    for (; (s = strchr(s, '@')); s++) {
        mark m = {.begin = s};
        m.what   = kind_at(s, &m.name);
        m.length = m.what == COMMA ? 1 : word(m.name);
        if (!m.length || m.name[m.length] != '@') continue;
        m.after = m.name + m.length + 1;
        if (m.what == VALUE || m.what == COMMA) return m;
        const char *line = s;
        while (line > start && (line[-1] == ' ' || line[-1] == '\t')) line--;
        if ((line == start || line[-1] == '\n') && *m.after == '\n') {
            m.begin = line;
            m.after++;
        }
        return m;
    }
    return (mark){.what = PLAIN};
}

typedef struct {
    const char *start; /* of the whole template */
    mcp_text   *out;
    mcp_error  *err;
    mcp_status  status;
} expander;

/* Expands from s to the @else@ or @end@ that closes it, or to the end; silent: only finds that place. */
static mark expand(expander *x, const char *s, const mcp_fields *f, int silent);

static const char *section(expander *x, const mark *m, const mcp_fields *f, int silent)
{
    const entry *e = silent ? NULL : look(f, m->name, m->length);
    int          there = e && (e->first || (e->text && *e->text));
    mark         close;
    if (m->what == EACH) {
        for (const mcp_fields *row = e ? e->first : NULL; row; row = row->next) expand(x, m->after, row, 0);
        return expand(x, m->after, f, 1).after;
    }
    close = expand(x, m->after, f, silent || !there);
    return close.what == ELSE ? expand(x, close.after, f, silent || there).after : close.after;
}

static mark expand(expander *x, const char *s, const mcp_fields *f, int silent)
{
    for (;;) {
        mark m = find(x->start, s);
        if (!silent) mcp_text_bytes(x->out, s, m.what == PLAIN ? strlen(s) : (size_t)(m.begin - s));
        if (m.what == PLAIN) m.after = s + strlen(s);
        if (m.what == PLAIN || m.what == ELSE || m.what == END) return m;
        if (m.what == EACH || m.what == IF) {
            s = section(x, &m, f, silent);
            continue;
        }
        s = m.after;
        if (silent) continue;
        if (m.what == COMMA) {
            if (f->number) mcp_text_bytes(x->out, ", ", 2);
            continue;
        }
        const entry *e = look(f, m.name, m.length);
        if (e && e->text) mcp_text_bytes(x->out, e->text, strlen(e->text));
        else if (x->status == MCP_OK)
            x->status = mcp_fail(x->err, MCP_ERR_ARG, "a template asks for \"%.*s\", which nobody gives",
                                 (int)m.length, m.name);
    }
}

mcp_status mcp_template_expand(mcp_text *out, const char *text, const mcp_fields *f, mcp_error *err)
{
    expander x = {.start = text, .out = out, .err = err, .status = MCP_OK};
    if (!f || f->failed) return mcp_fail(err, MCP_ERR_MEMORY, "out of memory while writing a text");
    expand(&x, text, f, 0);
    if (x.status == MCP_OK && out->failed)
        return mcp_fail(err, MCP_ERR_MEMORY, "out of memory while writing a text");
    return x.status;
}
