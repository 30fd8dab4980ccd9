/* study_file.c - read a study file: a task, variants of it, seeds.
 *
 *   name: table-1
 *   task: ../tasks/cartpole-full.yaml
 *   trials: 5
 *   seeds: [1, 50]
 *   evaluate: 100
 *   variants:
 *     mc-pilco: {algorithm: mc-pilco, set: {optimise.particles: 200}, paper: [0, 14, 78, 94, 100]} */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/file.h"
#include "math/arena.h"
#include "math/number.h"
#include "study/study.h"
#include "task/keys.h"

typedef struct {
    mcp_study *s;
    mcp_task_memory   *bag;
    mcp_error *err;
} reader;

static mcp_status no_memory(reader *r)
{
    return mcp_fail(r->err, MCP_ERR_MEMORY, "%s: out of memory while reading it", r->s->file);
}

static mcp_status unknown_key(reader *r, const mcp_yaml *n, const char *const *known, int count)
{
    const char *near = mcp_nearest(n->key, known, count);
    return mcp_fail_at(r->err, n->key_at,
                       near ? "unknown key \"%s\"; did you mean \"%s\"?" : "unknown key \"%s\"", n->key,
                       near);
}

static mcp_status check_keys(reader *r, const mcp_yaml *map, const char *const *known, int count)
{
    if (map->kind != MCP_YAML_MAP) return mcp_fail_at(r->err, map->at, "expected a mapping of keys");
    for (const mcp_yaml *n = map->first; n; n = n->next) {
        int i = 0;
        while (i < count && strcmp(known[i], n->key)) i++;
        if (i == count) return unknown_key(r, n, known, count);
    }
    return MCP_OK;
}

static mcp_status number(reader *r, const mcp_yaml *n, double lo, double hi, double *out)
{
    char  *end = NULL;
    double v = n->kind == MCP_YAML_SCALAR ? mcp_number_read(n->text, &end) : NAN;
    if (!end || end == n->text || *end || !(v >= lo && v <= hi))
        return mcp_fail_at(r->err, n->at, "found %s, expected a number from %g to %g",
                           n->kind == MCP_YAML_SCALAR ? n->text : "a list or mapping", lo, hi);
    *out = v;
    return MCP_OK;
}

static mcp_status whole(reader *r, const mcp_yaml *map, const char *key, int lo, int hi, int *out)
{
    const mcp_yaml *n = mcp_yaml_find(map, key);
    double          v = 0;
    mcp_status      st;
    if (!n) return MCP_OK;
    if ((st = number(r, n, lo, hi, &v)) != MCP_OK) return st;
    if (v != floor(v)) return mcp_fail_at(r->err, n->at, "%s = %s: expected a whole number", key, n->text);
    *out = (int)v;
    return MCP_OK;
}

static mcp_status yes_or_no(reader *r, const mcp_yaml *map, const char *key, int *out)
{
    const mcp_yaml *n = mcp_yaml_find(map, key);
    if (!n) return MCP_OK;
    *out = n->kind == MCP_YAML_SCALAR && !strcmp(n->text, "yes");
    if (*out || (n->kind == MCP_YAML_SCALAR && !strcmp(n->text, "no"))) return MCP_OK;
    return mcp_fail_at(r->err, n->at, "%s: expected yes or no", key);
}

static mcp_status text(reader *r, const mcp_yaml *map, const char *key, const char **out)
{
    const mcp_yaml *n = mcp_yaml_find(map, key);
    if (!n) return MCP_OK;
    if (n->kind != MCP_YAML_SCALAR) return mcp_fail_at(r->err, n->at, "%s: expected a text", key);
    return (*out = mcp_task_memory_text(r->bag, n->text, strlen(n->text))) ? MCP_OK : no_memory(r);
}

static mcp_status task_path(reader *r, const mcp_yaml *map, const char **out)
{
    const char *name = NULL, *slash = strrchr(r->s->file, '/');
    mcp_status  st = text(r, map, "task", &name);
    if (st != MCP_OK || !name) return st;
    char *path = name[0] == '/' || !slash
                     ? mcp_sprintf("%s", name)
                     : mcp_sprintf("%.*s/%s", (int)(slash - r->s->file), r->s->file, name);
    if (!path) return no_memory(r);
    *out = mcp_task_memory_text(r->bag, path, strlen(path));
    mcp_free(path);
    return *out ? MCP_OK : no_memory(r);
}

