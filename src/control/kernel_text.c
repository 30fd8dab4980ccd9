/* kernel_text.c - a task's kernel, in words of feature expressions, to the indices mcp_kernel_parse reads.
 *
 *   features [sin(theta), u]     pi(sin(theta), u*cos(theta)) + se   ->   pi(0,2) + se
 *     feature 2: u*cos(theta)
 * An argument equal to a feature's text or name (blanks do not count) is that feature; another becomes a
 * feature of its own, after the task's, so that "se" alone stays on the task's features. */
#include <ctype.h>
#include <string.h>

#include "control/compose.h"
#include "math/arena.h"
#include "math/text.h"
#include "model/kernel.h"

/* Length without blanks; copies into out if given. */
static size_t squeeze(const char *text, size_t n, char *out)
{
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        if (isspace((unsigned char)text[i])) continue;
        if (out) out[used] = text[i];
        used++;
    }
    if (out) out[used] = '\0';
    return used;
}

static int same(const char *a, size_t na, const char *b)
{
    size_t i = 0, j = 0, nb = strlen(b);
    for (;;) {
        while (i < na && isspace((unsigned char)a[i])) i++;
        while (j < nb && isspace((unsigned char)b[j])) j++;
        if (i == na || j == nb) return i == na && j == nb;
        if (a[i++] != b[j++]) return 0;
    }
}

static int is_integer(const char *text, size_t n)
{
    size_t digits = 0;
    for (size_t i = 0; i < n; i++) {
        if (isspace((unsigned char)text[i])) continue;
        if (!isdigit((unsigned char)text[i])) return 0;
        digits++;
    }
    return digits > 0;
}

/* Index of the feature an argument means, a new one if need be; -1: no room or memory (err is set). */
static int feature_of(mcp_system *s, const char *arg, size_t n, const mcp_expr *e, mcp_error *err)
{
    const mcp_task *t = s->task;
    for (int i = 0; i < s->nf; i++)
        if (same(arg, n, s->feature_text[i]) ||
            (i < t->features.n && t->features.item[i].name && same(arg, n, t->features.item[i].name)))
            return i;
    if (s->nf >= MCP_MAX_FEATURE) {
        mcp_fail(err, MCP_ERR_TASK, "%s:%d: kernel: more than %d features", e->at.file ? e->at.file : "task",
                 e->at.line, MCP_MAX_FEATURE);
        return -1;
    }
    char *copy = mcp_calloc(n + 1, 1);
    if (!copy) {
        mcp_fail(err, MCP_ERR_MEMORY, "out of memory for the features of a kernel");
        return -1;
    }
    squeeze(arg, n, copy);
    s->feature_text[s->nf] = copy;
    return s->nf++;
}

static mcp_status bad(const mcp_expr *e, const char *at, const char *what, mcp_error *err)
{
    return mcp_fail(err, MCP_ERR_TASK, "%s:%d:%d: kernel \"%s\": %s", e->at.file ? e->at.file : "task",
                    e->at.line, e->at.column + (int)(at - e->text), e->text, what);
}

/* From after "(" to the matching ")": arguments to indices. mp(2; ...) has a degree first; a comma after it
 * does as well. */
static mcp_status arguments(mcp_system *s, const mcp_expr *e, const char **cursor, int degree, mcp_text *out,
                            mcp_error *err)
{
    const char *p = *cursor, *start = p;
    int         depth = 0, count = 0;
    for (;; p++) {
        if (*p == '\0') return bad(e, start, "a bracket is not closed", err);
        if (*p == '(') depth++;
        if (*p == ')' && depth-- > 0) continue;
        if (depth > 0 || (*p != ',' && *p != ')' && !(*p == ';' && degree && count == 0))) continue;
        size_t n = (size_t)(p - start);
        if (squeeze(start, n, NULL) == 0) return bad(e, start, "an argument is missing", err);
        if (count) mcp_text_add(out, degree && count == 1 ? ";" : ",");
        if (is_integer(start, n)) {
            mcp_text_bytes(out, start, n);
        } else if (degree && count == 0) {
            return bad(e, start, "mp needs its degree first, as in mp(2) or mp(2; x, u)", err);
        } else {
            int f = feature_of(s, start, n, e, err);
            if (f < 0) return err ? err->status : MCP_ERR_TASK;
            mcp_text_add(out, "%d", f);
        }
        count++;
        start = p + 1;
        if (*p == ')') break;
    }
    *cursor = p; /* at the bracket */
    return MCP_OK;
}

static mcp_status translate(mcp_system *s, const mcp_expr *e, char **text, mcp_error *err)
{
    mcp_text   out = {0};
    mcp_status st = MCP_OK;
    for (const char *p = e->text; *p && st == MCP_OK;) {
        if (!isalpha((unsigned char)*p)) {
            mcp_text_bytes(&out, p++, 1);
            continue;
        }
        const char *word = p;
        while (isalnum((unsigned char)*p) || *p == '_') p++;
        mcp_text_bytes(&out, word, (size_t)(p - word));
        int degree = p - word == 2 && !strncmp(word, "mp", 2);
        const char *bracket = p;
        while (isspace((unsigned char)*bracket)) bracket++;
        if (*bracket != '(') continue;
        p = bracket;
        mcp_text_bytes(&out, p++, 1);
        st = arguments(s, e, &p, degree, &out, err);
    }
    if (st == MCP_OK) return mcp_text_take(&out, text, err);
    mcp_text_free(&out);
    return st;
}

mcp_status mcp_kernel_texts(mcp_system *s, mcp_error *err)
{
    static const mcp_expr plain = {(char *)"se + linear", {NULL, 0, 0}};
    const mcp_task       *t = s->task;
    mcp_status            st = MCP_OK;
    s->nf = 0;
    for (int i = 0; i < t->features.n; i++, s->nf++)
        if (!(s->feature_text[i] = mcp_strdup(t->features.item[i].expr.text)))
            return mcp_fail(err, MCP_ERR_MEMORY, "out of memory for the features");
    for (int i = 0; i < s->before; i++, s->nf++) {
        if (s->nf >= MCP_MAX_FEATURE)
            return mcp_fail(err, MCP_ERR_TASK,
                            "model: %d features and %d inputs of the sample before; at most %d are possible",
                            t->features.n, s->before, MCP_MAX_FEATURE);
        const char *u = t->input[i].name;
        if (!(s->feature_text[s->nf] = mcp_sprintf("%s - before(%s)", u, u)))
            return mcp_fail(err, MCP_ERR_MEMORY, "out of memory for the features");
    }
    int plain_features = s->nf; /* what se without arguments is of */
    for (int i = 0; i < s->ngp && st == MCP_OK; i++)
        st = translate(s, t->gp[i].kernel.text ? &t->gp[i].kernel : &plain, &s->kernel_text[i], err);
    for (int i = 0; i < s->ngp && st == MCP_OK && !(t->registry && t->registry->any); i++) {
        mcp_error why = {MCP_OK, ""};
        st = mcp_kernel_parse_with(&s->kernel[i], t->registry, s->kernel_text[i], s->nf, plain_features,
                                   &why);
        const mcp_expr *e = t->gp[i].kernel.text ? &t->gp[i].kernel : &plain;
        if (st != MCP_OK)
            st = mcp_fail(err, st == MCP_ERR_MEMORY ? st : MCP_ERR_TASK, "%s:%d:%d: %.300s",
                          e->at.file ? e->at.file : "task", e->at.line, e->at.column, why.text);
    }
    return st;
}