/* Settings of the study first, or those of the variant before, which have them; then the variant's own: the
 * later one wins. */
static mcp_status settings(reader *r, const mcp_yaml *common, const mcp_yaml *own, const mcp_variant *before,
                           mcp_variant *v)
{
    int count = (before ? before->sets : common ? common->count : 0) + (own ? own->count : 0);
    if (!(v->set = mcp_task_memory_get(r->bag, (size_t)count + 1, sizeof *v->set))) return no_memory(r);
    for (int i = 0; before && i < before->sets; i++) v->set[v->sets++] = before->set[i];
    if (before) common = NULL;
    for (int pass = 0; pass < 2; pass++) {
        const mcp_yaml *map = pass ? own : common;
        if (map && map->kind != MCP_YAML_MAP)
            return mcp_fail_at(r->err, map->at, "set: expected a mapping, e.g. {optimise.particles: 200}");
        for (const mcp_yaml *n = map ? map->first : NULL; n; n = n->next) {
            if (n->kind != MCP_YAML_SCALAR)
                return mcp_fail_at(r->err, n->at, "%s: expected one value; write lists as quoted texts",
                                   n->key);
            char *line = mcp_sprintf("%s=%s", n->key, n->text);
            if (!line) return no_memory(r);
            v->set[v->sets++] = mcp_task_memory_text(r->bag, line, strlen(line));
            mcp_free(line);
            if (!v->set[v->sets - 1]) return no_memory(r);
        }
    }
    return MCP_OK;
}

/* before: the variant whose settings this one goes on from; NULL: those of the study. */
static mcp_status read_variant(reader *r, const mcp_yaml *root, const mcp_yaml *n, const mcp_variant *before,
                               mcp_variant *v)
{
    static const char *const known[] = {"task", "algorithm", "set", "paper", "trials"};
    mcp_status               st;
    v->name = mcp_task_memory_text(r->bag, n->key, strlen(n->key));
    for (const char *c = n->key; *c; c++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_+.", *c) ||
            n->key[0] == '.')
            return mcp_fail_at(r->err, n->key_at,
                               "variant \"%s\": it names a folder; use letters, digits, - _ + .", n->key);
    if ((st = check_keys(r, n, known, 5)) != MCP_OK) return st;
    if ((st = task_path(r, root, &v->task)) != MCP_OK || (st = task_path(r, n, &v->task)) != MCP_OK)
        return st;
    if ((st = text(r, n, "algorithm", &v->algorithm)) != MCP_OK) return st;
    v->trials = r->s->trials;
    if ((st = whole(r, n, "trials", 1, MCP_STUDY_TRIALS, &v->trials)) != MCP_OK) return st;
    if (!v->task)
        return mcp_fail_at(r->err, n->key_at, "variant \"%s\" has no task; give one here or at the top",
                           n->key);
    const mcp_yaml *p = mcp_yaml_find(n, "paper");
    if (p && p->kind != MCP_YAML_LIST)
        return mcp_fail_at(r->err, p->at, "paper: expected a list of success rates in %%");
    if (p && !(v->paper = mcp_task_memory_get(r->bag, (size_t)p->count + 1, sizeof *v->paper)))
        return no_memory(r);
    for (const mcp_yaml *k = p ? p->first : NULL; k; k = k->next)
        if ((st = number(r, k, 0, 100, &v->paper[v->papers++])) != MCP_OK) return st;
    if (mcp_yaml_find(n, "task")) before = NULL; /* another task is a new beginning */
    return settings(r, mcp_yaml_find(root, "set"), mcp_yaml_find(n, "set"), before, v);
}

static mcp_status read_seeds(reader *r, const mcp_yaml *root)
{
    const mcp_yaml *n = mcp_yaml_find(root, "seeds");
    double          a = 0, b = 0;
    mcp_status      st;
    if (!n) return MCP_OK;
    if (n->kind != MCP_YAML_LIST || n->count != 2)
        return mcp_fail_at(r->err, n->at, "seeds: expected [first, last], e.g. [1, 50]");
    if ((st = number(r, n->first, 0, 1e6, &a)) != MCP_OK || (st = number(r, n->last, a, 1e6, &b)) != MCP_OK)
        return st;
    r->s->seed_first = (int)a;
    r->s->seed_last  = (int)b;
    return MCP_OK;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static mcp_status read_study(reader *r, const mcp_yaml *root)
{
    static const char *const known[] = {"name",  "about",  "task",         "trials", "seeds",   "evaluate",
                                        "final", "robust", "until_robust", "set",    "variants",
                                        "cumulative"};
    int                      cumulative = 0;
    mcp_study               *s = r->s;
    mcp_status               st;
    if (!root)
        return mcp_fail(r->err, MCP_ERR_TASK,
                        "%s: the file is empty or has only comments; a study needs at least task: and "
                        "variants:",
                        s->file);
    const mcp_yaml *state = root->kind == MCP_YAML_MAP ? mcp_yaml_find(root, "state") : NULL;
    if (state && !mcp_yaml_find(root, "variants"))
        return mcp_fail_at(r->err, state->key_at,
                           "this is a task file; a study is a file of its own that names it (task: %s) and "
                           "lists variants:, or learn it once by mcpilco learn",
                           base_name(s->file));
    if ((st = check_keys(r, root, known, 12)) != MCP_OK) return st;
    if ((st = text(r, root, "name", &s->name)) != MCP_OK ||
        (st = text(r, root, "about", &s->about)) != MCP_OK)
        return st;
    if ((st = whole(r, root, "trials", 1, MCP_STUDY_TRIALS, &s->trials)) != MCP_OK) return st;
    if ((st = whole(r, root, "evaluate", 0, 100000, &s->evaluate)) != MCP_OK) return st;
    if ((st = whole(r, root, "final", 0, 100000, &s->final)) != MCP_OK) return st;
    if (mcp_yaml_find(root, "robust") &&
        (st = number(r, mcp_yaml_find(root, "robust"), 0, 1, &s->robust)) != MCP_OK)
        return st;
    if ((st = yes_or_no(r, root, "until_robust", &s->until_robust)) != MCP_OK) return st;
    if ((st = yes_or_no(r, root, "cumulative", &cumulative)) != MCP_OK) return st;
    if ((st = read_seeds(r, root)) != MCP_OK) return st;
    const mcp_yaml *list = mcp_yaml_find(root, "variants");
    if (!list || list->kind != MCP_YAML_MAP || !list->count)
        return mcp_fail_at(r->err, list ? list->at : root->at,
                           "variants: expected a mapping with at least one variant");
    if (!(s->variant = mcp_task_memory_get(r->bag, (size_t)list->count, sizeof *s->variant)))
        return no_memory(r);
    for (const mcp_yaml *n = list->first; n; n = n->next) {
        mcp_variant *v = &s->variant[s->variants++];
        if ((st = read_variant(r, root, n, cumulative && v > s->variant ? v - 1 : NULL, v)) != MCP_OK)
            return st;
    }
    s->trials = 0;
    for (int v = 0; v < s->variants; v++)
        if (s->variant[v].trials > s->trials) s->trials = s->variant[v].trials;
    return MCP_OK;
}

mcp_status mcp_study_load(mcp_study **out, const char *file, mcp_error *err)
{
    char      *source = NULL;
    size_t     size = 0;
    mcp_yaml  *root = NULL;
    mcp_task_memory   *bag = NULL;
    *out           = NULL;
    mcp_status st = mcp_file_read(file, &source, &size, err);
    if (st != MCP_OK) return st;
    mcp_study *s = (bag = mcp_task_memory_create()) ? mcp_task_memory_get(bag, 1, sizeof *s) : NULL;
    if (s) {
        *s = (mcp_study){.trials = 5,
                         .seed_first = 1,
                         .seed_last = 10,
                         .evaluate = 100,
                         .final = 400,
                         .robust = 0.95,
                         .memory = bag};
        s->file = mcp_task_memory_text(bag, file, strlen(file));
        s->source = mcp_task_memory_text(bag, source, size);
        s->name   = s->file;
    }
    if (!s || !s->file || !s->source)
        st = mcp_fail(err, MCP_ERR_MEMORY, "%s: out of memory while reading it", file);
    if (st == MCP_OK) st = mcp_yaml_parse(&root, bag, s->file, source, size, err);
    if (st == MCP_OK) st = read_study(&(reader){s, bag, err}, root);
    mcp_free(source);
    if (st == MCP_OK) *out = s;
    else mcp_task_memory_free(bag);
    return st;
}

void mcp_study_free(mcp_study *s)
{
    if (s) mcp_task_memory_free(s->memory);
}
